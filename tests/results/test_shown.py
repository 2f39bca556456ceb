"""The line, the page and the tables of a result, worked out by hand from a document."""

from __future__ import annotations

from typing import Any

import pytest

from clusterspec.records import dataclass, field
from clusterspec.results import Result
from clusterspec.results.shown import data_frames, figure_text, result_html, result_line
from tests.effort import each


@dataclass(frozen=True)
class Given(Result):
    """A result with this document."""

    document: dict[str, Any] = field(default_factory=dict)

    def to_json(self) -> dict[str, Any]:
        return self.document


ROWS = [{"key": "a", "to": 5.43214e10, "unit": "B/s"}, {"key": "b year", "to": 2027, "time": 0.5}]
LINES: list[tuple[dict[str, Any], str]] = [
    ({}, "<Given: no entries>"),
    ({"summary": {"error": 0, "note": 0}}, "<Given: no findings>"),
    ({"summary": {"error": 2, "note": 0}, "input": {"file": "a.yaml"}}, "<Given of a.yaml: error 2>"),
    ({"summary": {"error": 2}, "verdict": {"status": "fails"}, "input": {"file": None}}, "<Given: fails>"),
    # what is looked for first stands first, whatever the order of the document, and four figures at most
    (
        {"version": 1, "memory_peak": 8e10, "mfu": 0.381, "step_time": 7.1379, "note": "x", "last": 3},
        "<Given: step_time 7.138 s, mfu 38.1 %, memory_peak 80 GB, note x>",
    ),
    ({"text": "two\nlines", "rows": ROWS, "empty": [], "names": ["a"], "mixed": [{"a": 1}, 2]}, "<Given: 2 rows>"),
    # as many tables as leave four entries, one at least
    ({"a": 1, "b": 2, "c": 3, "rows": ROWS, "more": ROWS}, "<Given: a 1, b 2, c 3, 2 rows>"),
    ({"a": 1, "b": 2, "c": 3, "d": 4, "e": 5, "rows": ROWS}, "<Given: a 1, b 2, c 3, d 4, 2 rows>"),
]


@pytest.mark.parametrize(("document", "line"), LINES)
def test_the_line_of_a_result_has_its_verdict_and_its_first_figures(document: dict[str, Any], line: str) -> None:
    assert result_line(Given(document)) == line


FIGURES: list[tuple[str, object, str]] = [
    ("goodput", 0.935, "93.5 %"),
    ("ttft", 0.0421, "42.1 ms"),
    ("output_tokens", 1500, "1,500"),  # a count, though its name has a word of a unit
    ("time_of_tokens", 3, "3"),
    ("watts", 1.5e6, "1.5 MW"),
    ("fits", True, "yes"),
    ("fits", False, "no"),
    ("fits", None, "–"),
    ("why", "w" * 80, "w" * 80),
    ("why", "w" * 81, "w" * 79 + "…"),
    ("serving", {"ttft": 1.0, "mfu": 0.5, "a": 1, "b": 2, "c": 3}, "ttft 1 s, mfu 50 %, a 1, b 2"),
    ("time", [1.0, 2.0, 3.0, 4.0, 5.0], "1 s, 2 s, 3 s, 4 s"),
    ("rows", [{"a": 1}, {"a": 2}], "2 rows"),
    ("rows", [[1, 2], "a", "b"], "3 rows"),
    ("rows", ["a", "b"], "a, b"),
]


@each(("name", "value", "text"), FIGURES)
def test_a_figure_has_the_unit_that_its_name_says(name: str, value: object, text: str) -> None:
    assert figure_text(name, value) == text


def test_a_page_has_the_verdict_the_figures_and_the_tables() -> None:
    page = result_html(
        Given(
            {
                "version": 1,
                "verdict": {"status": "fails", "reasons": ["a < b"]},
                "memory": {"weights": 8e10, "other": 0, "name": "x"},
                "serving": {"tpot": 0.02},
                "step_time": 2.0,
                "rows": ROWS,
            }
        )
    )
    left = '<th style="text-align: left">'
    assert page == (
        "<p><b>fails</b></p><ul><li>a &lt; b</li></ul><table>"
        f"<tr>{left}memory</th><td>weights 80 GB</td></tr><tr>{left}serving</th><td>tpot 20 ms</td></tr>"
        f"<tr>{left}step time</th><td>2 s</td></tr></table><details><summary>rows (2)</summary><table>"
        "<tr><th>key</th><th>to</th><th>time</th></tr><tr><td>a</td><td>54.32 GB/s</td><td>–</td></tr>"
        "<tr><td>b year</td><td>2027</td><td>500 ms</td></tr></table></details>"
    )
    assert result_html(Given({"summary": {"error": 0}})) == "<p>no findings</p>"
    assert "no findings" not in result_html(Given({"summary": {"error": 2, "note": 0}}))
    assert result_html(Given({"version": 1})) == "<p>no entries</p>"


def test_a_table_of_a_page_has_twenty_rows_and_eight_columns_at_most() -> None:
    for number in (20, 21):
        page = result_html(Given({"rows": [{f"c{n}": n for n in range(9)}] * number}))
        assert (page.count("<tr>"), page.count("<th>")) == (1 + 20, 8)
        assert ("… and 1 more" in page) == (number > 20)


def test_the_tables_of_a_result_are_frames() -> None:
    pytest.importorskip("pandas")
    found = data_frames(Given({"inputs": ROWS, "rows": ROWS, "empty": [], "names": ["a"]}))
    assert {name: list(frame["key"]) for name, frame in found.items()} == {"rows": ["a", "b year"]}
