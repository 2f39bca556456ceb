"""Parameter counts agree with the published ones, and what ranks hold adds up to the model."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from clusterspec.catalog import Catalog
from clusterspec.catalog.entries import Model
from clusterspec.cost.parameters import count, expert_layers, model_flops_per_token, share, stages
from tests.cost.memory.designs import experts, layout, model

LLAMA = {"gated_ffn": True, "vocab": 128256, "kv_heads": 8}
GPT3 = model(
    layers=96, hidden=12288, heads=96, kv_heads=96, ffn_hidden=49152, vocab=50257, gated_ffn=False,
    tied_embeddings=True, learned_positions=True, max_sequence_length=2048,
)  # fmt: skip
BLOOM = model(
    layers=70, hidden=14336, heads=112, kv_heads=112, ffn_hidden=57344, vocab=250880, gated_ffn=False,
    tied_embeddings=True,
)  # fmt: skip
MIXTRAL = model(
    layers=32, hidden=4096, heads=32, ffn_hidden=14336, vocab=32000, experts=8, experts_per_token=2,
    expert_ffn_hidden=14336, moe_layers=32,
)  # fmt: skip
DEEPSEEK_V3 = model(
    layers=61, hidden=7168, heads=128, kv_heads=128, head_dim=128, ffn_hidden=18432, vocab=129280, experts=256,
    experts_per_token=8, expert_ffn_hidden=2048, moe_layers=58, shared_experts=1, latent_q=1536, latent_kv=512,
    latent_rope=64,
)  # fmt: skip
DEEPSEEK_V2_LITE = model(
    layers=27, hidden=2048, heads=16, kv_heads=16, head_dim=128, ffn_hidden=10944, vocab=102400, experts=64,
    experts_per_token=6, expert_ffn_hidden=1408, moe_layers=26, shared_experts=2, latent_kv=512, latent_rope=64,
)  # fmt: skip
QWEN3_235B = model(
    layers=94, hidden=4096, heads=64, kv_heads=4, head_dim=128, ffn_hidden=12288, vocab=151936, experts=128,
    experts_per_token=8, expert_ffn_hidden=1536, moe_layers=94,
)  # fmt: skip
PUBLISHED = [
    ("Llama 3.1 8B", model(layers=32, hidden=4096, heads=32, ffn_hidden=14336, **LLAMA), 8.03e9, 8.03e9),
    ("Llama 3.1 70B", model(layers=80, hidden=8192, heads=64, ffn_hidden=28672, **LLAMA), 70.55e9, 70.55e9),
    ("Llama 3.1 405B", model(layers=126, hidden=16384, heads=128, ffn_hidden=53248, **LLAMA), 405.85e9, 405.85e9),
    ("GPT-3 175B", GPT3, 174.6e9, 174.6e9),
    ("BLOOM", BLOOM, 176.2e9, 176.2e9),
    ("Mixtral 8x7B", MIXTRAL, 46.7e9, 12.9e9),
    ("DeepSeek-V3", DEEPSEEK_V3, 671.0e9, 37.55e9),
    ("DeepSeek-V2-Lite", DEEPSEEK_V2_LITE, 15.7e9, 2.66e9),
    ("Qwen3 235B-A22B", QWEN3_235B, 235.1e9, 22.19e9),
]

DEGREES = st.sampled_from([1, 2, 4, 8])
MODELS = st.sampled_from(
    [model(), experts(), model(tied_embeddings=True), experts(latent_q=256, latent_kv=128, latent_rope=32)]
)


@pytest.mark.parametrize(("name", "of", "total", "active"), PUBLISHED, ids=[name for name, *_ in PUBLISHED])
def test_counts_agree_with_published_ones(name: str, of: Model, total: float, active: float) -> None:
    counted = count(of)
    assert counted.total == pytest.approx(total, rel=2e-3)
    assert counted.active == pytest.approx(active, rel=5e-3)


def _rounding(printed: float) -> float:
    """Half a unit of the last digit that a count was printed with, relative: 1.7 billion is 1.65 to 1.75."""
    digits = f"{printed:.6e}".split("e")[0].rstrip("0").rstrip(".")
    decimals = len(digits.partition(".")[2])
    return 0.5 * 10.0**-decimals / float(digits)


def test_every_catalog_model_counts_what_its_makers_say() -> None:
    """To two per cent, or to how coarsely they say it; the catalog's own tests go further and list exceptions."""
    catalog = Catalog.open()
    far = {}
    for name in catalog.ids("model"):
        entry = catalog.model(name)
        if entry.parameters is not None:
            off = abs(count(entry).total / entry.parameters.value - 1)
            if off > max(0.02, _rounding(entry.parameters.value)):
                far[name] = off
    assert not far


