"""Charts draw each value where its axis puts it, and nothing outside their frame or over another text."""

from __future__ import annotations

from collections.abc import Callable
from itertools import combinations, pairwise
from math import log10
from xml.etree import ElementTree

import pytest

from clusterspec.records import replace
from clusterspec.report.charts import bars, curves, fleet, links, log_plots, machine, steps, svg
from clusterspec.report.charts.bars import FallBar, HeatCell, SentBytes, StackPart, Year
from clusterspec.report.charts.curves import ChoicePoint, LeverBar
from clusterspec.report.charts.domains import DrawnDomain, domain_chart, torus_chart
from clusterspec.report.charts.fleet import DrawnLink, DrawnNodes, DrawnPool, DrawnTurn
from clusterspec.report.charts.links import AreaPlate, DotRow, DrawnHop, WireRow, path_chart, pyramid_chart
from clusterspec.report.charts.log_plots import FrontPoint, RooflinePoint
from clusterspec.report.charts.machine import DrawnBlock, DrawnNode, DrawnRow
from clusterspec.report.charts.racks import DrawnRacks, DrawnSwitches, rack_chart
from clusterspec.report.charts.steps import DrawnPass, Span
from clusterspec.report.charts.svg import LinearAxis, LogAxis
from clusterspec.units import display
from tests.effort import telling

GB = 1e9
LONG = "half a step until it decodes on the data-center network between TPU slices of another building"
PARTS = [StackPart("weights", "weights", 3.0, "3 GB"), StackPart("gradients", "gradients", 1.0, "1 GB")]
YEARS = [Year("1", tuple(PARTS), 3.5, 4.5), Year("2", tuple(PARTS[:1]), 3.0, 3.0)]
CELLS = [
    HeatCell(0.0, "1 s"),
    HeatCell(1.0, "9 s", hatched=True),
    HeatCell(None, ""),
    HeatCell(0.7, "4 s", marked=True),
]
ROWS = [
    DotRow("memory", "memory", 3350 * GB, None, None),
    DotRow("scale-out", "dp", 50 * GB, 48 * GB, 25 * GB, "64"),
]
WIDE_ROWS = [DotRow(LONG, "tp", 450 * GB, 380 * GB, None, "98,304 accelerators")]
KERNELS = [RooflinePoint("GEMM", 900.0, 600e12, 0.7), RooflinePoint("norm", 1.0, 3e12, 0.2)]
FRONT = [FrontPoint(20.0, 900.0, "2 × tp 8", "64 in flight"), FrontPoint(80.0, 300.0, "4 × tp 4", "8 in flight")]
SPANS = [("forward", "forward", [Span(0, 0.0, 1.0), Span(1, 1.0, 2.0)]), ("backward", "backward", [Span(1, 2.0, 4.0)])]
PASS = DrawnPass("forward: 12 s", tuple(PARTS), (StackPart("exposed tp", "tp", 0.5, "0.5 s"),), ((PARTS[0], 0.5),))
WIDE_PARTS = [StackPart("half a step until it decodes", "tp", 3.0, "7.92 ms"), *PARTS]
WIDE_NODE = DrawnNode(16, LONG, 32, "32 × 400 Gb/s", "host, PCIe 5", "full-mesh", LONG)
CLOSE = [FrontPoint(20.0 + 0.1 * n, 900.0 - n, "2 × tp 8", "64 in flight") for n in range(4)]
NODE = DrawnNode(8, "H100", 8, "8 × 400 Gb/s", "host, PCIe 5", "switched", "NVLink", 2)
SIZED = [
    links.SizeCurve(((1024.0, 50e6), (1e6, 15e9), (16e6, 104e9), (8e9, 363e9)), 48e6),
    links.SizeCurve(((1024.0, 49e6), (1e6, 37e9), (16e6, 216e9), (8e9, 355e9)), None),
]
PORTS = replace(NODE, nics=24, nic_label="24 × 200 Gb/s", links="full-mesh", others=0, own_ports=True)
BLOCK = DrawnBlock(42, 8, 21, "21 uplinks of each leaf", "42 nodes", "8 leaves, 8 rails")
LEVELS = [
    DrawnRow(134, "pp", "134 core switches", ""),
    DrawnRow(25, "cp", "275 spine switches", "8,525 links to the cores", "× 11"),
    DrawnRow(25, "memory", "50 blocks", "of 42 nodes", "× 2"),
]
CHOICES = [
    ChoicePoint("this design", (20.0, 22.0), 23.0, "A", "limit"),
    ChoicePoint("half.yaml", (20.5, 22.5), 22.0, "B", "forward", series=False),
    ChoicePoint("16 nodes", (10.0, 11.0), 40.0, works=False),
    ChoicePoint("12,288 nodes", (42.0, 46.0), 13.0),
]
FALLS = [FallBar("GEMMs and attention below peak", "forward", 0.3, "−30 %"), FallBar("bubble", "bubble", 0.28, "−28 %")]
LEVERS = [
    LeverBar("nodes", "128", 0.5, "+50 %"),
    LeverBar("tp", "4", -0.05, "−5 %"),
    LeverBar("pp", "8", 1.5, "+150 %"),
]
LOSSES = [FallBar("pipeline bubble", "bubble", 0.2, "20 %"), FallBar("overlap", "tp", -0.1, "−10 %")]
LEFT = FallBar("model FLOPs", "forward", 0.9, "90 %")
PLATES = [AreaPlate("racks", 25.0, "25 m²", "racks", "1 / 4"), AreaPlate("whole room", 100.0, "100 m²", "dp")]
HOPS = [
    DrawnHop("accelerator", 9e-6, "+9 µs", "9 µs", "launch"),
    DrawnHop("NIC", 0.0, "", "9 µs", "", 100.0, "100 B/s"),
    DrawnHop("leaf switch", 1e-6, "+1 µs", "10 µs", "cables", 10.0, "10 B/s", narrowest=True),
    DrawnHop("accelerator on the rail of another", None, "not known", "≥ 10 µs", "", None, ""),
]
DOMAIN = DrawnDomain(18, 4, 9, "18 nodes of 4", "9 switch trays", ("72 accelerators; 18 links each", "900 GB/s"))
MACHINES = [
    ChoicePoint("16 nodes", (6.0, 10.0), 20.0),
    ChoicePoint("8 nodes", (3.0, 5.0), 10.0, works=False),
    ChoicePoint("this design", (7.0, 9.0), 15.0, "A", "good", series=False),
]


