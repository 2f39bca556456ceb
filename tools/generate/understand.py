"""docs/understand.md: the output of its commands, and its drawings, from the spec at its top."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import cache, partial
from pathlib import Path

from clusterspec import analysis, studies
from clusterspec.report.paper import compose
from clusterspec.report.paper.blocks import Picture
from tools.generate import ROOT
from tools.generate.figures import SETTINGS, drawing_on_white
from tools.generate.first_hour import BLOCK, first_yaml, session, workplace

PAGE = ROOT / "docs" / "understand.md"
DRAWN = ("areas", "block", "survival", "layer", "waterfall", "memory")
"""The charts of the design's report that the page has."""
CHART = re.compile(r'data-chart="([\w-]+)"')


def page() -> str:
    """The page with the output of every command."""
    text = PAGE.read_text("utf-8")
    with workplace():
        Path("cluster.yaml").write_text(first_yaml(text), "utf-8")
        return BLOCK.sub(lambda block: f"````console\n{session(block[1])}````", text)


def drawings() -> dict[str, Callable[[], str]]:
    """The files of the drawings, each with the function that makes it."""
    return {f"docs/understand-{name}.svg": partial(_drawing, name) for name in DRAWN}


def _drawing(name: str) -> str:
    return drawing_on_white(_charts()[name])


@cache
def _charts() -> dict[str, str]:
    """The charts of the report on the spec of the page, by kind."""
    study = studies.study_text(first_yaml(PAGE.read_text("utf-8")), SETTINGS, "cluster.yaml")
    paper = compose.compose(analysis.report(study, "design", "internal", live=False))
    drawn = [block.svg for section in paper.sections for block in section.blocks if isinstance(block, Picture)]
    return {found[1]: svg for svg in drawn if (found := CHART.search(svg))}
