"""Marks of charts stand at their values by the labels of the axes, and texts are aligned with what they name."""

from __future__ import annotations

import re
from collections.abc import Callable
from itertools import combinations, pairwise
from math import hypot, log10
from random import Random

import pytest

from clusterspec.report.charts import bars, curves, labels, log_plots, svg
from clusterspec.report.charts.bars import FallBar, StackPart
from clusterspec.report.charts.curves import ChoicePoint
from clusterspec.report.charts.labels import Box
from clusterspec.report.charts.svg import LinearAxis
from tests.effort import thorough
from tests.report.pages import _UNITS
from tests.report.test_charts import CHARTS, extent, number, shapes, spans

Place = tuple[float, float]
Scale = Callable[[float], float]
GB = 1e9


def value_of(label: str) -> float:
    """The number of the label of a tick, in SI units."""
    found = re.fullmatch(r"([\d.,]+)(?: (\S+))?", label)
    assert found, label
    return float(found[1].replace(",", "")) * (_UNITS[found[2]] if found[2] else 1.0)


def scale(ticks: dict[float, float], *, log: bool) -> Scale:
    """From values to coordinates, by the first and the last tick; the others have to agree."""
    low, high = min(ticks), max(ticks)
    bent: Scale = log10 if log else float

    def place(value: float) -> float:
        share = (bent(value) - bent(low)) / (bent(high) - bent(low))
        return ticks[low] + share * (ticks[high] - ticks[low])

    assert len(ticks) > 1 and all(at == pytest.approx(place(value), abs=0.11) for value, at in ticks.items())
    return place


def ticks_below(chart: str) -> dict[float, float]:
    """The values of a horizontal axis with their x: the baseline with most labels of ticks."""
    rows: dict[str, list[dict[str, str]]] = {}
    for text in shapes(chart, "text"):
        if (text["font-size"], text["fill"]) == ("11", svg.color("soft")):
            rows.setdefault(text["y"], []).append(text)
    return {value_of(text["text"]): number(text, "x") for text in max(rows.values(), key=len)}


def ticks_beside(chart: str) -> dict[float, float]:
    """The values of a vertical axis with their y: each label ends 6 before its line, 4 below it."""
    lines = [(number(line, "x1"), number(line, "y1")) for line in shapes(chart, "line") if line["y1"] == line["y2"]]
    return {
        value_of(text["text"]): number(text, "y") - 4
        for text in shapes(chart, "text")
        if (number(text, "x") + 6, number(text, "y") - 4) in lines and text["font-size"] == "11"
    }


def middles(chart: str) -> list[Place]:
    """The middles of dots and diamonds, in order; those of a legend above the axes are left out."""
    dots = [(number(dot, "cx"), number(dot, "cy")) for dot in shapes(chart, "circle")]
    for shape in shapes(chart, "polygon"):
        corners = [tuple(map(float, pair.split(","))) for pair in shape["points"].split()]
        dots.append((sum(x for x, _ in corners) / 4, sum(y for _, y in corners) / 4))
    return [(x, y) for x, y in dots if y > 20]


@pytest.mark.parametrize(
    ("name", "log", "values"),
    [
        ("bandwidth", True, [3350 * GB, 50 * GB, 48 * GB, 25 * GB]),
        ("survival", True, [0.1, 2.0]),
        ("goodput", True, [600.0]),
    ],
)
def test_a_dot_stands_at_its_value_by_the_labels_of_the_axis(name: str, log: bool, values: list[float]) -> None:
    chart = CHARTS[name]()
    place = scale(ticks_below(chart), log=log)
    assert [x for x, _ in middles(chart)] == pytest.approx([place(value) for value in values], abs=0.11)


@pytest.mark.parametrize(
    ("name", "logs", "points"),
    [
        ("roofline", (True, True), [(900.0, 600e12), (1.0, 3e12)]),
        ("front", (True, True), [(20.0, 900.0), (80.0, 300.0), (40.0, 400.0)]),
        ("choices: no series", (False, False), [(8.0, 20.0), (4.0, 10.0), (8.0, 15.0)]),
    ],
)
def test_a_point_stands_at_both_of_its_values(name: str, logs: tuple[bool, bool], points: list[Place]) -> None:
    chart = CHARTS[name]()
    across, up = scale(ticks_below(chart), log=logs[0]), scale(ticks_beside(chart), log=logs[1])
    found = middles(chart)[: len(points)]
    for (x, y), (first, second) in zip(found, points, strict=True):
        assert (x, y) == pytest.approx((across(first), up(second)), abs=0.11)
    by_work = sorted(zip(points, found, strict=True), key=lambda pair: pair[0][1])
    assert [y for _, (_, y) in by_work] == sorted((y for _, y in found), reverse=True), "more is higher"


