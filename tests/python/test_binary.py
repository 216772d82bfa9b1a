"""add, sub, mul, div: fast path by counter, the same results as stock in every kind of operands."""

import operator

import pytest
import torch

import tenon
from conftest import falls_back, fast, on_threads

OPS = {"add": torch.add, "sub": torch.sub, "mul": torch.mul, "div": torch.div}
DTYPES = [torch.float32, torch.bfloat16, torch.float16]


def assert_as_stock(f, schema, exact=None):
    """f() takes the fast path and gives stock's values, dtype and strides.

    Stock rounds a number to bf16 or f16 before some operators; then `exact`, the result in float64,
    is the judge: half a unit in the last place.
    """
    with fast(schema):
        y = f()
    with tenon.stock():
        z = f()
    assert y.dtype == z.dtype and y.stride() == z.stride()
    if y.dtype == torch.float32:
        torch.testing.assert_close(y, z, rtol=0, atol=0, equal_nan=True)
    elif exact is None:
        torch.testing.assert_close(y, z, equal_nan=True)
    else:
        half_unit = 2.0**-8 if y.dtype == torch.bfloat16 else 2.0**-11
        torch.testing.assert_close(y.double(), exact, rtol=1.001 * half_unit, atol=2.0**-25)


def operands(dtype, *shapes):
    return [torch.randn(s).to(dtype) for s in shapes]


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("name", OPS)
@pytest.mark.parametrize(
    "left, right",
    [
        ((), ()),
        ((1,), (1,)),
        ((1000,), (1000,)),
        ((7, 40), (40,)),
        ((7, 40), (1, 40)),
        ((40,), (7, 40)),
        ((2, 3, 40), (3, 40)),
        ((7, 40), (7, 1)),
        ((2, 7, 40), (2, 7, 1)),
        ((7, 40), ()),
        ((), (7, 40)),
    ],
)
def test_shapes(name, dtype, left, right):
    a, b = operands(dtype, left, right)
    assert_as_stock(lambda: OPS[name](a, b), name + ".Tensor")


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("name", OPS)
def test_numbers(name, dtype):
    f = getattr(operator, {"div": "truediv"}.get(name, name))
    for shape in ((), (1,), (33,), (5, 7)):
        (x,) = operands(dtype, shape)
        for s in (2, 0.3, -1.5, 1e-3, float("inf"), torch.tensor(0.7, dtype=torch.float64)):
            if isinstance(s, torch.Tensor) and not shape:
                continue  # promotes
            exact = f(x.double(), float(s))
            assert_as_stock(lambda: f(x, s), name + ".Tensor", exact)


@pytest.mark.parametrize("dtype", DTYPES)
def test_numbers_on_the_left(dtype):
    (x,) = operands(dtype, (33,))
    for s in (2, 0.3, -1.5):
        assert_as_stock(lambda: s - x, "sub.Tensor", s - x.double())
    a = torch.tensor(1.25)
    assert_as_stock(lambda: torch.div(a, x), "div.Tensor")


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("alpha", [1, -1, 2, 0.5, 0])
@pytest.mark.parametrize("name", ["add", "sub"])
def test_alpha(name, alpha, dtype):
    a, b, row = operands(dtype, (9, 40), (9, 40), (40,))
    assert_as_stock(lambda: OPS[name](a, b, alpha=alpha), name + ".Tensor")
    assert_as_stock(lambda: OPS[name](a, row, alpha=alpha), name + ".Tensor")
    assert_as_stock(lambda: OPS[name](row, a, alpha=alpha), name + ".Tensor")


@pytest.mark.parametrize("name", OPS)
def test_in_place_and_out(name):
    a, b, row, y = operands(torch.float32, (9, 40), (9, 40), (40,), (9, 40))
    for other in (b, row, 0.5, a.clone()[:, :1].contiguous()):
        want = OPS[name](a, other)
        x = a.clone()
        with fast(name + "_.Tensor"):
            getattr(x, name + "_")(other)
        assert torch.equal(x, want)
        other = other if isinstance(other, torch.Tensor) else torch.tensor(other)
        with fast(name + ".out"):
            assert OPS[name](a, other, out=y) is y
        assert torch.equal(y, want)
    with fast(name + "_.Tensor"):
        getattr(x, name + "_")(x)


