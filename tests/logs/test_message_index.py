"""Messages of the catalog in a text: what each line states, and the work that a hostile text takes."""

from __future__ import annotations

from itertools import product

import pytest

from clusterspec.analysis.diagnosis import hangs
from clusterspec.analysis.diagnosis.cause_meanings import MEANINGS
from clusterspec.logs.statements.catalogued_messages import WEIGHTS, exceptions, messages
from clusterspec.logs.statements.message_index import FEW, entries, places_by_word, possible_entries, statement_of_entry
from clusterspec.logs.statements.statement_search import line_statements
from tests.effort import sampled, steps

CALLS = 600
"""Calls for each line of a hostile text; it takes half as many. A search for every message would take thousands."""


def test_every_exception_has_a_known_cause_a_weight_an_address_a_next_step_and_words_of_its_own() -> None:
    for one in exceptions():
        assert one.cause in MEANINGS and one.weight in WEIGHTS and hangs.NEXT_STEPS[one.cause]
        assert one.source.startswith("https://github.com/") and "/blob/" in one.source and "#L" in one.source
        assert len(one.words.replace("*", "")) >= 26 and not one.words.startswith("*")
    words = [(one.words.lower(), one.cause) for one in exceptions()]
    assert len(words) == len(set(words))


def test_every_exception_is_found_in_a_text_of_all_of_them_and_alone() -> None:
    ends = ("".join(letters) for letters in product("ghijklmnopqr", repeat=4))  # lines alike but for digits are one
    lines = [f"ValueError: {one.words.replace('*', ' 7 ')} {end}" for one, end in zip(exceptions(), ends, strict=False)]
    found = {(name, number) for name, _, number in line_statements("\n".join(lines))}
    for number, one in enumerate(exceptions(), 1):
        assert (one.statement, number) in found, one.words
    for line, one in list(zip(lines, exceptions(), strict=True))[:: len(lines) // 40]:
        assert one.statement in {name for name, _, _ in line_statements(line)}


@pytest.mark.parametrize(
    ("start", "weight"),
    [
        ("AssertionError: ", "states"),
        ("[rank3]: ValueError: ", "states"),
        ("ERROR 11-25 10:00:00 [engine.py:3] ", "states"),
        ("", "may"),
        ("UserWarning: ", None),
        ("WARNING:megatron: ", None),
        ("INFO 11-25 10:00:00 ", None),
    ],
)
def test_an_exception_tells_its_cause_on_a_line_of_an_error_alone(start: str, weight: str | None) -> None:
    one = next(each for each in exceptions() if each.weight == "states" and each.cause == "invalid-setting")
    said = {name for name, _, _ in line_statements(f"{start}{one.words.replace('*', ' 7 ')}")}
    assert said == ({f"message invalid-setting {weight}"} if weight else set())


def test_words_apart_by_more_than_the_gap_make_no_message() -> None:
    one = next(each for each in messages() if each.words.count("*") == 1)
    before, after = one.words.split("*")
    assert one.statement in {name for name, _, _ in line_statements(f"NCCL WARN {before}{'x' * 120}{after}")}
    assert one.statement not in {name for name, _, _ in line_statements(f"NCCL WARN {before}{'x' * 121}{after}")}


def test_words_that_stand_whole_are_those_that_no_neighboring_text_continues() -> None:
    entry = next(each for each in entries() if each.message.words == "Trying to send to self without a matching recv")
    assert entry.whole == {"send", "self", "without", "matching"}
    assert places_by_word([entries().index(entry)]).keys() <= entry.whole


def test_a_text_of_few_messages_is_searched_for_their_words_in_order() -> None:
    listed = possible_entries(["Trying to send to self without 0 m0t0hing r00v".replace("0", "a"), "nothing"])
    assert len(listed) <= FEW


def test_a_text_of_the_words_of_all_messages_is_not_searched_for_each_of_them() -> None:
    words = " ".join(each.message.words.replace("*", " ") for each in entries()).split()
    lines = [
        " ".join(words[(place * 7919 + turn * 104729) % len(words)] for turn in range(12))
        for place in sampled(range(9000), 6000)
    ]
    list(line_statements("what is read once"))
    steps(lambda: list(line_statements("\n".join(lines))), most=CALLS * len(lines))


def test_a_line_of_one_part_repeated_is_searched_once_for_each_place() -> None:
    found = next(each for each in entries() if len(each.parts) > 1)
    lines = [found.parts[0] * number for number in (150, 300)]
    once, twice = (steps(lambda line=line: statement_of_entry(found, line)) for line in lines)  # type: ignore[misc]
    assert 150 < once < twice < 2.1 * once
    text = "\n".join(f"ValueError: {lines[0]}{number}" for number in range(200))
    steps(lambda: list(line_statements(text)), most=CALLS * 200)


def test_a_line_of_source_code_that_would_print_a_message_states_nothing() -> None:
    printed = "CheckpointingException: Checkpoint directory /data/run7 does not exist"
    assert [name for name, _, _ in line_statements(printed)] == ["message invalid-setting states"]
    quoted = "    raise CheckpointingException(f'Checkpoint directory {checkpoint_dir} does not exist')"
    assert not list(line_statements(quoted))
