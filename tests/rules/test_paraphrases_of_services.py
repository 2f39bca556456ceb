"""Rules of texts find a flaw in other words than those of their pages, and none in right sentences.

A line of ``paraphrases_of_services.txt`` names a rule, the number of an example that its page lists under Fires,
whether the rule fires or is silent, and the description that replaces the one of the example.
"""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any

import yaml

from clusterspec import rules
from clusterspec.rules.pages import page
from clusterspec.studies import study_text
from tests.effort import sampled
from tests.settings import SETTINGS

LINES = Path(__file__).with_name("paraphrases_of_services.txt").read_text("utf-8").splitlines()
ROWS = [line.split(" | ", 2) for line in LINES]


@cache
def spec_of(rule: str, number: int) -> dict[str, Any]:
    """The keys of an example of a page, without its description."""
    keys: dict[str, Any] = yaml.safe_load(page(rule).fires[number].text)
    return {key: value for key, value in keys.items() if key != "description"}


def verdict(place: str, description: str) -> str:
    """Whether a rule fires for an example with another description."""
    rule, number = place.split()
    keys = {"clusterspec": 1, "description": description, **spec_of(rule, int(number))}
    text = yaml.safe_dump(keys, sort_keys=False, allow_unicode=True, width=10_000)
    problems = rules.run_rules(study_text(text, SETTINGS).facts(), {rule})
    return "fires" if problems else "silent"


def test_a_rule_reads_the_meaning_of_a_sentence() -> None:
    wrong = [row for row in sampled(ROWS, len(ROWS)) if verdict(row[0], row[2]) != row[1]]
    assert wrong == [], "a sentence is read in another way"


def test_each_rule_has_flawed_and_right_sentences() -> None:
    fires, silent = ({row[0].split()[0] for row in ROWS if row[1] == kind} for kind in ("fires", "silent"))
    assert fires == silent
