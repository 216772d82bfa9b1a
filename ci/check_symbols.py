#!/usr/bin/env python3
"""Fails when built objects share or export what they must not: check_symbols.py BUILD_DIR

* An object of isa/ with a weak symbol: the linker may keep its copy, compiled for a wide ISA, for
  the whole program, and a baseline machine would execute it.
* An object of isa/ that refers to the framework or to anything outside a short list of libc.
* libtenon.so and the plugin exporting more than their interface.
"""
import pathlib
import re
import subprocess
import sys

LIBC = re.compile(r"^(mem(cpy|move|set|cmp)|__stack_chk_fail|_GLOBAL_OFFSET_TABLE_|__cpu_model)$")
MATH = re.compile(r"^(fmaf?|nearbyintf?|rintf?|sqrtf?|lrintf?|ldexpf?|fminf?|fmaxf?|expf?|logf?|powf?)$")
DETECTION = re.compile(r"cpu_\w+\.cpp\.o$")
SHIM = {"tenon_load", "initModule", "__libc_start_main"}
PLUGIN = re.compile(r"^tenon_(report|reset|enable)$")


def symbols(path, *flags):
    out = subprocess.run(["nm", *flags, str(path)], capture_output=True, text=True, check=True)
    for line in out.stdout.splitlines():
        parts = line.split()
        if len(parts) >= 2:
            yield parts[-2], parts[-1]


def object_complaints(path):
    for kind, name in symbols(path):
        if kind in "WVu":
            yield "shared (weak) symbol %s" % name
        elif kind == "U" and not (LIBC.match(name) or MATH.match(name) or "tenon" in name):
            yield "refers to %s" % name


def exported(path):
    linker = {"__bss_start", "_edata", "_end"}
    return {n for kind, n in symbols(path, "-D", "--defined-only") if kind in "TWDBVu"} - linker


def main():
    build = pathlib.Path(sys.argv[1])
    objects = sorted(p for p in build.glob("CMakeFiles/isa_*.dir/isa/**/*.o"))
    if not objects:
        sys.exit("check_symbols: no objects of isa/ in %s" % build)
    bad = ["%s: %s" % (o.name, c) for o in objects if not DETECTION.search(o.name)
           for c in object_complaints(o)]
    shim = build / "libtenon.so"
    if shim.exists():
        bad += ["libtenon.so exports %s" % n for n in sorted(exported(shim) - SHIM)]
    for plugin in build.glob("libtenon_aten.*.so"):
        bad += ["%s exports %s" % (plugin.name, n) for n in sorted(exported(plugin)) if not PLUGIN.match(n)]
    print("\n".join(bad), end="\n" if bad else "")
    return bool(bad)


if __name__ == "__main__":
    sys.exit(main())
