"""What a rule reports of a flaw: rule, key, severity and remedy; and nothing of a design that narrowly misses it."""

from __future__ import annotations

import pytest

from clusterspec.finding import Finding
from clusterspec.source import dotted_path

from .conftest import Check
from .verdicts import Verdict
from .verdicts.layouts import ADVICE, LAYOUTS
from .verdicts.machines import MACHINES, WORK


@pytest.mark.parametrize("verdict", [*LAYOUTS, *ADVICE, *MACHINES, *WORK], ids=lambda one: f"{one.rule}-{one.severity}")
def test_a_flaw_gets_its_verdict_and_a_near_miss_none(verdict: Verdict, check: Check) -> None:
    (found,) = of(verdict.rule, verdict.flawed, check)
    assert (dotted_path(found.path), str(found.severity)) == (verdict.key, verdict.severity)
    assert verdict.remedy in found.help, found.help
    assert verdict.says in found.message, found.message
    assert of(verdict.rule, verdict.sound, check) == []


def of(rule: str, text: str, check: Check) -> list[Finding]:
    return [finding for finding in check(f"clusterspec: 1\n{text}", rule) if finding.rule == rule]
