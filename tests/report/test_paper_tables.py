"""Tables, cards and paths of reports, cell by cell, from hand-made hops, tiers and machines."""

from __future__ import annotations

import json
from typing import Any

import pytest

from clusterspec.analysis.fleets.results import fleet_report
from clusterspec.cost.nameplates import PowerDraw
from clusterspec.cost.power import _peak_power
from clusterspec.cost.term import Term
from clusterspec.quantity import Figure
from clusterspec.records import replace
from clusterspec.report.paper import cards, facility, fleet, link_drawings, machine, running, words
from clusterspec.report.paper.blocks import PaperTable, Picture
from clusterspec.report.paper.failures import _goodput_blocks
from clusterspec.results.fleet import LinkUse
from clusterspec.results.groups import SizedCollective
from clusterspec.results.machine import PathClass, PathHop, Pod
from clusterspec.source import Computed
from clusterspec.studies import study_text
from tests.report.test_charts import number, shapes
from tests.report.test_paper import SPECS, report
from tests.report.test_paper_words import ONE_LEAF, planned, trained
from tests.settings import SETTINGS

START = PathHop("accelerator", 9e-6, "launch")
NIC = PathHop("NIC", 0.0, "", 50e9, 50e9)
LEAF = PathHop("leaf switch", 1e-6, "cables", 50e9, 25e9)
END = PathHop("accelerator", None)


@pytest.mark.parametrize(
    ("hops", "alt"),
    [
        ((START, NIC, LEAF),
         "1 accelerator: 9 µs; 2 NIC: 9 µs; 3 leaf switch: 10 µs; narrowest link 25 GB/s each way"),
        # from an unknown hop on the time is a lower bound; before the first known one there is none
        ((START, END, LEAF),
         "1 accelerator: 9 µs; 2 accelerator: ≥ 9 µs; 3 leaf switch: ≥ 10 µs; narrowest link 25 GB/s each way"),
        ((END, NIC), "1 accelerator: not known; 2 NIC: not known; narrowest link 50 GB/s each way"),
        ((END, START), "1 accelerator: 0 s; 2 accelerator: ≥ 9 µs"),
        ((START,), "1 accelerator: 9 µs"),
    ],
)  # fmt: skip
def test_a_path_is_told_hop_by_hop(hops: tuple[PathHop, ...], alt: str) -> None:
    assert f'aria-label="{alt}"' in link_drawings._drawn_path(hops)


@pytest.mark.parametrize(
    ("hops", "marked"),
    [
        ((START, NIC, LEAF), ["narrowest: 25 GB/s if all send"]),
        ((START, LEAF, NIC), ["narrowest: 25 GB/s if all send"]),
        ((START, NIC, NIC), []),  # none is wider
        ((START, END), []),
    ],
)
def test_the_narrowest_link_is_marked_where_another_is_wider(hops: tuple[PathHop, ...], marked: list[str]) -> None:
    drawn = shapes(link_drawings._drawn_path(hops), "text")
    assert [each["text"] for each in drawn if each["text"].startswith("narrowest")] == marked
    added = [each["text"] for each in drawn if each["text"] == "not known"]
    assert len(added) == sum(hop.seconds is None for hop in hops)


@pytest.mark.parametrize(
    ("rate", "shared", "said"),
    [
        (50e9, 50e9, "50 GB/s each way"), (50e9, 60e9, "50 GB/s each way"), (50e9, 25e9, "25 GB/s if all send"),
        (None, 25e9, ""), (50e9, None, ""),
    ],
)  # fmt: skip
def test_a_link_is_told_with_what_it_has_where_all_send(rate: float | None, shared: float | None, said: str) -> None:
    assert link_drawings._rate_text(PathHop("NIC", 0.0, "", rate, shared)) == said


def pod_of(found: Pod | None) -> Pod:
    assert found is not None
    return found


