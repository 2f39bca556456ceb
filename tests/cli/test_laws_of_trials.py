"""When a fix makes a file worse: the studies before and after it are given by hand."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from clusterspec.cli.fixes import Trial
from clusterspec.finding import Problem


def study(fault: bool = False, *errors: str) -> Any:
    """A study with errors of these rules at one key; with ``fault``, one that a rule could not check."""
    found = {(rule, ("cluster", "nodes")): Problem(rule, ("cluster", "nodes"), "said") for rule in errors}
    return SimpleNamespace(checked=SimpleNamespace(fault=ValueError() if fault else None), errors_before_waivers=found)


class Reader:
    """Gives one study for the text before, and another for the text after."""

    def __init__(self, before: Any, after: Any) -> None:
        self.studies = [before, after]

    def changed_study(self, name: str, text: str) -> Any:
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
    before: tuple[str, ...], after: tuple[str, ...], shown: bool, told: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Trial, "shown_by", lambda *_: shown)
    reader: Any = Reader(study(False, *before), study(False, *after))
    assert Trial(reader, "spec.yaml", "name: a\n").harm(()) == told
