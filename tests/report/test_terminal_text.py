"""What people read on a terminal fits it, and loses nothing by being folded."""

from __future__ import annotations

import re
import shlex
import textwrap
import unicodedata
from datetime import date
from functools import cache
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from clusterspec import analysis, report, rules, studies
from clusterspec.analysis.fleets.results import fleet_report
from clusterspec.catalog import Catalog
from clusterspec.config import Config
from clusterspec.quantity import Bandwidth, Figure
from clusterspec.report import (
    TextStyle,
    assumption_rows,
    cost_text,
    estimate_text,
    findings_text,
    fleet_text,
    measurement_text,
    page_text,
    plain_line,
    text_table,
    text_width,
)
from clusterspec.report import explanations as estimate_explain
from clusterspec.report.estimate_rows import value_text
from clusterspec.report.paper.machine import _network_rows
from clusterspec.results import EstimateReport
from clusterspec.results.verdict import Influence
from clusterspec.rules.index import RULES
from clusterspec.source import Assumed
from tests.effort import diagonal, each, sampled, thorough
from tests.report.columns import crooked

FOLDER = Path(__file__).resolve().parents[2] / "examples"
FLEETS = sorted(FOLDER.glob("*-fleet.yaml"))
EXAMPLES = sorted({*FOLDER.glob("*.yaml")} - {*FLEETS})
SETTINGS = studies.Settings(Catalog.open(), Config(), date(2026, 11, 20))
WIDTHS = (80, 100, 120)
WHY = Assumed("key", "nobody said")
CELLS = st.text(st.characters(codec="utf-8", exclude_categories=["C", "Z", "M"]) | st.just(" "), max_size=60)


def unpainted(text: str) -> str:
    return re.sub(r"\x1b\[[0-9;]*m", "", text)


@cache
def study(path: Path) -> studies.Study:
    return studies.study_text(path.read_text("utf-8"), SETTINGS, path.name, path.parent)


@cache
def estimated(path: Path) -> tuple[EstimateReport, tuple[Influence, ...]]:
    return analysis.estimate(study(path)), analysis.influences(study(path))


@pytest.mark.parametrize(("path", "width"), sampled(diagonal(len(EXAMPLES) + 1, EXAMPLES, WIDTHS), 4))
def test_an_estimate_fits_the_terminal_in_straight_columns(path: Path, width: int) -> None:
    report, influences = estimated(path)
    said = estimate_text.estimate_as_text(report, TextStyle(width=width), influences)
    assert max(map(text_width, said.splitlines()[:-2])) <= width  # the last lines are commands to copy
    for name in estimate_explain.explainable_names(report):
        told = estimate_explain.explanation_text(report, name, TextStyle(width=width)) or ""
        assert max(map(text_width, told.splitlines())) <= width
        assert not crooked(told)
    assert not crooked(said)
    for write in (assumption_rows.assumptions_text, assumption_rows.constants_text):
        assert max(map(text_width, write(report, TextStyle(width=width)).splitlines())) <= width


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_findings_bills_and_collectives_fit_the_terminal(path: Path, width: int) -> None:
    one, style = study(path), TextStyle(width=width)
    cluster = one.design.cluster
    assert cluster is not None
    table = analysis.collective(one, "all-reduce", cluster.ranks_per_node, [2.0**power for power in range(10, 36)])
    for said in (
        findings_text.findings_as_text(analysis.check([one], SETTINGS), style),
        cost_text.bill_text(analysis.bill(one), style),
        measurement_text.collective_text(table, style),
    ):
        assert max(map(text_width, said.splitlines())) <= width
        assert width < max(WIDTHS) or not crooked(said)


def test_a_fleet_fits_the_terminal() -> None:
    assert FLEETS
    for path in FLEETS:
        report = fleet_report(study(path), "bom")
        for width in WIDTHS:
            for write in (fleet_text.fleet_text, fleet_text.fleet_bill_text):
                said = write(report, TextStyle(width=width))
                assert max(map(text_width, said.splitlines())) <= width
                assert not crooked(said)


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_no_number_is_said_in_powers_of_ten(path: Path) -> None:
    assert not re.search(r"\d[eE][+-]?\d", estimate_text.estimate_as_text(analysis.estimate(study(path))))


