"""Matrix products against stock and float64: shapes, layouts, alpha and beta, out=, autograd."""

import itertools

import pytest
import torch

import tenon
from conftest import falls_back, fast, on_threads

DTYPES = [torch.float32, torch.bfloat16, torch.float16]
ROUNDING = {torch.float32: 0.0, torch.bfloat16: 2.0**-9, torch.float16: 2.0**-12}
# Shapes that the plan takes in every dtype.
SHAPES = [(1, 64, 64), (1, 576, 576), (3, 65, 33), (4, 100, 70), (8, 40, 129), (20, 200, 300)]


def operand(*shape, dtype, layout="rows"):
    """A random matrix: contiguous, transposed in memory, or with gaps between its elements."""
    if layout == "columns":
        return torch.randn(*shape[:-2], shape[-1], shape[-2]).to(dtype).transpose(-1, -2)
    if layout == "gaps":
        return torch.randn(*shape[:-1], 2 * shape[-1]).to(dtype)[..., ::2]
    return torch.randn(shape).to(dtype)


def assert_product(got, a, b, c=None, beta=1, alpha=1):
    """Within K roundings of f32 and one of the dtype of the float64 result."""
    with tenon.stock():  # and so outside the counters
        want = alpha * (a.double() @ b.double())
        scale = abs(alpha) * (a.double().abs() @ b.double().abs())
    if c is not None and beta != 0:
        want, scale = want + beta * c.double(), scale + abs(beta) * c.double().abs()
    assert got.dtype == a.dtype and got.shape == want.shape
    bound = (a.shape[-1] + 4) * 2.0**-24 * scale
    bound = bound + (want.abs() + bound) * 2 * ROUNDING[a.dtype] + 2.0**-24
    assert ((got.double() - want).abs() <= bound).all()


def stock(f, *args, **kwargs):
    with tenon.stock():
        return f(*args, **kwargs)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("m,n,k", SHAPES)
def test_linear_shapes(dtype, m, n, k):
    x, w, bias = operand(m, k, dtype=dtype), operand(n, k, dtype=dtype), operand(n, dtype=dtype)
    with fast("mm"):
        assert_product(torch.mm(x, w.t()), x, w.t())
    with fast("addmm"):
        assert_product(torch.nn.functional.linear(x, w, bias), x, w.t(), bias)
    with fast("mm"):
        assert_product(torch.nn.functional.linear(x[None], w)[0], x, w.t())
    with fast("mm"):  # the weight on the left
        assert_product(torch.mm(w, x.t()), w, x.t())


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16])
@pytest.mark.parametrize("layouts", list(itertools.product(["rows", "columns", "gaps"], repeat=2)))
@pytest.mark.parametrize("m,n,k", [(2, 65, 33), (8, 40, 64), (70, 90, 130), (90, 9, 33)])
def test_mm_layouts(dtype, layouts, m, n, k):
    a = operand(m, k, dtype=dtype, layout=layouts[0])
    b = operand(k, n, dtype=dtype, layout=layouts[1])
    with fast("mm"):
        assert_product(a @ b, a, b)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("rows", [1, 2, 4])
def test_mm_right_operand_by_rows(dtype, rows):
    a, b = operand(rows, 130, dtype=dtype), operand(130, 70, dtype=dtype)
    with fast("mm"):
        by_rows = a @ b
    assert_product(by_rows, a, b)
    with fast("mm"):
        assert torch.equal(by_rows, a @ b.t().contiguous().t())


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("shape", [(), (1,), (70,), (1, 70), (4, 1), (4, 70)])
@pytest.mark.parametrize("beta,alpha", [(1, 1), (0.5, -2.0), (0, 1.5)])
def test_addmm(dtype, shape, beta, alpha):
    a, b = operand(4, 64, dtype=dtype), operand(64, 70, dtype=dtype, layout="columns")
    c = torch.randn(shape).to(dtype)
    with fast("addmm"):
        got = torch.addmm(c, a, b, beta=beta, alpha=alpha)
    assert_product(got, a, b, c, beta, alpha)
    out = torch.empty(4, 70, dtype=dtype)
    with fast("addmm.out"):
        torch.addmm(c, a, b, beta=beta, alpha=alpha, out=out)
    assert torch.equal(out, got)
    full = c.expand(4, 70).clone()
    with fast("addmm_"):
        full.addmm_(a, b, beta=beta, alpha=alpha)
    assert torch.equal(full, got)
    by_columns = c.expand(4, 70).t().contiguous().t()
    with fast("addmm_"):
        by_columns.addmm_(a, b, beta=beta, alpha=alpha)
    assert torch.equal(by_columns, got)