POOLS = [
    DrawnPool(
        "north",
        "24 nodes of DGX B200",
        (
            DrawnNodes(
                16, (DrawnTurn("tune", "tp", 0.5), DrawnTurn("eval", "dp", 0.25)), "tune 50 %, eval 25 %: 16 nodes"
            ),
            DrawnNodes(8, (), "8 nodes without a job"),
        ),
        spares=2,
    ),
    DrawnPool("south", "4 nodes of DGX H200", (DrawnNodes(4, (DrawnTurn("chat", "cp", 1.0),), "chat: 4 nodes"),)),
]
LINKS = [DrawnLink((0, 1), "50 GB/s each way, 2 ms; used by chat")]


def seconds(value: float) -> str:
    return f"{value:g} s"


CHARTS: dict[str, Callable[[], str]] = {
    "timeline": lambda: bars.timeline_chart(PARTS, PARTS[1:], seconds, "alt"),
    "timeline: long names": lambda: bars.timeline_chart(WIDE_PARTS, WIDE_PARTS, seconds, "alt"),
    "bandwidth: long names": lambda: links.dot_chart(WIDE_ROWS, "alt"),
    "tornado: long names": lambda: curves.tornado_chart([LeverBar(LONG, "900 GB/s → 450 GB/s", 0.7, "+70 %")], "alt"),
    "node: long names": lambda: machine.node_chart(WIDE_NODE, "alt"),
    "front: close plans": lambda: log_plots.front_chart(CLOSE, None, "alt"),
    "memory": lambda: bars.capacity_chart(PARTS, 5.0, (3.5, 4.5), seconds, "alt"),
    "stages": lambda: bars.stack_rows_chart(
        [bars.StackRow("0", tuple(PARTS)), bars.StackRow("1", tuple(PARTS[:1]))],
        seconds,
        "alt",
        name="stages",
        capacity=5.0,
    ),
    "years": lambda: bars.yearly_chart(YEARS, seconds, "alt"),
    "waterfall: a gain": lambda: bars.waterfall_chart(LOSSES, LEFT, "alt", start="peak"),
    "areas: a quarter": lambda: pyramid_chart(PLATES, "alt"),
    "node: switches": lambda: machine.node_chart(replace(NODE, others=0, switch_links=(5, 4, 4, 5)), "alt"),
    "path": lambda: path_chart(HOPS, "alt"),
    "domain": lambda: domain_chart(DOMAIN, "alt"),
    "domain: many trays": lambda: domain_chart(replace(DOMAIN, nodes=144, switches=100), "alt"),
    "choices: no series": lambda: curves.choice_chart(
        MACHINES, ("price", "tokens"), (seconds, seconds), "alt", (10.5, "load: 10")
    ),
    "layouts": lambda: bars.heatmap_chart([1, 2], [1, 2], CELLS, "alt"),
    "bytes": lambda: bars.traffic_matrix(
        ["tp", "dp"], ["up", "out"], {("tp", "up"): SentBytes("1 GB", 0.5, "50 %")}, "alt"
    ),
    "node": lambda: machine.node_chart(NODE, "alt"),
    "sizes": lambda: links.size_chart(SIZED, "alt", lambda tick: display(tick, "B", 1)),
    "node: ports of accelerators": lambda: machine.node_chart(PORTS, "alt"),
    "block": lambda: machine.block_chart(BLOCK, "alt"),
    "whole": lambda: machine.fabric_chart(LEVELS, "alt", pods=25),
    "fleet": lambda: fleet.fleet_chart(POOLS, LINKS, "alt"),
    "torus": lambda: torus_chart((8, 8, 16), "alt", "8 × 8 × 16", "270 GB/s"),
    "racks": lambda: rack_chart(DrawnRacks(520, 4, 8, "40.8 kW", 0.93, "520 racks"), "alt"),
    "schedule": lambda: steps.schedule_chart(["stage 1", "stage 2"], SPANS, seconds, "alt"),
    "layer": lambda: steps.layer_chart([PASS, PASS], seconds, "alt"),
    "goodput": lambda: curves.goodput_chart([(60.0, 0.9), (600.0, 0.97), (6000.0, 0.95)], (600.0, 0.97), "alt"),
    "tornado": lambda: curves.tornado_chart(LEVERS, "alt"),
    "bandwidth": lambda: links.dot_chart(ROWS, "alt"),
    "survival": lambda: links.wire_chart([WireRow("TP", "tp", 0.1, 1.0), WireRow("DDP", "dp", 2.0, 1.0)], "alt"),
    "roofline": lambda: log_plots.roofline_chart(989e12, 3350 * GB, KERNELS, "alt"),
    "choices": lambda: curves.choice_chart(CHOICES, ("price, M EUR", "days of the run"), (seconds, seconds), "alt"),
    "waterfall": lambda: bars.waterfall_chart(
        FALLS, FallBar("achieved (MFU)", "good", 0.42, "42 %"), "alt", start="peak"
    ),
    "areas": lambda: pyramid_chart(
        [AreaPlate(LONG, 3.35e12, "3.35 TB/s", "memory"), AreaPlate("b", 1.0, "1 B/s", "dp")], "alt"
    ),
    "front": lambda: log_plots.front_chart(FRONT, FrontPoint(40.0, 400.0, "tp 8", "32 in flight"), "alt"),
}


