"""The conditions in the index, which spare loading a rule, never silence one that has something to report."""

from __future__ import annotations

import pytest

from clusterspec import pipeline
from clusterspec.rules.index import RULES, SILENT
from clusterspec.rules.pages import module, page
from tests.cli.conftest import ROOT
from tests.settings import SETTINGS

TEXTS = [path.read_text("utf-8") for path in sorted((ROOT / "examples").glob("*.yaml"))]


@pytest.mark.parametrize("name", SILENT)
def test_a_guard_holds_only_where_the_check_reports_nothing(name: str) -> None:
    examples = [example.text for example in (*page(name).fires, *page(name).silent) if not example.prose]
    skipped = 0
    for text in examples + TEXTS:
        facts = pipeline.study_text(text, SETTINGS, "spec.yaml", ROOT / "examples").facts()
        known = [getattr(facts, need) for need in RULES[name][1]]
        if all(part is not None for part in known) and SILENT[name](*known):
            skipped += 1
            assert list(module(name).check(*known)) == []
    assert skipped < len(examples + TEXTS), "the guard hides every example"


def test_guards_spare_many_modules() -> None:
    assert len(SILENT) > 60
