"""Blocks of running text without code and comments, and the waivers in its comments."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from datetime import date
from enum import StrEnum

from clusterspec.document.comments import WRAPPED
from clusterspec.finding import Confidence, Problem, Severity, current_name
from clusterspec.records import dataclass
from clusterspec.source import Position, Span

# Blocks of running text: lines without code, comments and URLs, grouped into paragraphs, items, headings and tables

LONGEST = 4000
"""Largest number of characters of one line that are read: a longer line is data, not prose."""

_FENCE = re.compile(r" {0,8}(?:[-*>] )?(```+|~~~+)")
_ROW = re.compile(r"\s*\|")
_ITEM = re.compile(r"[ │]{0,40}(?:[-*+•▪◦]|[├└][─-]{0,6}|>{1,4}|\(?(?:\d{1,3}|[a-z])[.)])\s")
_HEADING = re.compile(r" {0,3}#{1,6}\s")
_UNDERLINE = re.compile(r" {0,3}(?:-{3,}|={3,})\s*")
_MASKS = (
    ("](", re.compile(r"\]\([^()\s]{0,500}(?:\([^()\s]{0,200}\)[^()\s]{0,200})?(?: \"[^\"\n]{0,200}\")?\)")),
    ("://", re.compile(r"(?:https?|ftp)://[^\s|)>\]]{1,500}")),
    ("<", re.compile(r"</?[A-Za-z][^<>\n]{0,300}>")),
    ("**", re.compile(r"(?<![\d)])\*\*|\*\*(?![\d(])")),
    ("__", re.compile(r"__")),
    ("\\", re.compile(r"\\[()\[\]*_|~$,; ]")),
    ("[", re.compile(r"\[(?=\^?\w{1,20}\])")),
)
_CODE = re.compile(r"`[^`\n]{1,200}`")
_QUOTED = re.compile(r"\"[^\"\n]{12,300}\"|“[^”\n]{12,300}”")
_COUNTED = re.compile(r"(?i)\b(?:uni|bi)directional|\bduplex|\bper direction|\bdense\b|\bsparse\b")
_SIGNS = (
    ("\\times", "×     "),
    ("\\cdot", "·    "),
    ("\\approx", "≈      "),
    ("\\div", "/   "),
    ("$", " "),
    ("¶", " "),
)


class BlockKind(StrEnum):
    """The kind of a block."""

    PROSE = "prose"
    ITEM = "item"
    HEADING = "heading"
    TABLE = "table"


@dataclass(frozen=True)
class ProseLine:
    """A line of the source, or its part from ``offset``, with excluded text blanked; lines are numbered from 1."""

    number: int
    text: str
    offset: int = 0


@dataclass(frozen=True)
class TextBlock:
    """Consecutive lines of one paragraph, list item, heading or table."""

    kind: BlockKind
    lines: tuple[ProseLine, ...]


def text_blocks(text: str) -> Iterator[TextBlock]:
    """The blocks of a document, in order."""
    held: list[ProseLine] = []
    kind = BlockKind.PROSE
    for line in _visible_lines(text):
        now = _block_kind(line.text)
        if held and not _continues_block(kind, now, held[-1].text):
            yield TextBlock(kind, tuple(held))
            held = []
        if now is not None:
            kind = kind if held else now
            held.append(line)
    if held:
        yield TextBlock(kind, tuple(held))


def _block_kind(text: str) -> BlockKind | None:
    """The kind of block that a line begins; None for a blank line."""
    if not text or text.isspace() or _UNDERLINE.fullmatch(text):
        return None
    if _ROW.match(text):
        return BlockKind.TABLE
    if _HEADING.match(text):
        return BlockKind.HEADING
    return BlockKind.ITEM if _ITEM.match(text) else BlockKind.PROSE


def _continues_block(kind: BlockKind, now: BlockKind | None, last: str) -> bool:
    """Whether a line belongs to the block before it."""
    if kind is BlockKind.TABLE or now is BlockKind.TABLE:
        return kind is now
    wrapped = len(last.rstrip()) >= WRAPPED and not last.rstrip().endswith((":", "|"))
    return now is BlockKind.PROSE and kind in (BlockKind.PROSE, BlockKind.ITEM) and wrapped


def _visible_lines(text: str) -> Iterator[ProseLine]:
    """All lines; code, front matter and comments are blanked."""
    fence = ""
    comment = front = False
    for number, raw in enumerate(text.split("\n"), 1):
        line = raw[:LONGEST].replace("\t", " ")
        if number == 1 and line.rstrip() == "---":
            front = True
        elif front:
            front = line.rstrip() not in ("---", "...")
        elif fence or _FENCE.match(line):
            fence = _open_fence(line, fence)
        else:
            shown, comment = _line_without_comments(line, comment)
            yield ProseLine(number, _masked_line(shown))
            continue
        yield ProseLine(number, "")


def _open_fence(line: str, fence: str) -> str:
    """The code fence that is open after a line. A closing fence is at least as long as the opening one, on a line by
    itself.
    """
    match = _FENCE.match(line)
    if not match:
        return fence
    if not fence:
        return match[1]
    closes = match[1].startswith(fence) and not line[match.end() :].strip()
    return "" if closes else fence


def _line_without_comments(line: str, inside: bool) -> tuple[str, bool]:
    """A line with HTML comments blanked, and whether a comment is open at its end."""
    shown, at = "", 0
    while at < len(line):
        mark = "-->" if inside else "<!--"
        found = line.find(mark, at)
        stop = len(line) if found < 0 else found + (3 if inside else 0)
        shown += " " * (stop - at) if inside else line[at:stop]
        at = stop
        if found >= 0:
            inside = not inside
    return shown, inside


def _masked_line(line: str) -> str:
    """A line with URLs, tags and emphasis blanked, and LaTeX signs replaced."""
    if '"' in line or "“" in line:
        line = _QUOTED.sub(_blanked_quotation, line)
    if "`" in line:
        line = _CODE.sub(_blanked_example, line)
    for mark, pattern in _MASKS:
        if mark in line:
            line = pattern.sub(_blanked_text, line)
    for written, sign in _SIGNS:
        if written in line:
            line = line.replace(written, sign)
    return line


def _blanked_quotation(match: re.Match[str]) -> str:
    """A quotation, blanked if it contains a figure: it is not a claim of the author."""
    return " " * len(match[0]) if match[0].count(" ") >= 3 else match[0]


def _blanked_example(match: re.Match[str]) -> str:
    """Inline code, blanked if it states a direction or a sparsity: it shows spec syntax."""
    return " " * len(match[0]) if _COUNTED.search(match[0]) else match[0]


def _blanked_text(match: re.Match[str]) -> str:
    return " " * len(match[0])


# Waivers in a text: comments by which the author suppresses a finding, with a reason

_WAIVER = re.compile(
    r"<!--\s{0,9}clusterspec:\s{0,9}ignore(?P<file>-file)?\s{0,9}\[(?P<rules>[^\]\n]{1,300})\]"
    r"(?:\s{1,9}until\s{1,9}(?P<until>\d{4}-\d{2}-\d{2}))?\s{0,9}(?::(?P<reason>[^\n]{0,500}?))?\s{0,9}-->"
)
_FORM = "write `<!-- clusterspec: ignore[rule-name] until 2027-01-31: reason -->`; the date may be left out"


@dataclass(frozen=True)
class ProseWaiver:
    """A waiver: the rules it suppresses on its line and the next (in the whole file if ``line`` is None) until a date."""

    rules: tuple[str, ...]
    line: int | None
    alone: bool
    until: date | None
    reason: str
    span: Span


def unwaived_problems(problems: Iterable[Problem], text: str, file: str, today: date | None) -> Iterator[Problem]:
    """The problems that are not waived, then the problems with the waivers themselves.

    A waiver without a reason (waiver-without-reason) or one that expired before ``today`` (expired-waiver) has no
    effect. Without ``today`` none expires.
    """
    waivers = list(_read_waivers(text, file)) if "clusterspec:" in text else []
    waived: set[tuple[int | None, str]] = set()
    for waiver in waivers:
        if waiver.reason and not _has_expired(waiver, today):
            waived.update((line, rule) for line in _waived_lines(waiver) for rule in map(current_name, waiver.rules))
    for problem in problems:
        line = problem.span.start.line if problem.span else None
        if (None, problem.rule) not in waived and (line, problem.rule) not in waived:
            yield problem
    for waiver in waivers:
        yield from _waiver_problems(waiver, today)


def _read_waivers(text: str, file: str) -> Iterator[ProseWaiver]:
    text_begun = False
    for number, line in enumerate(text.split("\n"), 1):
        match = _WAIVER.search(line)
        if match is None or (match["file"] and text_begun):
            text_begun = text_begun or (bool(line.strip()) and not line.lstrip().startswith("<!--"))
            continue
        rules = tuple(rule.strip() for rule in match["rules"].split(",") if rule.strip())
        span = Span(file, Position(number, match.start() + 1), Position(number, match.end() + 1))
        alone = line.strip() == match[0]
        yield ProseWaiver(
            rules,
            None if match["file"] else number,
            alone,
            _parse_date(match["until"]),
            (match["reason"] or "").strip(),
            span,
        )


def _parse_date(text: str | None) -> date | None:
    """The date of an ISO text; the minimum date if it is invalid, so that the waiver has expired."""
    try:
        return date.fromisoformat(text) if text else None
    except ValueError:
        return date.min


def _has_expired(waiver: ProseWaiver, today: date | None) -> bool:
    return waiver.until is not None and today is not None and waiver.until < today


def _waived_lines(waiver: ProseWaiver) -> tuple[int | None, ...]:
    """The lines that a waiver covers; None for the whole file."""
    if waiver.line is None:
        return (None,)
    return (waiver.line, waiver.line + 1) if waiver.alone else (waiver.line,)


def _waiver_problems(waiver: ProseWaiver, today: date | None) -> Iterator[Problem]:
    if not waiver.reason:
        message = "this waiver has no reason and no effect"
        yield _waiver_problem("waiver-without-reason", Severity.WARNING, message, _FORM, waiver)
    elif _has_expired(waiver, today):
        message = f"this waiver expired on {waiver.until}; today is {today}"
        yield _waiver_problem(
            "expired-waiver", Severity.WARNING, message, "fix what it waived, or set a later date", waiver
        )


def _waiver_problem(rule: str, severity: Severity, message: str, advice: str, waiver: ProseWaiver) -> Problem:
    return Problem(rule, (), message, advice, severity, Confidence.CERTAIN, span=waiver.span)