def shapes(chart: str, tag: str) -> list[dict[str, str]]:
    found = ElementTree.fromstring(chart).iter(f"{{http://www.w3.org/2000/svg}}{tag}")
    return [dict(each.attrib) | {"text": "".join(each.itertext())} for each in found]


def number(shape: dict[str, str], name: str) -> float:
    return float(shape[name])


def spans(chart: str) -> list[tuple[float, float, float, str]]:
    """Start and end of each text in the font of reports, with its baseline."""
    found = []
    for each in shapes(chart, "text"):
        wide = svg.text_width(each["text"], number(each, "font-size"), bold="font-weight" in each)
        x = number(each, "x")
        start = x - {"start": 0.0, "middle": 0.5, "end": 1.0}[each["text-anchor"]] * wide
        found.append((start, start + wide, number(each, "y"), each["text"]))
    return found


@pytest.mark.parametrize("name", CHARTS)
def test_a_chart_names_itself_and_stays_in_its_frame(name: str) -> None:
    chart = CHARTS[name]()
    root = ElementTree.fromstring(chart)
    assert (root.attrib["data-chart"], root.attrib["aria-label"]) == (name.partition(":")[0], "alt")
    wide, high = map(float, root.attrib["viewBox"].split()[2:])
    assert wide == svg.WIDTH
    for each in shapes(chart, "rect"):
        assert number(each, "x") >= -1 and number(each, "x") + number(each, "width") <= wide + 1, each
        assert number(each, "y") >= -1 and number(each, "y") + number(each, "height") <= high + 1, each
    for each in shapes(chart, "circle"):
        assert 0 <= number(each, "cx") <= wide and 0 <= number(each, "cy") <= high, each
    for start, end, base, text in spans(chart):
        assert start >= -0.5 and end <= wide + 0.5 and 0 < base <= high + 1, (text, start, end)


@pytest.mark.parametrize("name", CHARTS)
def test_no_text_of_a_chart_covers_another(name: str) -> None:
    for one, other in combinations(spans(CHARTS[name]()), 2):
        apart = one[1] <= other[0] or other[1] <= one[0] or abs(one[2] - other[2]) >= 9
        assert apart, (one, other)


@pytest.mark.parametrize(
    ("value", "place"), [(1.0, 10.0), (10.0, 60.0), (100.0, 110.0), (0.1, 10.0), (1e9, 110.0), (10**0.5, 35.0)]
)
def test_a_decade_is_as_long_as_the_next(value: float, place: float) -> None:
    assert LogAxis(1.0, 100.0, 10.0, 110.0)(value) == pytest.approx(place)


@pytest.mark.parametrize(
    ("values", "low", "high"),
    [([3.0, 40.0], 1.0, 100.0), ([10.0], 10.0, 100.0), ([], 1.0, 10.0), ([0.0, float("inf"), 5.0], 1.0, 10.0)],
)
def test_an_axis_covers_whole_decades_around_its_values(values: list[float], low: float, high: float) -> None:
    axis = LogAxis.axis_of_decades(values, 0.0, 1.0)
    assert (axis.low, axis.high) == pytest.approx((low, high))


def test_a_logarithmic_axis_has_at_most_seven_ticks() -> None:
    assert LogAxis(1.0, 1e3, 0.0, 1.0).ticks == pytest.approx([1.0, 10.0, 100.0, 1000.0])
    assert LogAxis(1.0, 1e6, 0.0, 1.0).ticks == pytest.approx([10.0**power for power in range(7)])
    assert LogAxis(1.0, 1e8, 0.0, 1.0).ticks == pytest.approx([1.0, 1e2, 1e4, 1e6, 1e8])


@pytest.mark.parametrize(
    ("low", "high", "ticks"),
    [
        (0.0, 1.0, [0, 0.25, 0.5, 0.75, 1.0]),
        (0.0, 8.0, [0, 2, 4, 6, 8]),
        (-1.0, 1.0, [-1, -0.5, 0, 0.5, 1]),
        (0.0, 36.0, [0, 10, 20, 30]),
        (0.9, 1.0, [0.9, 0.925, 0.95, 0.975, 1.0]),
    ],
)
def test_a_linear_axis_has_about_five_round_ticks(low: float, high: float, ticks: list[float]) -> None:
    axis = LinearAxis(low, high, 20.0, 120.0)
    assert axis.ticks == pytest.approx(ticks)
    assert (axis(low), axis(high), axis((low + high) / 2)) == pytest.approx((20.0, 120.0, 70.0))
    assert (axis(low - 1), axis(high + 1)) == (20.0, 120.0)


def test_parts_of_a_stack_are_as_long_as_their_values_and_follow_each_other() -> None:
    lane = svg.drawing(20, bars.lane_shapes(PARTS, LinearAxis(0.0, 4.0, 0.0, 400.0), 5.0, 9.0), "alt")
    first, second = shapes(lane, "rect")
    assert [number(first, name) for name in ("x", "width", "y", "height")] == [0.0, 300.0 - bars.GAP, 5.0, 9.0]
    assert [number(second, name) for name in ("x", "width")] == [300.0, 100.0 - bars.GAP]
    assert first["text"] == "weights: 3 GB"


