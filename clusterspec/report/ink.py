"""Color and line width for terminals."""

from __future__ import annotations

from collections.abc import Callable

from clusterspec.finding import Severity
from clusterspec.patterns import pattern
from clusterspec.records import dataclass
from clusterspec.source import Span

CODES = {"bold": "1", "dim": "2", "red": "1;31", "yellow": "1;33", "blue": "1;34", "green": "32", "cyan": "36"}
BY_SEVERITY = {Severity.ERROR: "red", Severity.WARNING: "yellow", Severity.NOTE: "cyan"}
WIDTH = 100
"""Default width in columns, for pipes and files, and the maximum width of paragraphs."""


@dataclass(frozen=True, slots=True)
class Ink:
    """Colors text if ``on``, else returns it unchanged; ``width`` is the number of columns."""

    on: bool = False
    width: int = WIDTH

    @property
    def measure(self) -> int:
        """The width of a paragraph in columns."""
        return min(self.width, WIDTH)

    def paint(self, style: str, text: str) -> str:
        return f"\x1b[{CODES[style]}m{text}\x1b[0m" if self.on and text else text

    def severity(self, level: Severity, text: str) -> str:
        return self.paint(BY_SEVERITY[level], text)

    def painter(self, style: str) -> Callable[[str], str]:
        return lambda text: self.paint(style, text)


PLAIN = Ink()


def wrapped(text: str, width: int, first: str = "", then: str = "") -> list[str]:
    """A paragraph wrapped to a width; ``first`` precedes the first line, ``then`` the others.

    A word that a CI runner or problem matcher would interpret at the start of a line stays on the previous line.
    """
    import textwrap

    lines = textwrap.wrap(
        _RISKY.sub(_GLUE, text),
        max(width, 10),
        initial_indent=first,
        subsequent_indent=then,
        break_long_words=False,
        break_on_hyphens=False,
    )
    return [line.replace(_GLUE, " ") for line in lines]


_GLUE = "\ue000"
"""A placeholder for a non-breaking space, from the private use area."""
_RISKY = pattern(r"(?<=\S)\s+(?=::|##|\S+:\d+:|(?:error|warning|note)\[)")
"""The space before a word that starts a command, or that reads as `file:line:` or `error[rule]` of a finding."""
_ESCAPES = {"\n": "\\n", "\r": "\\r", "\t": " ", _GLUE: "?"}


def plain(text: str) -> str:
    """Text from a file on one line, with control characters and CI runner commands escaped.

    >>> print(plain("a\\nb\\x1b[2J"), plain("::error::x"), plain("##[add-mask]x"))
    a\\nb\\x1b[2J \\::error::x ##\\[add-mask]x
    """
    shown = "".join(c if c.isprintable() and c != _GLUE else _ESCAPES.get(c) or f"\\x{ord(c):02x}" for c in text)
    return disarmed(shown)


_PLACE = pattern(r":(?=\d|\s)")


def located(span: Span) -> str:
    """`file:line:column`, with ambiguous colons in the file name escaped.

    >>> from clusterspec.source import Position
    >>> located(Span("a.yaml:1:1: error[x].yaml", Position(3, 1), Position(3, 2)))
    'a.yaml\\\\x3a1\\\\x3a1\\\\x3a error[x].yaml:3:1'
    """
    return f"{titled(span.file)}:{span.start.line}:{span.start.column}"


def titled(name: str) -> str:
    """A name for the start of a line, escaped so that it does not look like `file:line:`."""
    return _PLACE.sub(r"\\x3a", plain(name))


_COMMAND = pattern(r"^(\s*)(::)")
_ANYWHERE = pattern(r"##(vso)?\[")


def disarmed(line: str) -> str:
    """A line with CI runner commands escaped: `::` at the start of a line, `##[` anywhere."""
    if "##" not in line and "::" not in line:
        return line
    return _ANYWHERE.sub(lambda found: found[0][:-1] + "\\[", _COMMAND.sub(r"\1\\\2", line))
