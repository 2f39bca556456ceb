"""What each rule reports of the examples on its page, and its usual severity and confidence, word for word.

A changed threshold, key, count or severity shows here. Rules whose message quotes a prediction are left out: their
figures belong to the cost model.
"""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path

from clusterspec.finding import Finding
from clusterspec.rules.index import RULES
from clusterspec.rules.pages import page
from clusterspec.source import dotted_path
from tests.cost.expressions import evaluate
from tests.effort import each
from tests.golden import assert_golden

from .conftest import Check

FOLDER = Path(__file__).parent
PREDICTED = {"timed", "plan", "memory", "rated", "measurements", "served", "what_if"}
"""Parts of a design from which predicted figures come."""
EXACT = [
    name for name, (_, needs) in RULES.items() if needs and not PREDICTED & {need.removesuffix("?") for need in needs}
]


def test_severity_and_confidence_of_each_rule() -> None:
    rows = [f"{row.name} {row.severity} {row.confidence}" for row in (page(name).rule for name in RULES)]
    assert rows == (FOLDER / "metadata.txt").read_text("utf-8").split("\n")[:-1], "the table is kept by hand"


def test_what_a_rule_reports_of_its_page(check: Check) -> None:
    lines = [line for name in EXACT for line in reported(name, check)]
    assert_golden(FOLDER / "page_findings.txt", "\n".join(lines) + "\n")


def reported(name: str, check: Check) -> list[str]:
    found = page_findings(name, check)
    return [f"{one.rule}: {one.severity} at {dotted_path(one.path)}: {one.message}\n    {one.help}" for one in found]


def test_figures_of_messages_follow_from_the_numbers_of_their_examples(check: Check) -> None:
    """A line of ``worked_figures.txt`` names a rule, a text of a message of its page with a figure in brackets, and how
    the figure was worked out by hand: from the numbers of the example, of data sheets, or of the message.
    """
    wrong = []
    for line in (FOLDER / "worked_figures.txt").read_text("utf-8").splitlines():
        rule, text, expression = line.split(" | ")
        before, figure, behind = re.split(r"[][]", text)
        told = [one.message for one in page_findings(rule, check)]
        if not any(f"{before}{figure}{behind}" in message for message in told):
            wrong.append((line, "no such message"))
        elif not is_rounded(figure, evaluate(expression, {})):
            wrong.append((line, "another result"))
    assert wrong == []


def is_rounded(figure: str, value: float) -> bool:
    """Whether a printed figure is the value, rounded in its last digit."""
    decimals = len(figure.partition(".")[2])
    return abs(float(figure.replace(",", "")) - value) <= 0.5001 * 10.0**-decimals


@cache
def page_findings(name: str, check: Check) -> list[Finding]:
    found = [finding for example in page(name).fires if not example.prose for finding in check(example.text, name)]
    return [finding for finding in found if finding.rule == name]


@each("name", EXACT)
def test_a_message_and_its_remedy_are_one_line_each(name: str, check: Check) -> None:
    for line in reported(name, check):
        message, remedy = line.split("\n    ")
        assert remedy and "\n" not in remedy and "  " not in message
