"""The outline of a drawing: shapes and texts with their places in whole units; runs of like shapes are shortened."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import groupby
from xml.etree import ElementTree

PLACES = (
    "x",
    "y",
    "width",
    "height",
    "cx",
    "cy",
    "r",
    "x1",
    "y1",
    "x2",
    "y2",
    "text-anchor",
    "font-size",
    "font-weight",
    "stroke-dasharray",
)
MOST_ALIKE = 6
"""Successive shapes of one kind and color that are listed one by one."""


def outline(chart: str) -> str:
    """A line for each shape and text; equal for drawings that look the same.

    >>> print(outline('<svg viewBox="0 0 9 9"><rect x="1.2" y="2" class="c-tp"/><text x="3">a</text></svg>'))
    svg 0 0 9 9
    rect c-tp x 1 y 2
    text x 3 'a'
    """
    root = ElementTree.fromstring(chart)
    lines = [f"svg {root.attrib['viewBox']}"]
    for _, run in groupby(_shapes(root), key=lambda shape: shape[0]):
        alike = [told for _, told in run]
        few = alike if len(alike) <= MOST_ALIKE else [alike[0], f"  {len(alike) - 2} more", alike[-1]]
        lines += few
    return "\n".join(lines)


def _shapes(root: ElementTree.Element) -> Iterator[tuple[str, str]]:
    """The kind of each shape, and its line; a text is a kind of its own."""
    for shape in root.iter():
        tag = shape.tag.rpartition("}")[2]
        if tag in {"svg", "g", "title", "defs", "pattern"}:
            continue
        words = (shape.text or "").strip()
        paint = shape.attrib.get("class") or shape.attrib.get("fill") or shape.attrib.get("stroke") or ""
        places = [f"{name} {_rounded(shape.attrib[name])}" for name in PLACES if name in shape.attrib]
        path = [_rounded(shape.attrib[name]) for name in ("d", "points") if name in shape.attrib]
        told = " ".join([tag, *filter(None, [paint]), *places, *path, *([repr(words)] if words else [])])
        yield (told if words else f"{tag} {paint}"), told


def _rounded(text: str) -> str:
    """Numbers of an attribute as whole numbers, and no more than the beginning of a long path."""
    whole = re.sub(r"-?\d+\.\d+|-?\d+", lambda match: f"{round(float(match[0]) + 1e-9)}", text)
    return whole if len(whole) <= 120 else f"{whole[:100]}… {len(re.findall('[A-Za-z]', text))} steps"
