"""The machine of a report in rows, from changed machines and loads."""

from __future__ import annotations

from typing import Any

import pytest

from clusterspec.cluster.requests import Engines
from clusterspec.records import replace
from clusterspec.report.paper import machine
from clusterspec.report.paper.blocks import PaperTable, Picture, Text
from clusterspec.results.full import FullReport
from clusterspec.spec.model.cluster import NetworkSpec
from clusterspec.units import read
from tests.report.test_paper import SPECS, own_parts, report
from tests.report.test_paper_words import trained


def rows_of(rows: Any) -> dict[str, tuple[str, str]]:
    return {row.cells[0]: (row.cells[1], row.field) for row in rows}


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({}, "tp 4 × cp 1 × pp 2 × dp 4; zero1, interleaved"),
        ({"pp": 1}, "tp 4 × cp 1 × pp 1 × dp 4; zero1"),
        ({"ep": 2, "pp": 1}, "tp 4 × cp 1 × pp 1 × dp 4, ep 2; zero1"),
    ],
)
def test_a_layout_has_its_degrees_sharding_and_schedule(changes: dict[str, Any], said: str) -> None:
    design = trained().estimate.plan.design
    assert design.layout is not None
    given: dict[str, Any] = {"schedule": "interleaved", "sharding": "zero1", "dp": 4}
    layout = replace(design.layout, **given | changes)
    (row,) = machine.layout_rows(layout, design.workload)
    assert (row.cells, row.field) == (("Layout", said), "estimate.layout")
    assert list(machine.layout_rows(layout, None)) == [row]


@pytest.mark.parametrize(
    ("engines", "said"),
    [
        (Engines(1, 1, 1, 1, 1, 1), "1 engine of 1 rank: tp 1"),
        (Engines(4, 8, 1, 1, 1, 2), "4 engines of 16 ranks: tp 8, pp 2"),
        (Engines(2, 1, 16, 16, 1, 1), "2 engines of 16 ranks: tp 1, attention_dp 16, ep 16"),
    ],
)
def test_engines_have_the_degrees_above_one(engines: Engines, said: str) -> None:
    assert machine._engines_text(engines) == said


def test_engines_of_prefill_stand_apart_where_they_are() -> None:
    for name, titles in (("serving", ["Engines"]), ("serving-pools", ["Prefill", "Decode"])):
        design = own_parts(SPECS[name]).estimate.plan.design
        assert design.layout is not None
        assert [row.cells[0] for row in machine.layout_rows(design.layout, design.workload)] == titles


@pytest.mark.parametrize(
    ("changes", "batch", "steps"),
    [
        ({"tokens": None}, "64 sequences of 8,192 tokens, bf16", None),
        ({"tokens": 2**20}, "64 sequences of 8,192 tokens, bf16", "2 of 524,288 tokens each, 1,048,576 in all"),
        ({"tokens": 2**20 + 1}, "64 sequences of 8,192 tokens, bf16", "3 of 524,288 tokens each, 1,048,577 in all"),
        ({"tokens": 2**20, "global_batch": 1}, "1 sequence of 8,192 tokens, bf16",
         "128 of 8,192 tokens each, 1,048,576 in all"),
    ],
)  # fmt: skip
def test_training_has_its_batch_and_the_steps_of_a_run(changes: dict[str, Any], batch: str, steps: str | None) -> None:
    work = trained().estimate.plan.design.workload
    assert work is not None
    found = rows_of(machine._work_rows(replace(work, **changes)))
    assert found["Batch and precision"] == (batch, "spec")
    assert found.get("Steps of the run") == ((steps, "spec") if steps else None)


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"concurrency": 1024, "request_rate": None}, "2,048 input and 512 output tokens, 1,024 in flight"),
        ({"concurrency": 0, "request_rate": 2.5}, "2,048 input and 512 output tokens, 2.5 per second"),
        ({"concurrency": 0, "request_rate": None}, "2,048 input and 512 output tokens"),
    ],
)
def test_requests_have_their_tokens_and_how_they_come(changes: dict[str, Any], said: str) -> None:
    work = own_parts(SPECS["serving"]).estimate.plan.design.workload
    assert work is not None and work.serving is not None
    found = rows_of(machine._work_rows(replace(work, serving=replace(work.serving, **changes))))
    assert found["Requests"][0] == said
    assert ", experts " in found["Precision"][0]
    dense = replace(work, model=replace(work.model, experts=0))
    assert ", experts " not in rows_of(machine._work_rows(dense))["Precision"][0]


