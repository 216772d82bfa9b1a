#!/usr/bin/env python3
"""Sums a test run's result files: tally.py FOLDER. Fails when a test failed or a file holds none.

Reads the JUnit files that GoogleTest and pytest write and checks.tsv (status, name) of ci/test.sh.
"""

import collections
import pathlib
import sys
import xml.etree.ElementTree as ElementTree

SHOWN = 40  # names of skipped tests printed; all of them are in skipped.txt


def name_of(case):
    if case.get("name"):
        return "%s.%s" % (case.get("classname"), case.get("name"))
    messages = [failure.get("message", "") for failure in case.iter("failure")]
    return "outside the tests: " + "".join(m.splitlines()[-1] for m in messages if m)


def junit(path):
    """(status, name) of every test case in a file."""
    cases = list(ElementTree.parse(path).iter("testcase"))
    if not cases:
        yield "fail", "%s: no test ran" % path.stem
    for case in cases:
        name = "%s: %s" % (path.stem, name_of(case))
        kinds = {child.tag for child in case}
        if kinds & {"failure", "error"}:
            yield "fail", name
        elif "skipped" in kinds or case.get("status") == "notrun" or case.get("result") == "skipped":
            yield "skip", name
        else:
            yield "pass", name


def checks(path):
    for line in path.read_text().splitlines():
        yield tuple(line.split("\t", 1))


def main():
    folder = pathlib.Path(sys.argv[1])
    names = collections.defaultdict(list)
    for path in sorted(folder.glob("*.xml")):
        try:
            outcomes = list(junit(path))
        except ElementTree.ParseError:
            outcomes = [("fail", "%s: broken result file" % path.stem)]
        for status, name in outcomes:
            names[status].append(name)
    if (folder / "checks.tsv").exists():
        for status, name in checks(folder / "checks.tsv"):
            names[status].append(name)
    (folder / "skipped.txt").write_text("".join(name + "\n" for name in names["skip"]))
    for name in names["skip"][:SHOWN]:
        print("skipped: " + name)
    if len(names["skip"]) > SHOWN:
        print("skipped: %d more, listed in %s" % (len(names["skip"]) - SHOWN, folder / "skipped.txt"))
    for name in names["fail"]:
        print("FAILED: " + name)
    print("%d passed, %d failed, %d skipped" % tuple(len(names[s]) for s in ("pass", "fail", "skip")))
    sys.exit(bool(names["fail"]) or not names["pass"])


if __name__ == "__main__":
    main()
