"""Sub-results are kept by all that they depend on, and timed as worked by hand."""

from __future__ import annotations

from dataclasses import replace
from math import hypot
from typing import Any

import pytest

from clusterspec.cluster.model import Overlap
from clusterspec.cost.compute import Kernel, Shard, Work
from clusterspec.cost.compute.rates import PassKernels, Speed
from clusterspec.cost.estimate import estimate, host_spread, step_range
from clusterspec.cost.layer_tables import Group, OverlappableCommunication, PhaseTimer
from clusterspec.cost.layers import Mixer, stage_groups
from clusterspec.cost.memory import Job, Rank
from clusterspec.cost.tables import Tables
from clusterspec.cost.timing import design_tables, timed_step
from clusterspec.cost.traffic import Transfer, tensor_backward_transfers, tensor_forward_transfers
from tests.cost.plans import MIXTRAL, design, plan, spec
from tests.effort import thorough

SPEED = Speed({"matmul_bf16": 1e12}, 1e9, 1, (), 0.0, 0.0)
HIDING = OverlappableCommunication(tp=False, cp=False, ep=False, dp=True, pp=True, pipelined=0.0, by_default=True)


def tables(**layout: Any) -> Tables:
    found = design_tables(design(spec(layout=layout)))
    assert found is not None
    return found


def timer(hiding: OverlappableCommunication = HIDING, **habits: float) -> tuple[PhaseTimer, Group]:
    """A timer whose groups are those of tp 8, without costs of launching unless said otherwise."""
    known, whole = tables(), design(spec(layout={"tp": 8}))
    assert whole.layout is not None
    group = known.group(whole.layout, "tp")
    quiet: dict[str, Any] = {"gap": 0.0, "interval": 0.0, "interval_expert": 0.0, "interference": 0.0}
    software = replace(known.software, **{**quiet, **habits})
    return PhaseTimer(SPEED, software, hiding, lambda axis: group), group


def test_a_phase_is_its_kernels_one_after_another() -> None:
    """2e12 FLOP at 1e12 FLOP/s, and 3e9 bytes at 1e9 B/s."""
    product, stream = Kernel("p", 2e12, 0.0, "matmul_bf16"), Kernel("s", 0.0, 3e9)
    phase = timer()[0].phase_time(PassKernels.of({"": SPEED.timed_kernels((product, stream))}), ())
    assert (phase.device, phase.exposed, phase.launch, phase.total) == (5.0, 0.0, 0.0, 5.0)
    assert phase.launches == 2


def test_launches_add_gaps_and_host_delay() -> None:
    """Ten launches with gaps of 0.1 s: one second. A host that takes a second for each is 10 - 5 - 1 seconds late."""
    kernel = Kernel("s", 0.0, 5e9, launches=10)
    assert timer(gap=0.1)[0].phase_time(
        PassKernels.of({"": SPEED.timed_kernels((kernel,))}), ()
    ).launch == pytest.approx(1.0)
    assert timer(gap=0.1, interval=1.0)[0].phase_time(
        PassKernels.of({"": SPEED.timed_kernels((kernel,))}), ()
    ).launch == pytest.approx(5.0)


def test_a_transfer_hides_in_its_window_where_the_layout_says_so() -> None:
    bare, group = timer()
    seconds = group.cost("all-gather", 1e9).device_seconds
    sent = Transfer("tp", "all-gather", 1e9, calls=3, overlap_window=seconds / 4)
    assert bare.transfer_time(sent).exposed == pytest.approx(3 * seconds)
    full, _ = timer(HIDING._replace(tp=True))
    assert full.transfer_time(sent).exposed == pytest.approx(3 * seconds * 3 / 4)
    always = Transfer("tp", "all-gather", 1e9, 3, seconds / 4, hidden_by_default=True)
    assert bare.transfer_time(always).exposed == pytest.approx(3 * seconds * 3 / 4)
    refused, _ = timer(HIDING._replace(by_default=False))
    assert refused.transfer_time(always).exposed == pytest.approx(3 * seconds)


def test_traffic_of_a_block_hides_behind_the_products_of_that_block_alone() -> None:
    """Products of 2, 3 and 5 s in the mixing, of 40 s in the dense network; experts and routers are not cut."""
    kernels = {name: Kernel(name, flops * 1e12, 0.0, "matmul_bf16") for name, flops in PRODUCTS.items()}
    parts = {
        "projections": ("query", "key"),
        "core": ("core",),
        "output": ("output",),
        "feed-forward": ("wide",),
        "router": ("router",),
        "experts": ("experts in", "shared experts in"),
    }
    timed = PassKernels.of(
        {part: SPEED.timed_kernels(kernels[name] for name in names) for part, names in parts.items()}
    )
    assert (timed.mixing_gemms, timed.network_gemms) == (10.0, 47.0)