@thorough
@given(rows=st.lists(st.tuples(CELLS, CELLS, CELLS), min_size=1, max_size=5), width=st.integers(40, 160))
def test_a_table_that_is_folded_loses_no_word(rows: list[tuple[str, str, str]], width: int) -> None:
    folded = text_table(("a", "b", "c"), rows, wrap=(0, 1, 2), style=TextStyle(width=width))
    words = sorted(word for row in [("a", "b", "c"), *rows] for cell in row for word in cell.split())
    assert sorted(folded.split()) == words


def test_columns_that_do_not_fit_follow_beneath_with_their_headings() -> None:
    """Hand-worked: 5, 7 and 6 columns with two spaces between are 22; another 7 for the memory do not fit in 24."""
    rows = [("nodes", "+48.0 %", "23.3 s", "55.4 GB"), ("fp8", "−26.1 %", "11.6 s", "")]
    shown = text_table(("key", "effect", "step", "memory"), rows, right=(1, 2, 3), style=TextStyle(width=24))
    assert shown == ("key     effect    step\nnodes  +48.0 %  23.3 s\n      memory 55.4 GB\nfp8    −26.1 %  11.6 s\n")


@given(rows=st.lists(st.tuples(CELLS, CELLS), min_size=1, max_size=5))
def test_a_table_that_fits_is_one_line_a_row(rows: list[tuple[str, str]]) -> None:
    assert len(text_table(("a", "b"), rows, wrap=(1,), style=TextStyle(width=300)).splitlines()) == 1 + len(rows)


def test_color_does_not_change_widths() -> None:
    rows = [("one", TextStyle(True).paint("blue", "████"), "end"), ("two", "██", "end")]
    lines = text_table(("", "", ""), rows).splitlines()
    assert len({unpainted(line).index("end") for line in lines[1:]}) == 1


@each("name", sampled(sorted(RULES), len(RULES)))
def test_a_page_folded_is_the_same_markdown(name: str) -> None:
    page = rules.page_markdown(name)
    for style in (TextStyle(), TextStyle(width=60), TextStyle(True, 80)):
        shown = unpainted(page_text.page_text(page, style))
        assert shown.split() == page.split()
        assert re.findall(r"^```.*?^```$", shown, re.M | re.S) == re.findall(r"^```.*?^```$", page, re.M | re.S)
        assert [len(line) <= style.measure for line in shown.splitlines() if "://" not in line and "`" not in line]


@pytest.mark.parametrize(
    ("value", "said"),
    [
        (Figure(8e8, "B", WHY), "800 MB"),
        (Figure(4e-6, "s", WHY), "4 µs"),
        (Figure(0.03, "1", WHY), "0.03"),
        (Bandwidth.one_way(50e9, WHY), "50 GB/s each way"),
        (25_000.0, "25,000"),
        (0.000012, "0.000012"),
        ((3, 4, 3), "3, 4, 3"),
        (None, "none"),
        (False, "no"),
    ],
)
def test_assumptions_are_printed_with_units(value: object, said: str) -> None:
    assert value_text(value) == said


@given(line=st.text(max_size=300), width=st.integers(40, 160))
def test_a_line_that_is_shown_fits(line: str, width: int) -> None:
    shown = findings_text.cut_line(line, width, 0)
    assert text_width(shown) <= width
    assert plain_line(line.replace("\t", " ")).startswith(shown.removesuffix("…"))


def test_columns_that_do_not_fit_side_by_side_are_printed_below() -> None:
    heads, row = (
        ("part", "kind", "unit price", "price", "why"),
        ("node", "spare", "9" * 35, "8" * 35, "in addition " * 3),
    )
    lines = text_table(heads, [row], right=(2, 3), wrap=(0, 1, 4), style=TextStyle(width=80)).splitlines()
    assert [line.strip() for line in lines[1:2]] == ["kind"]
    assert lines[3].split() == ["node", "9" * 35, "8" * 35]
    assert [line.strip() for line in lines[4:]] == ["spare", "in addition in addition in addition"]
    assert all(text_width(line) <= 80 for line in lines)
    assert len(text_table(heads, [row], wrap=(0, 1, 4), style=TextStyle(width=140)).splitlines()) == 2


