"""Waivers: comments by which an author takes a finding back out, with a reason.

    nics_per_node: 4  # clusterspec: ignore[shared-nic] until 2027-01-31: dual-rail by design
    # clusterspec: ignore-file[undeclared-network, few-spines]: the provider runs these

A waiver stands on the line of the key or the value that a finding points at, or alone on the
line above. One for the whole file stands before its first key.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from datetime import date

from clusterspec.document.model import Comment, Document
from clusterspec.finding import Confidence, Finding, Severity
from clusterspec.source import Position, Span

_MARK = re.compile(r"#+\s*clusterspec\s*:\s*ignore", re.IGNORECASE)
_WAIVER = re.compile(
    r"#+\s*clusterspec:\s*ignore(?P<file>-file)?\s*\[(?P<rules>[^\]]*)\]"
    r"(?:\s+until\s+(?P<until>[^\s:]+))?\s*(?::\s*(?P<reason>.*))?"
)
_FORM = "write `# clusterspec: ignore[rule-name] until 2027-01-31: reason`; the date may be left out"


@dataclass(frozen=True, slots=True)
class Waiver:
    """One waiver: what it silences, where, and for how long.

    ``line`` is the line that it speaks for (None: the whole file); it holds to the end of ``until``.
    """

    comment: Comment
    rules: tuple[str, ...]
    line: int | None
    until: date | None
    reason: str


def apply(findings: list[Finding], document: Document, today: date, skipped: Collection[str] = ()) -> list[Finding]:
    """The findings that nobody waived, and findings about the waivers themselves.

    A waiver without a reason waives nothing and is a warning (waiver-without-reason); one whose
    date lies before ``today`` waives nothing and is a note (expired-waiver); a rule that a waiver
    names without need is a note (unused-waiver), unless it is among ``skipped``: rules that did not run.
    """
    waivers, said = read(document)
    good = [waiver for waiver in waivers if waiver.reason and (waiver.until is None or waiver.until >= today)]
    kept, used = [], set()
    for finding in findings:
        held = [waiver for waiver in good if _speaks_for(waiver, finding, document)]
        used |= {(waiver.comment, finding.rule) for waiver in held}
        if not held:
            kept.append(finding)
    for waiver in waivers:
        said += _about(waiver, document, used, today, skipped)
    return kept + said


def read(document: Document) -> tuple[list[Waiver], list[Finding]]:
    """The waivers of a document and its bases, and what cannot be read as one."""
    waivers, faults = [], []
    for comment in document.comments:
        if _MARK.match(comment.text):
            waiver = _parsed(comment, document)
            if isinstance(waiver, str):
                faults.append(_finding("unreadable-waiver", Severity.WARNING, comment, waiver, _FORM))
            else:
                waivers.append(waiver)
    return waivers, faults


def _parsed(comment: Comment, document: Document) -> Waiver | str:
    """The waiver in a comment, or why it is none."""
    match = _WAIVER.fullmatch(comment.text.rstrip())
    if match is None:
        return "this waiver cannot be read, and waives nothing"
    rules = tuple(dict.fromkeys(rule.strip() for rule in match["rules"].split(",") if rule.strip()))
    if not rules:
        return "this waiver names no rule, and waives nothing"
    try:
        until = date.fromisoformat(match["until"]) if match["until"] else None
    except ValueError:
        return f"`{match['until'][:20]}` is no date, and the waiver waives nothing"
    if match["file"]:
        if comment.line >= _first_key(document, comment.file):
            return "a waiver for the whole file stands before its first key, and this one waives nothing"
        line = None
    else:
        line = _next_line(comment, document) if comment.alone else comment.line
    return Waiver(comment, rules, line, until, (match["reason"] or "").strip())


def _first_key(document: Document, file: str) -> int:
    lines = [place.value.start.line for place in document.places.values() if place.value.file == file]
    return min(lines, default=1)


def _next_line(comment: Comment, document: Document) -> int:
    """The line below a comment that stands alone, further such comments passed over."""
    alone = {other.line for other in document.comments if other.alone and other.file == comment.file}
    line = comment.line + 1
    while line in alone:
        line += 1
    return line


def _speaks_for(waiver: Waiver, finding: Finding, document: Document) -> bool:
    if finding.rule not in waiver.rules:
        return False
    spans = [finding.span]
    place = document.places.get(finding.path)
    if place is not None:
        spans += [span for span in (place.key, place.value) if span is not None]
    here = {span.start.line for span in spans if span.file == waiver.comment.file}
    return bool(here) if waiver.line is None else waiver.line in here


def _about(
    waiver: Waiver, document: Document, used: set[tuple[Comment, str]], today: date, skipped: Collection[str]
) -> Iterator[Finding]:
    """What there is to say of one waiver; of those in a base only what holds for every spec on it."""
    comment = waiver.comment
    if not waiver.reason:
        message = "this waiver gives no reason, and waives nothing"
        yield _finding("waiver-without-reason", Severity.WARNING, comment, message, _FORM)
    elif waiver.until is not None and waiver.until < today:
        message = f"this waiver ended on {waiver.until}, and today is {today}"
        yield _finding("expired-waiver", Severity.NOTE, comment, message, "mend what it waived, or set a later date")
    elif comment.file == document.source.name:
        idle = [rule for rule in waiver.rules if (comment, rule) not in used and rule not in skipped]
        if idle:
            message = f"nothing here is waived by {', '.join(idle)}"
            yield _finding("unused-waiver", Severity.NOTE, comment, message, "delete it from the waiver")


def _finding(rule: str, severity: Severity, comment: Comment, message: str, advice: str) -> Finding:
    start = Position(comment.line, comment.column)
    end = Position(comment.line, comment.column + len(comment.text.rstrip()))
    return Finding(rule, severity, Confidence.CERTAIN, message, advice, Span(comment.file, start, end), ())
