"""Small tables of the analysis, worked by hand: pipelines, caches of a plan, sizes of machines, metrics and jobs."""

from __future__ import annotations

from functools import cache
from math import inf
from typing import Any

import pytest

from clusterspec.analysis.diagnosis.collectives import MOST_LINES, read_log
from clusterspec.analysis.levers.conditions import METRICS, parse
from clusterspec.analysis.levers.influence import _time_change
from clusterspec.analysis.levers.survival import _models_near_in_size
from clusterspec.analysis.purchase.serving_choices import holds_load, load_tokens, nodes_of_plan, tokens_within_targets
from clusterspec.analysis.schedule import Chunk, _stage_order, _timed_operations
from clusterspec.analysis.searches.candidates import nodes_of_domain_of_platform
from clusterspec.analysis.searches.studied import _is_comparable_bill
from clusterspec.analysis.simulation.caches import replay_of
from clusterspec.analysis.simulation.plans import Simulation
from clusterspec.analysis.simulation.ranks import Limits
from clusterspec.cluster.fabric import Fabric, fabric_of_cluster
from clusterspec.cluster.requests import CacheTier, Engines
from clusterspec.cost.interruptions import plan_interruptions
from clusterspec.cost.parameters import model_weights
from clusterspec.cost.plan import Plan
from clusterspec.cost.serving.caches import TierUse
from clusterspec.cost.step import ReplicaSeconds, StageTime, StepInputs, StepTimes
from clusterspec.cost.storage import storage_use
from clusterspec.exchange.import_result import FormatError
from clusterspec.logs.traces import Arrival
from clusterspec.procurement.bill import Bill
from clusterspec.procurement.items import Item
from clusterspec.records import replace
from clusterspec.studies import Study, study_text
from tests.analysis.jobs import design_of
from tests.analysis.test_serving_rows import dense
from tests.analysis.test_serving_search import DENSE, study
from tests.analysis.test_timetables import tables, timing
from tests.designs import SERVED, TRAINED, changed, machine_of, plan_of
from tests.effort import each
from tests.settings import SETTINGS


def order(name: str, stage: int, size: tuple[int, int, int]) -> str:
    """The operations of a stage: a letter for the direction, the micro-batch, and the chunk where there are several."""
    chunks = size[1] > 1
    return " ".join(
        f"{'B' if one.backward else 'F'}{one.micro_batch}{'abc'[one.chunk] if chunks else ''}"
        for one in _stage_order(name, stage, size)
    )


@each(
    ("name", "stage", "size", "wanted"),
    [
        ("gpipe", 0, (2, 1, 3), "F0 F1 F2 B0 B1 B2"),
        ("gpipe", 1, (2, 1, 3), "F0 F1 F2 B0 B1 B2"),
        ("1f1b", 0, (3, 1, 4), "F0 F1 F2 B0 F3 B1 B2 B3"),
        ("1f1b", 1, (3, 1, 4), "F0 F1 B0 F2 B1 F3 B2 B3"),
        ("1f1b", 2, (3, 1, 4), "F0 B0 F1 B1 F2 B2 F3 B3"),
        ("1f1b", 0, (4, 1, 2), "F0 F1 B0 B1"),  # fewer micro-batches than the warm-up has
        # Narayanan et al., figure 4: groups of as many micro-batches as stages, through the chunks in turn
        ("interleaved", 1, (2, 2, 2), "F0a F1a F0b B0b F1b B1b B0a B1a"),
        ("interleaved", 0, (2, 2, 2), "F0a F1a F0b F1b B0b B1b B0a B1a"),
        ("interleaved", 1, (2, 2, 3), "F0a F1a F0b B0b F1b B1b F2a B0a F2b B1a B2b B2a"),
    ],
)
def test_a_stage_warms_up_alternates_and_drains(name: str, stage: int, size: tuple[int, int, int], wanted: str) -> None:
    assert order(name, stage, size) == wanted


