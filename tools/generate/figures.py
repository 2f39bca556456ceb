"""Figures of the pages, drawn as in reports."""

from __future__ import annotations

import re
from datetime import date

from clusterspec import pipeline
from clusterspec.catalog import Catalog
from clusterspec.config import Config
from clusterspec.pipeline import Settings, Study
from clusterspec.report.paper import step
from tools.generate import ROOT

README_SPEC = re.findall(r"```yaml\n(clusterspec: 1\n.*?)```", (ROOT / "README.md").read_text("utf-8"), re.DOTALL)[0]
"""The spec at the top of the README, with its errors."""
CORRECTIONS = {"900 GB/s unidirectional": "900 GB/s duplex", "tp: 16": "tp: 8"}
MARGIN = 12


def corrected() -> Study:
    """The spec of the README without its errors."""
    text = README_SPEC
    for wrong, right in CORRECTIONS.items():
        text = text.replace(wrong, right)
    settings = Settings(Catalog.open(), Config(), date(2026, 11, 20))
    return pipeline.study_text(text, settings, "cluster.yaml")


def timeline() -> str:
    """The step of that spec, on a white page, which is readable in dark themes, too."""
    drawn = step.timeline_of(corrected().plan).svg
    wide, tall = (int(number) for number in re.findall(r'(?:width|height)="(\d+)"', drawn)[:2])
    size = wide + 2 * MARGIN, tall + 2 * MARGIN
    page = f'viewBox="{-MARGIN} {-MARGIN} {size[0]} {size[1]}" width="{1.5 * size[0]:.0f}" height="{1.5 * size[1]:.0f}"'
    ground = f'<rect x="{-MARGIN}" y="{-MARGIN}" width="{size[0]}" height="{size[1]}" rx="6" fill="#ffffff"/>'
    drawn = re.sub(r'viewBox="[^"]*" width="[^"]*" height="[^"]*"', page, drawn, count=1)
    return drawn.replace(">", f">{ground}", 1) + "\n"
