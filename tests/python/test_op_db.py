"""PyTorch's own operator database with Tenon loaded: every overridden operator on its sample inputs,
against the stock kernels in the same process.

For each operator and dtype: forward, non-contiguous inputs, out=, first and second derivatives,
error messages, pending negation, fake tensors; and the counters must have moved.
"""

import pytest
import torch
from torch.testing import make_tensor
from torch.testing._internal.common_methods_invocations import op_db
from torch.testing._internal.opinfo.core import SampleInput

from conftest import tenon

DTYPES = (torch.float32, torch.bfloat16, torch.float16)

# OpInfo name -> one override that its samples, LARGER included, must take at least once, for each of
# DTYPES.
OPERATORS = {
    "exp": "exp",
    "nn.functional.relu": "relu",
    "nn.functional.silu": "silu",
    "nn.functional.gelu": "gelu",
    "sigmoid": "sigmoid",
    "tanh": "tanh",
    "rsqrt": "rsqrt",
    "pow": "pow.Tensor_Scalar",
    "square": "pow.Tensor_Scalar",
    "add": "add.Tensor",
    "sub": "sub.Tensor",
    "mul": "mul.Tensor",
    "div": "div.Tensor",
    "to": "_to_copy",
    "contiguous": "copy_",
    "clone": "copy_",
    "softmax": "_softmax",
    "log_softmax": "_log_softmax",
    "mm": "mm",
    "addmm": "addmm",
    "bmm": "bmm",
    "baddbmm": "baddbmm",
    "mv": "mv",
    "addmv": "addmv",
    "dot": "dot",
    "nn.functional.linear": "addmm",
    "nn.functional.scaled_dot_product_attention": "_scaled_dot_product_flash_attention_for_cpu",
    "sum": "sum.dim_IntList",
    "mean": "mean.dim",
    "amax": "amax",
    "argmax": "argmax",
    "max": "max.dim",
    "masked_fill": "masked_fill.Scalar",
    "cat": "cat",
    "index_select": "index_select",
    "nn.functional.embedding": "embedding",
    "nn.functional.layer_norm": "native_layer_norm",
    "nn.functional.rms_norm": "rms_norm",
}

INFOS = [i for i in op_db if i.name in OPERATORS and not i.variant_test_name]
CASES = [(i, d) for i in INFOS for d in DTYPES if d in i.supported_dtypes("cpu")]
case_of = pytest.mark.parametrize(
    "info,dtype", CASES, ids=["%s-%s" % (i.full_name, str(d)[6:]) for i, d in CASES]
)


def tensors(x):
    """All tensors of a nested result, in order."""
    if isinstance(x, torch.Tensor):
        return [x]
    if isinstance(x, (tuple, list)):
        return [t for item in x for t in tensors(item)]
    return []


RTOL = {torch.float32: 1.3e-6, torch.bfloat16: 1.6e-2, torch.float16: 1e-3}  # torch.testing's


def same(got, want, exact=None):
    """`got` has the layout of `want`, stock's result, and its values.

    Where they differ by more than torch.testing's tolerance, `exact`, the result in float64, decides:
    the error is within the tolerance of the tensor's largest value, or no more than twice stock's.
    """
    got, want = tensors(got), tensors(want)
    exact = tensors(exact) or [None] * len(want)
    assert len(got) == len(want) == len(exact)
    for g, w, e in zip(got, want, exact):
        assert g.dtype == w.dtype and g.shape == w.shape
        assert g.stride() == w.stride(), (g.stride(), w.stride())
        if e is None or g.dtype not in RTOL:
            torch.testing.assert_close(g, w, equal_nan=True)
            continue
        finite = torch.isfinite(e) & torch.isfinite(w)
        assert torch.equal(g[~finite].nan_to_num(7.0), w[~finite].nan_to_num(7.0))
        ours, stocks, e = g.double()[finite], w.double()[finite], e[finite]
        if not e.numel():
            continue
        error, tolerance = (ours - e).abs(), RTOL[g.dtype] * (e.abs() + e.abs().max())
        assert ((error <= tolerance) | (error <= 2 * (stocks - e).abs())).all(), error.max()


def in_float64(info, sample):
    """Stock's result on the inputs as float64; None where the operator does not take them."""
    try:
        return call(info, in_double(sample))
    except RuntimeError:
        return None


