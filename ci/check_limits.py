#!/usr/bin/env python3
"""Fails on files that are too long, and on text that does not belong in the tree.

A file over its limit needs a line in ALLOWED with the reason.
"""
import pathlib
import re
import subprocess
import sys

LIMITS = {".cpp": 500, ".c": 500, ".h": 300, ".py": 500, ".sh": 300, ".txt": 1000, ".inc": 400}
ALLOWED = {}  # path -> reason
MACHINE_PATH = re.compile(r"(?:^|[^A-Za-z0-9_.$}])/(?:root|home|work)/[A-Za-z0-9_]")
WORDS = re.compile(r"TODO(?!\()|FIXME|XXX")


def tracked():
    out = subprocess.run(["git", "ls-files"], capture_output=True, text=True, check=True)
    return [pathlib.Path(p) for p in out.stdout.split("\n") if p]


def complaints(path):
    try:
        text = path.read_text()
    except UnicodeDecodeError:
        yield "is not UTF-8 text"
        return
    lines = text.splitlines()
    limit = LIMITS.get(path.suffix)
    if limit and len(lines) > limit and str(path) not in ALLOWED:
        yield "%d lines, more than %d" % (len(lines), limit)
    for number, line in enumerate(lines, 1):
        if line != line.rstrip():
            yield "%d: blanks at the end of the line" % number
        if "check_limits" not in path.name and MACHINE_PATH.search(line):
            yield "%d: an absolute path of some machine" % number
        if "check_limits" not in path.name and WORDS.search(line):
            yield "%d: unfinished business without an issue" % number
        if path.suffix in {".cpp", ".h", ".c", ".inc", ".py"} and not line.isascii():
            yield "%d: a character outside ASCII" % number


def main():
    bad = ["%s: %s" % (p, c) for p in tracked() if p.is_file() for c in complaints(p)]
    print("\n".join(bad), end="\n" if bad else "")
    return bool(bad)


if __name__ == "__main__":
    sys.exit(main())
