"""Parameter counts agree with the published ones, and what ranks hold adds up to the model."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from clusterspec.catalog import Catalog
from clusterspec.catalog.models import LinearAttention, Model, SparseAttention, TokenPrediction, Window
from clusterspec.cost.layers import expert_layers, stage_chunks
from clusterspec.cost.mixers import attention_flops
from clusterspec.cost.parameters import causal_share, model_flops_per_token, model_weights, rank_share
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
    [
        model(),
        experts(),
        model(tied_embeddings=True),
        experts(latent_q=256, latent_kv=128, latent_rope=32),
        experts(linear=LinearAttention("gated-delta", 6, 16, 32, 64, 64), attention_gate="element-wise"),
        model(linear=LinearAttention("kimi-delta", 4, 16, 16, 64, 64, gate_rank=32), window=Window(128, 2)),
        model(linear=LinearAttention("kimi-delta", 4, 16, 16, 64, 64)),
    ]
)


@pytest.mark.parametrize(("name", "of", "total", "active"), PUBLISHED, ids=[name for name, *_ in PUBLISHED])
def test_counts_agree_with_published_ones(name: str, of: Model, total: float, active: float) -> None:
    counted = model_weights(of)
    assert counted.total == pytest.approx(total, rel=2e-3)
    assert counted.active_weights == pytest.approx(active, rel=5e-3)


def test_a_dense_model_uses_all_its_weights() -> None:
    assert model_weights(model()).active_weights == model_weights(model()).total


def test_the_head_is_multiplied_even_where_it_is_the_embedding_again() -> None:
    tied, own = model_weights(model(tied_embeddings=True)), model_weights(model())
    assert tied.multiplied_weights == own.multiplied_weights
    assert own.total - tied.total == own.head


def test_flops_are_six_per_weight_and_the_unmasked_attention() -> None:
    of = model(layers=80, hidden=8192, heads=64, ffn_hidden=28672, **LLAMA)
    attention = 12 * 80 * 8192 * 4096
    whole = 6 * model_weights(of).multiplied_weights + attention
    assert model_flops_per_token(of, 4096) == whole
    assert causal_share(of, 4096) == pytest.approx((whole - attention / 2) / whole)


def test_dense_layers_come_first_and_alternate_where_they_are_half() -> None:
    assert expert_layers(experts(layers=4, moe_layers=3)) == (False, True, True, True)
    assert expert_layers(experts(layers=4, moe_layers=2)) == (False, True, False, True)
    assert expert_layers(model(layers=3)) == (False, False, False)
    assert expert_layers(experts(layers=2, moe_layers=2)) == (True, True)


@given(MODELS, DEGREES, st.integers(1, 8))
def test_stages_hold_each_layer_once(of: Model, pp: int, virtual: int) -> None:
    held = stage_chunks(of, layout(of, pp=pp, virtual_stages=virtual))
    assert len(held) == pp
    assert sum(chunk.layers for chunks in held for chunk in chunks) == of.layers
    assert sum(chunk.moe_layers for chunks in held for chunk in chunks) == of.moe_layers
    assert sum(chunk.first for chunks in held for chunk in chunks) == 1
    assert held[0][0].first and held[-1][-1].last


def test_dualpipe_holds_both_ends_on_the_first_rank() -> None:
    of = model()
    held = stage_chunks(of, layout(of, pp=4, schedule="dualpipe"))
    assert [chunk.layers for chunk in held[0]] == [2, 2]
    assert any(chunk.first for chunk in held[0]) and any(chunk.last for chunk in held[0])


@given(MODELS, DEGREES, DEGREES, st.sampled_from([1, 2, 4]))
def test_shares_of_all_ranks_are_the_model(of: Model, tp: int, pp: int, ep: int) -> None:
    """Dense matrices over tp, experts over ep × expert_tp; a tied head is held twice in a pipeline."""
    cut = layout(of, tp=tp, pp=pp, dp=ep, ep=ep, expert_tp=tp)
    shares = [rank_share(of, cut, chunks) for chunks in stage_chunks(of, cut)]
    whole = model_weights(of)
    dense = sum(each.dense + each.embedding + each.head for each in shares) * tp
    replicated = sum(each.replicated for each in shares)
    routed = sum(each.expert for each in shares) * ep * tp
    copied = whole.embedding if of.tied_embeddings and pp > 1 else 0.0
    assert math.isclose(dense + replicated + routed, whole.total + copied)


@given(MODELS, st.sampled_from([1, 2, 4]))
def test_twice_the_tensor_parallelism_halves_what_it_cuts(of: Model, tp: int) -> None:
    one, two = (rank_share(of, layout(of, tp=t), stage_chunks(of, layout(of, tp=t))[0]) for t in (tp, 2 * tp))
    assert two.dense * 2 == one.dense
    assert two.head * 2 == one.head
    assert two.replicated == one.replicated


def test_a_head_of_keys_is_never_cut() -> None:
    of = model(kv_heads=2)
    at = {tp: rank_share(of, layout(of, tp=tp), stage_chunks(of, layout(of, tp=tp))[0]).dense for tp in (2, 8)}
    projections = 2 * of.layers * of.hidden * of.head_dim
    assert at[8] == at[2] / 4 + projections - projections / 4


def test_a_layout_without_stages_holds_nothing() -> None:
    of = model()
    assert stage_chunks(of, replace(layout(of), stage_layers=())) == ()


def layer_of(of: Model) -> float:
    """Weights of one layer without its network and its norms, from the difference that one layer makes."""
    whole = model_weights(of)
    return whole.mixing_weights / of.layers


def test_a_gate_counts_one_output_per_head_or_per_element() -> None:
    plain, heads, elements = (
        layer_of(model(attention_gate=gate)) for gate in ("none", "head-wise", "element-wise")
    )  # fmt: skip
    assert heads - plain == 1024 * 16
    assert elements - plain == 1024 * 16 * 64


def test_shared_keys_and_values_are_projected_once() -> None:
    assert layer_of(model()) - layer_of(model(shared_kv=True)) == 1024 * 8 * 64


def test_values_may_be_wider_than_keys() -> None:
    """Queries and keys of width 64 and values and outputs of width 32, sixteen heads on eight."""
    assert layer_of(model(value_head_dim=32)) == 1024 * (16 * 64 + 8 * 64 + 8 * 32 + 16 * 32)


def test_layers_with_a_window_have_heads_of_their_own() -> None:
    of = model(window=Window(128, 8, heads=32, kv_heads=4, head_dim=32))
    assert layer_of(of) == 1024 * 2 * 32 * (32 + 4)


def test_a_gated_delta_net_counts_its_six_projections_and_its_convolution() -> None:
    """Queries, keys (256 each), values, output gate (512 each), two gates for each of eight heads, and the output."""
    of = model(linear=LinearAttention("gated-delta", 8, 4, 8, 64, 64, convolution=4))
    assert layer_of(of) == 1024 * (256 + 256 + 512 + 512 + 2 * 8) + 4 * (256 + 256 + 512) + 512 * 1024


def test_mamba_has_one_time_step_for_each_head() -> None:
    delta, mamba = (
        layer_of(model(linear=LinearAttention(kind, 8, 4, 8, 64, 64))) for kind in ("gated-delta", "mamba-2")
    )  # fmt: skip
    assert delta - mamba == 1024 * 8


def test_kimi_delta_attention_compresses_its_decay() -> None:
    """Queries, keys, values (512 each), eight gates, the decay through 32, the output gate, and the output."""
    full = model(linear=LinearAttention("kimi-delta", 8, 8, 8, 64, 64, convolution=4, gate_rank=32))
    inputs = 1024 * (3 * 512 + 8) + 1024 * 32 + 32 * 512 + 4 * 3 * 512
    assert layer_of(full) == inputs + 1024 * 512 + 512 * 1024
    low = replace(full, linear=LinearAttention("kimi-delta", 8, 8, 8, 64, 64, 4, gate_rank=32, output_gate_rank=16))
    assert layer_of(low) == inputs + 1024 * 16 + 16 * 512 + 512 * 1024


def test_an_index_belongs_to_the_layers_that_have_one() -> None:
    """Four of eight layers: queries of 4 heads of 32 from rank 256, one key and four weights from the hidden width."""
    of = model(latent_q=256, latent_kv=128, latent_rope=32)
    index = 4 * (256 * 4 * 32 + 1024 * (32 + 4))
    assert model_weights(replace(of, sparse=SparseAttention(64, 4, 4, 32))).total - model_weights(of).total == index


def test_experts_in_a_latent_width_are_smaller_and_need_projections() -> None:
    whole = model_weights(experts(expert_latent=256))
    assert whole.expert == 3 * 256 * 512
    assert whole.latent == 2 * 1024 * 256
    assert whole.shared == 3 * 1024 * 512
    assert model_weights(experts(shared_expert_ffn_hidden=2048)).shared == 3 * 1024 * 2048


def test_a_module_of_prediction_is_one_layer_more_and_in_no_total() -> None:
    """DeepSeek-V3, section 4.2: 11.5 billion parameters in addition to the 671 billion of the model, without what it
    shares.
    """
    of = replace(DEEPSEEK_V3, prediction=TokenPrediction(1, "experts"))
    assert model_weights(of).prediction == pytest.approx(11.5e9, rel=0.01)
    assert model_weights(of).total == model_weights(DEEPSEEK_V3).total


def test_a_recurrence_needs_no_products_over_the_sequence() -> None:
    of = model(linear=LinearAttention("gated-delta", 8, 4, 8, 64, 32))
    assert model_flops_per_token(of, 4096) == model_flops_per_token(of, 8192)
    assert model_flops_per_token(of, 4096) == 6 * model_weights(of).multiplied_weights + 3 * 8 * 2 * 3 * 8 * 64 * 32


@pytest.mark.parametrize(("tokens", "attended"), [(1024, 1024), (2048, 2048), (65536, 2048)])
def test_an_index_bounds_the_tokens_that_model_flops_count(tokens: int, attended: int) -> None:
    """DeepSeek-V3.2: 61 layers whose 128 heads (192 numbers of a key, 128 of a value) attend to 2,048 tokens, chosen by
    64 heads of 128 numbers each that look at all. Forward and backward are 6 FLOPs a number and token.
    """
    of = Catalog.open().model("deepseek-v3.2")
    core, index = 128 * (192 + 128) * attended, 64 * 128 * tokens
    assert attention_flops(of, tokens) == pytest.approx(6 * 61 * (core + index))


def test_a_window_bounds_the_tokens_that_model_flops_count() -> None:
    windowed = model(window=Window(tokens=1024, layers=2))
    full = model()
    assert model_flops_per_token(windowed, 512) == model_flops_per_token(full, 512)
    bound = model_flops_per_token(windowed, 8192) - model_flops_per_token(windowed, 4096)
    free = model_flops_per_token(full, 8192) - model_flops_per_token(full, 4096)
    assert bound == pytest.approx(free * (full.layers - 2) / full.layers)


def test_chosen_keys_bound_them_but_for_the_index() -> None:
    chosen = model(sparse=SparseAttention(tokens=1024, layers=1, index_heads=2, index_dim=16))
    more = model_flops_per_token(chosen, 8192) - model_flops_per_token(chosen, 4096)
    one_layer = model_flops_per_token(model(), 8192) - model_flops_per_token(model(), 4096)
    of = model()
    assert more == pytest.approx(one_layer * (of.layers - 1) / of.layers + 6 * 2 * 16 * 4096)