def test_a_curve_of_goodput_goes_through_its_points_and_marks_the_plan() -> None:
    chart = CHARTS["goodput"]()
    across, up = scale(ticks_below(chart), log=True), scale(ticks_beside(chart), log=False)
    (line,) = shapes(chart, "polyline")
    points = [(60.0, 0.9), (600.0, 0.97), (6000.0, 0.95)]
    told = [float(each) for pair in line["points"].split() for each in pair.split(",")]
    assert told == pytest.approx([at for first, share in points for at in (across(first), up(share))], abs=0.11)
    assert middles(chart)[0] == pytest.approx((across(600.0), up(0.97)), abs=0.11)
    dashed = [line for line in shapes(chart, "line") if "stroke-dasharray" in line]
    assert [(number(line, "x1"), number(line, "x2")) for line in dashed] == [(middles(chart)[0][0],) * 2]
    assert number(dashed[0], "y1") == up(1.0), "from the line of 100 %"
    planned = curves.goodput_chart([(60.0, 0.9), (6000.0, 0.95)], (600.0, 0.5), "alt")
    assert number(shapes(planned, "circle")[0], "cy") < 230, "a plan below the curve is inside the axis"


def test_the_computation_of_a_step_is_a_line_at_its_seconds() -> None:
    chart = CHARTS["survival"]()
    place = scale(ticks_below(chart), log=True)
    limits = [line for line in shapes(chart, "line") if number(line, "stroke-width") == 3][1:]
    dots = middles(chart)
    assert [number(line, side) for line in limits for side in ("x1", "x2")] == pytest.approx([place(1.0)] * 4, abs=0.11)
    assert [(number(line, "y1") + number(line, "y2")) / 2 for line in limits] == [y for _, y in dots]
    stems = [line for line in shapes(chart, "line") if number(line, "stroke-width") == 2]
    assert [(number(line, "x2"), number(line, "y2")) for line in stems] == dots, "a line from the axis to each dot"
    assert {number(line, "x1") for line in stems} == {8.0}


DROPS = {"bandwidth": 16.0, "survival": 16.0, "goodput": 16.0, "choices": 16.0}
"""The space from the lowest line to the labels below it, where it is not 15: lanes end 1 above the axis."""


@pytest.mark.parametrize(
    "name",
    ["timeline", "memory", "stages", "schedule", "layer", "bandwidth", "survival", "roofline", "front", "choices"],
)
def test_labels_of_an_axis_stand_below_the_ends_of_its_lines(name: str) -> None:
    chart = CHARTS[name]()
    for value, x in ticks_below(chart).items():
        ends = [number(line, "y2") for line in shapes(chart, "line") if number(line, "x2") == x or name == "choices"]
        base = {
            number(text, "y") for text in shapes(chart, "text") if number(text, "x") == x and text["font-size"] == "11"
        }
        assert max(ends) + DROPS.get(name, 15.0) in base, (value, x)


@pytest.mark.parametrize("name", CHARTS)
def test_texts_of_one_row_share_a_baseline(name: str) -> None:
    """Texts at the start or the end of a place; what stands in the middle of a mark moves with it."""
    bases = {number(text, "y") for text in shapes(CHARTS[name](), "text") if text["text-anchor"] != "middle"}
    for one, other in combinations(sorted(bases), 2):
        assert other - one >= 8, (one, other)


@pytest.mark.parametrize("name", CHARTS)
def test_columns_of_texts_share_a_start_or_an_end(name: str) -> None:
    """Labels of ticks stand at their ticks."""
    for end in ("start", "end"):
        places = {
            number(text, "x")
            for text in shapes(CHARTS[name](), "text")
            if text["text-anchor"] == end and text["font-size"] != "11"
        }
        for one, other in combinations(sorted(places), 2):
            assert other - one >= 4, (one, other)


