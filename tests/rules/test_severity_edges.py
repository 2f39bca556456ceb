"""The severity of a rule changes at the value that its page states: one number of an example of the page is changed.

A line of ``severity_edges.txt`` names a rule, an example of its page, a number as the example writes it, and two values
with their severities, between which the severity changes. The values were found by bisection and worked out against the
page: eight nodes with two NICs of 100 Gb/s take 200 GB/s, so that a storage system of 400 GB/s is a warning (twice the
rate) and one of 1,200 GB/s an error (six times). Only limits that no prediction moves are in the table.
"""

from __future__ import annotations

from pathlib import Path

from clusterspec import rules
from clusterspec.rules.pages import page
from clusterspec.studies.study import study_text
from tests.effort import each
from tests.settings import SETTINGS

from .conftest import LOGS

LINES = Path(__file__).with_name("severity_edges.txt").read_text("utf-8").splitlines()
EDGES = [tuple(line.split(" | ")) for line in LINES]


def severities(text: str, rule: str) -> set[str]:
    study = study_text(text, SETTINGS, folder=LOGS)
    return {str(problem.severity) for problem in rules.run_rules(study.facts(), {rule}) if problem.rule == rule}


@each(("name", "written", "below", "above"), EDGES)
def test_the_severity_changes_at_the_value_of_the_page(name: str, written: str, below: str, above: str) -> None:
    rule, example = name.split()
    head, at, tail = page(rule).fires[int(example)].text.partition(written)
    assert at and written not in tail
    key = written.rpartition(" ")[0]
    for edge in (below, above):
        value, severity = edge.split()
        assert severities(f"{head}{key} {value}{tail}", rule) == {severity}, value
