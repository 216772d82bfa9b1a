"""sum, mean, amax, argmax, max.dim: every dimension, layout and type, against float64."""

import itertools

import pytest
import torch

from conftest import falls_back, fast, on_threads

FLOATS = [torch.float32, torch.bfloat16, torch.float16]
SHAPES = [(), (1,), (7,), (5, 7), (3, 4, 5), (2, 1, 3, 70), (70001,), (3, 70001), (2000, 5), (1100, 1100), (2, 3000, 3)]
# Half an ulp of the result's type, and the contract's 86 (twice, where partial sums are summed).
ROUNDING = {torch.float32: 2**-24, torch.bfloat16: 2**-8, torch.float16: 2**-11}


def calls(shape):
    """Argument lists (dim, keepdim) for a shape: none, each dimension from both ends."""
    yield ()
    for dim, keep in itertools.product(range(-len(shape), len(shape)), (False, True)):
        yield (dim, keep)


def tolerance(x, y, args, terms=1):
    absolute = x.double().abs().sum(*args) / terms
    return 172 * 2**-24 * absolute + ROUNDING[x.dtype] * y.double().abs() + 1e-45


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_sum_and_mean_match_float64(shape, dtype):
    x = torch.randn(shape).to(dtype)
    for args in calls(shape):
        want = x.double().sum(*args)
        with fast("sum.dim_IntList" if args else "sum"):
            y = x.sum(*args)
        assert y.shape == want.shape and y.stride() == want.stride() and y.dtype == dtype
        assert ((y.double() - want).abs() <= tolerance(x, want, args)).all(), args
        n = x.numel() // max(want.numel(), 1)
        with fast("mean.dim" if args else "mean"):
            y = x.mean(*args)
        assert ((y.double() - want / n).abs() <= tolerance(x, want / n, args, n)).all(), args


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_maxima_match_float64(shape, dtype):
    x = torch.randn(shape).mul(8).round().to(dtype)  # equal maxima are common
    for args in calls(shape):
        with fast("amax"):
            y = x.amax(*args)
        assert torch.equal(y, x.double().amax(*args).to(dtype))
        with fast("argmax"):
            i = x.argmax(*args)
        assert torch.equal(i, x.double().argmax(*args)), args
        if not args:
            continue
        with fast("max.dim"):
            values, indices = x.max(*args)
        assert torch.equal(values, y) and torch.equal(indices, i)


@pytest.mark.parametrize("dtype", [torch.bool, torch.uint8, torch.int32])
@pytest.mark.parametrize("shape", [(), (1,), (5, 70), (300001,), (2000, 50), (3, 40, 50), (3, 300001)], ids=str)
def test_sum_of_integers_is_exact(shape, dtype):
    x = torch.randint(0, 2 if dtype == torch.bool else 250, shape).to(dtype)
    for args in calls(shape):
        with fast("sum.dim_IntList" if args else "sum"):
            y = x.sum(*args)
        assert y.dtype == torch.int64 and torch.equal(y, x.long().sum(*args))


def test_sum_of_int32_does_not_wrap():
    assert torch.full((1 << 10,), 2**31 - 1, dtype=torch.int32).sum() == (2**31 - 1) << 10


def test_sum_of_bools_stored_as_any_byte():
    bytes = torch.tensor([0, 1, 2, 255, 128, 0, 7] * 20, dtype=torch.uint8)
    with fast("sum"):
        assert bytes.view(torch.bool).sum() == 100
    with fast("sum.dim_IntList"):
        assert bytes.view(torch.bool).view(2, 70).sum(0).tolist() == [0, 2, 2, 2, 2, 0, 2] * 10
    with falls_back("sum.dim_IntList", "size"):
        assert bytes.view(torch.bool).view(20, 7).sum(0).tolist() == [0, 20, 20, 20, 20, 0, 20]


@pytest.mark.parametrize("dims", [(0, 1), (1, 2), (-1, 0, 1), (2, 1), ()], ids=str)
def test_dimensions_that_are_one_block(dims):
    x = torch.randn(3, 4, 50)
    with fast("sum.dim_IntList"):
        y = x.sum(dims)
    torch.testing.assert_close(y, x.double().sum(dims).float(), rtol=1e-5, atol=1e-5)
    with fast("amax"):
        y = x.amax(dims)
    assert torch.equal(y, x.double().amax(dims).float())


