"""Fixtures of the operator tests: Tenon loaded, counters that prove which branch ran."""

import contextlib
import pathlib
import sys

import pytest
import torch

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "python"))
import tenon  # noqa: E402

tenon.load()
ISA = tenon.report()["isa"]
refusals_claimed = []


def pytest_configure(config):
    config.addinivalue_line("markers", "stocks_work: what it shows is of stock, or no kernel runs")


def counts(schema):
    """(hits, {reason: fallbacks}, state) of an override such as "add.Tensor"."""
    for operator in tenon.report()["operators"]:
        if operator["schema"] == schema:
            return operator["hits"], operator["fallbacks"], operator["state"]
    raise KeyError(schema)


def calls():
    """(fast, stock) calls of all overrides."""
    operators = tenon.report()["operators"]
    return sum(o["hits"] for o in operators), sum(sum(o["fallbacks"].values()) for o in operators)


class Took:
    """Assertions on what an override did since this was made."""

    def __init__(self, schema):
        self.schema = schema
        self.hits, self.fallbacks, self.state = counts(schema)

    def fast(self):
        """Calls that took the fast path."""
        return counts(self.schema)[0] - self.hits

    def stock(self, reason=None):
        """Calls that fell back, for one reason or for any."""
        now = counts(self.schema)[1]
        reasons = [reason] if reason else set(now)
        return sum(now.get(r, 0) - self.fallbacks.get(r, 0) for r in reasons)


@contextlib.contextmanager
def fast(schema):
    """The body must run `schema` on the fast path, and never on the stock kernel.

    Where the plan of this machine prefers stock for what every other machine takes (the reason is
    "machine"), the test is skipped by name; never under TENON_ISA=avx2.
    """
    took = Took(schema)
    if took.state != "registered":
        pytest.skip("aten::%s: %s" % (schema, took.state))
    yield
    if took.stock("machine") and ISA != "avx2":
        pytest.skip("aten::%s: this machine prefers stock" % schema)
    assert took.fast() > 0, "aten::%s did not take the fast path: %s" % (schema, counts(schema))
    assert took.stock() == 0, "aten::%s fell back: %s" % (schema, counts(schema))


@contextlib.contextmanager
def falls_back(schema, reason=None):
    """The body must run `schema` on the stock kernel, for this reason when one is given.

    A size limit of AVX2 machines may be none of this one's: then the test is skipped by name.
    """
    took = Took(schema)
    if took.state != "registered":
        pytest.skip("aten::%s: %s" % (schema, took.state))
    refusals_claimed.append(schema)
    yield
    if reason == "size" and took.fast() and ISA != "avx2":
        pytest.skip("aten::%s: this machine takes the size" % schema)
    assert took.fast() == 0, "aten::%s took the fast path" % schema
    assert took.stock(reason) > 0, "aten::%s did not fall back: %s" % (schema, counts(schema))


def on_threads(f, threads=(1, 2, 3)):
    """f() for each thread count, in the order given; the count is restored."""
    before = torch.get_num_threads()
    results = []
    for n in threads:
        torch.set_num_threads(n)
        results.append(f())
    torch.set_num_threads(before)
    return results


@pytest.fixture(autouse=True)
def seeded():
    torch.manual_seed(20261130)


@pytest.hookimpl(wrapper=True)
def pytest_pyfunc_call(pyfuncitem):
    """A test without one call on a fast path fails, unless a refusal is what it shows.

    Which override it was, `fast` and `falls_back` say; this is for tests that use neither.
    """
    tenon.reset()
    refusals_claimed.clear()
    result = yield
    hits, refusals = calls()
    stocks_work = pyfuncitem.get_closest_marker("stocks_work") or (refusals_claimed and refusals)
    assert hits or stocks_work or ISA == "baseline", "no override ran"
    return result
