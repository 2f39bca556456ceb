"""Quantities, loads and sentences of texts, worked out by hand, each with one that looks alike and is none."""

from __future__ import annotations

import pytest

from clusterspec.rules.fabric import breakout_off_rate
from clusterspec.rules.physical import described_run_exceeds_reach
from clusterspec.rules.procurement import damages_off_cap
from clusterspec.rules.readers.loads import figures_in, percentages_in, times_in, unit_of_capacity
from clusterspec.rules.readers.quantities import MOST_QUANTITIES, sentence_quantities
from clusterspec.rules.readers.services.peaks import peak_in
from clusterspec.rules.readers.written_numbers import has_word, sentences_of
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
    ("2 kFLOP, 2 MFLOP, 2 GFLOP", [(2e3, "FLOP"), (2e6, "FLOP"), (2e9, "FLOP")]),
    ("2 TFLOP/s, 2 PFLOP/s, 2 EFLOP/s", [(2e12, "FLOP/s"), (2e15, "FLOP/s"), (2e18, "FLOP/s")]),
    ("2 ZFLOPs, 2 YFLOP, 2 TFLOPS", [(2e21, "FLOP"), (2e24, "FLOP"), (2e12, "FLOP/s")]),
    ("2 kB, 2 MB, 2 TB, 2 PB, 2 EB, 64 bytes", [(each, "B") for each in (2e3, 2e6, 2e12, 2e15, 2e18, 64.0)]),
    ("2 Stunden, 2 Tage, 1 Tag, 2 min, 1 week", [(each, "s") for each in (7200.0, 172800.0, 86400.0, 120.0, 604800.0)]),
    ("2 months", [(2.0, "")]),  # longer times are no durations of a run
    ("5 k steps, 5 bn tokens, 5 mn tokens", [(5e3, "step"), (5e9, "token"), (5e6, "token")]),
    ("5 b tokens, 5 m tokens, 5 g tokens", [(5e9, "token"), (5e6, "token"), (5e9, "token")]),
    ("5 m of cable, 5 M of cable", [(5.0, ""), (5e6, "")]),
    ("2 mil millones de tokens, 3 thousand steps", [(2e9, "token"), (3e3, "step")]),
    ("1,1 million de jetons par seconde", [(1.1e6, "token/s")]),
    ("100 M held-out tokens, 40 Mio. Validierungs-Token", [(1e8, "token"), (4e7, "token")]),
    ("3.958 TFLOP/s x 0,35", [(3.958e15, "FLOP/s"), (0.35, "")]),
    ("die Rate ist bei Schritt 450.000 null", [(450e3, "")]),
    ("800k tok/s, 2 M tokens every second", [(8e5, "token/s"), (2e6, "token/s")]),
    ("zwanzig Tage, fünfundzwanzig Tage, vingt jours", [(each * 86400.0, "s") for each in (20, 25, 20)]),
    ("eine halbe Stunde, une demi-heure", [(1800.0, "s")] * 2),
    ("3 Mio. Schritte", [(3e6, "step")]),
    ("5 per cent, 5 Prozent, 5 pour cent, 5-%", [(0.05, "%")] * 4),
    ("3 x 10**4 tokens, 3 · 10^4 tokens, 3e4 tokens, 3e-2 s", [(3e4, "token")] * 3 + [(0.03, "s")]),
    ("20 tokens a second, 20 tokens per node", [(20.0, "token/s"), (20.0, "token")]),
    ("MI300X: 8 MI300X, 8 MI250s, 8 B200s", [(8.0, "accelerator"), (8.0, ""), (8.0, "accelerator")]),
    ("x5 nodes, 5.4.3, 12:30 h, 7/8, a_9", [(12.0, ""), (7.0, "")]),
    ("5 steps/s, 5 nodes_old, 5 node-hours", [(5.0, ""), (5.0, ""), (5.0, "node hour")]),
    ("on 2026-11-23, version 1.2.3 of ConnectX-7", []),
]


@each("text, expected", QUANTITIES)
def test_a_quantity_is_its_number_times_its_scale(text: str, expected: list[tuple[float, str]]) -> None:
    found = [(one.value, one.unit) for _, quantities in sentence_quantities(text) for one in quantities]
    assert [unit for _, unit in found] == [unit for _, unit in expected]
    assert [value for value, _ in found] == pytest.approx([value for value, _ in expected])