def test_the_farthest_class_of_pairs_is_drawn_and_each_has_its_walks() -> None:
    """Pairs in a domain, on one leaf of 4 nodes: a class that needs no more nodes than the machine has is the last."""
    pod = pod_of(report(f"clusterspec: 1\ncluster: {ONE_LEAF}\n").pod)
    near, far = pod.classes[0], pod.classes[-1]
    assert near.nodes <= far.nodes
    picture = link_drawings.path_picture(pod)
    assert picture is not None and picture.field == f"pod.classes[{len(pod.classes) - 1}]"
    assert picture.caption == f"A short message between two accelerators in {far.name}: 15.3 µs"
    beyond = replace(far, name="another fabric", nodes=pod.nodes + 1)
    known = replace(pod, classes=(*pod.classes, beyond))
    again = link_drawings.path_picture(known)
    assert again is not None and again.field == picture.field, "the whole machine is inside the class before"
    larger = link_drawings.path_picture(replace(known, nodes=pod.nodes + 1))
    assert larger is not None and larger.field == f"pod.classes[{len(pod.classes)}]"
    for nothing in (None, replace(pod, classes=()), replace(pod, nodes=1, accelerators_per_node=1)):
        assert link_drawings.path_picture(nothing) is None
    assert link_drawings.path_picture(replace(pod, nodes=2, accelerators_per_node=1)) is not None
    untimed = replace(pod, classes=(*pod.classes[:-1], replace(far, latency=None)))
    late = link_drawings.path_picture(untimed)
    assert late is not None and late.caption.endswith(far.name)


@pytest.mark.parametrize(
    ("rails", "domain", "parts", "ways"),
    [(8, 8, ("NIC",), 2), (1, 8, ("NIC",), 1), (8, 1, ("NIC",), 1), (8, 8, (), 1), (2, 2, ("NIC",), 2)],
)
def test_pairs_of_two_rails_have_a_second_walk(rails: int, domain: int, parts: tuple[str, ...], ways: int) -> None:
    pod = replace(pod_of(report(f"clusterspec: 1\ncluster: {ONE_LEAF}\n").pod), rails=rails, domain=domain)
    one: PathClass = replace(pod.classes[-1], parts=parts)
    walks = link_drawings._class_walks(pod, one)
    assert [len(walk["steps"]) for walk in walks] == [len(one.hops), len(one.hops) + 1][:ways]
    if ways == 2:
        assert walks[1]["steps"][1].startswith("accelerator on B's rail: ")
    assert len(link_drawings._class_walks(pod, pod.classes[0])) == 1
    assert json.loads(json.dumps(walks)) == walks


def sized(name: str, half: float | None, *rates: float) -> SizedCollective:
    sizes = (1024.0, float(1 << 30))
    return SizedCollective(name, 4, 32, sizes, (1e-5, 1e-2), rates, ((1e3, 1e9), (1e9, 40e9)), half)


def test_a_collective_has_its_bandwidth_by_size_and_where_half_is_reached() -> None:
    shown = sized("all-reduce", 2e6, 1e9, 40e9), sized("all-gather", None, 2e9, 30e9)
    picture, table = running.collectives_by_size((replace(shown[0], curve=((1e3, 1e9),)), *shown))
    assert isinstance(picture, Picture) and isinstance(table, PaperTable)
    assert picture.caption == "Bus bandwidth by message size; circles mark half of it, at 2 MB or less"
    assert [column.label for column in table.columns] == ["Collective", "Half from", "At 1 GiB"]
    assert [row.cells for row in table.rows] == [
        ("1 all-reduce, 4 nodes", "2 MB", "40 GB/s"),
        ("2 all-gather, 4 nodes", "any", "30 GB/s"),
    ]
    assert [row.field for row in table.rows] == ["collectives[1]", "collectives[2]"]
    assert table.rows[0].fields == ("", "collectives[1].half_size", "collectives[1].busbw[1]")
    assert running.collectives_by_size((replace(shown[0], curve=((1e3, 1e9),)),)) == ()
    none, _ = running.collectives_by_size(shown[1:])
    assert isinstance(none, Picture) and none.caption == "Bus bandwidth by message size"


@pytest.mark.parametrize(
    ("size", "said"),
    [
        (512.0, "512 B"), (1024.0, "1 KiB"), (1536.0, "1.54 kB"), (1048576.0, "1 MiB"), (1048576.0 * 1024, "1 GiB"),
        (1e9, "1 GB"), (3 * 1024.0, "3 KiB"), (2.0**20 + 1024, "1025 KiB"),
    ],
)  # fmt: skip
def test_a_size_is_binary_where_it_is_whole(size: float, said: str) -> None:
    assert running.binary_size(size) == said


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("dp_cp reduce-scatter", "data-parallel reduce-scatter"), ("tp all-gather", "tensor-parallel all-gather"),
        ("hsdp all-gather", "data-parallel all-gather"), ("shard all-gather", "data-parallel all-gather"),
        ("one all-reduce", "one all-reduce"), ("pp sends", "pp sends"),
    ],
)  # fmt: skip
def test_the_axis_of_a_collective_is_in_words(text: str, said: str) -> None:
    assert words.collective_words(text) == said


