"""Each operator and shape of bench/ops/*.txt, stock against Tenon, paired in one process.

A line of those files is

    operator | dtypes | operands | expression [| flops]

* dtypes: names of DTYPES, separated by commas; the expression runs once for each.
* operands: NAME=SHAPE[:TYPE][.T][*cold], separated by blanks. SHAPE is 1024x4096, or "scalar" for a
  0-dim tensor. TYPE: a dtype name, bool, or int64<N for indices below N; else the line's dtype. ".T" is a
  transposed view of its last two dimensions. "*cold": enough copies, used in turn, that none is
  still in cache when its turn comes.
* expression: Python over the operands, torch and F (torch.nn.functional).
* flops: Python over the operands; without it the line's limit is memory traffic alone.
A line that cannot be read ends the run with its file and number.
"""

import argparse
import ctypes
import json
import pathlib
import statistics
import subprocess
import sys
import time

import torch
import torch.nn.functional as F

ROOT = pathlib.Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "python"))
import tenon  # noqa: E402

DTYPES = {
    "f32": torch.float32,
    "bf16": torch.bfloat16,
    "f16": torch.float16,
    "f64": torch.float64,
    "int8": torch.int8,
    "int32": torch.int32,
    "int64": torch.int64,
    "uint8": torch.uint8,
    "bool": torch.bool,
}
CLOCK = time.perf_counter  # --clock cpu: time.process_time
COLD_BYTES = 256 << 20  # more than the last-level cache of the machines we know


def values(shape, kind, dtype):
    """Random values: uniform indices, booleans, small integers, normal floats."""
    if kind and kind.startswith("int64<"):
        return torch.randint(0, int(kind[6:]), shape)
    dtype = DTYPES[kind] if kind else dtype
    if dtype == torch.bool:
        return torch.rand(shape) < 0.5
    if not dtype.is_floating_point:
        low = 0 if dtype == torch.uint8 else -100
        return torch.randint(low, 100, shape, dtype=dtype)
    return torch.randn(shape, dtype=torch.float32).to(dtype)