def test_a_dense_model_uses_all_its_weights() -> None:
    assert count(model()).active == count(model()).total


def test_the_head_is_multiplied_even_where_it_is_the_embedding_again() -> None:
    tied, own = count(model(tied_embeddings=True)), count(model())
    assert tied.multiplied == own.multiplied
    assert own.total - tied.total == own.head


def test_flops_are_six_per_weight_and_the_unmasked_attention() -> None:
    of = model(layers=80, hidden=8192, heads=64, ffn_hidden=28672, **LLAMA)
    attention = 12 * 80 * 8192 * 4096
    assert model_flops_per_token(of, 4096) == 6 * count(of).multiplied + attention


def test_dense_layers_come_first_and_alternate_where_they_are_half() -> None:
    assert expert_layers(experts(layers=4, moe_layers=3)) == (False, True, True, True)
    assert expert_layers(experts(layers=4, moe_layers=2)) == (False, True, False, True)
    assert expert_layers(model(layers=3)) == (False, False, False)
    assert expert_layers(experts(layers=2, moe_layers=2)) == (True, True)


@given(MODELS, DEGREES, st.integers(1, 8))
def test_stages_hold_each_layer_once(of: Model, pp: int, virtual: int) -> None:
    held = stages(of, layout(of, pp=pp, virtual_stages=virtual))
    assert len(held) == pp
    assert sum(chunk.layers for chunks in held for chunk in chunks) == of.layers
    assert sum(chunk.moe_layers for chunks in held for chunk in chunks) == of.moe_layers
    assert sum(chunk.first for chunks in held for chunk in chunks) == 1
    assert held[0][0].first and held[-1][-1].last


def test_dualpipe_holds_both_ends_on_the_first_rank() -> None:
    of = model()
    held = stages(of, layout(of, pp=4, schedule="dualpipe"))
    assert [chunk.layers for chunk in held[0]] == [2, 2]
    assert any(chunk.first for chunk in held[0]) and any(chunk.last for chunk in held[0])


@given(MODELS, DEGREES, DEGREES, st.sampled_from([1, 2, 4]))
def test_shares_of_all_ranks_are_the_model(of: Model, tp: int, pp: int, ep: int) -> None:
    """Dense matrices over tp, experts over ep × expert_tp; a tied head is held twice in a pipeline."""
    cut = layout(of, tp=tp, pp=pp, dp=ep, ep=ep, expert_tp=tp)
    shares = [share(of, cut, chunks) for chunks in stages(of, cut)]
    whole = count(of)
    dense = sum(each.dense + each.embedding + each.head for each in shares) * tp
    replicated = sum(each.replicated for each in shares)
    routed = sum(each.expert for each in shares) * ep * tp
    copied = whole.embedding if of.tied_embeddings and pp > 1 else 0.0
    assert math.isclose(dense + replicated + routed, whole.total + copied)


@given(MODELS, st.sampled_from([1, 2, 4]))
def test_twice_the_tensor_parallelism_halves_what_it_cuts(of: Model, tp: int) -> None:
    one, two = (share(of, layout(of, tp=t), stages(of, layout(of, tp=t))[0]) for t in (tp, 2 * tp))
    assert two.dense * 2 == one.dense
    assert two.head * 2 == one.head
    assert two.replicated == one.replicated


def test_a_head_of_keys_is_never_cut() -> None:
    of = model(kv_heads=2)
    at = {tp: share(of, layout(of, tp=tp), stages(of, layout(of, tp=tp))[0]).dense for tp in (2, 8)}
    projections = 2 * of.layers * of.hidden * of.head_dim
    assert at[8] == at[2] / 4 + projections - projections / 4


def test_a_layout_without_stages_holds_nothing() -> None:
    of = model()
    assert stages(of, replace(layout(of), stage_layers=())) == ()
