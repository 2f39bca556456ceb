"""Choices that texts state for keys: found where the key has another choice, silent where it has the stated one.

A row of `plain_statements/choices.txt` has the choice that a sentence states, another choice and the sentence, under a
heading with the key. Sentences of `sound_choices.txt` do not contradict the choice of their key.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import yaml

from clusterspec.rules.readers.statements.choice_words import CHOICES
from clusterspec.rules.readers.statements.choices import choice_of_key, wrong_choices
from clusterspec.rules.readers.statements.machine_choice_words import MACHINE_CHOICES
from clusterspec.spec.model import Spec
from clusterspec.studies import study_text
from tests.effort import sampled
from tests.settings import SETTINGS
from tests.test_patterns import LINEAR, growth

FOLDER = Path(__file__).with_name("plain_statements")


def rows() -> Iterator[tuple[str, str, str, str]]:
    """The key, the stated and another choice, and the sentence of each row."""
    key = ""
    for line in (FOLDER / "choices.txt").read_text("utf-8").splitlines():
        if line.startswith("# "):
            key = line[2:]
        elif line:
            stated, other, sentence = line.split("|")
            yield key, stated, other, sentence


def spec_with(key: str, choice: str) -> Spec:
    """A spec with one key."""
    value: Any = {"True": True, "False": False}.get(choice, int(choice) if choice.isdigit() else choice)
    for name in reversed(key.split(".")):
        value = {name: value}
    spec = study_text(yaml.safe_dump({"clusterspec": 1, **value}), SETTINGS).spec
    assert choice_of_key(spec, key) == choice
    return spec


def found(sentence: str, key: str, choice: str) -> list[str]:
    return [each.key for each in wrong_choices(sentence, spec_with(key, choice))]


def test_a_choice_in_a_text_is_found_where_the_key_has_another_and_silent_where_it_has_the_same() -> None:
    wrong = []
    for key, stated, other, sentence in sampled([*rows()], 30):
        if found(sentence, key, other) != [key]:
            wrong.append(("silent", key, other, sentence))
        if found(sentence, key, stated):
            wrong.append(("false", key, stated, sentence))
    assert wrong == []


def test_sentences_about_other_machines_trials_and_other_parts_contradict_no_choice() -> None:
    lines = (FOLDER / "sound_choices.txt").read_text("utf-8").splitlines()
    table = [line.split("|") for line in lines if not line.startswith("#")]
    assert [row for row in table if found(row[2], row[0], row[1])] == []


def test_each_key_with_choices_has_a_sentence() -> None:
    assert {each.key for each in (*CHOICES, *MACHINE_CHOICES)} == {key for key, *_ in rows()}


def test_a_text_that_names_the_choice_of_the_key_anywhere_contradicts_nothing() -> None:
    text = "The rest of the hall is air-cooled. The servers are liquid-cooled."
    assert found(text, "cluster.power.cooling", "liquid") == found(text, "cluster.power.cooling", "air") == []
    both = "PFC is off on the storage switches. PFC is enabled in the fabric."
    assert found(both, "cluster.scale_out.flow_control.pfc", "True") == []


def test_two_other_choices_in_a_text_state_none() -> None:
    text = "The leaves spread flows by ECMP, and adaptive routing is on in the spines."
    assert found(text, "cluster.scale_out.load_balancing", "spray") == []


def test_no_pattern_of_a_choice_takes_more_than_linear_time() -> None:
    """These patterns are put together in the program, where `tests/test_patterns.py` does not find them."""
    every = (*CHOICES, *MACHINE_CHOICES)
    words = {text for each in every for text in (*each.words.values(), each.subject, each.others) if text}
    slow = {text: growth(f"(?i){text}", 0, "search")[0] for text in sampled(sorted(words), 5)}
    assert {text for text, times in slow.items() if times > LINEAR} == set()
