#!/usr/bin/env python3
"""./ci/run demo --target riscv64 [--json FILE]

The encoder of examples/encoder.cpp, an ordinary LibTorch program, with MiniLM's weights, under QEMU:
stock and with Tenon preloaded. Prints the instructions that one sentence takes (the difference of
two runs, so that start-up does not count), their ratio, and how far the embeddings differ.
"""

import argparse
import json
import pathlib
import re
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "bench"))
import rv  # noqa: E402

# "A mortise and tenon joint connects two pieces of wood." in MiniLM's vocabulary.
SENTENCE = "101 1037 22294 5562 1998 2702 2239 4101 8539 2048 4109 1997 3536 1012 102".split()
VLENS = (128, 256)


def run(args, model, dtype, repeat, vlen, preload):
    """(instructions of the whole process, the embedding)."""
    command = rv.command_of(args, vlen, preload, "examples/encoder", model, "--dtype", dtype,
                            "--repeat", str(repeat), *SENTENCE)
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    total = re.search(r'{"total": true.*}', done.stderr)
    if done.returncode != 0 or not total:
        sys.exit("tenon: demo: the encoder ended with status %d:\n%s" %
                 (done.returncode, done.stderr[-2000:]))
    return json.loads(total[0])["all"], [float(line) for line in done.stdout.split()]


def sentence(args, model, dtype, vlen, preload):
    """(instructions of one sentence, its embedding)."""
    once, embedding = run(args, model, dtype, 1, vlen, preload)
    twice, _ = run(args, model, dtype, 2, vlen, preload)
    print("encoder %s, %s, VLEN %d: %.1f million instructions a sentence" % (
        dtype, "Tenon" if preload else "stock", vlen, (twice - once) / 1e6), flush=True)
    return twice - once, embedding


def main():
    parser = argparse.ArgumentParser(prog="./ci/run demo --target riscv64",
                                     description=__doc__.split("\n\n")[1])
    parser.add_argument("--json", type=pathlib.Path, help="write the figures to this file")
    parser.add_argument("--model", required=True, help=argparse.SUPPRESS)
    rv.add_places(parser)
    args = parser.parse_args()
    rows = []
    for dtype in ("f32", "bf16"):
        for vlen in VLENS:
            stock, want = sentence(args, args.model, dtype, vlen, preload=False)
            tenon, got = sentence(args, args.model, dtype, vlen, preload=True)
            rows.append({
                "name": "encoder", "dtype": dtype, "vlen": vlen, "stock_instructions": stock,
                "instructions": tenon, "ratio": round(tenon / stock, 4),
                "max_difference": max(abs(a - b) for a, b in zip(want, got)),
            })
    print("\n%-6s %6s %20s %20s %8s %18s" % ("dtype", "VLEN", "stock", "Tenon", "ratio",
                                             "largest difference"))
    for r in rows:
        print("%-6s %6d %20d %20d %8.4f %18.2g" % (
            r["dtype"], r["vlen"], r["stock_instructions"], r["instructions"], r["ratio"],
            r["max_difference"]))
    if args.json:
        args.json.write_text(json.dumps(rows, indent=1) + "\n")


if __name__ == "__main__":
    main()
