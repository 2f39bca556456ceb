"""Values that several rules share, of records built by hand: domains, peaks, checkpoints, and terms of purchases."""

from __future__ import annotations

from typing import Any

import pytest

from clusterspec.cluster.groups import Placement
from clusterspec.procurement.offered import Offered
from clusterspec.quantity import YEAR, Direction, Quantity, Sparsity
from clusterspec.records import replace
from clusterspec.rules.knowledge.checkpoints import (
    asynchronous_checkpoint_time,
    checkpoint_time,
    saved_bytes,
    stored_checkpoint_time,
)
from clusterspec.rules.knowledge.domains import (
    accelerators_of_tp,
    exceeds_domain,
    ranks_text,
    straddling_groups,
    used_domain,
)
from clusterspec.rules.knowledge.peaks import StatedPeak
from clusterspec.rules.knowledge.spares import unit_of_sale, whole_units
from clusterspec.rules.procurement.conversion_off_rate import _is_within_factor_two
from clusterspec.rules.readers.clauses import clause_at, items_of, planned_text
from clusterspec.rules.readers.figure_slips import input_rounding, is_near, rounding_of
from clusterspec.rules.readers.purchases.orders import bought_pools, contracted_power
from clusterspec.rules.readers.purchases.warranties import covered_time, is_covered_by_price, time_in_turn
from clusterspec.rules.readers.quotes.units import unit_of_line
from clusterspec.rules.readers.stated_figures import _is_figure, stated_figures
from clusterspec.rules.readers.statements.machine_counts import _is_year
from clusterspec.rules.readers.tokens import tokens_of
from clusterspec.rules.readers.windows import are_links, long_times, windows
from clusterspec.spec.model import (
    CheckpointSpec,
    NetworkSpec,
    NetworksSpec,
    OperationsSpec,
    ProcurementSpec,
    QuoteLine,
    SupportSpec,
)
from tests.designs import SERVED, TRAINED, layout_of, machine_of, work_of
from tests.effort import each


@each(
    ("tp", "ranks", "accelerators", "exceeds"),
    [(1, 1, 1, False), (8, 1, 8, False), (9, 1, 9, True), (16, 2, 8, False), (17, 2, 9, True), (3, 2, 2, False)],
)
def test_a_tp_group_takes_accelerators_of_one_domain_in_whole(
    tp: int, ranks: int, accelerators: int, exceeds: bool
) -> None:
    """A domain of 8; of accelerators with two ranks a group takes half as many, rounded up."""
    cluster, layout = replace(machine_of(TRAINED), ranks_per_accelerator=ranks), replace(layout_of(TRAINED), tp=tp)
    assert accelerators_of_tp(cluster, layout) == accelerators
    assert exceeds_domain(cluster, layout) is exceeds
    assert used_domain(cluster, replace(layout, nodes_per_domain=None)) == 8 * ranks
    assert used_domain(cluster, replace(layout, nodes_per_domain=3)) == 24 * ranks


@each(
    ("groups", "straddling", "domains", "text"),
    [
        (1, 1, 3, "the dp cp group spans 3 scale-up domains"),
        (1, 1, 1, "the dp cp group spans several scale-up domains"),
        (4, 4, 2, "all 4 dp cp groups span 2 scale-up domains (the first: ranks 0–7)"),
        (2000, 1500, 2, "1,500 of 2,000 dp cp groups span 2 scale-up domains (the first: ranks 0–7)"),
        (4, 1, 2, "1 of 4 dp cp groups spans 2 scale-up domains (the first: ranks 0–7)"),
    ],
)
def test_groups_across_domains_are_counted(groups: int, straddling: int, domains: int, text: str) -> None:
    placed = Placement("dp_cp", 8, groups, straddling, tuple(range(8)), domains, 4, 4, 2, 4, 4, 4, 1, 0, (), False)
    assert straddling_groups(placed) == text


