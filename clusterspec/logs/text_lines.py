"""The lines of a text, one after the other, without a list of all of them."""

from __future__ import annotations

from collections.abc import Iterator

LONGEST_SHOWN = 160
"""Largest number of characters of a line that are shown as evidence."""
AT_ONCE = 200_000
"""Largest number of characters of a text whose lines are listed at once, which is faster than iterating."""
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
    while (end := text.find("\n", start + AT_ONCE)) >= 0:
        yield from text[start:end].split("\n")
        start = end + 1
    yield from text[start:].split("\n")


MOST_LINES = 20_000
"""Largest number of lines of a text that are read for what a report tells of hosts, rates and stacks."""


def line_at(text: str, position: int) -> int:
    """The number of the line that holds a character of a text, from 1.

    >>> line_at("a\\nb", 0), line_at("a\\nb", 1), line_at("a\\nb", 2)
    (1, 1, 2)
    """
    return text.count("\n", 0, position) + 1


_AS_ZERO = bytes.maketrans(b"123456789abcdef", b"000000000000000")


def with_digits_as_zero(text: str) -> str:
    """A text with zeros in place of decimal digits and lowercase hexadecimal digits, so that lines that differ only in
    ranks, steps and addresses are equal. Bytes are translated, since characters take many times as long if one of them
    is not ASCII.

    >>> with_digits_as_zero("rank 12 at 0x7f: é")
    'r0nk 00 0t 0x00: é'
    """
    return text.encode("utf-8", "surrogatepass").translate(_AS_ZERO).decode("utf-8", "surrogatepass")


AT_EACH_END = 500_000
"""Characters at the beginning and at the end of a log that are searched whole."""
MOST_DIFFERENT = 500_000
"""Largest number of characters of the different lines between them, digits and the letters a to f aside, that are
searched. Logs of runs have less: their lines repeat for every rank, step and channel.
"""
MOST_ALIKE = 3_000_000
"""Largest number of characters that are searched of the lines between that repeat an earlier one, digits aside."""
MOST_OF_ERRORS = 250_000
"""Largest number of characters of further different lines that are searched, the first ones that have a word of an
error.
"""
_OF_ERRORS = (
    *("rror", "xception", "ERROR", "FATAL", "atal", "ailed", "ailure", "NCCL WARN", "Xid", "bort", "imed out"),
    *("imeout", "illed", "ut of memory", "denied", "refused", "panic", "unreachable", "BUG:", "exhausted"),
)
"""Words; a line of an error has at least one of them."""


def searched_part(text: str) -> tuple[str, int]:
    """The searched part of a log, and the number of lines that are not searched, without repeated ones. Lines that are
    not searched are empty, so the other lines keep their numbers.

    The time of a search depends on the lines that differ, and no log of a run has as many of them as its size allows.

    >>> searched_part("step 1\\nstep 2")
    ('step 1\\nstep 2', 0)
    """
    if len(text) <= 2 * AT_EACH_END + MOST_DIFFERENT:
        return text, 0
    first = text.find("\n", AT_EACH_END) + 1 or len(text)
    last = max(text.rfind("\n", first, len(text) - AT_EACH_END) + 1, first)
    between, left_out = _lines_between(text[first:last])
    return text[:first] + between + text[last:], left_out


def _lines_between(text: str) -> tuple[str, int]:
    """The lines of a text with only the searched ones filled, and the number of other lines that differ from those
    before them.
    """
    present = [word for word in _OF_ERRORS if word in text]
    forms: set[str] = set()
    parts: list[str] = []
    line_feeds = left_out = 0
    different, alike, of_errors = MOST_DIFFERENT, MOST_ALIKE, MOST_OF_ERRORS
    for line, form in zip(lines_of(text), lines_of(with_digits_as_zero(text)), strict=True):
        length = len(line)
        if form in forms:
            kept = alike >= length > 0
            alike -= length * kept
        elif different > 0:
            kept = True
            different -= length
        else:
            kept = of_errors >= length and any(word in line for word in present)
            of_errors -= length * kept
            left_out += line != "" and not kept
        if kept:
            forms.add(form)
            parts += ("\n" * line_feeds, line)
            line_feeds = 0
        line_feeds += 1
    return "".join(parts) + "\n" * (line_feeds - 1), left_out