@pytest.mark.parametrize("name", CHARTS)
def test_a_drawing_ends_below_its_last_shape(name: str) -> None:
    """At least as far as letters go below their baseline, at most one line."""
    chart = CHARTS[name]()
    found = re.search(r'viewBox="0 0 440 (\d+)"', chart)
    assert found
    texts = [number(text, "y") + 0.22 * number(text, "font-size") for text in shapes(chart, "text")]
    corners = [float(y) for each in shapes(chart, "polygon") for y in re.findall(r",([0-9.]+)", each["points"])]
    low = max([*texts, *corners, *(extent(box)[3] for box in shapes(chart, "rect"))])
    assert 5 <= float(found[1]) - low <= 27, low


@pytest.mark.parametrize("name", CHARTS)
def test_a_hatch_covers_a_box_from_edge_to_edge(name: str) -> None:
    """Diagonals of one slope, at one distance, from the left or upper edge to the upper or right edge of a box."""
    for path in shapes(CHARTS[name](), "path"):
        if "h" in path["d"]:
            continue  # bars of a schedule
        lines = [tuple(map(float, pair)) for pair in re.findall(r"M(\S+) (\S+)L(\S+) ([\d.]+)", path["d"])]
        left, right = min(line[0] for line in lines), max(line[2] for line in lines)
        top, low = min(line[3] for line in lines), max(line[1] for line in lines)
        for x1, y1, x2, y2 in lines:
            assert x2 - x1 == pytest.approx(y1 - y2, abs=0.21), "45 degrees"
            assert x1 == pytest.approx(left, abs=0.11) or y1 == pytest.approx(low, abs=0.11)
            assert y2 == pytest.approx(top, abs=0.11) or x2 == pytest.approx(right, abs=0.11)
        offsets = [x1 + y1 for x1, y1, _, _ in lines]
        gaps = {round(after - before, 1) for before, after in pairwise(offsets)}
        assert max(gaps) - min(gaps) < 0.3 and 0 < offsets[0] - left - top <= max(gaps) + 0.11, gaps


@pytest.mark.parametrize("name", CHARTS)
def test_a_mark_of_a_legend_has_its_name_next_to_it(name: str) -> None:
    """Dots above the axes, and diamonds before the plan of the spec: the text follows by 5 to 10, at one level."""
    chart = CHARTS[name]()
    marks = [(number(dot, "cx"), number(dot, "cy"), number(dot, "r")) for dot in shapes(chart, "circle")]
    for x, y, radius in [mark for mark in marks if mark[1] == 10.0]:
        beside = [text for text in spans(chart) if 5 <= text[0] - x - radius <= 10 and abs(text[2] - y - 4) < 0.1]
        assert len(beside) == 1, (x, y)


def test_a_row_and_a_column_of_layouts_are_named_in_line_with_their_cells() -> None:
    texts = {text["text"]: (number(text, "x"), number(text, "y")) for text in shapes(CHARTS["layouts"](), "text")}
    heads = [text for text in shapes(CHARTS["layouts"](), "text") if text["text"] in "12" and "font-weight" in text]
    columns, rows = heads[:2], heads[2:]
    assert [number(head, "x") for head in columns] == [texts["1 s"][0], texts["9 s"][0]]
    assert [number(head, "y") for head in rows] == [texts["1 s"][1], texts["4 s"][1]]
    assert {number(head, "y") for head in columns} == {texts["tp"][1]}, "the name of the rows, above them"


def test_a_mark_moves_by_whole_steps_in_eight_directions_at_most_as_far_as_needed() -> None:
    marks = log_plots.separated_marks([(100.0, 100.0)] * 9)
    assert marks[0] == (100.0, 100.0)
    moved = [(x - 100.0, y - 100.0) for x, y in marks[1:]]
    reached = sorted(round(hypot(*each) / 22, 2) for each in moved)
    assert set(reached) <= {0.99, 1.0, 1.98, 2.0} and reached[0] < 1.01, reached
    assert all(min(abs(x), abs(y)) < 0.1 or abs(abs(x) - abs(y)) < 0.1 for x, y in moved), "straight or diagonal"
    assert moved[:4] == [(0, 22), (0, -22), (22, 0), (-22, 0)]
    touching = 2 * log_plots.RADIUS + 1
    assert log_plots.separated_marks([(0.0, 0.0), (touching, 0.0)]) == [(0.0, 0.0), (touching, 0.0)], "apart enough"