def test_ranks_are_a_range_from_three_in_a_row_on() -> None:
    assert [ranks_text(ranks, len(ranks)) for ranks in ((4,), (4, 5), (4, 5, 6), (4, 5, 7), (4, 6, 8, 10))] == [
        *("4", "4, 5", "4–6", "4, 5, 7", "4, 6, 8 …")
    ]
    assert ranks_text((0, 1, 2, 3), 64) == "0–63", "the first ranks of a long group are kept"


PEAKS = {"bf16": 1000e12, "fp8": 2000e12, "fp32": 60e12}


def stated(value: float, sparsity: Sparsity, precision: str = "bf16", **more: Any) -> StatedPeak:
    quantity = Quantity(value, "FLOP/s", "as written", sparsity=sparsity)
    return StatedPeak("workload.peak_flops", quantity, precision, "entry", PEAKS, **more)


@each(
    ("tflops", "sparsity", "ratio", "is_sparse"),
    [
        (1000, Sparsity.DENSE, 1.0, False),
        (2000, Sparsity.DENSE, 2.0, True),
        (1500, Sparsity.DENSE, 1.5, False),
        (2000, Sparsity.SPARSE, 1.0, False),
        (4000, Sparsity.SPARSE, 2.0, False),  # it is declared sparse
    ],
)
def test_a_peak_is_compared_as_dense(tflops: float, sparsity: Sparsity, ratio: float, is_sparse: bool) -> None:
    found = stated(tflops * 1e12, sparsity)
    assert (found.ratio, found.is_sparse) == (ratio, is_sparse)
    assert not stated(tflops * 1e12, sparsity, skips_zeros=False).is_sparse


def test_a_peak_of_fp16_is_that_of_bf16_where_the_entry_has_none() -> None:
    half = stated(1000e12, Sparsity.DENSE, "fp16")
    assert (half.catalog_peak, half.ratio) == (1000e12, 1.0)
    assert half.peaks_of_other_precisions.keys() == {"fp8", "fp32"}
    assert stated(1e15, Sparsity.DENSE).peaks_of_other_precisions.keys() == {"fp8", "fp32"}
    assert stated(1e15, Sparsity.DENSE, "fp8").peaks_of_other_precisions.keys() == {"bf16", "fp32"}
    unknown = stated(1e15, Sparsity.DENSE, "fp4")
    assert (unknown.catalog_peak, unknown.ratio) == (None, 1.0)


def store(**keys: Any) -> NetworksSpec:
    return NetworksSpec(storage=NetworkSpec(**keys))


def rate(gigabytes: float, direction: Direction | None = None) -> Quantity:
    return Quantity(gigabytes * 1e9, "B/s", f"{gigabytes:g} GB/s", direction=direction)


SIZE = 14 * 8_030_261_248
"""Bytes of a checkpoint of Llama 3.1 8B: weights in bf16, weights and two moments in fp32."""


def test_a_checkpoint_takes_the_time_of_its_bytes_unless_a_time_is_stated() -> None:
    model, work = work_of(TRAINED).model, work_of(TRAINED)
    assert saved_bytes(model, work) == SIZE
    assert saved_bytes(None, work) is None
    networks, operations = store(bandwidth=rate(40), read=rate(80)), OperationsSpec()
    for reads, seconds in ((False, SIZE / 40e9), (True, SIZE / 80e9)):
        found = stored_checkpoint_time(networks, model, work, None, reads=reads)
        assert found is not None and found.seconds == pytest.approx(seconds) and found.size == SIZE
        assert (found.store, found.behind_clients) == ("80 GB/s" if reads else "40 GB/s", False)
    of_both = stored_checkpoint_time(store(bandwidth=rate(40, Direction.DUPLEX)), model, work, None)
    assert of_both is not None and of_both.seconds == pytest.approx(SIZE / 20e9)
    for lacking in (None, NetworksSpec(), store(), store(bandwidth=rate(0))):
        assert stored_checkpoint_time(lacking, model, work, None) is None
    assert checkpoint_time(operations, networks, model, work_of(SERVED), None) is None
    computed = checkpoint_time(operations, networks, model, work, None)
    assert computed is not None and computed.seconds == pytest.approx(SIZE / 40e9)


