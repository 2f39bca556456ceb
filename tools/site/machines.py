"""The page of a machine of the gallery: drawings, published and predicted figures, the estimate, and the spec."""

from __future__ import annotations

from collections.abc import Iterator

from clusterspec import analysis
from clusterspec.report import estimate_text
from clusterspec.report.charts.svg import TINTS
from clusterspec.report.paper.drawings import machine_pictures
from clusterspec.studies import Study
from tools.generate.gallery import Exhibit, comparisons, exhibits
from tools.site.playground import examples

LINES = 24
"""Lines of the estimate that are shown at most: verdict, machine, memory, time and throughput."""


def with_machine(text: str, name: str) -> str:
    """The section of a machine in ``docs/gallery.md`` with what the program draws and says about it."""
    shown = next(one for one in exhibits() if one.name == name)
    head, _, rest = text.partition("\n")
    link = f"\n\n[Open in the playground](../playground/index.html#example={name}){{ .try }}"
    return "".join([
        head,
        link if name in examples()["Gallery"] else "",
        f"\n{rest.rstrip()}\n",
        *_comparison_table(name),
        *(drawing for _, study in shown.parts[:1] for drawing in drawings(study)),
        *_estimate_section(shown),
        f"\n## The spec\n\n```yaml\n{shown.path.read_text('utf-8')}```\n",
    ])  # fmt: skip


def _comparison_table(name: str) -> Iterator[str]:
    rows = [row.split(" | ", 1)[1] for row in comparisons() if row.startswith(f"| {name} |")]
    if rows:
        yield "\n## Published and predicted\n\n| figure | published | predicted | ratio | source |\n"
        yield "".join(["|---|---:|---:|---:|---|\n", *(f"| {row}\n" for row in rows)])


def drawings(study: Study) -> Iterator[str]:
    """The drawings of a machine as figures in HTML, for both schemes of the site."""
    pictures = machine_pictures(analysis.report(study, "acceptance", "internal", live=False))
    if pictures:
        yield "\n## The machine\n"
    for one in pictures:
        yield f"\n<figure>{one.svg}<figcaption>{one.caption}</figcaption></figure>\n"


def _estimate_section(shown: Exhibit) -> Iterator[str]:
    yield "\n## What the program says\n"
    for name, study in shown.parts:
        printed = estimate_text.estimate_as_text(analysis.estimate(study)).splitlines()
        job = f" --job {name.partition(', ')[2]}" if study is not shown.study else ""
        count = next((at - 1 for at, line in enumerate(printed) if line.startswith("Communication")), LINES)
        lines = "\n".join(printed[:count])
        yield f"\n```console\n$ clusterspec estimate {shown.path.name}{job} | head -n {count}\n{lines}\n```\n"


def dark_colors() -> str:
    """Styles that color the shapes of drawings in the dark scheme of the site."""
    scheme = '[data-md-color-scheme="slate"]'
    return "".join(
        f"{scheme} .c-{name} {{ fill: {tint.dark}; }} {scheme} .s-{name} {{ stroke: {tint.dark}; }}\n"
        for name, tint in TINTS.items()
    )
