"""Functions of one operand and pow: fast path by counter, values against float64 and stock."""

import math

import pytest
import torch
import torch.nn.functional as F

import tenon
from conftest import falls_back, fast, on_threads

# Schema, function, largest error in ulp of f32 (isa/unary.h), in-place and out forms.
FUNCTIONS = {
    "relu": (torch.relu, 0),
    "exp": (torch.exp, 1),
    "tanh": (torch.tanh, 1.5),
    "sigmoid": (torch.sigmoid, 2.5),
    "silu": (F.silu, 3.5),
    "rsqrt": (torch.rsqrt, 1.5),
    "gelu": (F.gelu, 4.5),
    "gelu_tanh": (lambda x: F.gelu(x, approximate="tanh"), 3.5),
}
DTYPES = [torch.float32, torch.bfloat16, torch.float16]
BITS = {torch.float32: 23, torch.bfloat16: 7, torch.float16: 10}
SPECIAL = [0.0, -0.0, math.inf, -math.inf, math.nan, 1e-40, -1e-40, 3e38, -3e38, 1.0, -1.0, -15.0]


def operand(shape, dtype=torch.float32):
    x = (torch.randn(shape) * 4).to(dtype)
    flat = x.view(-1)
    n = min(len(SPECIAL), flat.numel())
    flat[:n] = torch.tensor(SPECIAL[:n]).to(dtype)
    return x


def gelu64(x):
    return x * 0.5 * torch.special.erfc(-x * math.sqrt(0.5))


def gelu_tanh64(x):
    return x * torch.sigmoid(math.sqrt(8 / math.pi) * (x + 0.044715 * x**3))


# Where ATen's own formula loses its digits in float64 too.
EXACT = {"gelu": gelu64, "gelu_tanh": gelu_tanh64}


def assert_within(y, want, ulp):
    """|y - want| within ulp units of f32 and half a unit of y's dtype; NaN and infinity alike."""
    bits = BITS[y.dtype]
    exponent = torch.frexp(want.abs().clamp(min=2.0**-120))[1].double() - 1
    unit = torch.exp2(exponent - 23) * ulp
    if bits != 23:
        smallest = -24 if y.dtype == torch.float16 else -133
        unit += 0.5 * torch.exp2((exponent - bits).clamp(min=smallest))
    rounded = want.to(y.dtype).double()  # overflow to infinity is right
    error = (y.double() - want).abs()
    ok = (error <= unit) | (y.double() == rounded) | (y.isnan() & want.isnan())
    assert ok.all(), "%s, not %s" % (y[~ok][:4], want[~ok][:4])


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("name", FUNCTIONS)
def test_matches_float64(name, dtype):
    f, ulp = FUNCTIONS[name]
    for shape in [(), (1,), (7,), (33,), (1000,), (15, 65)]:
        x = operand(shape, dtype)
        with fast(name.replace("_tanh", "")):
            y = f(x)
        assert_within(y, EXACT.get(name, f)(x.double()), ulp)


@pytest.mark.parametrize("name", FUNCTIONS)
def test_layout_of_dense_operands_is_kept(name):
    f, schema = FUNCTIONS[name][0], name.replace("_tanh", "")
    x = torch.rand(2, 3, 4, 5) + 0.1
    last = x.contiguous(memory_format=torch.channels_last)
    for view in (x.transpose(1, 3), x.permute(2, 0, 3, 1), last):
        with fast(schema):
            y = f(view)
        assert y.stride() == view.stride()
        assert torch.equal(y, f(view.contiguous()))


@pytest.mark.parametrize("name", ["relu", "exp", "tanh", "sigmoid", "rsqrt"])
def test_in_place_and_out(name):
    x = torch.rand(100) + 0.1
    want = getattr(torch, name)(x)
    y, z = x.clone(), torch.empty(100)
    with fast(name + "_"):
        getattr(torch, name + "_")(y)
    assert torch.equal(y, want)
    if name != "relu":  # torch.relu has no out=
        with fast(name + ".out"):
            assert getattr(torch, name)(x, out=z) is z
        assert torch.equal(z, want)


def test_in_place_and_out_of_activations():
    x = torch.randn(100)
    for f, name in ((F.silu, "silu"), (F.gelu, "gelu")):
        y, z = x.clone(), torch.empty(100)
        with fast(name + "_"):
            getattr(torch.ops.aten, name + "_")(y)
        with fast(name + ".out"):
            getattr(torch.ops.aten, name)(x, out=z)
        assert torch.equal(y, f(x)) and torch.equal(z, f(x))
    with fast("relu.out"):
        torch.ops.aten.relu.out(x, out=z)
    assert torch.equal(z, F.relu(x))


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("exponent", [2, 3.0, 0.5, -0.5, -1, -2])
def test_pow(exponent, dtype):
    x = operand((300,), dtype)
    with fast("pow.Tensor_Scalar"):
        y = torch.pow(x, exponent)
    want = x.double() ** exponent
    assert_within(y, want, 2.5)
    z = torch.empty_like(x)
    with fast("pow.Tensor_Scalar_out"):
        torch.pow(x, exponent, out=z)
    with fast("pow_.Scalar"):
        x.pow_(exponent)
    assert torch.equal(x.nan_to_num(7), y.nan_to_num(7))
    assert torch.equal(z.nan_to_num(7), y.nan_to_num(7))


def test_other_exponents_are_stocks():
    for exponent in (2.5, 0, 1, 4, True):
        with falls_back("pow.Tensor_Scalar", "argument"):
            torch.pow(torch.rand(10), exponent)


def test_what_is_stocks():
    with falls_back("exp", "dtype"):
        torch.exp(torch.randn(10, dtype=torch.float64))
    with falls_back("sigmoid", "dtype"):
        torch.sigmoid(torch.arange(10))
    with falls_back("gelu", "size"):
        F.gelu(torch.randn(9000))
    with falls_back("exp", "layout"):
        torch.exp(torch.randn(10, 10)[:, ::2])
    with falls_back("exp.out", "layout"):
        torch.exp(torch.randn(10), out=torch.empty(0))
    x = torch.randn(11)
    with falls_back("exp.out"), pytest.raises(RuntimeError, match="overlap|single memory"):
        torch.exp(x[:10], out=x[1:])
    with pytest.raises(RuntimeError, match="approximate"):
        F.gelu(x, approximate="erf")


def test_gradients_are_stocks():
    for name, (f, _) in FUNCTIONS.items():
        x = (torch.rand(50) + 0.5).requires_grad_()
        f(x).sum().backward()
        with tenon.stock():
            y = x.detach().clone().requires_grad_()
            f(y).sum().backward()
        torch.testing.assert_close(x.grad, y.grad)


# Exact gelu is ours only where one thread does it all.
@pytest.mark.parametrize("name", [name for name in FUNCTIONS if name != "gelu"])
def test_same_bits_for_any_thread_count(name):
    x = (torch.rand(100003) + 0.1).bfloat16()
    a, *others = on_threads(lambda: FUNCTIONS[name][0](x))
    assert all(torch.equal(a, b) for b in others)


@pytest.mark.parametrize("name", ["relu", "tanh", "silu"])
def test_zeros_keep_their_sign(name):
    for dtype in DTYPES:
        x = torch.tensor([0.0, -0.0] * 20, dtype=dtype)
        assert torch.equal(FUNCTIONS[name][0](x).signbit(), x.signbit())
