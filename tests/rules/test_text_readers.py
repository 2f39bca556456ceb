"""Quantities, loads and sentences of texts, worked out by hand, each beside one that looks alike and is none."""

from __future__ import annotations

import pytest

from clusterspec.rules.fabric import breakout_off_rate
from clusterspec.rules.knowledge.text_loads import figures_in, percentages_in, times_in, unit_of_capacity
from clusterspec.rules.knowledge.text_quantities import sentence_quantities
from clusterspec.rules.knowledge.written_numbers import has_word, sentences_of
from clusterspec.rules.physical import described_run_exceeds_reach
from clusterspec.rules.procurement import damages_off_cap
from tests.effort import each

QUANTITIES = [
    ("15 trillion tokens", [(15e12, "token")]),
    ("4,2 Mio. Tokens je Schritt", [(4.2e6, "token")]),
    ("64 Ki tokens", [(65536.0, "token")]),
    ("prompts of 24k-token documents", [(24e3, "")]),
    ("1.250 Schritte", [(1250.0, "step")]),
    ("1.250 steps", [(1.25, "step")]),
    ("32 p5en.48xlarge instances", [(32.0, "node")]),
    ("32 H100 nodes", [(32.0, "node")]),
    ("16 H100", [(16.0, "accelerator")]),
    ("6000 (40 GPUs)", [(6000.0, ""), (40.0, "accelerator")]),
    ("90,000 H100 GPU-hours", [(90e3, "accelerator hour")]),
    ("horas de GPU: 500 horas de GPU", [(500.0, "accelerator hour")]),
    ("500 horas de nodo", [(500.0, "node hour")]),
    ("3.04e17 FLOP/s and 3.2 x 10^24 FLOP", [(3.04e17, "FLOP/s"), (3.2e24, "FLOP")]),
    ("20k tokens per second, 20k tokens", [(2e4, "token/s"), (2e4, "token")]),
    ("2 weeks and 8 GB at 30 %", [(2 * 604800.0, "s"), (8e9, "B"), (0.3, "%")]),
    ("400 GB/s", [(400.0, "")]),
    ("on 2026-11-23, version 1.2.3 of ConnectX-7", []),
]


@each("text, expected", QUANTITIES)
def test_a_quantity_is_its_number_times_its_scale(text: str, expected: list[tuple[float, str]]) -> None:
    found = [(one.value, one.unit) for _, quantities in sentence_quantities(text) for one in quantities]
    assert [unit for _, unit in found] == [unit for _, unit in expected]
    assert [value for value, _ in found] == pytest.approx([value for value, _ in expected])


LOADS = [
    ("2 trillion tokens", [(2e12, "tokens", 0.0)]),
    ("4,2 Millionen Tokens pro Tag", [(4.2e6, "tokens", 86400.0)]),
    ("32 p5en.48xlarge instances", [(32.0, "nodes", 0.0)]),
    ("128 LUMI-G nodes", [(128.0, "nodes", 0.0)]),
    ("nodes with ConnectX-7 cards", []),
    ("eight H100 with cards", []),
    ("the other one serves all users", []),
    ("one node, three data centers", [(1.0, "nodes", 0.0), (3.0, "zones", 0.0)]),
    ("12 req/s for each second, 30 rpm", [(12.0, "requests", 1.0), (30.0, "requests", 60.0)]),
    ("90 petición a la", [(90.0, "requests", 0.0)]),
]


@each("text, expected", LOADS)
def test_a_load_is_a_count_with_its_noun_and_period(text: str, expected: list[tuple[float, str, float]]) -> None:
    assert [(one.value, one.kind, one.period) for one in figures_in(text)] == expected


@each(
    "text, expected",
    [
        ("a node was tested at 20 requests/s", "nodes"),
        ("five nodes of 14 requests/s", "nodes"),
        ("four engines carry 14 requests/s each", "engines"),
        ("20 requests/s (per GPU)", "accelerators"),
        ("a node was old. 20 requests/s", ""),
        ("16 racks, all 1152 accelerators in the job", ""),
    ],
)
def test_a_load_is_that_of_the_unit_beside_it(text: str, expected: str) -> None:
    assert unit_of_capacity(text, figures_in(text)[-1]) == expected


def test_times_and_shares_need_their_unit() -> None:
    assert [one.value for one in times_in("a 24-hour window, 30 min, 5 s/step, 7 nodes")] == [86400.0, 1800.0]
    assert [one.value for one in percentages_in("12,5 pour cent of 40 and 3 por ciento, 9 cents")] == [12.5, 3.0]


@each(
    "text, expected",
    [
        ("3 Mio. EUR incl. VAT. Net", ["3 Mio. EUR incl. VAT", "Net"]),
        ("i.e. two; e.g. # three", ["i.e. two", "e.g. ", "three"]),
        ("It has 2. Next", ["It has 2", "Next"]),
        ("v1.2 runs", ["v1.2 runs"]),
    ],
)
def test_an_abbreviation_ends_no_sentence(text: str, expected: list[str]) -> None:
    assert sentences_of(text) == expected


@each(
    "words",
    ["400G ports split into two", "800G as 2x400G", "64 ports of 400G, each as four", "an 800G port broken out"],
)
def test_a_text_with_a_split_port_has_its_cue(words: str) -> None:
    assert breakout_off_rate._CUES.search(words) is not None and breakout_off_rate._names_split(words)
    assert not breakout_off_rate._names_split("400G as built")


@each("word", ["dr4", "400gbase-sr8", "2xfr4", "lr", "400g-dr4"])
def test_a_text_with_a_kind_of_light_has_its_cue(word: str) -> None:
    assert described_run_exceeds_reach._is_light(word.rpartition("-")[2])
    assert not described_run_exceeds_reach._is_light("server")


def test_a_text_about_damages_has_their_cue() -> None:
    cues = damages_off_cap._DAMAGES, damages_off_cap._DAMAGE_STARTS
    assert all(has_word(word, *cues) for word in ("LDs: 1 %", "Verzugsschaden", "delay", "pénalités", "late-delivery"))
    assert not has_word("plates are sold undamaged", *cues)
