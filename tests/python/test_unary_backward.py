"""Backward of the activations: fast path by counter, values against float64 and stock's autograd."""

import math

import pytest
import torch
import torch.nn.functional as F

import tenon
from conftest import falls_back, fast, on_threads
from test_unary import DTYPES, operand

# Schema, forward, whether the result is what is saved, error in ulp of f32 (isa/unary_backward.h).
FUNCTIONS = {
    "threshold_backward": (torch.relu, True, 0),
    "sigmoid_backward": (torch.sigmoid, True, 3),
    "tanh_backward": (torch.tanh, True, 2),
    "silu_backward": (F.silu, False, 4),
    "gelu_backward": (F.gelu, False, 4),
    "gelu_backward tanh": (lambda x: F.gelu(x, approximate="tanh"), False, 4),
}


def leaf(name, dy, saved, **out):
    """The operator called directly."""
    schema, _, approximate = name.partition(" ")
    rest = [0] if schema == "threshold_backward" else []
    named = {"approximate": approximate} if approximate else {}
    return getattr(torch.ops.aten, schema)(dy, saved, *rest, **named, **out)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("name", FUNCTIONS)
def test_matches_float64(name, dtype):
    forward, saves_result, ulp = FUNCTIONS[name]
    for shape in [(), (1,), (7,), (33,), (1000,), (15, 65)]:
        x = (torch.randn(shape) * 4).to(dtype)
        dy = torch.randn(shape).to(dtype)
        saved = forward(x) if saves_result else x
        with fast(name.split()[0]):
            dx = leaf(name, dy, saved)
        want = leaf(name, dy.double(), saved.double())
        # f' is a sum of two terms below 1.2; a sigmoid's falls with it, so its scale is its own.
        scale = want.abs() if saves_result else dy.double().abs().clamp(min=2.0**-120)
        error = ulp * torch.exp2(scale.log2().floor() - 23)
        if dtype != torch.float32:
            error += 0.5 * (torch.nextafter(dx.abs(), dx.new_tensor(math.inf)) - dx.abs()).double()
        assert ((dx.double() - want).abs() <= error.nan_to_num(0)).all()


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("name", FUNCTIONS)
def test_special_values_are_stocks(name, dtype):
    dy, x = operand((64,), dtype), operand((64,), dtype).flip(0)
    if name == "gelu_backward tanh":
        x[x.abs() == x[x.isfinite()].abs().max()] = 0  # its cube overflows in stock alone
    dx = leaf(name, dy, x)
    with tenon.stock():
        want = leaf(name, dy, x)
    assert torch.equal(dx.isnan(), want.isnan())
    assert torch.equal(dx.isinf(), want.isinf())


@pytest.mark.parametrize("name", FUNCTIONS)
def test_autograd_reaches_it(name):
    forward = FUNCTIONS[name][0]
    x = torch.randn(3, 50, requires_grad=True)
    dy = torch.randn(3, 50)
    with fast(name.split()[0]):
        (dx,) = torch.autograd.grad(forward(x), x, dy)
    x64 = x.detach().double().requires_grad_()
    (want,) = torch.autograd.grad(forward(x64), x64, dy.double())
    torch.testing.assert_close(dx.double(), want, atol=1e-6, rtol=1e-6)


@pytest.mark.parametrize("name", FUNCTIONS)
def test_into_an_output_over_an_operand(name):
    dy, saved = torch.randn(100), torch.rand(100)
    want, z = leaf(name, dy, saved), torch.empty(100)
    with fast(name.split()[0] + ".grad_input"):
        assert leaf(name, dy, saved, grad_input=z) is z
        leaf(name, dy, saved, grad_input=saved)
    assert torch.equal(z, want) and torch.equal(saved, want)


@pytest.mark.parametrize("name", FUNCTIONS)
def test_dense_layouts_and_threads(name):
    dy, x = torch.randn(20, 30, 50), torch.randn(20, 30, 50)
    want = leaf(name, dy, x)
    with fast(name.split()[0]):
        dx = leaf(name, dy.transpose(0, 2), x.transpose(0, 2))
    assert dx.stride() == x.transpose(0, 2).stride() and torch.equal(dx.transpose(0, 2), want)
    for result in on_threads(lambda: leaf(name, dy, x)):
        assert torch.equal(result, want)


def test_what_is_stocks():
    x = torch.randn(10, 10)
    with falls_back("threshold_backward", "argument"):
        torch.ops.aten.threshold_backward(x, x, 0.5)
    with falls_back("silu_backward", "dtype"):
        torch.ops.aten.silu_backward(x.double(), x.double())
    with falls_back("silu_backward", "dtype"):
        torch.ops.aten.silu_backward(x, x.bfloat16())
    with falls_back("tanh_backward", "layout"):
        torch.ops.aten.tanh_backward(x, x.t())
    with falls_back("sigmoid_backward", "layout"):
        torch.ops.aten.sigmoid_backward(torch.ones(1).expand(10, 10), x)
    with falls_back("silu_backward.grad_input"), pytest.raises(RuntimeError, match="single memory|overlap"):
        torch.ops.aten.silu_backward(x[0], x[1], grad_input=x.flatten()[5:15])
    with falls_back("gelu_backward", "argument"), pytest.raises(RuntimeError, match="approximate"):
        torch.ops.aten.gelu_backward(x, x, approximate="erf")
