"""The package tenon: counters from several threads, stock bodies in one another."""

import threading

import pytest
import torch

import tenon
from conftest import falls_back, fast


def hits(f):
    def total():
        return sum(o["hits"] for o in tenon.report()["operators"])

    before = total()
    f()
    return total() - before


def test_stock_bodies_nest():
    x = torch.randn(64)
    with tenon.stock():
        with tenon.stock():
            assert hits(lambda: torch.exp(x)) == 0
        assert hits(lambda: torch.exp(x)) == 0
    assert hits(lambda: torch.exp(x)) == 1


@pytest.mark.stocks_work
def test_report_from_several_threads():
    names = [o["schema"] for o in tenon.report()["operators"]]
    wrong = []

    def ask():
        for _ in range(50):
            if [o["schema"] for o in tenon.report()["operators"]] != names:
                wrong.append(1)

    threads = [threading.Thread(target=ask) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


@pytest.mark.stocks_work  # for no count is left
def test_reset():
    with fast("exp"):
        torch.exp(torch.randn(3))
    with falls_back("exp", "dtype"):
        torch.exp(torch.randn(3).double())
    tenon.reset()
    exp = next(o for o in tenon.report()["operators"] if o["schema"] == "exp")
    assert (exp["hits"], exp["kernels"], sum(exp["fallbacks"].values())) == (0, [], 0)
