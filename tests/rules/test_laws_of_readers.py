"""What readers of texts take from a sentence, and which parts of a design a rule is given."""

from __future__ import annotations

from typing import Any

import pytest

from clusterspec.catalog import Catalog
from clusterspec.catalog.models import Model
from clusterspec.rules.networks.data_exceeds_store import _kept_checkpoints_in
from clusterspec.rules.readers.amounts import amounts_in
from clusterspec.rules.readers.quantities import sentence_quantities
from clusterspec.rules.readers.stated_figures import stated_figures
from clusterspec.rules.readers.statements import named_choices
from clusterspec.studies import study_text
from tests.effort import each
from tests.settings import SETTINGS


@pytest.mark.parametrize(
    ("sentence", "kept"),
    [
        ("The last 100 checkpoints are kept", 100),
        ("The last 2 checkpoints are kept", 2),
        ("The last 1 checkpoint is kept", 1),
        ("Checkpoints older than two days are deleted", 96),  # of half an hour each
        ("The last 10 checkpoints and 3 checkpoints of each week are kept", None),
        ("All of the text is kept for two days", None),
    ],
)
def test_checkpoints_are_kept_by_their_only_count_or_time(sentence: str, kept: int | None) -> None:
    found = _kept_checkpoints_in(sentence, 1800.0)
    assert (found[0] if found else None) == kept


@pytest.mark.parametrize(
    ("ids", "told"),
    [
        (("llama-3.1-70b",), True),
        (("llama-3.1-8b",), False),
        (("llama-3-8b",), False),  # of the same layers and widths
        (("llama-3.1-70b", "llama-3-8b"), False),  # a name of several sizes, of which one is the own
        (("llama-3.1-70b", "llama-3.1-405b"), True),
    ],
)
def test_a_name_that_may_be_of_the_own_shape_is_no_other_model(ids: tuple[str, ...], told: bool) -> None:
    catalog = Catalog.open()
    own = catalog.get("model", "llama-3.1-8b")
    assert isinstance(own, Model)
    assert named_choices._other_model([("Llama", ids, True)], own, catalog) == ("Llama" if told else "")


@pytest.mark.parametrize(
    ("sections", "placed"),
    [
        ("cluster: {platform: dgx-h100, nodes: 4}\nworkload: WORK\nlayout: {tp: 2}\n", True),
        ("cluster: {platform: dgx-h100, nodes: 4}\nworkload: WORK\n", False),
        ("cluster: {platform: dgx-h100, nodes: 4}\n", False),
        ("workload: WORK\n", False),
    ],
)
def test_groups_are_placed_where_a_design_has_a_machine_and_a_layout(sections: str, placed: bool) -> None:
    work = "{model: llama-3.1-8b, sequence_length: 8192, global_batch: 128}"
    facts: Any = study_text(f"clusterspec: 1\n{sections.replace('WORK', work)}", SETTINGS).facts()
    assert (facts.placements is not None) is placed
    assert (facts.design.cluster is not None and facts.design.layout is not None) is placed


BYTES, RATE, SECONDS, PER_SECOND, WATTS = (0, 0, 0, 1), (0, 0, -1, 1), (0, 0, 1, 0), (0, 0, -1, 0), (0, 1, 0, 0)
PLAIN = (0, 0, 0, 0)


