"""Stages, replicas and hops: what waits for what."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from clusterspec.catalog.reader import Status
from clusterspec.catalog.stacks import Stack
from clusterspec.cost.estimate import estimate
from clusterspec.cost.plan import Communication, Plan
from clusterspec.quantity import Figure
from clusterspec.source import Assumed
from tests.cost.plans import MIXTRAL, design, plan, spec

GPT = {"model": "gpt3-175b", "sequence_length": 2048, "global_batch": 512}


def part(found: Plan, name: str) -> float:
    assert found.step_time is not None
    return next((term.value for term in found.step_time.walk() if term.name == name), 0.0)


def rows(found: Plan, axis: str, collective: str = "") -> list[Communication]:
    return [row for row in found.communication if row.axis == axis and collective in ("", row.collective)]


def sent(found: Plan, axis: str, collective: str = "") -> float:
    return sum(row.bytes for row in rows(found, axis, collective))


def gradient_bytes(found: Plan) -> float:
    assert found.memory is not None
    return sum(term.value for term in found.memory.total.walk() if term.name == "gradients_dense")


def test_the_head_makes_the_last_stage_the_slowest() -> None:
    even = plan(workload=GPT, layout={"tp": 1, "pp": 8})
    relieved = plan(workload=GPT, layout={"tp": 1, "pp": 8, "stage_layers": [12, 12, 12, 12, 12, 12, 13, 11]})
    assert even.step_time and relieved.step_time
    assert part(even, "forward") > 0
    wide = {**GPT, "model": {"base": "gpt3-175b", "vocab": 1_000_000}}
    heavy = plan(workload=wide, layout={"tp": 1, "pp": 8})
    lighter = plan(workload=wide, layout={"tp": 1, "pp": 8, "stage_layers": [13, 13, 13, 13, 13, 12, 12, 7]})
    assert heavy.step_time and lighter.step_time
    assert lighter.step_time.value < heavy.step_time.value


def test_a_pipeline_of_equal_stages_idles_p_minus_one_micro_batches() -> None:
    tiny = {**GPT, "model": {"base": "gpt3-175b", "vocab": 128}}
    found = plan(workload=tiny, layout={"tp": 1, "pp": 8, "overlap": {"pp": False}})
    micro_batches = 512 / 4
    assert found.step_time is not None
    work = sum(part(found, name) for name in ("forward", "backward", "recomputation"))
    assert part(found, "pipeline_bubble") == pytest.approx(7 * work / micro_batches, rel=0.02)


@pytest.mark.parametrize(
    ("schedule", "overlap", "hidden"),
    [("interleaved", True, True), ("interleaved", False, False), ("1f1b", True, False), ("1f1b", False, False)],
)
def test_sends_of_stages_are_hidden_by_overlap_in_schedules_with_other_work(
    schedule: str, overlap: bool, hidden: bool
) -> None:
    stages = {"virtual_stages": 2} if schedule == "interleaved" else {}
    found = plan(workload=GPT, layout={"tp": 1, "pp": 8, "schedule": schedule, "overlap": {"pp": overlap}, **stages})
    sends = rows(found, "pp")
    assert {row.tier for row in sends} == {"scale-up", "scale-out"} and all(row.seconds > 0 for row in sends)
    assert [row.exposed for row in sends] == pytest.approx([0.0 if hidden else row.seconds for row in sends])


def test_tensor_parallelism_sends_what_korthikanti_counts() -> None:
    """Four collectives a layer and micro-batch, five of them all-gathers and four reduce-scatters of
    b s h numbers with sequence parallelism, where the inputs are gathered once more on the way back."""
    found = plan(workload=GPT, layout={"tp": 8})
    one = 2 * 2048 * 12288
    count = 96 * 512 / 4
    assert sent(found, "tp", "all-gather") == pytest.approx(6 * one * count)
    assert sent(found, "tp", "reduce-scatter") == pytest.approx(4 * one * count)
    bare = plan(workload=GPT, layout={"tp": 8, "sequence_parallel": False})
    assert sent(bare, "tp", "all-reduce") == pytest.approx(4 * one * count)
    again = plan(workload=GPT, layout={"tp": 8, "sequence_parallel": False, "recompute": "full"})
    assert sent(again, "tp", "all-reduce") == pytest.approx(6 * one * count)


def test_a_ring_of_context_ranks_sends_keys_and_values_on() -> None:
    found = plan(layout={"tp": 1, "cp": 4})
    chunk = 2 * 2 * 8 * 128 * 8192 / 4
    assert sent(found, "cp") == pytest.approx(3 * (1 + 2) * chunk * 32 * 128 / 8)


def test_experts_exchange_every_token_four_times_a_layer() -> None:
    found = plan(workload={"model": MIXTRAL}, layout={"tp": 1, "ep": 8, "expert_tp": 1})
    assert found.design.workload is not None
    calls = sum(row.calls for row in rows(found, "ep"))
    assert calls == 4 * 32 * 128 / 32


def test_data_parallelism_sends_gradients_and_weights_once_a_step() -> None:
    found = plan(layout={"tp": 1})
    weights = found.parameters
    assert weights is not None
    assert sent(found, "dp_cp", "reduce-scatter") == pytest.approx(4 * weights, rel=0.01)
    assert sent(found, "dp_cp", "all-gather") == pytest.approx(2 * weights, rel=0.01)
    bare = plan(layout={"tp": 1, "sharding": "none"})
    assert sent(bare, "dp_cp", "all-reduce") == pytest.approx(4 * weights, rel=0.01)
    thinner = plan(layout={"tp": 1, "gradient_compression": 4})
    assert sent(thinner, "dp_cp", "reduce-scatter") == pytest.approx(weights, rel=0.01)


FSDP = {"framework": "torchtitan", "tp": 1, "sharding": "fsdp"}


def fsdp(**layout: Any) -> Plan:
    return plan(layout={**FSDP, **layout})


def test_fsdp_gathers_twice_a_micro_batch_and_zero2_once() -> None:
    found, kept = fsdp(), fsdp(sharding="zero2")
    weights, micro_batches = found.parameters, 128 / 32
    assert weights is not None
    assert sent(found, "dp_cp", "all-gather") == pytest.approx(2 * 2 * weights * micro_batches, rel=0.15)
    assert sent(found, "dp_cp", "all-gather") > 1.7 * sent(kept, "dp_cp", "all-gather")
    assert sent(found, "dp_cp", "reduce-scatter") == pytest.approx(4 * weights * micro_batches, rel=0.01)


def test_weights_that_stay_whole_are_gathered_once_a_step() -> None:
    """Four micro-batches: stage 2 of DeepSpeed gathers 2 bytes of each weight once, and sums 2 bytes four times."""
    found = fsdp(framework="deepspeed", software_year=2024, sharding="zero2")
    weights = found.parameters
    assert weights is not None
    assert sent(found, "dp_cp", "all-gather") == pytest.approx(2 * weights, rel=0.05)
    assert sent(found, "dp_cp", "all-reduce") == pytest.approx(2 * weights * 4, rel=0.05)


def test_gradients_synchronized_once_a_step_are_sent_once_and_kept_whole() -> None:
    """Four micro-batches: a quarter of the reductions, as many gathers, and gradients of 4 bytes on every rank."""
    each, once = fsdp(), fsdp(gradient_sync="step")
    weights = each.parameters
    assert weights is not None
    assert sent(once, "dp_cp", "reduce-scatter") == pytest.approx(4 * weights, rel=0.01)
    assert sent(once, "dp_cp", "all-gather") == pytest.approx(sent(each, "dp_cp", "all-gather"))
    assert gradient_bytes(once) == pytest.approx(4 * weights)
    assert gradient_bytes(each) == pytest.approx(4 * weights / 32)
    alone = {"global_batch": 32}
    single, same = (plan(workload=alone, layout={**FSDP, "gradient_sync": sync}) for sync in ("step", "micro-batch"))
    assert single.step_time is not None
    assert same.step_time is not None
    assert single.step_time.value == pytest.approx(same.step_time.value)
    assert single.memory == same.memory


def test_hsdp_keeps_the_gathers_inside_the_shard_group() -> None:
    found = fsdp(sharding="hsdp", shard_group=8)
    assert {row.tier for row in rows(found, "shard")} == {"scale-up"}
    assert [row.collective for row in rows(found, "replicate")] == ["all-reduce"]
    assert found.parameters is not None
    assert sent(found, "replicate") == pytest.approx(4 * found.parameters / 8, rel=0.01)


def test_only_traffic_without_overlap_is_exposed() -> None:
    hidden, bare = fsdp(), fsdp(overlap={"dp": False})
    assert sum(row.exposed for row in rows(hidden, "dp_cp")) < 0.5 * sum(row.exposed for row in rows(bare, "dp_cp"))
    for row in rows(bare, "dp_cp"):
        assert row.exposed == pytest.approx(row.seconds)


def with_stack(**figures: float) -> Plan:
    whole = design(spec(layout={"tp": 8}))
    assert whole.layout and whole.layout.stack
    given = {key.replace("__", "."): Figure(value, "1", Assumed(key, "a test")) for key, value in figures.items()}
    stack = replace(whole.layout.stack, achievable={**whole.layout.stack.achievable, **given})
    return estimate(replace(whole, layout=replace(whole.layout, stack=stack)))


def test_a_slow_host_bounds_the_step_from_below() -> None:
    quick, slow = with_stack(launch__interval=1e-9), with_stack(launch__interval=200e-6)
    assert part(quick, "forward_launching") == 0
    assert part(slow, "forward_launching") > 0
    assert quick.step_time and slow.step_time
    assert quick.step_time.value < slow.step_time.value


def test_jitter_grows_with_the_nodes_that_wait_for_each_other() -> None:
    def late(nodes: int) -> float:
        found = plan({"nodes": nodes}, workload={"global_batch": 32 * nodes})
        assert found.step_time is not None
        return part(found, "stragglers") / found.step_time.value

    assert late(1) == 0
    assert 0 < late(2) < late(64) < late(4096) < 0.1


def test_a_stack_without_a_catalog_gives_no_time() -> None:
    whole = design(spec())
    assert whole.layout is not None
    assert estimate(replace(whole, layout=replace(whole.layout, stack=None))).step_time is None
    bare = Stack("x", "x", "", Status("shipping", ""), (), selective="core-attention")
    assert estimate(replace(whole, layout=replace(whole.layout, stack=bare))).step_time is not None


def test_states_in_host_memory_take_the_host_bus_and_its_memory() -> None:
    def update(share: float) -> float:
        return part(plan({"nodes": 1}, layout={"tp": 1, "offload": {"optimizer": share}}), "optimizer")

    none, half, all_of_it = update(0), update(0.5), update(1)
    assert none < half < all_of_it
    assert half == pytest.approx((none + all_of_it) / 2)


def test_experts_on_few_nodes_spare_the_fabric() -> None:
    cut = {"tp": 1, "ep": 64, "dispatcher": "deepep"}
    limited = {"model": {"base": "deepseek-v3", "routing": {"max_nodes": 4}}}
    free = {"model": {"base": "deepseek-v3", "routing": {"max_nodes": 64}}}
    few, many = (sent(plan({"nodes": 32}, workload=model, layout=cut), "ep") for model in (limited, free))
    assert few == pytest.approx(many * 4 / (8 * (1 - (7 / 8) ** 8)))