def test_clients_below_the_storage_system_are_its_limit_from_a_thousandth_on() -> None:
    """Two nodes: 20 GB/s each reach 40, 19.97 each 39.94; one file is opened for each of the 16 ranks."""
    model, work, layout = work_of(TRAINED).model, work_of(TRAINED), layout_of(TRAINED)
    for each_client, behind in ((25.0, False), (19.99, False), (19.97, True)):
        networks = store(bandwidth=rate(40), per_client=rate(each_client), metadata_rate=100.0)
        found = stored_checkpoint_time(networks, model, work, layout)
        assert found is not None and found.behind_clients is behind
        assert found.store.startswith("39.9 GB/s (2 clients of 20 GB/s each)" if behind else "40 GB/s")
        assert found.store.endswith(" after creating 16 files at 100 a second")
        assert found.seconds == pytest.approx(SIZE / min(40e9, 2e9 * each_client) + 0.16)
    read = stored_checkpoint_time(store(bandwidth=rate(40), metadata_rate=100.0), model, work, layout, reads=True)
    assert read is not None and read.store == "40 GB/s after opening 16 files at 100 a second"
    assert read.seconds == pytest.approx(SIZE / 40e9 + 0.16)


def test_training_waits_for_a_checkpoint_unless_it_is_asynchronous() -> None:
    model, work, networks = work_of(TRAINED).model, work_of(TRAINED), store(bandwidth=rate(40))
    minute = Quantity(60.0, "s", "1 min")
    behind = OperationsSpec(checkpoint=CheckpointSpec(mode="asynchronous", write_time=minute))
    assert checkpoint_time(behind, networks, model, work, None) is None
    found = asynchronous_checkpoint_time(behind, networks, model, work, None)
    assert found is not None and found.seconds == 60.0
    computed = OperationsSpec(checkpoint=CheckpointSpec(mode="asynchronous"))
    found = asynchronous_checkpoint_time(computed, networks, model, work, None)
    assert found is not None and found.seconds == pytest.approx(SIZE / 40e9)
    assert asynchronous_checkpoint_time(computed, networks, model, work_of(SERVED), None) is None
    assert asynchronous_checkpoint_time(OperationsSpec(), networks, model, work, None) is None


def years(number: float) -> Quantity:
    return Quantity(number * YEAR, "s", f"{number:g} years")


@each(
    ("support", "warranty", "in_turn", "covered"),
    [(3, 2, 5, 3), (2, 3, 5, 3), (None, 2, 0, 2), (3, None, 0, 3), (None, None, 0, None)],
)
def test_a_warranty_and_a_support_cover_repairs_together_or_in_turn(
    support: float | None, warranty: float | None, in_turn: float, covered: float | None
) -> None:
    bought = ProcurementSpec(
        support=SupportSpec(term=years(support)) if support else None, warranty=years(warranty) if warranty else None
    )
    assert time_in_turn(bought) == pytest.approx(in_turn * YEAR)
    found = covered_time(bought)
    assert found == (covered and pytest.approx(covered * YEAR))


@each(
    ("keys", "paid"),
    [
        ({}, False),
        ({"prices": {"support_per_year": 0.03}}, True),
        ({"prices": {"node": 300000}}, False),
        ({"quote": (QuoteLine(part="Care Pack, 3 years"),)}, True),
        ({"quote": (QuoteLine(part="Freight"), QuoteLine())}, False),
        ({"quote": (QuoteLine(part="Warranty"),), "support": SupportSpec(term=years(3))}, False),  # covers its own term
        ({"quote": (QuoteLine(part="Warranty"),), "support": SupportSpec()}, True),
    ],
)
def test_support_without_a_term_is_paid_for_by_prices_or_lines(keys: dict[str, Any], paid: bool) -> None:
    assert is_covered_by_price(ProcurementSpec(**keys)) is paid


