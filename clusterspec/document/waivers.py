"""Waivers: comments that suppress a finding with a reason, and findings about invalid or unused waivers."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Sequence
from datetime import date

from clusterspec.document.model import Comment, Document
from clusterspec.document.schema import alternatives_text
from clusterspec.finding import ALWAYS_REPORTED, Confidence, Edit, Finding, Severity, current_name
from clusterspec.records import dataclass, replace
from clusterspec.source import Position, Span
from clusterspec.standard import pattern

# Findings about waivers: without a reason, expired, of an unknown rule, or unused

MOST_COMPARED = 20
"""The most unknown names to compare with the names of all rules: each comparison takes a millisecond."""
LONGEST = 60
"""Largest number of characters of an unknown name that are printed; a longer one is compared with none."""
FORM = "write `# clusterspec: ignore[rule-name] until 2027-01-31: reason`; the date may be left out"


@dataclass(frozen=True)
class Waiver:
    """A waiver: the rules that it suppresses, its place, and its last day.

    ``line`` is the line it applies to (None: the whole file); it is valid through the day ``until``.
    """

    comment: Comment
    rules: tuple[str, ...]
    line: int | None
    until: date | None
    reason: str


@dataclass(frozen=True)
class WaiverContext:
    """The context of waivers: the rules that each comment waived, the current day, and the rules that did not run.

    ``known`` tests whether a rule exists, ``alike`` returns the rules with similar names.
    """

    used: Collection[tuple[Comment, str]]
    today: date
    skipped: Collection[str]
    known: Callable[[str], bool]
    alike: Callable[[str], Sequence[str]]


def has_expired(waiver: Waiver, today: date) -> bool:
    """Whether the last day of a waiver has passed."""
    return waiver.until is not None and waiver.until < today


def waiver_findings(waiver: Waiver, document: Document, use: WaiverContext) -> Iterator[Finding]:
    """The findings about a waiver; for one in a base, only those independent of the spec."""
    comment = waiver.comment
    unknown = [rule for rule in waiver.rules if not use.known(rule)]
    for number, rule in enumerate(unknown):
        message = f"no rule is called `{rule[:LONGEST]}`; it waives nothing"
        meant = [*use.alike(rule)] if number < MOST_COMPARED and len(rule) <= LONGEST else []
        advice = f"did you mean {alternatives_text(meant)}?" if meant else "`clusterspec explain` lists the rules"
        yield comment_finding("unreadable-waiver", Severity.WARNING, comment, message, advice)
    if not waiver.reason:
        message = "this waiver has no reason and no effect"
        yield comment_finding("waiver-without-reason", Severity.WARNING, comment, message, FORM)
    elif has_expired(waiver, use.today):
        message = f"this waiver expired on {waiver.until}; today is {use.today}"
        yield comment_finding(
            "expired-waiver", Severity.WARNING, comment, message, "fix what it waived, or set a later date"
        )
    elif comment.file == document.source.name:
        skipped = {*use.skipped, *unknown}
        unused = [
            rule
            for rule in waiver.rules
            if (comment, current_name(rule)) not in use.used and skipped.isdisjoint((rule, current_name(rule)))
        ]
        if unused:
            yield _unused_finding(waiver, unused, document)


def _unused_finding(waiver: Waiver, unused: list[str], document: Document) -> Finding:
    """The finding about unused rules of a waiver, with the fix that deletes them."""
    message = f"the waiver of {', '.join(unused)} matches no finding, and would hide one that appears later"
    if reported := [rule for rule in unused if rule in ALWAYS_REPORTED]:
        message = f"{', '.join(reported)} cannot be waived"
    found = comment_finding("unused-waiver", Severity.NOTE, waiver.comment, message, "delete it from the waiver")
    kept = [rule for rule in waiver.rules if rule not in unused]
    edit = _edit_without_rules(waiver.comment, kept) if kept else _edit_without_comment(waiver.comment, document)
    what = f"delete {', '.join(unused)}" if kept else "delete the waiver"
    return replace(found, edits=(edit,), fix_safe=True, fix_description=what)


def _edit_without_rules(comment: Comment, remaining: list[str]) -> Edit:
    """The edit that removes all rules except ``remaining`` from a waiver."""
    start, end = comment.text.index("[") + 1, comment.text.index("]")
    at = comment.column
    return Edit(
        Span(comment.file, Position(comment.line, at + start), Position(comment.line, at + end)), ", ".join(remaining)
    )


def _edit_without_comment(comment: Comment, document: Document) -> Edit:
    """The edit that deletes a comment: its whole line if alone, else with the spaces before it."""
    if comment.alone:
        span = Span(comment.file, Position(comment.line, 1), Position(comment.line + 1, 1))
        return Edit(span, "")
    line = document.sources[comment.file].line(comment.line)
    start = len(line[: comment.column - 1].rstrip()) + 1
    return Edit(Span(comment.file, Position(comment.line, start), Position(comment.line, len(line) + 1)), "")


def comment_finding(rule: str, severity: Severity, comment: Comment, message: str, advice: str) -> Finding:
    """A finding about a waiver comment."""
    start = Position(comment.line, comment.column)
    span = Span(comment.file, start, Position(comment.line, comment.column + len(comment.text.rstrip())))
    return Finding(rule, severity, Confidence.CERTAIN, message, advice, span, (), written=comment.text)


# Waivers: comments by which an author suppresses a finding, with a reason

_MARK = pattern(r"#+\s*clusterspec\s*:\s*ignore", re.IGNORECASE)
_WAIVER = pattern(
    r"#+\s*clusterspec:\s*ignore(?P<file>-file)?\s*\[(?P<rules>[^\]]*)\]"
    r"(?:\s+until\s+(?P<until>[^\s:]+))?\s*(?::\s*(?P<reason>.*))?"
)
_MOST_ABOVE = 20
"""Maximum comment lines between a waiver and the line it applies to."""
_MOST = 500
"""Maximum waivers of a file, since each is compared with all findings of its line."""


@dataclass(frozen=True)
class WaivedFinding:
    """A waived finding and its waiver."""

    finding: Finding
    waiver: Waiver


def open_findings(
    findings: list[Finding], document: Document, today: date, skipped: Collection[str] = ()
) -> list[Finding]:
    """The findings that are not waived, and findings about the waivers themselves (see `open_and_waived`)."""
    return open_and_waived(findings, document, today, skipped)[0]


def open_and_waived(
    findings: list[Finding],
    document: Document,
    today: date,
    skipped: Collection[str] = (),
    *,
    is_rule: Callable[[str], bool] = lambda _: True,
    alike: Callable[[str], Sequence[str]] = lambda _: (),
) -> tuple[list[Finding], list[WaivedFinding]]:
    """The open findings with those about the waivers themselves, and the waived findings.

    A waiver without a reason has no effect and gives a warning (waiver-without-reason); one that
    expired before ``today`` has no effect and gives a warning (expired-waiver); a rule that a waiver does
    not need gives a note (unused-waiver), unless it is in ``skipped``, the rules that did not run; a
    rule that ``is_rule`` does not know gives a warning (unreadable-waiver) that offers the rules ``alike``.
    """
    waivers, about_waivers = read(document)
    effective = _waivers_by_rule(waiver for waiver in waivers if waiver.reason and not has_expired(waiver, today))
    kept: list[Finding] = []
    waived: list[WaivedFinding] = []
    used: set[tuple[Comment, str]] = set()
    for finding in findings:
        spots = _waivable_spots(finding, document) if finding.rule not in ALWAYS_REPORTED else ()
        held = [waiver for spot in spots for waiver in effective.get((finding.rule, *spot), ())]
        used |= {(waiver.comment, finding.rule) for waiver in held}
        if held:
            waived.append(WaivedFinding(finding, held[0]))
        else:
            kept.append(finding)
    for waiver in waivers:
        compared = alike if len(about_waivers) < MOST_COMPARED else lambda _: ()
        about_waivers += waiver_findings(waiver, document, WaiverContext(used, today, skipped, is_rule, compared))
    return kept + about_waivers, waived


def read(document: Document) -> tuple[list[Waiver], list[Finding]]:
    """The waivers of a document and its bases, and findings about malformed ones."""
    alone = {(comment.file, comment.line) for comment in document.comments if comment.alone}
    first: dict[str, int] | None = None
    waivers: list[Waiver] = []
    faults: list[Finding] = []
    parsed: Counter[str] = Counter()
    for comment in document.comments:
        if _MARK.match(comment.text):
            parsed[comment.file] += 1
            if parsed[comment.file] == _MOST + 1:
                why = f"more than {_MOST} waivers in one file: this and later ones have no effect"
                faults.append(comment_finding("unreadable-waiver", Severity.WARNING, comment, why, FORM))
            if parsed[comment.file] > _MOST:
                continue
            first = _first_value_lines(document) if first is None else first
            waiver = _parsed_waiver(comment, alone, first.get(comment.file))
            if isinstance(waiver, str):
                faults.append(comment_finding("unreadable-waiver", Severity.WARNING, comment, waiver, FORM))
            else:
                waivers.append(waiver)
    return waivers, faults


def _parsed_waiver(comment: Comment, own_lines: set[tuple[str, int]], first: int | None) -> Waiver | str:
    """The waiver in a comment, or the reason why it is invalid.

    ``first`` is the line of the file's first key; None for a base whose keys are all replaced.
    """
    match = _WAIVER.fullmatch(comment.text.rstrip())
    if match is None:
        return "this waiver cannot be read and has no effect"
    rules = tuple(dict.fromkeys(rule.strip() for rule in match["rules"].split(",") if rule.strip()))
    if not rules:
        return "this waiver names no rule and has no effect"
    try:
        until = date.fromisoformat(match["until"]) if match["until"] else None
    except ValueError:
        return f"`{match['until'][:20]}` is not a date; the waiver has no effect"
    if match["file"] and first is not None and comment.line >= first:
        return "a waiver for the whole file must precede its first key; this one has no effect"
    line = None if match["file"] else _target_line(comment, own_lines)
    return Waiver(comment, rules, line, until, (match["reason"] or "").strip())


def _first_value_lines(document: Document) -> dict[str, int]:
    """The line of the first value of each file."""
    first: dict[str, int] = {}
    for place in document.places.values():
        span = place.key or place.value
        first[span.file] = min(first.get(span.file, span.start.line), span.start.line)
    return first


def _target_line(comment: Comment, own_lines: set[tuple[str, int]]) -> int:
    """The line a comment applies to: its own, or the next line that is not only a comment."""
    line = comment.line
    for line in range(comment.line, comment.line + _MOST_ABOVE):
        if (comment.file, line) not in own_lines:
            break
    return line


_Spot = tuple[str, int | None]
"""A file and a line; the line is None for the whole file."""


def _waivers_by_rule(waivers: Iterator[Waiver]) -> dict[tuple[str, str, int | None], list[Waiver]]:
    index: dict[tuple[str, str, int | None], list[Waiver]] = {}
    for waiver in waivers:
        for rule in waiver.rules:
            index.setdefault((current_name(rule), waiver.comment.file, waiver.line), []).append(waiver)
    return index


def _waivable_spots(finding: Finding, document: Document) -> set[_Spot]:
    """The positions at which a waiver of a finding applies: its line, the lines of its key and value, and its file."""
    spans = [finding.span]
    place = document.places.get(finding.path)
    if place is not None and finding.path:
        spans += [span for span in (place.key, place.value) if span is not None]
    return {(span.file, span.start.line) for span in spans} | {(finding.span.file, None)}
