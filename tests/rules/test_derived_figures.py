"""Figures of texts are derived from the others of their text by the formulas of the field.

In ``derived_figures.txt`` `-` begins a text with a figure that differs by a known mistake from the right one, which
stands with the mistake after a bar, and `+` a text whose figures are right, among those of other machines, offers, days
and conventions.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from clusterspec.rules.readers.figure_slips import BINARY, BITS_CALLED_BYTES, DIGIT, PREFIX, TENTH
from clusterspec.rules.readers.numerals import language_of, numerals_of, with_digits
from clusterspec.rules.readers.results.figure_comparisons import COMPLEMENT, INVERTED
from clusterspec.rules.readers.results.figure_derivations import ROUNDED
from clusterspec.rules.readers.results.underived_figures import underived_figures
from tests.effort import each

LINES = Path(__file__).with_name("derived_figures.txt").read_text("utf-8").splitlines()

RIGHT = [
    # 16 x 2 x 200 Gb/s = 6.4 Tb/s = 0.8 TB/s
    ("Sixteen nodes with two ports of 200 Gb/s each draw 6.4 TB/s together.", "0.8 TB/s", BITS_CALLED_BYTES),
    # 320 KiB x 131,072 = 40 GiB = 42.95 GB
    ("A token takes 320 KiB, and 131,072 tokens take 40 GB.", "42.95 GB", BINARY),
    # 2e12 / (512 x 8,192) = 476,837
    ("Of 2 trillion tokens a step has 512 sequences of 8,192 tokens, hence 47,700 steps.", "476,837 steps", PREFIX),
    # 16 / 3 = 5.33, rounded up
    ("A rack takes 3 nodes, so the 16 nodes stand in 5 racks.", "6 racks", ROUNDED),
    # 360 / (2 x 31 / 32) = 185.8
    ("An all-reduce on 32 ranks has a busbw of 360 GB/s, hence an algbw of 697.5 GB/s.", "185.8 GB/s", INVERTED),
    # 310 x 63 / 64 = 305.2
    ("An all-gather on 64 ranks has an algbw of 310 GB/s, hence a busbw of 314.9 GB/s.", "305.2 GB/s", INVERTED),
    # 21,248,000 - 19,993,600 = 1,254,400
    ("A asks 19,993,600 USD and B 21,248,000 USD, so A is 1,454,400 USD cheaper.", "1,254,400 USD", DIGIT),
    # 653 kW x 8,760 h x 0.14 EUR/kWh = 800,839 EUR
    ("At 0.14 EUR per kWh 653 kW over 8,760 hours cost 80,100 EUR.", "800,839 EUR", PREFIX),
    # 3.2 Tb/s / 8 = 400 GB/s
    ("A node sends 3.2 Tb/s, i.e. 320 GB/s.", "400 GB/s", TENTH),
    # 1 - 41 / 98 = 58.2 %
    ("Now it is 98 USD an hour, later it costs 41, which is 42 % less.", "58.16 %", COMPLEMENT),
    # 6 / s x 25 s = 150
    ("6 requests arrive per second and stay 25 seconds, so 250 requests are in flight.", "150 requests", DIGIT),
    # 238,000 - 190,000 = 48,000
    ("From step 190,000 to step 238,000 it decays, which takes 58,000 steps.", "48,000 steps", DIGIT),
    # 980 / 140 = 7
    ("Writing 980 GB at 140 GB/s takes 70 seconds.", "7 seconds", PREFIX),
    # 141 / 4 = 35.25
    ("The weights take 141 GB on 4 GPUs, that is 3.5 GB per GPU.", "35.25 GB per GPU", PREFIX),
    # 4 million / 8 s = 0.5 million
    ("With 4 million tokens a step and 8 s a step it has 5.0 M tokens per second.", "0.5 M tokens per second", PREFIX),
]  # fmt: skip


@each("line", LINES)
def test_a_wrong_figure_is_found_and_no_right_one(line: str) -> None:
    """64 x 8 x 50 GB/s = 25.6 TB/s; 3e12 / 4,194,304 = 715,256; 360 / (2 x 63 / 64) = 182.9; 12 x 41 x 8,760 are
    4,309,920.
    """
    text, bar, wanted = line[2:].partition(" | ")
    found = [f"{each.right}: {each.slip}" for each in underived_figures(text, (), tuple)]
    assert found == [wanted] if bar else bool(found) is (line[0] == "-")


@pytest.mark.parametrize(("text", "right", "slip"), RIGHT)
def test_the_right_figure_and_the_mistake_are_named(text: str, right: str, slip: str) -> None:
    assert [(each.right, each.slip) for each in underived_figures(text, (), tuple)] == [(right, slip)]


def test_a_key_or_another_figure_of_the_text_explains_a_result() -> None:
    text = "Sixteen nodes with two ports of 200 Gb/s each draw 6.4 TB/s together."
    assert [*underived_figures(text, (), lambda: [6.4e12])] == []
    assert [*underived_figures(f"{text} The vendor states 6.4 TB/s.", (), tuple)] == []


def test_a_bound_and_a_figure_of_another_plan_are_no_results() -> None:
    for text in (
        "Sixteen nodes draw 10.2 kW each, hence at most 16.3 kW in a row.",
        "Sixteen nodes draw 10.2 kW each; the former machine drew 16.3 kW together.",
    ):
        assert [*underived_figures(text, (), tuple)] == [], text
    assert [*underived_figures("Sixteen nodes draw 10.2 kW each, hence 16.3 kW together.", (), tuple)] != []


def test_the_nodes_of_the_plan_are_a_factor_of_all_nodes() -> None:
    # 32 x 2 x 200 Gb/s = 12.8 Tb/s = 1.6 TB/s
    text = "Each node has two ports of 200 Gb/s, so that the nodes together draw 12.8 TB/s."
    (found,) = underived_figures(text, (32, 256, 8), tuple)
    assert (found.right, found.calculation) == ("1.6 TB/s", "200 Gb/s × 2 ports × 32 nodes")


def test_numbers_in_words_of_seven_languages() -> None:
    words = {
        "en": ("ninety-nine", 99), "de": ("siebenundsechzig", 67), "fr": ("soixante-dix-sept", 77),
        "es": ("veintidós", 22), "it": ("trentuno", 31), "nl": ("achtenveertig", 48), "pt": ("dezesseis", 16),
    }  # fmt: skip
    assert {language: numerals_of(language)[word] for language, (word, _) in words.items()} == {
        language: number for language, (_, number) in words.items()
    }
    assert with_digits("Os trinta e dois nós e os quatro armários") == "Os 32 nós e os 4 armários"
    assert (
        with_digits("Die Knoten sind zu dritt, elf Racks und die zwölfte")
        == "Die Knoten sind zu dritt, 11 Racks und die zwölfte"
    )
    assert language_of("De twaalf knooppunten van het cluster zijn er niet voor") == "nl"


def test_figures_without_a_value_are_no_results() -> None:
    # 100 % less 100 % of 5,000 USD is nothing, by which no result is divided
    assert [*underived_figures("A discount of 100 % on 5,000 USD leaves 3,000 USD, and 0 GB of 0 GB.", (), tuple)] == []
