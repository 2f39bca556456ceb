"""A planted flaw is found at the right key by the right rule, and its near-miss twin stays silent."""

from __future__ import annotations

import pytest

from clusterspec.source import dotted_path
from tests.effort import sampled
from tests.rules.twins import fabric, layout, machine, proof
from tests.rules.twins.pods import Changes, Twin, spec

from .conftest import Check

TWINS: list[Twin] = [*machine.TWINS, *fabric.TWINS, *layout.TWINS, *proof.TWINS]


def places(text: str, rule: str, check: Check) -> list[str]:
    findings = check(text, rule)
    assert not [finding for finding in findings if finding.rule in {"unknown-key", "wrong-type", "unknown-catalog-id"}]
    return [dotted_path(finding.path) for finding in findings if finding.rule == rule]


@pytest.mark.parametrize(("rule", "pod", "flaw", "at", "twin"), sampled(TWINS, 2 * len(TWINS)))
def test_a_flaw_is_reported_and_its_near_miss_is_not(
    rule: str, pod: str, flaw: Changes, at: str, twin: Changes, check: Check
) -> None:
    assert places(spec(pod, flaw), rule, check) == [at]
    assert places(spec(pod, twin), rule, check) == []
