"""A run placed on a machine: its limits, its averages, its faults, and what a refused call means there."""

from __future__ import annotations

from typing import Any

import pytest

from clusterspec.analysis.diagnosis import fault_models
from clusterspec.analysis.diagnosis.call_causes import _causes_of_statement, evidence_line, unrefuted_causes
from clusterspec.analysis.diagnosis.fault_models import FAULT_MODELS, fault_fits
from clusterspec.analysis.diagnosis.placed_runs import (
    LogOverrides,
    NotComparable,
    PlacedRun,
    _are_on_two_nodes,
    _host_count,
    placed_run,
)
from clusterspec.analysis.diagnosis.stated_causes import GIVEN, STATED, STRONG, WEAK
from clusterspec.cluster.model import Cluster
from clusterspec.cluster.variation import with_values
from clusterspec.logs.benchmarks.benchmark import Benchmark, Evidence, Series, SizePoint
from clusterspec.records import replace
from clusterspec.results.diagnosis import Cause
from tests.cluster.resolving import cluster_of
from tests.effort import thorough

GB = 1e9
MACHINE = cluster_of("cluster: {platform: dgx-h100, nodes: 4, spare_nodes: 1}")


def series(*rates: tuple[float, float], ranks: int | None = 16, nodes: int | None = 2, **changes: Any) -> Series:
    points = tuple(SizePoint(size, None, rate * GB, 1) for size, rate in rates)
    return Series(changes.pop("collective", "all-reduce"), ranks, nodes, points, **changes)


def placed(one: Series, cluster: Cluster = MACHINE, *names: tuple[str, str], **stated: Any) -> PlacedRun:
    evidence = tuple(Evidence(name, text, line) for line, (name, text) in enumerate(names, 1))
    return placed_run(cluster, Benchmark("nccl-tests", (one,), evidence=evidence), one, "log", LogOverrides(**stated))


FULL = series((2.0**33, 300.0))


@pytest.mark.parametrize(
    ("hosts", "ranks", "nodes"),
    [(0, 16, 1), (1, 16, 1), (2, 16, 2), (3, 16, 1), (5, 40, 5), (6, 48, 1), (4, 2, 1), (2, 2, 2)],
)
def test_hosts_of_a_log_are_nodes_where_they_divide_its_ranks(hosts: int, ranks: int, nodes: int) -> None:
    """Five nodes are there, one of them a spare."""
    assert _host_count(MACHINE, replace(FULL, hosts=hosts), ranks) == nodes


@pytest.mark.parametrize(
    ("names", "changes", "ranks", "apart"),
    [
        ([("gdr", "/GDRDMA")], {}, 2, True),
        ([("socket", "NET/Socket")], {}, 2, True),
        ([("no-gdr", "12")], {}, 2, True),
        ([("gdr", "via P2P")], {}, 2, False),
        ([("p2p-direct", "P2P"), ("gdr", "/GDRDMA")], {}, 2, False),
        ([("gdr", "/GDRDMA")], {}, 4, False),
        ([("gdr", "/GDRDMA")], {"hosts": 1}, 2, False),
        ([], {}, 2, False),
    ],
)
def test_two_ranks_are_on_two_nodes_where_all_channels_leave_them(
    names: list[tuple[str, str]], changes: dict[str, Any], ranks: int, apart: bool
) -> None:
    one = replace(FULL, **{"hosts": 0, **changes})
    evidence = tuple(Evidence(name, text, 1) for name, text in names)
    benchmark = Benchmark("nccl-tests", (one,), evidence=evidence)
    assert _are_on_two_nodes(MACHINE, benchmark, one, ranks) is apart
    assert not _are_on_two_nodes(MACHINE, replace(benchmark, series=(one, one)), one, ranks)
    single = cluster_of("cluster: {platform: dgx-h100, nodes: 1}")
    assert not _are_on_two_nodes(single, benchmark, one, ranks)


