"""What serving keeps of a sequence, by kind of attention; elements worked out by hand."""

from __future__ import annotations

import pytest

from clusterspec.catalog.models import CompressedAttention, LinearAttention, Model, SparseAttention, Window
from clusterspec.cost.layers import stage_chunks
from clusterspec.cost.mixers import Cache, _window_cache, next_token_bytes, sequence_cache
from clusterspec.records import replace
from tests.catalog.shipped import CATALOG
from tests.cost.memory.designs import layout, model

GROUPED = 2 * 8 * 64
"""Keys and values of one token in one layer of the model of `designs`: eight heads of width 64."""
DELTA = LinearAttention("gated-delta", 6, 4, 8, 32, 16)


def kept(of: Model, tokens: float, ranks: int = 1, reserved: float = 0.0) -> Cache:
    held = stage_chunks(of, layout(of))[0]
    return sequence_cache(of, held, tokens, ranks, reserved)


def grown(of: Model, precision: str = "fp8", reserved: float = 0.0) -> float:
    """Bytes of one more token; of fp8 as many as elements."""
    return next_token_bytes(of, stage_chunks(of, layout(of))[0], precision, reserved)


def test_full_attention_keeps_every_token_of_every_layer() -> None:
    assert kept(model(), 1000) == (8 * 1000 * GROUPED, 0, 0)
    assert grown(model()) == 8 * GROUPED


def test_ranks_share_heads_and_copy_the_last_one() -> None:
    assert kept(model(), 1000, ranks=4)[0] == 8 * 1000 * GROUPED / 4
    assert kept(model(), 1000, ranks=32)[0] == 8 * 1000 * GROUPED / 8


def test_latent_attention_keeps_one_vector_on_every_rank() -> None:
    of = model(latent_kv=512, latent_rope=64)
    assert kept(of, 1000) == kept(of, 1000, ranks=8) == (8 * 1000 * 576, 0, 0)


@pytest.mark.parametrize(("tokens", "held"), [(100, 100), (128, 128), (5000, 128)])
def test_a_window_keeps_no_more_than_its_tokens(tokens: int, held: int) -> None:
    of = model(window=Window(128, 6, kv_heads=4, head_dim=32))
    assert kept(of, tokens)[0] == 2 * tokens * GROUPED + 6 * held * 2 * 4 * 32
    assert grown(of) == 2 * GROUPED


@pytest.mark.parametrize(("reserved", "held"), [(0.0, 128), (0.01, 128), (0.8, 4000), (1.0, 5000)])
def test_software_may_reserve_more_than_the_window_of_a_layer(reserved: float, held: int) -> None:
    of = model(window=Window(128, 6, kv_heads=4, head_dim=32))
    assert kept(of, 5000, reserved=reserved)[0] == 2 * 5000 * GROUPED + 6 * held * 2 * 4 * 32
    assert grown(of, reserved=reserved) == pytest.approx(2 * GROUPED + 6 * reserved * 2 * 4 * 32)
    assert kept(of, 100, reserved=reserved) == kept(of, 100)


def test_a_recurrence_keeps_a_state_of_constant_size() -> None:
    """Per layer 8 × 32 × 16 of state, and three tokens of keys, queries and values before the convolution."""
    of = model(linear=DELTA)
    state = 6 * (8 * 32 * 16 + 3 * (2 * 4 * 32 + 8 * 16))
    assert kept(of, 10) == (2 * 10 * GROUPED, 0, state)
    assert kept(of, 100_000)[2] == state
    assert kept(of, 10, ranks=4)[2] == state / 4
    assert grown(of) == 2 * GROUPED


def test_a_sparse_index_keeps_one_key_of_its_own() -> None:
    of = model(latent_kv=512, latent_rope=64, sparse=SparseAttention(2048, 8, 64, 128))
    assert kept(of, 1000) == (8 * 1000 * 576, 8 * 1000 * 128, 0)
    assert grown(of) == 8 * (576 + 132)


@pytest.mark.parametrize(("precision", "width"), [("bf16", 2), ("fp8", 1)])
def test_keys_of_an_index_have_eight_bits_and_a_scale_in_every_cache(precision: str, width: int) -> None:
    """128 bytes and a scale of four, as in vLLM and SGLang; keys and values have the precision of the cache."""
    of = model(latent_kv=512, latent_rope=64, sparse=SparseAttention(2048, 8, 64, 128))
    assert kept(of, 1000).stored_bytes(precision).total == 8 * 1000 * (width * 576 + 132)
    assert grown(of, precision) == 8 * (width * 576 + 132)


def test_compressed_attention_keeps_entries_and_a_window() -> None:
    """Four layers with an entry for 4 tokens, four with one for 128, all with the last 128 tokens."""
    part = CompressedAttention(256, 64, 2, 128, 4, 4, 128, 4, 128)
    of = model(head_dim=512, kv_heads=1, compressed=part, sparse=SparseAttention(512, 4, 64, 128))
    entries = 4 * 12800 / 4 + 4 * 12800 / 128 + 8 * 128
    assert kept(of, 12800) == pytest.approx((512 * entries, 4 * 128 * 12800 / 4, 0))
    assert grown(of) == pytest.approx(512 * (1 + 1 / 32) + 132)


@pytest.mark.parametrize(
    ("tokens", "ranks", "reserved", "window", "elements"),
    [
        (10_000, 1, 0.0, {}, 1024 * 4 * (128 + 64)),
        (100, 1, 0.0, {}, 100 * 4 * (128 + 64)),  # shorter than the window
        (10_000, 2, 0.0, {}, 1024 * 2 * (128 + 64)),
        (10_000, 8, 0.0, {}, 1024 * 1 * (128 + 64)),  # a rank has one head at least
        (10_000, 1, 0.5, {}, 5000 * 4 * (128 + 64)),  # engines that reserve half of a full cache for them
        (10_000, 1, 0.0, {"value_head_dim": 0}, 1024 * 4 * (128 + 128)),
        (10_000, 1, 0.0, {"kv_heads": 0}, 1024 * 16 * (128 + 64)),  # those of the model
    ],
)
def test_layers_with_a_window_keep_its_tokens(
    tokens: int, ranks: int, reserved: float, window: dict[str, int], elements: float
) -> None:
    """A window of 1,024 tokens: 4 heads with keys of 128 and values of 64; the model has 16 heads elsewhere."""
    kept = {"tokens": 1024, "layers": 8, "kv_heads": 4, "head_dim": 128, "value_head_dim": 64, **window}
    held = replace(CATALOG.model("llama-3.1-8b"), kv_heads=16, window=Window(**kept))
    assert _window_cache(held, tokens, ranks, reserved) == pytest.approx(elements)
    assert _window_cache(replace(held, window=None), tokens, ranks, reserved) == 0.0