def test_operations_start_when_their_stage_is_free_and_their_inputs_are_there() -> None:
    """Three stages: the last takes 1 s forward and 2 s backward, the others half of that, as every is twice a stage."""
    bare = ReplicaSeconds(*[0.0] * len(ReplicaSeconds._fields))
    inputs = StepInputs(StageTime(1.0, 1.5, 0.5), 6.0, 3.0, 1.0, 2.0, 1.0, 0.0, bare, 0.0, 1.0)
    orders = [_stage_order("gpipe", stage, (3, 1, 2)) for stage in range(3)]
    operations = _timed_operations(orders, inputs, 0.0)
    found = {(one.stage, one.backward, one.micro_batch): (one.start, one.end) for one in operations}
    assert found == {
        (0, False, 0): (0.0, 0.5), (0, False, 1): (0.5, 1.0), (1, False, 0): (0.5, 1.0), (1, False, 1): (1.0, 1.5),
        (2, False, 0): (1.0, 2.0), (2, False, 1): (2.0, 3.0), (2, True, 0): (3.0, 5.0), (2, True, 1): (5.0, 7.0),
        (1, True, 0): (5.0, 6.0), (1, True, 1): (7.0, 8.0), (0, True, 0): (6.0, 7.0), (0, True, 1): (8.0, 9.0),
    }  # fmt: skip
    # a quarter of a second of each send is waited for; two chunks of a stage take half of it each
    slow = {(one.stage, one.backward): one.end for one in _timed_operations([o[:1] for o in orders], inputs, 0.25)}
    assert slow == {(0, False): 0.75, (1, False): 1.5, (2, False): 2.75}
    halves = list(_timed_operations([[Chunk(False, 0, 0)]] * 3, inputs._replace(virtual_stages=2.0), 0.0))
    assert [one.end for one in halves] == [0.25, 0.5, 1.0]


def test_a_request_joins_an_engine_at_the_end_of_an_interval_of_steps() -> None:
    """An answer takes a step a second from 10 s on. A request at 13.5 s is received after the sixth step, at 16 s."""
    for interval, first, ended in ((1, 20.0, [26.0, 22.0]), (3, 22.0, [26.0, 24.0])):
        most = Limits(99.0, 1e6, None, whole=False, hit=0.0, interval=interval)
        run = Simulation(timing(most=most), [Arrival(0.0, 10, 11), Arrival(13.5, 5, 2)])
        run.run()
        assert [one.first for one in run.requests] == [10.0, first], interval
        assert [one.ended for one in run.requests] == ended, interval


@each(
    ("floor", "ahead", "times"),
    [
        (0.0, False, [(10.0, 20.0), (16.0, 20.0)]),
        # the step from 10 s is formed before B comes, so that A decodes alone for a second
        (0.0, True, [(10.0, 19.0), (17.0, 20.0)]),
        # the launch of a prompt takes 12 s, and that of the next step begins where it ends
        (12.0, True, [(12.0, 28.0), (24.0, 28.0)]),
    ],
)
def test_an_engine_that_forms_steps_ahead_misses_what_comes_meanwhile(
    floor: float, ahead: bool, times: list[tuple[float, float]]
) -> None:
    """A prompt of 10 tokens for 4 from 0 s, and one of 5 for 3 that comes at 5 s; a second a token."""
    steps = replace(tables(), floors=((inf, floor),))
    most = Limits(99.0, 1e6, None, whole=False, hit=0.0, ahead=ahead)
    run = Simulation(timing(steps, most), [Arrival(0.0, 10, 4), Arrival(5.0, 5, 3)])
    run.run()
    assert [(one.first, one.ended) for one in run.requests] == times


def use(tier: CacheTier | None, units: float, tokens: float) -> TierUse:
    numbers = dict.fromkeys(TierUse._fields[4:12], 0.0)
    return TierUse("host", "node", units, tokens, **numbers, token_bytes=2.0, tier=tier)


def test_the_replay_of_a_plan_has_the_caches_of_its_tiers_and_reads_them_at_their_rate() -> None:
    """2 bytes a token at 10 B/s; four attention ranks share two caches. What accelerators hold needs no read."""
    host = CacheTier("host", 100.0, 10.0, 5.0, "node", None)
    uses = [use(None, 4.0, 70.0), use(host, 1.6, 50.0)]
    found = replay_of(uses, 4, 30.0)
    assert found.engines == 4 and len(found.given) == 4
    assert [len(tier.caches) for tier in found.tiers] == [4, 2]
    assert [tier.caches[0].capacity for tier in found.tiers] == [30.0, 50.0]
    assert [tier.seconds for tier in found.tiers] == [0.0, 0.2]
    assert found.read_seconds([5, 0], 0, None) == 0.0
    assert found.read_seconds([5, 10], 3, None) == pytest.approx(2.0)
    found = replay_of(uses, 4, 30.0)
    # at 1 s the second cache is busy to 3 s with the read of rank 3, which rank 2 shares; the first is free
    assert found.read_seconds([0, 10], 3, 1.0) == pytest.approx(2.0)
    assert found.read_seconds([0, 5], 2, 2.0) == pytest.approx(2.0)
    assert found.read_seconds([0, 5], 1, 2.0) == pytest.approx(1.0)
    least = replay_of([use(host, 0.2, 50.0)], 0, 30.0)
    assert least.engines == 1 and len(least.tiers[0].caches) == 1