@pytest.mark.parametrize(
    ("ranks", "nodes", "why"),
    [
        (1, 1, "it has one rank"),
        (41, 5, "41 ranks, but the cluster of the spec has 40"),
        (16, 6, "6 nodes, but the cluster of the spec has 5"),
        (2, 1, ""),
        (40, 5, ""),
        (20, 5, ""),
    ],
)
def test_a_run_has_two_ranks_or_more_and_fits_its_machine(ranks: int, nodes: int, why: str) -> None:
    """Four nodes and a spare have 40 ranks."""
    one = series((2.0**33, 300.0), ranks=ranks, nodes=nodes)
    if why:
        with pytest.raises(NotComparable, match=why):
            placed(one)
    else:
        found = placed(one)
        assert (found.group.ranks, found.group.nodes) == (ranks, nodes) and found.has_result


def test_ranks_and_collectives_come_from_the_log_then_from_the_caller_then_from_the_machine() -> None:
    open_ = series((2.0**30, 10.0), ranks=None, nodes=None, collective=None)
    with pytest.raises(NotComparable, match="collective"):
        placed(open_)
    with pytest.raises(NotComparable, match="ranks"):
        placed(open_, collective="all-gather")
    lines = placed(series(ranks=None, nodes=None, collective=None))  # lines alone need no placement
    assert (lines.name, lines.group.ranks, lines.assumed_ranks) == ("all-reduce", 40, True)
    found = placed(open_, collective="all-gather", ranks=8)
    assert (found.name, found.group.ranks, found.group.nodes, found.assumed_ranks) == ("all-gather", 8, 1, False)
    found = placed(open_, collective="all-gather", ranks=9)
    assert (
        found.group.nodes == 2 and found.uses_network and not placed(series((1e9, 1.0), ranks=8, nodes=1)).uses_network
    )
    with pytest.raises(NotComparable, match="collective"):
        placed(replace(FULL, collective="no-such"))
    ended = placed(series(ranks=16, nodes=2, collective=None))
    assert (ended.name, ended.has_result) == ("all-reduce", False)
    assert [(row.size, row.measured) for row in ended.rows] == [(2.0**30, 0.0)]
    with pytest.raises(NotComparable, match="4 copies of the benchmark"):
        placed(series((1e9, 1.0), ranks=1, nodes=1, jobs=4))


def test_sizes_that_ran_several_times_are_averaged_by_time() -> None:
    """At 100 and 300 GB/s the mean time is that of 150 GB/s; sizes and rates of 0 are no measurement."""
    found = placed(series((2.0**30, 100.0), (2.0**33, 200.0), (2.0**30, 300.0), (0.0, 5.0), (8.0, 0.0)))
    assert [row.size for row in found.rows] == [2.0**30, 2.0**33]
    assert [row.measured / GB for row in found.rows] == pytest.approx([150, 200])
    assert found.largest.size == 2.0**33
    for row in found.rows:
        assert row.low < row.expected < row.high
    assert found.predicted_bandwidth(MACHINE, 2.0**33) == pytest.approx(found.largest.expected)


def test_a_fault_is_tried_on_machines_that_can_have_it() -> None:
    run = placed(FULL)
    nics = [text for _, text in fault_models._fewer_nics(run)]
    assert nics == ["1 of 8 NICs", "2 of 8 NICs", "4 of 8 NICs"]
    assert [one.scale_out.nics_per_node for one, _ in fault_models._fewer_nics(run) if one.scale_out] == [1, 2, 4]
    four = placed(FULL, cluster_of("cluster: {platform: dgx-h100, nodes: 4, scale_out: {nics_per_node: 4}}"))
    assert [text for _, text in fault_models._fewer_nics(four)] == ["1 of 4 NICs", "2 of 4 NICs"]
    tapers = list(fault_models._oversubscribed_clusters(run))
    assert run.cluster.scale_out is not None
    rate = run.cluster.scale_out.nic_bandwidth.value
    assert [one.scale_out.nic_bandwidth.value / rate for one, _ in tapers if one.scale_out] == pytest.approx(
        [1 / 2, 1 / 3, 1 / 4, 1 / 8]
    )
    half = placed(FULL, cluster_of("cluster: {platform: dgx-h100, nodes: 4, scale_out: {oversubscription: '2:1'}}"))
    found = list(fault_models._oversubscribed_clusters(half))
    assert [one.scale_out.nic_bandwidth.value / rate for one, _ in found if one.scale_out] == pytest.approx(
        [2 / 3, 2 / 4, 2 / 8]
    )
    for host, told in ((5, ["PCIe 4 slots instead of the 5 of the spec"]), (1, []), (None, [])):
        slots = replace(run, cluster=replace(run.cluster, pcie_host=host))
        assert [text for _, text in fault_models._older_slots(slots)] == told
        assert [one.pcie_host for one, _ in fault_models._older_slots(slots)] == [4] * len(told)
    able = replace(run.cluster, scale_up=replace(run.cluster.scale_up, in_network_reduction=True))
    assert len(list(fault_models._no_reduction(replace(run, cluster=able)))) == 1
    unable = replace(run.cluster, scale_up=replace(run.cluster.scale_up, in_network_reduction=False))
    assert list(fault_models._no_reduction(replace(run, cluster=unable))) == []