class Operand:
    """One named operand: a single tensor, or copies in rotation."""

    def __init__(self, text, dtype):
        self.name, spec = text.split("=", 1)
        cold = spec.endswith("*cold")
        spec = spec[: -len("*cold")] if cold else spec
        transposed = spec.endswith(".T")
        spec = spec[:-2] if transposed else spec
        dims, _, kind = spec.partition(":")
        shape = [] if dims == "scalar" else [int(d) for d in dims.split("x")]
        first = values(shape, kind, dtype)
        copies = max(2, COLD_BYTES // max(first.nbytes, 1)) if cold else 1
        tensors = [first] + [first.clone() for _ in range(min(copies, 4096) - 1)]
        self.tensors = [t.transpose(-1, -2) for t in tensors] if transposed else tensors


class Case:
    """One line for one dtype, ready to call."""

    def __init__(self, line, dtype_name):
        fields = [f.strip() for f in line.split("|")]
        self.op, _, operands, self.expression = fields[:4]
        self.dtype, self.shape = dtype_name, operands
        self.operands = [Operand(o, DTYPES[dtype_name]) for o in operands.split()]
        names = [o.name for o in self.operands]
        scope = {"torch": torch, "F": F}
        self.call = eval("lambda %s: %s" % (", ".join(names), self.expression), scope)
        rotation = max(len(o.tensors) for o in self.operands)
        self.rotation = [
            tuple(o.tensors[i % len(o.tensors)] for o in self.operands) for i in range(rotation)
        ]
        result = self.call(*self.rotation[0])
        outputs = [result] if isinstance(result, torch.Tensor) else list(result)
        moved = {t.data_ptr(): t.nbytes for t in (*self.rotation[0], *outputs)}
        self.bytes = sum(moved.values())
        flops = "lambda %s: %s" % (", ".join(names), fields[4] if len(fields) > 4 else "0")
        self.flops = eval(flops, scope)(*self.rotation[0])
        self.turn = 0

    def seconds(self, calls):
        """Mean time of `calls` calls by CLOCK, operands in rotation."""
        rotation, n, turn, call = self.rotation, len(self.rotation), self.turn, self.call
        start = CLOCK()
        for i in range(calls):
            call(*rotation[(turn + i) % n])
        spent = CLOCK() - start
        self.turn = (turn + calls) % n
        return spent / calls


def kernels_used():
    used = [k for o in tenon.report()["operators"] if o["hits"] for k in o["kernels"]]
    return ",".join(dict.fromkeys(used)) or "stock"


def measure(case, rounds, block):
    """Medians over paired blocks: stock and Tenon in turn, each about `block` seconds long."""
    once = max(case.seconds(2), 1e-7)
    calls = max(1, min(int(block / once), 20000))
    tenon.reset()
    case.seconds(1)
    kernel = kernels_used()
    pairs = []
    for i in range(rounds):
        order = ("stock", "tenon") if i % 2 == 0 else ("tenon", "stock")
        spent = {}
        for which in order:
            if which == "stock":
                with tenon.stock():
                    case.seconds(max(1, calls // 10))
                    spent[which] = case.seconds(calls)
            else:
                case.seconds(max(1, calls // 10))
                spent[which] = case.seconds(calls)
        pairs.append((spent["stock"], spent["tenon"]))
    stock, ours = (statistics.median(p[i] for p in pairs) for i in (0, 1))
    return stock, ours, statistics.median(s / t for s, t in pairs), kernel


def machine_peaks():
    """What the `peaks` program measured: read bandwidth and arithmetic rates of this machine."""
    for program in sorted(ROOT.glob("build/*/bench/peaks")):
        text = subprocess.run([program], capture_output=True, text=True, check=True).stdout
        return json.loads(text)
    return {}


def share_of_peak(case, seconds, threads, peaks):
    """The time the machine's limits would allow, over the time taken; None without peaks."""
    if not peaks:
        return None
    key = str(threads)
    least = case.bytes / (peaks["read_gbs"][key] * 1e9)
    rates = peaks["gflops"].get(case.dtype) or peaks["gflops"]["f32"]
    if case.flops:
        least = max(least, case.flops / (rates[key] * 1e9))
    return round(least / seconds, 3)


def lines(folder):
    for path in sorted(folder.glob("*.txt")):
        for number, line in enumerate(path.read_text().splitlines(), 1):
            if line.strip() and not line.startswith("#"):
                yield "%s:%d" % (path.name, number), line


def compare(rows, path):
    """Ratios against an earlier --json file, worst first; returns how many lost over 10 %."""
    old = {(r["op"], r["shape"], r["dtype"], r["threads"]): r for r in json.loads(path.read_text())}
    changes = []
    for row in rows:
        before = old.get((row["op"], row["shape"], row["dtype"], row["threads"]))
        if before:
            changes.append((before["tenon_us"] / row["tenon_us"], row))
    for gain, row in sorted(changes, key=lambda c: c[0]):
        print("%6.2fx  %s %s %s" % (gain, row["op"], row["dtype"], row["shape"]))
    return sum(gain < 0.9 for gain, _ in changes)


def keep_freed_memory():
    """Make glibc keep what is freed: which of two calls gets fresh pages, and so page faults, would
    otherwise depend on what else lies at the end of the heap, not on the kernels."""
    libc = ctypes.CDLL(None)
    m_trim_threshold, m_mmap_max = -1, -4  # malloc.h
    libc.mallopt(m_trim_threshold, 2**31 - 1)
    libc.mallopt(m_mmap_max, 0)


def arguments():
    parser = argparse.ArgumentParser(prog="ci/run bench ops", description=__doc__.splitlines()[0])
    parser.add_argument("filter", nargs="?", default="", help="part of an operator's name or file")
    parser.add_argument("--json", type=pathlib.Path, help="write the figures to this file")
    parser.add_argument("--compare", type=pathlib.Path, help="an earlier --json file")
    parser.add_argument("--threads", default="1,2", help="thread counts (default 1,2)")
    parser.add_argument("--rounds", type=int, default=7, help="paired rounds a line (default 7)")
    parser.add_argument("--block", type=float, default=0.02, help="seconds a block (default 0.02)")
    parser.add_argument("--clock", choices=["wall", "cpu"], default="wall",
                        help="cpu: processor time, for one thread on a busy machine")
    parser.add_argument("--below", type=float, default=0, help="print only ratios below this")
    return parser.parse_args()


def run_case(case, threads, args, peaks):
    torch.set_num_threads(threads)
    stock, ours, ratio, kernel = measure(case, args.rounds, args.block)
    return {
        "op": case.op,
        "shape": case.shape,
        "dtype": case.dtype,
        "threads": threads,
        "stock_us": round(stock * 1e6, 3),
        "tenon_us": round(ours * 1e6, 3),
        "ratio": round(ratio, 3),
        "kernel": kernel,
        "share_of_peak": share_of_peak(case, ours, threads, peaks),
    }


def main():
    global CLOCK
    args = arguments()
    if args.clock == "cpu":
        CLOCK, args.threads = time.process_time, "1"
    keep_freed_memory()
    tenon.load()
    torch.manual_seed(1)
    torch.set_grad_enabled(False)
    peaks = machine_peaks()
    if peaks:
        print("machine:", json.dumps(peaks))
    rows = []
    chosen = [(where, l) for where, l in lines(ROOT / "bench/ops") if args.filter in where + l]
    if not chosen:
        sys.exit("bench: no line of bench/ops matches '%s'" % args.filter)
    for done, (where, line) in enumerate(chosen, 1):
        for dtype in line.split("|")[1].strip().split(","):
            try:
                case = Case(line, dtype)
            except Exception as error:
                sys.exit("bench: %s: %s" % (where, error))
            for threads in map(int, args.threads.split(",")):
                row = run_case(case, threads, args, peaks)
                rows.append(row)
                if args.below and row["ratio"] >= args.below:
                    continue
                print(
                    "[%d/%d] %-22s %-5s %dt %10.2f us  stock %10.2f us  %6.2fx  %s  %s"
                    % (done, len(chosen), row["op"], dtype, threads, row["tenon_us"],
                       row["stock_us"], row["ratio"], row["kernel"], row["shape"]),
                    flush=True,
                )
    if args.json:
        args.json.write_text(json.dumps(rows, indent=1))
    if args.compare:
        sys.exit(compare(rows, args.compare) > 0)


if __name__ == "__main__":
    main()
