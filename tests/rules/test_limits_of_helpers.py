"""What rules share, at its limits: records of designs with other figures."""

from __future__ import annotations

from math import inf
from typing import Any

import pytest

from clusterspec.catalog.models import TokenPrediction
from clusterspec.cluster.fabric import Fabric, fabric_of_cluster
from clusterspec.cost.plan import Plan
from clusterspec.cost.term import MemoryUse, Term
from clusterspec.finding import Confidence, Problem, Severity
from clusterspec.quantity import Figure, Quantity
from clusterspec.records import replace
from clusterspec.rules.advice.proposals import near_multiples
from clusterspec.rules.advice.remedies import may_fit
from clusterspec.rules.configured import MOST, bounded_problems
from clusterspec.rules.document.bound_off_keys import _problems_of_job
from clusterspec.rules.fabric import endpoints_exceed_fabric, switch_of_another_technology
from clusterspec.rules.fleet.service_takes_turns import _promises_a_tail
from clusterspec.rules.knowledge.deviations import Deviations
from clusterspec.rules.knowledge.fabric_parts import FabricCount
from clusterspec.rules.knowledge.served import Served, is_twice, prompts_processed
from clusterspec.rules.layout.stage_layers_mismatch import _place_of_empty_stage
from clusterspec.rules.physical import power_cap_off_part
from clusterspec.rules.pipeline.fewer_microbatches_than_stages import _dualpipe_problem
from clusterspec.rules.serving.chunks_exceed_token_target import _share_of_steps
from clusterspec.rules.serving.weights_leave_no_cache import _fewer_sequences_advice
from clusterspec.source import Computed
from clusterspec.spec.model import PowerSpec
from clusterspec.studies import study_text
from tests.designs import (
    APART,
    SERVED,
    TRAINED,
    changed,
    layout_of,
    machine_of,
    plan_of,
    study_of,
    times_of,
    work_of,
)
from tests.effort import each
from tests.settings import SETTINGS


def plan_with_memory(low: float | None, total: float, capacity: float | None) -> Plan:
    """A plan with a range of memory from ``low``, and parts that add up to ``total``."""
    nothing = Term("gradients", 0.0, "B", "0")
    used = Term("memory", total, "B", "weights", low=low, high=None if low is None else 2 * total)
    held = None if capacity is None else Figure(capacity, "B", Computed("of the accelerator"))
    made = Plan(study_of(TRAINED).design)
    vars(made)["memory"] = MemoryUse(used, used, nothing, nothing, nothing, nothing, held)  # instead of its first use
    return made


@pytest.mark.parametrize(
    ("low", "total", "capacity", "fits"),
    [
        (80.0, 90.0, 80.0, True),
        (80.1, 90.0, 80.0, False),
        (None, 80.0, 80.0, True),
        (None, 80.1, 80.0, False),
        (1.0, 2.0, None, False),
    ],
)
def test_a_plan_may_fit_up_to_its_capacity(low: float | None, total: float, capacity: float | None, fits: bool) -> None:
    assert may_fit(plan_with_memory(low, total, capacity)) is fits
    assert not may_fit(None)
    assert not may_fit(Plan(study_of(TRAINED).design))


LOADED = """
clusterspec: 1
cluster: {{platform: dgx-h100, nodes: 2}}
workload: {{kind: serve, model: llama-3.1-8b, serving: {{input_tokens: 512, output_tokens: 128, {load}}}}}
layout: {{framework: vllm, tp: 1}}
"""