@each(
    ("text", "value", "dimensions", "noun", "per"),
    [
        ("400G ports", 400e9 / 8, RATE, "", ""),
        ("989 TFLOPS of each GPU", 989e12, PLAIN, "flop", ""),
        ("300 EFLOP", 300e18, PLAIN, "flop", ""),
        ("2 million GB of logs", 2e15, BYTES, "", ""),
        ("1.5 millions d'octets", 1.5e6, BYTES, "", ""),
        ("80 Go de mémoire", 80e9, BYTES, "", ""),
        ("80 Gio de mémoire", 80 * 2**30, BYTES, "", ""),
        ("2 minuti", 120.0, SECONDS, "", ""),
        ("3 seconden per stap", 3.0, SECONDS, "", "step"),
        ("64 000 nœuds", 64_000.0, PLAIN, "node", ""),
        ("2 Mrd. Token", 2e9, PLAIN, "token", ""),
        ("30 kW per rack", 30e3, WATTS, "", "rack"),
        ("8 GPUs per node", 8.0, PLAIN, "accelerator", "node"),
        ("40 GB/s per GPU", 40e9, RATE, "", "accelerator"),
        ("3 million tokens a day", 3e6 / 86_400, PER_SECOND, "token", ""),
        ("5 M requests per hour", 5e6 / 3600, PER_SECOND, "request", ""),
        ("90 % of the nodes", 0.9, PLAIN, "", ""),
    ],
)
def test_a_figure_has_the_value_the_unit_and_the_thing_of_its_words(
    text: str, value: float, dimensions: tuple[int, ...], noun: str, per: str
) -> None:
    (found,) = stated_figures(text)
    assert (found.dimensions, found.noun, found.per) == (dimensions, noun, per)
    assert found.value == pytest.approx(value)


@each(
    ("text", "rounding"),
    [
        ("64 nodes", 0.0),  # a count is exact
        ("652 kW", 0.5 / 652),
        ("650 kW", 5 / 650),
        ("1.5 TB", 0.05 / 1.5),
        ("2 million tokens", 0.5 / 2),
        ("2.5 nodes", 0.05 / 2.5),
    ],
)
def test_a_figure_is_rounded_to_half_of_its_last_digit(text: str, rounding: float) -> None:
    (found,) = stated_figures(text)
    assert found.rounding == pytest.approx(rounding)


MINUTE, HOUR, DAY = 60.0, 3600.0, 86_400.0


@each(
    ("words", "seconds"),
    [
        ("half a day", 0.5 * DAY),
        ("half an hour", 0.5 * HOUR),
        ("two and a half hours", 2.5 * HOUR),
        ("deux heures et demie", 2.5 * HOUR),
        ("an hour and a half", 1.5 * HOUR),
        ("zwei Wochen", 14 * DAY),
        ("ten days", 10 * DAY),
        ("eleven minutes", 11 * MINUTE),
        ("thirty days", 30 * DAY),
        ("twenty-five minutes", 25 * MINUTE),
    ],
)
def test_a_time_in_words_is_the_same_for_both_readers(words: str, seconds: float) -> None:
    sentence = f"It takes {words}."
    assert [one.value for one in amounts_in(sentence)] == [seconds]
    assert [one.value for _, found in sentence_quantities(sentence) for one in found] == [seconds]


@each(
    ("words", "seconds"),
    [
        ("a half day", 0.5 * DAY),
        ("a quarter of an hour", 0.25 * HOUR),
        ("an hour", HOUR),
        ("twenty five minutes", 25 * MINUTE),
    ],
)
def test_amounts_have_times_of_an_article_and_of_parts(words: str, seconds: float) -> None:
    assert [one.value for one in amounts_in(f"It takes {words}.")] == [seconds]
    assert amounts_in("It takes three quarters of an hour.")[-1].value == 0.75 * HOUR


@each(
    ("words", "amounts"),
    [
        ("90 GB per day", [(90e9 / DAY, "B/s")]),
        ("90 GB each day", [(90e9 / DAY, "B/s")]),
        ("90 GB/s", [(90e9, "B/s")]),
        ("90 GB per node", [(90e9, "B")]),
        ("90 GB in a day", [(90e9, "B"), (DAY, "s")]),
        ("90 GB per", [(90e9, "B")]),  # a text that ends there
        ("90 GB", [(90e9, "B")]),
    ],
)
def test_a_size_is_a_rate_where_a_time_follows_the_word_per(words: str, amounts: list[tuple[float, str]]) -> None:
    found = amounts_in(words)
    assert [one.kind for one in found] == [kind for _, kind in amounts]
    assert [one.value for one in found] == pytest.approx([value for value, _ in amounts])


@pytest.mark.parametrize("words", ["zweieinhalb Tage", "two and a half days"])
def test_a_half_within_a_word_counts(words: str) -> None:
    assert [one.value for _, found in sentence_quantities(words) for one in found] == [2.5 * DAY]
