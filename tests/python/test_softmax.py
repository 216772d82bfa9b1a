"""softmax and log_softmax: every dimension and dtype against float64, gradients against float64, out=,
special values, the same bits for any number of threads and for a row alone."""

import pytest
import tenon
import torch

from conftest import falls_back, fast, on_threads

DTYPES = (torch.float32, torch.bfloat16, torch.float16)
EPSILON = {torch.float32: 2.0**-23, torch.bfloat16: 2.0**-8, torch.float16: 2.0**-11}
SHAPES = ((1,), (16,), (1000,), (7, 33), (5, 70, 6), (2, 9, 130), (3, 1, 7, 1), (40, 4100))
NAMES = ("softmax", "log_softmax")


def dims():
    return [(shape, dim) for shape in SHAPES for dim in range(len(shape))]


def close(got, want):
    """Within a few units of got's type, and of f32 where exponentials are small."""
    size = max(1.0, want.abs().max().item())
    assert (got.double() - want).abs().max().item() <= 4 * EPSILON[got.dtype] * size


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("shape,dim", dims())
def test_matches_float64(name, dtype, shape, dim):
    x = (torch.randn(shape) * 3).to(dtype)
    with fast("_" + name):
        y = getattr(torch, name)(x, dim)
    close(y, getattr(torch, name)(x.double(), dim))
    assert y.dtype == dtype and y.is_contiguous()
    assert torch.equal(y, getattr(torch, name)(x, dim - len(shape)))


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("shape,dim", dims())
def test_backward_matches_float64(name, dtype, shape, dim):
    x = torch.randn(shape).to(dtype).requires_grad_()
    y = getattr(torch, name)(x, dim)
    g = torch.randn(shape).to(dtype)
    with fast("_%s_backward_data" % name):
        y.backward(g)
    backward = getattr(torch, "_%s_backward_data" % name)
    want = backward(g.double(), y.detach().double(), dim, torch.float64)
    close(x.grad, want)


@pytest.mark.parametrize("name", NAMES)
def test_strided_input(name):
    x = torch.randn(6, 5, 40).transpose(0, 2)
    for dim in range(3):
        with fast("_" + name):
            y = getattr(torch, name)(x, dim)
        assert torch.equal(y, getattr(torch, name)(x.contiguous(), dim)) and y.is_contiguous()


@pytest.mark.parametrize("name", NAMES)
def test_out(name):
    x = torch.randn(6, 50)
    want = getattr(torch, name)(x, 0)
    y = torch.empty(6, 50)
    with fast("_%s.out" % name):
        assert getattr(torch, name)(x, 0, out=y) is y
    assert torch.equal(y, want)
    with fast("_%s.out" % name):  # in place
        getattr(torch, name)(x, 0, out=x)
    assert torch.equal(x, want)
    with falls_back("_%s.out" % name, "layout"):
        strided = torch.empty(50, 6).t()
        getattr(torch.ops.aten, "_" + name).out(x, 0, False, out=strided)


@pytest.mark.parametrize("dim", (0, 1))
def test_special_values_as_float64(dim):
    inf, nan = float("inf"), float("nan")
    rows = [[-inf] * 3, [inf, 1, 2], [nan, 1, 2], [-inf, 0, 3], [-200.0, 0, 0], [5e4, 5e4, -5e4]]
    x = torch.tensor(rows)
    x = x if dim == 1 else x.t().contiguous()
    for name in NAMES:
        got, want = getattr(torch, name)(x, dim), getattr(torch, name)(x.double(), dim)
        torch.testing.assert_close(got.double(), want, rtol=1e-6, atol=1e-38, equal_nan=True)


def test_fallbacks():
    with falls_back("_softmax", "dtype"):
        torch.softmax(torch.randn(3, dtype=torch.float64), 0)
    with falls_back("_softmax", "size"):
        assert torch.softmax(torch.randn(0, 3), 1).shape == (0, 3)
    with falls_back("_softmax", "size"):
        torch.softmax(torch.randn(4, 5, 3), 1)
    with falls_back("_softmax_backward_data", "size"):
        torch._softmax_backward_data(torch.randn(4, 5, 5), torch.rand(4, 5, 5), 1, torch.float32)
    with falls_back("_softmax", "argument"), pytest.raises(IndexError):
        torch.softmax(torch.randn(3), 1)
    with fast("_softmax"):
        assert torch.softmax(torch.tensor(3.0), 0) == 1


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("dtype", DTYPES)
def test_same_bits_for_any_threads_layout_and_batch(name, dtype):
    x = (torch.randn(300, 517) * 4).to(dtype)
    softmax = getattr(torch, name)
    whole, *others = on_threads(lambda: softmax(x, 1))
    assert all(torch.equal(whole, o) for o in others)
    for row in (0, 18, 299):
        assert torch.equal(softmax(x[row], 0), whole[row])
    down, *others = on_threads(lambda: softmax(x.t().contiguous(), 0))
    assert all(torch.equal(down, o) for o in others)
    assert torch.equal(down.t(), whole)
    g = torch.randn(300, 517).to(dtype)
    backward = getattr(torch, "_%s_backward_data" % name)
    rows, *others = on_threads(lambda: backward(g, whole, 1, dtype))
    assert all(torch.equal(rows, o) for o in others)
    assert torch.equal(backward(g.t().contiguous(), down, 0, dtype).t(), rows)


def test_gradcheck_of_second_order():
    x = torch.randn(3, 5, requires_grad=True)

    def twice():
        (first,) = torch.autograd.grad(torch.softmax(x, 0).pow(2).sum(), x, create_graph=True)
        return torch.autograd.grad(first.pow(2).sum(), x)[0]

    ours = twice()
    with tenon.stock():
        torch.testing.assert_close(ours, twice(), rtol=1e-4, atol=1e-6)