@thorough
def test_a_fault_fits_within_a_quarter_and_is_not_contradicted_by_the_log() -> None:
    """At the bandwidth that one NIC of eight gives, that is the fault with the least miss, unless eight are listed."""
    run = placed(FULL)
    one = next(cluster for cluster, text in fault_models._fewer_nics(run) if text.startswith("1 of"))
    rate = run.predicted_bandwidth(one, 2.0**33)
    assert rate is not None
    for factor, fits in ((1.0, True), (1.24, True), (0.76, True)):
        slow = placed(series((2.0**33, factor * rate / GB)))
        found = {fit.fault.name: fit for fit in fault_fits(slow)}
        assert ("one-nic" in found) == fits, factor
        assert found["one-nic"].miss == pytest.approx(abs(factor - 1), abs=0.2) and found["one-nic"].miss <= 0.25
    exact = fault_fits(placed(series((2.0**33, rate / GB))))
    assert [fit.miss for fit in exact] == sorted(fit.miss for fit in exact)
    assert fault_fits(placed(series((2.0**33, rate / GB / 100)))) == []
    inside = placed(series((2.0**33, rate / GB), ranks=8, nodes=1))
    across = {fault.name for fault in FAULT_MODELS if fault.across}
    assert not across & {fit.fault.name for fit in fault_fits(inside)}


ONE_NIC = 47.08
"""GB/s of a ring over two nodes through one NIC of 50 GB/s."""


@thorough
def test_a_fault_is_compared_under_each_algorithm_that_the_library_may_choose() -> None:
    """A ring through one NIC carries at most its 50 GB/s. A tree over two nodes sends the size once each way where a
    ring sends 2 × 15 / 16 of it, and so carries at most 94 GB/s of bus bandwidth.
    """
    run = placed(series((2.0**33, ONE_NIC)))
    found = {fit.fault.name: fit for fit in fault_fits(run)}
    ring = found["one-nic"]
    assert (ring.description, ring.algorithm) == ("1 of 8 NICs", "ring") and 47 * GB < ring.predicted < 50 * GB
    assert ring.evidence.endswith("GB/s by the algorithm ring")
    tree = {fit.fault.name: fit for fit in fault_fits(placed(series((2.0**33, 85.0))))}["one-nic"]
    assert tree.description == "1 of 8 NICs" and tree.algorithm != "ring" and 80 * GB < tree.predicted < 94 * GB
    four = placed(series((2.0**33, ONE_NIC), ranks=32, nodes=4))
    assert {fit.fault.name: fit for fit in fault_fits(four)}["one-nic"].algorithm == ""  # the ring is the fastest


def test_a_log_that_names_its_algorithm_leaves_no_other() -> None:
    for algorithm, fits in (("ring", True), ("tree", False)):
        run = placed(series((2.0**33, ONE_NIC), algorithm=algorithm))
        assert ("one-nic" in {fit.fault.name for fit in fault_fits(run)}) is fits


def test_a_fault_that_lowers_no_algorithm_explains_nothing() -> None:
    """Each algorithm of a sound machine is as fast as itself, also one that is slower than the fastest."""
    run = placed(series((2.0**33, 350.0)))
    assert list(fault_models._lowered_bandwidths(run, run.cluster)) == []
    one = with_values(run.cluster, {("scale_out", "nics_per_node"): 1})
    assert {name for _, name in fault_models._lowered_bandwidths(run, one)} >= {"", "ring"}


