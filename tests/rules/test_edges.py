"""Each rule starts and stops at the value that its page implies: one number of an example of the page is changed.

A line of ``edges.txt`` names a rule, an example of its page, a number as the example writes it, the last value that the
rule reports and the first one that it does not. The values were found by bisection and read against the page: half of
them are whole numbers of nodes, ranks or ports, the others thresholds such as 5 % of a figure of a data sheet.
"""

from __future__ import annotations

from pathlib import Path

from clusterspec import rules
from clusterspec.rules.pages import page
from clusterspec.studies import study_text
from tests.settings import SETTINGS

from .conftest import LOGS

FOLDER = Path(__file__).parent
EDGES = [line.split(" | ") for line in (FOLDER / "edges.txt").read_text("utf-8").splitlines()]


def reports(text: str, rule: str) -> bool:
    study = study_text(text, SETTINGS, folder=LOGS)
    return any(problem.rule == rule for problem in rules.run_rules(study.facts(), {rule}))


def test_a_rule_starts_and_stops_at_the_values_of_its_page() -> None:
    wrong = []
    for name, written, reported, silent in EDGES:
        rule, example = name.split()
        head, at, tail = page(rule).fires[int(example)].text.partition(written)
        assert at and at not in tail, (name, written)
        key = written.rpartition(" ")[0]
        if not reports(f"{head}{key} {reported}{tail}", rule):
            wrong.append((name, written, f"{reported} is not reported"))
        if reports(f"{head}{key} {silent}{tail}", rule):
            wrong.append((name, written, f"{silent} is reported"))
    assert wrong == [], "a rule starts at another value: change the code, or the page and the table"
