"""Positions of the protocol, which count UTF-16 units from 0, and ours, which count code points from 1."""

from __future__ import annotations

from lsprotocol import types

from clusterspec.source import Position, Source, Span


def units(text: str) -> int:
    """UTF-16 units of a text."""
    return len(text.encode("utf-16-le", "surrogatepass")) // 2


def given(source: Source, at: Position) -> types.Position:
    """One of our positions for the client."""
    return types.Position(at.line - 1, units(source.line(at.line)[: at.column - 1]))


def reach(source: Source, span: Span) -> types.Range:
    """One of our spans for the client."""
    return types.Range(given(source, span.start), given(source, span.end))


def taken(source: Source, at: types.Position) -> Position:
    """A position of the client as ours."""
    line, left = source.line(at.line + 1), at.character
    for column, letter in enumerate(line, 1):
        if left <= 0:
            return Position(at.line + 1, column)
        left -= units(letter)
    return Position(at.line + 1, len(line) + 1)
