"""The drawing of a fleet: a box for each node or power of two of nodes, divided by the shares of the jobs on it."""

from __future__ import annotations

from itertools import pairwise

import pytest

from clusterspec.analysis.fleets.results import fleet_report
from clusterspec.report.charts.fleet import (
    MOST_CELLS,
    SIDE,
    DrawnLink,
    DrawnNodes,
    DrawnPool,
    DrawnTurn,
    fleet_chart,
    nodes_of_box,
)
from clusterspec.report.paper.fleet import composed_fleet
from clusterspec.studies import study_text
from tests.effort import each, thorough
from tests.report.test_charts import extent, number, shapes
from tests.report.test_fleet_text import FLEET
from tests.settings import SETTINGS

WHOLE, HALF, QUARTER = (DrawnTurn(f"job {share}", "tp", share) for share in (1.0, 0.5, 0.25))


def pool(*runs: tuple[int, tuple[DrawnTurn, ...]], spares: int = 0) -> DrawnPool:
    return DrawnPool("pool", "note", tuple(DrawnNodes(count, turns, "label") for count, turns in runs), spares)


def boxes(chart: str) -> list[dict[str, str]]:
    """The filled boxes, each a turn."""
    return [each for each in shapes(chart, "rect") if each.get("rx") == "0"]


@each(
    ("pools", "nodes"),
    [
        ([], 1),
        ([pool((MOST_CELLS, (WHOLE,)))], 1),
        ([pool((MOST_CELLS, (WHOLE,)), spares=1)], 2),
        ([pool((MOST_CELLS * 2, (WHOLE,))), pool((1, ()))], 2),
        ([pool((MOST_CELLS, (WHOLE,)), (MOST_CELLS + 1, ()))], 4),
        ([pool((MOST_CELLS * 64, (WHOLE,)))], 64),
    ],
)
def test_a_box_is_the_least_power_of_two_of_nodes_that_keeps_pools_small(pools: list[DrawnPool], nodes: int) -> None:
    assert nodes_of_box(pools) == nodes
    assert f"Each box is {nodes} node{'s' if nodes > 1 else ''}." in fleet_chart(pools, [], "alt")


@each(("nodes", "count"), [(1, 1), (96, 96), (97, 49), (192, 96), (193, 49)])
def test_each_box_of_nodes_is_drawn_once_and_none_overlaps_another(nodes: int, count: int) -> None:
    drawn = [extent(one) for one in boxes(fleet_chart([pool((nodes, (WHOLE,)))], [], "alt"))]
    assert len(drawn) == len({(left, top) for left, _, top, _ in drawn}) == count
    assert {(round(right - left, 1), round(low - top, 1)) for left, right, top, low in drawn} == {(11.5, 11.5)}
    lefts, tops = sorted({left for left, *_ in drawn}), sorted({top for _, _, top, _ in drawn})
    for places in (lefts, tops):
        assert {round(after - before, 1) for before, after in pairwise(places)} <= {SIDE}


def test_jobs_that_take_turns_divide_a_box_and_free_time_is_framed() -> None:
    chart = fleet_chart([pool((1, (HALF, QUARTER)))], [], "alt")
    first, second = (extent(one) for one in boxes(chart))
    side = SIDE - 2.5
    assert first[1] - first[0] == pytest.approx(side / 2, abs=0.11)
    assert second[1] - second[0] == pytest.approx(side / 4, abs=0.11)
    assert first[1] == pytest.approx(second[0], abs=0.11)
    _, around = (extent(one) for one in shapes(chart, "rect") if one["fill"] == "none")
    assert around == pytest.approx((first[0] + 0.5, first[0] + side - 0.5, first[2] + 0.5, first[3] - 0.5), abs=0.11)
    assert not [
        one for one in shapes(fleet_chart([pool((1, (HALF, HALF)))], [], "alt"), "rect")[1:] if one["fill"] == "none"
    ]


def test_boxes_stand_inside_the_frame_of_their_pool_and_pools_below_each_other() -> None:
    pools = [pool((60, (WHOLE,)), (30, (HALF, HALF)), spares=5), pool((40, (WHOLE,)))]
    chart = fleet_chart(pools, [DrawnLink((0, 1), "100 GB/s")], "alt")
    frames = [extent(one) for one in shapes(chart, "rect") if one["fill"] == "none" and one["stroke-width"] == "1.5"]
    assert len(frames) == 2 and frames[0][3] + 11.9 < frames[1][2]
    inside = [
        [f[0] < b[0] and b[1] < f[1] and f[2] < b[2] and b[3] < f[3] for f in frames] for b in map(extent, boxes(chart))
    ]
    assert {sum(each) for each in inside} == {1}
    (dot,) = shapes(chart, "circle")
    assert frames[0][1] < number(dot, "cx"), "the link is at the right of the pools"
    middle = sum(frame[2] + frame[3] for frame in frames) / 4
    assert number(dot, "cy") == pytest.approx(middle, abs=4)
    assert "1  pool – pool: 100" in chart.replace("\N{NO-BREAK SPACE}", " ")


@thorough
def test_the_paper_of_a_fleet_names_its_author_its_day_and_its_bytes() -> None:
    """A literal block keeps its breaks of lines, which a paragraph of the page does not have."""
    written = FLEET.replace("name: two", "name: two\ndescription: both halls\ndocument: {author: A. Planner}")
    line = "two halls on one campus, of which the second one is cooled by the river"
    wrapped = written.replace("description: both halls", f"description: |-\n  {line}\n  beside it.\n  - a")
    for text, author, description in (
        (written, "A. Planner", "both halls"),
        (wrapped, "A. Planner", f"{line} beside it.\n- a"),
        (FLEET, "", ""),
    ):
        report = fleet_report(study_text(text, SETTINGS, "fleet.yaml"), "bom")
        paper = composed_fleet(report)
        assert (paper.author, paper.description) == (author, description)
        assert (paper.title, paper.subtitle) == ("two", "2 jobs on 2 pools")
        assert (paper.created, paper.digest) == (SETTINGS.today.isoformat(), report.input.sha256)
        facts = {fact.name: fact.value for fact in paper.facts}
        assert facts["Spec"] == "fleet.yaml" and facts["Date"] == SETTINGS.today.isoformat()
