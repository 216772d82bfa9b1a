"""Scaled dot-product attention: fast path by counter, float64, stock, layouts, gradients, fallbacks."""

import math

import pytest
import torch
import torch.nn.functional as F

import tenon
from conftest import falls_back, fast, on_threads

SCHEMA = "_scaled_dot_product_flash_attention_for_cpu"
LEAF = torch.ops.aten._scaled_dot_product_flash_attention_for_cpu
DTYPES = [torch.float32, torch.bfloat16, torch.float16]
# Half a unit of the storage type (with f32: of a sum's rounding), and the arithmetic's error.
TOLERANCE = {
    torch.float32: dict(rtol=2e-6, atol=2e-6),
    torch.bfloat16: dict(rtol=2**-8 * 1.01, atol=4e-6),
    torch.float16: dict(rtol=2**-11 * 1.01, atol=4e-6),
}


def operands(b, heads, kv_heads, positions, keys, head, dtype):
    q = torch.randn(b, heads, positions, head).to(dtype)
    return q, *(torch.randn(b, kv_heads, keys, head).to(dtype) for _ in range(2))


def in_float64(q, k, v, mask=None, causal=False, scale=None):
    """(output, logsumexp) by the formula."""
    group = q.shape[1] // k.shape[1]
    q, k, v = q.double(), *(x.double().repeat_interleave(group, 1) for x in (k, v))
    scores = q @ k.transpose(-1, -2) * (1 / math.sqrt(q.shape[-1]) if scale is None else scale)
    if causal:
        scores = scores.masked_fill(~torch.ones_like(scores, dtype=torch.bool).tril(), -math.inf)
    if mask is not None:
        scores = scores + mask.double()
    return scores.softmax(-1) @ v, scores.logsumexp(-1)


