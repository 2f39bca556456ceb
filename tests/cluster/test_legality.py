"""Laws of legality: every condition holds at its limit and is violated one step beyond, by framework and release."""

from __future__ import annotations

from typing import Any

import pytest

from clusterspec.cluster.demands import Demands, LayoutNumbers
from clusterspec.cluster.legality import (
    forbids_expert_parallel,
    forbids_pipeline,
    forbids_uneven_stages,
    refuses_kv_heads,
    sequence_step,
    violated_conditions,
)
from clusterspec.records import replace
from tests.catalog.shipped import CATALOG, held

MODEL = replace(CATALOG.model("llama-3.1-8b"), layers=32, heads=32, kv_heads=8, ffn_hidden=14336)
NUMBERS = LayoutNumbers(
    tp=2,
    cp=1,
    ep=1,
    expert_tp=2,
    pp=2,
    virtual_stages=1,
    micro_batch=1,
    interleaved=False,
    sequence_parallel=True,
    own_stages=False,
    ring=True,
)
DEMANDS = Demands(ranks=16, capabilities=held("megatron-core"), model=MODEL, batch=16, sequence=4096)
"""16 ranks / (tp 2 × pp 2) are 4 replicas; a batch of 16 gives each 4 micro-batches; 8 ranks hold one stage."""

WORLD, HEADS, KV, FFN = (
    "world-size-mismatch",
    "heads-indivisible-by-tp",
    "kv-heads-indivisible-by-tp",
    "ffn-indivisible-by-tp",
)
LAYERS, VIRTUAL, BATCH = "layers-indivisible-by-pp", "layers-indivisible-by-stages", "global-batch-indivisible"
MICRO, EXPERTS, RANKS = "microbatches-indivisible-by-pp", "experts-indivisible-by-ep", "ep-not-dividing-ranks"
CHUNKS, SHARDS = "sequence-indivisible-by-cp", "sequence-indivisible-by-tp"

