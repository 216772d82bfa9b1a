"""The cost of a gate, refusing and taking: nanoseconds from paired runs, instructions from callgrind.

    ci/run bench gate [--build DIR] [--instructions CASE,CASE...]
"""

import argparse
import pathlib
import re
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[1]


def instructions(gate, plugin, case, state, calls):
    """Instructions executed by a run of `calls` calls."""
    with tempfile.TemporaryDirectory() as folder:
        command = ["valgrind", "--tool=callgrind", "--callgrind-out-file=%s/out" % folder]
        command += [gate, plugin, "--calls", case, state, str(calls)]
        run = subprocess.run(list(map(str, command)), capture_output=True, text=True)
    found = re.search(r"Collected : (\d+)", run.stderr)
    if not found:
        sys.exit("bench gate: callgrind failed: %s" % run.stderr[-500:])
    return int(found.group(1))


def per_call(gate, plugin, case, state):
    few, many = 1000, 11000
    more = instructions(gate, plugin, case, state, many)
    return (more - instructions(gate, plugin, case, state, few)) / (many - few)


def main():
    parser = argparse.ArgumentParser(prog="ci/run bench gate", description=__doc__.splitlines()[0])
    parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build/x86_64")
    parser.add_argument("--instructions", default="exp_f64,mm_5", metavar="CASES",
                        help="cases to count under callgrind, a minute each (default exp_f64,mm_5)")
    args = parser.parse_args()
    gate = args.build / "bench/gate"
    plugin = next(args.build.glob("libtenon_aten.*.so"))
    print(subprocess.run([gate, plugin], capture_output=True, text=True, check=True).stdout, end="")
    for case in filter(None, args.instructions.split(",")):
        on, off = (per_call(gate, plugin, case, state) for state in ("on", "off"))
        print("%-12s instructions a call: stock %.0f, through the gate %.0f (%+.0f)"
              % (case, off, on, on - off), flush=True)


if __name__ == "__main__":
    main()
