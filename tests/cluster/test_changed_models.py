"""Laws of a model that a spec changes or describes: what follows from the changed sizes, and what stays."""

from __future__ import annotations

from typing import Any

import pytest

from clusterspec.catalog.models import Model
from clusterspec.cluster.transformer import GPT_FFN
from clusterspec.cost.parameters import model_weights
from tests.cluster.resolving import assumed, clean, resolve_text

CLUSTER = "cluster: {platform: dgx-h100, nodes: 2}\n"


def spec(model: str) -> str:
    return f"{CLUSTER}workload: {{model: {{{model}}}, sequence_length: 4096, global_batch: 8}}"


def model(keys: str) -> Model:
    found = clean(spec(keys)).workload
    assert found is not None
    return found.model


@pytest.mark.parametrize(
    ("keys", "head_dim"),
    [
        ("base: llama-3.1-8b, layers: 8", 128),  # 4,096 / 32
        ("base: llama-3.1-8b, heads: 64", 64),
        ("base: llama-3.1-8b, heads: 1, kv_heads: 1", 4096),
        ("base: llama-3.1-8b, hidden: 8192", 256),
        ("base: llama-3.1-8b, hidden: 8192, heads: 64", 128),
        ("base: llama-3.1-8b, heads: 64, head_dim: 96", 96),
        ("base: llama-3.1-8b, ffn_hidden: 1024", 128),
        ("base: qwen3-235b-a22b, heads: 32", 128),  # 64 heads of 128 are not its hidden width of 4,096
        ("base: qwen3-235b-a22b, hidden: 8192", 128),
    ],
)
def test_heads_divide_the_hidden_width_where_those_of_the_base_do(keys: str, head_dim: int) -> None:
    assert model(keys).head_dim == head_dim


@pytest.mark.parametrize(
    ("keys", "counts"),
    [  # layers: with experts, dense, with attention, with a feed-forward network
        ("base: deepseek-v3, layers: 16", (13, 3, 16, 16)),  # the first three stay dense
        ("base: deepseek-v3, layers: 2", (0, 2, 2, 2)),
        ("base: deepseek-v3, layers: 16, moe_layers: 15", (15, 1, 16, 16)),
        ("base: mixtral-8x7b, layers: 8", (8, 0, 8, 8)),
        ("base: llama-3.1-8b, layers: 8", (0, 8, 8, 8)),
        ("base: nemotron-3-super, layers: 44", (20, 0, 4, 20)),  # half of 40, 8 and 40
        ("base: nemotron-3-super, layers: 22", (10, 0, 2, 10)),
        ("base: granite-4.0-h-small, layers: 20", (20, 0, 2, 20)),  # half of 4 with attention
    ],
)
def test_fewer_layers_keep_dense_ones_and_scale_stated_counts(keys: str, counts: tuple[int, ...]) -> None:
    found = model(keys)
    assert (found.moe_layers, found.dense_layers, found.attention_layers, found.ffn_layers) == counts
    assert found.parameters is None and found.active_parameters is None


def test_an_inline_model_with_the_keys_of_an_entry_equals_it() -> None:
    whole = model("base: deepseek-v3")
    assert whole.parameters is not None and "changed" not in whole.name
    assert model("base: deepseek-v3, layers: 16").name == f"{whole.name}, changed"


DESCRIBED = "layers: 10, hidden: 4096, heads: 32, vocab: 32000"


@pytest.mark.parametrize(
    ("keys", "want"),
    [
        ("", {"ffn_hidden": 4 * 4096, "gated_ffn": False, "head_dim": 128, "kv_heads": 32, "experts": 0}),
        (", ffn_hidden: 16384", {"ffn_hidden": 16384, "gated_ffn": False}),
        (", ffn_hidden: 16385", {"ffn_hidden": 16385, "gated_ffn": True}),
        (", ffn_hidden: 16384, gated_ffn: true", {"gated_ffn": True}),
        (", ffn_hidden: 14336, gated_ffn: false", {"gated_ffn": False}),
        (", heads: 48", {"head_dim": 85}),  # 4,096 / 48 rounded down
        (", experts: 8, experts_per_token: 2", {"moe_layers": 10, "expert_ffn_hidden": 16384}),
        (", experts: 8, experts_per_token: 2, ffn_layers: 6", {"moe_layers": 6, "ffn_layers": 6}),
        (", experts: 8, experts_per_token: 2, expert_ffn_hidden: 512", {"ffn_hidden": 512, "expert_ffn_hidden": 512}),
        (", experts: 8, experts_per_token: 2, moe_layers: 9", {"moe_layers": 9, "dense_layers": 1}),
    ],
)
def test_a_description_alone_has_the_sizes_that_follow_from_it(keys: str, want: dict[str, Any]) -> None:
    text = DESCRIBED.replace(", heads: 32", "") + keys if "heads: 48" in keys else DESCRIBED + keys
    found = model(text)
    assert {name: getattr(found, name) for name in want} == want
    assert (found.id, found.name) == ("", "the model in the spec")


def test_the_width_of_gpt_is_an_assumption() -> None:
    keys = assumed(clean(spec(DESCRIBED)))
    assert keys["workload.model.ffn_hidden"] == GPT_FFN * 4096 == 16384
    assert "workload.model.ffn_hidden" not in assumed(clean(spec(f"{DESCRIBED}, ffn_hidden: 16384")))


@pytest.mark.parametrize(
    ("keys", "lacking"),
    [
        ("hidden: 64, heads: 4, vocab: 100", {"layers"}),
        ("layers: 4", {"hidden", "heads", "vocab"}),
        (f"{DESCRIBED}, experts: 8", {"experts_per_token"}),
        ("layers: 4, hidden: 64, heads: 4, experts: 8", {"vocab", "experts_per_token"}),
    ],
)
def test_a_description_asks_for_every_size_that_nothing_supplies(keys: str, lacking: set[str]) -> None:
    design, problems = resolve_text(spec(keys))
    assert {problem.path[-1] for problem in problems if problem.rule == "missing-key"} == lacking
    assert design.workload is None


@pytest.mark.parametrize(
    "keys",
    [
        "base: gemma-2-2b, moe_layers: 58",
        "base: llama-3.1-70b, moe_layers: 10000",
        "base: mixtral-8x7b, moe_layers: 300",
        "base: deepseek-v3, moe_layers: 62",
        "base: nemotron-3-super, ffn_layers: 1",
        "base: llama-3.1-8b, ffn_layers: 0, moe_layers: 4",
        "base: gemma-3-27b, attention_layers: 1",
        f"{DESCRIBED}, experts: 8, experts_per_token: 2, moe_layers: 11",
        f"{DESCRIBED}, ffn_layers: 2, moe_layers: 3",
    ],
)
def test_contradicting_counts_of_layers_never_count_weights_below_zero(keys: str) -> None:
    weights = model_weights(model(keys))
    assert weights.network >= 0 and weights.mixing_weights >= 0
    assert weights.total >= weights.embedding > 0
    assert 0 < weights.multiplied_weights <= weights.total + weights.embedding
