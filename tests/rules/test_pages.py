"""Every rule has a whole page, and the examples on it are true."""

from __future__ import annotations

import pytest

from clusterspec.finding import Confidence, Finding, Severity
from clusterspec.rules.index import RULES
from clusterspec.rules.pages import HEADINGS, page
from clusterspec.source import dotted

from .conftest import Check

# Examples that are texts, not specs, are run by tests/prose.
FIRES = [(name, number) for name in RULES for number, example in enumerate(page(name).fires) if not example.prose]
SILENT = [(name, number) for name in RULES for number, example in enumerate(page(name).silent) if not example.prose]


def of_rule(findings: list[Finding], name: str) -> list[Finding]:
    return [finding for finding in findings if finding.rule == name]


@pytest.mark.parametrize("name", RULES)
def test_a_page_has_every_heading_and_examples_of_both_kinds(name: str) -> None:
    seen = page(name)
    assert tuple(seen.sections) == HEADINGS
    assert all(seen.sections.values())
    assert seen.silent and seen.fires
    assert seen.summary.endswith(".") and "\n" not in seen.summary
    assert seen.sections["When to ignore it"].startswith(("Ignore it ", "Do not ignore "))
    assert "- " in seen.sections["Sources"]


@pytest.mark.parametrize(("name", "number"), FIRES)
def test_a_rule_fires_on_its_page_where_the_page_says(name: str, number: int, check: Check) -> None:
    example = page(name).fires[number]
    wanted = "" if example.path == "." else example.path
    findings = check(example.text)
    found = of_rule(findings, name)
    assert [dotted(finding.path) for finding in found] == [wanted], [str(one.rule) for one in findings]
    for finding in found:
        assert finding.message and not finding.message.endswith(".")
        assert finding.confidence is not Confidence.HEURISTIC or finding.severity is not Severity.ERROR


@pytest.mark.parametrize(("name", "number"), SILENT)
def test_a_rule_is_silent_on_its_near_miss(name: str, number: int, check: Check) -> None:
    assert of_rule(check(page(name).silent[number].text), name) == []