def test_a_part_without_a_value_is_a_hair_and_an_axis_without_values_has_a_length() -> None:
    axis = LinearAxis(0.0, 1.0, 0.0, 100.0)
    nothing, whole = shapes(
        svg.drawing(
            9, bars.lane_shapes([StackPart("a", "tp", 0.0, ""), StackPart("b", "tp", 1.0, "")], axis, 0, 9), ""
        ),
        "rect",
    )
    assert (number(nothing, "width"), number(whole, "x")) == (0.4, 0.0)
    none = StackPart("none", "tp", 0.0, "0 s")
    for chart in (
        bars.timeline_chart([none], [], str, "alt"),
        bars.capacity_chart([none], None, None, str, "alt"),
        bars.stack_rows_chart([bars.StackRow("a", (none,))], str, "alt", name="stages"),
        bars.yearly_chart([bars.Year("1", (none,), 0.0, 0.0)], str, "alt"),
    ):
        told = [text["text"] for text in shapes(chart, "text")]
        assert {"0.0", "0.25", "0.5", "0.75", "1.0"} <= {*told}, told
    even = [FallBar("loss", "tp", 0.0, "0 %")]
    chart = bars.waterfall_chart(even, FallBar("left", "good", 1.0, "100 %"), "alt", start="peak")
    assert [number(box, "width") for box in shapes(chart, "rect")] == [161.2, 1.0, 161.2]


@pytest.mark.parametrize(("most", "seconds", "label"), [
    (119.9, 1.0, "2 s"), (120.0, 60.0, "2 min"), (7199.0, 60.0, "2 min"), (7200.0, 3600.0, "2 h"),
    (172799.0, 3600.0, "2 h"), (172800.0, 86400.0, "2 days"),
])  # fmt: skip
def test_an_axis_of_times_is_in_the_largest_unit_that_reaches_two(most: float, seconds: float, label: str) -> None:
    found, shown = bars.time_axis(most)
    assert (found, shown(2.0)) == (seconds, label)
    row = bars.StackRow("a", (StackPart("a", "tp", most, ""),))
    chart = bars.timed_rows_chart([row], "alt", name="times")
    assert any(text["text"].endswith(label[1:]) for text in shapes(chart, "text"))
    assert number(shapes(chart, "rect")[0], "width") == pytest.approx(
        svg.WIDTH - 4 - 8 - svg.text_width("a", 12) - 1, abs=0.1
    )


@pytest.mark.parametrize("name", ["node", "node: long names", "block", "whole"])
def test_a_link_of_a_machine_ends_at_the_edge_of_a_box(name: str) -> None:
    """Stubs of uplinks and of NICs end free, above all boxes."""
    chart = CHARTS[name]()
    boxes = [extent(box) for box in shapes(chart, "rect")]
    free = {26.0, 22.0}
    for line in shapes(chart, "line"):
        for x, y in ((number(line, "x1"), number(line, "y1")), (number(line, "x2"), number(line, "y2"))):
            touched = any(left <= x <= right and y in (top, low) for left, right, top, low in boxes)
            assert touched or y in free, (x, y)


@pytest.mark.parametrize(("name", "gaps"), [("node", {3.0, 4.0}), ("block", {6.0}), ("whole", {5.0}), ("racks", set())])
def test_boxes_of_a_row_are_apart_and_as_wide_as_there_is_room(name: str, gaps: set[float]) -> None:
    """A row is as wide as the drawing between its margins, or its boxes have their largest width."""
    rows: dict[tuple[str, str, str], list[tuple[float, ...]]] = {}
    for box in shapes(CHARTS[name](), "rect"):
        rows.setdefault((box["y"], box["width"], box["height"]), []).append(extent(box))
    largest = {"NIC": 40.0, "accelerator": 46.0, "leaf": 64.0, "node": 70.0, "switch": 60.0, "rack": 48.0}
    for placed in (sorted(each) for each in rows.values() if len(each) > 1):
        wide = placed[0][1] - placed[0][0]
        between = {round(after[0] - before[1], 0) for before, after in pairwise(placed)}
        assert min(between) > 0
        limits = {*largest.values(), 43.0}  # nodes are 5 narrower than their rack
        assert min(between) in gaps or round(wide, 1) in limits, (wide, between)


