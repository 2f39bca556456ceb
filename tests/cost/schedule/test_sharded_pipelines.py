"""Shardings of weights and gradients in a pipeline: memory and traffic are those of one way to run a step."""

from __future__ import annotations

from typing import Any

import pytest

from clusterspec.cost.plan import Plan
from tests.cost.plans import plan

GPT = {"model": "gpt3-175b", "sequence_length": 2048, "global_batch": 512}
WEIGHTS = 96 / 2 * (12 * 12288**2) / 8
"""Weights of 48 layers of 12 h^2 each, on a rank of eight: 10.9 GB in 16 bits."""
MICRO_BATCHES = 64
"""512 sequences over the 8 replicas of 16 nodes with tp 8 and pp 2."""
PER_MICRO_BATCH = ("megatron-core", "maxtext")
ONCE = ("torchtitan", "fsdp")


def pipelined(framework: str, workload: dict[str, Any] = GPT, **layout: Any) -> Plan:
    written = {"framework": framework, "tp": 8, "pp": 2, "sharding": "fsdp", "recompute": "full", "micro_batch": 1}
    cluster = {"platform": "dgx-h100", "nodes": 16}
    return plan(cluster=cluster, workload=workload, layout={**written, **layout})


def sent(found: Plan, collective: str) -> float:
    return sum(row.bytes for row in found.communication if row.axis == "dp_cp" and row.collective == collective)


def state(found: Plan, name: str) -> float:
    assert found.memory is not None
    passing = {"gathered_layers", "gathered_tables", "layer_being_reduced", "placeholders"}
    parts = {"weights": found.memory.weights, "gradients": found.memory.gradients}[name].parts
    return sum(part.value for part in parts if part.name not in passing)


@pytest.mark.parametrize("framework", PER_MICRO_BATCH)
def test_freed_weights_are_gathered_in_both_passes_of_every_micro_batch(framework: str) -> None:
    """2 bytes of each weight twice, and 4 of each gradient once, for each of 64 micro-batches; an eighth is stored."""
    found = pipelined(framework)
    assert sent(found, "all-gather") == pytest.approx(2 * 2 * WEIGHTS * MICRO_BATCHES, rel=0.03)
    assert sent(found, "reduce-scatter") == pytest.approx(4 * WEIGHTS * MICRO_BATCHES, rel=0.03)
    assert state(found, "gradients") == pytest.approx(4 * WEIGHTS / 8, rel=0.03)


@pytest.mark.parametrize("framework", ONCE)
def test_kept_weights_are_gathered_once_and_whole_gradients_reduced_once(framework: str) -> None:
    found = pipelined(framework)
    assert sent(found, "all-gather") == pytest.approx(2 * WEIGHTS, rel=0.03)
    assert sent(found, "reduce-scatter") <= 4 * WEIGHTS * 1.03
    assert state(found, "weights") == pytest.approx((2 + 4 / 8) * WEIGHTS, rel=0.03)
    assert state(found, "gradients") == pytest.approx(4 * WEIGHTS, rel=0.03)


def test_sharded_gradients_of_zero2_are_reduced_after_every_micro_batch() -> None:
    """Megatron-FSDP, optim_grads: weights gathered once, 4 bytes of each gradient reduced 64 times; or once, whole."""
    found, late = (pipelined("megatron-core", sharding="zero2", gradient_sync=at) for at in ("micro-batch", "step"))
    assert sent(found, "all-gather") == pytest.approx(2 * WEIGHTS, rel=0.03)
    assert sent(found, "reduce-scatter") == pytest.approx(4 * WEIGHTS * MICRO_BATCHES, rel=0.03)
    assert state(found, "gradients") == pytest.approx(4 * WEIGHTS / 8, rel=0.03)
    assert sent(late, "reduce-scatter") == pytest.approx(4 * WEIGHTS, rel=0.03)
    assert state(late, "gradients") == pytest.approx(4 * WEIGHTS, rel=0.03)


@pytest.mark.parametrize("framework", [*PER_MICRO_BATCH, *ONCE])
@pytest.mark.parametrize("sharding", ["zero2", "fsdp"])
def test_gradients_are_whole_where_they_are_reduced_once(framework: str, sharding: str) -> None:
    """4 bytes of each gradient on every rank, or a shard of them and a reduction for each of 64 micro-batches."""
    found = pipelined(framework, sharding=sharding)
    calls = sum(row.calls for row in found.communication if row.collective == "reduce-scatter" and row.axis == "dp_cp")
    assert (state(found, "gradients") > 2 * WEIGHTS) == (calls < MICRO_BATCHES)


def test_a_framework_of_ones_own_has_the_least_of_both() -> None:
    """Nothing is known of it: neither whole gradients nor a reduction for every micro-batch is held against it."""
    found = pipelined("custom")
    assert sent(found, "reduce-scatter") <= 4 * WEIGHTS * 1.03
    assert state(found, "gradients") == pytest.approx(4 * WEIGHTS / 8, rel=0.03)


def test_hsdp_gathers_in_its_shard_group_for_every_micro_batch() -> None:
    found = pipelined("megatron-core", sharding="hsdp", shard_group=4)
    rows = {(row.axis, row.collective): row.bytes for row in found.communication}
    assert rows["shard", "all-gather"] == pytest.approx(2 * 2 * WEIGHTS * MICRO_BATCHES, rel=0.03)
    assert rows["replicate", "all-reduce"] == pytest.approx(4 * WEIGHTS / 4, rel=0.03)


def test_stages_wait_for_the_exposed_traffic_of_each_other() -> None:
    """1F1B with two stages: the exposed traffic of one of 64 micro-batches is added to the bubble.

    What the first and the last layer of a step send occurs once and is below a hundredth of it.
    """
    hidden, bare = (pipelined("megatron-core", overlap={"dp": dp}) for dp in (True, False))
    bubble, traffic = (part(bare, name) - part(hidden, name) for name in ("idle_stages", "data_parallel_traffic"))
    assert bubble == pytest.approx(traffic / MICRO_BATCHES, rel=0.03)


def part(found: Plan, name: str) -> float:
    assert found.step_time is not None
    return next(term.value for term in found.step_time.walk() if term.name == name)


def test_frozen_weights_stay_whole_where_a_pipeline_gathers_them_once() -> None:
    """Frozen weights of 2 bytes: whole with torchtitan, an eighth with Megatron-FSDP, which gathers them again."""
    lora = {**GPT, "trainable": {"method": "lora", "rank": 16, "modules": ["attention", "ffn"]}}
    for framework, shards in (("torchtitan", 1), ("megatron-core", 8)):
        found = pipelined(framework, workload=lora)
        assert found.memory is not None
        lines = {part.name: part.value for part in found.memory.weights.parts}
        assert lines["frozen_weights_dense"] == pytest.approx(2 * WEIGHTS / shards, rel=0.03)
