"""Errors that a fix makes visible are told from those that it causes, by the parts of a study."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from clusterspec.cli.fixes import Trial
from clusterspec.finding import ALWAYS_REPORTED, Edit
from clusterspec.source import Path, Position, Span

PLACE = Span("a.yaml", Position(1, 1), Position(1, 2))
RESOLVED = SimpleNamespace(cluster=1, workload=1, layout=1)
NEW: Path = ("layout", "overlap", "dp")


def trial(*unchecked: str, **unresolved: None) -> Trial:
    """A trial whose file had some parts that did not resolve, and rules that did not run."""
    made = object.__new__(Trial)
    before: Any = SimpleNamespace(unchecked=frozenset(unchecked), design=SimpleNamespace(**vars(RESOLVED) | unresolved))
    made.before = before
    return made


def fixed(*found: tuple[str, Path], **unresolved: None) -> Any:
    """The study of the fixed file, with problems by rule and path."""
    problems = [SimpleNamespace(rule=rule, path=path) for rule, path in found]
    return SimpleNamespace(problems=problems, design=SimpleNamespace(**vars(RESOLVED) | unresolved))


def finding(*edits: Edit, safe: bool = False) -> Any:
    return SimpleNamespace(edits=edits, fix_safe=safe)


RENAME = Edit(PLACE, "overlap", ("layout", "overlaps"), renames=True)
OTHER = Edit(PLACE, "8", ("layout", "pp"))
HERE = ("some-rule", NEW)


@pytest.mark.parametrize(
    ("before", "findings", "after", "shown"),
    [
        (trial(), [finding(OTHER, safe=True)], fixed(), True),
        (trial(), [finding(OTHER, safe=True), finding(OTHER)], fixed(), False),
        (trial("some-rule"), [finding(OTHER)], fixed(), True),
        (trial("other-rule"), [finding(OTHER)], fixed(), False),
        (trial(), [finding(RENAME)], fixed(), True),
        (trial(), [finding(Edit(PLACE, "offload", ("layout", "overlaps"), renames=True))], fixed(), False),
        (trial(layout=None), [finding(OTHER)], fixed(HERE), True),
        (trial(cluster=None), [finding(OTHER)], fixed(HERE), True),
        (trial(workload=None), [finding(OTHER)], fixed(HERE), True),
        (trial(layout=None), [finding(OTHER)], fixed(HERE, layout=None), False),
        (trial(layout=None), [finding(OTHER)], fixed(("other-rule", NEW)), False),
        (trial(layout=None), [finding(OTHER)], fixed(("some-rule", ("layout",))), False),
        (trial(), [finding(OTHER)], fixed(HERE), False),
        (trial("some-rule"), [finding(Edit(PLACE, "8", NEW))], fixed(), False),  # at the key that the fix writes
    ],
    ids=range(14),
)
def test_an_error_is_shown_rather_than_caused_where_more_can_be_checked(
    before: Trial, findings: list[Any], after: Any, shown: bool
) -> None:
    assert before.shown_by(findings, after, "some-rule", NEW) is shown


def test_some_rules_are_reported_whatever_else_is_wrong() -> None:
    rule = next(iter(ALWAYS_REPORTED))
    assert not trial(rule).shown_by([finding(OTHER, safe=True)], fixed(), rule, NEW)
