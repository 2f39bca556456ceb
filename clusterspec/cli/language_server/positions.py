"""Conversion of positions: the protocol counts UTF-16 units from 0, this program code points from 1."""

from __future__ import annotations

from lsprotocol import types

from clusterspec.source import Position, Source, Span


def utf16_units(text: str) -> int:
    """The number of UTF-16 units of a text."""
    return len(text.encode("utf-16-le", "surrogatepass")) // 2


def to_client_position(source: Source, at: Position) -> types.Position:
    """A position in the protocol's convention."""
    return types.Position(at.line - 1, utf16_units(source.line(at.line)[: at.column - 1]))


def to_client_range(source: Source, span: Span) -> types.Range:
    """A span in the protocol's convention."""
    return types.Range(to_client_position(source, span.start), to_client_position(source, span.end))


def from_client_position(source: Source, at: types.Position) -> Position:
    """A position from the protocol's convention."""
    line, left = source.line(at.line + 1), at.character
    for column, letter in enumerate(line, 1):
        if left <= 0:
            return Position(at.line + 1, column)
        left -= utf16_units(letter)
    return Position(at.line + 1, len(line) + 1)