def rows_of(found: Any) -> dict[str, str]:
    return {row.cells[0]: row.cells[1] for row in found}


def test_rows_of_a_fabric_count_ports_and_the_nodes_that_still_fit() -> None:
    """32 free ports for nodes of 8 NICs on one plane take 4 nodes, on two planes 2."""
    made = report(f"clusterspec: 1\ncluster: {ONE_LEAF}\n").machine
    assert made is not None
    for planes, ports, said in (
        (1, 32, "32, for 4 more nodes"),
        (2, 32, "32, for 2 more nodes"),
        (1, 15, "15, for 1 more node"),
        (1, 7, "7"),
    ):
        found = rows_of(machine._fabric_rows(replace(made, planes=planes, free_leaf_ports=ports)))
        assert found["Free leaf ports"] == said
    assert "Free leaf ports" not in rows_of(machine._fabric_rows(replace(made, free_leaf_ports=None)))
    level = made.rows[0]
    levels = (
        replace(level, name="leaf", ratio=2.5, ports=64, used=48),
        replace(level, name="hub", ratio=None, ports=None, used=None),
        replace(level, name="spine", ratio=1.0, ports=128, used=None),
    )
    found = rows_of(machine._fabric_rows(replace(made, rows=levels, bisection=2e12)))
    assert found["Oversubscription"] == "2.5:1 above the leaf, 1:1 above the spine"
    assert found["Ports in use"] == "48 of 64 on leaf, 0 of 128 on spine"
    assert found["Bisection"] == "2 TB/s each way between two halves"


@pytest.mark.parametrize(
    ("cluster", "scale_up"),
    [
        (ONE_LEAF, "NVLink 4, switched, domain of 8, 450 GB/s each way"),
        ("{platform: gb200-nvl72, nodes: 36}", "NVLink 5, switched, 2 domains of 72, 900 GB/s each way"),
        ("{platform: gb200-nvl72, nodes: 18}", "NVLink 5, switched, 1 domain of 72, 900 GB/s each way"),
    ],
)
def test_a_machine_is_told_by_its_domains(cluster: str, scale_up: str) -> None:
    made = report(f"clusterspec: 1\ncluster: {cluster}\n").estimate.design.cluster
    assert made is not None
    found = rows_of(machine._machine_rows(made))
    assert found["Scale-up"] == scale_up
    assert found["Nodes"] == f"{made.nodes} nodes of {made.accelerators_per_node}"
    spared = rows_of(machine._machine_rows(replace(made, spare_nodes=1)))
    assert spared["Nodes"].endswith(" and 1 spare")


def test_tiers_are_told_in_every_convention_and_with_their_latency() -> None:
    """450 GB/s each way are 900 GB/s both ways and 3.6 Tb/s each way."""
    tiers = trained().tiers
    table = machine._readings_table(tiers[2:3])
    assert table.rows[0].cells[:6] == ("scale-up (NVLink 4)", "450 GB/s", "900 GB/s", "3.6 Tb/s", "338 GB/s", "–")
    bare = machine._readings_table((replace(tiers[2], duplex=None, predicted=None, measured=2e11),))
    assert bare.rows[0].cells[1:6] == ("450 GB/s", "–", "–", "–", "200 GB/s")
    late = machine._communication_costs_table((tiers[0], replace(tiers[2], crossover=None), tiers[4]))
    assert late is not None
    assert [row.cells for row in late.rows] == [
        ("scale-up (NVLink 4)", "15.2 µs", "–"),
        ("scale-out (InfiniBand NDR)", "15.3 µs", "737 kB"),
    ]
    assert [row.field for row in late.rows] == ["tiers[1]", "tiers[2]"]
    assert machine._communication_costs_table(tiers[:2]) is None