@pytest.mark.parametrize(
    ("load", "tail"),
    [
        ("request_rate: 4", True),
        ("request_rate: 4, targets: {ttft: 2 s}", True),
        ("concurrency: 16, targets: {ttft: 2 s}", False),
        ("concurrency: 16, targets: {ttft: 2 s, percentile: 50}", False),
        ("concurrency: 16, targets: {ttft: 2 s, percentile: 51}", True),
        ("concurrency: 16, targets: {ttft: {p50: 1 s}}", False),
        ("concurrency: 16, targets: {tpot: {p50: 1 s, p99: 2 s}}", True),
    ],
)
def test_a_tail_is_promised_by_a_percentile_above_the_median(load: str, tail: bool) -> None:
    assert _promises_a_tail(study_text(LOADED.format(load=load), SETTINGS).design.spec.workload) is tail


def test_work_that_serves_nothing_promises_no_tail() -> None:
    for workload in (None, study_of(TRAINED).design.spec.workload):
        assert not _promises_a_tail(workload)


FABRIC = "cluster: {platform: dgx-h100, nodes: 64, scale_out: {switch: quantum-2-qm9700}}"


def exceeding(endpoints: int, capacity: int, rails: int, topology: str = "fat-tree", **written: Any) -> list[Problem]:
    """The problems with a fabric of switches of 64 ports that does not fit."""
    design, cluster = study_of(FABRIC).design, machine_of(FABRIC)
    fabric = fabric_of_cluster(cluster, None)
    assert isinstance(fabric, Fabric) and (fabric.planes, fabric.tiers, fabric.switch_ports) == (1, 2, 64)
    counts = FabricCount(replace(fabric, fits=False, capacity=capacity, endpoints=endpoints), True, "error")
    assert cluster.scale_out is not None
    out = replace(cluster.scale_out, **{"tiers": None, "topology": topology, "rails": rails} | written)
    return list(endpoints_exceed_fabric.check(counts, design, out, {}, SETTINGS.catalog))


@pytest.mark.parametrize(
    ("endpoints", "rails", "by_rail"), [(2048, 8, True), (2049, 8, False), (2048, 1, False), (100, 2, True)]
)
def test_a_rail_that_exceeds_its_tree_is_told_where_all_endpoints_would_fit(
    endpoints: int, rails: int, by_rail: bool
) -> None:
    (problem,) = exceeding(endpoints, 2048, rails)
    assert ("(every rail by itself)" in problem.message) is by_rail


@pytest.mark.parametrize(
    ("topology", "tiers", "path"),
    [
        ("single-switch", None, ("cluster", "scale_out", "topology")),
        ("rail-only", None, ("cluster", "scale_out", "topology")),
        ("fat-tree", None, ("cluster", "nodes")),
        ("fat-tree", 2, ("cluster", "scale_out", "tiers")),
    ],
)
def test_a_fabric_that_is_too_small_is_reported_at_its_key(topology: str, tiers: int | None, path: Any) -> None:
    (problem,) = exceeding(4096, 2048, 8, topology, tiers=tiers)
    assert problem.path == path


@pytest.mark.parametrize(
    ("stages", "many", "least", "batch"), [(4, 6, 8, 48), (4, 9, 8, 60), (2, 1, 4, 24), (8, 17, 16, 108)]
)
def test_dualpipe_wants_an_even_number_of_two_micro_batches_for_each_stage(
    stages: int, many: int, least: int, batch: int
) -> None:
    """With dp 2 and three sequences in a micro-batch, a batch has six sequences for each: 9 become 10 of them, 60."""
    layout = replace(layout_of(TRAINED), pp=stages, dp=2, micro_batch=3)
    found = _dualpipe_problem(layout, many)
    assert f"at least {least} micro-batches for {stages} stages" in found.message and f"has {many}" in found.message
    assert f"at least {batch}" in found.help or f"of {batch}," in found.help