@pytest.mark.parametrize(
    ("text", "width", "lines"),
    [
        ("1234 56789", 10, ["1234 56789"]),
        ("1234 56789", 9, ["1234 56789"]),  # no paragraph is narrower than ten columns
        ("1234 567890", 9, ["1234", "567890"]),
        ("1234 567890", 11, ["1234 567890"]),
        ("a  b", 20, ["a  b"]),
        ("", 20, []),
    ],
)
def test_a_paragraph_is_folded_at_its_width(text: str, width: int, lines: list[str]) -> None:
    assert report.wrapped_lines(text, width) == lines
    first = report.wrapped_lines(text, max(width, 10) + 2, "- ", "  ")
    assert first == [mark + line for mark, line in zip(["- ", "  "], lines, strict=False)]


@given(
    words=st.lists(st.text(st.sampled_from("ab-é."), min_size=1, max_size=14), min_size=1, max_size=12),
    width=st.integers(0, 40),
    then=st.sampled_from(["", "  ", " " * 12]),
)
def test_words_are_folded_as_the_standard_library_folds_them(words: list[str], width: int, then: str) -> None:
    expected = textwrap.wrap(
        " ".join(words),
        max(width, 10),
        initial_indent="- ",
        subsequent_indent=then,
        break_long_words=False,
        break_on_hyphens=False,
    )
    assert report.wrapped_lines(" ".join(words), width, "- ", then) == expected


NETWORKED = (
    "clusterspec: 1\ncluster: {{{cluster}, networks: {{frontend: {{nics_per_node: 2, nic_bandwidth: 200 Gb/s}}}}}}\n"
)


@pytest.mark.parametrize(
    ("cluster", "labels"),
    [
        ("platform: dgx-h100, nodes: 4", ["Routing", "Frontend network"]),
        ("platform: dgx-h100, nodes: 1", ["Frontend network"]),
        ("platform: dgx-h100, nodes: 1, spare_nodes: 1", ["Routing", "Frontend network"]),
        ("platform: aws-p5-48xlarge, nodes: 4", ["Frontend network"]),
    ],
)
def test_only_a_fabric_of_ones_own_has_a_routing(cluster: str, labels: list[str]) -> None:
    design = studies.study_text(NETWORKED.format(cluster=cluster), SETTINGS).design
    rows = list(_network_rows(design))
    assert [row.cells[0] for row in rows] == labels
    assert rows[-1].cells[1] == "2 × 200 Gb/s per node"


def test_a_bar_is_as_long_as_its_share_of_twenty_columns() -> None:
    for share, bar in ((0.0, ""), (0.5, "█" * 10), (1.0, "█" * 20), (1.5, "█" * 20), (0.50625, "█" * 10 + "▏")):
        assert report.share_bar(share) == bar


@pytest.mark.parametrize(
    "text", ["a", "spec", "█▉ x", "−5 % · 3 × 2", "…→≤≥°²³", "幅", "e\u0301", "\x1b[1mbold\x1b[0m", "a幅█", ""]
)
def test_the_width_of_a_text_is_that_of_its_signs(text: str) -> None:
    shown = re.sub(r"\x1b\[[0-9;]*m", "", text)
    wide = sum(unicodedata.east_asian_width(sign) in "WF" for sign in shown)
    assert report.text_width(text) == len(shown) + wide - sum(unicodedata.combining(sign) > 0 for sign in shown)


@given(st.text(st.characters(codec="utf-8"), max_size=12) | st.text("ab/.-_@%+=:, '\"$", max_size=12))
def test_a_word_of_a_shell_is_quoted_as_the_standard_library_quotes_it(text: str) -> None:
    assert report.shell_word(text) == shlex.quote(text)