PRODUCTS = {"query": 2, "key": 3, "core": 100, "output": 5, "wide": 40, "router": 1, "experts in": 60} | {
    "shared experts in": 7
}


def test_transfers_of_a_pass_share_the_products_of_their_block() -> None:
    layout = design(spec(layout={"tp": 8})).layout
    workload = design(spec()).workload
    assert layout is not None and workload is not None
    blocks = {"token mixing": 8.0, "feed-forward": 40.0}
    shard = Shard.of(workload, replace(layout, sequence_parallel=True), Mixer.FULL)
    there, back = tensor_forward_transfers(shard, blocks), tensor_backward_transfers(shard, blocks)
    assert [one.overlap_window for one in there] == [4.0, 4.0, 20.0, 20.0]
    assert [one.overlap_window for one in back] == [2.0, 2.0, 10.0, 10.0, 2.0, 10.0]
    assert [one.hidden_by_default for one in back] == [False] * 4 + [True] * 2
    whole = tensor_forward_transfers(Shard.of(workload, replace(layout, sequence_parallel=False), Mixer.FULL), blocks)
    assert [(one.collective, one.overlap_window) for one in whole] == [("all-reduce", 8.0), ("all-reduce", 40.0)]


def test_pipelined_traffic_costs_its_interference_alone() -> None:
    half, group = timer(HIDING._replace(pipelined=0.5), interference=0.2)
    seconds = group.cost("all-gather", 1e9).device_seconds
    found = half.transfer_time(Transfer("tp", "all-gather", 1e9))
    assert found.exposed == pytest.approx(0.5 * seconds + 0.2 * 0.5 * seconds)
    other = half.transfer_time(Transfer("cp", "all-gather", 1e9))
    assert other.exposed == pytest.approx(seconds)


def test_copies_that_take_longer_than_their_links_are_exposed() -> None:
    """Two calls of 85 million copies each: a second each, of which computation hides a quarter."""
    found = timer(HIDING._replace(tp=True))[0].transfer_time(
        Transfer("tp", "all-gather", 1e6, calls=2, overlap_window=0.25, copies=85e6)
    )
    assert found.cost.device_seconds < 0.01
    assert (found.seconds, found.exposed) == pytest.approx((2.0, 1.5))


def test_a_part_counts_the_flops_of_its_forward_pass() -> None:
    kernel = Kernel("p", 2e12, 0.0, "matmul_bf16")
    part = timer()[0].part_time("layer", Work((kernel, kernel), (kernel,)))
    assert (part.flops, part.recomputed_flops) == (4e12, 0.0)
    assert part.time == (4.0, 2.0, 0.0)


def test_full_recomputation_runs_all_flops_of_the_layers_again() -> None:
    step = plan(layout={"recompute": "full"}).step
    assert step
    layers = [part for part, _ in step.parts if part.name not in {"embedding", "head"}]
    assert layers
    assert all(part.recomputed_flops == part.flops for part in layers)


@pytest.mark.parametrize(
    ("overlap", "pipelined", "by_default", "full"),
    [
        (Overlap(tp="none"), 0.0, False, False),
        (Overlap(tp=0.25), 0.25, True, False),
        (Overlap(tp="full"), 0.4, True, True),
        (Overlap(tp="partial"), 0.4, True, False),
    ],
)
def test_overlap_of_tensor_parallelism(overlap: Overlap, pipelined: float, by_default: bool, full: bool) -> None:
    software = replace(tables().software, tensor_hidden=0.4)
    found = OverlappableCommunication.of(overlap, software)
    assert (found.pipelined, found.by_default, found.tp) == (pipelined, by_default, full)


CHANGES: list[dict[str, Any]] = [
    {"tp": 4},
    {"cp": 2},
    {"micro_batch": 2},
    {"recompute": "full"},
    {"sequence_parallel": False},
    {"ep": 4, "expert_tp": 1},
    {"expert_tp": 1},
    {"pp": 2},
    {"pp": 2, "virtual_stages": 2, "schedule": "interleaved"},
    {"overlap": {"tp": "full", "ep": True}},
    {"order": ["dp", "tp", "cp", "ep", "pp"]},
    {"sharding": "fsdp"},
    {"sharding": "hsdp", "shard_group": 4},
    {"dispatcher": "deepep", "ep": 4},
]


