"""A rule starts, stops and changes its severity at the values that its page states: one number is changed.

A line of ``page_edges.txt`` names a rule, an example of its page under Fires or Silent, a number as the example writes
it, and two values with the highest severity that the rule reports for them. The values were found by bisection and read
against the pages: eight nodes with two NICs of 100 Gb/s take 200 GB/s, so that a storage system of 400 GB/s is a
warning (twice the rate) and one of 1,200 GB/s an error (six times). No limit of the table depends on a prediction.
"""

from __future__ import annotations

from pathlib import Path

from clusterspec import rules
from clusterspec.rules.pages import page
from clusterspec.studies import study_text
from tests.settings import SETTINGS

from .conftest import LOGS

LINES = Path(__file__).with_name("page_edges.txt").read_text("utf-8").splitlines()
SEVERITIES = ("error", "warning", "note")


def severity(text: str, rule: str) -> str:
    study = study_text(text, SETTINGS, folder=LOGS)
    found = {str(problem.severity) for problem in rules.run_rules(study.facts(), {rule}) if problem.rule == rule}
    return next((name for name in SEVERITIES if name in found), "silent")


def test_a_rule_reports_what_its_page_says_on_both_sides_of_a_limit() -> None:
    wrong = []
    for line in LINES:
        name, written, *edges = line.split(" | ")
        rule, kind, number = name.split()
        head, at, tail = getattr(page(rule), kind)[int(number)].text.partition(written)
        assert at and written not in tail, line
        for edge in edges:
            value, stated = edge.split()
            told = severity(f"{head}{written.rpartition(' ')[0]} {value}{tail}", rule)
            wrong += [(name, written, value, told, stated)] if told != stated else []
    assert wrong == [], "a rule starts or changes at another value: change the code, or the page and the table"


def test_each_line_is_about_two_values_with_another_outcome() -> None:
    for line in LINES:
        (low, below), (high, above) = (edge.split() for edge in line.split(" | ")[2:])
        assert float(low) < float(high) and below != above, line
