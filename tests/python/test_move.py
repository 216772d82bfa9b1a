"""masked_fill, cat, index_select, embedding: the same bits as stock, and stock's errors."""

import pytest
import torch
import torch.nn.functional as F

import tenon
from conftest import falls_back, fast, on_threads

FLOATS = [torch.float32, torch.bfloat16, torch.float16, torch.float64]
ALL = FLOATS + [torch.int64, torch.int32, torch.uint8, torch.bool]


def random(shape, dtype):
    if dtype.is_floating_point:
        return torch.randn(shape).to(dtype)
    return torch.randint(0, 2 if dtype == torch.bool else 100, shape).to(dtype)


def where(x, mask, value):
    return torch.where(mask, torch.tensor(value, dtype=x.dtype), x)


def assert_error_is_stocks(call, kind=(RuntimeError, IndexError)):
    with pytest.raises(kind) as ours:
        call()
    with tenon.stock(), pytest.raises(kind) as stocks:
        call()
    assert str(ours.value).splitlines()[0] == str(stocks.value).splitlines()[0]


# masked_fill


@pytest.mark.parametrize("dtype", ALL)
@pytest.mark.parametrize("n", [1, 7, 33, 1000, 100003])
def test_masked_fill_of_every_type(n, dtype):
    x, mask = random((n,), dtype), torch.rand(n) < 0.5
    value = True if dtype == torch.bool else 3
    want = where(x, mask, value)
    with fast("masked_fill.Scalar"):
        assert torch.equal(x.masked_fill(mask, value), want)
    with fast("masked_fill_.Scalar"):
        assert torch.equal(x.clone().masked_fill_(mask, value), want)
    with fast("masked_fill.Tensor"):
        assert torch.equal(x.masked_fill(mask, torch.tensor(value)), want)
    with fast("masked_fill_.Tensor"):
        assert torch.equal(x.clone().masked_fill_(mask, torch.tensor(value)), want)


@pytest.mark.parametrize(
    "shape, mask_shape",
    [
        ((4, 3, 16, 20), (4, 1, 16, 20)),
        ((4, 3, 16, 20), (4, 1, 1, 20)),
        ((4, 3, 16, 20), (16, 20)),
        ((4, 3, 16, 20), (20,)),
        ((4, 3, 16, 20), (1, 3, 1, 20)),
        ((4, 3, 16, 20), (4, 1, 16, 1)),
        ((4, 3, 16, 20), ()),
        ((4, 3, 16, 20), (1, 1, 1, 1)),
        ((1, 1, 1, 20), (1, 20)),
        ((5, 1, 20), (5, 1, 1)),
    ],
    ids=str,
)
@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16, torch.uint8])
def test_masked_fill_broadcasts_the_mask(shape, mask_shape, dtype):
    x, mask = random(shape, dtype), torch.rand(mask_shape) < 0.5
    with fast("masked_fill.Scalar"):
        assert torch.equal(x.masked_fill(mask, 2), where(x, mask, 2))
    with fast("masked_fill_.Scalar"):
        assert torch.equal(x.clone().masked_fill_(mask, 2), where(x, mask, 2))


@pytest.mark.parametrize("value", [float("-inf"), float("nan"), -1e30, 1, True, 0.1, 65504, 1e-8])
def test_masked_fill_values(value):
    for dtype in FLOATS:
        x, mask = random((100,), dtype), torch.rand(100) < 0.5
        if dtype == torch.float16 and value == -1e30:
            assert_error_is_stocks(lambda: x.masked_fill(mask, value))
            continue
        with fast("masked_fill.Scalar"):
            y = x.masked_fill(mask, value)
        with tenon.stock():
            torch.testing.assert_close(y, x.masked_fill(mask, value), rtol=0, atol=0, equal_nan=True)


def test_masked_fill_takes_any_byte_for_true():
    mask = torch.tensor([0, 1, 2, 255, 128, 0] * 20, dtype=torch.uint8).view(torch.bool)
    with fast("masked_fill.Scalar"):
        assert torch.zeros(120).masked_fill(mask, 1).sum() == 80


@pytest.mark.parametrize(
    "call, reason",
    [
        (lambda x, m: x.t().masked_fill(m, 1), "layout"),
        (lambda x, m: x[:, :5].masked_fill(m[:, :5], 1), "layout"),
        (lambda x, m: x.masked_fill(m.t(), 1), "layout"),
        (lambda x, m: x[:1].masked_fill(m, 1), "shape"),
        (lambda x, m: x.long().masked_fill(m, 1.5), "argument"),
        (lambda x, m: x.cfloat().masked_fill(m, 1), "argument"),
        (lambda x, m: x[:0].masked_fill(m[:0], 1), "shape"),
    ],
)
def test_masked_fill_that_stays_with_stock(call, reason):
    x, mask = torch.randn(30, 30), torch.rand(30, 30) < 0.5
    with falls_back("masked_fill.Scalar", reason):
        ours = call(x, mask)
    with tenon.stock():
        assert torch.equal(ours, call(x, mask))


