"""Instructions that RISC-V operators take, stock against Tenon, counted exactly under QEMU.

The suite (rv/operators_aten.cpp) runs once with the stock kernels and once for each VLEN with Tenon
preloaded; rv/count.c counts between markers. Numbers include the dispatcher's and the allocator's
work for one call. No time is reported: QEMU's says nothing about hardware (docs/riscv.md).

With --cycles, llvm-mca's estimate for the main loop of each kernel on several cores: cycles for one
turn of the loop, from its scheduling models, without caches.
"""

import argparse
import json
import pathlib
import re
import subprocess
import sys

CORES = {
    "spacemit-x60": 256,
    "sifive-p670": 128,
    "tt-ascalon-d8": 256,
    "sifive-x280": 512,
}
KERNEL = re.compile(r"tenon: aten::(\S+) -> (\S+)")


def read_counts(text):
    """[(case, counts, kernel or None)] from what a run printed."""
    rows, case, kernel = [], None, None
    for line in text.splitlines():
        chosen = KERNEL.match(line)
        if chosen:
            kernel = chosen[2]
        elif line.startswith('{"op"'):
            case, kernel = json.loads(line), None
        elif line.startswith('{"all"'):
            rows.append((case, json.loads(line), kernel))
    return rows


def command_of(args, vlen, preload, *program):
    """A program of the build under the counting QEMU, on one thread."""
    guest = {"OMP_NUM_THREADS": "1"}
    if preload:
        plugin = next(args.build.glob("libtenon_aten.*.so"))
        guest.update(LD_PRELOAD=str(args.build / "libtenon.so"), TENON_ATEN_LIB=str(plugin),
                     TENON_VERBOSE="1")
    command = [args.qemu, "-L", args.sysroot, "-plugin", str(args.build / "bench/rv/count.so"),
               "-cpu", "rv64,v=true,vext_spec=v1.0,vlen=%d" % vlen]
    for name, value in guest.items():
        command += ["-E", "%s=%s" % (name, value)]
    return command + [str(args.build / program[0]), *program[1:]]


def run(args, vlen, preload):
    """The suite's counts at one VLEN; preload: with Tenon's overrides.

    QEMU 7.2 stops at some vector instructions; such an operator has no counts, and the next goes on.
    """
    print("rv: %s, VLEN %d ..." % ("Tenon" if preload else "stock", vlen), file=sys.stderr)
    rows = []
    command = command_of(args, vlen, preload, "bench/rv/rv_operators", args.filter)
    while True:
        done = subprocess.run(command + [str(len(rows))], stderr=subprocess.PIPE, text=True)
        rows += read_counts(done.stderr)
        if done.returncode == 0:
            return rows
        asserted = re.search(r"\{\"op\".*\}\n(?:tenon: .*\n)*(qemu-riscv64: .*Assertion.*)", done.stderr)
        if not asserted:
            sys.exit("rv: the suite ended with status %d:\n%s" % (done.returncode, done.stderr[-2000:]))
        case = json.loads(re.findall(r"\{\"op\".*\}", done.stderr)[-1])
        print("rv: not counted: %s %s: %s" % (case["op"], case["dtype"], asserted[1]), file=sys.stderr)
        rows.append((case, None, None))


def key(case):
    return case["op"], case["dtype"], case["shape"]


def figures(stock, tenon, vlen):
    """One row of figures for each operator of the suite at one VLEN."""
    for (case, before, _), (same, after, kernel) in zip(stock, tenon):
        assert key(case) == key(same)
        if before is None or after is None:
            continue
        ours, theirs = after["all"] / case["work"], before["all"] / case["work"]
        yield {
            "op": case["op"], "kernel": kernel or "", "dtype": case["dtype"],
            "shape": case["shape"], "vlen": vlen, "unit": case["unit"],
            "instructions_per_element": round(ours, 4),
            "stock_instructions_per_element": round(theirs, 4),
            "ratio": round(ours / theirs, 4),
            "fma_share": round(after["fma"] / after["vector"], 3) if after["vector"] else 0,
        }


def functions(objdump, library):
    """Symbol -> [(address, instruction)] of the library's RVV objects."""
    text = subprocess.run([objdump, "-d", "--no-show-raw-insn", "--mattr=+v", str(library)],
                          stdout=subprocess.PIPE, text=True, check=True).stdout
    found, body = {}, []
    for line in text.splitlines():
        start = re.match(r"[0-9a-f]+ <_ZN5tenon\d+(\w+_rvv\w*?)E", line)
        if start:
            body = found.setdefault(start[1], [])
        elif re.match(r"[0-9a-f]+ <", line):
            body = []
        code = re.match(r"\s+([0-9a-f]+):\s+(.*)", line)
        if code:
            body.append((int(code[1], 16), code[2].replace("\t", " ")))
    return found


