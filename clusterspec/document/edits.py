"""Applies edits to a text."""

from __future__ import annotations

from collections.abc import Iterable

from clusterspec.finding import Edit
from clusterspec.source import Position


def apply_edits(text: str, edits: Iterable[Edit]) -> str:
    """The text with every edit made. Equal edits count once; of two that overlap the first wins.

    A byte order mark at the start of ``text`` is kept and takes no column.
    """
    mark = "\ufeff" if text.startswith("\ufeff") else ""
    text = text[len(mark) :]
    starts = [0]
    for line in text.split("\n"):
        starts.append(starts[-1] + len(line) + 1)

    def offset(at: Position) -> int:
        return min(starts[min(at.line, len(starts)) - 1] + at.column - 1, len(text))

    made, done = mark, 0
    for edit in sorted(set(edits), key=lambda edit: (edit.span.start, edit.span.end)):
        start, end = offset(edit.span.start), offset(edit.span.end)
        if start >= done and end >= start:
            made += text[done:start] + edit.text
            done = end
    return made + text[done:]
