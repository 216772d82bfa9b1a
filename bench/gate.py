"""The cost of a gate that refuses: nanoseconds from paired runs, instructions from callgrind.

    ci/run bench gate [--build DIR]
"""

import argparse
import pathlib
import re
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[1]


def instructions(gate, plugin, state, calls):
    """Instructions executed by a run of `calls` calls."""
    with tempfile.TemporaryDirectory() as folder:
        command = ["valgrind", "--tool=callgrind", "--callgrind-out-file=%s/out" % folder]
        command += [gate, plugin, "--calls", state, str(calls)]
        run = subprocess.run(list(map(str, command)), capture_output=True, text=True)
    found = re.search(r"Collected : (\d+)", run.stderr)
    if not found:
        sys.exit("bench gate: callgrind failed: %s" % run.stderr[-500:])
    return int(found.group(1))


def per_call(gate, plugin, state):
    few, many = 1000, 11000
    return (instructions(gate, plugin, state, many) - instructions(gate, plugin, state, few)) / 10000


def main():
    parser = argparse.ArgumentParser(prog="ci/run bench gate", description=__doc__.splitlines()[0])
    parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build/x86_64")
    build = parser.parse_args().build
    gate = build / "bench/gate"
    plugin = next(build.glob("libtenon_aten.*.so"))
    print(subprocess.run([gate, plugin], capture_output=True, text=True, check=True).stdout, end="")
    on, off = per_call(gate, plugin, "on"), per_call(gate, plugin, "off")
    print("instructions a call: stock %.0f, through the gate %.0f (%+.0f)" % (off, on, on - off))


if __name__ == "__main__":
    main()