def test_a_stack_ends_at_the_capacity_or_beyond() -> None:
    chart = CHARTS["memory"]()
    (limit,) = (each for each in shapes(chart, "line") if number(each, "stroke-width") == 3)
    assert number(limit, "x1") == svg.WIDTH - 4  # a capacity of 5 above a total of 4
    _, weights, gradients, *_ = shapes(chart, "rect")
    assert number(gradients, "x") == pytest.approx((svg.WIDTH - 4) * 3 / 5, abs=0.1)
    assert number(weights, "width") == pytest.approx((svg.WIDTH - 4) * 3 / 5 - bars.GAP, abs=0.1)
    over = bars.capacity_chart(PARTS, 2.0, None, seconds, "alt")
    (limit,) = (each for each in shapes(over, "line") if number(each, "stroke-width") == 3)
    assert number(limit, "x1") == pytest.approx((svg.WIDTH - 4) / 2, abs=0.1)


def test_columns_by_year_stand_on_each_other_and_their_legend_has_the_sums() -> None:
    chart = CHARTS["years"]()
    weights, gradients, later, *legend = shapes(chart, "rect")
    assert number(weights, "y") == pytest.approx(
        number(gradients, "y") + number(gradients, "height") + bars.GAP, abs=0.1
    )
    assert number(later, "height") == number(weights, "height") and number(later, "x") > number(weights, "x")
    assert len(legend) == 2
    told = [each["text"] for each in shapes(chart, "text")]
    assert {"6 s", "1 s"} <= {*told}
    assert {"4 s", "3 s"} <= {*told}
    (whisker,) = (each for each in shapes(chart, "line") if number(each, "stroke-width") == 2)
    assert abs(number(whisker, "y1") - number(whisker, "y2")) == pytest.approx(150 / 4.5, abs=0.1)


@pytest.mark.parametrize(("level", "step"), [(0.0, 0), (0.19, 0), (0.2, 1), (0.59, 2), (0.6, 3), (0.99, 4), (1.0, 4)])
def test_a_cell_has_the_color_of_its_level(level: float, step: int) -> None:
    chart = bars.heatmap_chart([1], [1], [HeatCell(level, "1 s")], "alt")
    assert shapes(chart, "rect")[0]["fill"] == svg.HEAT[step]
    (text,) = (each for each in shapes(chart, "text") if each["text"] == "1 s")
    assert text["fill"] == (bars.WHITE if step > 2 else bars.DARK)


def test_cells_lie_row_by_row_and_the_present_one_is_framed() -> None:
    chart = CHARTS["layouts"]()
    rects = shapes(chart, "rect")
    places = [(number(each, "x"), number(each, "y")) for each in rects if number(each, "height") == 30]
    wide = (svg.WIDTH - 56) / 2
    corners = [(54 + wide * column, 46 + 32 * row) for row in (0, 1) for column in (0, 1)]
    assert {*places} == {(round(x, 1), float(y)) for x, y in corners}
    (frame,) = (each for each in rects if each["fill"] == "none" and number(each, "height") == 30)
    assert (number(frame, "x"), number(frame, "y")) == (round(corners[3][0], 1), corners[3][1])


@pytest.mark.parametrize(("busy", "share"), [(0.5, 0.5), (0.0, 0.0), (1.7, 1.0)])
def test_the_bar_of_a_link_is_the_share_of_the_step_in_which_it_is_busy(busy: float, share: float) -> None:
    whole, bar = shapes(bars.traffic_matrix(["tp"], ["up"], {("tp", "up"): SentBytes("1 GB", busy, "")}, "alt"), "rect")
    assert number(bar, "width") == pytest.approx(share * number(whole, "width"), abs=0.1)


def test_a_drawing_shows_all_parts_of_a_small_machine_and_the_first_and_last_of_a_large_one() -> None:
    for nodes in (1, 2, 7, 8, 12_500):
        texts = [each["text"] for each in shapes(machine.block_chart(replace(BLOCK, nodes=nodes), "alt"), "text")]
        drawn = range(1, nodes + 1) if nodes <= 7 else (1, 2, 3, 4, 5, nodes)
        assert [text for text in texts if text in {f"node {one}" for one in drawn} | {"12,500"}] == [
            f"node {one}" if one < 1000 else f"{one:,}" for one in drawn
        ], nodes
        assert texts.count("…") == int(nodes > 7)
    mesh = machine.node_chart(replace(NODE, links="full-mesh", nics=0), "alt")
    assert len(shapes(mesh, "polyline")) == 8 * 7 / 2
    for pods, number_of_links in ((1, 3 * 2 + 2 * 2), (2, 3 * 2 + 2)):
        levels = [DrawnRow(3, "pp", "", ""), DrawnRow(2, "cp", "", ""), DrawnRow(2, "memory", "", "")]
        assert len(shapes(machine.fabric_chart(levels, "alt", pods=pods), "line")) == number_of_links, pods


def test_the_links_of_a_node_join_what_its_topology_joins() -> None:
    """Switched: one line down from each; a ring: neighbors and both ends; a mesh: all pairs; a torus: stubs that leave
    each accelerator downward, to the left, straight and to the right."""

    def drawn(links: str, tag: str) -> list[dict[str, str]]:
        chart = machine.node_chart(replace(NODE, links=links, nics=0), "alt")
        return [each for each in shapes(chart, tag) if each.get("stroke") == svg.color("scale-up")]

    down = [(number(line, "x1"), number(line, "x2")) for line in drawn("switched", "line")]
    centers = [x for x, _ in down]
    assert down == [(x, x) for x in sorted(centers)] and len(centers) == 8
    ends = []
    for curve in drawn("ring", "polyline"):
        points = [tuple(map(float, pair.split(","))) for pair in curve["points"].split()]
        assert points[0][1] == points[-1][1] < max(y for _, y in points)
        ends.append((points[0][0], points[-1][0]))
    assert ends == [*pairwise(centers), (centers[0], centers[-1])]
    stubs = [tuple(number(line, each) for each in ("x1", "x2", "y1", "y2")) for line in drawn("torus", "line")]
    steps = [(round(x1 - x, 1), round(x2 - x, 1)) for x, (x1, x2, *_) in zip(sorted(3 * centers), stubs, strict=True)]
    assert steps == [(-5, -10), (0, 0), (5, 10)] * 8
    assert all(y1 < y2 for *_, y1, y2 in stubs)


