"""Colour and width for terminals: plain strings in, strings with or without escape codes out."""

from __future__ import annotations

import textwrap
from collections.abc import Callable
from dataclasses import dataclass

from clusterspec.finding import Severity

CODES = {"bold": "1", "dim": "2", "red": "1;31", "yellow": "1;33", "blue": "1;34", "green": "32", "cyan": "36"}
BY_SEVERITY = {Severity.ERROR: "red", Severity.WARNING: "yellow", Severity.NOTE: "cyan"}
WIDTH = 100
"""Columns where nobody knows better: in pipes, in files. Text wider than that reads badly, tables do not."""


@dataclass(frozen=True, slots=True)
class Ink:
    """Paints text when ``on``, otherwise hands it back as it is; ``width`` is how many columns there are."""

    on: bool = False
    width: int = WIDTH

    @property
    def measure(self) -> int:
        """The columns that a paragraph takes."""
        return min(self.width, WIDTH)

    def paint(self, style: str, text: str) -> str:
        return f"\x1b[{CODES[style]}m{text}\x1b[0m" if self.on and text else text

    def severity(self, level: Severity, text: str) -> str:
        return self.paint(BY_SEVERITY[level], text)

    def painter(self, style: str) -> Callable[[str], str]:
        return lambda text: self.paint(style, text)


PLAIN = Ink()


def wrapped(text: str, width: int, first: str = "", then: str = "") -> list[str]:
    """A paragraph in lines of a width, words kept whole; ``first`` stands before the first, ``then`` before others."""
    return textwrap.wrap(
        text,
        max(width, 10),
        initial_indent=first,
        subsequent_indent=then,
        break_long_words=False,
        break_on_hyphens=False,
    )


def plain(text: str) -> str:
    """Text from a file made safe for a terminal: control characters become visible."""
    return "".join(c if c.isprintable() or c == "\n" else " " if c == "\t" else f"\\x{ord(c):02x}" for c in text)
