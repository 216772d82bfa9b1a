"""layer_norm and rms_norm: forward and backward against float64 and stock, autograd and functorch as
in stock, the same bits for any number of threads and for a row alone."""

import contextlib

import pytest
import tenon
import torch
import torch.nn.functional as F

from conftest import falls_back, fast, on_threads

DTYPES = (torch.float32, torch.bfloat16, torch.float16)
EPSILON = {torch.float32: 2.0**-23, torch.bfloat16: 2.0**-8, torch.float16: 2.0**-11}
SHAPES = ((1,), (7, 16), (3, 5, 33), (65, 129), (2, 4097))
LONG = ((1, 1000), (3, 5, 1033), (65, 1100), (2, 4097))  # what layer_norm's forward takes


def close(got, want, scale=1.0):
    """Within a few roundings of got's type at the size of the largest value."""
    bound = scale * 4 * EPSILON[got.dtype] * max(1.0, want.abs().max().item())
    assert (got.double() - want).abs().max().item() <= bound


def operands(shape, dtype, weight_dtype=None):
    weight_dtype = weight_dtype or dtype
    x = torch.randn(shape).to(dtype)
    return x, torch.randn(shape[-1]).to(weight_dtype), torch.randn(shape[-1]).to(weight_dtype)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("shape", LONG)
def test_layer_norm_matches_float64(shape, dtype):
    x, w, b = operands(shape, dtype)
    for weight, bias in ((w, b), (w, None), (None, b), (None, None)):
        with fast("native_layer_norm"):
            y = F.layer_norm(x, shape[-1:], weight, bias, 1e-5)
        exact = [None if t is None else t.double() for t in (x, weight, bias)]
        close(y, F.layer_norm(exact[0], shape[-1:], exact[1], exact[2], 1e-5))
        assert y.dtype == dtype and y.is_contiguous()


@pytest.mark.parametrize("dtype", DTYPES)
def test_layer_norm_gives_mean_and_rstd_as_stock(dtype):
    for weight_dtype in (dtype, torch.float32):
        x, w, b = operands((6, 1200), dtype, weight_dtype)
        ours = torch.native_layer_norm(x, (1200,), w, b, 1e-5)
        with tenon.stock():
            theirs = torch.native_layer_norm(x, (1200,), w, b, 1e-5)
        for a, c in zip(ours, theirs):
            assert a.dtype == c.dtype and a.shape == c.shape and a.stride() == c.stride()
            close(a, c.double())


def test_layer_norm_keeps_its_accuracy_under_a_large_mean():
    x = torch.randn(16, 1000) + 1e4
    y = F.layer_norm(x, (1000,))
    with tenon.stock():
        theirs = F.layer_norm(x, (1000,))
    exact = F.layer_norm(x.double(), (1000,))
    assert (y - exact).abs().max() <= (theirs - exact).abs().max()


def gradients(function, *inputs):
    leaves = [t.detach().clone().requires_grad_() for t in inputs]
    y = function(*leaves)
    torch.manual_seed(7)
    y.backward(torch.randn(y.shape).to(y.dtype))
    return [t.grad for t in leaves]


def gradients_in_double(function, *inputs):
    leaves = [t.double().requires_grad_() for t in inputs]
    y = function(*leaves)
    torch.manual_seed(7)
    y.backward(torch.randn(y.shape).to(inputs[0].dtype).double())
    return [t.grad for t in leaves]


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("shape", SHAPES[1:])
def test_layer_norm_backward_is_no_worse_than_stock(shape, dtype):
    inputs = operands(shape, dtype)
    function = lambda x, w, b: F.layer_norm(x, shape[-1:], w, b, 1e-5)
    with fast("native_layer_norm_backward"):
        ours = gradients(function, *inputs)
    with tenon.stock():
        theirs = gradients(function, *inputs)
    for a, s, exact in zip(ours, theirs, gradients_in_double(function, *inputs)):
        size = max(1.0, exact.abs().max().item())
        error = (a.double() - exact).abs().max().item()
        assert error <= (s.double() - exact).abs().max().item() + 4 * EPSILON[dtype] * size