def stock_error(q, k, scale=None):
    """How far stock's logsumexp may be from float64."""
    base = 1e-5 if q.dtype == torch.float32 else 1e-3
    if torch.backends.mkl.is_available():
        return base
    # Without MKL, stock rounds the product of a query and a key to their type.
    keys = k.double().repeat_interleave(q.shape[1] // k.shape[1], 1)
    scores = (q.double().nan_to_num() @ keys.mT) * (q.shape[-1] ** -0.5 if scale is None else scale)
    return base + torch.finfo(q.dtype).eps / 2 * scores.abs().max().item()


def check(q, k, v, mask=None, causal=False, scale=None):
    """The leaf on the fast path is right, and has stock's dtypes, shapes and strides."""
    with fast(SCHEMA):
        out, lse = LEAF(q, k, v, 0.0, causal, attn_mask=mask, scale=scale)
    want, want_lse = in_float64(q, k, v, mask, causal, scale)
    torch.testing.assert_close(out.double(), want, **TOLERANCE[q.dtype])
    torch.testing.assert_close(lse.double(), want_lse, rtol=2e-6, atol=2e-6)
    group = q.shape[1] // k.shape[1]
    repeated = [x.repeat_interleave(group, 1) for x in (k, v)]  # torch 2.6's leaf takes no groups
    with tenon.stock():
        stock_out, stock_lse = LEAF(q, *repeated, 0.0, causal, attn_mask=mask, scale=scale)
    for ours, theirs in ((out, stock_out), (lse, stock_lse)):
        assert (ours.dtype, ours.shape) == (theirs.dtype, theirs.shape)
        assert ours.stride() == theirs.stride()
    error = stock_error(q, k, scale)
    torch.testing.assert_close(lse, stock_lse, rtol=error, atol=error)


SHAPES = [  # b, heads, kv_heads, positions, keys, head
    (1, 1, 1, 1, 1, 1),
    (1, 9, 3, 1, 40, 64),  # SmolLM2, decoding
    (2, 9, 3, 1, 700, 64),
    (1, 8, 1, 1, 300, 128),  # one key/value head
    (1, 40, 1, 1, 300, 64),
    (2, 4, 4, 5, 257, 72),
    (1, 9, 3, 40, 40, 64),  # SmolLM2, the prompt
    (2, 12, 12, 128, 128, 32),  # MiniLM
    (1, 2, 2, 200, 200, 64),
    (1, 2, 1, 100, 130, 256),
    (1, 2, 2, 33, 150, 96),
    (3, 2, 2, 20, 50, 33),
    (1, 1, 1, 16, 16, 512),
]


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("causal", [False, True])
@pytest.mark.parametrize("shape", SHAPES)
def test_matches_float64(shape, causal, dtype):
    check(*operands(*shape, dtype), causal=causal)


@pytest.mark.parametrize("head", list(range(1, 20)) + [24, 31, 40, 48, 80, 100, 128, 192])
def test_head_sizes(head):
    check(*operands(1, 2, 2, 3, 20, head, torch.bfloat16))
    check(*operands(1, 1, 1, 30, 20, head, torch.float32), scale=0.2)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("positions", [1, 3, 30])
@pytest.mark.parametrize(
    "sizes", [("L", "S"), (1, "S"), ("B", "H", "L", "S"), ("B", 1, 1, "S"), (1, "H", "L", "S")]
)
def test_masks(sizes, positions, dtype):
    q, k, v = operands(2, 4, 4, positions, 150, 64, dtype)
    size = {"B": 2, "H": 4, "L": positions, "S": 150}
    mask = torch.randn([size.get(n, n) for n in sizes])
    mask[..., ::3] = -math.inf
    check(q, k, v, mask.to(dtype))
    check(q, k, v, mask)  # f32 beside narrow operands
    check(q, k, v, mask.to(dtype), scale=0.2)
    mask[..., 0] = 0  # causal as well: every row keeps a key
    check(q, k, v, mask.to(dtype), causal=True)


@pytest.mark.parametrize("positions", [2, 40])
def test_mask_in_a_larger_one(positions):
    q, k, v = operands(1, 2, 2, positions, 60, 64, torch.float32)
    check(q, k, v, torch.randn(1, 1, 100, 100)[..., :positions, 20:80])


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("positions", [1, 50])
def test_layouts(positions, dtype):
    """Outputs follow q: transposed, sliced, expanded; keys out of a larger cache."""

    def heads_last(n, heads):
        return torch.randn(2, n, heads, 64).to(dtype).transpose(1, 2)

    q, k, v = heads_last(positions, 6), heads_last(70, 2), heads_last(70, 2)
    check(q, k, v)
    check(torch.randn(2, 6, 2 * positions, 64).to(dtype)[:, :, :positions], k, v)
    check(torch.randn(2, 1, positions, 64).to(dtype).expand(2, 6, positions, 64), k, v)
    cache = torch.randn(2, 2, 500, 80).to(dtype)
    check(q, cache[:, :, 30:100, 3:67], cache[:, :, 100:170, 16:])
    check(q, k[:, :1].expand(2, 2, 70, 64), v[:, :1].expand(2, 2, 70, 64))


@pytest.mark.parametrize("kv_heads", [9, 3])
def test_through_scaled_dot_product_attention(kv_heads):
    q, k, v = operands(2, 9, kv_heads, 20, 20, 64, torch.bfloat16)
    keep = torch.rand(2, 1, 20, 20) < 0.7
    keep[..., 0] = True
    gqa = kv_heads < 9
    if torch._fused_sdp_choice(q, k, v, keep, enable_gqa=gqa) != 1:
        pytest.skip("this torch sends groups of heads to matmul and softmax")
    with fast(SCHEMA):
        out = F.scaled_dot_product_attention(q, k, v, attn_mask=keep, enable_gqa=gqa)
    mask = torch.zeros(2, 1, 20, 20).masked_fill(~keep, -math.inf)
    torch.testing.assert_close(out.double(), in_float64(q, k, v, mask)[0], **TOLERANCE[q.dtype])


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("positions", [4, 40])
def test_rows_without_scores(positions, dtype):
    """Masked rows give zeros, as in stock. NaN in a query makes its row NaN (in stock only beside
    enough keys), NaN in a key every row."""
    q, k, v = operands(1, 2, 2, positions, 300, 64, dtype)
    mask = torch.zeros(positions, 300, dtype=dtype)
    mask[1] = -math.inf
    q[0, 0, 2, 5] = math.nan
    with fast(SCHEMA):
        out, lse = LEAF(q, k, v, attn_mask=mask)
    with tenon.stock():
        stock_out, stock_lse = LEAF(q, k, v, attn_mask=mask)
    assert (out[:, :, 1] == 0).all() and out[0, 0, 2].isnan().all()
    torch.testing.assert_close(out, stock_out, rtol=2e-2, atol=2e-3, equal_nan=True)
    error = stock_error(q, k)
    torch.testing.assert_close(lse, stock_lse, rtol=error, atol=error, equal_nan=True)
    k[0, 1, 7, 0] = math.nan
    assert LEAF(q, k, v)[0][0, 1].isnan().all()


@pytest.mark.parametrize("positions", [3, 30])
def test_rows_masked_with_the_lowest_number(positions):
    """As transformers masks: a row of finfo.min attends to every key alike."""
    q, k, v = operands(1, 2, 2, positions, 50, 64, torch.float32)
    mask = torch.zeros(positions, 50)
    mask[2] = torch.finfo(torch.float32).min
    with fast(SCHEMA):
        out, _ = LEAF(q, k, v, attn_mask=mask)
    torch.testing.assert_close(out[:, :, 2], v.mean(2), rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("positions", [1, 30])
def test_nothing_to_attend_to(positions):
    q, k, v = operands(2, 4, 2, positions, 0, 64, torch.bfloat16)
    with fast(SCHEMA):
        out, lse = LEAF(q, k, v)
    assert (out == 0).all() and (lse == 0).all() and out.shape == q.shape
    assert LEAF(q[:, :, :0], k, v)[0].shape == (2, 4, 0, 64)
    assert LEAF(q[:0], k[:0], v[:0])[0].shape == (0, 4, positions, 64)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("shape", [(2, 9, 3, 1, 1500, 64), (2, 3, 3, 400, 400, 64)])
def test_same_bits_for_any_thread_count_and_batch(shape, dtype):
    q, k, v = operands(*shape, dtype)
    for causal in (False, True):
        first, *others = on_threads(lambda: LEAF(q, k, v, 0.0, causal))
        for other in others:
            assert all(torch.equal(a, b) for a, b in zip(first, other))
        alone = LEAF(q[1:], k[1:], v[1:], 0.0, causal)
        assert all(torch.equal(a[1:], b) for a, b in zip(first, alone))


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
@pytest.mark.parametrize("positions", [3, 40])
@pytest.mark.parametrize("causal,masked", [(False, False), (True, False), (False, True)])
def test_gradients(positions, causal, masked, dtype):
    """Stock's backward on this forward's output and logsumexp, against float64."""
    inputs = [x.requires_grad_() for x in operands(2, 3, 3, positions, 40, 32, dtype)]
    wide = [x.detach().double().requires_grad_() for x in inputs]
    mask = torch.randn(positions, 40).to(dtype) if masked else None
    with fast(SCHEMA):
        out = F.scaled_dot_product_attention(*inputs, attn_mask=mask, is_causal=causal)
    seed = torch.randn(out.shape).to(dtype)
    out.backward(seed)
    in_float64(*wide, mask, causal)[0].backward(seed.double())
    for ours, exact in zip(inputs, wide):
        if dtype == torch.float32:
            torch.testing.assert_close(ours.grad.double(), exact.grad, rtol=1e-5, atol=1e-5)
        else:
            assert (ours.grad.double() - exact.grad).norm() < 0.02 * exact.grad.norm()


def test_vmap_and_functional_gradient():
    q, k, v = operands(4, 2, 2, 5, 7, 16, torch.float32)
    with fast(SCHEMA):
        out = torch.vmap(lambda q, k, v: F.scaled_dot_product_attention(q[None], k[None], v[None]))(
            q, k, v
        )
    torch.testing.assert_close(out[:, 0].double(), in_float64(q, k, v)[0], rtol=2e-6, atol=2e-6)
    grad = torch.func.grad(lambda q: F.scaled_dot_product_attention(q, k, v).square().sum())(q)
    wide = q.double().requires_grad_()
    in_float64(wide, k, v)[0].square().sum().backward()
    torch.testing.assert_close(grad.double(), wide.grad, rtol=1e-5, atol=1e-5)


def test_what_goes_to_stock():
    q, k, v = operands(1, 2, 2, 4, 6, 8, torch.float32)
    with falls_back(SCHEMA, "dtype"):
        LEAF(q.double(), k.double(), v.double())
    with falls_back(SCHEMA, "layout"):
        LEAF(q.mT.contiguous().mT, k, v)
    with falls_back(SCHEMA, "layout"):
        LEAF(q, k, v, attn_mask=torch.randn(6, 4).mT)
    with falls_back(SCHEMA, "shape"):
        LEAF(*operands(1, 1, 1, 2, 2, 600, torch.float32))


def test_what_stock_rejects_has_its_message():
    q, k, v = operands(1, 2, 2, 4, 6, 8, torch.float32)
    with falls_back(SCHEMA, "argument"), pytest.raises(RuntimeError, match="dropout"):
        LEAF(q, k, v, 0.5)
    with falls_back(SCHEMA, "dtype"), pytest.raises(RuntimeError, match="same data type"):
        LEAF(q, k, v, attn_mask=torch.ones(4, 6, dtype=torch.bool))
    with falls_back(SCHEMA, "shape"), pytest.raises(RuntimeError, match="head size"):
        LEAF(q, k, v[..., :4])
    with falls_back(SCHEMA, "shape"), pytest.raises(RuntimeError, match="dim"):
        LEAF(q, k, v, attn_mask=torch.randn(2, 4, 6))
