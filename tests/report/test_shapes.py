"""Shapes and axes of charts: every coordinate, as worked out by hand."""

from __future__ import annotations

import re

import pytest

from clusterspec.report.charts import svg
from clusterspec.report.charts.steps import Span, bars_path
from clusterspec.report.charts.svg import LinearAxis, LogAxis
from tests.effort import each

INK = 'fill="#1c2733" class="c-ink"'
LINE = 'stroke="#1c2733" stroke-width="{}" class="s-ink"'


@each(
    ("shape", "text"),
    [
        (svg.box(1, 2, 3, 4, "ink"), f'<rect x="1.0" y="2.0" width="3.0" height="4.0" rx="1" {INK}/>'),
        (
            svg.box(1, 2, -3, -4, "#123456", radius=5, title="a<b"),
            '<rect x="1.0" y="2.0" width="0.0" height="0.0" rx="5" fill="#123456"><title>a&lt;b</title></rect>',
        ),
        (
            svg.frame(1, 2, 3, 4, "ink"),
            f'<rect x="1.0" y="2.0" width="3.0" height="4.0" fill="none" {LINE.format(2)}/>',
        ),
        (
            svg.segment(1, 2, 3, 4, "ink", dash="2 1"),
            f'<line x1="1.0" y1="2.0" x2="3.0" y2="4.0" {LINE.format(1)} stroke-dasharray="2 1"/>',
        ),
        (svg.dot(1, 2, "ink"), f'<circle cx="1.0" cy="2.0" r="5" {INK}/>'),
        (svg.dot(1, 2, "ink", hollow=True), f'<circle cx="1.0" cy="2.0" r="5" fill="none" {LINE.format(2)}/>'),
        (svg.diamond(10, 20, "ink"), f'<polygon points="4.0,20.0 10.0,14.0 16.0,20.0 10.0,26.0" {INK}/>'),
        (svg.polygon([(1, 2)], "ink", opacity=0.5), f'<polygon points="1.0,2.0" {INK} fill-opacity="0.5"/>'),
        (
            svg.polygon([(1, 2)], "ink", opacity=1.0, title="t"),
            f'<polygon points="1.0,2.0" {INK}><title>t</title></polygon>',
        ),
        (svg.curve([(1, 2), (3, 4)], "ink"), f'<polyline points="1.0,2.0 3.0,4.0" fill="none" {LINE.format(2)}/>'),
        (
            svg.hatch(10, 20, 14, 7, "ink"),  # lines from the top or the right edge to the left or the bottom one
            f'<path d="M10.0 27.0L17.0 20.0M17.0 27.0L24.0 20.0" fill="none" {LINE.format(1)}/>',
        ),
        (svg.hatch(0, 0, 7, 7, "ink"), f'<path d="M0.0 7.0L7.0 0.0" fill="none" {LINE.format(1)}/>'),
        (
            svg.hatch(0, 0, 4, 6, "ink"),
            f'<path d="M1.0 6.0L4.0 3.0" fill="none" {LINE.format(1)}/>',
        ),
        (
            svg.text_shape(1, 2, "a&b", bold=True),
            f'<text x="1.0" y="2.0" font-size="13" {INK} text-anchor="start" font-weight="600">a&amp;b</text>',
        ),
    ],
)
def test_a_shape_has_the_coordinates_given(shape: str, text: str) -> None:
    assert shape == text


def test_a_logarithmic_axis_has_whole_decades() -> None:
    axis = LogAxis.axis_of_decades([2.0, 300.0, 0.0, float("inf")], 100.0, 400.0)
    assert (axis.low, axis.high) == pytest.approx((1.0, 1000.0))
    assert [axis(value) for value in (1, 10, 100, 1000, 0.5, 5000)] == pytest.approx([100, 200, 300, 400, 100, 400])
    assert axis.ticks == pytest.approx([1, 10, 100, 1000])
    exact = LogAxis.axis_of_decades([10.0, 100.0], 0.0, 1.0)
    assert (exact.low, exact.high) == pytest.approx((10.0, 100.0))
    lone = LogAxis.axis_of_decades([10.0], 0.0, 1.0)
    assert (lone.low, lone.high) == pytest.approx((10.0, 100.0))
    assert LogAxis.axis_of_decades([-1.0], 0.0, 1.0).ticks == pytest.approx([1.0, 10.0])
    assert len(LogAxis(1.0, 1e6, 0.0, 1.0).ticks) == 7  # six decades, each
    assert LogAxis(1.0, 1e7, 0.0, 1.0).ticks == pytest.approx([1, 1e2, 1e4, 1e6])  # seven, every other


