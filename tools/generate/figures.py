"""The output and the figure of the README, as the program prints and draws them."""

from __future__ import annotations

import re
from datetime import date

from clusterspec import analysis, studies
from clusterspec.catalog import Catalog
from clusterspec.config import Config
from clusterspec.report import estimate_text, findings_text
from clusterspec.report.paper import compose
from clusterspec.studies import Settings, Study
from tools.generate import ROOT

README_SPEC = re.findall(r"```yaml\n(clusterspec: 1\n.*?)```", (ROOT / "README.md").read_text("utf-8"), re.DOTALL)[0]
"""The spec at the top of the README, with its errors."""
CORRECTIONS = {"900 GB/s unidirectional": "900 GB/s duplex", "tp: 16": "tp: 8"}
MARGIN = 12
SETTINGS = Settings(Catalog.open(), Config(), date(2026, 11, 20))


def study_of_corrected_spec() -> Study:
    """The spec of the README without its errors."""
    text = README_SPEC
    for wrong, right in CORRECTIONS.items():
        text = text.replace(wrong, right)
    return studies.study_text(text, SETTINGS, "cluster.yaml")


def outputs() -> dict[str, str]:
    """The commands of the README with what they print."""
    one = studies.study_text(README_SPEC, SETTINGS, "cluster.yaml")
    estimated = estimate_text.estimate_as_text(analysis.estimate(study_of_corrected_spec())).splitlines(keepends=True)
    return {
        "check cluster.yaml": findings_text.findings_as_text(analysis.check([one], SETTINGS)),
        "estimate cluster.yaml | head -n 19": "".join(estimated[:19]),
    }


def readme() -> str:
    """The README with the output of its commands."""
    text = (ROOT / "README.md").read_text("utf-8")
    for command, printed in outputs().items():
        start = text.index(f"$ clusterspec {command}\n") + len(f"$ clusterspec {command}\n")
        text = text[:start] + printed + text[text.index("```", start) :]
    return text


def timeline() -> str:
    """The step of that spec."""
    return drawing_on_white(compose.timeline_of(study_of_corrected_spec().plan).svg)


def drawing_on_white(drawn: str) -> str:
    """A drawing on a white page, which is readable in dark themes, too."""
    wide, tall = (int(number) for number in re.findall(r'(?:width|height)="(\d+)"', drawn)[:2])
    size = wide + 2 * MARGIN, tall + 2 * MARGIN
    page = f'viewBox="{-MARGIN} {-MARGIN} {size[0]} {size[1]}" width="{1.5 * size[0]:.0f}" height="{1.5 * size[1]:.0f}"'
    ground = f'<rect x="{-MARGIN}" y="{-MARGIN}" width="{size[0]}" height="{size[1]}" rx="6" fill="#ffffff"/>'
    drawn = re.sub(r'viewBox="[^"]*" width="[^"]*" height="[^"]*"', page, drawn, count=1)
    return drawn.replace(">", f">{ground}", 1) + "\n"
