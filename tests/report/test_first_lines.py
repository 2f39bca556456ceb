"""What stands first: errors under a result, the blocks of a first page, and the unit of a time axis."""

from __future__ import annotations

from typing import Any

import pytest

from clusterspec.finding import Severity
from clusterspec.records import replace
from clusterspec.report import errors_text
from clusterspec.report.charts.bars import time_axis
from clusterspec.report.paper import decision
from clusterspec.report.paper.blocks import Cards, PaperTable, Picture
from clusterspec.results.full import FullReport
from clusterspec.source import Position, Span
from tests.effort import thorough
from tests.report.test_paper import SPECS, own_parts, report
from tests.report.test_paper_rows import ROLLOUT
from tests.report.test_paper_rows_by_hand import finding
from tests.report.test_paper_words import TRAINED, trained


@pytest.mark.parametrize(
    ("count", "head", "shown", "last"),
    [
        (1, "The spec has 1 error; the exit status is 1.", 1, "  Details: `clusterspec check 'a b.yaml'`"),
        (3, "The spec has 3 errors; the exit status is 1.", 3, "  Details: `clusterspec check 'a b.yaml'`"),
        (4, "The spec has 4 errors; the exit status is 1.", 3, "  1 more: `clusterspec check 'a b.yaml'`"),
        (6, "The spec has 6 errors; the exit status is 1.", 3, "  3 more: `clusterspec check 'a b.yaml'`"),
    ],
)
def test_three_errors_are_printed_and_the_others_counted(count: int, head: str, shown: int, last: str) -> None:
    errors = [
        replace(finding(Severity.ERROR, f"m{line}"), span=Span("a.yaml", Position(line, 1), Position(line, 2)))
        for line in range(1, count + 1)
    ]
    lines = errors_text([finding(Severity.WARNING, "w"), *errors], "a b.yaml").splitlines()
    assert lines[:2] == ["", head] and lines[-1] == last
    assert lines[2:-1] == [f"  a.yaml:{line}: m{line} [few-spines]" for line in range(1, shown + 1)]
    assert errors_text([finding(Severity.WARNING, "w")], "a.yaml") == ""


@pytest.mark.parametrize(
    ("most", "seconds", "label"),
    [
        (119.9, 1.0, "5 s"),
        (120.0, 60.0, "5 min"),
        (7199.0, 60.0, "5 min"),
        (7200.0, 3600.0, "5 h"),
        (2 * 86400.0 - 1, 3600.0, "5 h"),
        (2 * 86400.0, 86400.0, "5 days"),
    ],
)
def test_a_time_axis_has_at_least_two_of_its_units(most: float, seconds: float, label: str) -> None:
    unit, text = time_axis(most)
    assert (unit, text(5.0)) == (seconds, label)
    assert seconds > 1 or text(0.005) == "5 ms"
    assert text(1.0) == label.replace("5", "1").replace("days", "day") and text(0.0) == label.replace("5", "0")


def captions(found: FullReport) -> list[str]:
    """The tables and pictures of the first page by caption, and its cards."""
    blocks: list[Any] = list(decision.decision_section(found).blocks)
    return [block.caption if isinstance(block, PaperTable | Picture) else type(block).__name__ for block in blocks]


@thorough
def test_the_first_page_of_a_design_has_figures_losses_and_areas() -> None:
    found = trained()
    section = decision.decision_section(found)
    assert section.title == "At a glance" and isinstance(section.blocks[0], Cards)
    shown = captions(found)
    losses = decision.losses_picture(found)
    assert losses is not None and losses.caption in shown
    assert losses.caption not in captions(replace(found, losses=()))
    areas = [(number, area) for number, area in enumerate(found.areas)]
    assert areas and decision.areas_table(areas).caption in shown
    assert decision.areas_table(areas).caption not in captions(replace(found, areas=()))
    tender = report(TRAINED, "design", "tender")
    assert decision.areas_table(areas).caption not in captions(tender)


def test_the_first_page_of_a_purchase_has_the_gates_and_choices() -> None:
    found = report(SPECS["priced"], "procurement")
    assert decision.decision_section(found).title == "Decision"
    shown = captions(found)
    assert found.signing is not None and decision.gates_table(found.signing).caption in shown
    waived = decision.waivers_table(found).caption
    assert waived in shown
    without = replace(found, estimate=replace(found.estimate, waived=()))
    assert waived not in captions(without)


def test_roles_are_drawn_for_engineers_alone() -> None:
    caption = "What the accelerators of each role do in one step"
    assert caption in captions(own_parts(ROLLOUT)) and caption not in captions(own_parts(ROLLOUT, "procurement"))
    served = own_parts(SPECS["serving"]), own_parts(SPECS["serving"], "procurement")
    assert ["Time to first token by part" in captions(each) for each in served] == [True, False]
