"""Failures of single parts: laws of redundancy, counts against an enumeration of links, and hand-worked hours."""

from __future__ import annotations

import math
import random
from collections import Counter
from collections.abc import Sequence
from csv import DictReader
from io import StringIO

import pytest
from hypothesis import given
from hypothesis import strategies as st

from clusterspec import analysis
from clusterspec.analysis.failures import parts as failures_of_parts
from clusterspec.analysis.failures.lost_hours import YearlyLoss, hours_lost, rate_variance
from clusterspec.catalog import Catalog
from clusterspec.cost.estimate import legal_estimate
from clusterspec.cost.failures import PartRate, published_rate
from clusterspec.exchange.exporters.fabric import Link, fabric_links
from clusterspec.exchange.exporters.registry import ExportInput, NotExportable
from clusterspec.quantity import YEAR, Figure
from clusterspec.records import replace
from clusterspec.report import TextStyle
from clusterspec.report.faults_text import assumptions_as_text, faults_as_text, faults_csv
from clusterspec.results.faults import STOPS, FaultRow, FaultsReport
from clusterspec.rules.knowledge.failing_parts import FailingMachine
from clusterspec.source import Assumed
from clusterspec.studies import Study
from tests.analysis.jobs import study_of
from tests.effort import diagonal, telling, thorough

JOB = """
cluster:
  platform: dgx-h100
  nodes: {nodes}
  spare_nodes: {spares}
  scale_out: {{{fabric}}}
workload: {{model: llama-3.1-8b, sequence_length: 8192, global_batch: 512}}
layout: {{tp: {tp}, pp: {pp}, sharding: fsdp}}
operations: {{restart_time: 20 min, repair_time: 12 h, checkpoint_interval: 60 min, checkpoint_time: 1 min{operations}}}
"""
FAT_TREE = "topology: fat-tree, switch_ports: 64"
OFTEN = "mean_time_between_failures: 5 h"
FABRICS = {
    "fat tree": FAT_TREE,
    "oversubscribed": f"{FAT_TREE}, oversubscription: 2",
    "one node on a leaf": "topology: fat-tree, switch_ports: 16, tiers: 2, oversubscription: 2",
    "three tiers": "topology: fat-tree, switch_ports: 16, tiers: 3",
    "rails": "topology: rail-optimized, switch_ports: 16, tiers: 2",
    "rails apart": "topology: rail-only, switch_ports: 8, tiers: 2",
    "planes": f"{FAT_TREE}, planes: 2",
    "one switch": "topology: single-switch, switch_ports: 256",
    "a pod": f"{FAT_TREE}, pod_nodes: 8, oversubscription: 2",
}


def job(
    fabric: str = FAT_TREE, *, nodes: int = 16, spares: int = 0, tp: int = 1, pp: int = 1, operations: str = ""
) -> Study:
    more = f", {operations}" if operations else ""
    return study_of(JOB.format(nodes=nodes, spares=spares, fabric=fabric, tp=tp, pp=pp, operations=more))


def found(study: Study) -> FaultsReport:
    report = analysis.faults(study)
    assert not study.failures
    return report


def rows_of(study: Study) -> dict[str, FaultRow]:
    return {row.part: row for row in found(study).rows}


def lost_hours(study: Study) -> float:
    return sum(row.hours or 0.0 for row in found(study).rows)


@thorough
@pytest.mark.parametrize("fabric", FABRICS.values(), ids=FABRICS)
def test_counts_are_those_of_every_link_and_switch_listed(fabric: str) -> None:
    study = job(fabric)
    links = list(fabric_links(ExportInput(study.design)))
    listed = Counter(link.level for link in links)
    ends = {(link.plane, end.kind, end.number) for link in links for end in (link.low, link.high)}
    switches = Counter(kind for _, kind, _ in ends)
    rows = rows_of(study)
    names = {"node_leaf": "NIC-leaf link", "leaf_spine": "leaf-spine link", "spine_core": "spine-core link"}
    assert {name: rows[name].count for name in names.values() if name in rows} == {
        names[level]: number for level, number in listed.items()
    }
    switch = {"leaf": "leaf switch", "spine": "spine switch", "core": "core switch"}
    assert {name: rows[name].count for name in switch.values() if name in rows} == {
        switch[kind]: number for kind, number in switches.items() if kind in switch
    }
    assert (rows["node"].count, rows["accelerator"].count, rows["NIC"].count) == (16, 128, 128)


ENUMERATED = FABRICS | {
    "three tiers, tapered": "topology: fat-tree, switch_ports: 16, tiers: 3, oversubscription: [1, 2]",
    "three tiers, two planes": "topology: fat-tree, switch_ports: 16, tiers: 3, planes: 2",
    "rails in two planes": "topology: rail-optimized, switch_ports: 16, tiers: 2, planes: 2",
    "rails, oversubscribed": "topology: rail-optimized, switch_ports: 16, tiers: 2, oversubscription: 3",
    "rails, three tiers": "topology: rail-optimized, switch_ports: 8, tiers: 3",
    "rails, three tiers, two planes": "topology: rail-optimized, switch_ports: 8, tiers: 3, planes: 2",
    "spines that share cores": "topology: rail-optimized, switch_ports: 8, tiers: 3, planes: 2, oversubscription: 3",
}
LINKS = {"node_leaf": "NIC-leaf link", "leaf_spine": "leaf-spine link", "spine_core": "spine-core link"}
Switch = tuple[int, str, int]
"""Plane, kind and number."""


def ends_of(link: Link) -> tuple[Switch, Switch]:
    return (link.plane, link.low.kind, link.low.number), (link.plane, link.high.kind, link.high.number)


def pods_of(links: Sequence[Link]) -> dict[Switch, int]:
    """The pod of each leaf and spine: those that reach each other below the core, in one plane."""
    members: dict[int, set[Switch]] = {}
    pods: dict[Switch, int] = {}
    for link in links:
        if link.level == "leaf_spine":
            low, high = (pods.setdefault(end, len(pods)) for end in ends_of(link))
            joined = members.pop(high, set(ends_of(link))) | (members.pop(low, set()) if low != high else set())
            members[low] = joined | set(ends_of(link))
            pods |= dict.fromkeys(joined, low) if low != high else {}
    return pods


def tiers_of(links: Sequence[Link]) -> list[tuple[str, object]]:
    """The tier of each link, and the NIC, leaf or pod whose link it is."""
    pods, found = pods_of(links), list[tuple[str, object]]()
    for link in links:
        low = ends_of(link)[0]
        if link.level == "node_leaf":
            found.append(("nic", (low[1:], link.low.port)))
        else:
            found.append(("leaf", low) if link.level == "leaf_spine" else ("pod", pods[low]))
    return found


@thorough
@pytest.mark.parametrize("fabric", ENUMERATED.values(), ids=ENUMERATED)
def test_what_every_single_part_takes_is_what_its_class_says(fabric: str) -> None:
    """Brute force: each link, switch and plane of the enumerated fabric is taken away by itself."""
    every_part_takes_what_its_class_says(job(fabric))


