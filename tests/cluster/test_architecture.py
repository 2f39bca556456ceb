"""Parts of a model that only some layers have, as the spec states them."""

from __future__ import annotations

import pytest

from clusterspec.catalog.models import LinearAttention, Model, SparseAttention, TokenPrediction, Window
from tests.cluster.resolving import assumed, clean, resolve_text

DENSE = "layers: 12, hidden: 1024, heads: 16, ffn_hidden: 4096, vocab: 32000"
LINEAR = "{kind: gated-delta, layers: 9, key_heads: 4, value_heads: 8, key_head_dim: 64, value_head_dim: 64}"


def spec(keys: str) -> str:
    return (
        "cluster: {platform: dgx-h100, nodes: 2}\n"
        f"workload: {{model: {{{keys}}}, sequence_length: 4096, global_batch: 8}}"
    )


def model(keys: str) -> Model:
    settled = clean(spec(keys)).workload
    assert settled is not None
    return settled.model


def test_a_window_in_tokens_is_one_of_all_layers() -> None:
    of = model(f"{DENSE}, attention_window: 1024")
    assert of.window == Window(1024, 12)
    assert (of.full_layers, of.window_layers) == (0, 12)
    assert model(f"{DENSE}, attention_window: {{tokens: 1024}}").window_layers == 12


def test_a_window_of_some_layers_leaves_the_others_full() -> None:
    of = model(f"{DENSE}, attention_window: {{tokens: 128, layers: 9, kv_heads: 2}}")
    assert of.window == Window(128, 9, kv_heads=2)
    assert (of.full_layers, of.window_layers) == (3, 9)


def test_layers_without_linear_attention_have_softmax_attention() -> None:
    of = model(f"{DENSE}, linear_attention: {LINEAR}")
    assert of.linear == LinearAttention("gated-delta", 9, 4, 8, 64, 64, convolution=4, gate_rank=64)
    assert (of.attention_layers, of.linear_layers, of.ffn_layers) == (3, 9, 12)


def test_a_partial_mapping_is_completed_from_the_entry() -> None:
    of = model("base: gpt-oss-120b, attention_window: {tokens: 4096}")
    assert of.window == Window(4096, 18)


def test_counts_of_a_shortened_model_are_scaled_and_listed() -> None:
    design = clean(spec("base: gpt-oss-120b, layers: 18"))
    assert design.workload is not None
    assert design.workload.model.window == Window(128, 9)
    assert assumed(design)["workload.model.attention_window.layers"] == 9


def test_a_sparse_index_is_one_of_all_layers_unless_it_says() -> None:
    of = model("base: deepseek-v3, sparse_attention: {tokens: 2048, index_heads: 64, index_dim: 128}")
    assert of.sparse == SparseAttention(2048, 61, 64, 128)


def test_predicted_tokens_have_experts_where_the_model_has() -> None:
    assert model("base: deepseek-v3, multi_token_prediction: {layers: 1}").prediction == TokenPrediction(1, "experts")
    assert model(f"{DENSE}, multi_token_prediction: {{layers: 2}}").prediction == TokenPrediction(2, "dense")


@pytest.mark.parametrize(
    ("keys", "lacking"),
    [
        ("attention_window: {layers: 4}", ["attention_window.tokens"]),
        ("sparse_attention: {tokens: 64}", ["sparse_attention.index_heads", "sparse_attention.index_dim"]),
        ("linear_attention: {kind: mamba-2, key_heads: 8, value_heads: 8, key_head_dim: 64, value_head_dim: 64}",
         ["linear_attention.layers"]),
    ],
)  # fmt: skip
def test_missing_keys_of_a_partial_model_are_reported(keys: str, lacking: list[str]) -> None:
    _, problems = resolve_text(spec(f"{DENSE}, {keys}"))
    found = [".".join(str(key) for key in problem.path[2:]) for problem in problems if problem.rule == "missing-key"]
    assert found == lacking