@pytest.mark.parametrize(
    ("nodes", "spares", "cells"),
    [
        (4, 0, ("32 × H100 SXM5 80 GB", "4 nodes of 8")),
        (4, 1, ("32 × H100 SXM5 80 GB", "4 nodes of 8 and 1 spare")),
        (1, 2, ("8 × H100 SXM5 80 GB", "1 node of 8 and 2 spares")),
    ],
)
def test_a_machine_has_its_accelerators_and_nodes(nodes: int, spares: int, cells: tuple[str, str]) -> None:
    cluster = trained().estimate.plan.design.cluster
    assert cluster is not None
    found = rows_of(machine._machine_rows(replace(cluster, nodes=nodes, spare_nodes=spares)))
    assert (found["Accelerators"][0], found["Nodes"][0]) == cells
    assert found["Scale-up"][0] == "NVLink 4, switched, domain of 8, 450 GB/s each way"
    out = cluster.scale_out
    assert out is not None
    assert found["Scale-out"][0] == "InfiniBand NDR, 8 × 400 Gb/s per node, rail-optimized"
    two = replace(cluster, scale_out=replace(out, planes=2, topology="unknown"))
    assert rows_of(machine._machine_rows(two))["Scale-out"][0].endswith("per node, topology not stated, 2 planes")
    alone = replace(cluster, scale_out=None, scale_up=replace(cluster.scale_up, domain=1))
    assert list(rows_of(machine._machine_rows(alone))) == ["Accelerators", "Nodes"]


@pytest.mark.parametrize(("nodes", "said"), [(36, "2 domains of 72"), (18, "1 domain of 72"), (20, "domain of 72")])
def test_domains_of_several_nodes_are_counted_where_they_are_whole(nodes: int, said: str) -> None:
    cluster = report("clusterspec: 1\ncluster: {platform: gb200-nvl72, nodes: 36}\n").estimate.plan.design.cluster
    assert cluster is not None
    found = rows_of(machine._machine_rows(replace(cluster, nodes=nodes)))
    assert f", {said}, " in found["Scale-up"][0]


def with_machine(**changes: Any) -> Any:
    found = trained().machine
    assert found is not None
    return replace(found, **changes)


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"free_leaf_ports": 64, "nics_per_node": 8, "planes": 1}, "64, for 8 more nodes"),
        ({"free_leaf_ports": 64, "nics_per_node": 8, "planes": 2}, "64, for 4 more nodes"),
        ({"free_leaf_ports": 8, "nics_per_node": 8, "planes": 0}, "8, for 1 more node"),
        ({"free_leaf_ports": 7, "nics_per_node": 8, "planes": 1}, "7"),
        ({"free_leaf_ports": None, "nics_per_node": 8}, None),
        ({"free_leaf_ports": 64, "nics_per_node": 0}, None),
    ],
)
def test_free_ports_of_leaves_are_told_as_nodes(changes: dict[str, Any], said: str | None) -> None:
    found = rows_of(machine._fabric_rows(with_machine(**changes))).get("Free leaf ports")
    assert (found[0] if found else None) == said


def test_levels_of_a_fabric_stand_with_their_ratio_and_ports() -> None:
    (row, *_) = with_machine().rows
    first = replace(row, name="leaf", ratio=None, ports=None)
    second = replace(row, name="spine", ratio=1.5, ports=64, used=None)
    third = replace(row, name="core", ratio=None, ports=2048, used=1024)
    found = rows_of(machine._fabric_rows(with_machine(rows=(first, second, third), bisection=4e11)))
    assert found["Oversubscription"] == ("1.5:1 above the spine", "machine.rows[1].ratio")
    assert found["Ports in use"] == ("0 of 64 on spine, 1,024 of 2,048 on core", "machine.rows[1].ports")
    assert found["Bisection"] == ("400 GB/s each way between two halves", "machine.bisection")
    silent = rows_of(machine._fabric_rows(with_machine(rows=(first,), bisection=None)))
    assert not {"Oversubscription", "Ports in use", "Bisection"} & silent.keys()


@pytest.mark.parametrize(
    ("changes", "said", "field"),
    [
        ({"switches": 1000, "racks": 0, "power": None},
         "1,000 with more switches of the same tiers, 0 in the last rack", "switches"),
        ({"switches": None, "racks": None, "power": 3}, "3 within the power budget", "power"),
        ({"switches": None, "racks": None, "power": None}, None, ""),
    ],
)  # fmt: skip
def test_more_nodes_are_told_by_what_limits_them(changes: dict[str, Any], said: str | None, field: str) -> None:
    grown = report("clusterspec: 1\ncluster: {platform: dgx-h100, nodes: 4, power: {nodes_per_rack: 3}}\n").machine
    assert grown is not None and grown.more_nodes is not None
    rows = list(machine._more_nodes_rows(replace(grown, more_nodes=replace(grown.more_nodes, **changes))))
    assert [(row.cells[1], row.field) for row in rows] == ([(said, f"machine.more_nodes.{field}")] if said else [])
    assert list(machine._more_nodes_rows(replace(grown, more_nodes=None))) == []