@pytest.mark.parametrize(
    ("sequences", "gained", "output", "chunks", "share"),
    [
        (50, 1.0, 500, 2.0, 0.2),  # 50 requests of 500 steps: one ends in ten steps, and the next takes two chunks
        (50, 2.0, 500, 2.0, 0.4),  # drafts halve the steps of a request
        (250, 1.0, 500, 2.0, 1.0),
        (5000, 1.0, 500, 2.0, 1.0),  # no more than every step
    ],
)
def test_as_many_steps_carry_a_chunk_as_prompts_follow_requests_that_end(
    sequences: int, gained: float, output: int, chunks: float, share: float
) -> None:
    state = {"state.sequences": sequences, "state.tokens_per_step": gained, "state.prefill.steps": chunks}
    times = changed(times_of(SERVED), state | {"output_tokens": output})
    assert _share_of_steps(times) == pytest.approx(share)


ETHERNET = "cluster: {platform: hgx-h100, nodes: 8, scale_out: {technology: roce-v2, switch: arista-7060dx5-64s}}"


@pytest.mark.parametrize(
    ("port", "planes", "slower"), [(49.5e9, 1, False), (49.4e9, 1, True), (24.75e9, 2, False), (24.7e9, 2, True)]
)
def test_ports_are_slower_than_nics_from_a_hundredth_on(port: float, planes: int, slower: bool) -> None:
    """A NIC of 50 GB/s, whole or in two planes; a hundredth is rounding."""
    out = machine_of(ETHERNET).scale_out
    assert out is not None and out.switch is not None
    changes = {"switch.port_bandwidth.value": port, "nic_bandwidth.value": 50e9, "planes": planes}
    found = list(switch_of_another_technology.check(Deviations(()), changed(out, changes)))
    assert len(found) == slower and all("slower than the NICs" in one.message for one in found)


@pytest.mark.parametrize("beyond", [0, 1, 3])
def test_of_many_problems_of_a_rule_a_hundred_are_reported_and_the_last_counts_the_rest(beyond: int) -> None:
    def problem(rule: str, number: int) -> Problem:
        return Problem(rule, ("nodes", number), f"{rule} {number}", "", Severity.ERROR, Confidence.CERTAIN)

    others = [problem("b", number) for number in range(2)]
    given = [others[0], *(problem("a", number) for number in range(MOST + beyond)), others[1]]
    found = bounded_problems(given)
    assert len(found) == 102 and [one for one in found if one.rule == "b"] == others
    kept = [one for one in found if one.rule == "a"]
    assert kept[:-1] == given[1:100] and kept[-1].path == ("nodes", 99)
    rest = f"; {beyond} more of this rule in this file are counted, not printed" if beyond else ""
    assert kept[-1].message == f"a 99{rest}"


def test_the_multiples_near_a_number_are_others_above_zero() -> None:
    assert [near_multiples(number, 32) for number in (5, 32, 33, 63, 64)] == [[32], [64], [32, 64], [32, 64], [96]]


@pytest.mark.parametrize(
    ("stages", "prediction", "empty"),
    [
        ([4, 4, 4, 4], 0, None),
        ([4, 0, 4, 4], 0, 1),
        ([4, 4, 0, 4], 0, 2),
        ([0, 4, 4, 0], 0, None),  # the embedding and the loss
        ([4, 0, 4, 0], 1, 1),
        ([4, 4, 0, 0], 1, None),  # layers of token prediction before the loss
        ([4, 0, 0, 4], 1, 1),
        ([4, 0, 0, 4], 0, 1),
        ([0, 0], 0, None),
    ],
)
def test_a_stage_without_layers_is_empty_unless_something_else_is_on_it(
    stages: list[int], prediction: int, empty: int | None
) -> None:
    layers = TokenPrediction(prediction, "dense") if prediction else None
    model = replace(work_of(TRAINED).model, prediction=layers)
    assert _place_of_empty_stage(stages, model) == empty