def test_paths_have_a_row_for_each_class_where_they_pass_unlike_switches() -> None:
    pod = pod_of(report(f"clusterspec: 1\ncluster: {ONE_LEAF}\n").pod)
    far = pod.classes[-1]
    other = replace(far, name="far", switches=3, latency=None, bandwidth=5e10, shared=2.5e10, bottleneck="spine")
    one = replace(far, name="near", switches=0, latency=2e-6, bandwidth=4e11, shared=4e11, bottleneck="scale-up")
    table = machine._paths_table(replace(pod, classes=(one, other)))
    assert table is not None
    assert [row.cells for row in table.rows] == [
        ("near", "–", "2 µs", "400 GB/s", "400 GB/s", "scale-up"),
        ("far", "3", "–", "50 GB/s", "25 GB/s", "spine"),
    ]
    assert machine._paths_table(replace(pod, classes=(other, other))) is None and machine._paths_table(None) is None


@pytest.mark.parametrize(
    ("held", "value", "tone", "said"),
    [
        (0.5, "50 %", "good", "fits: "),
        (0.9, "90 %", "fair", "may not fit: "),  # the upper end of the range is 15 % above
        (1.2, "120 %", "bad", "does not fit: "),  # and the lower end 13 % below
    ],
)
def test_the_card_of_memory_has_the_tone_of_its_range(held: float, value: str, tone: str, said: str) -> None:
    use = trained().estimate.plan.memory
    assert use is not None and use.capacity is not None
    changed = replace(use, capacity=replace(use.capacity, value=use.total.value / held))
    (card,) = cards._memory_cards(planned({"memory": changed}))
    assert (card.label, card.value, card.tone) == ("Memory", value, tone)
    assert card.note.startswith(f"{said}13.4 GB of ")
    assert cards._memory_cards(planned({"memory": replace(use, capacity=None)})) == []


def test_the_card_of_a_run_counts_interruptions_where_they_are_known() -> None:
    found = trained()
    day = 86400.0
    assert found.reliability is not None
    assert cards._run_cards(found, "", "") == [], "without tokens there is no run"
    timed = planned(time_to_train=10 * day)
    (alone,) = cards._run_cards(replace(timed, reliability=None), "held", "")
    assert (alone.label, alone.value, alone.field) == ("Run", "10 days", "estimate.time_to_train")
    assert alone.note.startswith("without interruptions") and "held" in alone.note
    kept = replace(found.reliability, with_interruptions=12 * day)
    (card,) = cards._run_cards(replace(timed, reliability=kept), "", "")
    assert (card.label, card.value) == ("Run with interruptions", "12 days")
    assert card.note == "10 days without interruptions" and card.field == "reliability.with_interruptions"
    (unknown,) = cards._run_cards(replace(timed, reliability=replace(kept, with_interruptions=None)), "", "")
    assert unknown.label == "Run"


def test_the_table_of_goodput_has_a_row_for_each_figure_that_is_known() -> None:
    kept = trained().reliability
    assert kept is not None
    day = 86400.0
    full = replace(
        kept, goodput=0.95, low=0.9, high=0.98, best_interval=3600.0, time_to_train=9 * day, with_interruptions=10 * day
    )
    wanted = {
        "Goodput, with the failures that stop the job": "95 %",
        "Over published failure rates": "90 % to 98 %",
        "Interval with the least lost time": "1 h",
        "Run without interruptions": "9 days",
        "Run with interruptions": "10 days",
    }
    runs = {"Run without interruptions", "Run with interruptions"}
    for changed, gone in (
        (full, set[str]()),
        (replace(full, low=0.95, high=0.95), {"Over published failure rates"}),
        (replace(full, best_interval=None), {"Interval with the least lost time"}),
        (replace(full, time_to_train=None), runs),
        (replace(full, with_interruptions=None), runs),
    ):
        tables = [block for block in _goodput_blocks(changed, None) if isinstance(block, PaperTable)]
        rows = rows_of(tables[0].rows)
        assert rows == {name: value for name, value in wanted.items() if name not in gone}, gone
    picture = next(block for block in _goodput_blocks(full, None) if isinstance(block, Picture))
    assert [number(each, "r") for each in shapes(picture.svg, "circle")] == [6.0, 6.0]


FLEET = """clusterspec: 1
pools:
  a: {platform: dgx-h100, nodes: 2}
  b: {platform: dgx-h100, nodes: 2}
pool_links: [LINK]
jobs:
  x: {pool: a, workload: {model: llama-3.1-8b, sequence_length: 4096, global_batch: 16}, layout: {tp: 2}}
"""


