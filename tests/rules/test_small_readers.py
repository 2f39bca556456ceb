"""What single rules read and print, by hand: numbers on both sides of a limit, one part and several, and each unit."""

from __future__ import annotations

from datetime import date

import pytest

from clusterspec.rules.acceptance.acceptance_misses_tier import _untested_ranks_texts
from clusterspec.rules.acceptance.error_test_too_short import _problem
from clusterspec.rules.catalog.nic_rate_off_technology import _doubled_ports_text
from clusterspec.rules.document import description_off_settings
from clusterspec.rules.fabric.injection_called_bisection import _meaning_text
from clusterspec.rules.fabric.latency_below_light import _times_in
from clusterspec.rules.fleet.fleet_quote_off_bill import _counted_parts_text
from clusterspec.rules.fleet.jobs_split_domains import _can_hold
from clusterspec.rules.knowledge import ranges
from clusterspec.rules.knowledge.fabric_parts import FOUR_TIMES, MANY, is_far_surplus
from clusterspec.rules.knowledge.shared_links import _largest_by_name
from clusterspec.rules.readers.demands.losses import _number_lost
from clusterspec.rules.readers.exchange_rates import _units_of
from clusterspec.rules.readers.plans.floor_loads import _areas_in, _rack_masses
from clusterspec.rules.readers.plans.nightly_windows import _daily_copies
from clusterspec.rules.readers.purchases.reserved_spans import _span_of
from clusterspec.rules.readers.quotes.parts import _is_sum
from clusterspec.rules.readers.results.figure_comparisons import _label
from clusterspec.rules.readers.results.relations import _explanations
from clusterspec.rules.readers.services.caches import _size_of
from clusterspec.rules.readers.services.planned_stops import _stopped_share
from clusterspec.rules.readers.services.request_limits import _body_limits, _limits_of_caps, _limits_of_flags
from clusterspec.rules.readers.statements import plain_findings
from clusterspec.rules.readers.statements.fixed_settings import _is_one_release, _minimum_release
from tests.effort import each


def test_untested_ranks_are_those_of_a_domain_alone_or_of_more_than_any_test() -> None:
    message, advice = _untested_ranks_texts([72, 1152], 72, 16)
    assert "covers 72 ranks and 1,152 ranks: domains have 72 ranks, but the tests use at most 16," in message
    assert advice == "add an all-reduce over 72 and 1,152 ranks"
    message, advice = _untested_ranks_texts([72], 72, 1152)
    assert "a domain of 72 ranks alone: the test over 1,152 ranks also crosses" in message
    assert advice == "add an all-reduce over the 72 ranks of one domain"
    assert "at most 72," in _untested_ranks_texts([1152], 72, 72)[0]  # a test of one domain crosses no fabric


def test_an_error_test_shows_the_confidence_of_its_bits() -> None:
    """1e12 bits at a ratio of 1e-12: 1 - 1/e = 63 %. 3e12 bits at 100 Gb/s take 30 s, and 1e12 show 3e-12."""
    found = _problem((1e12, 1e11), 1e-12, 0.95, 3e12)
    assert "1e+12 bits without an error show a bit error ratio below 1e-12 with 63 % confidence" in found.message
    assert found.message.endswith("95 % take 3e+12 bits, 30 s at 100 Gb/s")
    assert found.help == "run the test longer, or state the 3e-12 that its bits show"
    assert _problem((1e12, 0.0), 1e-12, 0.95, 3e12).message.endswith("95 % take 3e+12 bits")


@each(
    ("found", "wanted"),
    [
        (_doubled_ports_text(100e9, [25e9, 50e9]), "; 800 Gb/s is both directions of a 400 Gb/s port, or two ports"),
        (_doubled_ports_text(100e9, [25e9, 100e9, 200e9]), ""),
        (_meaning_text(True, True, True), ": it is the injection bandwidth"),
        (_meaning_text(False, True, True), ": it is the figure at 1:1"),
        (_meaning_text(False, False, True), ": it is the sum of both directions"),
        (_meaning_text(False, False, False), ""),
        (description_off_settings._value_text(1_209_600, "week"), "2"),
        (ranges._value_text(3.0, ":1"), "3:1"),
        (ranges._value_text(1.0, ":1"), "1:1"),
        (ranges._value_text(0.25, ":1"), "1:4"),
        (ranges._value_text(50e9, "b/s"), "400 Gb/s"),
        (ranges._value_text(0.5, "1"), "0.5"),
        (plain_findings._value_text("cluster.scale_out.nic_bandwidth", "rate", 50e9), "400 Gb/s"),
        (plain_findings._value_text("cluster.storage.read", "rate", 50e9), "50 GB/s"),
        (plain_findings._value_text("procurement.pue", "ratio", 1.25), "1.25:1"),
        (plain_findings._value_text("cluster.nodes", "count", 1250.0), "1,250"),
        (plain_findings._value_text("power", "watts", 10_200.0), "10.2 kW"),
        (_counted_parts_text("switch", {"train": 12, "serve": 1_100}), "12 (train) + 1,100 (serve) = 1,112 switches"),
        (_label("the bus bandwidth, of an algorithm bandwidth of"), "algorithm"),
        (_label("an algorithm bandwidth, with a bus bandwidth of"), "bus"),
        (_label("the rate is"), ""),
    ],
)
def test_words_of_messages(found: str, wanted: str) -> None:
    assert found.startswith(wanted) and bool(found) is bool(wanted)


