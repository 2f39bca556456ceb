"""The drawings of a report by themselves, for notebooks and for pages of others."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

from clusterspec.records import dataclass
from clusterspec.report.paper.blocks import Picture
from clusterspec.report.paper.compose import compose
from clusterspec.results.full import FullReport

WHOLE = '<svg style="overflow: visible"'
"""Labels stay whole in the fonts of other pages, which may be wider."""


@dataclass(frozen=True)
class Figure:
    """A drawing as SVG, with its caption and its section in the report."""

    section: str
    caption: str
    svg: str


@dataclass(frozen=True)
class Figures:
    """Drawings of a report, in its order."""

    figures: tuple[Figure, ...]

    def __repr__(self) -> str:
        return f"<Figures: {', '.join(dict.fromkeys(one.section for one in self.figures)) or 'none'}>"

    def _repr_html_(self) -> str:
        """The drawings on white, whatever the theme of the notebook, without scripts."""
        style = "background: #fff; color: #222; margin: 0 0 1em; padding: 8px 16px; max-width: 640px"
        return "".join(
            f'<figure style="{style}">{one.svg.replace("<svg", WHOLE, 1)}'
            f"<figcaption>{escape(one.caption)}</figcaption></figure>"
            for one in self.figures
        )


def figures_of(report: FullReport, sections: Sequence[str] = ()) -> Figures:
    """The drawings of a report, or of some of its sections. Raises `ValueError` for a section that it does not have."""
    paper = compose(report)
    known = [section.key for section in paper.sections]
    for name in sections:
        if name not in known:
            raise ValueError(f"no section is called {name!r}; the report has {', '.join(known)}")
    return Figures(
        tuple(
            Figure(section.key, block.caption, block.svg)
            for section in paper.sections
            if not sections or section.key in sections
            for block in section.blocks
            if isinstance(block, Picture)
        )
    )