def test_plans_take_whole_nodes_and_whole_domains_up_to_those_of_the_machine() -> None:
    job = dense()
    for prefill, decode, nodes in (
        (None, Engines(replicas=1, tp=8), 1),
        (None, Engines(replicas=9), 2),
        (Engines(replicas=1, tp=4), Engines(replicas=1, tp=4), 1),
        (Engines(replicas=1, tp=8), Engines(replicas=1), 2),
        (None, Engines(replicas=4, tp=8), 2),
    ):
        assert nodes_of_plan(job, (prefill, decode)) == nodes
    wide = replace(job, cluster=replace(job.cluster, nodes=8, scale_up=replace(job.cluster.scale_up, domain=32)))
    assert nodes_of_plan(wide, (None, Engines(replicas=1, tp=8))) == 4
    assert nodes_of_plan(wide, (None, Engines(replicas=33))) == 8


@cache
def served(rate: float | None, targets: bool) -> Plan:
    limits = {"ttft": "1 s", "tpot": "40 ms"} if targets else None
    load = {"concurrency": None, "request_rate": rate} if rate is not None else {}
    return study(DENSE, **load, targets=limits).plan


def test_the_work_of_a_machine_is_at_its_targets_or_at_its_share_of_the_load() -> None:
    plan = served(None, False)
    assert plan.serving is not None
    assert tokens_within_targets(plan) == plan.serving.output_tokens_per_second
    half = study(DENSE, concurrency=32, targets=None).plan.serving
    assert half is not None and tokens_within_targets(plan, 0.5) == pytest.approx(half.output_tokens_per_second)
    targeted = served(None, True)
    assert targeted.serving is not None and targeted.serving.most_in_flight
    most = study(DENSE, concurrency=targeted.serving.most_in_flight).plan.serving
    assert most is not None
    assert tokens_within_targets(targeted) == pytest.approx(most.output_tokens_per_second)
    assert tokens_within_targets(targeted, 0.5) == tokens_within_targets(targeted)


def test_a_load_is_held_where_the_rate_is_kept_up_with() -> None:
    """500 tokens of each of two requests a second are 1,000 a second; full engines end as many requests as come."""
    slow, fast = served(2.0, False), served(500.0, False)
    assert slow.serving is not None and fast.serving is not None
    assert (load_tokens(slow.design), load_tokens(served(None, False).design)) == (1000.0, None)
    assert holds_load(slow) and not holds_load(fast)
    for capacity, held in ((2.0, True), (1.9999, False)):
        times = replace(slow.serving, state=slow.serving.state._replace(capacity=capacity))
        assert holds_load(replace(slow, serving=times)) == held
    assert not holds_load(replace(slow, serving=None))


TRAINS = """
cluster: {platform: dgx-h100, nodes: 4, networks: {storage: {bandwidth: 10 GB/s, read: 20 GB/s}}}
workload: {model: llama-3.1-8b, sequence_length: 8192, global_batch: 64, tokens: 1T}
layout: {framework: megatron-core, tp: 2}
operations: {checkpoint_interval: 1 h}
"""


@cache
def trained() -> Study:
    return study_text(f"clusterspec: 1{TRAINS}", SETTINGS)


def test_metrics_of_storage_and_power_are_the_figures_of_the_estimate() -> None:
    plan = trained().plan
    kept, use = plan_interruptions(plan), storage_use(plan)
    assert kept is not None and use is not None and use.restore is not None
    assert parse("goodput>=0.5").value(plan) == kept.share
    stall = parse("stall<=1").value(plan)
    reads = use.data.stall if use.data is not None else 0.0
    assert stall and stall == pytest.approx(kept.checkpoint.value / 3600 + reads)
    assert parse("restore<=1 h").value(plan) == use.restore.seconds.value
    assert parse("loading<=1 h").value(plan) is None
    power = parse("power<=1 MW").value(plan), parse("power_peak<=1 MW").value(plan)
    assert power[0] is not None and power[1] is not None and 4 * 3000 < power[0] < power[1]
    # DGX H100: 10.2 kW a node at most (NVIDIA's data sheet); the network adds less than a tenth
    assert 4 * 10_200 <= power[1] < 1.1 * 4 * 10_200 and parse("fleet_power<=1 MW").value(plan) == power[1]


def test_metrics_that_a_plan_lacks_are_unknown() -> None:
    bare = study_text("clusterspec: 1\ncluster: {platform: dgx-h100, nodes: 2}\n", SETTINGS).plan
    known = {name for name, (_, value) in METRICS.items() if value(bare) is not None}
    assert known == {"power_peak", "fleet_power"}