# Operators whose own samples all lie below the sizes, or beside the arguments, that the override
# takes: samples of ours go through the same checks. make(*shape) gives an operand of the dtype.
LARGER = {
    "pow": lambda make, dtype: [SampleInput(make(5, 60, low=0.1), args=(e,)) for e in (2, 3, 0.5, -1)],
    "to": lambda make, dtype: [
        SampleInput(make(5, 60), args=(torch.bfloat16 if dtype == torch.float32 else torch.float32,))
    ],
    "nn.functional.layer_norm": lambda make, dtype: [
        SampleInput(make(4, 1100), args=((1100,), make(1100), make(1100)))
    ],
    "mm": lambda make, dtype: [
        SampleInput(make(4, 70), args=(make(70, 100),)),
        SampleInput(make(4, 70), args=(make(100, 70).t(),)),
        SampleInput(make(100, 70), args=(make(70, 5),)),
        SampleInput(make(50, 70), args=(make(70, 40),)),
    ],
    "addmm": lambda make, dtype: [
        SampleInput(make(100), args=(make(4, 70), make(70, 100))),
        SampleInput(make(4, 100), args=(make(4, 70), make(100, 70).t()),
                    kwargs={"beta": 0.5, "alpha": 2}),
        SampleInput(make(50, 1), args=(make(50, 70), make(70, 40))),
    ],
    "bmm": lambda make, dtype: [
        SampleInput(make(3, 4, 70), args=(make(3, 70, 100),)),
        SampleInput(make(3, 50, 70), args=(make(3, 70, 40),)),
    ],
    "baddbmm": lambda make, dtype: [
        SampleInput(make(3, 4, 100), args=(make(3, 4, 70), make(3, 70, 100))),
        SampleInput(make(100), args=(make(3, 4, 70), make(3, 70, 100)),
                    kwargs={"beta": 0.5, "alpha": 2}),
    ],
    "mv": lambda make, dtype: [SampleInput(make(100, 70), args=(make(70),))],
    "dot": lambda make, dtype: [SampleInput(make(1000), args=(make(1000),))],
}


def samples(info, dtype, grad=False):
    def make(*shape, low=-2):
        return make_tensor(shape, dtype=dtype, device="cpu", low=low, high=2, requires_grad=grad)

    larger = LARGER[info.name](make, dtype) if info.name in LARGER else []
    return larger + list(info.sample_inputs("cpu", dtype, requires_grad=grad))


def call(info, sample):
    return info.op(sample.input, *sample.args, **sample.kwargs)


@case_of
def test_forward(info, dtype):
    tenon.reset()
    for sample in samples(info, dtype):
        for s in (sample, sample.noncontiguous()):
            got = call(info, s)
            with tenon.stock():
                same(got, call(info, s), in_float64(info, s))
    schema = OPERATORS[info.name]
    operator = next(o for o in tenon.report()["operators"] if o["schema"] == schema)
    if operator["state"] != "registered":
        pytest.skip("aten::%s: %s" % (schema, operator["state"]))
    takes = operator["takes"]
    if {"float32": "f32", "bfloat16": "bf16", "float16": "f16"}[str(dtype)[6:]] in takes.split(";")[0]:
        assert operator["hits"] > 0, operator


@case_of
def test_out(info, dtype):
    if not info.supports_out:
        pytest.skip("no out=")
    compared = 0
    for sample in samples(info, dtype):
        with tenon.stock():
            want = call(info, sample)
        if not isinstance(want, torch.Tensor):
            continue
        resized = torch.empty(0, dtype=want.dtype)
        for out in (torch.full_like(want, 7), resized, torch.full_like(want, 7).double()):
            try:
                with tenon.stock():
                    expected = info.op(sample.input, *sample.args, **sample.kwargs, out=out.clone())
            except (RuntimeError, TypeError) as error:
                with pytest.raises(type(error)):
                    info.op(sample.input, *sample.args, **sample.kwargs, out=out)
                continue
            got = info.op(sample.input, *sample.args, **sample.kwargs, out=out)
            assert got is out
            exact = in_float64(info, sample) if out.dtype == want.dtype else None
            same(got, expected, exact)
            compared += 1
    if not compared:
        pytest.skip("no out=")


# torch has no formula for the backward of flash attention.
WITHOUT_SECOND_DERIVATIVE = {"nn.functional.scaled_dot_product_attention"}


