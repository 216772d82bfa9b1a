#!/usr/bin/env python3
"""Fails when a file includes a folder it may not see, or a framework header it may not see."""
import pathlib
import re
import sys

# folder -> the project's folders it may include; the longest matching folder counts.
MAY_SEE = {
    "isa": {"isa"},
    "dispatch": {"dispatch", "isa"},
    "dispatch/shim": set(),
    "quant": {"quant", "isa"},
    "llm": {"llm", "quant", "dispatch", "isa"},
    "ops": {"ops", "quant", "dispatch", "isa"},
    "bench": {"bench", "dispatch", "quant", "llm", "isa"},
}
INCLUDE = re.compile(r'^\s*#\s*include\s*[<"]([^>"]+)[>"]', re.M)
FRAMEWORK = re.compile(r"^(ATen|c10|torch|caffe2)/")
# Kernels know nothing but memory: no containers, threads, streams or exceptions in isa/.
KERNEL_STD = {
    "cstddef", "cstdint", "cstring", "cmath", "limits", "type_traits", "utility",
    "immintrin.h", "xsimd/xsimd.hpp", "riscv_vector.h", "arm_neon.h",
}
DETECTION = re.compile(r"^isa/cpu")


def home_of(path):
    homes = [h for h in MAY_SEE if str(path).startswith(h + "/")]
    return max(homes, key=len) if homes else None


def complaints(path):
    home = home_of(path)
    folders = {h.split("/")[0] for h in MAY_SEE}
    for target in INCLUDE.findall(path.read_text()):
        head = target.split("/")[0]
        if "/" in target and head in folders and head not in MAY_SEE[home]:
            yield "%s/ may not include %s" % (home, target)
        may_see_torch = home == "ops" or path.stem.endswith("_aten") or path.parent.name == "bench"
        if FRAMEWORK.match(target) and not may_see_torch:
            yield "framework header %s outside ops/ and *_aten files" % target
        if home == "isa" and head not in folders and not DETECTION.match(str(path)):
            if target not in KERNEL_STD:
                yield "%s is not among the headers of kernels" % target


def main():
    bad = []
    for folder in sorted({h.split("/")[0] for h in MAY_SEE}):
        for path in sorted(pathlib.Path(folder).rglob("*")):
            if path.suffix in {".h", ".cpp", ".inc", ".c"}:
                bad += ["%s: %s" % (path, c) for c in complaints(path)]
    print("\n".join(bad), end="\n" if bad else "")
    return bool(bad)


if __name__ == "__main__":
    sys.exit(main())
