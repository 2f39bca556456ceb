"""Sentences and drawings of reports, worked out by hand from the parts of machines and from changed results."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from functools import cache
from typing import Any

import pytest

from clusterspec.money import Money
from clusterspec.records import replace
from clusterspec.report.charts.log_plots import separated_marks
from clusterspec.report.paper import compose, decision, link_drawings, story
from clusterspec.report.paper.drawings import cluster_pictures, machine_pictures
from clusterspec.results.full import FullReport
from clusterspec.results.verdict import Area, Gate, GateStatus, Purchase, Risk
from tests.report.test_charts import number, shapes
from tests.report.test_paper import report

ONE_LEAF = "{platform: dgx-h100, nodes: 4, scale_out: {topology: rail-optimized}}"
NODE = "8 × 400 Gb/s, InfiniBand NDR; host, PCIe 5; 8 × H100 SXM5 80 GB, 85.5 GB at 3.35 TB/s; NVLink 4, through "
PICTURES: list[tuple[str, list[tuple[str, str]]]] = [
    # 4 × 8 links of nodes fit on one switch of 64 ports
    (ONE_LEAF, [
        ("One node: DGX H100", f"DGX H100: {NODE}switches: 450 GB/s each way per accelerator"),
        ("All nodes and switches",
         "no level above; 1 leaf, 8 rails; 32 links from nodes to each; 4 nodes with 32 accelerators"),
    ]),
    # 32 nodes below 8 leaves of 32 + 32 ports: 256 uplinks on 4 spines; 8 racks of 4 × 10.2 kW, and 12 switches of 1 U
    ("{platform: dgx-h100, nodes: 31, spare_nodes: 1, scale_out: {topology: rail-optimized}, "
     "power: {nodes_per_rack: 4, rack_limit: 50 kW}}", [
        ("One block: the nodes below the same leaf switches",
         "32 uplinks of each leaf to 4 spine switches; 8 leaves, 8 rails; 32 links from nodes to each; 32 nodes with "
         "256 accelerators"),
        ("The whole fabric by repeated blocks", "4 spine switches 256 links down; 1 block"),
        ("Racks in elevation, nodes to scale in 42 rack units",
         "8 racks of 4 nodes; 12 switches (S) in 1 rack of their own, or in those of nodes; 40.8 kW of a full rack, "
         "81.6 % of its limit of 50 kW"),
    ]),
    # 4 nodes below each of 10 leaves, whose 320 uplinks take 5 spines
    ("{platform: dgx-h100, nodes: 40, scale_out: {technology: infiniband-ndr, topology: fat-tree}}", [
        ("One block: the nodes below the same leaf switches",
         "32 uplinks of each leaf to 5 spine switches; 1 leaf; 32 links from nodes to each; "
         "4 nodes with 32 accelerators"),
        ("The whole fabric by repeated blocks", "5 spine switches 320 links down; 10 blocks of 4 nodes each"),
    ]),
    # 1100 nodes are 35 blocks of 32, the last not full, each a pod of 8 spines: 280 × 32 links to 140 cores; 700
    # switches take 17 racks of 42
    ("{platform: dgx-h100, nodes: 1100, scale_out: {technology: infiniband-ndr, topology: rail-optimized}, "
     "power: {nodes_per_rack: 4}}", [
        ("One block: the nodes below the same leaf switches",
         "32 uplinks of each leaf to 8 spine switches of its pod; 8 leaves, 8 rails; "
         "up to 32 links from nodes to each; "
         "up to 32 nodes with 256 accelerators"),
        ("The whole fabric by repeated blocks; one box of the two lower rows is one of 35 pods",
         "140 core switches; 280 spine switches 8,960 links to the cores; 35 blocks of up to 32 nodes each"),
        ("Racks in elevation, nodes to scale in 42 rack units",
         "275 racks of 4 nodes; 700 switches (S) in 17 racks of their own, or in those of nodes; "
         "40.8 kW of a full rack"),
    ]),
    # two domains of 18 nodes; 144 NICs are 8 nodes below each of 5 leaves, the last half full; 160 uplinks on 4 spines
    ("{platform: gb200-nvl72, nodes: 36}", [
        ("One scale-up domain: GB200 NVL72",
         "18 nodes of 4 and 9 switch trays: 72 accelerators; each accelerator: 18 links over all trays; 900 GB/s each "
         "way per accelerator to any other"),
        ("One block: the nodes below the same leaf switches",
         "32 uplinks of each leaf to 4 spine switches; 1 leaf; up to 32 links from nodes to each; "
         "up to 8 nodes with 32 "
         "accelerators"),
        ("The whole fabric by repeated blocks", "4 spine switches 160 links down; 5 blocks of up to 8 nodes each"),
    ]),
    # 39 nodes in racks of 4: nine full racks, and one of 3
    ("{platform: dgx-h100, nodes: 39, scale_out: {topology: rail-optimized}, power: {nodes_per_rack: 4}}", [
        ("Racks in elevation, nodes to scale in 42 rack units",
         "10 racks of 4 nodes, the last of 3 nodes; 24 switches (S) in 1 rack of their own, or in those of nodes; "
         "40.8 kW of a full rack"),
    ]),
    # 18 compute trays, 9 switch trays and 8 power shelves of one unit each
    ("{platform: gb200-nvl72, nodes: 36, power: {nodes_per_rack: 18}}", [
        ("Racks in elevation, nodes to scale in 42 rack units",
         "2 racks of 18 nodes; with 9 switch trays and 8 power shelves above the nodes, 35 U of each rack are taken; "
         "9 switches (S) in 1 rack of their own, or in those of nodes; 120 kW of a full rack"),
    ]),
    ("{platform: mi455x-helios, nodes: 18, power: {nodes_per_rack: 18}}", [
        ("Racks in elevation",
         "1 rack of 18 nodes; 6 switch trays of each rack are not drawn: the height of one is not known; "
         "315 kW of a full rack"),
    ]),
    # in each of two planes, 16 leaves of 64 + 64 ports for 8 nodes of 8 links each, and 1,024 uplinks on 8 spines
    ("{platform: dgx-b300, nodes: 128, scale_out: {technology: spectrum-x, topology: fat-tree, planes: 2}}", [
        ("One block: the nodes below the same leaf switches, in one of 2 separate planes",
         "64 uplinks of each leaf to 8 spine switches in its plane; 1 leaf, in each of 2 planes; "
         "64 links from nodes to each; 8 nodes with 64 accelerators"),
        ("The whole fabric by repeated blocks, in one of 2 separate planes",
         "8 spine switches 1,024 links down; 16 blocks of 8 nodes each"),
    ]),
    # 256 accelerators in a cuboid
    ("{platform: tpu-v5p, nodes: 64}", [
        ("The torus, 8 planes, the first 6 drawn; links at the edges go around where the torus is closed",
         "torus of 4 × 8 × 8: 256 accelerators, 8 planes, the first 6 drawn; 600 GB/s each way per accelerator, over "
         "all links"),
    ]),
]  # fmt: skip


@pytest.mark.parametrize(("cluster", "told"), PICTURES, ids=range(len(PICTURES)))
def test_pictures_of_a_machine_count_its_parts(cluster: str, told: list[tuple[str, str]]) -> None:
    found = report(f"clusterspec: 1\ncluster: {cluster}\n")
    captions = [
        (each.caption, match[1])
        for each in machine_pictures(found)
        if (match := re.search('aria-label="([^"]*)"', each.svg)) is not None
    ]
    assert {*told} <= {*captions}, captions


def test_a_node_of_gaudi_has_ports_of_its_accelerators() -> None:
    """24 ports of 200 Gb/s, of which 21 go to the others of the node; 8 × 3 leave it."""
    cluster = report("clusterspec: 1\ncluster: {platform: gaudi3-hls, nodes: 2}\n").estimate.design.cluster
    assert cluster is not None
    (picture, *_) = cluster_pictures(cluster)
    assert "24 × 200 Gb/s" in picture.svg and ": 3 of each accelerator" in picture.svg
    ports = [line for line in shapes(picture.svg, "line") if number(line, "stroke-width") == 2]
    assert len(ports) == 24


TRAINED = f"""clusterspec: 1
cluster: {ONE_LEAF}
workload: {{model: llama-3.1-8b, sequence_length: 8192, global_batch: 64}}
layout: {{framework: megatron-core, tp: 4, pp: 2, recompute: full}}
"""


@cache
def trained() -> FullReport:
    return report(TRAINED)


def planned(given: Mapping[str, Any] | None = None, **changes: Any) -> FullReport:
    """The report of the training job with other fields of its plan, and with ``given`` results instead of those that
    the plan computes on first access.
    """
    found = trained()
    plan = replace(found.estimate.plan, **changes)
    vars(plan).update(given or {})
    return replace(found, estimate=replace(found.estimate, plan=plan))


def laid_out(**changes: Any) -> FullReport:
    """The report of the training job with another layout, whose figures stay."""
    design = trained().estimate.plan.design
    assert design.layout is not None
    return planned(design=replace(design, layout=replace(design.layout, **changes)))


def spread_over(count: int, axis: str = "tp") -> FullReport:
    """The report of a layout of 8 tensor-parallel ranks whose groups span some domains."""
    found = laid_out(**{axis: 8})
    groups = tuple(replace(row, axis=axis, domains=count) for row in found.groups[:1])
    return replace(found, groups=groups)


DOMAIN = "Inside a domain of 8 accelerators each has 450 GB/s each way, between nodes 50 GB/s, 9 times less"


@pytest.mark.parametrize(
    ("made", "said"),
    [
        (trained, f"{DOMAIN}: so tensor parallelism over 4 ranks stays inside."),
        (lambda: laid_out(tp=1), f"{DOMAIN}."),
        (
            lambda: laid_out(tp=16),
            f"{DOMAIN}; tensor parallelism over 16 ranks leaves the domain and runs at the lower rate.",
        ),
        (lambda: laid_out(tp=2, ep=8), f"{DOMAIN}: so expert parallelism over 8 ranks stays inside."),
        (lambda: laid_out(tp=8, ep=8), f"{DOMAIN}: so tensor parallelism over 8 ranks stays inside."),
        (lambda: spread_over(1), f"{DOMAIN}: so tensor parallelism over 8 ranks stays inside."),
        (lambda: spread_over(2), f"{DOMAIN}; tensor parallelism over 8 ranks would fit inside, but some of its groups "
         "span 2 domains and run at the lower rate."),
        (lambda: replace(spread_over(1), tiers=()), None),
        (lambda: replace(spread_over(1), tiers=trained().tiers[:3]), None),
    ],
    ids=range(9),
)  # fmt: skip
def test_the_domain_of_a_group_is_told_with_the_bandwidth_inside_and_outside(
    made: Callable[[], FullReport], said: str | None
) -> None:
    step = story._domain_step(made())
    assert (step.text if step is not None else None) == said


def test_one_domain_that_holds_all_has_no_use_for_its_network() -> None:
    """A job on one node of 8: its network is told, and is not used."""
    design = trained().estimate.plan.design
    assert design.cluster is not None
    alone = replace(design, cluster=replace(design.cluster, nodes=1))
    step = story._domain_step(planned(design=alone))
    assert step is not None
    assert step.text == (
        "One domain holds all 8 accelerators, each with 450 GB/s each way; its network of 50 GB/s is not used "
        "by the job."
    )


def test_the_widest_group_of_an_axis_tells_whether_it_stays_inside() -> None:
    found = spread_over(1)
    rows = (found.groups[0], replace(found.groups[0], domains=3), replace(found.groups[0], axis="pp", domains=9))
    step = story._domain_step(replace(found, groups=rows))
    assert step is not None and step.text.endswith("some of its groups span 3 domains and run at the lower rate.")


def test_the_story_of_a_step_has_the_figures_of_its_tiers_and_parts() -> None:
    """989.4 TFLOP/s over 3.35 TB/s are 295; a pipeline of 2 stages idles its bubble, and a replica sends twice."""
    found = trained()
    compute, latency = story._compute_step(found), story._latency_step(found)
    assert compute is not None and latency is not None
    assert compute.text.startswith(
        "An accelerator computes 989 TFLOP/s in bf16 and moves 3.35 TB/s to and from its memory"
    )
    assert "fewer than 295 FLOPs for each byte" in compute.text and compute.section == "step"
    assert latency.text.startswith("A short message between nodes takes 15.3 µs: one of 737 kB takes twice as long")
    assert story._compute_step(replace(found, tiers=found.tiers[3:])) is None
    for tiers in (
        tuple(replace(tier, latency=None) for tier in found.tiers),
        tuple(replace(tier, crossover=None) for tier in found.tiers),
    ):
        assert story._latency_step(replace(found, tiers=tiers)) is None
    (areas,) = [link_drawings.areas_picture(found.tiers)]
    assert areas is not None
    notes = [each["text"] for each in shapes(areas.svg, "text") if each["text"].endswith(" of the fastest")]
    assert notes == [
        "1 / 620 of the fastest",
        "1 / 490 of the fastest",
        "1 / 69 of the fastest",
        "1 / 9.3 of the fastest",
    ]
    assert (
        link_drawings.areas_picture(found.tiers[:1]) is None
        and link_drawings.areas_picture(found.tiers[:2]) is not None
    )


def test_a_pipeline_is_told_with_what_it_idles() -> None:
    step = trained().estimate.plan.step
    assert step is not None
    rest = step.times.total - step.times.bubble
    idle = replace(step, times=step.times._replace(idle=rest / 4, fill_sends=rest / 12))
    told = story._pipeline_step(planned(step=idle))
    assert told is not None
    assert told.text == (
        "2 pipeline stages work on 16 micro-batches in turn: filling and draining the pipeline costs 25 % of a step."
    )
    parts = story._pipeline_step(laid_out(virtual_stages=4))
    assert parts is not None and "in turn, each stage in 4 parts: filling" in parts.text
    two = story._pipeline_step(laid_out(virtual_stages=2))
    assert two is not None and "each stage in 2 parts" in two.text
    assert story._pipeline_step(laid_out(pp=1)) is None and story._pipeline_step(planned(step=None)) is None


@pytest.mark.parametrize(("exposed", "said"), [(0.0, "all of it behind computation"), (0.25, "500 ms exposed")])
def test_gradients_are_told_with_their_bytes_and_what_is_exposed(exposed: float, said: str) -> None:
    """Two collectives of 3 GB and 1 s each; the sends of the pipeline are none of them."""
    plan = trained().estimate.plan
    (tensor, *_, gradients) = plan.communication
    each = replace(gradients, bytes=3e9, seconds=1.0, exposed=exposed)
    found = planned({"communication": (tensor, each, replace(each, axis="shard"))})
    told = story._gradient_step(found)
    assert told is not None
    assert told.text == f"Data parallelism over 4 replicas sends 6 GB a step, 2 s on the wire, {said}."
    assert story._gradient_step(planned({"communication": (tensor,)})) is None
    assert story._gradient_step(laid_out(dp=1)) is None
    assert story._gradient_step(laid_out(dp=2)) is not None


@pytest.mark.parametrize(
    ("held", "ends"),
    [(0.75, "25 % remain free"), (0.998, "0.2 % remain free"), (0.9995, "nothing remains free")],
)
def test_the_fullest_accelerator_is_told_with_its_two_largest_parts(held: float, ends: str) -> None:
    """Of parts of 1, 2, 5, 4 and 3 GB the third and the fourth."""
    use = trained().estimate.plan.memory
    assert use is not None and use.capacity is not None
    sizes = {"weights": 1e9, "gradients": 2e9, "activations": 5e9, "optimizer": 4e9, "other": 3e9}
    parts = {name: replace(getattr(use, name), value=value) for name, value in sizes.items()}
    capacity = replace(use.capacity, value=use.total.value / held)
    told = story._memory_step(planned({"memory": replace(use, capacity=capacity, **parts)}))
    assert told is not None
    assert "most of it activations 5 GB and optimizer 4 GB, in 85.5 GB (sold as 80 GB): " in told.text
    assert told.text.endswith(f": {ends}.")


def test_the_timeline_sums_parts_below_a_share_and_counts_what_computes() -> None:
    """Of 10 s forward, backward and recomputation are 8 s; two parts of 0.01 s are one; 3 s are hidden."""
    plan = trained().estimate.plan
    assert plan.step_time is not None
    seconds = {"forward": 3.0, "backward": 4.0, "recomputation": 1.0, "pipeline_bubble": 1.98, "optimizer": 0.01}
    seconds |= {"step_overhead": 0.01}
    parts = tuple(replace(part, value=seconds.get(part.name, 0.0)) for part in plan.step_time.parts)
    flow = replace(plan.communication[-1], axis="dp", tier="scale-out", bytes=1e9, seconds=4.0, exposed=1.0)
    rows = (flow, replace(flow, axis="tp", tier="scale-up", seconds=0.5, exposed=0.5), replace(flow, exposed=4.0))
    whole = replace(plan.step_time, value=10.0, parts=parts)
    changed = planned({"step_time": whole, "communication": rows}).estimate.plan
    picture = compose.timeline_of(changed)
    assert picture.caption.startswith("One step: 80 % is computation; ")
    texts = [each["text"] for each in shapes(picture.svg, "text")]
    assert "2 smaller parts" in texts and "20 ms" in texts and "optimizer" not in texts
    assert texts[texts.index("Hidden:") + 1 :] == ["dp", "3 s"], "what a row exposes in full hides nothing"
    traffic = compose._traffic_picture(changed)
    assert traffic.caption.endswith("; scale-out links are the busiest, for 80 % of the step")
    cells = [each["text"] for each in shapes(traffic.svg, "text")]
    assert {"2 GB", "80 % of the step", "1 GB", "5 % of the step"} <= {*cells}
    one = planned({"step_time": replace(whole, parts=parts[:-2])}).estimate.plan
    kept = [each["text"] for each in shapes(compose.timeline_of(one).svg, "text")]
    assert "optimizer" in kept and not [text for text in kept if "smaller" in text], "one small part has its own name"


GATES = tuple(
    Gate(name, status, f"why {name}")
    for name, status in (
        ("design", GateStatus.FAILED),
        ("quote", GateStatus.OPEN),
        ("budget", GateStatus.FAILED),
        ("cost", GateStatus.MET),
        ("failures", GateStatus.MET),
        ("tender", GateStatus.NOT_NEEDED),
    )
)


def test_gates_stand_with_the_failed_first_and_those_met_in_one_line() -> None:
    purchase = Purchase(Money.of(1e6, "EUR"), "prices", None, GATES)
    rows = decision.gates_table(purchase).rows
    assert [(row.cells[0], row.cells[1], row.cells[3], row.field) for row in rows] == [
        ("Design", "why design", "fails", "purchase.gates[0]"),
        ("Budget", "why budget", "fails", "purchase.gates[2]"),
        ("Quote", "why quote", "open", "purchase.gates[1]"),
        ("2 gates", "cost: why cost; failures: why failures", "met", "purchase.gates"),
        ("Tender", "why tender", "not needed", "purchase.gates"),
    ]
    assert decision.signing_block(purchase).word == "Do not sign: 2 gates fail, 1 gate is open"
    counts = {
        "Do not sign: 1 gate fails": GATES[:1],
        "Not ready to be signed: 2 gates are open": GATES[1:2] * 2,
        "Nothing against signing: every gate is met": GATES[3:],
    }
    assert {decision.signing_block(replace(purchase, gates=gates)).word: gates for gates in counts.values()} == counts


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"amount": None}, "an amount that the spec does not state"),
        ({}, "1 M EUR (at the prices of the spec)"),
        ({"basis": "rent"}, "1 M EUR (over the term)"),
        ({"basis": "quote"}, "1 M EUR (as quoted)"),
        (
            {"basis": "quote", "expected": Money.of(9e5, "EUR")},
            "1 M EUR (as quoted; 900 k EUR at the prices of the spec)",
        ),
        ({"expected": Money.of(9e5, "EUR")}, "1 M EUR (at the prices of the spec)"),
    ],
)
def test_an_amount_is_told_with_its_source(changes: dict[str, Any], said: str) -> None:
    purchase = Purchase(Money.of(1e6, "EUR"), "prices", None, GATES)
    assert decision.amount_phrase(replace(purchase, **changes)) == said


@pytest.mark.parametrize(
    ("risk", "said", "cells"),
    [
        (Risk("late nodes", 0.5, Money.of(2e6, "EUR"), "text"), "late nodes, 2 M EUR", ("2 M EUR", "12 h")),
        (Risk("late nodes", 0.25, None, "text"), "late nodes, 6 h", ("–", "6 h")),
        (Risk("late nodes", None, None, "text"), "", ("–", "–")),
    ],
)
def test_the_largest_risk_is_told_in_money_else_in_time(risk: Risk, said: str, cells: tuple[str, str]) -> None:
    purchase = replace(Purchase(Money.of(1e6, "EUR"), "prices", None, GATES), risks=(risk,))
    assert decision.risk_sentences(purchase) == ([f"The largest risk: {said}."] if said else [])
    table = decision.risks_of_purchase(purchase)
    assert table is not None and table.rows[0].cells == ("Late nodes", *cells, "text")
    assert decision.risks_of_purchase(replace(purchase, risks=())) is None
    assert decision.risk_sentences(replace(purchase, risks=())) == []


@pytest.mark.parametrize(
    ("headroom", "said"),
    [(None, "–"), (-0.5, "−50 %"), (-1.0, "−100 %"), (-1.5, "2.5 × the limit"), (0.0, "0 %"), (0.253, "25 %")],
)
def test_a_headroom_is_a_share_or_beyond_twice_the_limit_a_multiple(headroom: float | None, said: str) -> None:
    area = replace(trained().areas[0], headroom=headroom)
    assert decision.headroom_text(area) == said


@pytest.mark.parametrize(
    ("value", "unit", "said"),
    [(None, "s", "–"), (0.25, "1", "25 %"), (2e9, "B", "2 GB"), (1234.0, "requests", "1,234")],
)
def test_the_number_of_an_area_has_its_unit(value: float | None, unit: str, said: str) -> None:
    assert decision.amount_text(value, unit) == said


def test_marks_of_a_picture_that_are_apart_stay() -> None:
    assert separated_marks([(0.0, 50.0), (19.0, 50.0)]) == [(0.0, 50.0), (19.0, 50.0)]
    assert separated_marks([(0.0, 50.0), (18.9, 50.0)]) == [(0.0, 50.0), (18.9, 72.0)]


@pytest.mark.parametrize(
    ("state", "headroom", "word"),
    [
        ("good", 0.5, "holds"),
        ("tight", 0.01, "tight"),
        ("tight", 0.9, "exposed"),
        ("bad", -0.1, "exceeded"),
        ("open", None, "not judged"),
    ],
)
def test_links_that_are_free_but_awaited_are_exposed(state: str, headroom: float | None, word: str) -> None:
    area: Area = replace(trained().areas[0], area="scale-out links", state=state, headroom=headroom, note="")
    assert decision._area_row(3, area).cells[-1] == word
    assert decision._area_row(3, replace(area, note="a note")).cells[1].endswith(" (a note)")
    assert decision._area_row(3, replace(area, note=word)).cells[1] == area.constraint or "(" not in word
    other = decision._area_row(3, replace(area, area="memory"))
    assert other.cells[-1] == {"exposed": "tight"}.get(word, word) and other.field == "areas[3]"