@thorough
@pytest.mark.parametrize("change", CHANGES, ids=str)
def test_tables_of_another_layout_give_what_fresh_ones_give(change: dict[str, Any]) -> None:
    """Whatever a sub-result depends on is part of what it is kept by."""
    first = design(spec(workload={"model": MIXTRAL}, layout={"tp": 2}))
    shared = design_tables(first)
    assert shared is not None
    assert timed_step(first, shared) is not None
    other = design(spec(workload={"model": MIXTRAL}, layout={"tp": 2, **change}))
    alone = design_tables(other)
    assert alone is not None
    assert shared.apply_to(other)
    again, fresh = timed_step(other, shared), timed_step(other, alone)
    assert again is not None and fresh is not None
    assert again.times == fresh.times
    for each in (first, other):  # ranks of the first may be kept for the other
        assert each.workload is not None and each.layout is not None
        job = Job.of(each, each.workload, each.layout)
        for group in stage_groups(job.model, job.layout):
            assert Rank.of(job, group.first, group.chunks) == Rank.rank_without_cache(job, group.first, group.chunks)


def test_tables_apply_only_to_their_job() -> None:
    known = tables()
    for changed in (
        {"cluster": {"nodes": 8}},
        {"workload": {"sequence_length": 4096}},
        {"layout": {"software_year": 2023}},
        {"layout": {"framework": "torchtitan"}},
    ):
        assert not known.apply_to(design(spec(**changed)))
    assert known.apply_to(design(spec(layout={"tp": 4})))


@pytest.mark.parametrize("change", [{"global_batch": 512}, {"tokens": 1e12}, {"expected_mfu": 0.5}], ids=str)
def test_tables_of_another_number_of_tokens_give_what_fresh_ones_give(change: dict[str, Any]) -> None:
    """The work of one micro-batch does not depend on how many of them a step or a run has."""
    shared, other = tables(), design(spec(workload=change))
    assert other.workload != shared.workload
    assert shared.apply_to(other)
    alone = design_tables(other)
    assert alone is not None
    again, fresh = timed_step(other, shared), timed_step(other, alone)
    assert again is not None
    assert fresh is not None
    assert again.times == fresh.times


def test_the_host_bus_is_a_slot_of_sixteen_lanes() -> None:
    """PCIe 5: 32 GT/s × 16 lanes × 128 / 130 / 8 = 63 GB/s."""
    assert tables().host_bandwidth == pytest.approx(63.015e9, rel=1e-4)


def test_the_range_widens_with_the_spread_and_with_uncertain_communication() -> None:
    """Without exposed communication, and with captured graphs, it is the spread of the stack alone, as a factor both
    ways.
    """
    alone = {"tp": 1, "framework": "megatron-core", "software_year": 2025, "captured_graphs": True}
    whole = plan({"nodes": 1}, layout=alone)
    assert whole.step is not None
    spread = whole.step.software.stack.achievable["spread.seen"].value
    low, high = step_range(whole.step, experts=False)
    assert whole.step.seconds / low == high / whole.step.seconds
    assert high / whole.step.seconds == pytest.approx(1 + spread, rel=0.02)
    crossing = plan(
        {"nodes": 64}, layout={"tp": 8, "order": ["dp", "tp", "cp", "ep", "pp"]}, workload={"global_batch": 512}
    )
    assert crossing.step is not None
    assert step_range(crossing.step, experts=False)[1] / crossing.step.seconds > high / whole.step.seconds


@pytest.mark.parametrize(("length", "bound"), [(64, True), (8192, False)])
def test_the_range_widens_where_the_host_bounds_the_step(length: int, bound: bool) -> None:
    """A pass that the host bounds takes 2.5 times as long where each launch does; where kernels hide its launches three
    times over, it takes as long as before.
    """
    job = {"sequence_length": length, "global_batch": 8}
    layout = {"tp": 1, "micro_batch": 1, "framework": "megatron-core", "software_year": 2025}
    whole = plan({"nodes": 1}, workload=job, layout=layout)
    assert whole.step is not None
    down, up = host_spread(whole.step)
    passes = whole.step.times.work / whole.step.seconds
    if bound:
        assert 1.1 * passes < up <= 1.5 * passes  # kernels bound the head
        assert 0.05 < down < up
    else:
        assert 0 <= down < 0.01 and 0 <= up < 0.03
    low, high = step_range(whole.step, experts=False)
    spread = whole.step.software.stack.achievable["spread.seen"].value
    assert high / whole.step.seconds - 1 >= hypot(spread, up) - 1e-12
    assert whole.step.seconds / low - 1 >= hypot(spread, down) - 1e-12


def test_an_estimate_takes_up_the_tables_of_an_earlier_one() -> None:
    one = estimate(design(spec(layout={"tp": 2})))
    other = estimate(design(spec(layout={"tp": 4})), one.tables)
    assert other.tables is one.tables
    assert estimate(design(spec({"nodes": 8})), one.tables).tables is not one.tables
