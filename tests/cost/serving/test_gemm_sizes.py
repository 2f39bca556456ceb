"""The dense GEMMs of all layers on one rank, multiplied out by hand."""

from __future__ import annotations

from typing import Any

from clusterspec.catalog.models import Model
from clusterspec.cost.layers import Chunk
from clusterspec.cost.serving.parts.gemm_sizes import Products, dense_products, has_scaled_blocks
from clusterspec.records import replace
from tests.designs import TRAINED, work_of
from tests.effort import each

DENSE = work_of(TRAINED).model
"""Llama 3.1 8B: 32 layers, hidden size 4,096, 32 heads and 8 of keys of 128, gated networks of 14,336."""


def layers(**counts: int) -> Chunk:
    none = dict.fromkeys(("full_layers", "window_layers", "linear_layers", "dense_layers", "moe_layers"), 0)
    numbers: Any = none | counts
    return Chunk(layers=sum(counts.values()), **numbers, first=True, last=True, kinds=(), predicted=0)


def products(model: Model, tp: int, weights: float = 0.0, gemms: float = 0.0, **counts: int) -> tuple[Products, ...]:
    return dense_products(model, layers(**counts), tp, weights=weights, gemms=gemms)


def test_each_gemm_of_a_dense_layer_has_its_share_of_the_weights() -> None:
    """Two ranks: 16 heads, and 4 of keys. Queries, keys and values are one GEMM, gate and up projection another."""
    found = products(DENSE, 2, full_layers=32, dense_layers=32)
    assert found == (
        Products(4096.0 * (16 + 4 + 4) * 128, 32.0, False, 4096.0),
        Products(16 * 128 * 4096, 32.0, True, 16 * 128),
        Products(2 * 4096 * 14336 / 2, 32.0, False, 4096.0),
        Products(4096 * 14336 / 2, 32.0, True, 14336 / 2),
    )
    plain = products(replace(DENSE, gated_ffn=False), 1, dense_layers=3)
    assert plain == (
        Products(4096.0 * 14336, 3.0, False, 4096.0),
        Products(4096.0 * 14336, 3.0, True, 14336.0),
    )


@each(
    ("more", "gemms", "others"),
    [
        (1000.0, 10, [Products(100.0, 10.0)]),
        (0.0, 10, []),
        (-1.0, 10, []),
        (1000.0, 0, []),
    ],
)
def test_weights_of_other_gemms_are_shared_equally(more: float, gemms: int, others: list[Products]) -> None:
    """Four GEMMs of each of 32 layers are known."""
    known = products(DENSE, 1, full_layers=32, dense_layers=32)
    total = sum(one.weights * one.number for one in known)
    found = products(DENSE, 1, total + more, 128 + gemms, full_layers=32, dense_layers=32)
    assert list(found) == [*known, *others]


def test_shared_experts_run_beside_routed_ones_without_a_reduction_of_their_own() -> None:
    model = replace(DENSE, experts=8, shared_experts=2, expert_ffn_hidden=1024, moe_layers=30)
    assert model.shared_width == 2048
    found = products(model, 4, dense_layers=2, moe_layers=30)
    assert found[2:] == (
        Products(2 * 4096 * 2048 / 4, 30.0, False, 0.0),
        Products(4096 * 2048 / 4, 30.0, False, 0.0),
    )
    assert products(replace(model, shared_experts=0), 4, moe_layers=30) == ()


def test_latent_attention_compresses_first_and_absorbs_two_products_of_each_head() -> None:
    """DeepSeek V3 over 8 ranks: 16 heads of 128 and 64 of positions, queries of 1,536, keys and values of 512."""
    model = work_of(TRAINED.replace("llama-3.1-8b", "deepseek-v3")).model
    assert (model.hidden, model.heads, model.latent_q, model.latent_kv, model.latent_rope) == (7168, 128, 1536, 512, 64)
    found = products(model, 8, full_layers=61)
    assert found == (
        Products(7168 * (1536 + 512 + 64), 61.0, False, 7168),
        Products(1536 * 16 * (128 + 64), 61.0, False, 1536),
        Products(16 * 512 * 128, 61.0, False, 0.0),
        Products(16 * 512 * 128, 61.0, False, 0.0),
        Products(16 * 128 * 7168, 61.0, True, 16 * 128),
    )
    whole = products(replace(model, latent_q=0), 8, full_layers=61)
    assert whole[0].weights == 7168 * (512 + 64)
    assert whole[1] == Products(7168 * 16 * (128 + 64), 61.0, False, 7168)


def test_layers_of_a_window_are_further_gemms_of_the_same_size() -> None:
    full, window = products(DENSE, 1, full_layers=8), products(DENSE, 1, window_layers=24)
    assert [one.number for one in (*full, *window)] == [8, 8, 24, 24]
    assert products(DENSE, 1, full_layers=8, window_layers=24) == (*full, *window)


@each(
    ("precision", "kept", "block", "scaled"),
    [
        ("fp8", "fp8", 128, True),
        ("fp8", "fp8", 0, False),
        ("fp8", "bf16", 128, False),
        ("bf16", "fp8", 128, False),
        ("bf16", "bf16", 128, False),
    ],
)
def test_blocks_have_scales_where_the_checkpoint_was_trained_in_them(
    precision: str, kept: str, block: int, scaled: bool
) -> None:
    model = replace(DENSE, checkpoint_precision=kept, fp8_block=block)
    assert has_scaled_blocks(model, precision) is scaled
