"""What one change of an example makes of the verdict of its rule.

A line of ``near_misses.txt`` names a rule, an example of its page, a text of the example, what replaces it (``-``:
nothing does), and what the rule then reports: severities with their keys, or `silent`; some name a text of the message
or the help as well. A line end is written `\\n`. A search chose the changes: each tells the rule from one with another
condition, number or severity. Their verdicts were read against the page.

A line of ``other_pages.txt`` names an example of a page, rules, and what they report of it, in the same words: other
rules, and the rule of the page where figures or names of its sentences are compared, worked out from the example.
"""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path as FilePath

from clusterspec import rules
from clusterspec.rules.index import RULES
from clusterspec.rules.pages import page
from clusterspec.source import Path, dotted_path
from clusterspec.studies import study_text
from tests.effort import each, sampled
from tests.settings import SETTINGS

from .conftest import LOGS, Check
from .messages import wrong_arithmetic

LINES = FilePath(__file__).with_name("near_misses.txt").read_text("utf-8").splitlines()
OTHERS = [line.split(" | ") for line in FilePath(__file__).with_name("other_pages.txt").read_text("utf-8").splitlines()]
CHANGES = [line.replace(r"\n", "\n").split(" | ") for line in LINES]


def without(text: str, part: str) -> str:
    """A spec without one key and its value: with their comma, or with their line."""
    for written in (f"{part}, ", f", {part}"):
        if written in text:
            return text.replace(written, "")
    return re.sub(rf"^ *{re.escape(part)}\n", "", text, flags=re.MULTILINE)


@cache  # of an example that several lines change
def faults_of_form(text: str) -> set[tuple[str, Path]]:
    """The problems of YAML, keys and values of a spec, each with its key."""
    study = study_text(text, SETTINGS, folder=LOGS)
    return {(problem.rule, problem.path) for problem in (*study.loading, *study.reading)}


def verdict(text: str, rule: str) -> tuple[str, str]:
    """What a rule reports of a spec, and its sentences."""
    study = study_text(text, SETTINGS, folder=LOGS)
    facts = study.facts()
    facts.fleet = study.fleet.fleet if study.fleet else None
    problems = rules.run_rules(facts, {rule})
    given = ", ".join(f"{problem.severity} at {dotted_path(problem.path)}" for problem in problems) or "silent"
    return given, " ".join(f"{problem.message}; {problem.help}" for problem in problems)


def test_one_change_of_an_example_changes_its_verdict_as_the_page_says() -> None:
    wrong = []
    for place, written, replaced, expected, *says in CHANGES:
        rule, kind, number = place.split()
        example = getattr(page(rule), kind)[int(number)].text
        assert example.count(written) == 1, (place, written)
        changed = without(example, written) if replaced == "-" else example.replace(written, replaced)
        assert changed != example, (place, written)
        given, sentences = verdict(changed, rule)
        if given != expected or not all(each in sentences for each in says) or wrong_arithmetic(sentences):
            wrong.append((place, written, replaced, given, sentences))
    assert wrong == [], "a verdict has changed: change the code, or the page and the table"


def test_silence_is_not_that_of_a_spec_which_cannot_be_read() -> None:
    wrong = []
    for place, written, replaced, expected, *_ in sampled(CHANGES, len(CHANGES)):
        rule, kind, number = place.split()
        if expected == "silent" and RULES[rule][0] != "document":
            example = getattr(page(rule), kind)[int(number)].text
            changed = without(example, written) if replaced == "-" else example.replace(written, replaced)
            if more := faults_of_form(changed) - faults_of_form(example):
                wrong.append((place, written, replaced, more))
    assert wrong == []


def test_the_changes_are_of_rules_that_exist_and_stand_in_their_order() -> None:
    places = [place.split()[0] for place, *_ in CHANGES]
    order = [name for name in RULES if name in places]
    assert [name for name, before in zip(places, ["", *places], strict=False) if name != before] == order


@each("place", dict.fromkeys(place for place, *_ in OTHERS))
def test_an_example_of_a_page_has_these_verdicts_of_other_rules(place: str, check: Check) -> None:
    page_name, kind, number = place.split()
    text = getattr(page(page_name), kind)[int(number)].text
    for names, expected, *says in (line for at, *line in OTHERS if at == place):
        for name in names.split(", "):
            given = [finding for finding in check(text, name) if finding.rule == name]
            verdicts = ", ".join(f"{one.severity} at {dotted_path(one.path)}" for one in given)
            assert (verdicts or "silent") == expected, name
            assert all(word in " ".join(f"{one.message}; {one.help}" for one in given) for word in says)
