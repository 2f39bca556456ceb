"""A rule finds its flaw in other words than those of its page, and is silent on right sentences with the same figures.

In ``paraphrases.txt`` a line `@ rule number` names an example that the page of a rule lists under Fires. The lines
below it replace its description: `-` begins a flawed one, `+` a right one (bounds, former plans, conditions, figures of
something else).
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import yaml

from clusterspec import rules
from clusterspec.rules.pages import page
from clusterspec.studies import study_text
from tests.effort import sampled
from tests.settings import SETTINGS

LINES = Path(__file__).with_name("paraphrases.txt").read_text("utf-8").splitlines()


def rows() -> Iterator[tuple[str, dict[str, Any], str, str]]:
    """Each rule with the keys of its example, the sign of a description, and the description."""
    rule, keys = "", {}
    for sign, text in ((line[0], line[2:]) for line in LINES):
        if sign == "@":
            rule, _, number = text.partition(" ")
            keys = yaml.safe_load(page(rule).fires[int(number)].text)
        else:
            yield rule, keys, sign, text


def is_found(rule: str, keys: dict[str, Any], description: str) -> bool:
    """Whether a rule reports more than a note of a spec with another description."""
    first = {"clusterspec": 1, "description": description}
    text = yaml.safe_dump({**keys, **first}, sort_keys=False, allow_unicode=True, width=10_000)
    problems = rules.run_rules(study_text(text, SETTINGS).facts(), {rule})
    return any(str(problem.severity) != "note" for problem in problems)


def test_a_flaw_is_found_in_other_words_and_right_sentences_are_silent() -> None:
    lines = list(rows())
    wrong = [
        f"{rule} {sign} {text}"
        for rule, keys, sign, text in sampled(lines, len(lines))
        if is_found(rule, keys, text) != (sign == "-")
    ]
    assert wrong == [], "sentences are read in another way"


def test_each_rule_has_flawed_and_right_sentences() -> None:
    flawed, right = ({rule for rule, _, sign, _ in rows() if sign == kind} for kind in "-+")
    assert flawed == right