Changes = dict[str, Any]
ROWS: list[tuple[Changes, Changes, Changes, set[str]]] = [  # layout, demands, model, and the conditions violated
    ({}, {}, {}, set()),
    ({}, {"model": None, "batch": None, "sequence": None}, {}, set()),
    ({}, {"ranks": 18}, {}, {WORLD}),
    ({}, {"ranks": 20, "batch": 20}, {}, set()),
    ({"attention_dp": 2}, {"ranks": 20, "batch": 20}, {}, {WORLD}),  # 20 ranks / (2 × 2 × 2)
    ({"attention_dp": 2}, {"ranks": 24, "batch": 24}, {}, set()),
    ({}, {"ranks": 3}, {}, {WORLD}),  # fewer ranks than one replica
    ({}, {}, {"heads": 33, "kv_heads": 33}, {HEADS}),
    ({}, {}, {"kv_heads": 3}, {KV}),
    ({}, {}, {"ffn_hidden": 14337}, {FFN}),
    ({}, {}, {"experts": 8, "experts_per_token": 1, "expert_ffn_hidden": 7}, {FFN}),
    ({"expert_tp": 1}, {}, {"experts": 8, "experts_per_token": 1, "expert_ffn_hidden": 7}, set()),
    ({}, {}, {"experts": 0, "expert_ffn_hidden": 7}, set()),
    ({}, {}, {"layers": 33}, {LAYERS}),
    ({"own_stages": True}, {}, {"layers": 33}, set()),
    ({"virtual_stages": 4}, {}, {}, set()),  # 16 layers of a rank / 4
    ({"virtual_stages": 3}, {}, {}, {VIRTUAL}),
    ({"virtual_stages": 3}, {"framework": ""}, {}, {VIRTUAL}),
    ({"virtual_stages": 3}, {"framework": "maxtext"}, {}, {VIRTUAL}),
    ({"virtual_stages": 3}, {"framework": "torchtitan"}, {}, set()),
    ({"virtual_stages": 3, "own_stages": True}, {}, {}, set()),
    ({"virtual_stages": 3}, {"model": None}, {}, set()),
    ({"virtual_stages": 2}, {}, {"layers": 33}, {LAYERS}),  # reported once
    ({}, {"batch": 15}, {}, {BATCH}),
    ({"micro_batch": 4}, {}, {}, set()),  # 4 replicas × 4
    ({"micro_batch": 5}, {}, {}, {BATCH}),
    ({"micro_batch": 8}, {}, {}, {BATCH}),
    ({"ep": 2, "expert_tp": 1}, {"serves": True}, {}, set()),  # of the 2 ranks of a stage of one engine
    ({"ep": 4, "expert_tp": 1}, {"serves": True}, {}, {RANKS}),  # engines share no experts
    ({"ep": 4, "expert_tp": 1}, {}, {}, set()),  # the 4 replicas of a trainer do
    ({"interleaved": True}, {"batch": 12}, {}, {MICRO}),  # 3 micro-batches over 2 stages
    ({"interleaved": True}, {"batch": 16}, {}, set()),
    ({"interleaved": True}, {"batch": 4}, {}, {MICRO}),
    ({"interleaved": True}, {"batch": 12, "framework": ""}, {}, {MICRO}),
    ({"interleaved": True}, {"batch": 12, "framework": "torchtitan"}, {}, set()),
    ({"interleaved": True, "pp": 1}, {"batch": 24}, {}, set()),
    ({"interleaved": True}, {"batch": 13}, {}, {BATCH}),  # no whole micro-batches to group
    ({}, {"batch": 12}, {}, set()),
    ({}, {"batch": 12, "framework": "maxtext"}, {}, {MICRO}),
    ({"ep": 4}, {}, {"experts": 6, "experts_per_token": 1}, {EXPERTS}),
    ({"ep": 4, "redundant_experts": 2}, {}, {"experts": 6, "experts_per_token": 1}, set()),
    ({"ep": 4}, {}, {"experts": 8, "experts_per_token": 1}, set()),
    ({"ep": 4}, {"model": None}, {}, set()),
    ({"ep": 4}, {}, {}, set()),  # 8 ranks of a stage / (expert_tp 2 × 4)
    ({"ep": 8}, {}, {}, {RANKS}),
    ({"ep": 8, "expert_tp": 1}, {}, {}, set()),
    ({"ep": 4, "expert_tp": 1}, {"framework": "deepspeed"}, {}, set()),  # within dp 4
    ({"ep": 8, "expert_tp": 1}, {"framework": "deepspeed"}, {}, {RANKS}),
    ({"cp": 2}, {"sequence": 4100}, {}, set()),
    ({"cp": 2}, {"sequence": 4098}, {}, {CHUNKS}),  # two chunks for each of 2 ranks
    ({"cp": 2, "ring": False}, {"sequence": 4098}, {}, {SHARDS}),  # one chunk each, but not over tp 2
    ({"cp": 2, "ring": False, "sequence_parallel": False}, {"sequence": 4098}, {}, set()),
    ({"cp": 2, "ring": False, "sequence_parallel": False}, {"sequence": 4097}, {}, {CHUNKS}),
    ({"cp": 2}, {"sequence": None}, {}, set()),
    ({}, {"sequence": 4097}, {}, {SHARDS}),
    ({"sequence_parallel": False}, {"sequence": 4097}, {}, set()),
    ({"tp": 1}, {"sequence": 4097}, {}, set()),
    ({"tp": 1, "cp": 2}, {"sequence": 4098, "framework": "torchtitan"}, {}, {CHUNKS}),
    ({"cp": 2}, {"sequence": 4100, "framework": "torchtitan"}, {}, {SHARDS}),  # 2 × 2 × 2
    ({"cp": 2}, {"sequence": 4104, "framework": "torchtitan"}, {}, set()),
]


@pytest.mark.parametrize(("layout", "demands", "model", "want"), ROWS)
def test_a_layout_violates_exactly_the_conditions_that_its_numbers_break(
    layout: Changes, demands: Changes, model: Changes, want: set[str]
) -> None:
    made = replace(DEMANDS, model=replace(MODEL, **model))
    if "framework" in demands:
        demands = {"capabilities": held(demands["framework"])} | {k: v for k, v in demands.items() if k != "framework"}
    assert violated_conditions(replace(NUMBERS, **layout), replace(made, **demands)) == want


@pytest.mark.parametrize(
    ("layout", "ranks", "batch", "dp", "micro_batches"),
    [
        ({}, 16, 16, 4, 4),
        ({}, 19, 16, 4, 4),
        ({}, 3, 16, 1, 16),
        ({"micro_batch": 2}, 16, 16, 4, 2),
        ({"micro_batch": 3}, 16, 16, 4, None),
        ({"micro_batch": 4}, 16, 24, 4, None),  # 24 / (4 × 4)
        ({"micro_batch": 8}, 16, 16, 4, None),
        ({"cp": 2, "attention_dp": 2}, 16, 16, 1, 16),
        ({}, 16, None, 4, None),
    ],
)
def test_micro_batches_are_the_batch_over_replicas_and_micro_batch(
    layout: Changes, ranks: int, batch: int | None, dp: int, micro_batches: int | None
) -> None:
    numbers, demands = replace(NUMBERS, **layout), replace(DEMANDS, ranks=ranks, batch=batch)
    assert (numbers.dp(demands), numbers.micro_batches(demands)) == (dp, micro_batches)


