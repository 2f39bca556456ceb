"""Golden outlines of figures: every chart of fixed numbers, and with CASES=all what each example's report draws."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from clusterspec.report.paper.blocks import Picture
from clusterspec.report.paper.compose import compose
from tests.effort import ALL_CASES
from tests.golden import assert_golden
from tests.report.outlines import outline
from tests.report.test_charts import CHARTS
from tests.report.test_paper import EXAMPLES, report

GOLDEN = Path(__file__).parent / "golden"


def test_every_figure_keeps_its_outline() -> None:
    assert_golden(GOLDEN / "figures.txt", "".join(f"# {name}\n{outline(draw())}\n\n" for name, draw in CHARTS.items()))


def test_an_outline_notices_a_moved_label_a_lost_bar_and_another_color() -> None:
    drawn = CHARTS["timeline"]()
    moved = re.sub(r'(<text x=")(\d+)', lambda match: f"{match[1]}{int(match[2]) + 9}", drawn, count=1)
    lost = re.sub(r"<rect[^>]*/>", "", drawn, count=1)
    tinted = drawn.replace("c-weights", "c-tp", 1)
    assert len({outline(each) for each in (drawn, moved, lost, tinted)}) == 4


@pytest.mark.skipif(not ALL_CASES, reason="`make figures` draws the reports of all examples")
def test_reports_draw_the_figures_that_they_drew() -> None:
    listed = [
        f"{path.stem} {kind}: {section.key}: {re.sub(r'[0-9][0-9.,]*', '#', block.caption)}\n"
        for path in EXAMPLES
        if "pools:" not in path.read_text("utf-8")
        for kind in ("design", "procurement")
        for section in compose(report(path.read_text("utf-8"), kind)).sections
        for block in section.blocks
        if isinstance(block, Picture)
    ]
    assert_golden(GOLDEN / "figures-of-reports.txt", "".join(listed))
