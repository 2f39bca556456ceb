"""Drawings of paths, domains, tori and tiers: areas, widths and lengths are those of the values."""

from __future__ import annotations

import re
from collections import Counter
from itertools import pairwise

import pytest

from clusterspec.records import replace
from clusterspec.report.charts import machine, svg
from clusterspec.report.charts.domains import MOST_SWITCHES, MOST_TRAYS, domain_chart, torus_chart
from clusterspec.report.charts.links import AreaPlate, path_chart, pyramid_chart
from tests.report.test_charts import CHARTS, DOMAIN, HOPS, NODE, number, shapes


def corners(shape: dict[str, str]) -> list[tuple[float, float]]:
    return [(float(x), float(y)) for x, y in re.findall(r"(-?[0-9.]+),(-?[0-9.]+)", shape["points"])]


def area(points: list[tuple[float, float]]) -> float:
    """By the shoelace formula."""
    pairs = zip(points, [*points[1:], points[0]], strict=True)
    return abs(sum(x * v - u * y for (x, y), (u, v) in pairs)) / 2


def test_plates_have_the_areas_of_their_values_and_one_thickness() -> None:
    """A quarter of the area is half the side: 100 and 50 units, 86.6 and 43.3 to the right of the axis at 104."""
    drawn = [corners(each) for each in shapes(CHARTS["areas: a quarter"](), "polygon")]
    whole, racks = drawn[4], drawn[9]
    assert [x for x, _ in whole] == pytest.approx([104, 190.6, 104, 17.4], abs=0.06)
    assert [x for x, _ in racks] == pytest.approx([104, 147.3, 104, 60.7], abs=0.06)
    assert area(whole) / area(racks) == pytest.approx(4, rel=0.005)
    for left, right in ((drawn[0], drawn[2]), (drawn[5], drawn[7])):
        assert left[3][1] - left[0][1] == right[2][1] - right[1][1] == pytest.approx(9)
    told = [each["text"] for each in shapes(CHARTS["areas: a quarter"](), "text")]
    assert told == ["racks", "25 m²", "1 / 4", "whole room", "100 m²"], "the least on top"


@pytest.mark.parametrize("values", [(1.0, 1.0), (3.0, 2.0, 1.0), (31e12, 3.35e12, 450e9, 63e9, 50e9, 25e9)])
def test_no_plate_leaves_the_drawing(values: tuple[float, ...]) -> None:
    chart = pyramid_chart([AreaPlate(f"{value:g}", value, f"{value:g} B/s", "memory") for value in values], "alt")
    high = float(re.findall(r'viewBox="0 0 440 ([0-9.]+)"', chart)[0])
    spots = [spot for each in shapes(chart, "polygon") for spot in corners(each)]
    assert min(y for _, y in spots) >= 0 and max(y for _, y in spots) <= high
    assert min(x for x, _ in spots) >= 0 and max(x for x, _ in spots) <= 194, "labels begin at 200"


def test_the_bars_of_a_path_are_the_time_and_its_links_the_rates() -> None:
    """10 µs are 142 units from 236 on; the fastest link is 9 wide and the slowest 2."""
    chart = CHARTS["path"]()
    bars = [(number(box, "x"), number(box, "width"), box["class"]) for box in shapes(chart, "rect")]
    assert bars[0:3] == [(236.0, 142.0, "c-wash"), (236.0, 0.0, "c-backward"), (236.0, 127.8, "c-forward")]
    assert bars[7:9] == [(236.0, 127.8, "c-backward"), (363.8, 14.2, "c-forward")], "the leaf adds 1 of 10 µs"
    assert bars[10:12] == [(236.0, 142.0, "c-backward"), (378.0, 0.0, "c-forward")]
    links = [
        (number(line, "stroke-width"), line["class"], "stroke-dasharray" in line) for line in shapes(chart, "line")
    ]
    assert links == [(9, "s-other", False), (2, "s-limit", False), (1.5, "s-other", True)]
    told = [each["text"] for each in shapes(chart, "text")]
    assert "narrowest: 10 B/s" in told and "100 B/s" in told and [text for text in told if len(text) == 1] == [*"1234"]


def test_links_of_one_rate_are_equally_wide() -> None:
    same = path_chart([HOPS[0], *(replace(HOPS[1], rate=5.0) for _ in range(3))], "alt")
    assert {number(line, "stroke-width") for line in shapes(same, "line")} == {4.0}