@pytest.mark.parametrize(
    "view, dims",
    [
        (lambda: torch.randn(40, 30).t(), (0,)),
        (lambda: torch.randn(40, 30).t(), (1,)),
        (lambda: torch.randn(40, 30)[:, 3:20], (1,)),
        (lambda: torch.randn(40, 30)[::2, 3:20], (0,)),
        (lambda: torch.randn(8, 40, 30)[1:, 2:7], (1,)),
        (lambda: torch.randn(8, 40, 30).permute(1, 0, 2), (0,)),
        (lambda: torch.randn(2, 3, 8, 8).to(memory_format=torch.channels_last), (2, 3)),
    ],
)
def test_strided_views_take_the_fast_path(view, dims):
    x = view()
    with fast("sum.dim_IntList"):
        y = x.sum(dims)
    want = x.double().sum(dims)
    assert y.stride() == want.stride()
    torch.testing.assert_close(y, want.float())
    if len(dims) == 1:
        with fast("argmax"):
            i = x.argmax(dims[0])
        assert torch.equal(i, x.double().argmax(dims[0]))


@pytest.mark.parametrize(
    "call, schema, reason",
    [
        (lambda: torch.randn(5, dtype=torch.float64).sum(), "sum", "dtype"),
        (lambda: torch.randn(5).sum(dtype=torch.float64), "sum", "dtype"),
        (lambda: torch.randn(5).sum(dtype=torch.bfloat16), "sum", "dtype"),
        (lambda: torch.ones(5, dtype=torch.int64).sum(), "sum", "dtype"),
        (lambda: torch.ones(5, dtype=torch.bool).sum(dtype=torch.float32), "sum", "dtype"),
        (lambda: torch.randn(0).sum(), "sum", "shape"),
        (lambda: torch.randn(3, 4, 5).sum((0, 2)), "sum.dim_IntList", "layout"),
        (lambda: torch.randn(10, 10)[:, ::2].sum(1), "sum.dim_IntList", "layout"),
        (lambda: torch.randn(5, 1).expand(5, 6).sum(1), "sum.dim_IntList", "layout"),
        (lambda: torch.randn(8, 40, 30).permute(1, 0, 2).argmax(), "argmax", "layout"),
        (lambda: torch.ones(5, dtype=torch.int32).amax(), "amax", "dtype"),
    ],
)
def test_what_stays_with_stock(call, schema, reason):
    with falls_back(schema, reason):
        call()


