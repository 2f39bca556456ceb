"""Flaws and right figures in other words than those of a rule's page: other order, synonyms, sentences and languages.

``paraphrases_of_training.txt`` names a rule and the spec of its page, then texts with the flaw (`flaw`) and texts
with the same words and right figures (`right`): bounds, former plans, conditions, and figures of something else.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

from clusterspec import rules
from clusterspec.studies import study_text
from tests.effort import each
from tests.settings import SETTINGS

LINES = Path(__file__).with_name("paraphrases_of_training.txt").read_text("utf-8").splitlines()


def rows() -> Iterator[tuple[str, str, str, bool]]:
    rule, spec = "", ""
    for line in LINES:
        kind, _, text = line.partition(" ")
        if kind == "rule":
            rule, spec = text, ""
        elif kind == "spec":
            spec += f"{text}\n"
        elif kind in ("flaw", "right"):
            yield rule, spec, text, kind == "flaw"


@each("rule, spec, text, flawed", [*rows()])
def test_a_rule_finds_its_flaw_in_other_words_and_no_right_figures(
    rule: str, spec: str, text: str, flawed: bool
) -> None:
    study = study_text(f"clusterspec: 1\ndescription: {json.dumps(text)}\n{spec}", SETTINGS)
    found = [problem for problem in rules.run_rules(study.facts(), {rule}) if str(problem.severity) != "note"]
    assert bool(found) == flawed
