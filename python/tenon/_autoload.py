"""The hook torch calls at the end of ``import torch``.

It must not import torch (which is being imported) and must not raise: an exception here would
make ``import torch`` itself fail.
"""

import warnings


def load():
    """Put the overrides in place; one warning and stock torch where that fails."""
    try:
        import tenon

        tenon.load()
    except Exception as error:  # noqa: BLE001 - anything at all must leave torch importable
        warnings.warn("tenon: not loaded: %s" % error, stacklevel=2)
