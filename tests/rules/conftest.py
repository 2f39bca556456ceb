"""The whole way from a text to its findings, as `check` goes it."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from functools import cache
from pathlib import Path
from typing import Protocol

import pytest

from clusterspec import rules
from clusterspec.finding import Finding, Problem
from clusterspec.rules import engine
from clusterspec.rules.facts import Facts
from clusterspec.rules.index import RULES, SILENT
from clusterspec.rules.pages import module, page
from clusterspec.studies import Settings, study_text
from tests.effort import ALL_CASES
from tests.settings import SETTINGS

from .absences import run_without_parts

LOGS = Path(__file__).parent / "logs"
"""The folder of every spec of these tests."""


class Check(Protocol):
    """The findings of a text; with a rule, at least its own and those of the form of the text. In `make test` the other
    rules, which take most of the time, are then not run.
    """

    def __call__(self, text: str, rule: str = "") -> list[Finding]: ...
    def __hash__(self) -> int: ...


def with_its_check(name: str) -> Callable[..., bool]:
    """The condition under which a rule is not run, which fails where the check has something to report."""

    def holds(*parts: object) -> bool:
        if not SILENT[name](*parts):
            return False
        if problems := list(module(name).check(*parts)):
            # NOTE: an assertion does not do: the engine catches every `Exception` of a rule.
            pytest.fail(f"the index spares {name} a run that reports {problems}")
        return True

    return holds


@pytest.fixture(scope="package", autouse=True)
def every_check_runs() -> Iterator[None]:
    """For each condition of the index that spares a rule, the check runs too: silence is that of the check."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(engine, "_SILENT", {name: with_its_check(name) for name in SILENT})
        yield


@pytest.fixture(scope="session")
def settings() -> Settings:
    return SETTINGS


@cache
def texts_that_fire(rule: str) -> frozenset[str]:
    """The examples of a page whose rules are also run without each part that they may lack."""
    return frozenset(example.text for example in page(rule).fires)


@pytest.fixture(scope="session")
def check(settings: Settings) -> Check:
    """Each text is read once: several tests ask about the examples of pages."""
    run_rules = rules.run_rules

    @cache
    def findings(text: str, rule: str) -> tuple[Finding, ...]:
        study = study_text(text, settings, folder=LOGS)

        def run_and_vary(facts: Facts, names: Collection[str] = RULES) -> list[Problem]:
            for name in (rule,) if rule else names if ALL_CASES else ():  # the pages of all rules take a second to read
                if text in texts_that_fire(name):
                    run_without_parts(name, facts)
            return run_rules(facts, {rule} & {*names} if rule else names)

        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(rules, "run_rules", run_and_vary)
            return tuple(study.findings)

    def found(text: str, rule: str = "") -> list[Finding]:
        return list(findings(text, "" if ALL_CASES else rule))

    return found
