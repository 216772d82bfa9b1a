"""Models under torch's modes with Tenon loaded give what they give without it."""

import copy

import pytest
import torch
import torch.nn.functional as F

from conftest import tenon


class Block(torch.nn.Module):
    """A transformer block that passes through the overridden operators."""

    def __init__(self, width=64, heads=2):
        super().__init__()
        self.heads = heads
        self.norm1, self.norm2 = torch.nn.LayerNorm(width), torch.nn.RMSNorm(width)
        self.qkv, self.out = torch.nn.Linear(width, 3 * width), torch.nn.Linear(width, width)
        self.up, self.down = torch.nn.Linear(width, 4 * width), torch.nn.Linear(4 * width, width)

    def forward(self, x):
        b, s, w = x.shape
        split = lambda t: t.view(b, s, self.heads, w // self.heads).transpose(1, 2)  # noqa: E731
        q, k, v = map(split, self.qkv(self.norm1(x)).chunk(3, dim=-1))
        y = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        x = x + self.out(y.transpose(1, 2).reshape(b, s, w))
        h = self.up(self.norm2(x))
        return x + self.down(F.gelu(h, approximate="tanh") * torch.sigmoid(h))


@pytest.fixture
def block():
    return Block().eval()


@pytest.fixture
def x():
    return torch.randn(2, 17, 64)


def close(got, want, scale=1.0):
    torch.testing.assert_close(got, want, rtol=scale * 1e-4, atol=scale * 1e-5)


def both(f):
    """f() with Tenon, then stock; Tenon's counters must have moved."""
    tenon.reset()
    got = f()
    assert any(o["hits"] for o in tenon.report()["operators"])
    with tenon.stock():
        return got, f()


def test_inference_mode_and_no_grad(block, x):
    for mode in (torch.inference_mode, torch.no_grad):
        with mode():
            close(*both(lambda: block(x)))


def test_training_step(block, x):
    def step():
        model = copy.deepcopy(block).train()
        model(x).square().mean().backward()
        return [p.grad for p in model.parameters()]

    for got, want in zip(*both(step)):
        close(got, want, 10)


def test_autocast(block, x):
    with torch.autocast("cpu", dtype=torch.bfloat16), torch.no_grad():
        got, want = both(lambda: block(x))
    torch.testing.assert_close(got, want, rtol=3e-2, atol=3e-2)


def test_deterministic_algorithms(block, x):
    torch.use_deterministic_algorithms(True)
    try:
        with torch.no_grad():
            close(*both(lambda: block(x)))
    finally:
        torch.use_deterministic_algorithms(False)


def test_func_transforms(block, x):
    def loss(p, t):
        return torch.func.functional_call(block, p, (t,)).square().mean()

    params = dict(block.named_parameters())
    grads = lambda: torch.func.grad(loss)(params, x)  # noqa: E731
    got, want = both(grads)
    for name in want:
        close(got[name], want[name], 10)
    batched = lambda: torch.func.vmap(lambda t: block(t[None])[0])(x)  # noqa: E731
    close(*both(batched))


def test_forward_mode_derivative():
    x, t = torch.randn(4, 64), torch.randn(4, 64)
    w = torch.randn(64)
    f = lambda v: F.rms_norm(v, (64,), w).exp().sum(-1)  # noqa: E731
    got, want = both(lambda: torch.func.jvp(f, (x,), (t,)))
    for g, w_ in zip(got, want):
        close(g, w_)


def test_compile_inductor(block, x):
    compiled = torch.compile(block)
    with torch.no_grad():
        tenon.reset()
        got = compiled(x)
        with tenon.stock():
            close(got, block(x))


def test_compile_training(block, x):
    compiled = torch.compile(copy.deepcopy(block), backend="aot_eager")
    compiled(x).sum().backward()
    with tenon.stock():
        block(x).sum().backward()
    for p, q in zip(compiled.parameters(), block.parameters()):
        close(p.grad, q.grad, 10)


def test_profiler_names_the_kernel(x):
    with torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CPU]) as profile:
        x.exp()
    names = {e.key for e in profile.key_averages()}
    assert "aten::exp" in names and any(n.startswith("exp_f32_") for n in names), names
