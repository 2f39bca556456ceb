"""What layers of each kind store to mix tokens; bytes of one micro-batch of 2,048 tokens, worked out by hand."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from clusterspec.catalog.models import CompressedAttention, LinearAttention, Model, SparseAttention, Window
from clusterspec.cost import layers
from clusterspec.cost.layers import LayerSet, stored_passes
from clusterspec.cost.memory import Job
from clusterspec.cost.memory.activations import Tensor, layer_tensors
from clusterspec.cost.memory.fullest import memory_use
from tests.cost.memory.designs import design, experts, layout, model

TOKENS = 2048
DELTA = LinearAttention("gated-delta", 6, 4, 8, 64, 32)
HYBRID = model(linear=DELTA, window=Window(128, 1, heads=32, kv_heads=4, head_dim=32))


def pieces(of: Model, **cut: Any) -> dict[str, Tensor]:
    settled = design(of, **cut)
    assert settled.workload and settled.layout
    return {piece.name: piece for piece in layer_tensors(Job.of(settled, settled.workload, settled.layout))}


def activations(of: Model, **cut: Any) -> float:
    found, _ = memory_use(design(of, **cut))
    assert found is not None
    return found.activations.value


def test_full_attention_stores_queries_outputs_keys_and_values() -> None:
    found = pieces(model())["attention"]
    assert found.value == 2 * TOKENS * (2 * 16 * 64 + 2 * 8 * 64)
    assert found.layers is LayerSet.FULL
    # 16 ranks share 8 heads of keys and values: each keeps one head of queries, and a copy of one of the others
    assert pieces(model(), tp=16)["attention"].value == 2 * TOKENS * (2 * 64 + 2 * 64)


def test_a_window_stores_those_of_its_own_heads() -> None:
    found = pieces(HYBRID)["window attention"]
    assert found.value == 2 * TOKENS * (2 * 32 * 32 + 2 * 4 * 32)
    assert found.layers is LayerSet.WINDOW


@pytest.mark.parametrize("tp", [1, 2])
def test_a_recurrence_stores_inputs_and_outputs_and_no_scores(tp: int) -> None:
    """Four times the keys (256) and five times the values (256), two bytes each."""
    found = pieces(model(linear=replace(DELTA, layers=8)), tp=tp)
    assert found["linear attention"].value == 2 * TOKENS * (4 * 256 + 5 * 256) / tp
    assert not {"attention", "softmax", "scores"} & set(found)


def test_a_gate_stores_its_outputs() -> None:
    assert pieces(model(attention_gate="element-wise"))["attention gate"].value == 2 * TOKENS * 16 * 64
    assert pieces(model(attention_gate="head-wise"))["attention gate"].value == 2 * TOKENS * 16


def test_an_index_stores_its_queries_and_what_it_chose_in_the_layers_that_have_one() -> None:
    of = model(sparse=SparseAttention(256, 4, 4, 32))
    assert pieces(of)["sparse index"].value == 0.5 * TOKENS * (2 * 4 * 32 + 4 * 256)


def test_compressed_attention_stores_queries_and_outputs_and_latents() -> None:
    of = model(compressed=CompressedAttention(256, 32, 2, 128, 4, 4, 128, 4, 64), kv_heads=1)
    found = pieces(of)
    assert found["attention"].value == 2 * TOKENS * 2 * 16 * 64
    assert found["compressed latents"].value == 2 * TOKENS * (2 * 256 + 64 + 2 * 128)


def test_a_layer_that_does_one_thing_has_one_norm() -> None:
    """Eight layers with three recurrences, one attention and four networks: as many norms as layers."""
    of = experts(linear=replace(DELTA, layers=3), stated_attention_layers=1, stated_ffn_layers=4, moe_layers=4)
    both, one = (pieces(each)["normalizations"].value for each in (experts(), of))
    assert one == both / 2


def test_experts_in_a_latent_width_take_in_less() -> None:
    wide, narrow = (pieces(experts(expert_latent=latent))["experts"].value for latent in (0, 256))
    assert wide - narrow == 2 * 2 * TOKENS * (1024 - 256)


def test_shared_experts_may_have_a_width_of_their_own() -> None:
    same, wide = (pieces(experts(shared_expert_ffn_hidden=width))["shared experts"].value for width in (0, 2048))
    assert wide == 4 * same


def test_each_kind_is_held_as_often_as_its_layers() -> None:
    held = stored_passes(layers.stage_chunks(HYBRID, layout(HYBRID))[0], (3.0,))
    counts = {kind: times / 3 for kind, times in held.items()}
    assert counts == {
        LayerSet.ALL: 8, LayerSet.FULL: 1, LayerSet.WINDOW: 1,
        LayerSet.LINEAR: 6, LayerSet.DENSE: 8, LayerSet.EXPERT: 0,
    }  # fmt: skip


@pytest.mark.parametrize("recompute", ["none", "selective", "full"])
def test_a_window_of_the_same_heads_stores_what_full_attention_does(recompute: str) -> None:
    assert activations(model(window=Window(128, 8)), recompute=recompute) == activations(model(), recompute=recompute)


LATENT = {"latent_q": 256, "latent_kv": 128, "latent_rope": 32, "kv_heads": 16}


@pytest.mark.parametrize("recompute", ["none", "selective"])
@pytest.mark.parametrize("tp", [1, 2])
def test_a_window_of_latent_attention_has_no_heads_of_its_own(recompute: str, tp: int) -> None:
    """Keys and values come from the latents of all layers, so that the heads of a window would not be those stored."""
    window = Window(128, 8, heads=4, kv_heads=2, head_dim=32)
    with_window, without = (model(**LATENT, window=one) for one in (window, None))
    found = activations(with_window, recompute=recompute, tp=tp)
    assert found == activations(without, recompute=recompute, tp=tp)
    assert found != activations(model(window=window), recompute=recompute, tp=tp)