@pytest.mark.parametrize(
    ("kv_heads", "tp", "megatron", "torchtitan"),
    [
        (8, 4, False, False),
        (8, 8, False, False),
        (8, 16, False, True),  # each head on two ranks
        (8, 12, True, True),
        (8, 3, True, True),
        (1, 2, False, True),
        (32, 3, False, False),  # a head of keys for every head: the heads are the condition
        (0, 3, False, False),
    ],
)
def test_key_value_heads_are_sharded_evenly_or_by_megatron_replicated(
    kv_heads: int, tp: int, megatron: bool, torchtitan: bool
) -> None:
    model = replace(MODEL, kv_heads=kv_heads)
    for framework in ("megatron-core", "nemo", ""):
        assert refuses_kv_heads(model, tp, held(framework)) is megatron
    assert refuses_kv_heads(model, tp, held("torchtitan")) is torchtitan
    assert not refuses_kv_heads(model, tp, held("deepspeed"))
    assert not refuses_kv_heads(replace(CATALOG.model("deepseek-v3"), kv_heads=kv_heads), tp, held("torchtitan"))


@pytest.mark.parametrize(
    ("tp", "cp", "framework", "step"),
    [
        (8, 1, "megatron-core", 8),
        (1, 1, "", 1),
        (8, 2, "megatron-core", 16),  # lcm(4, 16)
        (3, 2, "", 12),  # lcm(4, 6)
        (1, 4, "nemo", 8),  # lcm(8, 4)
        (2, 3, "", 6),  # lcm(6, 6)
        (8, 1, "torchtitan", 16),
        (4, 2, "torchtitan", 16),
        (3, 2, "torchtitan", 12),
    ],
)
def test_a_sequence_divides_into_chunks_over_cp_and_shards_over_tp(tp: int, cp: int, framework: str, step: int) -> None:
    assert sequence_step(tp, cp, held(framework), ring=True) == step


@pytest.mark.parametrize("ring", [True, False])
@pytest.mark.parametrize("tp", [2, 3, 4, 6])
@pytest.mark.parametrize("cp", [2, 3, 4])
def test_a_length_that_shards_over_tp_and_cp_also_divides_into_chunks(tp: int, cp: int, ring: bool) -> None:
    step = sequence_step(tp, cp, held("megatron-core"), ring=ring)
    numbers = replace(NUMBERS, tp=tp, cp=cp, ring=ring)
    demands = replace(DEMANDS, model=None, sequence=step)
    assert not {CHUNKS, SHARDS} & violated_conditions(numbers, demands)
    least = next(each for each in range(1, step + 1) if each % (tp * cp) == 0 and each % (cp * (1 + ring)) == 0)
    assert least == step


@pytest.mark.parametrize(
    ("framework", "year", "sharding", "pipeline", "experts"),
    [
        ("deepspeed", 2026, "zero1", False, False),
        ("deepspeed", 2026, "zero2", True, False),
        ("deepspeed", 2026, "fsdp", True, False),
        ("megatron-deepspeed", 2024, "hsdp", True, False),
        ("megatron-core", 2024, "zero2", False, False),
        ("megatron-core", 2024, "fsdp", True, True),
        ("megatron-core", 2025, "fsdp", False, False),
        ("nemo", 2024, "hsdp", True, True),
        ("nemo", 2026, "hsdp", False, False),
        ("torchtitan", 2024, "fsdp", False, False),
        ("", 2024, "fsdp", False, False),
    ],
)
def test_full_sharding_joins_other_axes_only_where_the_release_supports_it(
    framework: str, year: int, sharding: str, pipeline: bool, experts: bool
) -> None:
    assert forbids_pipeline(held(framework, year), sharding) is pipeline
    assert forbids_expert_parallel(held(framework, year), sharding) is experts


@pytest.mark.parametrize(
    ("framework", "year", "virtual_stages", "shorter", "forbidden"),
    [
        ("megatron-core", 2024, 1, 2, False),  # the first and the last
        ("megatron-core", 2024, 1, 3, True),
        ("megatron-core", 2024, 2, 1, True),
        ("megatron-core", 2025, 2, 3, False),
        ("nemo", 2024, 1, 3, True),
        ("maxtext", 2026, 1, 1, True),
        ("torchtitan", 2024, 2, 3, False),
        ("deepspeed", 2026, 1, 3, False),
        ("deepspeed", 2026, 2, 1, True),
        ("", 2026, 1, 3, False),
        ("", 2026, 2, 1, True),
    ],
)
def test_stages_differ_where_the_framework_lets_them(
    framework: str, year: int, virtual_stages: int, shorter: int, forbidden: bool
) -> None:
    assert forbids_uneven_stages(held(framework, year), virtual_stages, shorter) is forbidden
