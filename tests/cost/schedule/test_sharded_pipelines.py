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


def pipelined(framework: str | None, workload: dict[str, Any] = GPT, **layout: Any) -> Plan:
    written: dict[str, Any] = {
        "framework": framework,
        "tp": 8,
        "pp": 2,
        "sharding": "fsdp",
        "recompute": "full",
        "micro_batch": 1,
    }
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


@pytest.mark.parametrize("framework", ["custom", None])
@pytest.mark.parametrize("sharding", ["zero2", "fsdp"])
def test_an_unknown_framework_reduces_once_and_its_range_of_memory_reaches_whole_gradients(
    framework: str | None, sharding: str
) -> None:
    """Neither whole gradients of 4 bytes nor a reduction for each of 64 micro-batches is held against it; the high end
    is as with 7/8 of the gradients more. A stated reduction for each micro-batch is counted.
    """
    open_ = pipelined(framework, sharding=sharding)
    stated = pipelined(framework, sharding=sharding, gradient_sync="micro-batch")
    assert sent(open_, "reduce-scatter") <= 4 * WEIGHTS * 1.03
    assert sent(stated, "reduce-scatter") == pytest.approx(4 * WEIGHTS * MICRO_BATCHES, rel=0.03)
    for found in (open_, stated):
        assert state(found, "gradients") == pytest.approx(4 * WEIGHTS / 8, rel=0.03)
    assert high(open_) - high(stated) > 0.6 * 4 * WEIGHTS * 7 / 8
    assert high(open_) - high(stated) < 1.6 * 4 * WEIGHTS * 7 / 8


def high(found: Plan) -> float:
    """The high end of memory in bytes."""
    assert found.memory is not None and found.memory.total.high is not None
    return found.memory.total.high


@pytest.mark.parametrize(
    ("keys", "assumed"),
    [
        ({}, True),
        ({"framework": "custom"}, True),
        ({"framework": "megatron-core"}, False),
        ({"framework": "torchtitan"}, False),
        ({"gradient_sync": "micro-batch"}, False),
        ({"gradient_sync": "step"}, False),
        ({"sharding": "zero1"}, False),
        ({"pp": 1}, False),
    ],
    ids=str,
)
def test_whole_gradients_of_an_unknown_framework_are_a_listed_assumption(keys: dict[str, Any], assumed: bool) -> None:
    found = pipelined(keys.get("framework"), **{key: value for key, value in keys.items() if key != "framework"})
    assert (("layout.gradient_sync", "step") in {each[:2] for each in found.design.assumptions}) is assumed


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
