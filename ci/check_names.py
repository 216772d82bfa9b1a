#!/usr/bin/env python3
"""Fails when a kernel's name breaks the grammar, or its file, its row and its symbol disagree.

    kernel = op "_" buffer {"_" buffer} ["_" tile] "_" isa ["_" tech] ["_" uarch]     (HACKING.md)
"""
import pathlib
import re
import sys

TYPE = r"(?:q[as])?(?:f32|f16|bf16|f64|f8e4m3|i64|i32|i16|[iu](?:8|4|2|1)|b8|b16|b32|b64|b1|mxfp4)"
SIZE = r"\d+(?:vs)?"
BUFFER = rf"{TYPE}(?:cx|dx|c\d+|x\d+)?(?:p{SIZE}x\d+)?"
TILE = rf"(?:{SIZE}x{SIZE}|u{SIZE})"
ISA = r"ref|rvv|avx2|avx512|amx|neon|sve"
TECH = r"zvfh|zvfhmin|zvbb|zvfbfmin|zvfbfwma|zvqdotq|ime|vnni|bf16|int8|dotprod|i8mm|vbmi|fp16"
UARCH = r"x60|c908|spr|zen4|n2"
NAME = re.compile(
    rf"^[a-z][a-z0-9]*?(?:_[a-z0-9]+)*?_{BUFFER}(?:_{BUFFER})*(?:_{TILE})?_(?:{ISA})"
    rf"(?:_(?:{TECH}))?(?:_(?:{UARCH}))?$"
)
ROW = re.compile(r"^ROW\(\s*(\w+)\s*,\s*(\w+)\s*,\s*(\w+)\s*,", re.M)
WORDS = re.compile(r"(?:^|_)(fast|new|opt|v2|utils|helper)(?:_|$)")


def rows():
    for table in sorted(pathlib.Path("isa/tables").glob("*.inc")):
        for op, _, isa in ROW.findall(table.read_text()):
            yield table, op + "_" + isa


def main():
    sources = list(pathlib.Path("isa").glob("*/*.cpp")) + list(pathlib.Path("isa").glob("*/*/*.cpp"))
    own_file = {p.stem: p for p in sources if NAME.match(p.stem)}
    named = dict((name, table) for table, name in rows())
    bad = ["%s: '%s' breaks the name grammar" % (t, n) for n, t in named.items() if not NAME.match(n)]
    bad += ["%s: '%s' has a word that says nothing" % (t, n) for n, t in named.items() if WORDS.search(n)]
    bad += ["%s: no table has a row for '%s'" % (p, n) for n, p in own_file.items() if n not in named]
    for path in pathlib.Path("isa/tables").glob("*.inc"):
        if not pathlib.Path("isa", path.stem + ".h").exists():
            bad.append("%s: no contract isa/%s.h" % (path, path.stem))
    print("\n".join(bad), end="\n" if bad else "")
    return bool(bad)


if __name__ == "__main__":
    sys.exit(main())