@pytest.mark.parametrize("name", OPS)
def test_layouts(name):
    x = torch.randn(2, 3, 4, 5)
    last = x.contiguous(memory_format=torch.channels_last)
    for view in (x.transpose(1, 3), x.permute(2, 0, 3, 1), last):
        assert_as_stock(lambda: OPS[name](view, view.clone()), name + ".Tensor")
        assert_as_stock(lambda: OPS[name](view, 2.0), name + ".Tensor")
    one = torch.randn(2, 1, 4, 5).contiguous(memory_format=torch.channels_last)
    y = OPS[name](one, 2.0)
    with tenon.stock():
        assert y.stride() == OPS[name](one, 2.0).stride()


@pytest.mark.parametrize(
    "a, b",
    [
        (torch.ones(40), torch.ones(40, dtype=torch.float64)),
        (torch.ones(40), torch.ones(40, dtype=torch.bfloat16)),
        (torch.ones(40, dtype=torch.int64), torch.ones(40, dtype=torch.int64)),
        (torch.ones(40, dtype=torch.int64), torch.tensor(2.0)),
        (torch.ones(()), torch.ones((), dtype=torch.float64)),
        (torch.ones(40), torch.tensor(2j)),
        (torch.ones(4, 5), torch.ones(5)),
        (torch.ones(40, 40).t(), torch.ones(40)),
        (torch.ones(40, 40)[:, ::2], torch.ones(40, 20)),
        (torch.ones(40, 1), torch.ones(1, 40)),
    ],
)
def test_what_is_stocks(a, b):
    for name, f in OPS.items():
        with falls_back(name + ".Tensor"):
            y = f(a, b)
        with tenon.stock():
            z = f(a, b)
        assert torch.equal(y, z) and y.dtype == z.dtype and y.stride() == z.stride()


def test_arguments_that_are_stocks():
    x = torch.randn(40)
    with falls_back("add.Tensor", "argument"):
        torch.add(x, 3.0, alpha=0.1)
    with pytest.raises(RuntimeError, match="size"):
        x + torch.randn(41)
    with pytest.raises(RuntimeError, match="memory location"):
        x[:39].add_(x[1:])
    with pytest.raises(RuntimeError, match="memory location|overlap"):
        x.mul_(x[0])
    with pytest.raises(RuntimeError, match="shape|size"):
        x.add_(torch.randn(3, 40))
    with pytest.raises(RuntimeError, match="bool"):
        torch.sub(torch.tensor(True), torch.tensor(True))


def test_gradients():
    for name, f in OPS.items():
        a = torch.rand(9, 40).add_(0.5).requires_grad_()
        b = torch.rand(40).add_(0.5).requires_grad_()
        f(a, b).sum().backward()
        with tenon.stock():
            c, d = a.detach().clone().requires_grad_(), b.detach().clone().requires_grad_()
            f(c, d).sum().backward()
        torch.testing.assert_close(a.grad, c.grad)
        torch.testing.assert_close(b.grad, d.grad)


@pytest.mark.parametrize("shape", [(100003,), (17, 6007)])
def test_same_bits_for_any_thread_count(shape):
    a, b = torch.randn(shape).bfloat16(), torch.randn(shape[-1:]).bfloat16()
    x, *others = on_threads(lambda: torch.add(a, b, alpha=0.3))
    assert all(torch.equal(x, y) for y in others)


def test_nothing_is_stocks():
    """Strides of a result without elements follow no rule of ours."""
    with falls_back("mul.Tensor", "size"):
        assert (torch.randn(0, 1, 31) * torch.randn(0, 1, 31)).shape == (0, 1, 31)