def test_layer_norm_backward_of_some():
    x, w, b = operands((5, 20), torch.float32)
    y, mean, rstd = torch.native_layer_norm(x, (20,), w, b, 1e-5)
    g = torch.randn_like(y)
    call = torch.ops.aten.native_layer_norm_backward
    whole = call(g, x, (20,), mean, rstd, w, b, [True, True, True])
    for mask in ([True, False, False], [False, True, False], [False, False, True]):
        for wanted, one, all_of_it in zip(mask, call(g, x, (20,), mean, rstd, w, b, mask), whole):
            assert (one is None) != wanted
            assert one is None or torch.equal(one, all_of_it)


def default_epsilon(dtype):
    """What stock adds where no epsilon is given: the type's own in torch 2.6, f32's in later ones."""
    with tenon.stock():
        wide = F.rms_norm(torch.tensor([2.0**-7], dtype=dtype), (1,)).item() > 0.5
    return torch.finfo(torch.float32 if wide else dtype).eps


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("shape", SHAPES)
def test_rms_norm_matches_float64(shape, dtype):
    x, w, _ = operands(shape, dtype)
    default = default_epsilon(dtype)
    for weight in (w, None):
        for eps in (1e-5, None):
            with fast("rms_norm"):
                y = F.rms_norm(x, shape[-1:], weight, eps)
            exact = x.double() * torch.rsqrt(x.double().pow(2).mean(-1, True) + (eps or default))
            close(y, exact if weight is None else exact * weight.double())
            with tenon.stock():
                close(y, F.rms_norm(x, shape[-1:], weight, eps).double())


@pytest.mark.parametrize("dtype", DTYPES[1:])
def test_rms_norm_of_mixed_types_as_stock(dtype):
    x, w, _ = operands((9, 70), dtype, torch.float32)
    y = F.rms_norm(x, (70,), w, 1e-6)
    with tenon.stock():
        theirs = F.rms_norm(x, (70,), w, 1e-6)
    assert y.dtype == theirs.dtype
    close(y, theirs.double())


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("shape", SHAPES)
def test_rms_norm_backward_is_no_worse_than_stock(shape, dtype):
    inputs = operands(shape, dtype)[:2]
    function = lambda x, w: F.rms_norm(x, shape[-1:], w, 1e-5)
    with fast("rms_norm"):
        ours = gradients(function, *inputs)
    with tenon.stock():
        theirs = gradients(function, *inputs)
    for a, s, exact in zip(ours, theirs, gradients_in_double(function, *inputs)):
        size = max(1.0, exact.abs().max().item())
        error = (a.double() - exact).abs().max().item()
        assert a.dtype == dtype
        assert error <= (s.double() - exact).abs().max().item() + 4 * EPSILON[dtype] * size


def test_rms_norm_backward_without_weight():
    x = torch.randn(6, 30)
    function = lambda v: F.rms_norm(v, (30,), None, 1e-5)
    close(gradients(function, x)[0], gradients_in_double(function, x)[0])


def test_rms_norm_gradient_of_one_input_only():
    x, w, _ = operands((4, 12), torch.float32)
    whole = gradients(lambda a, b: F.rms_norm(a, (12,), b), x, w)
    assert torch.equal(gradients(lambda a: F.rms_norm(a, (12,), w), x)[0], whole[0])
    assert torch.equal(gradients(lambda b: F.rms_norm(x, (12,), b), w)[0], whole[1])


def test_rms_norm_second_gradients():
    x = torch.randn(3, 8, requires_grad=True)
    w = torch.randn(8, requires_grad=True)

    def twice():
        y = F.rms_norm(x, (8,), w, 1e-5)
        (first,) = torch.autograd.grad((y * y * y).sum(), x, create_graph=True)
        return torch.autograd.grad((first * first).sum(), (x, w))

    ours = twice()
    with tenon.stock():
        theirs = twice()
    for a, s in zip(ours, theirs):
        torch.testing.assert_close(a, s, rtol=1e-4, atol=1e-4)


