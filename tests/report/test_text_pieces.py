"""Pieces of reports by hand: widths, marks, bars, sizes and amounts on both sides of each limit."""

from __future__ import annotations

from hashlib import sha256

import pytest

from clusterspec.report import NARROWEST, _cell_lines, _fitted_widths, _wrapped_text, _wrapped_words
from clusterspec.report.charts.links import _link_width
from clusterspec.report.charts.log_plots import RADIUS, _marks_overlap, labeled_marks
from clusterspec.report.charts.machine import box_numbers, middle_of_gap
from clusterspec.report.findings_machines import distinct_fingerprints
from clusterspec.report.findings_text import _shown_width, escaped_value
from clusterspec.report.measurement_text import MOST_NAMED, _comparison_bar, _first_names, _size_text
from clusterspec.report.page_text import page_blocks
from clusterspec.report.paper.failures import _unbroken_rate_text
from clusterspec.report.paper.fonts import _with_faces
from clusterspec.report.paper.materials import _short_amount_text
from clusterspec.report.paper.widths import SPARE, _text_width_bounds
from tests.effort import each


def test_lines_are_as_long_as_their_width_and_no_longer() -> None:
    wanted = ["- aa bb", "  cccc", "  dddddddd"]
    for wrapped in (_wrapped_words, _wrapped_text):
        assert wrapped("aa bb cccc dddddddd", 7, "- ", "  ") == wanted
    assert _wrapped_words("aa bb", 4, "", "") == ["aa", "bb"] and _wrapped_words("aa bb", 5, "", "") == ["aa bb"]
    assert _cell_lines("  aaaa bbbbb", 12) == ["  aaaa bbbbb"]
    assert _cell_lines("  aaaa bbbbb", 11) == ["  aaaa", "    bbbbb"]
    assert _cell_lines("aaaaa bbbbb", 10) == ["aaaaa", "bbbbb"]


def test_the_widest_column_is_narrowed_first_and_two_spaces_stand_between() -> None:
    wide, less = NARROWEST + 6, NARROWEST + 3
    assert _fitted_widths({0: wide, 1: less, 2: 5}, {0: 0, 1: 0}, wide + less + 9) == {0: wide, 1: less, 2: 5}
    assert _fitted_widths({0: wide, 1: less, 2: 5}, {0: 0, 1: 0}, wide + less + 5) == {0: wide - 4, 1: less, 2: 5}
    assert _fitted_widths({0: wide, 1: less, 2: 5}, {0: 0, 1: 0}, 0) == {0: NARROWEST, 1: NARROWEST, 2: 5}
    assert _fitted_widths({0: wide, 1: less}, {0: wide - 1}, 0) == {0: wide - 1, 1: less}


def test_links_are_as_wide_as_the_logarithm_of_their_rate() -> None:
    rates = [1e9, 1e10, 1e11]
    assert [_link_width(rate, rates) for rate in rates] == pytest.approx([2.0, 5.5, 9.0])
    assert [_link_width(rate, [1e9]) for rate in (1e9, None)] == [4.0, 1.5] and _link_width(0.0, rates) == 1.5


def test_marks_overlap_where_their_round_ends_do() -> None:
    far = 2 * RADIUS + 1
    for places in ((far, 0.0), (0.0, far), (-far, 0.0)):
        assert not _marks_overlap((0.0, 0.0), places, 2 * RADIUS)
        assert _marks_overlap((0.0, 0.0), (places[0] * 0.99, places[1] * 0.99), 2 * RADIUS)
    assert _marks_overlap((0.0, 0.0), (far, 0.0), 2 * RADIUS + 1) and not _marks_overlap((0, 0), (0, far), 90.0)


def test_a_mark_moved_aside_is_a_ring_with_a_line_to_its_point() -> None:
    shapes = labeled_marks([(10, 20), (30, 40)], [(10, 20), (35, 40)], ["1", "2"])
    assert len(shapes) == 2 + 2 + 3
    assert [shape.count(">1<") + shape.count(">2<") for shape in shapes] == [0, 0, 0, 1, 0, 0, 1]
    assert 'x="10.0" y="24.0"' in shapes[3] and 'x="35.0" y="44.0"' in shapes[6]


def test_boxes_have_a_gap_before_the_last_where_there_are_too_many() -> None:
    assert box_numbers(4, 4) == [1, 2, 3, 4] and box_numbers(5, 4) == [1, 2, None, 5]
    assert middle_of_gap([1.0, 2.0, None, 6.0]) == 4.0 and middle_of_gap([3.0]) == 3.0


def test_repeated_fingerprints_differ_by_their_count() -> None:
    second, third = (sha256(f"a\0{count}".encode()).hexdigest() for count in (2, 3))
    assert list(distinct_fingerprints(["a", "b", "a", "a"])) == ["a", "b", second, third]


@each(
    ("found", "wanted"),
    [
        (_shown_width("a\tb"), 3),
        (escaped_value("50%\r\n"), "50%25%0D%0A"),
        (escaped_value("a,b:c", ",:"), "a%2Cb%3Ac"),
        (escaped_value("a,b"), "a,b"),
        (_first_names(["a"] * MOST_NAMED), ", ".join("a" * MOST_NAMED)),
        (_first_names(["a"] * (MOST_NAMED + 1)), ", ".join("a" * MOST_NAMED) + " and 1 more"),
        (_size_text(1023), "1023 B"),
        (_size_text(1024), "1 KiB"),
        (_size_text(1.5 * 2**20), "1.5 MiB"),
        (_size_text(2**30), "1 GiB"),
        (_comparison_bar(1.0, 0.5, 4), "█│██"),
        (_comparison_bar(0.5, 1.0, 4), "██ │"),
        (_comparison_bar(0.5, 0.0, 4), "│█"),
        (_comparison_bar(0.25, 2.0, 4), "█  │"),
        (list(page_blocks("# A\n\nb\nc\n\n```\nx\n\ny\n```\n- d\n")), ["# A", "b\nc", "```\nx\n\ny\n```", "- d"]),
        (_unbroken_rate_text("0.11 in a year (0.07 to 0.2)"), "0.11\xa0in\xa0a\xa0year (0.07\xa0to\xa00.2)"),
        (_short_amount_text(12_500_000, "USD"), "12.5 M USD"),
        (_short_amount_text(999, "USD"), "999 USD"),
        (_short_amount_text(12, ""), "12"),
        (_with_faces("<style></style>", []), "<style></style>"),
    ],
)
def test_words_of_reports(found: object, wanted: object) -> None:
    assert found == wanted


def test_the_width_of_a_line_is_that_of_its_words_and_spaces() -> None:
    (word, line), (one, same) = (_text_width_bounds(text, 3.0, bold=False) for text in ("mm i", "mm"))
    (_, space), (_, last) = (_text_width_bounds(text, 3.0, bold=False) for text in (" ", "i"))
    assert word == one == same and line == pytest.approx(one + space + last)
    assert SPARE >= 1 and _text_width_bounds("mm", 6.0, bold=False)[0] == pytest.approx(2 * one)
