#!/usr/bin/env python3
"""./ci/run demo [--json FILE] [PROGRAM ARGS...]

Runs programs on stock PyTorch and with Tenon preloaded, in turn, each run in a process of its own,
and prints the times, their ratio, how far the results differ, and what each operator did. Without
PROGRAM: MiniLM and SmolLM2 (examples/). A PROGRAM that ends in .py runs on the environment's Python,
another one as it is; its whole run is timed and its output compared line by line.
"""

import argparse
import json
import os
import pathlib
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

import demo_report

ROOT = pathlib.Path(__file__).resolve().parent.parent
RUNS = 5


def parse(argv):
    parser = argparse.ArgumentParser(
        prog="./ci/run demo", usage="%(prog)s [--json FILE] [--runs N] [PROGRAM ARGS...]",
        description=__doc__.split("\n\n")[1], formatter_class=argparse.RawTextHelpFormatter,
    )
    parser.add_argument("--json", metavar="FILE", help="write the figures, a list of runs, to FILE")
    parser.add_argument("--runs", type=int, default=RUNS, help="runs of each kind (default 5)")
    parser.add_argument("program", nargs=argparse.REMAINDER, help=argparse.SUPPRESS)
    options = parser.parse_args(argv)
    if options.runs < 1:
        parser.error("--runs: at least 1")
    # `demo my.py --json FILE` belongs to my.py; `demo --json FILE` without a program does not.
    if options.json and not pathlib.Path(options.json).absolute().parent.is_dir():
        parser.error("--json: %s is in no folder that exists" % options.json)
    return options


def command_of(program):
    """The command line for a program the user named, or exit with what is wrong with it."""
    name, *rest = program
    path = pathlib.Path(name)
    if name.endswith(".py"):
        if not path.is_file():
            sys.exit("tenon: demo: there is no file %s; name a program that exists" % name)
        return [sys.executable, name, *rest]
    found = shutil.which(name)
    if not found:
        sys.exit("tenon: demo: there is no program %s, in this folder or on PATH" % name)
    return [found, *rest]


class Runner:
    """Runs commands stock and with Tenon, and keeps what they reported."""

    def __init__(self, build, folder, runs):
        self.tenon = str(build / "tenon")
        self.folder = pathlib.Path(folder)
        self.runs = runs
        self.operators = {}  # schema -> its counters, of the last run with Tenon

    def run(self, label, command, with_tenon):
        """One process: (seconds, output lines)."""
        report = self.folder / "report.json"
        report.unlink(missing_ok=True)
        environment = {k: v for k, v in os.environ.items() if k != "LD_PRELOAD"}
        if with_tenon:
            environment["TENON_REPORT"] = str(report)
            command = [self.tenon, "run", *command]
        log = self.folder / "stderr"
        start = time.perf_counter()
        with log.open("w") as errors:
            done = subprocess.run(
                command, env=environment, stdout=subprocess.PIPE, stderr=errors, text=True,
                errors="replace",
            )
        seconds = time.perf_counter() - start
        messages = log.read_text(errors="replace")
        if done.returncode:
            sys.stderr.write(done.stdout + messages)
            sys.exit("tenon: demo: %s ended with status %d" % (label, done.returncode))
        if with_tenon:
            self.keep_report(label, report, messages)
        return seconds, done.stdout.splitlines()

    def keep_report(self, label, report, messages):
        if not report.exists():
            said = [line for line in messages.splitlines() if line.startswith("tenon")]
            print("tenon: demo: Tenon did not come up in %s: %s" % (label, "; ".join(said) or
                  "the program loads no torch"))
            return
        demo_report.merge(self.operators, json.loads(report.read_text()))

    def alternate(self, label, command, after=lambda kind: None):
        """The command stock and with Tenon, in turn: {kind: [(seconds, lines)]}."""
        results = {"stock": [], "tenon": []}
        for number in range(1, self.runs + 1):
            self.operators.clear()  # the table shows one run, the last
            for kind in results:
                seconds, lines = self.run(label, command, kind == "tenon")
                results[kind].append((seconds, lines))
                after(kind)
                print("%s %d of %d, %s: %.1f s" % (label, number, self.runs, kind, seconds),
                      flush=True)
        return results


def run_example(runner, name):
    """An example stock and with Tenon: rows of figures, one for each dtype and batch."""
    figures = runner.folder / "figures.json"
    collected = {"stock": [], "tenon": []}
    command = [sys.executable, str(ROOT / "examples" / (name + ".py")), "--json", str(figures)]
    runner.alternate(name, command, lambda kind: collected[kind].append(
        json.loads(figures.read_text())))
    rows = []
    for stock, tenon in zip(zip(*collected["stock"]), zip(*collected["tenon"])):
        rows.append(demo_report.figures(stock, tenon))
    return rows


def run_program(runner, program):
    """A program of the user's, the whole process timed."""
    label = os.path.basename(program[0])
    results = runner.alternate(label, command_of(program))
    stock, tenon = ([s for s, _ in results[kind]] for kind in ("stock", "tenon"))
    different = demo_report.first_difference(results["stock"][-1][1], results["tenon"][-1][1])
    row = {"name": label, "dtype": None, "batch": None, "threads": None,
           "stock_s": statistics.median(stock), "tenon_s": statistics.median(tenon)}
    row["ratio"] = row["stock_s"] / row["tenon_s"]
    row["max_difference"] = None
    demo_report.print_output_difference(different)
    return [row]


def main():
    options = parse(sys.argv[1:])
    build = pathlib.Path(os.environ["TENON_BUILD"])
    with tempfile.TemporaryDirectory(prefix="tenon-demo") as folder:
        runner = Runner(build, folder, options.runs)
        rows = []
        if options.program:
            rows = run_program(runner, options.program)
            demo_report.print_operators(options.program[0], runner.operators)
        else:
            for name in ("minilm", "smollm2"):
                rows += run_example(runner, name)
                demo_report.print_operators(name, runner.operators)
    demo_report.print_rows(rows)
    if options.json:
        pathlib.Path(options.json).write_text(json.dumps(rows, indent=1) + "\n")


if __name__ == "__main__":
    main()
