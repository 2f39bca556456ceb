"""Findings about waivers: without a reason, past their date, of an unknown rule, or without anything to waive."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from datetime import date

from clusterspec.document.model import Comment, Document
from clusterspec.finding import Confidence, Edit, Finding, Severity
from clusterspec.records import dataclass, replace
from clusterspec.source import Position, Span

FORM = "write `# clusterspec: ignore[rule-name] until 2027-01-31: reason`; the date may be left out"


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


@dataclass(frozen=True, slots=True)
class Use:
    """What waivers were good for: the rules that each comment waived, on which day, and which rules did not run.

    ``known`` says whether a rule of a name exists.
    """

    used: Collection[tuple[Comment, str]]
    today: date
    skipped: Collection[str]
    known: Callable[[str], bool]


def ended(waiver: Waiver, today: date) -> bool:
    """Whether the day to which a waiver holds has passed."""
    return waiver.until is not None and waiver.until < today


def about(waiver: Waiver, document: Document, use: Use) -> Iterator[Finding]:
    """What there is to report of one waiver; of those in a base only what holds for every spec on it."""
    comment = waiver.comment
    unknown = [rule for rule in waiver.rules if not use.known(rule)]
    for rule in unknown:
        message = f"no rule is called `{rule[:60]}`, and this waives nothing"
        advice = "`clusterspec explain` lists the rules"
        yield of_comment("unreadable-waiver", Severity.WARNING, comment, message, advice)
    if not waiver.reason:
        message = "this waiver gives no reason, and waives nothing"
        yield of_comment("waiver-without-reason", Severity.WARNING, comment, message, FORM)
    elif ended(waiver, use.today):
        message = f"this waiver ended on {waiver.until}, and today is {use.today}"
        yield of_comment("expired-waiver", Severity.NOTE, comment, message, "mend what it waived, or set a later date")
    elif comment.file == document.source.name:
        skipped = {*use.skipped, *unknown}
        idle = [rule for rule in waiver.rules if (comment, rule) not in use.used and rule not in skipped]
        if idle:
            yield _unused(waiver, idle, document)


def _unused(waiver: Waiver, idle: list[str], document: Document) -> Finding:
    """The finding about a waiver that waives nothing by some of its rules, and the fix that takes them out."""
    message = f"nothing here is waived by {', '.join(idle)}"
    found = of_comment("unused-waiver", Severity.NOTE, waiver.comment, message, "delete it from the waiver")
    left = [rule for rule in waiver.rules if rule not in idle]
    edit = _without_rules(waiver.comment, left) if left else _without_comment(waiver.comment, document)
    what = f"delete {', '.join(idle)}" if left else "delete the waiver"
    return replace(found, edits=(edit,), fix_safe=True, fix_description=what)


def _without_rules(comment: Comment, left: list[str]) -> Edit:
    """The edit that leaves some rules of a waiver."""
    start, end = comment.text.index("[") + 1, comment.text.index("]")
    at = comment.column
    return Edit(
        Span(comment.file, Position(comment.line, at + start), Position(comment.line, at + end)), ", ".join(left)
    )


def _without_comment(comment: Comment, document: Document) -> Edit:
    """The edit that deletes a comment: its whole line, or with the spaces before it."""
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