@pytest.mark.parametrize("dtype", DTYPES)
def test_beta_zero_ignores_the_input(dtype):
    a, b = operand(4, 64, dtype=dtype), operand(64, 70, dtype=dtype, layout="columns")
    c = torch.full((70,), float("nan"), dtype=dtype)
    with fast("addmm"):
        assert torch.addmm(c, a, b, beta=0).isfinite().all()


@pytest.mark.parametrize("dtype", DTYPES)
def test_alpha_zero_is_stock(dtype):
    a, b = operand(4, 64, dtype=dtype), operand(64, 70, dtype=dtype, layout="columns")
    a[0, 0] = float("nan")
    c = torch.randn(70).to(dtype)
    with falls_back("addmm", "argument"):
        got = torch.addmm(c, a, b, alpha=0)
    assert torch.equal(got.isnan(), stock(torch.addmm, c, a, b, alpha=0).isnan())


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("batch", [1, 5])
@pytest.mark.parametrize("expanded", [False, True])
def test_bmm_and_baddbmm(dtype, batch, expanded):
    a, b = operand(batch, 2, 64, dtype=dtype), operand(batch, 64, 33, dtype=dtype, layout="columns")
    if expanded:
        b = b[:1].expand(batch, -1, -1)
    with fast("bmm"):
        assert_product(torch.bmm(a, b), a, b)
    out = torch.empty(batch, 2, 33, dtype=dtype)
    with fast("bmm.out"):
        torch.bmm(a, b, out=out)
    assert_product(out, a, b)
    c = operand(batch, 2, 33, dtype=dtype)
    with fast("baddbmm"):
        got = torch.baddbmm(c, a, b, beta=0.5, alpha=2)
    assert_product(got, a, b, c, 0.5, 2)
    with fast("baddbmm.out"):
        torch.baddbmm(c[0, 0], a, b, out=out)
    assert_product(out, a, b, c[0, 0])
    with fast("baddbmm_"):
        c.baddbmm_(a, b, beta=0.5, alpha=2)
    assert torch.equal(c, got)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("layout", ["rows", "columns"])
def test_mv_and_addmv(dtype, layout):
    a, x, c = operand(70, 130, dtype=dtype, layout=layout), operand(130, dtype=dtype), operand(70, dtype=dtype)
    with fast("mv"):
        assert_product(torch.mv(a, x), a, x)
    with fast("mv"):
        assert_product(torch.mv(a, operand(260, dtype=dtype).fill_(0.5)[::2]), a, torch.full((130,), 0.5, dtype=dtype))
    with fast("addmv"):
        got = torch.addmv(c, a, x, beta=0.5, alpha=-2)
    assert_product(got, a, x, c, 0.5, -2)
    out = torch.empty(70, dtype=dtype)
    with fast("addmv.out"):
        torch.addmv(c, a, x, beta=0.5, alpha=-2, out=out)
    assert torch.equal(out, got)
    with fast("addmv_"):
        c.addmv_(a, x, beta=0.5, alpha=-2)
    assert torch.equal(c, got)


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16])
@pytest.mark.parametrize("layout", ["rows", "columns"])
def test_long_sides(dtype, layout):
    a, b = operand(130, 333, dtype=dtype), operand(333, 110, dtype=dtype, layout=layout)
    c = operand(110, dtype=dtype)
    with fast("addmm"):
        for y in on_threads(lambda: torch.addmm(c, a, b)):
            assert_product(y, a, b, c)
            assert torch.equal(y, torch.addmm(c, a, b))
        alone = torch.cat([torch.addmm(c, a[i : i + 1], b) for i in range(130)])
    assert torch.equal(alone, y)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("n", [1, 7, 16, 64, 1000, 100003])