def offered(part: str, quantity: float = 1, kind: str = "other") -> Offered:
    return Offered(0, kind, QuoteLine(part=part, quantity=quantity))


@each(
    ("part", "kind", "unit"),
    [
        ("Support per node", "other", "node"),
        ("License / GPU", "other", "accelerator"),
        ("Integration, each rack", "other", "rack"),
        ("Support by the switch", "other", "switch"),
        ("Support per node", "node", ""),  # of the bill
        ("NVAIE, 3 years", "other", "accelerator"),
        ("Server with NVAIE", "other", ""),  # included
        ("NVMe 3.84 TB, 8 a system", "other", ""),
        ("NVMe 3.84 TB, two per server", "other", ""),
        ("200 hours of engineering per node", "other", ""),
        ("Freight", "other", ""),
    ],
)
def test_a_line_is_sold_by_the_unit_of_its_words(part: str, kind: str, unit: str) -> None:
    assert unit_of_line(offered(part, kind=kind)) == unit


@each(
    ("quoted", "remarks", "pools"),
    [
        (4, "The nodes of the other pool exist.", {"train"}),
        (8, "The nodes of the other pool exist.", {"serve"}),
        (12, "The nodes of the other pool exist.", {"train", "serve"}),
        (5, "The nodes of the other pool exist.", {"train", "serve"}),  # of no pool
        (4, "Four nodes.", {"train", "serve"}),
    ],
)
def test_the_pools_that_are_bought_are_those_whose_nodes_are_quoted(quoted: int, remarks: str, pools: set[str]) -> None:
    lines = [offered("server", quoted, "node"), offered("cable", 4, "cable")]
    assert bought_pools({"train": 4, "serve": 8}, lines, remarks) == pools
    many = {str(number): 2**number for number in range(9)}
    assert bought_pools(many, lines, remarks) == set(many), "too many pools to try all subsets"


def test_pools_of_the_same_number_of_nodes_are_not_told_apart() -> None:
    lines, both = [offered("server", 4, "node")], {"train": 4, "serve": 4}
    assert bought_pools(both, lines, "The nodes of the other pool exist.") == set(both)


@each(
    ("part", "watts"),
    [
        ("Colocation, 400 kW, per kW", [400e3]),
        ("Colo rack 17 kW, per rack", []),
        ("Colocation of 400 kW, at most 500 kW", []),  # two amounts
        ("Cooling, 400 kW", []),
    ],
)
def test_the_contracted_power_is_the_only_amount_of_a_line(part: str, watts: list[float]) -> None:
    found = contracted_power([QuoteLine(part="Freight"), QuoteLine(part=part)])
    assert found == [(("procurement", "quote", 1, "part"), each_watts) for each_watts in watts]


def test_platforms_are_sold_in_units() -> None:
    assert unit_of_sale(machine_of(TRAINED)) == 1
    rack = machine_of("cluster: {platform: gb200-nvl72, nodes: 36}")
    assert unit_of_sale(rack) == 18
    assert unit_of_sale(replace(rack, platform=None)) == 1
    assert [whole_units(nodes, 18) for nodes in (1, 18, 19)] == [18, 18, 36]


@each(
    ("text", "is_figure"),
    [
        ("1989 GPUs", True),
        ("1990 GPUs", False),  # a year
        ("2100 GPUs", False),
        ("2101 GPUs", True),
        ("2,000 GPUs", True),
        ("2000 GB", True),
        ("0 GPUs", False),
        ("8 GPUs", True),
        ("2000GPUs", False),
        ("8xH100", False),  # a part of a name
        ("7B model", False),
        ("400G links", True),
        ("400Gb/s", True),
    ],
)
def test_a_number_is_a_figure_unless_it_is_zero_a_year_or_joined_to_a_word(text: str, is_figure: bool) -> None:
    assert _is_figure(tokens_of(text), 0) is is_figure