def test_a_bar_of_a_tornado_ends_at_its_change_and_is_cut_beyond_all() -> None:
    axis = LinearAxis(-1.0, 1.0, 8, svg.WIDTH - 8)
    up, down, cut = shapes(CHARTS["tornado"](), "rect")
    assert (number(up, "x"), number(up, "width")) == pytest.approx((axis(0.0), axis(0.5) - axis(0.0)), abs=0.1)
    assert (number(down, "x"), number(down, "width")) == pytest.approx((axis(-0.05), axis(0.0) - axis(-0.05)), abs=0.1)
    assert number(cut, "width") == pytest.approx(axis(1.0) - axis(0.0), abs=0.1)
    told = [each["text"] for each in shapes(CHARTS["tornado"](), "text")]
    assert "+150 % →" in told and "+50 %" in told and "−5 %" in told


def test_dots_of_a_tier_stand_at_their_rates() -> None:
    axis = LogAxis(10 * GB, 10_000 * GB, 8, svg.WIDTH - 16)
    chart = CHARTS["bandwidth"]()
    _, _, memory, line, predicted = shapes(chart, "circle")
    for dot, rate in ((memory, 3350 * GB), (line, 50 * GB), (predicted, 48 * GB)):
        share = log10(rate / (10 * GB)) / 3
        assert (
            number(dot, "cx")
            == pytest.approx(8 + (svg.WIDTH - 24) * share, abs=0.1)
            == pytest.approx(axis(rate), abs=0.1)
        )
    _, measured = shapes(chart, "polygon")
    assert float(measured["points"].split(",")[0]) + 6 == pytest.approx(axis(25 * GB), abs=0.1)


def test_a_layout_that_does_not_fit_is_hatched_and_says_so() -> None:
    for fits in (True, False):
        chart = links.wire_chart([WireRow("TP", "tp", 0.5, 1.0, "0.5 s, 0.2 s exposed", fits)], "alt")
        assert "0.5 s, 0.2 s exposed" in [each["text"] for each in shapes(chart, "text")]
        assert len(shapes(chart, "path")) == int(not fits)
        last = shapes(chart, "circle")[-1]
        assert (last["fill"] == "none") is not fits


def test_the_roofline_bends_at_the_peak_over_the_bandwidth_and_numbers_kernels_by_share() -> None:
    chart = CHARTS["roofline"]()
    (line,) = shapes(chart, "polyline")
    (_, low), (bend, flat), (_, end) = (tuple(map(float, pair.split(","))) for pair in line["points"].split())
    ridge = 989e12 / (3350 * GB)  # 295 FLOP/B
    assert bend == pytest.approx(
        LogAxis.axis_of_decades([ridge / 30, ridge, 900.0, 1.0], 96, svg.WIDTH - 12)(ridge), abs=0.1
    )
    assert flat == end < low
    told = [each["text"] for each in shapes(chart, "text")]
    assert told[-2:] == ["1", "2"], "the kernels are named in the table beside it"
    marks = log_plots.separated_marks([(50.0, 50.0)] * 5, ((0.0, 80.0), (40.0, 50.0), (100.0, 50.0)))
    assert len(set(marks)) == 5 and min(y for _, y in marks) == 50.0, "none is drawn above the roof"


def test_the_line_of_a_front_goes_through_the_plan_of_the_spec_unless_another_is_better() -> None:
    """The plan of the spec joins the front where no plan gives both users and accelerators more."""
    for per_user, per_accelerator, joined in ((40.0, 400.0, 3), (15.0, 800.0, 2), (15.0, 1000.0, 3)):
        chart = log_plots.front_chart(FRONT, FrontPoint(per_user, per_accelerator, "tp 8", "32 in flight"), "alt")
        assert len(shapes(chart, "polyline")[0]["points"].split()) == joined, (per_user, per_accelerator)
    assert len(shapes(log_plots.front_chart(FRONT, None, "alt"), "polyline")[0]["points"].split()) == 2


def test_ticks_of_a_front_are_one_two_and_five() -> None:
    assert log_plots._decade_ticks(LogAxis(15.0, 600.0, 0, 1)) == pytest.approx([20, 50, 100, 200, 500])
    axis = log_plots._log_axis([20.0, 80.0], 0.0, 1.0)
    assert (axis.low, axis.high) == (16.0, 100.0)
    first, second = shapes(CHARTS["front"](), "circle")
    assert number(first, "cx") < number(second, "cx") and number(first, "cy") < number(second, "cy")


def test_marks_are_moved_apart_until_none_covers_another() -> None:
    marks = log_plots.separated_marks([(50.0, 50.0)] * 9)
    assert len({*marks}) == 9
    for one, other in combinations(marks, 2):
        assert (one[0] - other[0]) ** 2 + (one[1] - other[1]) ** 2 >= (2 * log_plots.RADIUS + 1) ** 2