RATE, ALL, SIZE = read("200 Gb/s", "rate"), read("400 GB/s", "rate"), read("4 PB", "bytes")


@pytest.mark.parametrize(
    ("network", "said"),
    [
        (NetworkSpec(nics_per_node=2, nic_bandwidth=RATE, bandwidth=ALL, capacity=SIZE),
         "2 × 200 Gb/s per node, 400 GB/s in all, 4 PB"),
        (NetworkSpec(nic_bandwidth=RATE), "200 Gb/s per node"),
        (NetworkSpec(nics_per_node=2), "stated without a rate"),
        (NetworkSpec(shares="scale_out"), "shares the scale-out network"),
        (NetworkSpec(capacity=SIZE), "4 PB"),
    ],
)  # fmt: skip
def test_a_network_is_told_as_it_is_stated(network: NetworkSpec, said: str) -> None:
    assert machine._network_text(network) == said


@pytest.mark.parametrize(
    ("pfc", "ecn", "balancing", "said"),
    [
        (True, True, None, "load balancing not stated, PFC and ECN"),
        (True, False, "adaptive", "adaptive, PFC"),
        (None, None, "adaptive", "adaptive"),
    ],
)
def test_the_routing_of_a_fabric_has_its_flow_control(
    pfc: bool | None, ecn: bool | None, balancing: Any, said: str
) -> None:
    design = trained().estimate.plan.design
    assert design.cluster is not None and design.cluster.scale_out is not None
    out = replace(design.cluster.scale_out, pfc=pfc, ecn=ecn, load_balancing=balancing)
    changed = replace(design, cluster=replace(design.cluster, scale_out=out))
    assert rows_of(machine._network_rows(changed))["Routing"][0] == said
    assert rows_of(machine._network_rows(replace(design, cluster=None))) == {}


def tiered(*kinds: tuple[str, float]) -> Any:
    tier = trained().tiers[0]
    return tuple(replace(tier, kind=kind, line_rate=rate, accelerators=at) for at, (kind, rate) in enumerate(kinds))


@pytest.mark.parametrize(
    ("tiers", "said"),
    [
        ((("memory", 3.35e12), ("scale-out", 50e9)), ": between nodes 67 times less than in memory"),
        ((("memory", 3.35e12),), ""),
        ((("scale-out", 50e9),), ""),
        ((("memory", 3.35e12), ("scale-out", 0.0)), ""),
    ],
)
def test_the_fall_from_memory_to_the_fabric_is_a_ratio(tiers: tuple[tuple[str, float], ...], said: str) -> None:
    assert machine._bandwidth_ratio_text(tiered(*tiers)) == said


def test_the_reach_of_a_tier_is_told_from_two_accelerators_on() -> None:
    tiers = tiered(("memory", 1.0), ("memory", 1.0), ("scale-up", 1.0))
    assert [machine._reach_text(tier) for tier in tiers] == ["", "", "2 accelerators"]


def test_readings_of_a_tier_are_dashes_where_they_are_unknown() -> None:
    (tier,) = tiered(("scale-up", 450e9))
    table = machine._readings_table((replace(tier, duplex=900e9, predicted=400e9, measured=None),))
    assert table.rows[0].cells[1:6] == ("450 GB/s", "900 GB/s", "3.6 Tb/s", "400 GB/s", "–")
    alone = machine._readings_table((replace(tier, duplex=None, predicted=None, measured=300e9),))
    assert alone.rows[0].cells[1:6] == ("450 GB/s", "–", "–", "–", "300 GB/s")


def section_types(found: FullReport) -> list[type] | None:
    section = machine.machine_section(found)
    return [type(block) for block in section.blocks if not isinstance(block, Picture)] if section else None


def test_a_machine_has_its_failures_where_it_is_larger_than_a_domain() -> None:
    found = trained()
    assert found.machine is not None
    assert section_types(replace(found, machine=None)) is None
    assert section_types(found) == [PaperTable, PaperTable]
    assert section_types(replace(found, machine=replace(found.machine, failures=()))) == [PaperTable]
    small = replace(found.machine, accelerators=found.machine.domain)
    assert section_types(replace(found, machine=small)) == [PaperTable]
    assert machine.bandwidth_section(replace(found, tiers=())) is None


@pytest.mark.parametrize(("listed", "said"), [(True, "No fabric is drawn: no"), (False, "No fabric to build: no")])
def test_the_reason_for_a_missing_fabric_is_told(listed: bool, said: str) -> None:
    found = trained()
    left_out = ("a", "switches: no") if listed else ("a",)
    bill = replace(found.bill, bill=replace(found.bill.bill, why="no", not_counted=left_out))
    section = machine.machine_section(replace(found, bill=bill))
    assert section is not None
    (text,) = [block for block in section.blocks if isinstance(block, Text)]
    assert (text.text, text.field) == (f"{said}.", "bill.why")
