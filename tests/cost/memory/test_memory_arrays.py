"""Formulas of memory take arrays: ten thousand layouts in one call are what single calls give."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from clusterspec.cost.formulas import compute, memory, pipeline

np = pytest.importorskip("numpy")

MANY = 10_000
RANDOM = np.random.default_rng(1)


def sizes(low: int, high: int) -> Any:
    return RANDOM.integers(low, high, MANY).astype(float)


TOKENS, HIDDEN, HEADS, KV, WIDTH = sizes(1, 65536), sizes(64, 32768), sizes(1, 256), sizes(1, 256), sizes(64, 65536)
RANKS, STAGES, STAGE, BATCHES, VIRTUAL = sizes(1, 64), sizes(8, 64), sizes(0, 8), sizes(1, 256), sizes(1, 8)
CALLS: list[tuple[Callable[..., Any], tuple[Any, ...]]] = [
    (memory.residual_bytes, (TOKENS, HIDDEN, RANKS)),
    (memory.attention_bytes, (TOKENS, WIDTH, HIDDEN, RANKS)),
    (memory.softmax_bytes, (TOKENS, HEADS, RANKS)),
    (memory.scores_bytes, (TOKENS, TOKENS, HEADS, RANKS)),
    (memory.ffn_bytes, (TOKENS, WIDTH, 3, RANKS)),
    (memory.routed_tokens, (TOKENS, 8, RANKS, 2)),
    (memory.exchanged_bytes, (TOKENS, WIDTH, 4, RANKS)),
    (memory.logits_bytes, (TOKENS, WIDTH, RANKS, 6)),
    (pipeline.stored_micro_batches, (STAGES, STAGE, BATCHES)),
    (pipeline.stored_interleaved_passes, (STAGES, STAGE, VIRTUAL, BATCHES)),
    (memory.sharded_bytes, (WIDTH, 12, RANKS)),
    (memory.attention_weights, (HIDDEN, HEADS, KV, 128, 128)),
    (memory.ffn_weights, (HIDDEN, WIDTH, 3)),
    (memory.share_of_heads, (KV, RANKS)),
    (compute.unmasked_attention_flops, (STAGES, HEADS, 192, 128, TOKENS)),
    (compute.model_flops_per_token, (WIDTH, TOKENS)),
]


@pytest.mark.parametrize(("formula", "inputs"), CALLS, ids=[formula.__name__ for formula, _ in CALLS])
def test_one_call_for_all_is_one_call_for_each(formula: Callable[..., Any], inputs: tuple[Any, ...]) -> None:
    together = formula(*inputs)
    assert together.shape == (MANY,)
    for index in range(0, MANY, 97):
        single = formula(*(float(each[index]) if isinstance(each, np.ndarray) else each for each in inputs))
        assert together[index] == single
