#!/usr/bin/env python3
"""Keeps README's table of operators equal to ops/overrides.inc: fails on a difference, or --write.

One line per operator: its overloads, what the fast path takes, the machines it is registered on.
"""
import pathlib
import re
import sys

BEGIN, END = "<!-- operators: begin -->\n", "<!-- operators: end -->\n"
ROW = re.compile(r'OVERRIDE\(\s*(\w+)\s*,\s*"([\w.]+)"\s*,\s*\w+\s*,\s*([\w |]+?)\s*,\s*((?:"[^"]*"\s*)+)\)')
MACHINES = {"kAvx2": "AVX2", "kAvx512": "AVX-512", "kAvx512Vnni": "AVX-512 VNNI",
            "kAmxInt8": "AMX", "kAmxBf16": "AMX",
            "kRvv": "RVV", "kZvfh": "RVV with Zvfh", "kZvfbfwma": "RVV with Zvfbfwma",
            "kNeon": "NEON", "kDotProd": "NEON with dotprod", "kI8mm": "NEON with i8mm",
            "kArmBf16": "NEON with bf16", "kSve": "SVE"}


def operator(schema):
    base = schema.split(".")[0]
    return base[:-1] if base.endswith("_") and len(base) > 1 else base


def table(text):
    operators = {}
    for _, schema, need, takes in ROW.findall(text):
        entry = operators.setdefault(operator(schema), ([], [], set()))
        entry[0].append(schema)
        words = "".join(re.findall(r'"([^"]*)"', takes))
        if words not in entry[1]:
            entry[1].append(words)
        entry[2].add(" or ".join(MACHINES.get(n.strip(), n.strip()) for n in need.split("|")))
    lines = ["| operator | overloads | the fast path takes | from |", "|---|---|---|---|"]
    for name, (schemas, takes, machines) in sorted(operators.items(), key=lambda o: o[0].strip("_")):
        overloads = ", ".join("`%s`" % s for s in schemas)
        lines.append("| `%s` | %s | %s | %s |" % (name, overloads, takes[0], ", ".join(sorted(machines))))
    return "\n".join(lines) + "\n"


def main():
    readme = pathlib.Path("README.md")
    text = readme.read_text()
    head, rest = text.split(BEGIN)
    now, tail = rest.split(END)
    wanted = table(pathlib.Path("ops/overrides.inc").read_text())
    if "--write" in sys.argv[1:]:
        readme.write_text(head + BEGIN + wanted + END + tail)
    elif now != wanted:
        print("README.md: the table of operators is not ops/overrides.inc's; "
              "python3 ci/check_coverage.py --write")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