def test_masked_fill_by_a_mask_in_the_same_memory():
    x = torch.rand(64) < 0.5
    want = torch.ones(64, dtype=torch.bool)
    with falls_back("masked_fill_.Scalar", "overlap"):
        assert torch.equal(x.masked_fill_(x.view(64), True) | True, want)


@pytest.mark.stocks_work
@pytest.mark.parametrize(
    "call",
    [
        lambda x: x.masked_fill(torch.ones(3, dtype=torch.uint8), 1),
        lambda x: x.masked_fill(torch.ones(4, dtype=torch.bool), 1),
        lambda x: x.masked_fill_(torch.ones(2, 3, dtype=torch.bool), 1),
        lambda x: x.masked_fill(torch.ones(3, dtype=torch.bool), torch.ones(3)),
        lambda x: x.masked_fill(torch.ones(3, dtype=torch.bool), 1j),
        lambda x: x[1:].masked_fill_(x.view(torch.bool)[3:5], 1),
        lambda x: x.byte().masked_fill(torch.ones(3, dtype=torch.bool), 300),
    ],
)
def test_masked_fill_errors_are_stocks(call):
    assert_error_is_stocks(lambda: call(torch.randn(3)))


def test_masked_fill_gradients():
    x = torch.randn(10, 20, requires_grad=True)
    value = torch.tensor(2.0, requires_grad=True)
    mask = torch.rand(10, 20) < 0.5
    gx, gv = torch.autograd.grad((x.masked_fill(mask, value) ** 2).sum(), (x, value))
    torch.testing.assert_close(gx, 2 * x.detach() * ~mask)
    torch.testing.assert_close(gv, 4.0 * mask.sum())


# cat


@pytest.mark.parametrize("dtype", ALL)
@pytest.mark.parametrize("shape", [(5,), (1, 7), (3, 4), (2, 3, 4), (2, 9, 10, 33), (700, 800)], ids=str)
def test_cat_on_every_dimension(shape, dtype):
    for dim in range(-len(shape), len(shape)):
        parts = []
        for size in (1, 3, 0, 20):
            part = list(shape)
            part[dim] = size
            if len(shape) > 1 or size:
                parts.append(random(part, dtype))
        with tenon.stock():
            want = torch.cat(parts, dim)
        with fast("cat"):
            y = torch.cat(parts, dim)
        assert torch.equal(y, want) and y.stride() == want.stride()
        with fast("cat.out"):
            torch.cat(parts, dim, out=y.zero_())
        assert torch.equal(y, want)


def test_cat_of_strided_rows():
    x = torch.randn(6, 40)
    for parts, dim in (((x[:, :10], x[:, 30:]), 1), ((x[::2], x[1::2]), 0), ((x[:, 3:9], x[:, 1:2]), 1)):
        with tenon.stock():
            want = torch.cat(parts, dim)
        if dim == 1:
            with fast("cat"):
                assert torch.equal(torch.cat(parts, dim), want)
        else:
            with falls_back("cat", "layout"):
                assert torch.equal(torch.cat(parts, dim), want)


@pytest.mark.parametrize(
    "parts, dim, reason",
    [
        (lambda: (torch.randn(3, 4), torch.randn(3, 4).double()), 0, "dtype"),
        (lambda: (torch.randn(3, 4), torch.randn(4, 3).t()), 0, "layout"),
        (lambda: (torch.randn(0), torch.randn(4, 3)), 0, "shape"),
        (lambda: (torch.randn(2, 3, 4, 4).to(memory_format=torch.channels_last),) * 2, 1, "layout"),
        (lambda: (torch.randn(0, 3), torch.randn(0, 3)), 0, "shape"),
    ],
)
def test_cat_that_stays_with_stock(parts, dim, reason):
    given = parts()
    with tenon.stock():
        want = torch.cat(given, dim)
    with falls_back("cat", reason):
        y = torch.cat(given, dim)
    assert torch.equal(y, want) and y.stride() == want.stride() and y.dtype == want.dtype


@pytest.mark.stocks_work
@pytest.mark.parametrize(
    "call",
    [
        lambda x: torch.cat([]),
        lambda x: torch.cat([x, x], 2),
        lambda x: torch.cat([x, x[:1]], 1),
        lambda x: torch.cat([x, x[0]], 0),
        lambda x: torch.cat([x.sum(), x.sum()]),
        lambda x: torch.cat([x, x], out=x),
    ],
)
def test_cat_errors_are_stocks(call):
    assert_error_is_stocks(lambda: call(torch.randn(3, 4)), (RuntimeError, IndexError, ValueError))


def test_cat_gradients_and_threads():
    x, y = torch.randn(3, 4, requires_grad=True), torch.randn(3, 2, requires_grad=True)
    w = torch.randn(3, 6)
    gx, gy = torch.autograd.grad((torch.cat((x, y), 1) * w).sum(), (x, y))
    assert torch.equal(gx, w[:, :4]) and torch.equal(gy, w[:, 4:])
    big = torch.randn(1001, 1003)
    for dim in (0, 1):
        a, *others = on_threads(lambda: torch.cat((big, big, big), dim))
        assert all(torch.equal(a, b) for b in others)
        assert torch.equal(a, big.repeat(3, 1) if dim == 0 else big.repeat(1, 3))


