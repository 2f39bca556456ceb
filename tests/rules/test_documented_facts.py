"""Documented facts: each row of the table finds its claim in words of several people, and leaves true sentences alone.

A line of ``documented_facts.txt`` names a row, what the rule reports (`error`, `warning` or `silent`), a design as
platform, kind of work and framework (`-`: a node with H100), and a sentence.
"""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

from clusterspec import rules
from clusterspec.catalog.documented_facts import documented_facts
from clusterspec.studies import study_text
from tests.effort import each, sampled
from tests.settings import SETTINGS

LINES = [
    line.split(" | ", 3) for line in Path(__file__).with_name("documented_facts.txt").read_text("utf-8").splitlines()
]
FACTS = {fact.id: fact for fact in documented_facts()}
RULE = "text-contradicts-documentation"
SERVES: dict[str, Any] = {
    "model": "llama-3.1-8b",
    "serving": {"concurrency": 8, "input_tokens": 900, "output_tokens": 90},
}
TRAINS: dict[str, Any] = {"model": "llama-3.1-8b", "sequence_length": 4096, "global_batch": 256}


def spec(design: str, sentence: str) -> str:
    """A spec with this platform, work and framework, that says this sentence."""
    platform, kind, framework = (*design.replace("-", "dgx-h100", 1 if design == "-" else 0).split(), "", "")[:3]
    described: dict[str, Any] = {
        "clusterspec": 1,
        "description": sentence,
        "cluster": {"platform": platform, "nodes": 2},
    }
    if kind:
        described["workload"] = SERVES if kind == "serve" else TRAINS
    if framework:
        described["layout"] = {"framework": framework}
    return json.dumps(described)


def reported(design: str, sentence: str) -> list[tuple[str, str]]:
    """The facts that the rule states of a sentence, with their severity."""
    problems = rules.run_rules(study_text(spec(design, sentence), SETTINGS).facts(), {RULE})
    return [(str(each_.severity), each_.message) for each_ in problems]


@each("line", sampled(LINES, len(LINES)))
def test_a_claim_is_found_in_other_words_and_a_true_sentence_is_not(line: list[str]) -> None:
    name, expected, design, sentence = line
    found = [severity for severity, message in reported(design, sentence) if message.endswith(FACTS[name].fact)]
    assert found == ([] if expected == "silent" else [expected])


def test_each_fact_has_two_claims_and_a_true_sentence() -> None:
    lines = Counter((name, expected == "silent") for name, expected, *_ in LINES)
    assert [name for name in FACTS if lines[name, False] < 2 or lines[name, True] < 1] == []
    assert {name for name, _ in lines} == set(FACTS)


def test_each_fact_is_one_short_sentence_with_an_address() -> None:
    for fact in FACTS.values():
        assert fact.source.startswith("https://"), fact.id
        assert len(fact.fact.split()) <= 36 and not fact.fact.endswith("."), fact.id
        assert fact.severity in {"error", "warning"} and fact.negated in {"", "yes", "either"}, fact.id
        assert len(fact.groups) >= 2, fact.id


def test_items_of_a_list_are_about_parts_of_their_own() -> None:
    of_two = "The order:\n- {}\n- {}\n"
    first, second = "replaces 10 x DGX A100", "the new ones have 36 PFLOPS of FP8 compute"
    assert reported("-", of_two.format(first, second)) == []
    assert reported("-", of_two.format(f"{first}; {second.replace('new', 'A100')}", "two racks")) != []