def derivatives(info, sample):
    """First and second derivatives with respect to every floating-point input."""
    inputs = [t for t in tensors([sample.input, *sample.args, *sample.kwargs.values()])
              if t.requires_grad]
    outputs = [t for t in tensors(call(info, sample)) if t.requires_grad]
    weights = [torch.linspace(0.5, 1.5, t.numel()).reshape(t.shape).to(t.dtype) for t in outputs]
    if not inputs or not outputs:
        return []
    first = torch.autograd.grad(outputs, inputs, weights, create_graph=info.supports_gradgrad,
                                allow_unused=True)
    again = [g for g in first if g is not None and g.requires_grad]
    second = ()
    if again and info.name not in WITHOUT_SECOND_DERIVATIVE:
        seeds = [torch.linspace(-1, 2, g.numel()).reshape(g.shape).to(g.dtype) for g in again]
        second = torch.autograd.grad(again, inputs, seeds, allow_unused=True)
    return [g.detach() for g in (*first, *second) if g is not None]


def in_double(sample):
    return sample.transform(
        lambda t: t.detach().double().requires_grad_(t.requires_grad)
        if isinstance(t, torch.Tensor) and t.is_floating_point()
        else t
    )


def same_derivatives(got, want, exact):
    assert len(got) == len(want) == len(exact)
    for g, w, e in zip(got, want, exact):
        assert torch.equal(torch.isnan(g), torch.isnan(w))
        if e.numel():  # sums that cancel keep the error of their terms, which are about 1
            bound = 2 * (w.double() - e).abs() + 1e-5 * (e.abs() + e.abs().max()) + 1e-6
            assert (((g.double() - e).abs() <= bound) | ~torch.isfinite(e)).all()


@pytest.mark.parametrize("info", INFOS, ids=[i.full_name for i in INFOS])
def test_first_and_second_derivative(info):
    if not info.supports_autograd or info.name == "argmax":
        pytest.skip("not differentiable")
    for sample in samples(info, torch.float32, grad=True):
        got = derivatives(info, sample)
        with tenon.stock():
            want = derivatives(info, sample)
            exact = derivatives(info, in_double(sample))
        same_derivatives(got, want, exact)


@pytest.mark.stocks_work
@pytest.mark.parametrize("info", INFOS, ids=[i.full_name for i in INFOS])
def test_errors_are_stocks(info):
    if info.error_inputs_func is None:
        pytest.skip("no error inputs")
    for bad in info.error_inputs("cpu"):
        with tenon.stock(), pytest.raises(Exception) as want:
            call(info, bad.sample_input)
        with pytest.raises(type(want.value)) as got:
            call(info, bad.sample_input)
        assert str(got.value).split("\n")[0] == str(want.value).split("\n")[0]


@pytest.mark.stocks_work
@pytest.mark.parametrize("info", INFOS, ids=[i.full_name for i in INFOS])
def test_pending_negation(info):
    for sample in samples(info, torch.float32)[:8]:
        if not isinstance(sample.input, torch.Tensor) or sample.input.dtype != torch.float32:
            continue
        plain = sample.input.detach()
        got = info.op(torch._neg_view(plain), *sample.args, **sample.kwargs)
        with tenon.stock():
            same(got, info.op(torch._neg_view(plain), *sample.args, **sample.kwargs))


@pytest.mark.stocks_work  # where it is stock that gives the layout, the view itself
@pytest.mark.parametrize("info", INFOS, ids=[i.full_name for i in INFOS])
def test_fake_tensors_have_our_layout(info):
    from torch._subclasses.fake_tensor import DynamicOutputShapeException, FakeTensorMode

    for sample in samples(info, torch.float32)[:8]:
        real = tensors(call(info, sample))
        try:
            with FakeTensorMode(allow_non_fake_inputs=True) as mode:
                fake = sample.transform(
                    lambda t: mode.from_tensor(t) if isinstance(t, torch.Tensor) else t
                )
                imagined = tensors(call(info, fake))
        except (DynamicOutputShapeException, NotImplementedError):
            continue
        with tenon.stock():
            stocks = tensors(call(info, sample))
        for r, f, s in zip(real, imagined, stocks):
            if s.stride() != f.stride():
                continue  # stock's own kernel has another one: rms_norm of nothing
            assert (r.shape, r.dtype, r.stride()) == (f.shape, f.dtype, f.stride())