# index_select, embedding


@pytest.mark.parametrize("index_dtype", [torch.int64, torch.int32])
@pytest.mark.parametrize("dtype", ALL)
@pytest.mark.parametrize("shape", [(9,), (1, 9), (9, 1), (5, 6), (3, 4, 5), (40, 300)], ids=str)
def test_index_select_on_every_dimension(shape, dtype, index_dtype):
    x = random(shape, dtype)
    for dim in range(-len(shape), len(shape)):
        for n in (1, 7, 1000):
            index = torch.randint(0, shape[dim], (n,), dtype=index_dtype)
            with tenon.stock():
                want = x.index_select(dim, index)
            with fast("index_select"):
                y = x.index_select(dim, index)
            assert torch.equal(y, want) and y.stride() == want.stride()
            with fast("index_select.out"):
                torch.index_select(x, dim, index, out=y.zero_())
            assert torch.equal(y, want)
    with fast("index_select"):
        x.index_select(0, torch.tensor(0))


@pytest.mark.parametrize("bad", [-1, 5, 2**40, -(2**40)])
@pytest.mark.parametrize("dim", [0, 1])
def test_index_out_of_range_is_stocks_error(dim, bad):
    x, index = torch.randn(5, 5), torch.tensor([0, 1, bad, 2])
    assert_error_is_stocks(lambda: x.index_select(dim, index))
    out = torch.zeros(4, 5) if dim == 0 else torch.zeros(5, 4)
    with falls_back("index_select.out", "value"), pytest.raises((RuntimeError, IndexError)):
        torch.index_select(x, dim, index, out=out)


@pytest.mark.stocks_work
@pytest.mark.parametrize(
    "call",
    [
        lambda x: x.index_select(2, torch.tensor([0])),
        lambda x: x.index_select(0, torch.tensor([0.0])),
        lambda x: x.index_select(0, torch.tensor([[0]])),
        lambda x: torch.index_select(x, 0, torch.tensor([0, 1, 2]), out=x),
        lambda x: F.embedding(torch.tensor([3]), x),
        lambda x: F.embedding(torch.tensor([-1]), x),
        lambda x: torch.embedding(x[0], torch.tensor([0])),
        lambda x: torch.embedding(x, torch.tensor([0.0])),
    ],
)
def test_index_errors_are_stocks(call):
    assert_error_is_stocks(lambda: call(torch.randn(3, 4)))


def test_index_select_that_stays_with_stock():
    x = torch.randn(6, 8)
    with falls_back("index_select", "layout"):
        assert torch.equal(x.t().index_select(0, torch.tensor([1, 0])), x[:, [1, 0]].t())
    with falls_back("index_select", "layout"):
        x.index_select(0, torch.arange(6)[::2])
    with falls_back("index_select", "shape"):
        assert x.index_select(0, torch.empty(0, dtype=torch.int64)).shape == (0, 8)


@pytest.mark.parametrize("index_dtype", [torch.int64, torch.int32])
@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("shape", [(), (1,), (7,), (3, 5), (2, 3, 4)], ids=str)
def test_embedding(shape, dtype, index_dtype):
    weight = torch.randn(50, 33).to(dtype)
    index = torch.randint(0, 50, shape, dtype=index_dtype)
    with fast("embedding"):
        y = F.embedding(index, weight)
    assert torch.equal(y, weight[index.long()]) and y.is_contiguous()
    with fast("embedding"):
        assert torch.equal(F.embedding(index, weight[:, :20]), weight[index.long()][..., :20])


def test_embedding_gradients():
    for extra in ({}, {"padding_idx": 3}, {"scale_grad_by_freq": True}, {"sparse": True}):
        weight = torch.randn(10, 4, requires_grad=True)
        index = torch.tensor([[1, 3, 3], [9, 1, 0]])
        with fast("embedding"):
            y = F.embedding(index, weight, **extra)
        (ours,) = torch.autograd.grad((y**2).sum(), weight)
        with tenon.stock():
            (stocks,) = torch.autograd.grad((F.embedding(index, weight, **extra) ** 2).sum(), weight)
        assert torch.equal(ours.to_dense(), stocks.to_dense()), extra


def test_index_select_gradients_and_threads():
    x = torch.randn(6, 8, requires_grad=True)
    (g,) = torch.autograd.grad(x.index_select(1, torch.tensor([2, 2, 0])).sum(), x)
    assert g.sum(0).tolist() == [6, 0, 12, 0, 0, 0, 0, 0]
    big, index = torch.randn(3000, 65), torch.randint(0, 3000, (9001,))
    a, *others = on_threads(lambda: big.index_select(0, index))
    assert all(torch.equal(a, b) for b in others)
