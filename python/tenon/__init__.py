"""Tenon's overrides in this process: what was taken, what fell back and why.

The overrides themselves need nothing from Python: they are in place once the plugin is loaded,
by the preload shim (``tenon run``, ``LD_PRELOAD=libtenon.so``), by the ``torch.backends`` entry
point at ``import torch``, or by ``tenon.load()``.
"""

import contextlib
import ctypes
import json
import os
import pathlib

_plugin = None
_stock_depth = 0


def _candidates(version):
    """Where the plugin for a torch version may lie: TENON_ATEN_LIB, then beside this package."""
    named = os.environ.get("TENON_ATEN_LIB")
    if named:
        yield pathlib.Path(named)
    file = "libtenon_aten.%s.so" % ".".join(version.split(".")[:2])
    here = pathlib.Path(__file__).resolve().parent
    yield here / file
    for build in sorted((here.parent.parent / "build").glob("*/")):
        yield build / file


def load():
    """Load the plugin for the torch in this process (idempotent).

    Returns True when the overrides are in place. Raises FileNotFoundError, naming the file that
    was looked for, when there is no plugin for this torch's minor version.
    """
    global _plugin
    if _plugin is None:
        from torch.version import __version__ as version  # safe while torch is being imported

        tried = list(_candidates(version))
        for path in tried:
            if path.exists():
                _plugin = ctypes.CDLL(str(path.resolve()), mode=os.RTLD_LOCAL | os.RTLD_NOW)
                _plugin.tenon_report.restype = ctypes.c_char_p
                break
        else:
            raise FileNotFoundError(
                "tenon: no plugin for torch %s; looked for %s"
                % (version, ", ".join(map(str, tried)))
            )
    return True


def report():
    """What each override did so far.

    Returns a dict: ``isa`` (str), ``operators`` (list of dicts with ``schema``, ``state``,
    ``takes``, ``hits`` (int), ``fallbacks`` (reason -> int), ``kernels`` (list of str)).
    """
    load()
    return json.loads(_plugin.tenon_report())


def reset():
    """Set all counters to zero and forget which kernels were seen."""
    load()
    _plugin.tenon_reset()


@contextlib.contextmanager
def stock():
    """Run the body on stock kernels: the overrides leave the dispatcher and return after it.

    May be nested; the overrides return after the outermost body. Not while other threads run
    operators.
    """
    global _stock_depth
    load()
    _stock_depth += 1
    _plugin.tenon_enable(0)
    try:
        yield
    finally:
        _stock_depth -= 1
        if _stock_depth == 0:
            _plugin.tenon_enable(1)