def main_loop(body):
    """The longest innermost loop that loads vectors, led by the vsetvli in force before it."""
    index = {address: i for i, (address, _) in enumerate(body)}
    loops = []
    for i, (address, code) in enumerate(body):
        jump = re.match(r"(?:b\w+|j) .*0x([0-9a-f]+) <", code)
        first = index.get(int(jump[1], 16)) if jump else None
        if first is not None and first < i:
            turn = [c for _, c in body[first : i + 1]]
            nested = any(first <= a and b <= i for a, b, _ in loops)
            if not nested and any(re.match(r"vl\w*e\d", c) for c in turn):
                loops.append((first, i, turn))
    if not loops:
        return None
    first, _, turn = max(loops, key=lambda loop: len(loop[2]))
    before = [c for _, c in body[:first] if c.startswith("vset")]
    return (before[-1:] if not any(c.startswith("vset") for c in turn) else []) + turn


def cycles(mca, loop):
    """Cycles of one turn on each core of CORES, or None where the model cannot say."""
    text = "\n".join(re.sub(r"0x[0-9a-f]+ <.*", "1f", c) for c in loop) + "\n1:\n"
    result = {}
    for core in CORES:
        done = subprocess.run(
            [mca, "-mtriple=riscv64-linux-gnu", "-mattr=+v", "-mcpu=" + core, "-iterations=100"],
            input=text, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        total = re.search(r"Total Cycles:\s+(\d+)", done.stdout)
        result[core] = int(total[1]) / 100 if total else None
    return result


def add_cycles(args, rows):
    known = functions(args.llvm + "/llvm-objdump", args.build / "libtenon_core.a")
    loops = {}
    for row in rows:
        name = row["kernel"]
        if name in known and name not in loops:
            loop = main_loop(known[name])
            loops[name] = cycles(args.llvm + "/llvm-mca", loop) if loop else None
        row["cycles"] = loops.get(name)


def show(rows, vlens):
    print("%-22s %-5s %-14s %10s %s" % ("", "", "", "stock", "".join("%18s" % v for v in vlens)))
    table = {}
    for row in rows:
        table.setdefault(key(row), {})[row["vlen"]] = row
    for (op, dtype, shape), line in table.items():
        any_row = next(iter(line.values()))
        cells = "".join("%10.3f (%.3f)" % (line[v]["instructions_per_element"], line[v]["ratio"])
                        if v in line else "%18s" % "-" for v in vlens)
        print("%-22s %-5s %-14s %10.2f %s  %s" % (
            op, dtype, shape, any_row["stock_instructions_per_element"], cells, any_row["kernel"]))


def add_places(parser):
    """What ci/run fills in."""
    parser.add_argument("--build", type=pathlib.Path, required=True, help=argparse.SUPPRESS)
    parser.add_argument("--sysroot", required=True, help=argparse.SUPPRESS)
    parser.add_argument("--qemu", required=True, help=argparse.SUPPRESS)
    parser.add_argument("--llvm", default="", help=argparse.SUPPRESS)


def main():
    parser = argparse.ArgumentParser(prog="ci/run bench rv", description=__doc__.split("\n")[0])
    parser.add_argument("filter", nargs="?", default="", help="part of an operator's name")
    parser.add_argument("--json", type=pathlib.Path, help="write the figures to this file")
    parser.add_argument("--vlen", default="128,256,512,1024", help="bits, separated by commas")
    parser.add_argument("--cycles", action="store_true", help="llvm-mca's cycles of main loops")
    add_places(parser)
    args = parser.parse_args()
    vlens = [int(v) for v in args.vlen.split(",")]
    stock = run(args, vlens[0], preload=False)
    if not stock:
        sys.exit("rv: no operator of the suite has '%s' in its name" % args.filter)
    rows = []
    for vlen in vlens:
        rows += figures(stock, run(args, vlen, preload=True), vlen)
    if args.cycles:
        add_cycles(args, rows)
    show(rows, vlens)
    if args.json:
        args.json.write_text(json.dumps(rows, indent=1) + "\n")


if __name__ == "__main__":
    main()