def test_a_value_of_a_tornado_is_next_to_its_bar_or_inside_a_long_one() -> None:
    """5 units from the end of the bar, on the side of the change; a bar above 42 % of the axis holds its value."""
    cases = (
        (0.5, "start"),
        (-0.5, "end"),
        (0.83, "start"),
        (0.85, "end"),
        (-0.85, "start"),
        (1.0, "end"),
        (0.0, "start"),
    )
    levers = [curves.LeverBar(f"lever {at}", "", change, f"value {at}") for at, (change, _) in enumerate(cases)]
    chart = curves.tornado_chart(levers, "alt")
    values = [text for text in shapes(chart, "text") if text["text"].startswith("value")]
    zeros = [line for line in shapes(chart, "line") if line["y1"] != line["y2"]]
    assert {number(line, "x1") for line in zeros} == {number(line, "x2") for line in zeros} == {svg.WIDTH / 2}
    for (change, end), text, box, zero in zip(cases, values, shapes(chart, "rect"), zeros, strict=True):
        left, right, top, low = extent(box)
        inside = abs(change) > 0.84
        far = right if change >= 0 else left
        away = (1 if change >= 0 else -1) * (-5 if inside else 5)
        if change:
            assert number(text, "x") == pytest.approx(far + away, abs=0.11), change
        assert text["text-anchor"] == end and number(text, "y") == low - 2, change
        assert (text["fill"] == svg.color("paper")) is inside
        assert (number(zero, "y1"), number(zero, "y2")) == (top - 2, low + 2)


@pytest.mark.parametrize("name", ["roofline", "front", "choices", "choices: no series"])
def test_a_number_or_letter_in_a_mark_stands_in_its_middle(name: str) -> None:
    """Capitals and digits are 0.72 of their size high."""
    chart = CHARTS[name]()
    found = [
        text for text in shapes(chart, "text") if text["text-anchor"] == "middle" and text["fill"] != svg.color("soft")
    ]
    assert found
    dots = [(number(dot, "cx"), number(dot, "cy")) for dot in shapes(chart, "circle")]
    for text in found:
        base = number(text, "y") - 0.36 * number(text, "font-size")
        assert any(x == number(text, "x") and abs(y - base) < 0.2 for x, y in dots), text


def test_the_line_of_a_capacity_crosses_every_row_at_its_value() -> None:
    for capacity in (5.0, 12.0, 40.0):
        rows = [bars.StackRow(f"row {name}", (StackPart("p", "forward", value, ""),)) for name, value in SIZES.items()]
        drawn = bars.stack_rows_chart(rows, "{:g}".format, "alt", name="stages", capacity=capacity, legend=False)
        (line,) = [each for each in shapes(drawn, "line") if each["stroke"] == svg.color("limit")]
        boxes = [(number(box, "x"), number(box, "y"), number(box, "width")) for box in shapes(drawn, "rect")]
        heights = [number(box, "height") for box in shapes(drawn, "rect")]
        (left,) = {x for x, _, _ in boxes}
        widths = {name: width for name, (_, _, width) in zip(SIZES, boxes, strict=True)}
        assert line["x1"] == line["x2"]
        assert number(line, "x1") - left == pytest.approx(capacity * widths["a"] / SIZES["a"], rel=0.01)
        assert number(line, "y1") < min(y for _, y, _ in boxes)
        assert number(line, "y2") >= max(y + height for (_, y, _), height in zip(boxes, heights, strict=True))


SIZES = {"a": 10.0, "b": 20.0, "c": 4.0}


@pytest.mark.parametrize(
    ("one", "other", "better"),
    [
        ((2.0, 1.0), (1.0, 1.0), True),
        ((1.0, 2.0), (1.0, 1.0), True),
        ((2.0, 2.0), (1.0, 1.0), True),
        ((1.0, 1.0), (1.0, 1.0), False),
        ((2.0, 1.0), (1.0, 2.0), False),
        ((1.0, 2.0), (2.0, 1.0), False),
        ((1.0, 1.0), (1.0, 2.0), False),
    ],
)
def test_a_plan_is_better_than_another_by_one_figure_and_worse_by_none(one: Place, other: Place, better: bool) -> None:
    pair = [log_plots.FrontPoint(*place, "", "") for place in (one, other)]
    assert log_plots._is_dominant(pair[0], pair[1]) is better