def test_dot(dtype, n):
    x, y = operand(n, dtype=dtype), operand(n, dtype=dtype)
    with fast("dot"):
        got = torch.dot(x, y)
    assert_product(got[None, None], x[None], y[:, None])
    with fast("dot"):
        for again in on_threads(lambda: torch.dot(x, y)):
            assert torch.equal(again, got)
    out = torch.empty((), dtype=dtype)
    with fast("dot"):
        torch.dot(x, y, out=out)
    assert torch.equal(out, got)
    with fast("dot"):  # stock's vdot asks for dot
        assert torch.equal(torch.vdot(x, y), got)


def test_dot_is_stocks():
    x = torch.randn(64)
    with falls_back("dot", "dtype"):
        assert torch.equal(torch.dot(x.double(), x.double()), stock(torch.dot, x.double(), x.double()))
    with falls_back("dot", "layout"):
        assert torch.equal(torch.dot(x[::2], x[::2]), stock(torch.dot, x[::2], x[::2]))
    with falls_back("dot", "shape"):
        assert torch.dot(x[:0], x[:0]) == 0
    z = torch.complex(x, x)
    assert torch.equal(torch.vdot(z, z), stock(torch.vdot, z, z))
    with falls_back("dot", "dtype"):
        assert torch.equal(torch.dot(z.conj(), z), stock(torch.dot, z.conj(), z))


def test_dot_gradients():
    x, y = torch.randn(70, requires_grad=True), torch.randn(70, requires_grad=True)
    with fast("dot"):
        gx, gy = torch.autograd.grad(torch.dot(x, y), (x, y))
    assert torch.equal(gx, y) and torch.equal(gy, x)


@pytest.mark.parametrize("dtype", DTYPES)
def test_same_bits_for_any_threads_and_batch(dtype):
    x, w = operand(32, 576, dtype=dtype), operand(1000, 576, dtype=dtype)
    with fast("mm"):
        for y in on_threads(lambda: x @ w.t()):
            assert torch.equal(y, x @ w.t())
        alone = torch.cat([x[i : i + 1] @ w.t() for i in range(32)])
    assert torch.equal(alone, x @ w.t())


@pytest.mark.parametrize("layout", ["rows", "columns"])
@pytest.mark.parametrize("m,n,k", [(1, 16, 64), (17, 70, 33), (70, 40, 130)])
def test_int_mm_is_exact(layout, m, n, k):
    a = torch.randint(-128, 128, (m, k), dtype=torch.int8)
    b = torch.randint(-128, 128, (n, k) if layout == "columns" else (k, n), dtype=torch.int8)
    b = b.t() if layout == "columns" else b
    a[0], b[:, 0] = -128, -128
    want = (a.double() @ b.double()).to(torch.int32)
    with fast("_int_mm"):
        assert torch.equal(torch._int_mm(a, b), want)
    out = torch.empty(m, n, dtype=torch.int32)
    with fast("_int_mm.out"):
        torch._int_mm(a, b, out=out)
    assert torch.equal(out, want)
    with falls_back("_int_mm", "dtype"), pytest.raises(RuntimeError):
        torch._int_mm(a, b.float())


def test_float32_of_many_rows_is_stock():
    a = torch.randn(64, 64)
    with falls_back("mm", "size"):
        assert torch.equal(a @ a, stock(torch.mm, a, a))


