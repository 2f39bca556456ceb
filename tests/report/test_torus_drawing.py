"""The drawing of a torus stands where its shape puts it, worked out by hand: dots one pitch apart, stubs of 8 units.

The pitch is 34 units, or what fits: 380 units across and 190 down. Depth goes half a pitch right and 0.36 up by plane.
"""

from __future__ import annotations

import pytest

from clusterspec.report.charts.domains import torus_chart
from tests.report.test_charts import number, shapes

Line = tuple[float, float, float, float]


def lines(chart: str) -> list[Line]:
    found = [tuple(number(line, side) for side in ("x1", "y1", "x2", "y2")) for line in shapes(chart, "line")]
    return [(x1, y1, x2, y2) for x1, y1, x2, y2 in found]


def dots(chart: str, radius: float) -> list[tuple[float, float]]:
    return [
        (number(dot, "cx"), number(dot, "cy"))
        for dot in shapes(chart, "circle")
        if number(dot, "r") == pytest.approx(radius, abs=0.001)
    ]


def test_a_torus_of_two_dimensions_is_a_grid_with_a_stub_at_each_end_of_a_line() -> None:
    chart = torus_chart([4, 3], "alt", "label", "note")
    columns, rows = [24.0, 58.0, 92.0, 126.0], [20.0, 54.0, 88.0]
    assert dots(chart, 3.4) == [(x, y) for y in rows for x in columns]
    assert lines(chart) == [*((16.0, y, 134.0, y) for y in rows), *((x, 12.0, x, 96.0) for x in columns)]
    assert [(number(text, "x"), number(text, "y")) for text in shapes(chart, "text")] == [(10.0, 124.0), (10.0, 141.0)]
    assert 'viewBox="0 0 440 150"' in chart


def test_a_ring_is_one_line() -> None:
    chart = torus_chart([6], "alt", "label", "note")
    assert lines(chart) == [(16.0, 20.0, 202.0, 20.0)] and len(dots(chart, 3.4)) == 6


@pytest.mark.parametrize(
    ("shape", "pitch"),
    [([12, 2], 34.0), ([20, 2], 20.0), ([2, 6], 34.0), ([2, 16], 190 / 15), ([16, 16], 190 / 15), ([39, 2], 10.0)],
)
def test_a_large_torus_is_as_wide_or_high_as_there_is_room(shape: list[int], pitch: float) -> None:
    chart = torus_chart(shape, "alt", "label", "note")
    places = dots(chart, min(3.4, 0.24 * pitch))
    assert len(places) == shape[0] * shape[1]
    assert places[-1] == pytest.approx((24 + pitch * (shape[0] - 1), 20 + pitch * (shape[1] - 1)), abs=0.051)


def test_a_torus_of_three_dimensions_shows_three_faces_and_six_planes_at_most() -> None:
    chart = torus_chart([2, 2, 8], "alt", "label", "note")

    def place(column: float, row: float, plane: float) -> tuple[float, float]:
        return 24 + 34 * column + 17 * plane, 81.2 + 34 * row - 12.24 * plane

    def line(*ends: tuple[float, float, float]) -> Line:
        (x1, y1), (x2, y2) = (place(*end) for end in ends)
        return x1, y1, x2, y2

    back, stub = 5 + 1.2 * 8 / 34, 8 / 34
    drawn: list[Line] = []
    for plane in (5, 4, 3, 2, 1):
        drawn += [line((0, 0, plane), (1, 0, plane)), line((1, 0, plane), (1, 1, plane))]
    drawn += [line((column, 0, 0), (column, 0, back)) for column in (0, 1)]
    drawn.append(line((1, 1, 0), (1, 1, back)))
    drawn += [line((-stub, row, 0), (1, row, 0)) for row in (0, 1)]
    drawn += [line((column, 0, 0), (column, 1 + stub, 0)) for column in (0, 1)]
    assert [at for each in lines(chart) for at in each] == pytest.approx(
        [at for each in drawn for at in each], abs=0.051
    )
    hidden = [place(column, 0, plane) for plane in (5, 4, 3, 2, 1) for column in (0, 1)]
    hidden += [place(1, 1, plane) for plane in (5, 4, 3, 2, 1)]
    for radius, places in ((2.38, hidden), (3.4, [place(column, row, 0) for row in (0, 1) for column in (0, 1)])):
        found = [at for dot in dots(chart, radius) for at in dot]
        assert found == pytest.approx([at for dot in places for at in dot], abs=0.051)
    assert 'viewBox="0 0 440 177"' in chart
    flat = torus_chart([2, 2, 6], "alt", "label", "note")
    assert lines(flat) == lines(chart) and len(lines(torus_chart([2, 2, 5], "alt", "label", "note"))) == len(drawn) - 2
