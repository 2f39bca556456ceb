"""Designs of finished blind rounds stay mended, and every rule belongs to a subject of the map."""

from __future__ import annotations

import pytest

from clusterspec.rules.index import RULES
from tests.effort import sampled, thorough
from tools.review import CLEAN, FALSE, FOUND, MISSED, PLACED, Case, rounds, rules_by_subject, subjects
from tools.review.__main__ import is_met

CASES = [case for members in rounds().values() for case in members]


def test_every_rule_belongs_to_a_subject() -> None:
    assigned = rules_by_subject([(name, group) for name, (group, _) in RULES.items()])
    assert {rule for members in assigned.values() for rule in members} == set(RULES)


def test_a_rule_without_a_subject_is_refused() -> None:
    with pytest.raises(ValueError, match=r"rules without a subject.*stray-rule"):
        rules_by_subject([*((name, group) for name, (group, _) in RULES.items()), ("stray-rule", "nowhere")])


def test_a_subject_has_rules_and_sources() -> None:
    assigned = rules_by_subject([(name, group) for name, (group, _) in RULES.items()])
    for subject in subjects():
        assert assigned[subject.name], subject.name
        assert subject.sources, subject.name


@thorough
def test_each_first_result_fits_its_kind() -> None:
    for case in CASES:
        assert case.first in ((FOUND, PLACED, MISSED) if case.flawed else (CLEAN, FALSE)), case.file
        assert case.design.is_file(), case.file


@pytest.mark.parametrize(
    "case", sampled([case for case in CASES if case.rules], 80), ids=lambda case: f"{case.round}-{case.file}"
)
def test_a_design_of_a_finished_round_is_judged_as_its_writer_expects(case: Case) -> None:
    assert is_met(case), f"{case.finding} ({' '.join(case.rules)})"