def test_each_accelerator_connects_to_each_switch_of_its_node() -> None:
    chart = CHARTS["node: switches"]()
    lines = shapes(chart, "line")
    dark = [line for line in lines if line["class"] == "s-scale-up"]
    assert sum(line["class"] == "s-line" for line in lines) == 7 * 4
    assert [number(line, "stroke-width") for line in dark] == [3, 2.5, 2.5, 3], "wider the more links"
    assert {number(line, "x1") for line in dark} == {36.2}, "all from the first accelerator"
    told = Counter(each["text"] for each in shapes(chart, "text"))
    assert told["5 links"] == told["4 links"] == 2 and told["switch 4"] == 1
    shared = machine.node_chart(replace(NODE, switch_links=(9, 9)), "alt")
    assert "9 links" not in shared, "of a node that shares its switches with others, one bar stands for them"


@pytest.mark.parametrize("own_ports", [False, True])
def test_accelerators_that_fill_the_width_stand_four_units_apart(own_ports: bool) -> None:
    node = replace(NODE, accelerators=20, nics=40, links="full-mesh", others=0, own_ports=own_ports)
    drawn = shapes(machine.node_chart(node, "alt"), "rect")
    boxes = [(number(box, "x"), number(box, "width")) for box in drawn if box.get("class") == "c-memory"]
    assert len(boxes) == 20
    assert all(after[0] - before[0] - before[1] == pytest.approx(4, abs=0.11) for before, after in pairwise(boxes))


def test_a_domain_draws_every_tray_or_says_that_it_does_not() -> None:
    lines = Counter(line["class"] for line in shapes(CHARTS["domain"](), "line"))
    assert lines == {"s-line": 17 * 9, "s-scale-up": 9}
    boxes = Counter(box.get("class") for box in shapes(CHARTS["domain"](), "rect"))
    assert (boxes["c-memory"], boxes["s-soft"], boxes["c-scale-up"]) == (72, 18, 9)
    many = domain_chart(replace(DOMAIN, nodes=144, switches=100), "alt")
    boxes = Counter(box.get("class") for box in shapes(many, "rect"))
    assert (boxes["s-soft"], boxes["c-scale-up"]) == (MOST_TRAYS - 1, MOST_SWITCHES - 1)
    assert sum(each["text"] == "…" for each in shapes(many, "text")) == 2


def test_a_label_too_long_for_the_top_of_a_node_ends_below_it() -> None:
    long = "16 × 200 Gb/s, Elastic Fabric Adapter of the third generation: 1 of each accelerator"
    for node in (replace(NODE, nic_label=long), replace(NODE, nic_label=long, nics=8, own_ports=True)):
        told = [each["text"].replace("\xa0", " ") for each in shapes(machine.node_chart(node, "alt"), "text")]
        assert told[0] == "16 × 200 Gb/s" and "NICs: Elastic Fabric Adapter" in " ".join(told)
        assert svg.text_width(long, 12) > svg.WIDTH - 20


def test_a_torus_is_a_grid_or_the_visible_faces_of_a_box() -> None:
    """190 / 7 = 27.1 units between 8 chips; 6 of 16 planes, each 13.6 to the right of the last and 9.8 above it."""
    chart = CHARTS["torus"]()
    lines = [tuple(number(each, end) for end in ("x1", "y1", "x2", "y2")) for each in shapes(chart, "line")]
    assert len(lines) == 5 * 2 + 8 + 7 + 8 + 8, "edges of planes, depth above and beside, rows and columns in front"
    assert lines[-16] == (16, 68.9, 214, 68.9), "a stub of 8 units, 24 + 7 × 27.1"
    assert lines[-1] == (214, 68.9, 214, 266.9)
    dots = [(number(dot, "cx"), number(dot, "cy")) for dot in shapes(chart, "circle")]
    assert len(dots) == 64 + 5 * (8 + 7) and dots[-64] == (24, 68.9) and dots[-1] == (214, 258.9)
    assert (91.9, 20) in dots, "5 × 13.6 to the right, 5 × 9.8 higher"
    flat = torus_chart((4, 2), "alt", "4 × 2", "")
    assert len(shapes(flat, "line")) == 4 + 2 and len(shapes(flat, "circle")) == 8
    ring = torus_chart((4,), "alt", "4", "")
    assert len(shapes(ring, "line")) == 1, "a ring has one row, and no columns"
    assert [number(dot, "cx") for dot in shapes(ring, "circle")] == [24, 58, 92, 126], "at most 34 apart"
