"""The lines of a text, one after the other, without a list of all of them."""

from __future__ import annotations

from collections.abc import Iterator

LONGEST_SHOWN = 160
"""Characters of a line that are shown as evidence."""
CUT = "…"
"""What stands for the rest of a line that is not shown."""


def shown_line(line: str) -> str:
    """A line as evidence shows it: without blanks around it, and with a sign where it is cut.

    >>> shown_line("  short "), len(shown_line("a" * 400)), shown_line("a" * 400)[-2:]
    ('short', 161, 'a…')
    """
    line = line.strip()
    return line if len(line) <= LONGEST_SHOWN else f"{line[:LONGEST_SHOWN].rstrip()}{CUT}"


def shown_part(line: str, start: int, end: int) -> str:
    """A part of a line, with a sign where it begins or ends within a word.

    >>> shown_part("a failed socket", 2, 8), shown_part("a failed socket", 4, 11)
    ('failed', '…iled so…')
    """
    part = line[start:end]
    before = CUT if start and part[:1].isalnum() and line[start - 1].isalnum() else ""
    after = CUT if part[-1:].isalnum() and line[end : end + 1].isalnum() else ""
    return f"{before}{part.strip()}{after}"


def lines_of(text: str) -> Iterator[str]:
    """The lines of a text without their line feeds, as ``text.split("\\n")`` lists them.

    A list of a million short lines takes several times the space of their text.

    >>> list(lines_of("a\\n\\nb\\n"))
    ['a', '', 'b', '']
    """
    start = 0
    while (end := text.find("\n", start)) >= 0:
        yield text[start:end]
        start = end + 1
    yield text[start:]