def test_rms_norm_batched_gradients():
    x = torch.randn(3, 8, requires_grad=True)
    g = torch.randn(5, 3, 8)
    y = F.rms_norm(x, (8,))
    (batched,) = torch.autograd.grad(y, x, g, is_grads_batched=True, retain_graph=True)
    single = [torch.autograd.grad(y, x, one, retain_graph=True)[0] for one in g]
    torch.testing.assert_close(batched, torch.stack(single), rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("transform", ("grad", "jvp", "vmap", "vmap_grad", "hessian"))
def test_rms_norm_under_functorch_as_stock(transform):
    x, w = torch.randn(4, 8), torch.randn(8)
    loss = lambda v: F.rms_norm(v, (8,), w, 1e-5).pow(3).sum()
    calls = {
        "grad": lambda: torch.func.grad(loss)(x),
        "jvp": lambda: torch.func.jvp(loss, (x,), (torch.ones_like(x),))[1],
        "vmap": lambda: torch.func.vmap(lambda v: F.rms_norm(v, (8,), w, 1e-5))(x),
        "vmap_grad": lambda: torch.func.vmap(torch.func.grad(loss))(x),
        "hessian": lambda: torch.func.hessian(loss)(x[0]),
    }
    # vmap takes the operator apart before any kernel of ours could be asked.
    asked = contextlib.nullcontext() if transform == "vmap" else falls_back("rms_norm", "mode")
    with asked:
        ours = calls[transform]()
    with tenon.stock():
        torch.testing.assert_close(ours, calls[transform](), rtol=1e-5, atol=1e-5)


def test_rms_norm_forward_mode():
    x, t = torch.randn(4, 8), torch.randn(4, 8)
    with torch.autograd.forward_ad.dual_level():
        dual = torch.autograd.forward_ad.make_dual(x, t)
        with falls_back("rms_norm", "mode"):
            y = F.rms_norm(dual, (8,))
        assert torch.autograd.forward_ad.unpack_dual(y).tangent is not None


def test_rms_norm_of_strided_input_is_stocks():
    x = torch.randn(8, 6).t()
    with falls_back("rms_norm", "layout"):
        y = F.rms_norm(x, (8,))
    with tenon.stock():
        assert y.stride() == F.rms_norm(x, (8,)).stride()


@pytest.mark.stocks_work
def test_what_stock_rejects_stock_rejects():
    x = torch.randn(4, 8)
    for call in (F.layer_norm, F.rms_norm):
        with pytest.raises(RuntimeError, match="normalized_shape"):
            call(x, (7,))
        with pytest.raises(RuntimeError, match="normalized_shape"):
            call(x, (8,), torch.randn(7))


def test_empty_and_double_are_stocks():
    with falls_back("native_layer_norm", "size"):
        F.layer_norm(torch.randn(3, 999), (999,))
    with falls_back("native_layer_norm", "size"):
        assert F.layer_norm(torch.randn(0, 8), (8,)).shape == (0, 8)
    with falls_back("native_layer_norm", "dtype"):
        F.layer_norm(torch.randn(2, 8, dtype=torch.float64), (8,))
    with falls_back("rms_norm", "dtype"):
        F.rms_norm(torch.randn(2, 8, dtype=torch.float64), (8,))


@pytest.mark.parametrize("name", ("layer_norm", "rms_norm"))
@pytest.mark.parametrize("dtype", DTYPES)
def test_same_bits_for_any_threads_and_for_a_row_alone(name, dtype):
    x, w, _ = operands((300, 1030), dtype)
    call = lambda v: getattr(F, name)(v, (1030,), w)
    whole, *others = on_threads(lambda: call(x))
    assert all(torch.equal(whole, o) for o in others)
    for row in (0, 17, 299):
        assert torch.equal(call(x[row : row + 1]), whole[row : row + 1])
    first, *others = on_threads(lambda: gradients(lambda v, u: getattr(F, name)(v, (1030,), u), x, w))
    assert all(torch.equal(a, b) for o in others for a, b in zip(first, o))
