"""copy_ and _to_copy: fast path by counter, the same elements and strides as stock."""

import math

import pytest
import torch

import tenon
from conftest import falls_back, fast, on_threads

DTYPES = [torch.float32, torch.bfloat16, torch.float16, torch.int64]
VALUES = [0.0, -0.0, 1.5, -2.5, 3e9, -3e9, 1e19, -1e19, math.inf, -math.inf, math.nan, 65520.0]


def same(y, z):
    return y.dtype == z.dtype and torch.equal(y.nan_to_num(7), z.nan_to_num(7))


@pytest.mark.parametrize("to", DTYPES)
@pytest.mark.parametrize("origin", DTYPES)
@pytest.mark.parametrize("n", [1, 13, 16, 1000])
def test_casts(origin, to, n):
    x = torch.randn(n) * 100
    x[: len(VALUES)] = torch.tensor(VALUES)[:n]
    with tenon.stock():
        x = x.to(origin)
        want = x.to(to, copy=True)
    with fast("_to_copy"):
        y = x.to(to, copy=True)
    assert same(y, want)
    z = torch.empty(n, dtype=to)
    with fast("copy_"):
        assert z.copy_(x) is z
    assert same(z, want)


def test_large_integers_round_once():
    x = torch.tensor([(1 << 24) + 1, (1 << 53) + 1, (1 << 62) + (1 << 38) + 1, -(1 << 40) - 3] * 5)
    with fast("_to_copy"):
        y = x.float()
    with tenon.stock():
        assert torch.equal(y, x.float())


def test_layout_of_dense_operands_is_kept():
    x = torch.randn(2, 3, 4, 5)
    for view in (x.transpose(1, 3), x.contiguous(memory_format=torch.channels_last)):
        with fast("_to_copy"):
            y = view.to(torch.bfloat16)
        with tenon.stock():
            z = view.to(torch.bfloat16)
        assert y.stride() == z.stride() and torch.equal(y, z)


@pytest.mark.parametrize("dtype", DTYPES + [torch.float64, torch.int32, torch.int16, torch.complex64])
@pytest.mark.parametrize("rows, cols", [(8, 8), (33, 17), (100, 300), (257, 64)])
def test_transposes(dtype, rows, cols):
    x = (torch.randn(rows, cols) * 100).to(dtype)
    y = torch.empty(cols, rows, dtype=dtype)
    with fast("copy_"):
        y.copy_(x.t())
    assert y.tolist() == [list(c) for c in zip(*x.tolist())]
    with fast("copy_"):
        z = x.t().contiguous()
    assert torch.equal(y, z) and z.is_contiguous()


@pytest.mark.parametrize("permutation", [(0, 2, 1), (2, 0, 1), (1, 2, 0), (2, 1, 0)])
def test_permuted(permutation):
    x = torch.randn(9, 10, 40).permute(permutation)
    with tenon.stock():
        want = x.contiguous()
    with fast("copy_"):
        y = x.contiguous()
    assert torch.equal(y, want)


def test_batches_slices_and_memory_formats():
    x = torch.randn(3, 16, 24, 40)
    part = x[:, :, 2:20, 1:33]
    for view in (x.transpose(-1, -2), part.transpose(-1, -2), x[:, 3].transpose(1, 2)):
        with tenon.stock():
            want = view.contiguous()
        with fast("copy_"):
            y = torch.empty(view.shape).copy_(view)
        assert torch.equal(y, want)
    with fast("copy_"):
        y = x.contiguous(memory_format=torch.channels_last)
    assert torch.equal(y, x) and y.is_contiguous(memory_format=torch.channels_last)


def test_copy_of_equal_layouts():
    for dtype in (torch.float32, torch.bool, torch.uint8, torch.complex64, torch.float64):
        x = (torch.randn(5, 7) * 3).to(dtype)
        with fast("copy_"):
            y = torch.empty_like(x).copy_(x)
        assert torch.equal(x, y)


def test_what_is_stocks():
    x = torch.randn(16, 16)
    y = torch.empty(16, 16)
    with falls_back("copy_", "shape"):
        y.copy_(x[0])
    with falls_back("copy_", "dtype"):
        y.copy_(x.double())
    with falls_back("copy_", "dtype"):
        y.copy_(x.to(torch.bfloat16).t())
    with falls_back("copy_", "layout"):
        y[:, ::2].copy_(x[:, ::2])
    with falls_back("copy_", "overlap"), pytest.raises(RuntimeError, match="memory location"):
        x.copy_(x.t())
    with falls_back("_to_copy", "layout"):
        x[:, ::2].to(torch.bfloat16)
    with falls_back("_to_copy", "argument"):
        torch.randn(1, 2, 3, 4).to(torch.bfloat16, memory_format=torch.channels_last)
    c = torch.randn(16, 16, dtype=torch.complex64)
    with falls_back("copy_", "layout"):
        z = torch.empty_like(c).copy_(c.conj())
    assert torch.equal(z, c.conj())
    with pytest.raises(RuntimeError, match="size|shape"):
        y.copy_(torch.randn(3, 5))


def test_gradients():
    x = torch.randn(16, 24, requires_grad=True)
    (x.t().contiguous() * 2).sum().backward()
    assert torch.equal(x.grad, torch.full((16, 24), 2.0))
    x.grad = None
    x.to(torch.bfloat16).sum().backward()
    assert torch.equal(x.grad, torch.ones(16, 24))


@pytest.mark.parametrize("shape", [(1000, 300), (70, 5000), (4, 300, 300)])
def test_same_for_any_thread_count(shape):
    x = torch.randn(shape).transpose(-1, -2)
    with tenon.stock():
        want = x.contiguous()
    assert all(torch.equal(want, y) for y in on_threads(lambda: x.contiguous()))
    casts = on_threads(lambda: x.contiguous().to(torch.bfloat16))
    assert all(torch.equal(casts[0], c) for c in casts)


def test_strides_of_dimensions_of_one_element_are_stocks():
    for shape, strides in (((3, 1), (1, 7)), ((1, 4), (9, 1)), ((4, 1, 3), (3, 1, 1)), ((0, 1), (1, 0))):
        x = torch.randn(40).as_strided(shape, strides)
        with fast("_to_copy"):
            assert x.to(torch.bfloat16).stride() == strides
        with tenon.stock():
            want = torch.nn.functional.rms_norm(x, x.shape[-1:]).stride()
        assert torch.nn.functional.rms_norm(x, x.shape[-1:]).stride() == want


def test_windows_that_overlap():
    signal = torch.randn(16, 200)
    windows = signal.unfold(1, 25, 1)  # two dimensions of stride 1
    with fast("copy_"):
        got = windows.permute(1, 2, 0).contiguous()
    want = torch.stack([signal[:, i : i + 25].t() for i in range(176)])
    assert torch.equal(got, want)
    x = torch.randn(1000).as_strided((9, 10, 11), (1, 1, 20))
    y = torch.empty(9, 10, 11).copy_(x)
    with tenon.stock():
        assert torch.equal(y, torch.empty(9, 10, 11).copy_(x))
