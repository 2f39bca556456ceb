"""Waivers in a text: comments by which the author suppresses a finding, with a reason.

    <!-- clusterspec: ignore[metric-unsaid] until 2027-01-31: quoted from the supplier -->

A waiver is on the line of the finding, or alone on the line above. `ignore-file[…]` precedes the first text.
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
    """A waiver: the rules it suppresses on its line and the next (in the whole file if ``line`` is None) until a date."""

    rules: tuple[str, ...]
    line: int | None
    alone: bool
    until: date | None
    reason: str
    span: Span


def apply(problems: Iterable[Problem], text: str, file: str, today: date | None) -> Iterator[Problem]:
    """The problems that are not waived, then the problems with the waivers themselves.

    A waiver without a reason (waiver-without-reason) or one that expired before ``today`` (expired-waiver) has no
    effect. Without ``today`` none expires.
    """
    waivers = list(_read(text, file)) if "clusterspec:" in text else []
    effective = [waiver for waiver in waivers if waiver.reason and not _has_expired(waiver, today)]
    for problem in problems:
        if not any(_covers(waiver, problem) for waiver in effective):
            yield problem
    for waiver in waivers:
        yield from _waiver_problems(waiver, today)


def _read(text: str, file: str) -> Iterator[ProseWaiver]:
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


def _covers(waiver: ProseWaiver, problem: Problem) -> bool:
    if problem.rule not in waiver.rules or problem.span is None:
        return False
    line = problem.span.start.line
    return waiver.line is None or line == waiver.line or (waiver.alone and line == waiver.line + 1)


def _waiver_problems(waiver: ProseWaiver, today: date | None) -> Iterator[Problem]:
    if not waiver.reason:
        message = "this waiver has no reason and no effect"
        yield _problem("waiver-without-reason", Severity.WARNING, message, _FORM, waiver)
    elif _has_expired(waiver, today):
        message = f"this waiver expired on {waiver.until}; today is {today}"
        yield _problem("expired-waiver", Severity.NOTE, message, "fix what it waived, or set a later date", waiver)


def _problem(rule: str, severity: Severity, message: str, advice: str, waiver: ProseWaiver) -> Problem:
    return Problem(rule, (), message, advice, severity, Confidence.CERTAIN, span=waiver.span)