@thorough
def test_a_fault_fits_up_to_the_limit_itself(monkeypatch: pytest.MonkeyPatch) -> None:
    run = placed(FULL)
    one = next(cluster for cluster, text in fault_models._fewer_nics(run) if text.startswith("1 of"))
    rate = run.predicted_bandwidth(one, 2.0**33)
    assert rate is not None
    slow = placed(series((2.0**33, 1.1 * rate / GB)))
    for fit in fault_fits(slow):
        monkeypatch.setattr(fault_models, "MAX_MISS", fit.miss)
        assert fit.fault.name in {each.fault.name for each in fault_fits(slow)}
        monkeypatch.setattr(fault_models, "MAX_MISS", fit.miss * (1 - 1e-9))
        assert fit.fault.name not in {each.fault.name for each in fault_fits(slow)}


CONTRADICTED: list[
    tuple[tuple[tuple[str, str], ...], set[str]]
] = [  # evidence of a log, and the faults that it excludes
    ((), set()),
    ((("gdr", ""),), {"socket-fall-back", "gpudirect-off"}),
    ((("hcas", ""),), {"socket-fall-back"}),
    ((("ofi", ""),), {"socket-fall-back"}),
    ((("gdr", ""), ("no-gdr", "")), {"socket-fall-back"}),
    ((("hcas", ""), ("socket", "")), set()),
    ((("hcas", ""), ("no-ib", "")), set()),
    ((("socket", ""),), set()),
    ((("nvls", "0"),), set()),
    ((("nvls", "16"),), {"no-nvls"}),
    ((("nvls", "off"),), set()),
]


@pytest.mark.parametrize(("evidence", "excluded"), CONTRADICTED)
def test_a_log_excludes_the_faults_whose_opposite_it_states(
    evidence: tuple[tuple[str, str], ...], excluded: set[str]
) -> None:
    run = placed(FULL)
    stated = tuple(Evidence(name, text, number) for number, (name, text) in enumerate(evidence, 1))
    run = replace(run, benchmark=replace(run.benchmark, evidence=stated))
    assert {fault.name for fault in FAULT_MODELS if fault_models._is_contradicted(run, fault.name)} == excluded


CALLS: tuple[tuple[str, int, dict[str, float]], ...] = (  # statement, nodes, causes with their weights
    (
        "call register ENOMEM",
        2,
        {
            **{"locked-memory": GIVEN, "gpudirect-refused": WEAK, "nic-limit": WEAK},
            **{"host-memory-full": WEAK, "driver-release": WEAK},
        },
    ),
    ("call firmware ENOMEM", 2, {"nic-limit": STRONG, "locked-memory": GIVEN}),
    ("call register EPERM", 2, {"gpudirect-refused": STRONG, "locked-memory": GIVEN}),
    ("call connect bridge", 2, {"wrong-interface": STATED, "unreachable-peer": GIVEN}),
    ("call connect bridge", 1, {}),
    ("call register EWRONG", 2, {}),
    ("register ENOMEM", 2, {}),
)


@pytest.mark.parametrize(("statement", "nodes", "causes"), CALLS)
def test_a_refused_call_means_what_its_error_says(statement: str, nodes: int, causes: dict[str, float]) -> None:
    run = placed(series((2.0**33, 300.0), ranks=8 * nodes, nodes=nodes))
    assert dict(_causes_of_statement(run, statement)) == causes


def test_the_error_of_a_call_refutes_wide_causes_of_its_line() -> None:
    run = placed(FULL, MACHINE, ("call register EPERM", "refused"), ("note", "no call"))
    at = [
        Cause(name, f"line {line} of the log: told", "", STATED)
        for name, line in (
            ("locked-memory", 1),
            ("storage-full", 1),
            ("gpudirect-refused", 1),
            ("locked-memory", 2),
        )
    ]
    found = list(unrefuted_causes(run, at))
    assert [(cause.name, cause.weight) for cause in found] == [
        *(("locked-memory", GIVEN), ("gpudirect-refused", STATED), ("locked-memory", STATED)),
    ]
    weak = replace(at[0], weight=GIVEN / 2)
    assert [cause.weight for cause in unrefuted_causes(run, [weak])] == [GIVEN / 2]
    assert (evidence_line(at[0]), evidence_line(replace(at[0], evidence="told"))) == ("line 1", "told")