@pytest.mark.parametrize("name", CHARTS)
def test_a_text_in_a_box_stands_in_its_middle(name: str) -> None:
    """Letters are about 0.72 of their size high, so the baseline is 0.36 of it below the middle of the box."""
    shaped = shapes(CHARTS[name](), "rect")
    boxes = [box for box in shaped if number(box, "x") + number(box, "width") < svg.WIDTH]  # others go on beyond it
    for text in shapes(CHARTS[name](), "text"):
        x, base, size = number(text, "x"), number(text, "y"), number(text, "font-size")
        for box in boxes:
            left, top, wide, high = (number(box, side) for side in ("x", "y", "width", "height"))
            if text["text-anchor"] == "middle" and left < x < left + wide and top < base < top + high <= top + 45:
                assert x == pytest.approx(left + wide / 2, abs=0.6), text
                assert base == pytest.approx(top + high / 2 + 0.36 * size, abs=1.1), text


@pytest.mark.parametrize("name", sorted(CHARTS.keys() - {"schedule"}))  # whose boxes stand at their times
def test_equal_boxes_of_a_row_stand_at_one_pitch(name: str) -> None:
    """Where some are left out, the gap is a multiple of the pitch."""
    rows: dict[tuple[str, ...], list[float]] = {}
    for box in shapes(CHARTS[name](), "rect"):
        rows.setdefault((box["y"], box["width"], box["height"]), []).append(number(box, "x"))
    for places in rows.values():
        gaps = [after - before for before, after in pairwise(sorted({*places}))]
        for gap in gaps:
            assert gap / min(gaps) == pytest.approx(round(gap / min(gaps)), abs=0.02), places


def extent(shape: dict[str, str]) -> tuple[float, float, float, float]:
    """Left, right, top and bottom of a box."""
    x, y = number(shape, "x"), number(shape, "y")
    return x, x + number(shape, "width"), y, y + number(shape, "height")


@telling(2)
@pytest.mark.parametrize("name", CHARTS)
def test_a_text_is_in_a_box_or_next_to_it_and_never_across_its_edge(name: str) -> None:
    """Letters are 0.72 of their size high, and half of it wide. The contrast with the box below is 4.5 or more, on
    light and on dark pages (WCAG 2.2, 1.4.3).
    """
    chart = CHARTS[name]()
    for (start, end, base, text), written in zip(spans(chart), shapes(chart, "text"), strict=True):
        top = base - 0.72 * number(written, "font-size")
        below = None
        for box in shapes(chart, "rect"):
            left, right, upper, lower = extent(box)
            apart = end <= left + 1 or start >= right - 1 or base <= upper + 1 or top >= lower - 1
            inside = left - 1 <= start and end <= right + 1 and upper - 1 <= top and base <= lower + 1
            assert apart or inside, (text, (left, right, upper, lower))
            below = box if inside and box["fill"] != "none" else below
        for dark in (False, True):
            pair = sorted(luminance(painted(each, dark)) + 0.05 for each in (written, below or {"fill": "#888888"}))
            assert below is None or pair[1] / pair[0] >= 4.5, (text, below)


def painted(shape: dict[str, str], dark: bool) -> str:
    tint = svg.TINTS.get(shape.get("class", "").removeprefix("c-"))
    return tint[dark] if tint else shape["fill"]


