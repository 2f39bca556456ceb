"""The list of rules for display, the rules that cannot judge a design, and jobs that share a storage system."""

from __future__ import annotations

import pytest

from clusterspec.finding import Confidence, Severity
from clusterspec.rules.index import RULES
from clusterspec.rules.knowledge.shared_stores import SavingRate, StoreDemand
from clusterspec.rules.pages import RuleRow, listing_text
from clusterspec.rules.rule import Rule
from clusterspec.studies import study_text
from tests.effort import each
from tests.settings import SETTINGS

FIRST = RuleRow(Rule("a", "fabric", Severity.ERROR, Confidence.CERTAIN), "one two three four five six")
LONGER = RuleRow(Rule("longer", "fabric", Severity.NOTE, Confidence.CERTAIN), "seven")
OTHER = RuleRow(Rule("b", "units", Severity.WARNING, Confidence.CERTAIN), "eight")


@pytest.mark.parametrize(
    ("columns", "rows"),
    [
        (0, ["  a  error    one two three four five six"]),
        (41, ["  a  error    one two three four five six"]),
        (40, ["  a  error    one two three four five", " " * 14 + "six"]),
        (38, ["  a  error    one two three four five", " " * 14 + "six"]),  # 24 columns beside the name
        (37, ["  a error", "    one two three four five six"]),  # 23 are too few
        (20, ["  a error", "    one two three", "    four five six"]),
    ],
)
def test_a_summary_is_wrapped_beside_its_rule_or_below_it(columns: int, rows: list[str]) -> None:
    assert listing_text([FIRST], columns).splitlines() == ["fabric", *rows]


def test_groups_of_rules_are_paragraphs_with_aligned_summaries() -> None:
    assert listing_text([FIRST, LONGER, OTHER]).splitlines() == [
        "fabric",
        "  a       error    one two three four five six",
        "  longer  note     seven",
        "",
        "units",
        "  b       warning  eight",
    ]
    assert listing_text([]) == ""


MACHINE = "clusterspec: 1\ncluster: {platform: dgx-h100, nodes: 2}\n"
WORK = MACHINE + "workload: {model: llama-3.1-8b, sequence_length: 8192, global_batch: %d}\nlayout: {tp: 2}\n"


def test_rules_judge_times_where_the_plan_has_a_step() -> None:
    """16 accelerators by 2 are 8 replicas, which divide a batch of 64 and none of 63; memory needs no step."""
    whole, uneven = (study_text(WORK % batch, SETTINGS).unchecked for batch in (64, 63))
    planned = {name for name, (_, needs) in RULES.items() if "plan" in needs}
    memory = {name for name in planned if RULES[name][0] == "memory"}
    timed = {name for name, (_, needs) in RULES.items() if "timed" in needs} | (planned - memory)
    assert memory - whole and not memory & (uneven - whole)
    assert timed - whole and timed <= uneven


def test_a_rule_without_its_part_judges_nothing() -> None:
    machine = study_text(MACHINE, SETTINGS).unchecked
    for name, (_, needs) in RULES.items():
        if {"plan", "layout", "workload"} & {*needs}:
            assert name in machine, name
        if {*needs} == {"cluster"}:
            assert name not in machine, name


@each(
    ("job", "alone", "stretch"),
    [
        ("a", 3.0, 3.0),  # 6 of 2 GB/s take three times as long; a job that asks for 3 alone would take 1.5 times
        ("b", 1.0, 3.0),
        ("c", 2.0, 3.0),
        ("none", 0.0, 1.0),
    ],
)
def test_others_on_a_store_lengthen_a_run_by_more_than_it_would_itself(job: str, alone: float, stretch: float) -> None:
    rates = {"a": SavingRate(8.0, 3.0), "b": SavingRate(5.0, 1.0), "c": SavingRate(4.0, 2.0)}
    demand = StoreDemand("2 GB/s", 2.0, rates, tuple(rates.values()))
    assert (demand.mean, demand.burst_rate) == (6.0, 17.0)
    assert demand.run_stretch(job) == pytest.approx(stretch / max(1.0, alone / 2.0))
    assert demand._replace(bandwidth=6.0).run_stretch(job) == 1.0
