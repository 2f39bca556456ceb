"""When a fix makes a file worse: the studies before and after it are given by hand."""

from __future__ import annotations

from typing import Any

import pytest

from clusterspec.cli.fixes import Trial
from clusterspec.finding import Confidence, Finding, Problem, Severity
from clusterspec.records import replace
from clusterspec.source import Position, Span
from clusterspec.studies import CheckedFile, Study
from tests.designs import TRAINED, study_of


def study(fault: bool = False, *errors: str, unchecked: tuple[str, ...] = ()) -> Study:
    """A study with errors of these rules at one key; with ``fault``, one that a rule could not check.

    What was found is set before it is computed.
    """
    made, failed = replace(study_of(TRAINED)), ValueError() if fault else None
    found = [Problem(rule, ("cluster", "nodes"), "said", severity=Severity.ERROR) for rule in errors]
    vars(made)["problems_and_fault"] = (found, failed)
    vars(made)["checked"] = CheckedFile(made.input, (), {}, failed)
    vars(made)["unchecked"] = frozenset(unchecked)
    return made


FINDING = Finding(
    "fixed", Severity.ERROR, Confidence.CERTAIN, "said", "", Span("spec.yaml", Position(1, 1), Position(1, 2)), ()
)


class Reader:
    """Gives one study for the text before, and another for the text after."""

    def __init__(self, before: Study, after: Study) -> None:
        self.studies = [before, after]

    def changed_study(self, name: str, text: str) -> Study:
        return self.studies.pop(0)


@pytest.mark.parametrize(
    ("before", "after", "told"),
    [
        (False, False, ""),
        (False, True, "the fixed file cannot be checked"),
        (True, True, ""),  # it could not be checked before
        (True, False, ""),
    ],
)
def test_a_fix_that_ends_the_check_of_a_file_is_harm(before: bool, after: bool, told: str) -> None:
    reader: Any = Reader(study(before), study(after))
    assert Trial(reader, "spec.yaml", "name: a\n").harm(()) == told


@pytest.mark.parametrize(
    ("before", "after", "shown", "told"),
    [
        ((), ("flaw",), False, "the fixed file would have error[flaw]: said"),
        (("flaw",), ("flaw",), False, ""),
        (("flaw",), (), False, ""),
        (("flaw",), ("flaw", "other"), False, "the fixed file would have error[other]: said"),
        ((), ("flaw",), True, ""),  # more of the file can be checked
    ],
)
def test_an_error_that_a_file_did_not_have_is_harm(
    before: tuple[str, ...], after: tuple[str, ...], shown: bool, told: str
) -> None:
    first = study(False, *before, unchecked=("flaw",) if shown else ())
    reader: Any = Reader(first, study(False, *after))
    assert Trial(reader, "spec.yaml", "name: a\n").harm((FINDING,)) == told
