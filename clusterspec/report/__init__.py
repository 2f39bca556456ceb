"""Writers: one result as text, JSON, SARIF, HTML or PDF.

This module holds the functions that all writers of terminal text use: escaping, color, wrapping, tables, bars, and
readings of quantities.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from itertools import groupby, zip_longest

from clusterspec.finding import Finding, Severity
from clusterspec.records import dataclass
from clusterspec.source import Span
from clusterspec.standard import pattern

TYPE_CHECKING = False
if TYPE_CHECKING:
    from clusterspec.units.readings import Reading, Readings


# Characters that show nothing, or change how the text around them is shown, such as those that reverse a line

_HIDDEN = pattern(
    "[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\xad\u061c\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff"
    "\ufff9-\ufffb\U000e0000-\U000e0fff\ud800-\udfff]"
)
r"""Controls except tabs and line ends, zero-width and bidirectional characters, line separators, tags, and surrogates
without a partner.

A fixed list, since Unicode's categories differ between versions of Python. Source: Unicode Technical Report 36, and
Boucher and Anderson, Trojan Source, 2021.
"""


def escaped_text(text: str) -> str:
    r"""A text with its hidden characters as ``\uXXXX``, which JSON reads back as the same characters.

    >>> print(escaped_text("tp\u202e: 8"), escaped_text("\U000e0041"), escaped_text("\x1b[2J"))
    tp\u202e: 8 \udb40\udc41 \u001b[2J
    """
    return _HIDDEN.sub(_escaped_character, text)


def _escaped_character(match: re.Match[str]) -> str:
    units = match[0].encode("utf-16-be", "surrogatepass")
    return "".join(f"\\u{units[at]:02x}{units[at + 1]:02x}" for at in range(0, len(units), 2))


# Color and line width for terminals

CODES = {"bold": "1", "dim": "2", "red": "1;31", "yellow": "1;33", "blue": "1;34", "green": "32", "cyan": "36"}
BY_SEVERITY = {Severity.ERROR: "red", Severity.WARNING: "yellow", Severity.NOTE: "cyan"}
WIDTH = 100
"""Default width in columns, for pipes and files, and the maximum width of paragraphs."""


@dataclass(frozen=True)
class TextStyle:
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


PLAIN = TextStyle()


def wrapped_lines(text: str, width: int, first: str = "", then: str = "") -> list[str]:
    """A paragraph wrapped to a width; ``first`` precedes the first line, ``then`` the others.

    A word that a CI runner or problem matcher would interpret at the start of a line stays on the previous line, and a
    unit stays with its number.
    """
    if not text:
        return []
    width = max(width, 10)
    has_single_spaces = text.isprintable() and text == text.strip() and "  " not in text
    if has_single_spaces and len(text) <= width - len(first):
        return [first + text]
    glued = _RISKY.sub(_GLUE, text) if any(sign in text for sign in _OF_RISK) else text
    glued = _NUMBERED.sub(_GLUE, glued)
    wrapped = _wrapped_words if has_single_spaces else _wrapped_text
    return [line.replace(_GLUE, " ") for line in wrapped(glued, width, first, then)]


def _wrapped_words(text: str, width: int, first: str, then: str) -> list[str]:
    """The lines of words with single spaces between them, as `_wrapped_text` has them."""
    line, *words = text.split(" ")
    lines, line = [], first + line
    for word in words:
        if len(line) + 1 + len(word) <= width:
            line += " " + word
        else:
            lines.append(line)
            line = then + word
    return [*lines, line]


def _wrapped_text(text: str, width: int, first: str, then: str) -> list[str]:
    """The lines of any text; a longer word has a separate line."""
    import textwrap  # NOTE: its import takes 0.8 ms of a command, and hardly any text needs it

    return textwrap.wrap(
        text, width, initial_indent=first, subsequent_indent=then, break_long_words=False, break_on_hyphens=False
    )


def paragraph(text: str, style: TextStyle) -> str:
    """A wrapped paragraph with its line end; empty for an empty text."""
    return "\n".join(wrapped_lines(text, style.measure)) + "\n" if text else ""


_GLUE = "\ue000"
"""A placeholder for a non-breaking space, from the private use area."""
_RISKY = pattern(r"(?<=\S)\s+(?=::|##|\S+:\d+:|(?:error|warning|note)\[)")
"""The space before a word that a CI runner reads as a command, or that looks like `file:line:` or `error[rule]` of a
finding.
"""
_OF_RISK = (":", "##", "[")
"""Characters; every such word contains one of them."""
_ESCAPES = {"\n": "\\n", "\r": "\\r", "\t": " ", _GLUE: "?"}


def plain_line(text: str) -> str:
    """Text from a file on one line, with control characters and CI runner commands escaped.

    >>> print(plain_line("a\\nb\\x1b[2J"), plain_line("::error::x"), plain_line("##[add-mask]x"), plain_line("\\udce9"))
    a\\nb\\x1b[2J \\::error::x ##\\[add-mask]x \\xe9
    """
    return escaped_line("".join(c if c.isprintable() and c != _GLUE else _printable_escape(c) for c in text))


def _printable_escape(character: str) -> str:
    """A character that is not shown as itself; a byte that is not UTF-8 is read as a surrogate, U+DC00 and the byte."""
    return _ESCAPES.get(character) or ascii(character)[1:-1].replace("\\udc", "\\x")


_PLACE = pattern(r":(?=\d|\s)")


def location_text(span: Span) -> str:
    """`file:line:column`, with ambiguous colons in the file name escaped.

    >>> from clusterspec.source import Position
    >>> location_text(Span("a.yaml:1:1: error[x].yaml", Position(3, 1), Position(3, 2)))
    'a.yaml\\\\x3a1\\\\x3a1\\\\x3a error[x].yaml:3:1'
    """
    return f"{title_text(span.file)}:{span.start.line}:{span.start.column}"


def title_text(name: str) -> str:
    """A name for the start of a line, escaped so that it does not look like `file:line:`."""
    line = plain_line(name)
    return _PLACE.sub(r"\\x3a", line) if ":" in line else line


_COMMAND = pattern(r"^(\s*)(::)")
_ANYWHERE = pattern(r"##(vso)?\[")


def escaped_line(line: str) -> str:
    """A line with CI runner commands escaped: `::` at the start of a line, `##[` anywhere."""
    if "##" not in line and "::" not in line:
        return line
    return _ANYWHERE.sub(lambda found: found[0][:-1] + "\\[", _COMMAND.sub(r"\1\\\2", line))


_AS_LETTERS = dict.fromkeys(map(ord, "_@%+=:,./-"), "a")
"""The signs that POSIX shells read as letters."""


def shell_word(text: str) -> str:
    """A text as one word of a POSIX shell, as `shlex.quote` writes it.

    >>> shell_word("a/spec.yaml"), shell_word("my spec.yaml")
    ('a/spec.yaml', "'my spec.yaml'")
    """
    if text.isascii() and text.translate(_AS_LETTERS).isalnum():
        return text
    from shlex import quote

    return quote(text)


# The reason for exit status 1, for commands that do not print findings

MOST = 3
"""Errors that are printed in full."""


def errors_text(findings: Sequence[Finding], file: str, style: TextStyle = PLAIN) -> str:
    """The errors of a spec, the first ones in full; empty if there are none."""
    errors = [finding for finding in findings if finding.severity is Severity.ERROR]
    if not errors:
        return ""
    from clusterspec.units import plural

    lines = ["", style.paint("red", f"The spec has {plural(len(errors), 'error')}; the exit status is 1.")]
    for error in errors[:MOST]:
        place = f"{plain_line(error.span.file)}:{error.span.start.line}"
        lines += wrapped_lines(f"{place}: {plain_line(error.message)} [{error.rule}]", style.measure, "  ", "    ")
    named = plain_line(shell_word(file)).replace("\n", " ")
    more = f"  {len(errors) - MOST} more: " if len(errors) > MOST else "  Details: "
    return "\n".join([*lines, f"{more}`clusterspec check {named}`"]) + "\n"


# Tables and bars for terminals, with aligned columns

EIGHTHS = " ▏▎▍▌▋▊▉"
NARROWEST = 16
"""Columns below which wrapping a cell makes it worse."""
BENEATH = " " * 6
_PAINT = pattern(r"\x1b\[[0-9;]*m")
_NARROW = dict.fromkeys(map(ord, EIGHTHS + "█−·×–…→≤≥°²³"), "x")
"""Signs outside ASCII in most tables, one column each: loading the widths of all signs takes as long as a table."""


def text_width(text: str) -> int:
    """The width of a text on a terminal, without color codes."""
    if text.isascii() and "\x1b" not in text:
        return len(text)
    if (shown := text.translate(_NARROW)).isascii() and "\x1b" not in shown:
        return len(shown)
    import unicodedata

    return sum(
        0 if unicodedata.combining(c) else 2 if unicodedata.east_asian_width(c) in "WF" else 1
        for c in _PAINT.sub("", text)
    )


def text_table(
    heads: Sequence[str],
    rows: Sequence[Sequence[str]],
    *,
    right: Iterable[int] = (),
    wrap: Collection[int] = (),
    style: TextStyle = PLAIN,
) -> str:
    """Rows under headings, two spaces apart; the columns in ``right`` are right-aligned.

    If the rows are wider than the terminal, the columns in ``wrap`` are wrapped. If that is not enough, cells move to
    lines below their row, each with its heading: first those of the columns in ``wrap``, from the last to the second,
    then those of the last other columns.
    """
    aligned, cells = set(right), [heads, *rows]
    widths = [max(text_width(row[k]) for row in cells) for k in range(len(heads))]
    least = {k: max(text_width(word) for row in cells for word in ("", *row[k].split())) for k in wrap}
    side_by_side, widths, gap = _arranged_columns(widths, least, style.width)
    beneath = [k for k in range(len(heads)) if k not in side_by_side and k in least]
    stacked = [k for k in range(len(heads)) if k not in side_by_side and k not in least]

    def line(texts: Mapping[int, str]) -> str:
        pads = {k: " " * (widths[k] - text_width(texts[k])) for k in side_by_side}
        return gap.join(pads[k] + texts[k] if k in aligned else texts[k] + pads[k] for k in side_by_side).rstrip()

    def lines(row: Sequence[str]) -> list[str]:
        parts = [_cell_lines(row[k], widths[k]) for k in side_by_side]
        below = [row[k].strip() for k in beneath if row[k].strip()]
        if row is not heads and (named := [f"{heads[k]} {row[k].strip()}" for k in stacked if row[k].strip()]):
            below = [", ".join(named), *below]
        shown = [line(dict(zip(side_by_side, each, strict=True))) for each in zip_longest(*parts, fillvalue="")]
        return shown + [text for each in below for text in wrapped_lines(each, style.width, BENEATH, BENEATH)]

    body = [text for row in rows for text in lines(row)]
    return "".join(text + "\n" for text in [*(style.paint("dim", text) for text in lines(heads)), *body])


def _cell_lines(text: str, width: int) -> list[str]:
    """The lines of a cell; continuation lines of an indented name are indented further."""
    if text_width(text) <= width:
        return [text]
    indent = " " * (len(text) - len(text.lstrip(" ")))
    return wrapped_lines(text.strip(" "), width, indent, indent and f"{indent}  ")


def _arranged_columns(widths: list[int], least: Mapping[int, int], columns: int) -> tuple[list[int], list[int], str]:
    """The columns placed side by side, the widths of all columns, and the space between two."""
    side_by_side = list(range(len(widths)))
    for last in (*sorted(least, reverse=True), 0):
        own = {k: least[k] for k in side_by_side if k in least}
        fitted = _fitted_widths({k: widths[k] for k in side_by_side}, own, columns)
        spare = columns - sum(fitted.values()) - (len(side_by_side) - 1)
        if spare >= 0 or not last:
            break
        side_by_side.remove(last)
    while spare < 0 and len(side_by_side) > 2:
        side_by_side.pop()
        own = {k: least[k] for k in side_by_side if k in least}
        fitted = _fitted_widths({k: widths[k] for k in side_by_side}, own, columns)
        spare = columns - sum(fitted.values()) - (len(side_by_side) - 1)
    gap = "  " if spare >= len(side_by_side) - 1 else " "
    return side_by_side, [fitted.get(k, 0) for k in range(len(widths))], gap


def _fitted_widths(widths: dict[int, int], least: Mapping[int, int], columns: int) -> dict[int, int]:
    """The column widths, where those in ``least`` are reduced, widest first, until all fit ``columns`` or reach their
    minimum.
    """
    fitted = dict(widths)
    for _ in range(sum(widths.values()) + 2 * (len(widths) - 1) - columns):
        slack = [k for k in least if fitted[k] > max(least[k], NARROWEST)]
        if not slack:
            break
        fitted[max(slack, key=lambda k: fitted[k])] -= 1
    return fitted


def share_bar(share: float, width: int = 20) -> str:
    """A bar that fills a fraction of ``width`` columns, in steps of an eighth.

    >>> share_bar(0.5, 4)
    '██'
    """
    eighths = round(max(0.0, min(1.0, share)) * width * 8)
    return "█" * (eighths // 8) + EIGHTHS[eighths % 8].strip()


def csv_text(heads: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """Comma-separated values with a header; cells are escaped so that spreadsheets read none as a formula."""
    import csv
    import io

    from clusterspec.cells import escaped_cell

    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow([escaped_cell(plain_line(head)) for head in heads])
    writer.writerows(
        [escaped_cell(plain_line(cell)) if isinstance(cell, str) else cell for cell in row] for row in rows
    )
    return out.getvalue()


# The interpretations of a quantity as text


def readings_text(readings: Readings, style: TextStyle = PLAIN) -> str:
    """The interpretations, grouped by assumption if the text is ambiguous."""
    parts = [f"{style.paint('bold', plain_line(readings.written))}: {readings.meaning}\n"]
    if readings.ambiguous:
        parts.append(style.paint("yellow", "The text is ambiguous:") + "\n")
    for assuming, rows in groupby(readings.rows, key=lambda row: row.assuming):
        parts.append("\n" + (f"  if {assuming}\n" if assuming else "") + readings_block(tuple(rows)))
    return "".join(parts)


def readings_block(rows: tuple[Reading, ...]) -> str:
    """One line per convention, with units side by side."""
    lines = {label: [row.text for row in same] for label, same in groupby(rows, key=lambda row: row.label)}
    wide = max(map(len, lines.values()))
    cells = [(f"    {label}", *texts, *[""] * (wide - len(texts))) for label, texts in lines.items()]
    heads, *rest = cells
    return text_table(heads, rest, right=range(1, wide + 1))


_UNITS = r"%|[kMGTPE]?(?:B|W|Wh|b/s|FLOP/s)\b|[KMGT]iB\b|[mµ]?s\b|m\b|h\b|min\b|days?\b|kg\b"
_NUMBERED = pattern(
    rf"(?<=\d) (?=(?:{_UNITS}))|(?<=×) (?=\d)|(?<=\b[tpdec]p) (?=\d)|(?<=percentile) (?=\d)|(?<=node) (?=\d)"
    r"|(?<=\d) (?=(?:[kM]|bn) [A-Z]{3}\b)|(?:(?<=\d [kM])|(?<=\d bn)) (?=[A-Z]{3}\b)"
)


def unbroken_numbers(text: str) -> str:
    """The text with no-break spaces between numbers and their units or names.

    >>> unbroken_numbers("64 GB at 8 TB/s, 90 % with ep 16") == "64\\xa0GB at 8\\xa0TB/s, 90\\xa0% with ep\\xa016"
    True
    >>> unbroken_numbers("46 k EUR of 1.2 bn EUR") == "46\\xa0k\\xa0EUR of 1.2\\xa0bn\\xa0EUR"
    True
    """
    return _NUMBERED.sub("\xa0", text)
