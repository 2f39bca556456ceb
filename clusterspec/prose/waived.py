"""Waivers in a text: comments by which its author takes a finding back out, with a reason.

    <!-- clusterspec: ignore[metric-unsaid] until 2027-01-31: quoted from the supplier -->

It is on the line of the finding, or alone on the line above. `ignore-file[…]` precedes the first text.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from datetime import date

from clusterspec.finding import Confidence, Problem, Severity
from clusterspec.records import dataclass
from clusterspec.source import Position, Span

_WAIVER = re.compile(
    r"<!--\s{0,9}clusterspec:\s{0,9}ignore(?P<file>-file)?\s{0,9}\[(?P<rules>[^\]\n]{1,300})\]"
    r"(?:\s{1,9}until\s{1,9}(?P<until>\d{4}-\d{2}-\d{2}))?\s{0,9}(?::(?P<reason>[^\n]{0,500}?))?\s{0,9}-->"
)
_FORM = "write `<!-- clusterspec: ignore[rule-name] until 2027-01-31: reason -->`; the date may be left out"


@dataclass(frozen=True, slots=True)
class ProseWaiver:
    """One waiver: the rules it silences on its line and the next (everywhere: ``line`` is None), until a day."""

    rules: tuple[str, ...]
    line: int | None
    alone: bool
    until: date | None
    reason: str
    span: Span


def apply(problems: Iterable[Problem], text: str, file: str, today: date | None) -> Iterator[Problem]:
    """The problems that are not waived, and problems with the waivers.

    A waiver without a reason waives nothing (waiver-without-reason), nor does one that ended before ``today``
    (expired-waiver); where no day is given, none has ended.
    """
    waivers = list(_read(text, file)) if "clusterspec:" in text else []
    good = [waiver for waiver in waivers if waiver.reason and not _ended(waiver, today)]
    for problem in problems:
        if not any(_holds(waiver, problem) for waiver in good):
            yield problem
    for waiver in waivers:
        yield from _about(waiver, today)


def _read(text: str, file: str) -> Iterator[ProseWaiver]:
    begun = False
    for number, line in enumerate(text.split("\n"), 1):
        match = _WAIVER.search(line)
        if match is None or (match["file"] and begun):
            begun = begun or (bool(line.strip()) and not line.lstrip().startswith("<!--"))
            continue
        rules = tuple(rule.strip() for rule in match["rules"].split(",") if rule.strip())
        span = Span(file, Position(number, match.start() + 1), Position(number, match.end() + 1))
        alone = line.strip() == match[0]
        yield ProseWaiver(
            rules, None if match["file"] else number, alone, _day(match["until"]), (match["reason"] or "").strip(), span
        )


def _day(text: str | None) -> date | None:
    """A day; the first of all for one that is none, so that its waiver has ended."""
    try:
        return date.fromisoformat(text) if text else None
    except ValueError:
        return date.min


def _ended(waiver: ProseWaiver, today: date | None) -> bool:
    return waiver.until is not None and today is not None and waiver.until < today


def _holds(waiver: ProseWaiver, problem: Problem) -> bool:
    if problem.rule not in waiver.rules or problem.span is None:
        return False
    line = problem.span.start.line
    return waiver.line is None or line == waiver.line or (waiver.alone and line == waiver.line + 1)


def _about(waiver: ProseWaiver, today: date | None) -> Iterator[Problem]:
    if not waiver.reason:
        message = "this waiver gives no reason, and waives nothing"
        yield _problem("waiver-without-reason", Severity.WARNING, message, _FORM, waiver)
    elif _ended(waiver, today):
        message = f"this waiver ended on {waiver.until}, and today is {today}"
        yield _problem("expired-waiver", Severity.NOTE, message, "mend what it waived, or set a later date", waiver)


def _problem(rule: str, severity: Severity, message: str, advice: str, waiver: ProseWaiver) -> Problem:
    return Problem(rule, (), message, advice, severity, Confidence.CERTAIN, span=waiver.span)