@pytest.mark.stocks_work
@pytest.mark.parametrize(
    "call",
    [
        lambda a: torch.mm(a, a[:3]),
        lambda a: torch.mm(a, a[None]),
        lambda a: torch.mm(a, a.double()),
        lambda a: torch.bmm(a[None], a[None, :, :3].transpose(1, 2)),
        lambda a: torch.addmm(torch.randn(7), a, a),
        lambda a: torch.addmm(torch.randn(4, dtype=torch.float64), a, a),
        lambda a: torch.mv(a, torch.randn(7)),
        lambda a: torch.addmv(torch.randn(7), a, a[0]),
        lambda a: torch.dot(a[0], a[0, :3]),
        lambda a: torch.dot(a, a),
        lambda a: torch.dot(a[0], a[0].double()),
        lambda a: torch.mm(a, a, out=torch.empty(4, 4, dtype=torch.float64)),
        lambda a: torch.mm(a, a, out=torch.empty(1).expand(4, 4)),
    ],
)
def test_errors_are_stocks(call):
    a = torch.randn(4, 4)
    with pytest.raises(RuntimeError) as ours:
        call(a)
    with tenon.stock(), pytest.raises(RuntimeError) as theirs:
        call(a)
    assert str(ours.value) == str(theirs.value)


@pytest.mark.parametrize("dtype", DTYPES)
def test_empty_sizes_are_stocks(dtype):
    for m, n, k in [(0, 4, 4), (4, 0, 4), (4, 4, 0)]:
        a, b = torch.randn(m, k).to(dtype), torch.randn(k, n).to(dtype)
        with falls_back("mm", "shape"):
            got = a @ b
        assert got.shape == (m, n) and (got == 0).all()


@pytest.mark.parametrize("dtype", DTYPES)
def test_out_of_another_size_or_overlapping_is_stocks(dtype):
    a, b = operand(4, 64, dtype=dtype), operand(64, 70, dtype=dtype, layout="columns")
    out = torch.empty(0, dtype=dtype)
    with falls_back("mm.out", "shape"):
        torch.mm(a, b, out=out)
    assert_product(out, a, b)
    square = operand(4, 64, dtype=dtype)
    with falls_back("mm.out", "overlap"):
        torch.mm(square, operand(64, 64, dtype=dtype, layout="columns"), out=square)


@pytest.mark.parametrize("dtype", DTYPES)
def test_out_by_columns_and_with_gaps(dtype):
    a, b = operand(4, 64, dtype=dtype), operand(64, 70, dtype=dtype, layout="columns")
    by_columns = torch.empty(70, 4, dtype=dtype).t()
    with fast("mm.out"):
        torch.mm(a, b, out=by_columns)
    assert torch.equal(by_columns, a @ b)
    gaps = torch.zeros(4, 140, dtype=dtype)
    with falls_back("mm.out", "layout"):
        torch.mm(a, b, out=gaps[:, ::2])
    assert (gaps[:, 1::2] == 0).all()


def test_gradients():
    x = torch.randn(3, 64, requires_grad=True)
    w, bias = torch.randn(70, 64, requires_grad=True), torch.randn(70, requires_grad=True)
    grads = []
    for run in (lambda f: f(), lambda f: stock(f)):
        loss = run(lambda: torch.nn.functional.linear(x, w, bias).square().sum())
        grads.append(run(lambda: torch.autograd.grad(loss, (x, w, bias))))
    for ours, theirs in zip(*grads):
        torch.testing.assert_close(ours, theirs, rtol=1e-4, atol=1e-3)


def test_special_values():
    for dtype in DTYPES:
        a, b = operand(4, 64, dtype=dtype), operand(64, 70, dtype=dtype, layout="columns")
        a[1, 63], b[0, 5] = float("nan"), float("inf")
        with fast("mm"):
            y = a @ b
        assert y[1].isnan().all() and not y[[0, 2, 3], 5].isfinite().any()
        assert y[[0, 2, 3]][:, :5].isfinite().all()


def test_subnormal_operands_are_kept():
    a, b = torch.full((1, 64), 1e-40), torch.full((64, 16), 1.0).t().contiguous().t()
    with fast("mm"):
        assert_product(a @ b, a, b)
        assert (a @ b > 0).all()


def test_compile_and_vmap():
    x, w = torch.randn(4, 64), torch.randn(16, 64)
    assert_product(torch.compile(lambda x, w: x @ w.t(), backend="aot_eager")(x, w), x, w.t())
    got = torch.func.vmap(lambda row: w @ row)(x)
    torch.testing.assert_close(got, stock(torch.mm, x, w.t()))