@each(
    "text, step",
    [("7.05e24 FLOP", 1e22), ("7e24 FLOP", 1e24), ("1,250 steps", 1.0), ("2.5 k steps", 100.0), ("2.50 h", 36.0)],
)
def test_a_quantity_is_exact_to_its_last_digit(text: str, step: float) -> None:
    (((_, (quantity,))),) = sentence_quantities(text)
    assert quantity.step == pytest.approx(step)


def test_a_quantity_agrees_within_two_percent_or_one_digit() -> None:
    (((_, (quantity,))),) = sentence_quantities("100 steps")
    assert quantity.agrees(102.04) and not quantity.agrees(102.05)
    assert quantity.agrees(101.0, 0.0) and not quantity.agrees(101.01, 0.0)


def test_a_long_text_gives_as_many_quantities_as_are_read() -> None:
    text = " ".join(f"{each} nodes," for each in range(2, 300))
    assert sum(len(found) for _, found in sentence_quantities(text)) == MOST_QUANTITIES == 200


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
    ("5 rps, 5 qps, 5 tok/s, 5 t/s", [(5.0, "requests", 1.0)] * 2 + [(5.0, "tokens", 1.0)] * 2),
    ("5 tpm, 5 req/s, 5 rpm", [(5.0, "tokens", 60.0), (5.0, "requests", 1.0), (5.0, "requests", 60.0)]),
    (
        "5 calls an hour, 5 calls / d, 5 calls je Woche",
        [(5.0, "requests", each) for each in (3600.0, 86400.0, 604800.0)],
    ),
    ("5 peticiones a la semana, 5 jobs each month", [(5.0, "requests", 604800.0), (5.0, "documents", 2629800.0)]),
    ("5 of our nodes, 5 big fast old nodes, 6 big fast nodes", [(6.0, "nodes", 0.0)]),
    ("5 k prompts, 1.250 prompts, 1.250 k prompts", [(each, "requests", 0.0) for each in (5e3, 1250.0, 1250.0)]),
    ("one fast engine, two fast engines, one engine", [(2.0, "engines", 0.0), (1.0, "engines", 0.0)]),
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
def test_a_load_is_that_of_the_unit_next_to_it(text: str, expected: str) -> None:
    assert unit_of_capacity(text, figures_in(text)[-1]) == expected


def test_times_and_shares_need_their_unit() -> None:
    assert [one.value for one in times_in("a 24-hour window, 30 min, 5 s/step, 7 nodes")] == [86400.0, 1800.0]
    assert [one.value for one in times_in("5 ms, 2 milliseconds, 3 s, 1 day, 1 week")] == [0.005, 0.002, 3.0, 86400.0]
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
    assert described_run_exceeds_reach._is_optical_standard(word.rpartition("-")[2])
    assert not described_run_exceeds_reach._is_optical_standard("server")


def test_a_text_about_damages_has_their_cue() -> None:
    cues = damages_off_cap._DAMAGES, damages_off_cap._DAMAGE_STARTS
    assert all(has_word(word, *cues) for word in ("LDs: 1 %", "Verzugsschaden", "delay", "pénalités", "late-delivery"))
    assert not has_word("plates are sold undamaged", *cues)


@each(
    ("text", "peak"),
    [
        ("peak " + "x" * 59 + " 70 requests/s", None),  # 61 characters after the word
        ("peak " + "x" * 58 + " 70 requests/s", 70.0),  # 60
        ("70 requests/s " + "x" * 58 + " peak", 70.0),
        ("70 requests/s " + "x" * 59 + " peak", None),
        ("at the peak 70 requests/s, at the launch 90 requests/s", None),  # two peaks
        ("at the peak 70 requests/s, which is 90 requests/s at night", 70.0),
        ("at the peak 70 requests/s per node", None),
    ],
)
def test_a_peak_is_the_figure_within_sixty_characters_of_its_word(text: str, peak: float | None) -> None:
    found = peak_in(text, None)
    assert (found.value if found else None) == peak