def test_the_sum_of_a_year_stands_over_its_column_and_its_range() -> None:
    low, high = StackPart("power", "tp", 2.0, "2 s"), StackPart("parts", "dp", 1.0, "1 s")
    years = [bars.Year("1", (low, high), 2.0, 4.0), bars.Year("2", (low,), 2.0, 2.0)]
    chart = bars.yearly_chart(years, "sum {}".format, "alt")
    boxes = [box for box in shapes(chart, "rect") if box["text"]]
    texts = {each["text"]: each for each in shapes(chart, "text")}
    scale = number(boxes[0], "height") + bars.GAP  # 2 s
    for name, column, most in (("sum 3.0", boxes[0], 4.0), ("sum 2.0", boxes[2], 2.0)):
        middle = number(column, "x") + number(column, "width") / 2
        bottom = number(column, "y") + number(column, "height") + bars.GAP
        assert number(texts[name], "x") == pytest.approx(middle, abs=0.2)
        assert number(texts[name], "y") == pytest.approx(bottom - most * scale / 2 - 5, abs=0.3)


def names_and_marks(chart: str) -> tuple[list[Box], list[Box]]:
    """The plates of the names in a chart of choices, and its marks."""
    plates = [[number(box, key) for key in ("x", "y", "width", "height")] for box in shapes(chart, "rect")]
    dots = [[number(dot, key) for key in ("cx", "cy", "r")] for dot in shapes(chart, "circle")]
    return [Box(x, y, x + wide, y + high) for x, y, wide, high in plates], [
        Box(x - radius, y - radius, x + radius, y + radius) for x, y, radius in dots
    ]


def choices(seed: int) -> list[ChoicePoint]:
    """Sizes of a machine and its other engines: prices and rates that grow together, some of them alike."""
    drawn = Random(seed)
    prices = sorted({drawn.randint(1, 12) for _ in range(drawn.randint(2, 5))})
    found = [ChoicePoint(f"{price} nodes", (price, price), price * drawn.uniform(0.8, 1.2)) for price in prices]
    found[0] = ChoicePoint("", found[0].price, found[0].work, "A", "limit")
    return found + [
        ChoicePoint(f"{price} nodes, other engines", (price, price), price * drawn.uniform(1.4, 2.5), series=False)
        for price in prices[: drawn.randint(0, 3)]
    ]


@thorough
def test_names_of_choices_cover_neither_each_other_nor_a_mark() -> None:
    """Two sizes at one price, of which the name of one lay under the dot of a third, and 40 draws."""
    near = [
        *(("2 nodes", 0.71, 4200.0), ("3 nodes", 1.05, 6400.0), ("6 nodes", 2.06, 12900.0), ("8 nodes", 2.74, 17200.0)),
        *(("2 nodes, other engines", 0.71, 6859.0), ("4 nodes, other engines", 1.384, 14400.0)),
    ]
    told = [
        ChoicePoint("", (1.384, 1.384), 8600.0, "A", "limit"),
        *(ChoicePoint(name, (price, price), work, series="other" not in name) for name, price, work in near),
    ]
    for points in (told, *map(choices, range(40))):
        chart = curves.choice_chart(points, ("price", "tokens"), (str, str), "alt", (points[-1].work * 0.9, "load"))
        plates, marks = names_and_marks(chart)
        assert len(plates) == len(points) - 1
        assert not any(one.overlaps(other) for one, other in combinations(plates, 2)), points
        assert not any(plate.overlaps(mark) for plate in plates for mark in marks), points


def test_a_box_is_crossed_by_lines_that_pass_through_it() -> None:
    box = Box(0.0, 0.0, 10.0, 10.0)
    for start, end, crossed in (
        ((-5.0, 5.0), (15.0, 5.0), True),
        ((5.0, -5.0), (5.0, -1.0), False),
        ((-5.0, 12.0), (15.0, 12.0), False),
        ((2.0, 2.0), (3.0, 3.0), True),
        ((-2.0, 1.0), (1.0, -2.0), False),
        ((-1.0, 2.0), (2.0, -0.9), True),
    ):
        assert box.is_crossed(start, end) == box.is_crossed(end, start) == crossed, (start, end)
    assert box.overlaps(Box(9.0, 9.0, 20.0, 20.0)) and not box.overlaps(Box(10.0, 0.0, 20.0, 10.0))
    assert labels.leader_line("8 nodes", (8.0, 16.0), (0.0, 0.0)) is None
    assert labels.leader_line("8 nodes", (22.0, 30.0), (0.0, 0.0)) == ((0.0, 0.0), (20.0, 20.0))
