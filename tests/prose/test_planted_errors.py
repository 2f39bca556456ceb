"""Planted errors are found and named; the near miss beside each stays silent."""

from __future__ import annotations

import tomllib
from pathlib import Path

import pytest

from clusterspec.catalog import Catalog
from clusterspec.prose import check_text
from clusterspec.prose.tokenize import SEVERITIES
from clusterspec.source import Source

CATALOG = Catalog.open()
PAIRS = tomllib.loads(Path(__file__).with_name("planted_errors.toml").read_text("utf-8"))["pair"]


def rules(text: str) -> list[str]:
    return [problem.rule for problem in check_text(Source("notes.md", text), CATALOG)]


@pytest.mark.parametrize("pair", PAIRS, ids=lambda pair: f"{pair['rule']}: {pair['wrong'][:40]}")
def test_an_error_is_found_and_named_and_its_near_miss_is_silent(pair: dict[str, str]) -> None:
    assert pair["rule"] in rules(pair["wrong"])
    assert rules(pair["right"]) == []


def test_every_rule_that_text_can_break_has_a_pair() -> None:
    assert {pair["rule"] for pair in PAIRS} == set(SEVERITIES)