@pytest.mark.stocks_work
@pytest.mark.parametrize(
    "call",
    [
        lambda x: x.sum(2),
        lambda x: x.sum((0, 0)),
        lambda x: x.sum((0, -2)),
        lambda x: x.mean(-3),
        lambda x: x.amax(5),
        lambda x: x.argmax(5),
        lambda x: x.max(5),
        lambda x: x.long().mean(),
        lambda x: x[:, :0].amax(1),
        lambda x: x[:0].argmax(),
    ],
)
def test_errors_are_stocks(call):
    x = torch.randn(3, 4)
    with pytest.raises((RuntimeError, IndexError)) as ours:
        call(x)
    import tenon

    with tenon.stock(), pytest.raises((RuntimeError, IndexError)) as stocks:
        call(x)
    assert str(ours.value).splitlines()[0] == str(stocks.value).splitlines()[0]


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("n", [1, 7, 33, 100, 3000])
def test_nan_and_infinity(n, dtype):
    x = torch.randn(n, 3).to(dtype)
    x[n // 2, 0] = float("nan")
    x[n // 3, 1] = float("inf")
    x[:, 2] = float("-inf")
    with fast("amax"):
        top = x.amax(0)
    assert top[0].isnan() and top[1] == float("inf") and top[2] == float("-inf")
    for y in (x.argmax(0), x.t().contiguous().argmax(1)):
        assert y.tolist() == [n // 2, n // 3, 0]
    assert x[:, 0].contiguous().argmax() == n // 2
    assert x[:, 0].contiguous().amax().isnan()
    assert x.sum(0)[0].isnan() and x.sum(0)[2] == float("-inf")


def test_sum_of_negative_zeros_is_positive():
    assert not torch.signbit(torch.full((9,), -0.0).sum())
    assert not torch.signbit(torch.full((9, 9), -0.0).sum(0)).any()


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16])
def test_sums_to_f32_are_not_rounded_to_the_input_type(dtype):
    x = torch.randn(100, 200).to(dtype)
    with fast("sum.dim_IntList"):
        y = x.sum(1, dtype=torch.float32)
    torch.testing.assert_close(y, x.double().sum(1).float())
    with fast("mean.dim"):
        y = x.mean(0, dtype=torch.float32)
    torch.testing.assert_close(y, x.double().mean(0).float())


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize(
    "shape, dims",
    [((1 << 20,), (0,)), ((3, 200000), (1,)), ((5000, 700), (0,)), ((40, 3000), (0,)), ((64, 64, 100), (1,))],
    ids=str,
)
def test_same_bits_for_any_thread_count(shape, dims, dtype):
    x = torch.randn(shape).to(dtype)
    for f in (lambda: x.sum(dims), lambda: x.mean(dims), lambda: x.amax(dims), lambda: x.argmax(dims[0])):
        a, *others = on_threads(f)
        assert all(torch.equal(a, b) for b in others)


def test_a_row_has_the_bits_it_has_in_a_batch():
    x = torch.randn(50, 3001)
    batch = x.sum(1)
    assert all(torch.equal(x[r].sum(), batch[r]) for r in range(50))
    columns = x.sum(0)
    assert all(torch.equal(x[:, c : c + 40].sum(0), columns[c : c + 40]) for c in range(0, 2900, 97))


def test_sum_is_about_as_exact_as_stocks():
    import tenon

    for n in (1000, 100000, 1 << 22):
        x = torch.rand(n)
        want = x.double().sum().item()
        with tenon.stock():
            stock = abs(x.sum().item() - want)
        assert abs(x.sum().item() - want) <= max(4 * stock, 4 * want * 2**-24), n


@pytest.mark.parametrize("dtype", FLOATS)
def test_out(dtype):
    x = torch.randn(30, 40).to(dtype)
    y, i = torch.empty(30, dtype=dtype), torch.empty(30, dtype=torch.int64)
    with fast("sum.IntList_out"):
        assert torch.equal(torch.sum(x, 1, out=y), x.sum(1))
    with fast("mean.out"):
        assert torch.equal(torch.mean(x, 1, out=y), x.mean(1))
    with fast("amax.out"):
        assert torch.equal(torch.amax(x, 1, out=y), x.amax(1))
    with fast("argmax.out"):
        assert torch.equal(torch.argmax(x, 1, out=i), x.argmax(1))
    with fast("max.dim_max"):
        torch.max(x, 1, out=(y, i))
    assert torch.equal(y, x.amax(1)) and torch.equal(i, x.argmax(1))


def test_out_that_stock_must_judge():
    x = torch.randn(30, 30)
    wide = torch.empty(30, 2)
    with falls_back("sum.IntList_out", "layout"):
        torch.sum(x, 1, out=wide[:, 0])
    torch.testing.assert_close(wide[:, 0], x.sum(1), rtol=1e-5, atol=1e-5)
    with falls_back("amax.out", "layout"):
        torch.amax(x, 1, out=torch.empty(0))
    with falls_back("amax.out", "layout"):
        torch.amax(x, 1, out=x[0])  # overlap: whatever stock makes of it


@pytest.mark.parametrize(
    "f",
    [
        lambda x: x.sum(1),
        lambda x: x.mean(0),
        lambda x: x.mean(),
        lambda x: x.amax(1),
        lambda x: x.max(0).values,
        lambda x: x.sum((0, 1), keepdim=True),
    ],
)
def test_gradients_are_stocks(f):
    import tenon

    x = torch.randn(20, 30, requires_grad=True)
    (ours,) = torch.autograd.grad((f(x) ** 2).sum(), x)
    with tenon.stock():
        (stocks,) = torch.autograd.grad((f(x) ** 2).sum(), x)
    torch.testing.assert_close(ours, stocks)


def test_vmap_and_inference_mode():
    x = torch.randn(4, 5, 6)
    torch.testing.assert_close(torch.vmap(lambda t: t.sum(0))(x), x.double().sum(1).float())
    assert torch.equal(torch.vmap(lambda t: t.argmax(0))(x), x.double().argmax(1))
    with torch.inference_mode():
        torch.testing.assert_close(x.sum(1), x.double().sum(1).float())