def test_the_rounding_of_a_figure_is_half_of_its_last_digit_and_at_most_a_twentieth() -> None:
    figures = [stated_figures(text)[0] for text in ("20 GB", "400 Gb/s", "8 nodes", "2.5 TB")]
    assert [rounding_of(one) for one in figures] == pytest.approx([0.05, 0.05, 0.05, 0.02])
    assert [input_rounding([one]) for one in figures] == pytest.approx([0, 0, 0, 0.02]), "whole numbers are exact"
    assert input_rounding([figures[3], figures[3]]) == pytest.approx(0.04)


def test_figures_are_near_within_a_tolerance_of_the_second() -> None:
    assert [is_near(one, 4.0, 0.25) for one in (2.9, 3.0, 4.0, 5.0, 5.1)] == [False, True, True, True, False]
    assert not is_near(1.0, 0.0, 1.0)


@each(
    ("sentence", "days"),
    [
        ("for three months or 2 years", [91.3125, 730.5]),
        ("1,5 Jahre", [547.875]),
        ("twenty months", [608.75]),
        ("zero months, some years", []),
        ("in v1.2 months", []),
    ],
)
def test_months_and_years_are_read_in_words_and_digits(sentence: str, days: list[float]) -> None:
    assert [found.value / 86400 for found in long_times(sentence)] == pytest.approx(days)


def test_windows_are_sentences_first_and_then_neighbors() -> None:
    text = "A save takes 45 s. It waits. It comes every 10 min."
    found = [(window.sentences, len(window.quantities), window.text) for window in windows(text)]
    assert [each_window[:2] for each_window in found] == [(1, 1), (1, 1), (2, 1), (2, 1)]
    joined = list(windows(text, 3))[-1]
    assert joined.sentences == 3
    assert [joined.text[one.start : one.end] for one in joined.quantities] == ["45 s", "10 min"]
    assert [joined.sentence_of(one) for one in joined.quantities] == ["A save takes 45 s", "It comes every 10 min."]


def test_words_between_two_figures_link_them_up_to_sixty_characters() -> None:
    words = frozenset({"of", "which"})
    assert are_links(", of which (", words) and not are_links(" of the ", words)
    assert are_links(" " * 60, words) and not are_links(" " * 61, words)


def test_a_clause_without_other_words_takes_the_one_before_it() -> None:
    text = "| run | 8 days | old run | 9 days |"
    assert clause_at(text, 8, 14) == "run | 8 days"
    assert clause_at(text, 27, 33) == "old run | 9 days"
    assert clause_at("It has approx. 64 GPUs. It waits", 15, 22) == "It has approx. 64 GPUs"
    assert items_of("Order: - 4 nodes\n• 2 spares") == ["Order:", "4 nodes", "2 spares"]
    former = "It was 4 nodes; it is 8."
    assert (planned_text(former), planned_text(former, past=False)) == (former, " it is 8.")


@each(
    ("found", "units", "within"),
    [
        (150.0, 150.0, True),
        (75.0, 150.0, False),
        (76.0, 150.0, True),
        (299.0, 150.0, True),
        (300.0, 150.0, False),
        (0.5, 0.9, True),
        (2.0, 0.9, False),
        (1 / 150, 150.0, False),  # the other direction
    ],
)
def test_a_rate_is_near_another_within_a_factor_of_two(found: float, units: float, within: bool) -> None:
    """Units of a currency for one of another, such as 150 yen for a dollar."""
    assert _is_within_factor_two(found, units) is within


@each(
    ("before", "digits", "is_year"),
    [
        (["of"], "2009", False),
        (["of"], "2010", True),
        (["since"], "2035", True),
        (["of"], "2036", False),
        (["of"], "2,021", False),
        (["has"], "2016", False),
        ([], "2016", False),
    ],
)
def test_four_digits_behind_a_word_of_time_are_a_year(before: list[str], digits: str, is_year: bool) -> None:
    assert _is_year(before, digits) is is_year