LARGER = {
    "racks on rails": ("gb200-nvl72", 72, "topology: rail-optimized, switch_ports: 64, tiers: 2"),
    "racks on rails in planes": ("gb300-nvl72", 36, "topology: rail-optimized, switch_ports: 64, tiers: 2, planes: 2"),
    "racks on a tapered tree": (
        "gb200-nvl72",
        72,
        "topology: fat-tree, switch_ports: 32, tiers: 3, oversubscription: 2",
    ),
    "pods of small switches": ("dgx-h100", 128, "topology: fat-tree, switch_ports: 32, tiers: 3"),
    "a pod that is not full": (
        "dgx-b200",
        60,
        "topology: rail-optimized, switch_ports: 16, tiers: 3, oversubscription: 2",
    ),
}


@thorough
@pytest.mark.parametrize(("platform", "nodes", "fabric"), LARGER.values(), ids=LARGER)
def test_parts_of_racks_and_pods_are_those_of_every_link(platform: str, nodes: int, fabric: str) -> None:
    """Counts, bandwidth and the nodes below a leaf, of racks of 18 nodes and of pods below cores."""
    study = study_of(job(fabric, nodes=nodes).source.text.replace("dgx-h100", platform))
    links = list(fabric_links(ExportInput(study.design)))
    classes = {part.name: part for part in FailingMachine(study.design, None, None).classes}
    every_part_takes_what_its_class_says(study)
    kinds = Counter(kind for _, kind, _ in {end for link in links for end in ends_of(link)})
    for kind in ("leaf", "spine", "core"):
        named = classes.get(f"{kind} switch")
        assert (named.count if named is not None else 0) == kinds[kind], kind
    below: dict[Switch, set[int]] = {}
    for link in links:
        if link.level == "node_leaf":
            below.setdefault(ends_of(link)[1], set()).add(link.low.number)
    assert classes["leaf switch"].nodes == max(map(len, below.values()))
    if "nvl72" in platform:
        assert (classes["scale-up domain"].count, classes["scale-up domain"].nodes) == (nodes // 18, 18)


def every_part_takes_what_its_class_says(study: Study) -> None:
    out = study.design.cluster.scale_out if study.design.cluster else None
    assert out is not None
    machine = FailingMachine(study.design, None, None)
    classes = {part.name: part for part in machine.classes}
    links = list(fabric_links(ExportInput(study.design)))
    tiers, at = tiers_of(links), dict[tuple[object, ...], set[int]]()
    for index, link in enumerate(links):
        for end in ends_of(link):
            at.setdefault(end, set()).add(index)
            at.setdefault(("plane", end[0]), set()).add(index)
    whole, seen = Counter(tiers), dict[str, float]()
    removals = [(LINKS[link.level], {index}) for index, link in enumerate(links)]
    removals += [(f"{end[1]} switch", cut) for end, cut in at.items() if end[1] in {"leaf", "spine", "core"}]
    removals += [("plane", cut) for end, cut in at.items() if end[0] == "plane" and out.planes > 1]
    for name, indices in removals:
        lost = {of: number / whole[of] for of, number in Counter(tiers[index] for index in indices).items()}
        nearest = next(tier for tier in ("nic", "leaf", "pod") if any(of[0] == tier for of in lost))
        share = max(share for of, share in lost.items() if of[0] == nearest) / (1 if nearest == "nic" else out.planes)
        seen[name] = max(share, seen.get(name, 0.0))
        assert classes[name].tier == nearest, name
    assert seen == pytest.approx({name: classes[name].lost for name in seen})


def test_a_fabric_without_a_part_is_the_fabric_that_is_built_without_it() -> None:
    """One of two spines away is 2:1; one of two planes away is NICs of half the rate."""
    for fabric, part, other in (
        (FAT_TREE, "spine switch", FABRICS["oversubscribed"]),
        (FABRICS["planes"], "plane", f"{FAT_TREE}, nic_bandwidth: 200 Gb/s"),
    ):
        assert rows_of(job(fabric))[part].step_time == pytest.approx(legal_estimate(job(other).design).step_seconds)


@thorough
@pytest.mark.parametrize(("fabric", "degrees"), diagonal(len(FABRICS), [*FABRICS.values()], [(1, 1), (8, 2)]))
def test_a_failure_never_makes_a_step_faster(fabric: str, degrees: tuple[int, int]) -> None:
    report = found(job(fabric, tp=degrees[0], pp=degrees[1]))
    assert report.step_time is not None
    for row in report.rows:
        assert row.step_time is None or row.step_time >= report.step_time * (1 - 1e-12), row
        assert (row.step_time is None) == (row.effect == "stops"), row
        assert row.effect != "none" or row.step_time == pytest.approx(report.step_time)


@pytest.mark.parametrize("fabric", FABRICS.values(), ids=FABRICS)
def test_a_machine_with_nothing_lost_is_the_machine_of_the_spec(fabric: str) -> None:
    design = job(fabric).design
    step = legal_estimate(design).step_seconds
    machine = FailingMachine(design, step, None)
    for tier in ("nic", *(("leaf", "pod") if machine.levels else ())):
        assert legal_estimate(machine.degraded_design(tier, 0.0)).step_seconds == pytest.approx(step)


@thorough
@pytest.mark.parametrize(
    ("fabric", "operations"),
    diagonal(
        len(FABRICS),
        [*FABRICS.values()],
        [("mean_time_between_failures: 5 h", 5 * 3600.0), ("node_mtbf: 900 h", 900 * 3600.0 / 16)],
    ),
)
def test_failures_of_all_classes_are_those_that_the_goodput_counts(fabric: str, operations: tuple[str, float]) -> None:
    """A stated time between failures is that of the failures that stop the job; the others only slow it."""
    stated, between = operations
    report = found(job(fabric, spares=1, operations=stated))
    assert stops_of(report) == pytest.approx(YEAR / between)


@thorough
@pytest.mark.parametrize("fabric", FABRICS.values(), ids=FABRICS)
@pytest.mark.parametrize(("nodes", "used"), [(16, 16), (34, 32), (40, 17), (40, 5), (33, 1)])
def test_switches_and_links_that_only_standby_nodes_use_are_not_counted(fabric: str, nodes: int, used: int) -> None:
    """The counts are those of the drawn links that a node of the job, or a leaf below which one is, has."""
    text = JOB.format(nodes=nodes, spares=0, fabric=fabric, tp=1, pp=1, operations="")
    design = study_of(text.replace("layout: {", f"layout: {{nodes: {used}, ")).design
    machine = FailingMachine(design, None, None)
    if machine.fabric is None or not machine.fabric.fits or used == 1:
        return
    try:
        links = [*fabric_links(ExportInput(design))]
    except NotExportable:
        return
    leaves = {(link.plane, link.high.number) for link in links if link.level == "node_leaf" and link.low.number <= used}
    uplinks = sum(link.level == "leaf_spine" and (link.plane, link.low.number) in leaves for link in links)
    counts = {part.name: part.count for part in machine.classes}
    assert counts.get("leaf switch", 0) == len(leaves)
    if not machine.levels or used == nodes or machine.fabric.leaf_switches % len(leaves) == 0:
        assert counts.get("leaf-spine link", 0) == pytest.approx(uplinks, abs=1)


@pytest.mark.parametrize("fabric", [FAT_TREE, "topology: rail-optimized, switch_ports: 16, tiers: 2"])
def test_leaves_between_the_nodes_of_a_job_are_not_counted(fabric: str) -> None:
    """Eight of the 18 nodes of each of three domains: from the 1st, the 19th and the 37th on."""
    domains = f"cluster: {{platform: gb200-nvl72, nodes: 54, spare_nodes: 0, scale_out: {{{fabric}}}}}"
    _, work = JOB.split("workload:")
    work = work.format(tp=1, pp=1, operations="").replace("layout: {", "layout: {nodes: 24, nodes_per_domain: 8, ")
    design = study_of(f"{domains}\nworkload:{work}").design
    placed = {18 * domain + node for domain in range(3) for node in range(1, 9)}
    links = fabric_links(ExportInput(design))
    leaves = {link.high.number for link in links if link.level == "node_leaf" and link.low.number in placed}
    (found,) = (part for part in FailingMachine(design, None, None).classes if part.name == "leaf switch")
    assert found.count == len(leaves)


def test_spare_nodes_below_a_leaf_of_their_own_change_no_time_between_failures() -> None:
    """32 nodes of eight NICs are below eight leaves of 32 ports down, two spares below a ninth."""
    between = []
    for spares in (0, 2):
        report = found(job(nodes=32, spares=spares))
        leaf = next(row for row in report.rows if row.part == "leaf switch")
        assert leaf.count == 8 and leaf.failures == pytest.approx(8 * 0.0061)
        between.append(stops_of(report))
    assert between[0] == pytest.approx(between[1])


def stops_of(report: FaultsReport) -> float:
    """The failures of a year that stop the job."""
    return sum(row.failures or 0.0 for row in report.rows if row.effect == STOPS)


@thorough
@pytest.mark.parametrize(
    ("fabric", "operations"),
    diagonal(len(FABRICS), [*FABRICS.values()], ["", "failures: {accelerator: {afr: 0.5}, switch: {afr: 0.2}}"]),
)
def test_the_time_between_failures_of_the_cost_is_that_of_the_rows_that_stop_the_job(
    fabric: str, operations: str
) -> None:
    """One sum: `cost`, `check` and the report divide the year by the failures that `faults` lists."""
    study = job(fabric, operations=operations)
    report, costs = found(study), analysis.cost(study).cost
    assert costs is not None and costs.goodput is not None
    assert dict(costs.goodput.inputs)["between"].value == pytest.approx(YEAR / stops_of(report))
    assumed = {key: figure for key, figure, _ in report.assumptions}["operations.mean_time_between_failures"]
    assert isinstance(assumed, Figure) and assumed.value == pytest.approx(YEAR / stops_of(report))


@thorough
@pytest.mark.parametrize("fabric", FABRICS.values(), ids=FABRICS)
def test_each_class_fails_as_often_as_its_parts_do_in_the_catalog(fabric: str) -> None:
    report, catalog = found(job(fabric, spares=1)), Catalog.open()
    rows = {row.part: row for row in report.rows}
    rates = {part: published_rate(part, catalog) for part in catalog.ids("failure-rate")}
    each = {part: rate.yearly for part, rate in rates.items() if rate is not None}
    link = each["cable"] + 2 * each["optic"]
    kinds = {"accelerator": each["accelerator"], "node": each["node"], "NIC": each["nic"]}
    kinds |= {row: link for row in rows if row.endswith("link")}
    kinds |= {row: each["switch"] for row in rows if row.endswith("switch")}
    for name, yearly in kinds.items():
        row = rows[name]
        assert row.count and row.failures and row.failures == pytest.approx(row.count * yearly), name
        assert row.likely and row.likely[0] < row.failures < row.likely[1], name
    assert rows["software"].failures == pytest.approx(128 * each["software"])


def test_writing_the_rates_of_the_catalog_into_the_spec_changes_nothing() -> None:
    catalog = Catalog.open()
    rates = [published_rate(part, catalog) for part in catalog.ids("failure-rate") if part != "network"]
    stated = ", ".join(
        f"{rate.part}: {{afr: {rate.yearly!r}, range: [{rate.low!r}, {rate.high!r}]}}" for rate in rates if rate
    )
    bare, written = (found(job(operations=more)) for more in ("", f"failures: {{{stated}}}"))
    assert {row.part: row.failures for row in written.rows} == pytest.approx(
        {row.part: row.failures for row in bare.rows}
    )
    assert bare.goodput and written.goodput and written.goodput._asdict() == pytest.approx(bare.goodput._asdict())


@thorough
@pytest.mark.parametrize(
    ("fewer", "more"),
    [
        (job(FABRICS["fat tree"], operations=OFTEN), job(FABRICS["planes"], operations=OFTEN)),
        (job(FABRICS["planes"], operations=OFTEN), job(f"{FAT_TREE}, planes: 4", operations=OFTEN)),
        (job(FABRICS["oversubscribed"], operations=OFTEN), job(FABRICS["fat tree"], operations=OFTEN)),
        (job(spares=0, operations=OFTEN), job(spares=4, operations=OFTEN)),
        (job(FABRICS["planes"], spares=0, operations=OFTEN), job(FABRICS["planes"], spares=4, operations=OFTEN)),
    ],
    ids=["two planes", "four planes", "more uplinks", "spare nodes", "spare nodes under planes"],
)
def test_more_redundancy_never_costs_more_hours_at_the_same_number_of_failures(fewer: Study, more: Study) -> None:
    assert lost_hours(more) <= lost_hours(fewer) * (1 + 1e-12)


def test_each_failure_of_a_redundant_part_costs_no_more_than_without_the_redundancy() -> None:
    alone, doubled = rows_of(job(FABRICS["fat tree"])), rows_of(job(FABRICS["planes"]))
    for name in ("NIC-leaf link", "leaf switch"):
        one, two = alone[name], doubled[name]
        assert one.each and two.each is not None
        assert (one.effect, two.effect) == ("stops", "slows")
        assert two.each <= one.each


def test_hours_lost_worked_out_by_hand() -> None:
    """A failure every 5 h, shared as the catalog's rates: accelerators 128 × 0.11064 = 14.162 of the sum, nodes
    16 × 0.15192 = 2.431, NICs 128 × 0.00289 = 0.370, links of NICs 128 × 0.0069 = 0.883, leaves 4.25 × 0.0061 = 0.026,
    software 128 × 0.02601 = 3.329: 21.200. Each takes 20 min of restart and half of an hour's steps.

    8766 h / 5 h × 14.162 / 21.200 = 1171.2 failures, × 50 min = 976.0 h if the job always ran. A leaf takes its four
    nodes along: without four spare nodes the job waits 12 h for the repair, and restarts: 12 h 50 min with the steps
    repeated. So it does for every failed node without a spare one.

    With the leaves the mean restart is 20 min + 0.026 / 21.200 × 12 h = 0.3480 h: the job runs 5 of 5.3480 h. Of the
    time, 0.8305 is kept, (59/60 h) / (5.3480 h × (exp(1/5) - 1)), and 0.0156 saves: failures take 0.1540, not the
    0.1696 that they would take if the job always ran, so that the accelerators take 885.9 h.
    """
    rows = rows_of(job(spares=1, operations="mean_time_between_failures: 5 h"))
    assert rows["accelerator"].failures == pytest.approx(1171.2, rel=1e-3)
    assert rows["accelerator"].each == pytest.approx(5 / 6)
    assert rows["accelerator"].hours == pytest.approx(885.9, rel=1e-3)
    leaf, node = rows["leaf switch"], rows_of(job())["node"]
    assert leaf.each == node.each == pytest.approx(12 + 5 / 6)
    spared = rows_of(job(spares=4, operations="mean_time_between_failures: 5 h"))["leaf switch"]
    assert spared.each == pytest.approx(50 / 60)


def test_a_slow_job_loses_the_slowdown_until_the_repair() -> None:
    """12 h at a step that takes s instead of b keep 12 h × b / s of the steps."""
    report = found(job(FABRICS["one node on a leaf"], operations="mean_time_between_failures: 5 h"))
    spine = next(row for row in report.rows if row.part == "spine switch")
    assert report.step_time and spine.step_time and spine.hours and spine.failures and spine.each
    assert spine.step_time > report.step_time
    assert spine.each == pytest.approx(12 * (1 - report.step_time / spine.step_time))
    costs = analysis.cost(job(FABRICS["one node on a leaf"], operations="mean_time_between_failures: 5 h")).cost
    assert costs is not None and costs.goodput is not None
    kept = {name: figure.value for name, figure in costs.goodput.inputs}
    runs = kept["between"] / (kept["between"] + kept["restart"])  # a stopped job is not slowed
    assert spine.hours == pytest.approx(spine.failures * spine.each * runs)
    assert report.slowed_hours == pytest.approx(sum(row.hours or 0 for row in report.rows if row.effect == "slows"))


SPARES = [
    *((16, OFTEN), (0, OFTEN), (0, ""), (4, "recovery: shrink")),
    (0, "failures: {node: {afr: 9}}, recovery: shrink"),
]


@thorough
@pytest.mark.parametrize(("fabric", "stock"), diagonal(len(FABRICS), list(FABRICS.values()), SPARES))
def test_the_goodput_is_that_of_the_cost_and_the_hours_of_the_rows_are_what_it_lacks(
    fabric: str, stock: tuple[int, str]
) -> None:
    """The goodput, the pauses of checkpoints and the hours of all failures that stop the job are a year."""
    spares, operations = stock
    study = job(fabric, spares=spares, operations=operations)
    report, costs = found(study), analysis.cost(study).cost
    assert report.goodput is not None and costs is not None and costs.goodput is not None
    assert report.goodput.mean == pytest.approx(costs.goodput.value)
    assert report.goodput.p5 < report.goodput.mean < report.goodput.p95
    kept = {name: figure.value for name, figure in costs.goodput.inputs}
    saving = kept["between"] / (kept["between"] + kept["restart"]) * kept["checkpoint"] / kept["interval"]
    stopped = sum((row.hours or 0.0) - (row.slowed or 0.0) for row in report.rows)
    assert 8766 * (report.goodput.mean + saving) + stopped == pytest.approx(8766)


def test_a_tray_that_a_job_restarts_without_stops_it_for_the_restart_alone_in_every_output() -> None:
    """18 trays of each of two racks, with which no node fails: the mean restart has no repair of theirs."""
    rates = "failures: {tray: {afr: 20}}"
    text = RACKS % ("gb200-nvl72, spare_nodes: 0", "switch_loss: restarts")
    study = study_of(text.replace("repair_time: 12 h", f"repair_time: 12 h, {rates}"))
    report, costs = found(study), analysis.cost(study).cost
    assert report.goodput is not None and costs is not None and costs.goodput is not None
    assert report.goodput.mean == pytest.approx(costs.goodput.value)
    tray = next(row for row in report.rows if row.part == "scale-up switch")
    assert tray.failures == pytest.approx(20 * (tray.count or 0)) and tray.slowed and tray.hours and tray.each
    assert tray.hours > tray.slowed > 0


def simulated(losses: Sequence[YearlyLoss], years: int) -> list[float]:
    """Hours lost in each of some years, in order, each failure drawn by itself."""
    draw, out = random.Random(7), []
    for _ in range(years):
        hours = 0.0
        for each in losses:
            at = draw.expovariate(each.failures)
            while at < 1:
                hours += each.fixed + draw.random() * each.spread
                at += draw.expovariate(each.failures)
        out.append(hours)
    return sorted(out)


@pytest.mark.parametrize("failures", [40.0, 90.0, 600.0])
def test_hours_with_an_uncertain_rate_are_those_of_a_simulation(failures: float) -> None:
    """The rate of each year is drawn first: 5 % of rates are below half of the usual one and 5 % above twice."""
    draw, variance, years = random.Random(11), rate_variance(1.0, 0.5, 2.0), 4000
    hours = list[float]()
    for _ in range(years):
        mean = failures * draw.gammavariate(1 / variance, variance)
        number = max(0.0, draw.gauss(mean, mean**0.5))  # each year's number of failures, and their hours
        hours.append(max(0.0, draw.gauss(0.7 * number, (number / 12) ** 0.5)))
    hours.sort()
    expected, quantiles = hours_lost([YearlyLoss(failures, 0.2, 1.0)], variance)
    assert expected == pytest.approx(failures * 0.7)
    for share, value in quantiles.items():
        assert hours[round(share * years)] == pytest.approx(value, rel=0.06), share


def test_the_hours_of_a_year_are_those_of_a_simulation() -> None:
    for losses in (
        [YearlyLoss(0.02, 5.0, 1.0)],  # nothing happens in most years
        [YearlyLoss(0.001, 0.0, 20.0)],  # one failure is longer than eight deviations above the mean
        [YearlyLoss(3.0, 0.2, 2.0)],
        [YearlyLoss(12.0, 0.2, 1.0), YearlyLoss(0.5, 24.0), YearlyLoss(1.5, 0.01)],
        [YearlyLoss(90.0, 0.3, 0.4), YearlyLoss(1.0, 8.0)],
        [YearlyLoss(400.0, 0.3, 0.4)],
    ):
        years = min(10_000, round(30_000 / sum(each.failures for each in losses)))
        hours, (mean, quantiles) = simulated(losses, years), hours_lost(losses)
        error = sum(each.failures * each.mean_square_hours for each in losses) ** 0.5 / years**0.5
        assert mean == pytest.approx(sum(each.failures * each.mean for each in losses))
        assert mean == pytest.approx(sum(hours) / years, abs=3 * error)
        for share, value in quantiles.items():
            off = 3 * (share * (1 - share) / years) ** 0.5
            low, high = (hours[min(years - 1, max(0, int(years * at)))] for at in (share - off, share + off))
            assert low - 0.02 * mean <= value <= high + 0.02 * mean, (losses, share)


def test_few_failures_a_year_have_percentiles_and_a_cost() -> None:
    """With 8.766 failures a year, few of 100 years have none; the cost is that of the hours that keep no step."""
    report = found(job(operations="mean_time_between_failures: 1000 h"))
    goodput = report.goodput
    assert goodput is not None
    assert goodput.p5 < goodput.p50 < goodput.p95 < 1
    assert goodput.p50 == pytest.approx(goodput.mean, rel=2e-3)
    assert report.cost_of_lost_hours is None
    lost = replace(report, hour=100.0).cost_of_lost_hours
    assert lost is not None
    slowed = sum(row.slowed or 0.0 for row in report.rows)
    assert lost.mean == pytest.approx(100 * (8766 * (1 - goodput.mean) + slowed))
    assert lost.mean < lost.p95 == pytest.approx(100 * (8766 * (1 - goodput.p5) + slowed))


def test_an_hour_lost_costs_an_hour_of_the_machine() -> None:
    """A term of 2 years has 17,532 h; the accelerators take 885.9 h of them in each."""
    bare = found(job(operations="mean_time_between_failures: 5 h"))
    assert bare.hour is None and all(row.cost is None for row in bare.rows)
    text = JOB.format(nodes=16, spares=1, fabric=FAT_TREE, tp=1, pp=1, operations=", mean_time_between_failures: 5 h")
    prices = "procurement: {currency: USD, term: 2 y, prices: {node: 100000, leaf_switch: 1000, spine_switch: 1000}}\n"
    priced = study_of(text + prices)
    costs = analysis.cost(priced).cost
    report = found(priced)
    assert costs is not None and costs.total is not None and report.hour is not None
    assert report.hour == pytest.approx(costs.total.value / 17_532)
    row = next(row for row in report.rows if row.part == "accelerator")
    assert row.cost == pytest.approx(885.9 * report.hour, rel=1e-3)
    assert report.currency == "USD"
    part = study_of(text + prices.replace("term: 2 y", "term: 2 y, utilization: 0.8"))
    half, lost = found(part), report.cost_of_lost_hours
    less = next(row for row in half.rows if row.part == "accelerator")
    assert half.hour == pytest.approx(report.hour / 0.8) and less.hours == pytest.approx(885.9 * 0.8, rel=1e-3)
    assert less.cost == pytest.approx(row.cost) and less.failures == row.failures
    assert lost is not None and half.cost_of_lost_hours == pytest.approx(lost)
    assert half.goodput == report.goodput
    assert any("80 % of the time in which the machine is in use" in note for note in half.notes)
    assert not any("in use" in note for note in report.notes)


def test_an_hour_of_a_job_costs_the_same_in_the_cost_of_its_run_and_of_its_failures() -> None:
    """Half of the nodes stand idle, and the machine is in use 80 % of the time: the run carries all of it."""
    text = JOB.format(nodes=16, spares=1, fabric=FAT_TREE, tp=1, pp=1, operations="")
    each = "{node: 100000, leaf_switch: 1000, spine_switch: 1000}"
    prices = f"procurement: {{currency: USD, term: 2 y, utilization: 0.8, prices: {each}}}\n"
    study = study_of(
        text.replace("layout: {", "layout: {nodes: 8, ").replace("batch: 512", "batch: 512, tokens: 1T") + prices
    )
    costs, report = analysis.cost(study).cost, found(study)
    assert costs is not None and costs.per_run is not None and costs.run is not None
    assert report.hour == pytest.approx(costs.per_run.value / (costs.run.value / 3600))


def test_parts_of_the_room_have_assumed_rates_and_repairs_of_their_own() -> None:
    """A rack away for 6 h costs the job 6 h, 20 min of restart and half an hour of steps, without spare nodes."""
    power = "  power: {nodes_per_rack: 4, feeds: 2N, cooling: liquid}\n"
    power += "  networks: {storage: {bandwidth: 100 GB/s}}\n"
    text = JOB.format(nodes=16, spares=0, fabric=FAT_TREE, tp=1, pp=1, operations="")
    report = found(study_of(text.replace("workload:", f"{power}workload:", 1)))
    rows = {row.part: row for row in report.rows}
    of_room = ("rack", "power feed", "cooling distribution unit", "storage system")
    assert [rows[name].effect for name in of_room] == ["stops", "slows", "stops", "stops"]
    assert [rows[name].failures for name in of_room] == pytest.approx([4 * 0.02, 8 * 0.02, None, 1.0])
    assert rows["rack"].each == pytest.approx(12 + 5 / 6)  # `repair_time` is 12 h for all parts
    assert any("how many there are of: cooling distribution unit" in note for note in report.notes)
    shown = {key: why for key, _, why in report.assumptions}
    kept = text.replace("repair_time", "stock: {lead_time: 5 y}, repair_time").replace(
        "workload:", f"{power}workload:", 1
    )
    stocked = found(study_of(kept)).stock
    assert stocked is not None and stocked.parts["leaf switch"] and not stocked.parts.keys() & {*of_room, "software"}
    assert all(shown[f"operations.failures.{key}"].startswith("assumed in the catalog") for key in ("rack", "store"))
    alone = {
        row.part: row
        for row in found(
            study_of(text.replace("repair_time: 12 h, ", "").replace("workload:", f"{power}workload:", 1))
        ).rows
    }
    assert (alone["rack"].each, alone["storage system"].each) == pytest.approx((6 + 5 / 6, 5 + 5 / 6))


@telling(2)
@pytest.mark.parametrize(
    ("machine", "left", "lost"),
    [
        ("platform: dgx-h100, power: {nodes_per_rack: 4, feeds: 2N}", "3 of 6", (10.2 - 3 * 3.3) / 8 / 0.7),
        ("platform: dgx-h100, power: {nodes_per_rack: 4, feeds: 2N, node: 9.8 kW}", "3 of 6", 0.0),
        ("platform: dgx-h100, power: {nodes_per_rack: 4, feeds: N+1}", "4 of 6", 0.0),
        ("platform: dgx-b200, power: {nodes_per_rack: 4, feeds: N+1}", "4 of 6", (14.3 - 4 * 3.3) / 8),
        ("platform: gb200-nvl72, power: {feeds: 2N}", "4 of 8", 0.0),  # 132 kW for 120 kW
        ("platform: hgx-b200, power: {feeds: 2N, node: 14 kW, supplies: {count: 10, power: 3.2 kW}}", "5 of 10", 0.0),
        ("platform: dgx-b200, power: {feeds: 2N, supplies: {count: 8, power: 3 kW}}", "4 of 8", (14.3 - 12) / 8),
    ],
)
def test_a_lost_feed_leaves_the_supplies_of_the_others(machine: str, left: str, lost: float) -> None:
    """What three of six supplies of 3.3 kW lack for 10.2 kW, eight accelerators of 0.7 kW do without."""
    work = "workload: {model: llama-3.1-8b, sequence_length: 8192, global_batch: 1152}\nlayout: {sharding: fsdp}\n"
    report = found(study_of(f"cluster: {{{machine}, nodes: 36}}\n{work}"))
    feed = next(row for row in report.rows if row.part == "power feed")
    assert left in feed.why and feed.lost == pytest.approx(lost)
    assert feed.effect == ("slows" if lost else "none") and feed.step_time is not None and report.step_time is not None
    assert (feed.step_time > report.step_time) is (lost > 0)


def test_supplies_that_nobody_states_are_asked_for() -> None:
    row = rows_of(study_of("cluster: {platform: hgx-b300, nodes: 8, power: {nodes_per_rack: 4, feeds: 2N}}\n"))[
        "power feed"
    ]
    assert row.effect == "none" and "takes `power.supplies`" in row.why


@pytest.mark.parametrize(("units", "lost"), [(3, 20_000 / 128 / 700), (4, 0.0)])
def test_a_lost_cooling_unit_throttles_what_the_others_do_not_carry(units: int, lost: float) -> None:
    """16 nodes of 10 kW give 120 kW to liquid; two of three units carry 100 kW, three of four 150 kW."""
    cdus = f"cdus: {{count: {units}, capacity: 50 kW}}"
    power = f"  power: {{node: 10 kW, cooling: liquid, liquid_share: 0.75, {cdus}}}\n"
    text = JOB.format(nodes=16, spares=0, fabric=FAT_TREE, tp=1, pp=1, operations="")
    report = found(study_of(text.replace("workload:", f"{power}workload:", 1)))
    row = next(row for row in report.rows if row.part == "cooling distribution unit")
    assert (row.count, row.effect) == (units, "slows" if lost else "none")
    assert row.lost == pytest.approx(lost)
    assert f"{units - 1} of {units} units are left" in row.why
    assert row.failures == pytest.approx(0.1 * units)  # the catalog's rate


def test_an_uncertain_rate_widens_the_goodput_and_keeps_its_mean() -> None:
    rates = "failures: {{accelerator: {{afr: 0.5{accelerator}}}, node: {{afr: 0.5{node}}}}}"
    wide, narrow = ", range: [0.2, 1.2]", ", range: [0.5, 0.5]"
    both, one, none = (
        found(job(operations=rates.format(accelerator=first, node=second))).goodput
        for first, second in ((wide, wide), (narrow, wide), (narrow, narrow))
    )
    assert both and one and none
    assert both.mean == pytest.approx(one.mean) and one.mean == pytest.approx(none.mean)
    assert both.p5 < one.p5 < none.p5 < none.p95 < one.p95 < both.p95


def test_a_machine_without_a_job_has_counts_and_no_hours() -> None:
    report = found(study_of("cluster: {platform: dgx-h100, nodes: 16}\n"))
    rows = {row.part: row for row in report.rows}
    assert rows["accelerator"].count == 128
    assert rows["spine switch"].effect == "slows"
    assert report.step_time is None and report.goodput is None
    assert all(row.hours is None for row in report.rows)


UNCOUNTED = ("platform: aws-p5-48xlarge", "platform: dgx-h100, scale_out: {topology: dragonfly}")


@pytest.mark.parametrize("cluster", UNCOUNTED)
def test_a_network_that_is_not_counted_keeps_its_share_of_the_failures(cluster: str) -> None:
    report = found(study_of(f"cluster: {{{cluster}, nodes: 16}}\n"))
    network = next(row for row in report.rows if row.part == "network")
    assert network.count is None and network.effect == "stops"
    assert network.failures == pytest.approx(128 * 35 / 16_384 / (54 / 365.25))
    assert any("Links and switches are not counted" in note for note in report.notes)


def test_all_classes_lose_at_most_the_year_together() -> None:
    report = found(job(operations="mean_time_between_failures: 1 s"))
    assert 0.99 * 8766 < sum(row.hours or 0.0 for row in report.rows) < 8766
    assert report.goodput is not None and report.goodput.mean == pytest.approx(0, abs=1e-9)


def test_a_rack_scale_domain_stops_with_all_its_nodes() -> None:
    rows = rows_of(study_of("cluster: {platform: gb200-nvl72, nodes: 36, power: {feeds: N+1}}\n"))
    assert rows["scale-up domain"].count == 2 and rows["power feed"].count == 6  # three feeds of each rack


RACKS = """
cluster: {platform: %s, nodes: 36, scale_out: {technology: roce-v2}, scale_up: {%s}}
workload: {model: llama-3.1-70b, sequence_length: 8192, global_batch: 1152}
layout: {tp: 8, sharding: fsdp}
operations: {restart_time: 20 min, repair_time: 12 h, checkpoint_interval: 60 min, checkpoint_time: 1 min}
"""


@telling(1)
@pytest.mark.parametrize(
    ("platform", "stated", "trays", "left", "fixed"),
    [
        ("gb200-nvl72", "", 18, 0.0, 12 + 5 / 6),  # waits 12 h, and repeats half an hour of steps
        ("gb200-nvl72", "switch_loss: restarts", 18, 8 / 9, 1 / 3 + 0.5),
        ("gb200-nvl72", "switches: 18, switch_loss: slows", 36, 17 / 18, 0.0),
        ("mi455x-helios", "", 12, 5 / 6, 0.0),
    ],
)
def test_a_lost_switch_tray_takes_its_share_of_the_links_of_its_domain(
    platform: str, stated: str, trays: int, left: float, fixed: float
) -> None:
    """Two domains of 18 nodes. What slows a job loses 12 h times the slowdown of a machine with the links left."""
    report = found(study_of(RACKS % (platform, stated)))
    row = next(row for row in report.rows if row.part == "scale-up switch")
    assert row.count == trays and row.failures == pytest.approx(trays * 0.0061)
    assert row.effect == ("slows" if left else "stops") and row.lost == pytest.approx(1 - left)
    assert report.step_time and row.hours is not None and row.failures is not None and row.each is not None
    slowdown = 0.0
    if left:
        full = study_of(RACKS % (platform, stated)).design.cluster
        assert full is not None
        rate = f"bandwidth: {full.scale_up.bandwidth.value * left} B/s per direction"
        step = legal_estimate(study_of(RACKS % (platform, rate)).design).step_seconds
        assert row.step_time == pytest.approx(step)
        slowdown = 1 - report.step_time / row.step_time if row.step_time else 0.0
        assert slowdown > 0
    assert row.each == pytest.approx(fixed + 12 * slowdown, rel=1e-3)
    assert 0 < row.hours <= row.failures * row.each


@pytest.mark.parametrize(
    ("platform", "stated", "lost", "why"),
    [
        ("gb200-nvl72", "", 1 / 2, "9 of 18 engines stop"),
        ("gb200-nvl72", "switch_loss: restarts", 1 / 2, "9 of 18 engines stop"),
        ("mi455x-helios", "", 1 / 6, "continues with them"),
    ],
)
def test_engines_continue_without_a_switch_tray_where_jobs_do(
    platform: str, stated: str, lost: float, why: str
) -> None:
    """Engines of eight on two domains of 72: a tray takes those of its domain, or a sixth of their links."""
    load = "serving: {input_tokens: 1000, output_tokens: 200, concurrency: 64}"
    work = f"workload: {{kind: serve, model: deepseek-v3, {load}}}"
    text = f"cluster: {{platform: {platform}, nodes: 36, scale_up: {{{stated}}}}}\n{work}\nlayout: {{tp: 8, dp: 18}}\n"
    row = rows_of(study_of(text))["scale-up switch"]
    assert row.lost == pytest.approx(lost) and row.effect == "slows" and why in row.why


def test_switch_trays_that_nobody_counted_are_named_without_a_rate() -> None:
    report = found(study_of("cluster: {platform: gb200-nvl36x2, nodes: 36}\n"))
    row = next(row for row in report.rows if row.part == "scale-up switch")
    assert (row.count, row.failures, row.effect) == (None, None, "stops")
    assert any("how many there are of: scale-up switch" in note for note in report.notes)
    assert "scale-up switch" not in rows_of(study_of("cluster: {platform: dgx-b200, nodes: 36}\n"))
    rubin = found(study_of("cluster: {platform: vr-nvl72, nodes: 36}\n")).assumptions
    assert any(key == "cluster.scale_up.switch_loss" for key, _, _ in rubin)


def test_a_fabric_that_a_job_does_not_use_does_not_stop_it() -> None:
    """A job of 16 of the 18 nodes of each of two racks uses both, and the NICs between them; one rack uses no NIC."""
    work = "workload: {model: llama-3.1-8b, sequence_length: 4096, global_batch: 256}\n"
    pod = "cluster: {platform: gb200-nvl72, nodes: %d}\n" + work + "layout: {nodes: %d, nodes_per_domain: 16}\n"
    two, one = (rows_of(study_of(pod % counts)) for counts in ((36, 32), (18, 16)))
    assert (two["scale-up domain"].count, two["NIC"].effect, two["NIC-leaf link"].count) == (2, "stops", 128)
    assert (one["scale-up domain"].count, one["NIC"].effect, one["NIC"].hours) == (1, "none", 0)


CONTRACT = {"part", "count", "failures_per_year", "effect", "step_time", "hours_lost_per_year", "cost_per_year"}


def test_the_document_has_the_fields_of_the_contract() -> None:
    body = found(job(operations="mean_time_between_failures: 5 h")).to_json()
    assert set(body["goodput"]) == {"mean", "p5", "p50", "p95"}
    assert body["spares"]["accelerator"] == {"p95": 4}  # Poisson of 12 h / 5 h × 268 / 419 = 1.54 in repair
    assert all(set(row) >= CONTRACT and row["effect"] in {"stops", "slows", "none"} for row in body["rows"])
    hours = [row["hours_lost_per_year"] or 0 for row in body["rows"]]
    assert hours == sorted(hours, reverse=True)


def test_text_and_table_print_every_row() -> None:
    report = found(job(spares=1, operations="mean_time_between_failures: 5 h"))
    text, table = faults_as_text(report), list(DictReader(StringIO(faults_csv(report))))
    assert [row["part"] for row in table] == [row.part for row in report.rows]
    assert table[0]["part"] == "accelerator"
    assert float(table[0]["hours_lost_per_year"]) == pytest.approx(885.9, rel=1e-3)
    assert text.splitlines()[1].split()[:5] == ["accelerator", "128", "1,171", "stops", "–"]
    assert "Goodput with the failures of known rate that stop the job: " in text


def test_each_assumption_is_named_once_in_the_text_and_listed_whole_on_request() -> None:
    """One sentence has every key with its value; the ranges and reasons are in the list and in JSON."""
    report = found(job(operations="repair_time: 12 h"))
    text = " ".join(faults_as_text(report).split())
    listed = " ".join(assumptions_as_text(report, TextStyle(width=1000)).split())
    assert text.count("Assumed") == 1 and len(report.assumptions) >= 5
    assert "operations: mean_time_between_failures 17.2 days; operations.failures: accelerator 0.111 a year," in text
    for key, value, why in report.assumptions:
        assert f" {key.rpartition('.')[2]} " in text
        assert why not in text
        assert key in listed and " ".join(why.split()) in listed
        assert isinstance(value, Figure) or value in listed
    assert [each["key"] for each in report.to_json()["assumptions"]] == [key for key, _, _ in report.assumptions]
    assert (
        assumptions_as_text(replace(report, assumptions=()))
        == "The spec states every key that the failures depend on.\n"
    )


def test_rows_do_not_depend_on_the_size_of_a_class() -> None:
    """One degraded machine is estimated for each class: a large machine has as many as a small one."""
    small, large = (FailingMachine(job(nodes=nodes).design, 1.0, None) for nodes in (32, 64))
    assert [part.name for part in small.classes] == [part.name for part in large.classes]
    for machine in (small, large):
        list(machine.rows(None))
    assert len(small._steps) == len(large._steps) == 2


def test_stated_rates_of_parts_replace_their_shares() -> None:
    """128 accelerators at 200,000 h fail 128 × 8766 / 200,000 times a year; a link has a cable and two modules.

    256 links of two planes with modules of 1 % and cables of 0.5 % a year fail 256 × 0.025 times.
    """
    rates = "failures: {accelerator: {mtbf: 200000 h}, optic: {afr: 0.01}, cable: {afr: 0.005}, leaf: {afr: 0}}"
    bare, rows = rows_of(job(FABRICS["planes"])), rows_of(job(FABRICS["planes"], operations=rates))
    assert rows["accelerator"].failures == pytest.approx(128 * 8766 / 200_000)
    assert rows["NIC-leaf link"].failures == pytest.approx(256 * 0.025)
    assert rows["leaf switch"].failures == 0
    copper = rows_of(job(f"{FABRICS['planes']}, cable_type: {{node_leaf: dac}}", operations=rates))
    assert copper["NIC-leaf link"].failures == pytest.approx(256 * 0.005)  # its ends are fixed: no modules
    assert rows["node"].failures == pytest.approx(bare["node"].failures)
    both = rows_of(job(operations="mean_time_between_failures: 5 h, failures: {accelerator: {mtbf: 1000 h}}"))
    stops = sum(row.failures or 0.0 for row in both.values() if row.effect == STOPS)
    assert stops == pytest.approx(8766 / 5)


def test_stated_rates_count_in_the_goodput_of_the_cost() -> None:
    """Without accelerators 7.038 of the 21.200 failures of the hand-worked job are left: nodes, NICs, their links,
    leaves and software. Accelerators of 1,000 h fail 128 × 8.766 times a year in addition.
    """
    never, daily = (job(operations=f"failures: {{accelerator: {{{rate}}}}}") for rate in ("afr: 0", "mtbf: 1000 h"))
    found = []
    for study in (never, job(), daily):
        costs = analysis.cost(study).cost
        assert costs is not None and costs.goodput is not None
        found.append(dict(costs.goodput.inputs)["between"].value)
    left = 21.200 - 14.162
    assert found[1] == pytest.approx(YEAR / 21.200, rel=1e-3)
    assert found[0] == pytest.approx(YEAR / left, rel=1e-3)
    assert found[2] == pytest.approx(YEAR / (left + 128 * 8.766), rel=1e-3)


def test_a_job_that_shrinks_loses_the_share_of_the_nodes_that_are_away() -> None:
    """Without spares a leaf takes 4 of 16 nodes for 12 h: 3 h of the job; the rest is restart and repeats."""
    shrunk = rows_of(job(operations="mean_time_between_failures: 5 h, recovery: shrink"))
    leaf, node = shrunk["leaf switch"], shrunk["node"]
    assert leaf.each == pytest.approx(3 + 50 / 60)
    assert node.each == pytest.approx(12 / 16 + 50 / 60)


def test_a_hot_spare_restarts_faster_where_there_is_one() -> None:
    text = JOB.format(nodes=16, spares=1, fabric=FAT_TREE, tp=1, pp=1, operations=", recovery: hot-spare")
    hot = rows_of(study_of(text.replace("restart_time: 20 min, ", "")))["accelerator"]
    assert hot.each == pytest.approx(2 / 60 + 0.5)


@thorough
def test_early_failures_detection_and_stock_follow_their_figures() -> None:
    """A ratio of 3 that halves in 30 days adds 2 × 30 / ln 2 / 365.25 = 0.237 to the failures of the first year; a
    burn-in of one half-life takes half of that away. Ten minutes until a failure is noticed count with each of them.
    """
    early = "early_failures: {ratio: 3, half_life: 30 days}"
    plain = found(job(operations="detection_time: 10 min"))
    new = found(job(operations=early))
    burnt = found(job(operations=f"{early}, burn_in: 30 days"))
    assert new.first_year is not None and burnt.first_year is not None and new.goodput is not None
    assert new.first_year.factor == pytest.approx(1.2369, abs=1e-4)
    assert burnt.first_year.factor - 1 == pytest.approx((new.first_year.factor - 1) / 2)
    assert new.first_year.goodput.mean < burnt.first_year.goodput.mean < new.goodput.mean
    for slow, row in zip(plain.rows, new.rows, strict=True):
        if row.effect == "stops" and row.failures and row.part in {"accelerator", "software", "node"}:
            assert slow.each == pytest.approx((row.each or 0) + 1 / 6), row.part
    stocks = []
    for percentile, weeks in ((0.5, 6), (0.95, 6), (0.95, 26), (0.99, 26)):
        stock = found(job(operations=f"stock: {{lead_time: {weeks} weeks, percentile: {percentile}}}")).stock
        assert stock is not None and "software" not in stock.parts
        stocks.append(stock.parts["accelerator"])
    assert stocks == sorted(stocks) and stocks[0] < stocks[-1]
    assert "early_failures" in " ".join(found(job(operations="early_failures: {ratio: 3}")).notes)


def test_the_stock_costs_its_parts_by_the_prices_of_the_spec() -> None:
    """A link in stock is a cable of 100 and two modules of 50; an accelerator has no price of its own."""
    prices = "prices: {node: 100000, leaf_switch: 1000, spine_switch: 1000, cable: 100, transceiver: 50}"
    stated = "mean_time_between_failures: 5 h, stock: {lead_time: 6 weeks}"
    text = JOB.format(nodes=16, spares=0, fabric=FAT_TREE, tp=1, pp=1, operations=f", {stated}")
    report = found(study_of(f"{text}procurement: {{currency: USD, term: 2 y, {prices}}}\n"))
    stock = report.stock
    assert stock is not None and stock.price is not None
    links = stock.parts["NIC-leaf link"] + stock.parts["leaf-spine link"]
    switches = stock.parts["leaf switch"] + stock.parts["spine switch"]
    assert links > 1 and stock.parts["node"] > 1
    assert stock.price.low == 100_000 * stock.parts["node"] + 200 * links + 1000 * switches
    assert stock.unpriced == ("accelerator", "NIC")
    assert "and has no price for accelerator, NIC." in " ".join(faults_as_text(report).split())
    active = text.replace(FAT_TREE, f"{FAT_TREE}, cable_type: {{node_leaf: aoc}}")
    fixed = found(study_of(f"{active}procurement: {{currency: USD, term: 2 y, {prices}}}\n")).stock
    assert fixed is not None and fixed.price is not None  # a cable with fixed ends has no modules
    assert stock.price.low - fixed.price.low == 100 * stock.parts["NIC-leaf link"]
    bare = found(job(operations=stated)).stock
    assert bare is not None and bare.price is None and not bare.unpriced


SERVING = """
cluster: {{platform: dgx-h200, nodes: 8, networks: {{storage: {{bandwidth: 40 GB/s}}}}}}
workload:
  kind: serve
  model: llama-3.1-70b
  serving: {{input_tokens: 2000, output_tokens: 500, request_rate: 5{engines}}}
layout: {{framework: vllm{layout}}}
"""
APART = ", disaggregated: {prefill: {replicas: 4, tp: 8}, decode: {replicas: 8, tp: 4}}"


def test_a_failure_breaks_the_targets_that_hold_with_the_part_alone() -> None:
    """A target between the step, or the time per token, with all parts and without one; the load is that of all."""
    report = found(job(FABRICS["one node on a leaf"]))
    slowest = max(row.step_time or 0.0 for row in report.rows)
    assert report.step_time and slowest > report.step_time
    limit = (slowest / report.step_time - 1) * 0.999
    targets = f"targets: {{max_single_failure_slowdown: {limit:.9f}}}"
    broken = found(job(FABRICS["one node on a leaf"], operations=targets))
    assert {row.part for row in broken.rows if row.breaks} == {
        row.part for row in report.rows if (row.step_time or 0.0) >= slowest * 0.9995
    }
    text = SERVING.format(engines="", layout=", tp: 8").replace("request_rate: 5", "concurrency: 512")
    tpot = []
    for dp in (8, 7):
        plan = study_of(text.replace("tp: 8", f"tp: 8, dp: {dp}, nodes: {dp}")).plan
        assert plan.serving is not None
        tpot.append(plan.serving.tpot)
    assert tpot[0] < tpot[1]
    for limit, parts in ((sum(tpot) / 2, {"accelerator", "node", "software"}), (tpot[1] * 1.01, set[str]())):
        served = text.replace("concurrency: 512", f"concurrency: 512, targets: {{tpot: {limit:.9f} s}}")
        assert {row.part for row in found(study_of(served)).rows if row.breaks} == parts
    assert "The plan meets `operations.targets" in " ".join(faults_as_text(broken).split())


def test_a_failure_stops_the_engines_on_the_part_and_no_others() -> None:
    """Eight nodes of eight H200: 8 engines of 8 ranks, 32 of 2, or 4 of 8 for prefill with 8 of 4 for decode."""
    expected = {
        ("", ", tp: 8"): {"accelerator": 1 / 8, "node": 1 / 8, "NIC": 0.0, "leaf switch": 0.0, "storage system": 0.0},
        ("", ", tp: 2"): {"accelerator": 1 / 32, "node": 4 / 32, "NIC": 0.0, "storage system": 0.0},
        (APART, ""): {"accelerator": 1 / 4, "node": 1 / 4, "NIC": 1 / 4, "leaf switch": 1.0, "storage system": 0.0},
    }
    for (engines, layout), losses in expected.items():
        rows = rows_of(study_of(SERVING.format(engines=engines, layout=layout)))
        assert {part: rows[part].lost for part in losses} == losses, (engines, layout)
        for part, lost in losses.items():
            assert rows[part].effect == ("stops" if lost == 1 else "slows" if lost else "none"), part


RATES = st.tuples(st.floats(0.001, 2.0), st.floats(0.1, 0.9), st.floats(1.1, 9.0))
LOSSES = st.tuples(st.floats(0.01, 500.0), st.floats(0.01, 100.0))


@given(st.lists(st.tuples(RATES, LOSSES), min_size=1, max_size=5), st.booleans())
def test_the_common_variance_is_a_mean_over_the_hours_that_each_part_takes(
    parts: list[tuple[tuple[float, float, float], tuple[float, float]]], alike: bool
) -> None:
    """Its root is the mean of the parts' own deviations, weighed by their hours: that of each where all are alike."""
    stated = [parts[0][0] if alike else rate for rate, _ in parts]
    rates = {
        str(at): PartRate(str(at), mean, mean * below, mean * above, Assumed("rate", "drawn"))
        for at, (mean, below, above) in enumerate(stated)
    }
    losses = {str(at): YearlyLoss(*loss) for at, (_, loss) in enumerate(parts)}
    found = failures_of_parts._common_variance(rates, losses)
    own = [math.sqrt(rate_variance(rate.yearly, rate.low, rate.high)) for rate in rates.values()]
    hours = [failures * mean for _, (failures, mean) in parts]
    expected = sum(deviation * each for deviation, each in zip(own, hours, strict=True)) / sum(hours)
    assert math.sqrt(found) == pytest.approx(expected)
    assert not alike or found == pytest.approx(own[0] ** 2)