@pytest.mark.parametrize(
    ("link", "ends", "label"),
    [
        (
            "{between: [b, a], bandwidth: 50 GB/s, latency: 2 ms}",
            (0, 1),
            "50 GB/s each way, 2 ms",
        ),
        ("{between: [a, b], bandwidth: 50 GB/s}", (0, 1), "50 GB/s each way"),
    ],
)
def test_a_link_of_a_fleet_is_drawn_between_its_pools(link: str, ends: tuple[int, int], label: str) -> None:
    """The first pool comes first; a job that sends over the link is named."""
    found = fleet_report(study_text(FLEET.replace("LINK", link), SETTINGS), "bom")
    (drawn,) = fleet._drawn_links(found, ["a", "b"])
    assert (drawn.ends, drawn.label) == (ends, f"{label}; no job sends over it")
    assert list(fleet._drawn_links(found, ["a"])) == [], "a pool that is not drawn has no link"
    used = replace(found, links=(LinkUse(("a", "b"), 5e10, None, {"x": 1e9}, {"x": 1e9}),))
    (named,) = fleet._drawn_links(used, ["a", "b"])
    assert named.label.endswith("; used by x")
    (picture,) = fleet.fleet_picture(found, {"x": "tp"})
    assert picture.caption.endswith(", and the links between pools")
    assert list(fleet.fleet_picture(replace(found, pools={}), {})) == []


def test_nodes_with_two_jobs_are_divided_by_their_shares() -> None:
    """Shares of 1 and 0.25 together are more than the whole: four fifths and one fifth."""
    found = fleet_report(study_text(FLEET.replace("LINK", "{between: [a, b], bandwidth: 50 GB/s}"), SETTINGS), "bom")
    job = found.jobs["x"]
    both = replace(found, jobs={"x": replace(job, share=1.0), "y": replace(job, share=0.25)})
    turns = fleet._drawn_turns(both, ("x", "y"), {"x": "tp", "y": "dp"})
    assert [(turn.job, turn.tint, turn.share) for turn in turns] == [("x", "tp", 0.8), ("y", "dp", 0.2)]
    (half,) = fleet._drawn_turns(both, ("y",), {"x": "tp", "y": "dp"})
    assert half.share == 0.25
    assert fleet._run_label(both, ("x", "y"), 4) == "x, y 25 %: 4 nodes"


@pytest.mark.parametrize(
    ("watts", "switches", "sum_", "said"),
    [
        (None, 0, 1e5, "nameplates of nodes"), (2e3, 12, 1.24e5, "nameplates of nodes and switches"),
        (None, 12, 1e5, "nameplates of nodes; the power of a switch is not known (`cluster.power.switch`)"),
    ],
)  # fmt: skip
def test_a_peak_names_the_parts_that_it_sums(watts: float | None, switches: int, sum_: float, said: str) -> None:
    """Ten nodes of 10 kW, and twelve switches of 2 kW where their power is known."""
    node, none = Figure(1e4, "W", Computed("x")), Figure(0.0, "W", Computed("x"))
    switch = None if watts is None else Figure(watts, "W", Computed("x"))
    drawn = PowerDraw(node=node, nodes=10, switch=switch, switches=switches, rack_overhead=none, racks=0)
    peak = _peak_power((node, node, node), drawn)
    assert peak is not None and peak.value == sum_
    assert facility._nameplate_text(peak, switches) == said
    assert facility._span_text(Term("peak", 1e5, "W", "sum")) == ""
    assert facility._span_text(Term("peak", 1e5, "W", "sum", low=9e4, high=1.2e5)) == ", 90 kW to 120 kW"
    assert facility._span_text(Term("peak", 1e5, "W", "sum", low=1e5, high=1e5)) == ""


def test_cards_of_a_design_begin_with_its_step_and_those_of_a_purchase_with_prices() -> None:
    found = report(SPECS["priced"], "procurement")
    bought = [card.label for card in cards.headline_cards(found)]
    designed = [card.label for card in cards.headline_cards(replace(found, kind="design"))]
    prices = [card.label for card in cards._price_cards(found)]
    assert prices and bought[: len(prices)] == prices and designed[-len(prices) :] == prices
    assert "Step time" in designed and "Step time" not in bought