@each(
    ("parts", "free", "can"),
    [
        ((), (), True),
        ((4,), (4,), True),
        ((4,), (3,), False),
        ((3, 3), (4, 4), True),
        ((3, 3, 2), (4, 4), False),  # 1 and 1 are left, which hold no part of two
        ((2, 2, 2, 2), (4, 4), True),
        ((6, 2), (4, 4), False),
    ],
)
def test_each_part_of_a_job_lies_in_one_domain(parts: tuple[int, ...], free: tuple[int, ...], can: bool) -> None:
    assert _can_hold(parts, free) is can


def test_a_surplus_is_far_beyond_the_limit_in_both_measures() -> None:
    large, small = 10.0 * MANY, MANY / 10
    assert is_far_surplus(FOUR_TIMES * large, large) and not is_far_surplus(FOUR_TIMES * large - 1, large)
    assert not is_far_surplus(FOUR_TIMES * small, small)
    assert not is_far_surplus(MANY, 0) and is_far_surplus(MANY + 1, 0)


@each(
    ("one", "other", "same"),
    [("0.9", "0.9.2", True), ("0.9.2", "0.9", True), ("0.9", "0.10", False), ("2", "2.28.3", True), ("1", "2", False)],
)
def test_a_release_contains_those_that_begin_with_its_numbers(one: str, other: str, same: bool) -> None:
    assert _is_one_release(one, other) is same


@each(
    ("sentence", "own", "wanted"),
    [
        ("NCCL 2.28 or later is installed", "2.27", "2.28"),
        ("NCCL 2.28 or later is installed", "2.28", ""),
        ("At least NCCL 2.9 is needed", "2.10", ""),
        ("NCCL 2.28 is installed", "2.27", ""),
    ],
)
def test_a_least_release_counts_where_the_own_one_is_older(sentence: str, own: str, wanted: str) -> None:
    assert _minimum_release("nccl", [sentence.lower()], own) == wanted.lower()


def test_sizes_masses_areas_and_times_of_sentences() -> None:
    assert sorted(_times_in("it takes 5 µs and 2 ms")) == pytest.approx([5e-6, 2e-3])
    assert list(_areas_in(["The rack is 600 mm x 1200 mm."])) == [0.72]
    assert list(_areas_in(["The rack is 120 x 150 cm, its base 1.44 m²."])) == [1.8, 1.44]
    assert _rack_masses(["A loaded rack weighs 1,500 kg."]) == [1500.0]
    assert _rack_masses(["The pump weighs 200 kg.", "The door weighs 80 kg."]) == []
    assert _largest_by_name([("a", 1.0), ("b", 3.0), ("a", 2.0)]) == {"a": 2.0, "b": 3.0}
    assert _largest_by_name([("a", -1.0)]) == {"a": 0.0}
    assert _size_of("2", "GB") == 2e9
    assert _size_of("2", "Go") == 2e9
    assert [_number_lost(text) for text in ("two nodes fail", "if 2 nodes fail", "a node fails")] == [1, 2, 1]


def test_of_the_readings_of_a_rate_the_one_near_the_usual_counts() -> None:
    assert _units_of("1.085", "EUR", "USD") == 1.085
    assert _units_of("1,085", "EUR", "USD") == 1.085
    assert _units_of("1,450", "USD", "KRW") == 1450.0


def test_a_memory_size_is_a_whole_number_of_accelerators() -> None:
    assert _is_sum(640.0, [80.0]) and _is_sum(80.0, [80.0]) and not _is_sum(200.0, [80.0])
    assert _is_sum(1128.0, [80.0, 141.0]) and _is_sum(282.0, [141.0, 200.0])
    assert _is_sum(144 * 80.0, [80.0]) and not _is_sum(145 * 80.0, [80.0])


def test_a_result_may_be_an_amount_with_one_or_two_other_figures() -> None:
    found = {round(each, 6) for each in _explanations([100.0], [0.2, 4.0])}
    assert found == {100.0, 20.0, 500.0, 400.0, 25.0, 80.0, 125.0, 120.0, 83.333333}


@each(
    ("sentence", "wanted"),
    [
        ("max_model_len=32768", [(32768.0, "request")]),
        ("max-model-len 32k", [(32768.0, "request")]),
        ("max_tokens=2048", [(2048.0, "answer")]),
    ],
)
def test_flags_limit_answers_or_requests(sentence: str, wanted: list[tuple[float, str]]) -> None:
    assert [(each.value, each.of) for each in _limits_of_flags(sentence)] == wanted


def test_bodies_and_caps_limit_requests() -> None:
    bodies = ("limits request bodies to 2 MiB", "limits request bodies to 512 KB", "2 MiB of data")
    assert [[each.value for each in _body_limits(text)] for text in bodies] == [[2 * 1024**2], [512_000.0], []]
    caps = ("Answers are cut at 2,000 tokens by the gateway.", "Answers have 2,000 tokens.")
    assert [[each.value for each in _limits_of_caps(text)] for text in caps] == [[2000.0], []]


def test_stops_spans_and_copies() -> None:
    assert _stopped_share("The whole cluster is down for maintenance for 8 hours once a week.") == pytest.approx(
        8 / 168
    )
    assert _stopped_share("Nodes are down for maintenance in turn for 8 hours once a week.") == 0.0
    span = _span_of("The nodes are reserved from 1 March 2027 to 31 May 2027.")
    assert span is not None and tuple(span) == (date(2027, 3, 1), date(2027, 5, 31))
    assert _span_of("The nodes are reserved from 31 May 2027 to 1 March 2027.") is None
    ((copy, _),) = _daily_copies("Every night 54 TB are copied between 22:00 and 04:00.")
    assert tuple(copy)[:2] == (54e12, 6 * 3600.0)
