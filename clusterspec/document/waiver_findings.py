"""Findings about waivers: without a reason, expired, of an unknown rule, or unused."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from datetime import date

from clusterspec.document.model import Comment, Document
from clusterspec.document.nearest import one_of
from clusterspec.finding import ALWAYS_REPORTED, Confidence, Edit, Finding, Severity
from clusterspec.records import dataclass, replace
from clusterspec.source import Position, Span

MOST_COMPARED = 20
"""Unknown names that are compared with those of all rules, since each comparison takes a millisecond."""
LONGEST = 60
"""Characters of an unknown name that are printed; a longer one is compared with none."""
FORM = "write `# clusterspec: ignore[rule-name] until 2027-01-31: reason`; the date may be left out"


@dataclass(frozen=True, slots=True)
class Waiver:
    """A waiver: the rules it suppresses, where, and until when.

    ``line`` is the line it applies to (None: the whole file); it is valid through the day ``until``.
    """

    comment: Comment
    rules: tuple[str, ...]
    line: int | None
    until: date | None
    reason: str


@dataclass(frozen=True, slots=True)
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
        advice = f"did you mean {one_of(meant)}?" if meant else "`clusterspec explain` lists the rules"
        yield of_comment("unreadable-waiver", Severity.WARNING, comment, message, advice)
    if not waiver.reason:
        message = "this waiver has no reason and no effect"
        yield of_comment("waiver-without-reason", Severity.WARNING, comment, message, FORM)
    elif has_expired(waiver, use.today):
        message = f"this waiver expired on {waiver.until}; today is {use.today}"
        yield of_comment("expired-waiver", Severity.NOTE, comment, message, "fix what it waived, or set a later date")
    elif comment.file == document.source.name:
        skipped = {*use.skipped, *unknown}
        unused = [rule for rule in waiver.rules if (comment, rule) not in use.used and rule not in skipped]
        if unused:
            yield _unused(waiver, unused, document)


def _unused(waiver: Waiver, unused: list[str], document: Document) -> Finding:
    """The finding about unused rules of a waiver, with the fix that deletes them."""
    message = f"the waiver of {', '.join(unused)} matches no finding, and would hide one that appears later"
    if reported := [rule for rule in unused if rule in ALWAYS_REPORTED]:
        message = f"{', '.join(reported)} cannot be waived"
    found = of_comment("unused-waiver", Severity.NOTE, waiver.comment, message, "delete it from the waiver")
    kept = [rule for rule in waiver.rules if rule not in unused]
    edit = _without_rules(waiver.comment, kept) if kept else _without_comment(waiver.comment, document)
    what = f"delete {', '.join(unused)}" if kept else "delete the waiver"
    return replace(found, edits=(edit,), fix_safe=True, fix_description=what)


def _without_rules(comment: Comment, kept: list[str]) -> Edit:
    """The edit that reduces a waiver to some rules."""
    start, end = comment.text.index("[") + 1, comment.text.index("]")
    at = comment.column
    return Edit(
        Span(comment.file, Position(comment.line, at + start), Position(comment.line, at + end)), ", ".join(kept)
    )


def _without_comment(comment: Comment, document: Document) -> Edit:
    """The edit that deletes a comment: its whole line if alone, else with the spaces before it."""
    if comment.alone:
        span = Span(comment.file, Position(comment.line, 1), Position(comment.line + 1, 1))
        return Edit(span, "")
    line = document.sources[comment.file].line(comment.line)
    start = len(line[: comment.column - 1].rstrip()) + 1
    return Edit(Span(comment.file, Position(comment.line, start), Position(comment.line, len(line) + 1)), "")


def of_comment(rule: str, severity: Severity, comment: Comment, message: str, advice: str) -> Finding:
    """A finding about a comment."""
    start = Position(comment.line, comment.column)
    span = Span(comment.file, start, Position(comment.line, comment.column + len(comment.text.rstrip())))
    return Finding(rule, severity, Confidence.CERTAIN, message, advice, span, (), written=comment.text)