def luminance(color: str) -> float:
    parts = [int(color[at : at + 2], 16) / 255 for at in (1, 3, 5)]
    linear = [part / 12.92 if part <= 0.03928 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


@pytest.mark.parametrize("name", CHARTS)
def test_the_key_of_a_color_has_its_name_next_to_it(name: str) -> None:
    """A swatch of 12 to 17 units: the text begins 4 to 7 after it, and their middles are level."""
    chart = CHARTS[name]()
    texts = [(number(each, "x"), number(each, "y"), number(each, "font-size")) for each in shapes(chart, "text")]
    swatches = [each for each in map(extent, shapes(chart, "rect")) if each[3] - each[2] in (12, 13)]
    for left, right, upper, lower in swatches:
        if right - left not in (12, 17):
            continue
        named = [at for at in texts if 4 <= at[0] - right <= 7 and abs(at[1] - 0.36 * at[2] - (upper + lower) / 2) <= 1]
        followed = any(0 < other[0] - right < 3 and other[2] == upper for other in swatches)
        assert len(named) == 1 or followed, (left, upper)


def test_a_bar_of_a_waterfall_begins_where_the_last_one_ended() -> None:
    """100 % are 161.2 units from 228.8 on: 52 % of the width to 50 units before its end."""
    chart = CHARTS["waterfall: a gain"]()
    wanted = [(228.8, 161.2), (357.8, 32.2), (357.8, 16.1), (228.8, 145.1)]
    rects = shapes(chart, "rect")
    assert [(number(box, "x"), number(box, "width")) for box in rects] == wanted
    assert [number(box, "y") for box in rects] == [6.0, 28.0, 50.0, 72.0]
    joints = [(number(line, "x1"), number(line, "y1"), number(line, "y2")) for line in shapes(chart, "line")]
    assert joints == [(390.0, 21.0, 28.0), (357.8, 43.0, 50.0), (373.9, 65.0, 72.0)]
    told = [each["text"] for each in shapes(chart, "text")]
    assert told == ["peak", "100 %", "pipeline bubble", "20 %", "overlap", "−10 %", "model FLOPs", "90 %"]
    beside = [number(each, "x") for each in shapes(chart, "text")][1::2]
    assert beside == [396.0, 396.0, 379.9, 379.9]


def test_a_machine_stands_at_the_middle_of_its_price_and_at_its_work() -> None:
    """Prices reach 10.8 on 62 to 414, work 22 on 168 up to 30: 8 is at 322.7, 20 at 42.5."""
    chart = CHARTS["choices: no series"]()
    dots = [(number(dot, "cx"), number(dot, "cy"), dot["fill"] == "none") for dot in shapes(chart, "circle")]
    assert dots == [(322.7, 42.5, False), (192.4, 105.3, True), (322.7, 73.9, False)]
    ranges = [line for line in shapes(chart, "line") if number(line, "stroke-width") == 3]
    assert [(number(line, "x1"), number(line, "x2")) for line in ranges] == [
        (257.6, 387.9),
        (159.8, 225.0),
        (290.1, 355.3),
    ]
    (joined,) = shapes(chart, "polyline")
    assert joined["points"] == "192.4,105.3 322.7,42.5", "the sizes of one machine, by price"
    (level,) = (line for line in shapes(chart, "line") if "stroke-dasharray" in line)
    assert number(level, "y1") == number(level, "y2") == 102.1, "10.5 of 22 of what is asked for"
    told = [each["text"] for each in shapes(chart, "text")]
    assert "A" in told and "this design" not in told and {"8 nodes", "16 nodes"} <= {*told}


def boxes_of(chart: str) -> list[tuple[float, ...]]:
    """x, y, width and height of each filled box, keys of colors left out."""
    found = [tuple(number(box, side) for side in ("x", "y", "width", "height")) for box in shapes(chart, "rect")]
    return [box for box in found if box[2] != 12.0]


@pytest.mark.parametrize(
    ("name", "boxes"),
    [
        # 438 units for 4 s are 109.5 for one; a unit parts neighbors; one second is hidden, 4 + 20 units below the step
        ("timeline", [(0, 20, 327.5, 34), (328.5, 20, 108.5, 34), (0, 78, 108.5, 14)]),
        # 436 units for a capacity of 5 s are 87.2 for one
        ("memory", [(0, 24, 436, 36), (0, 24, 260.6, 36), (261.6, 24, 86.2, 36)]),
        # 420.5 units from 15.5 on, next to a digit of 7.5, for 5 s are 84.1 for one; rows of 20, 15 drawn
        ("stages", [(15.5, 24, 251.3, 15), (267.8, 24, 83.1, 15), (15.5, 44, 251.3, 15)]),
        # two stages of 18 units below each other, from 62 to 438
        ("schedule", [(62, 4, 376, 36)]),
        # 438 units for 4.5 s are 97.3 for one: 3 s, 1 s and 0.5 s exposed; of 3 s on the wire 2.5 s end with the device
        (
            "layer",
            [
                *((0, 20, 291, 20), (292, 20, 96.3, 20), (389.3, 20, 47.7, 20), (146, 44, 292, 8)),
                *((0, 78, 291, 20), (292, 78, 96.3, 20), (389.3, 78, 47.7, 20), (146, 102, 292, 8)),
            ],
        ),
        # columns of (440 − 70) / 2 = 185 from 70 on, 6 before and 10 after their bar; half of it is busy
        ("bytes", [(76, 55, 169, 8), (76, 55, 84.5, 8)]),
        # columns of 348 / 2 = 174, of which 60 % are drawn; 150 units for 4.5 s are 33.3 for one
        ("years", [(126.8, 64.0, 104.4, 99.0), (126.8, 30.7, 104.4, 32.3), (300.8, 64.0, 104.4, 99.0)]),
    ],
)
def test_boxes_stand_where_their_values_put_them(name: str, boxes: list[tuple[float, ...]]) -> None:
    assert boxes_of(CHARTS[name]()) == boxes


def test_an_operation_is_drawn_on_its_stage_from_its_start_to_its_end() -> None:
    """94 units for a second from 62 on, rows of 18 with a margin of 1; many stages are thinner, and fewer are named."""
    outlines = [each["d"] for each in shapes(CHARTS["schedule"](), "path")]
    assert outlines == [
        "M62.00 5.0h93.65v16.0h-93.65zM156.00 23.0h93.65v16.0h-93.65z",
        "M250.00 23.0h187.65v16.0h-187.65z",
    ]
    for stages, pitch, named in ((2, 18.0, 2), (20, 11.5, 20), (30, 230 / 30, 15), (100, 5.0, 34)):
        chart = steps.schedule_chart([f"stage {each}" for each in range(stages)], SPANS, seconds, "alt")
        texts = [each for each in shapes(chart, "text") if each["text"].startswith("stage")]
        assert len(texts) == named, stages
        assert boxes_of(chart)[0][3] == pytest.approx(stages * pitch, abs=0.1), stages
        assert [number(texts[0], side) for side in ("x", "y")] == [56.0, pytest.approx(8 + pitch / 2, abs=0.1)]


def test_nodes_of_a_rack_are_to_scale_and_its_power_is_cut_at_the_limit() -> None:
    """150 units for 42 rack units: 8 of them are 28.6, from the floor up, 2 less for the gap."""
    first = [box for box in boxes_of(CHARTS["racks"]()) if box[0] < 50 and box[3] > 12]
    assert first == [(3.5, 8, 48, 150), *((6, y, 43, 26.6) for y in (130.4, 101.9, 73.3, 44.7))]
    racks = DrawnRacks(2, 4, 8, "", 0.5, "")
    for share, reach, drawn in ((0.5, 440.0, 220.0), (1.0, 440.0, 440.0), (1.25, 352.0, 440.0)):
        chart = rack_chart(replace(racks, share=share), "alt")
        limit, power = boxes_of(chart)[-2:]
        assert (limit[2], power[2], limit[3]) == (reach, drawn, 12.0), "at most the width of the page"
        (line,) = shapes(chart, "line")
        assert (number(line, "x1"), number(line, "y1"), number(line, "y2")) == (reach - 1, 200.0, 220.0)
    unknown = boxes_of(rack_chart(replace(racks, units=None, share=None), "alt"))
    assert unknown[1][3] == pytest.approx(150 / 8 - 2, abs=0.1), "an eighth of the rack"
    tall = boxes_of(rack_chart(replace(racks, units=15, share=None), "alt"))
    assert tall[1][3] == 150 / 4 - 2, "60 rack units are drawn on the height of the rack"
    thin = boxes_of(rack_chart(replace(racks, nodes=100, units=1, share=None), "alt"))
    assert thin[1][3] == 1.0, "a node of 1.5 without its gap is still a line"


@pytest.mark.parametrize(
    ("last", "built_in", "counts", "unit"),
    [
        # 39 nodes in racks of 4: nine full ones and one of 3
        (3, (), (4, 3), 150 / 42),
        (None, (), (4, 4), 150 / 42),
        # 4 nodes of 8 units, 9 trays and 8 shelves of one: 49 units on the height of the rack
        (3, ((9, 1, "scale-up"), (8, 1, "energy")), (21, 20), 150 / 49),
    ],
)
def test_a_rack_holds_its_own_nodes_and_what_is_built_into_it(
    last: int | None, built_in: tuple[tuple[int, int, str], ...], counts: tuple[int, int], unit: float
) -> None:
    chart = rack_chart(DrawnRacks(10, 4, 8, "", None, "", None, last, built_in), "alt")
    boxes = [box for box in boxes_of(chart) if box[3] < 149]
    left = {round(box[0] / 20) for box in boxes}
    first = [box for box in boxes if round(box[0] / 20) == min(left)]
    end = [box for box in boxes if round(box[0] / 20) == max(left)]
    assert (len(first), len(end)) == counts
    assert max(box[3] for box in first) == pytest.approx(8 * unit - 2, abs=0.1)
    lowest = max(box[1] + box[3] for box in first)
    assert lowest == pytest.approx(8 + 150 - 1, abs=0.1), "from the floor up"


def test_each_rack_of_switches_holds_those_that_it_can_and_the_last_one_the_rest() -> None:
    """60 switches in racks of 30, and 125 in racks of 42, of which the first and the last are drawn."""
    racks = DrawnRacks(33, 4, 10, "", None, "")
    for switches, held, drawn in ((60, 30, [30, 30]), (70, 42, [42, 28]), (125, 42, [42, 42, 41]), (200, 42, [42, 32])):
        chart = rack_chart(replace(racks, switches=DrawnSwitches(switches, 1, held)), "alt")
        frames = [box for box in boxes_of(chart) if box[3] == 150]
        slots = [box for box in boxes_of(chart) if box[3] == pytest.approx(150 / 42 - 1, abs=0.06)]
        inside = [sum(left < box[0] < left + wide for box in slots) for left, _, wide, _ in frames]
        assert sorted(count for count in inside if count) == sorted(drawn), switches
        assert len(frames) - sum(map(bool, inside)) == 8 - min(3, len(DrawnSwitches(switches, 1, held).in_racks)) - 1
        assert max(left + wide for left, _, wide, _ in frames) <= 440


def test_pools_of_a_fleet_have_a_box_for_each_node_divided_by_the_shares_of_jobs() -> None:
    """16 nodes with two jobs for three quarters of the time, 8 without a job, 2 spares, and 4 with one job."""
    chart = CHARTS["fleet"]()
    filled = [number(box, "width") for box in shapes(chart, "rect") if "stroke" not in box]
    assert filled == [*([5.8, 2.9] * 16), *([11.5] * 4)], "half and a quarter of 11.5"
    framed = [box for box in shapes(chart, "rect") if "stroke" in box and number(box, "width") < 20]
    assert len(framed) == 16 + 8 + 2
    for nodes, each in ((96, 1), (97, 2), (192, 2), (2000, 32)):
        assert fleet.nodes_of_box([DrawnPool("a", "", (DrawnNodes(nodes - 1, (), ""),), spares=1)]) == each
    assert len(shapes(chart, "polyline")) == len(LINKS)


def test_no_label_of_a_choice_lies_on_the_line_of_the_load() -> None:
    for load in range(5, 40):
        points = [ChoicePoint("8 nodes", (3.0, 3.0), 12.0), ChoicePoint("this design", (6.0, 6.0), 30.0, "A", "limit")]
        heads, texts = ("price", "tokens per second"), (str, str)
        drawn = curves.choice_chart(points, heads, texts, "alt", (float(load), "load"))
        (line,) = (each for each in shapes(drawn, "line") if "stroke-dasharray" in each)
        (label,) = (each for each in shapes(drawn, "text") if each["text"] == "8 nodes")
        base, level = number(label, "y"), number(line, "y1")
        assert not base - 10 < level < base + 3, load


def test_no_label_of_a_choice_lies_on_the_labels_of_its_axes() -> None:
    """A machine of one node at the line of the load, near the axes."""
    sizes = [ChoicePoint("6 nodes", (1.89, 1.89), 41802.0), ChoicePoint("24 nodes", (7.11, 7.11), 168096.0)]
    one = ChoicePoint("1 node, other engines", (0.44, 0.44), 8664.0, series=False)
    texts = (lambda tick: f"{tick:g} M", lambda tick: f"{tick:,.0f}")
    drawn = curves.choice_chart([*sizes, one], ("price", "tokens"), texts, "alt", (8400.0, "load: 8,400"))
    written = {each["text"]: (number(each, "x"), number(each, "y")) for each in shapes(drawn, "text")}
    left, base = written["1 node, other engines"]
    prices = [place for text, place in written.items() if text.endswith(" M")]
    assert len(prices) > 2
    assert all(y - 12 >= base for _, y in prices)
    assert left >= max(x for text, (x, _) in written.items() if text == "0")
