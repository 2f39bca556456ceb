"""Application of edits to a text."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from clusterspec.finding import Edit
from clusterspec.source import Position

_MARK = "\ufeff"


def apply_edits(text: str, edits: Iterable[Edit]) -> str:
    """The text with all edits applied. Equal edits apply once; of two that overlap, the first applies.

    A byte order mark at the start of ``text`` is kept and does not count as a column.
    """
    mark = _MARK if text.startswith(_MARK) else ""
    text = text[len(mark) :]
    parts, done = [mark], 0
    for start, end, edit in _applied(text, edits):
        parts += [text[done:start], edit.text]
        done = end
    return "".join([*parts, text[done:]])


def applied_edits(text: str, edits: Iterable[Edit]) -> list[Edit]:
    """The edits that `apply_edits` applies, in text order."""
    return [edit for _, _, edit in _applied(text.removeprefix(_MARK), edits)]


def _applied(text: str, edits: Iterable[Edit]) -> Iterator[tuple[int, int, Edit]]:
    """The applied edits, each with the start and end offset of the replaced text."""
    starts = [0]
    for line in text.split("\n"):
        starts.append(starts[-1] + len(line) + 1)

    def offset(at: Position) -> int:
        return min(starts[min(at.line, len(starts)) - 1] + at.column - 1, len(text))

    done = 0
    for edit in sorted(set(edits), key=lambda edit: (edit.span.start, edit.span.end)):
        start, end = offset(edit.span.start), offset(edit.span.end)
        if start >= done and end >= start:
            done = end
            yield start, end, edit