@pytest.mark.parametrize(
    ("line", "serves", "advice"),
    [
        ("sampling", True, "state fewer `max_sequences` (2 GB are kept free to sample 1,024 sequences), "),
        ("framework", True, ""),
        ("sampling", False, ""),
    ],
)
def test_memory_that_is_kept_free_for_sampling_is_less_with_fewer_sequences(
    line: str, serves: bool, advice: str
) -> None:
    stored = plan_of(SERVED).stored
    assert stored is not None and stored.rank.reserved[-1].name == "sampling"
    reserved = (changed(stored.rank.reserved[-1], {"name": line, "value": 2e9}),)
    stored = changed(stored, {"rank.reserved": reserved, "job.workload": work_of(SERVED if serves else TRAINED)})
    assert _fewer_sequences_advice(stored) == advice


@each(
    ("one", "other", "twice"),
    [(2.0, 1.0, False), (2.04, 1.0, False), (2.06, 1.0, True), (3.0, 1.0, True), (1.0, 2.0, False)],
)
def test_a_rate_is_more_than_twice_another_at_the_rounding_of_messages(one: float, other: float, twice: bool) -> None:
    assert is_twice(one, other) is twice


@each(
    ("replicas", "ranks", "service", "prompts"),
    [(2, 4, 0.5, 16.0), (1, 1, 0.25, 4.0), (2, 4, 0.0, inf), (None, 1, 0.5, inf)],
)
def test_prefill_engines_process_a_prompt_at_a_time_on_each_rank(
    replicas: int | None, ranks: int, service: float, prompts: float
) -> None:
    plan = changed(plan_of(APART), {"serving.prompt_service": service})
    engines = {"prefill.replicas": replicas, "prefill.attention_dp": ranks} if replicas else {"prefill": None}
    served = Served.from_plan(plan, lambda _: None)
    assert served is not None
    assert prompts_processed(changed(served, {"load": changed(served.load, engines)})) == prompts


@each(
    ("vendor", "power", "lowest"),
    [
        ("NVIDIA", 1000.0, 200.0),
        ("NVIDIA", 700.0, 200.0),
        ("NVIDIA", 699.0, 100.0),
        ("NVIDIA", 250.0, 100.0),
        ("NVIDIA", 249.0, 0.15 * 249),
        ("AMD", 1000.0, 150.0),
    ],
)
def test_a_driver_accepts_no_limit_below_that_of_its_parts(vendor: str, power: float, lowest: float) -> None:
    part = replace(machine_of(TRAINED).accelerator, vendor=vendor)
    assert power_cap_off_part._lowest_limit(part, power) == pytest.approx(lowest)


def watts(value: float) -> Quantity:
    return Quantity(value, "W", f"{value:g} W")


@each(
    ("limits", "needed"),
    [
        ({}, False),
        # two nodes of 10.2 kW with 8 × 100 W more are 22 kW
        ({"budget": watts(22_000)}, False),
        ({"budget": watts(21_999)}, True),
        ({"rack_limit": watts(44_000), "nodes_per_rack": 4}, False),
        ({"rack_limit": watts(43_999), "nodes_per_rack": 4}, True),
        ({"rack_limit": watts(1_000)}, False),  # of an unknown number of nodes
    ],
)
def test_a_power_cap_is_needed_where_the_machine_or_a_rack_exceeds_its_limit(
    limits: dict[str, Any], needed: bool
) -> None:
    cluster = machine_of(TRAINED)
    assert cluster.node_power is not None and cluster.node_power.value == 10_200 and cluster.all_nodes == 2
    assert power_cap_off_part._is_needed(PowerSpec(**limits), cluster, 100.0) is needed
    assert not power_cap_off_part._is_needed(PowerSpec(**limits), replace(cluster, node_power=None), 100.0)


def test_a_job_without_samples_sends_no_weights() -> None:
    counts = FabricCount(None, False, "warning")
    for text in (TRAINED, "cluster: {platform: dgx-h100, nodes: 2}"):
        facts = study_of(text).facts()
        assert facts.planned is not None or text != TRAINED
        for planned in (facts.planned, None):
            assert list(_problems_of_job("The link may take 10 s.", facts.spec, planned, counts)) == []