def test_the_models_of_a_grid_are_the_own_and_the_two_nearest_in_size() -> None:
    """7.6 billion parameters are nearest to 8 and 70 billion, 123 to 70 and 405; a model of the list has the others."""
    cases = {
        "qwen2.5-7b": ("qwen2.5-7b", "llama-3.1-8b", "llama-3.1-70b"),
        "llama-3.1-405b": ("llama-3.1-8b", "llama-3.1-70b", "llama-3.1-405b"),
        "mistral-large-2": ("llama-3.1-70b", "mistral-large-2", "llama-3.1-405b"),
    }
    for own, names in cases.items():
        design = design_of(TRAINS.replace("llama-3.1-8b", own))
        found = _models_near_in_size(design)
        assert tuple(name for name, _ in found) == names
        assert design.catalog is not None
        assert [size for _, size in found] == [model_weights(design.catalog.model(name)).total for name in names]


def test_nodes_that_are_bought_together_are_those_of_a_domain_or_of_a_rack() -> None:
    for platform, nodes, together in (("dgx-h100", 4, 1), ("gb200-nvl72", 18, 18)):
        design = design_of(f"cluster: {{platform: {platform}, nodes: {nodes}}}")
        assert design.cluster is not None
        assert nodes_of_domain_of_platform(design, design.cluster.platform) == together
        assert nodes_of_domain_of_platform(replace(design, cluster=None), design.cluster.platform) == 1


def test_a_log_has_at_most_a_million_lines() -> None:
    with pytest.raises(FormatError, match="more than 1,000,000 lines"):
        read_log("log", b"\n" * (MOST_LINES + 1))
    with pytest.raises(FormatError) as why:
        read_log("log", b"\n" * MOST_LINES)
    assert "lines, the maximum" not in str(why.value)


def plan_with(step: float | None = None, tpot: float | None = None, fits: bool = True) -> Plan:
    """A plan that trains or serves in these seconds, in more memory than it needs or in one byte."""
    text = SERVED if tpot else TRAINED
    times: dict[str, Any] = {"serving.tpot": tpot} if tpot else {"step": None}
    if step:
        times = {"step.times": StepTimes(step, *[0.0] * (len(StepTimes._fields) - 1))}
    made = changed(plan_of(text), times if fits else times | {"stored.capacity.value": 1.0})
    assert made.fits is fits
    return made


@pytest.mark.parametrize(
    ("plan", "other", "change"),
    [
        ({"step": 2.0}, {"step": 3.0}, 0.5),
        ({"step": 2.0}, {"step": 3.0, "fits": False}, 0.5),  # the time of a step needs no memory
        ({"step": 2.0}, {}, 0.0),
        ({"tpot": 0.02}, {"tpot": 0.015}, -0.25),
        ({"tpot": 0.02}, {"tpot": 0.015, "fits": False}, 0.0),
        ({"tpot": 0.02, "fits": False}, {"tpot": 0.015, "fits": False}, -0.25),
        ({"tpot": 0.02}, {}, 0.0),
    ],
)
def test_an_assumption_changes_the_step_or_the_time_per_output_token(
    plan: dict[str, Any], other: dict[str, Any], change: float
) -> None:
    assert _time_change(plan_with(**plan), plan_with(**other)) == pytest.approx(change)


def bill_of(*unpriced: str, fabric: bool) -> Bill:
    """A bill with these parts without a price."""
    counted = fabric_of_cluster(machine_of(TRAINED), None)
    assert isinstance(counted, Fabric)
    return Bill(tuple(Item(kind, "part", 8, "counted") for kind in unpriced), counted if fabric else None)


@pytest.mark.parametrize(
    ("mine", "other", "nodes", "comparable"),
    [
        (bill_of(fabric=True), bill_of(fabric=True), 4, True),
        (bill_of(fabric=True), bill_of("nic", fabric=True), 4, False),  # it has no price for the NICs
        (bill_of("nic", fabric=True), bill_of("nic", fabric=True), 4, True),
        (bill_of("nic", fabric=True), bill_of(fabric=True), 4, True),
        (bill_of(fabric=True), bill_of(fabric=False), 4, False),
        (bill_of(fabric=True), bill_of(fabric=False), 1, True),  # one node needs none
        (bill_of(fabric=False), bill_of(fabric=False), 4, True),
        (bill_of(fabric=True), bill_of("nic", fabric=False), 1, False),
    ],
)
def test_a_bill_is_comparable_with_one_that_has_its_parts_and_a_fabric(
    mine: Bill, other: Bill, nodes: int, comparable: bool
) -> None:
    assert _is_comparable_bill(mine, other, nodes) is comparable
