"""exp and its like: fast path by counter, values against float64, fallbacks by reason."""

import torch

from conftest import falls_back, fast, on_threads


def test_exp_matches_float64():
    x = torch.randn(1000)
    with fast("exp"):
        y = torch.exp(x)
    torch.testing.assert_close(y, torch.exp(x.double()).float(), rtol=2e-7, atol=0)


def test_exp_of_doubles_is_stocks():
    with falls_back("exp", "dtype"):
        torch.exp(torch.randn(10, dtype=torch.float64))


def test_exp_same_bits_for_any_thread_count():
    x = torch.randn(100003)
    a, *others = on_threads(lambda: torch.exp(x))
    assert all(torch.equal(a, b) for b in others)