@pytest.mark.parametrize(
    ("low", "high", "ticks"),
    [
        (0.0, 4.0, [0, 1, 2, 3, 4]),
        (0.0, 5.0, [0, 2, 4]),
        (0.0, 9.0, [0, 2.5, 5, 7.5]),
        (0.0, 20.0, [0, 5, 10, 15, 20]),
        (0.0, 40.0, [0, 10, 20, 30, 40]),
        (0.0, 24.0, [0, 10, 20]),
        (3.0, 11.0, [4, 6, 8, 10]),
        (0.0, 0.4, [0, 0.1, 0.2, 0.3, 0.4]),
        (2.0, 2.0, [2.0]),
    ],
)
def test_a_linear_axis_has_about_five_round_ticks(low: float, high: float, ticks: list[float]) -> None:
    assert LinearAxis(low, high, 0.0, 1.0).ticks == pytest.approx(ticks)


def test_a_linear_axis_ends_at_its_ends() -> None:
    axis = LinearAxis(10.0, 20.0, 100.0, 50.0)
    assert [axis(value) for value in (10, 15, 20, 0, 30)] == [100.0, 75.0, 50.0, 100.0, 50.0]
    assert LinearAxis(3.0, 3.0, 7.0, 9.0)(3.0) == 7.0


def test_labels_of_a_grid_are_below_and_next_to_their_lines() -> None:
    """The first label starts at its line, the last one ends there if it is close to the right edge."""
    for end, anchor in ((410.0, "middle"), (411.0, "end")):
        text = "".join(svg.horizontal_grid(LinearAxis(0, 4, 30.0, end), 5.0, 50.0, str))
        assert re.findall(r'y="([\d.]+)" font-size="11"', text) == ["65.0"] * 5
        assert re.findall(r'text-anchor="(\w+)"', text) == ["start", "middle", "middle", "middle", anchor]
        assert re.findall(r'y1="([\d.]+)" x2="[\d.]+" y2="([\d.]+)"', text) == [("5.0", "50.0")] * 5
    lanes = "".join(svg.horizontal_grid(LinearAxis(0, 4, 30.0, 400.0), 5.0, 50.0, str, [(6.0, 7.0), (8.0, 9.0)]))
    assert re.findall(r'y1="([\d.]+)"', lanes) == ["6.0", "8.0"] * 5
    beside = "".join(svg.vertical_grid(LinearAxis(0, 4, 50.0, 10.0), 40.0, 200.0, str))
    assert re.findall(r'<text x="([\d.]+)" y="([\d.]+)"', beside)[:2] == [("34.0", "54.0"), ("34.0", "44.0")]
    assert re.findall(r'x1="([\d.]+)" y1="([\d.]+)" x2="([\d.]+)"', beside)[0] == ("40.0", "50.0", "200.0")


def test_texts_are_as_wide_as_their_letters_and_fit_where_they_have_to() -> None:
    """Thousandths of the size: a space 281, 0 has 625, M 889; × has 660, an arrow 1,000."""
    for text, width in ((" ", 281), ("\xa0", 281), ("0", 625), ("~", 659), ("×", 660), ("−", 660), ("→", 1000)):
        assert svg.text_width(text, 1000.0) == pytest.approx(width)
    assert svg.text_width("00", 10.0) == pytest.approx(12.5)
    assert svg.fitted_text("00", 12.5, 10.0) == "00"
    assert svg.fitted_text("0000", 24.9, 10.0) == "00…"  # 12.5 + 10 fit, 18.75 + 10 do not
    assert svg.fitted_text("0000", 22.5, 10.0) == "00…"
    assert svg.fitted_text("0000", 1.0, 10.0) == "…"


def test_bars_of_a_schedule_end_before_the_next_and_keep_three_tenths_of_their_length() -> None:
    """Ten units are 100 pixels from 62 on; rows of 18 stand from 4 on, with a bar of 16 in each."""
    axis = LinearAxis(0.0, 10.0, 62.0, 162.0)
    long, short = Span(0, 1.0, 3.0), Span(2, 4.0, 4.04)  # 20 less 0.35; 0.4, of which 0.35 would leave too little
    drawn = bars_path([long, short], axis, 4.0, 18.0, "ink")
    assert 'd="M72.00 5.0h19.65v16.0h-19.65zM102.00 41.0h0.12v16.0h-0.12z"' in drawn
