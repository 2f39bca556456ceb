"""Errors that a fix makes visible are told from those that it causes, by the parts of a study."""

from __future__ import annotations

import pytest

from clusterspec.cli.fixes import was_present
from clusterspec.finding import ALWAYS_REPORTED, Confidence, Edit, Finding, Problem, Severity
from clusterspec.records import replace
from clusterspec.source import Path, Position, Span
from clusterspec.studies import Study
from tests.designs import TRAINED, changed, study_of

PLACE = Span("a.yaml", Position(1, 1), Position(1, 2))
NEW: Path = ("layout", "overlap", "dp")


def study(*unchecked: str, **unresolved: None) -> Study:
    """The study of a file with parts that did not resolve, and rules that did not run."""
    made = changed(study_of(TRAINED), {f"design.{part}": value for part, value in unresolved.items()})
    made = replace(made, problems=())
    vars(made)["unchecked"] = frozenset(unchecked)  # instead of its first use
    return made


def fixed(*found: tuple[str, Path], **unresolved: None) -> Study:
    """The study of the fixed file, with problems by rule and path."""
    return replace(study(**unresolved), problems=tuple(Problem(rule, path, "said") for rule, path in found))


def finding(*edits: Edit, safe: bool = False) -> Finding:
    made = Finding("fixed-rule", Severity.ERROR, Confidence.CERTAIN, "said", "", PLACE, ())
    return replace(made, edits=edits, fix_safe=safe)


RENAME = Edit(PLACE, "overlap", ("layout", "overlaps"), renames=True)
OTHER = Edit(PLACE, "8", ("layout", "pp"))
HERE = ("some-rule", NEW)


@pytest.mark.parametrize(
    ("before", "findings", "after", "shown"),
    [
        (study(), [finding(OTHER, safe=True)], fixed(), True),
        (study(), [finding(OTHER, safe=True), finding(OTHER)], fixed(), False),
        (study("some-rule"), [finding(OTHER)], fixed(), True),
        (study("other-rule"), [finding(OTHER)], fixed(), False),
        (study(), [finding(RENAME)], fixed(), True),
        (study(), [finding(Edit(PLACE, "offload", ("layout", "overlaps"), renames=True))], fixed(), False),
        (study(layout=None), [finding(OTHER)], fixed(HERE), True),
        (study(cluster=None), [finding(OTHER)], fixed(HERE), True),
        (study(workload=None), [finding(OTHER)], fixed(HERE), True),
        (study(layout=None), [finding(OTHER)], fixed(HERE, layout=None), False),
        (study(layout=None), [finding(OTHER)], fixed(("other-rule", NEW)), False),
        (study(layout=None), [finding(OTHER)], fixed(("some-rule", ("layout",))), False),
        (study(), [finding(OTHER)], fixed(HERE), False),
        (study("some-rule"), [finding(Edit(PLACE, "8", NEW))], fixed(), False),  # at the key that the fix writes
    ],
    ids=range(14),
)
def test_an_error_is_shown_rather_than_caused_where_more_can_be_checked(
    before: Study, findings: list[Finding], after: Study, shown: bool
) -> None:
    assert was_present(before, findings, after, "some-rule", NEW) is shown


def test_some_rules_are_reported_whatever_else_is_wrong() -> None:
    rule = next(iter(ALWAYS_REPORTED))
    assert not was_present(study(rule), [finding(OTHER, safe=True)], fixed(), rule, NEW)
