from __future__ import annotations

from math import exp

import pytest

from clusterspec.analysis.facility import facility
from clusterspec.cost.estimate import estimate
from clusterspec.cost.power import drawn_power
from clusterspec.cost.term import Term
from clusterspec.procurement.bill import bill
from clusterspec.procurement.cost import Cost, _distinct_assumptions, cost, costs_by_use, yearly_costs
from clusterspec.procurement.neighbor import cheaper_neighbor
from clusterspec.quantity import YEAR
from tests.cluster.resolving import clean, resolve_text
from tests.cost.expressions import evaluate
from tests.effort import telling
from tests.spec_keys import unknown_keys

OWNED = """
cluster:
  platform: dgx-h100
  nodes: 31
  spare_nodes: 1
  scale_out: {technology: infiniband-ndr, topology: rail-optimized}
  power: {node: 10 kW, switch: 1.5 kW, rack_overhead: 500 W, nodes_per_rack: 4}
workload: {model: llama-3.1-8b, sequence_length: 8192, global_batch: 496, tokens: 1T}
layout: {tp: 2, pp: 1, micro_batch: 1}
operations: {mean_time_between_failures: 20 h, checkpoint_interval: 1 h, checkpoint_time: 36 s, restart_time: 12 min}
procurement:
  currency: USD
  as_of: 2026-11-01
  term: 4 years
  prices: {node: [200000, 300000], leaf_switch: 30000, spine_switch: 30000, cable: 1000, transceiver: 1000,
           rack: 5000, storage: 100000, support_per_year: 250000, rack_per_month: 2000}
  electricity: 0.10
  pue: 1.25
  utilization: 0.8
"""


EACH = 365.25 / 54 / 16_384
"""Failures in a year and accelerator of a cause with one interruption in the Llama 3 run."""
OF_YEAR = 248 * (268 + 7 + 63 + 46) * EACH + 248 * (0.0001 + 2 * 0.0034) + 8 * 0.0061 + 8 * 0.02
"""Failures of the job in a year: accelerators, NICs, software and nodes, a link of each NIC, leaves, racks."""
RESTART = 720 + (8 * 0.0061 * 86_400 + 8 * 0.02 * 21_600) / OF_YEAR
"""Seconds of a mean restart of `OWNED`: 12 min, and a day of the leaves and 6 h of the racks of four nodes, which one
spare node does not replace."""


def costs(text: str) -> Cost:
    design = clean(text)
    found = cost(design, estimate(design), bill(design))
    assert found is not None
    return found


def part(found: Cost, name: str) -> Term:
    assert found.total is not None
    return next(each for each in found.total.parts if each.name == name)


def test_capital_is_every_line_of_the_bill() -> None:
    # 32 nodes × 200,000–300,000; 8 leaves and 4 spines × 30,000; 512 cables and 512 modules × 1,000; 8 racks; the store
    rest = 12 * 30_000 + 512 * 1_000 + 512 * 1_000 + 8 * 5_000 + 100_000
    capital = part(costs(OWNED), "capital")
    assert capital.value == 32 * 250_000 + rest
    assert (capital.low, capital.high) == (32 * 200_000 + rest, 32 * 300_000 + rest)


def test_energy_is_power_times_pue_hours_utilization_and_price() -> None:
    # 32 × 10 kW + 12 × 1.5 kW + 8 × 0.5 kW = 342 kW of nameplates. As drawn, 31 nodes work for 0.8 of the time and one
    # is a spare; idle, a node takes 8 × (70 + 196 + 0.16 × (700 + 3 × 70) / 4) W, switches and racks as at work;
    # × 1.25 × 35,064 h × 0.10
    found = costs(OWNED)
    assert found.watts.value == 342_000
    assert costs(OWNED.replace(", nodes_per_rack: 4", "")).watts.value == 338_000, "of racks that are not known, none"
    assert costs(OWNED.replace("rack_overhead: 500 W, ", "")).watts.value == 338_000
    (mean,) = part(found, "energy").parts
    busy, idle = (dict(mean.inputs)[name].value for name in ("busy", "idle"))
    assert idle == pytest.approx(32 * 8 * 302.4 + 12 * 1_500 + 8 * 500)
    assert idle < busy < found.watts.value
    kilowatts = (0.8 * busy + 0.2 * idle) / 1_000
    assert part(found, "energy").value == pytest.approx(kilowatts * 1.25 * 4 * 8_766 * 0.10)
    design = clean(OWNED)
    parts = bill(design)
    hall = facility(design, parts, drawn_power(estimate(design), parts.fabric))
    assert hall is not None and hall.energy_of_year == pytest.approx(kilowatts * 1_000 * 1.25 * 8_766 * 3_600)


def test_support_and_rack_space_run_over_the_term() -> None:
    found = costs(OWNED)
    assert found.total is not None and found.per_accelerator_hour == pytest.approx(
        found.total.value / (248 * 4 * 8_766)
    )
    assert part(found, "support").value == pytest.approx(4 * 250_000)
    assert part(found, "racks").value == pytest.approx(8 * 2_000 * 12 * 4)


@pytest.mark.parametrize("name", ["support_per_year", "rack_per_month", "node"])
def test_a_price_of_zero_is_a_price(name: str) -> None:
    given = {"support_per_year": "250000", "rack_per_month": "2000", "node": "[200000, 300000]"}[name]
    found = costs(OWNED.replace(f"{name}: {given}", f"{name}: 0, node_hour: 100"))
    assert not any(name in text for text in found.missing)
    names = {"support_per_year": "support", "rack_per_month": "racks", "node": "capital"}
    assert found.total is not None and "rent" not in [each.name for each in found.total.parts]
    assert part(found, names[name]).value == (0.0 if name != "node" else part(costs(OWNED), "capital").value - 8e6)


def test_a_machine_that_is_never_used_has_no_cost_of_a_run() -> None:
    found = costs(OWNED.replace("utilization: 0.8", "utilization: 0"))
    assert (found.per_run, found.per_million_tokens, found.per_hour_at_work) == (None, None, None)


def test_a_job_that_fails_faster_than_it_restarts_runs_on_slowly() -> None:
    """A failure after 20 min of running stops it for R. An hour without one has a probability of exp(-3)."""
    found = costs(OWNED.replace("20 h", "20 min"))
    assert found.goodput is not None and found.goodput.value == pytest.approx(
        3564 / ((exp(3) - 1) * (1200 + RESTART)), rel=1e-5
    )
    assert found.run is not None and found.per_run is not None and found.per_million_tokens is not None


def test_a_run_whose_checkpoints_leave_no_time_never_ends_and_says_so() -> None:
    found = costs(OWNED.replace("checkpoint_time: 36 s", "checkpoint_time: 1 h"))
    assert found.goodput is not None and found.goodput.value == 0
    assert (found.run, found.per_run, found.per_million_tokens) == (None, None, None)
    assert [text for text in found.missing if "the run never ends" in text]
    assert not [text for text in costs(OWNED).missing if "the run never ends" in text]


def test_goodput_loses_checkpoints_repeated_steps_and_a_restart_a_failure() -> None:
    """3,564 s of steps in an hour, exp(3,600 / 72,000) - 1 failures each, of 72,000 s of running and a restart."""
    found = costs(OWNED)
    kept = 3564 / ((exp(1 / 20) - 1) * (72_000 + RESTART))
    assert found.goodput is not None and found.goodput.value == pytest.approx(kept, rel=1e-5)
    assert found.goodput.low is None  # the rate is stated


def test_assumptions_of_one_value_are_all_listed_and_of_one_key_the_last() -> None:
    first, second, again = ("a", 1.25, "x"), ("b", 1.25, "x"), ("a", 2.0, "y")
    assert _distinct_assumptions(first, second, again) == (again, second)


def test_each_assumption_of_a_cost_is_listed_once() -> None:
    """The energy and the power of the nodes both rest on the PUE that the spec leaves out."""
    names = [name for name, _, _ in costs(OWNED.replace("  pue: 1.25\n", "")).assumptions]
    assert names.count("procurement.pue") == 1
    assert len(names) == len({*names})


def test_the_default_failure_rate_is_that_of_published_fleets() -> None:
    found = costs(OWNED.replace("mean_time_between_failures: 20 h, ", ""))
    between = dict(found.goodput.inputs)["between"] if found.goodput else None
    assert between is not None and between.value == pytest.approx(YEAR / OF_YEAR)
    assert "operations.mean_time_between_failures" in [key for key, _, _ in found.assumptions]
    assert found.goodput is not None and found.goodput.low is not None and found.goodput.high is not None
    assert found.goodput.low < found.goodput.value < found.goodput.high
    assert found.run is not None and found.run.low is not None and found.run.high is not None
    ideal = found.run.value * found.goodput.value
    assert (found.run.low, found.run.high) == pytest.approx((ideal / found.goodput.high, ideal / found.goodput.low))


def test_a_run_costs_its_share_of_the_time_on_the_whole_machine() -> None:
    half = costs(OWNED.replace("layout: {", "layout: {nodes: 16, ").replace("496", "512"))
    # each hour of the term has 128 / 248 of the accelerators at work for 0.8 of the time
    assert half.per_accelerator_hour is not None
    assert half.per_hour_at_work == pytest.approx(half.per_accelerator_hour * 248 / 128 / 0.8)
    assert half.accelerators_used == 128 and half.accelerators == 248
    assert half.total is not None and half.per_week == pytest.approx(half.total.value * 7 / (4 * 365.25))
    assert half.total is not None and half.run is not None and half.per_run is not None and half.goodput is not None
    design = clean(OWNED)
    uses = {one.share: one for one in costs_by_use(design, estimate(design), bill(design))}
    assert [*uses] == [0.25, 0.5, 0.75, 0.8, 1.0] and [one.share for one in uses.values() if one.stated] == [0.8]
    assert uses[0.8].per_million_tokens == pytest.approx(getattr(costs(OWNED).per_million_tokens, "value", None))
    unstated = clean(OWNED.replace("  utilization: 0.8\n", ""))
    assert unstated.spec.procurement is not None and unstated.spec.procurement.utilization is None
    found = costs_by_use(unstated, estimate(unstated), bill(unstated))
    assert [one.share for one in found] == [0.25, 0.5, 0.75, 1.0] and not any(one.stated for one in found)
    ratio = uses[0.5].per_million_tokens / uses[1.0].per_million_tokens
    assert 1.9 < ratio < 2.0, "the same capital over half of the work, with less energy"
    # no work is stated for the other 120 accelerators, which are paid for all the same
    assert half.charged_accelerators == 248
    second = half.total.value / (4 * 365.25 * 86_400 * 0.8)
    assert half.per_run.value == pytest.approx(second * half.run.value)
    without = dict(half.run.inputs)["time_to_train"].value
    assert half.run.value == pytest.approx(without / half.goodput.value)
    assert half.per_million_tokens is not None  # 1T tokens are a million times a million
    assert half.per_million_tokens.value == pytest.approx(half.per_run.value / 1e6, rel=1e-9)


def test_years_add_up_to_the_total_and_capital_falls_into_the_first() -> None:
    found = costs(OWNED)
    assert found.total is not None
    assert sum(row.total for row in found.by_year) == pytest.approx(found.total.value)
    assert [row.parts["capital"] > 0 for row in found.by_year] == [True, False, False, False]
    assert sum(row.low for row in found.by_year) == pytest.approx(found.total.low)
    assert sum(row.high for row in found.by_year) == pytest.approx(found.total.high)


def test_a_part_of_a_year_is_paid_in_part() -> None:
    assert yearly_costs(Term("total", 30.0, "USD", ""), 0.0) == ()
    rows = yearly_costs(Term("total", 30.0, "USD", "", parts=(Term("support", 30.0, "USD", ""),)), 2.5)
    assert [row.total for row in rows] == pytest.approx([12.0, 12.0, 6.0])
    support = Term("total", 30.0, "USD", "", parts=(Term("support", 30.0, "USD", ""),))
    assert len(yearly_costs(support, 2.0005)) == 3, "four hours of a third year"
    assert len(yearly_costs(support, 2.0 + 1e-12)) == 2


RENTED = """
cluster: {platform: aws-p5-48xlarge, nodes: 16}
procurement: {currency: USD, term: 1 years, prices: {node_hour: 100}, electricity: 0.1}
"""


def test_rented_nodes_pay_by_the_hour_and_no_electricity() -> None:
    found = costs(RENTED)
    assert found.total is not None
    assert [each.name for each in found.total.parts] == ["rent"]
    assert found.total.value == pytest.approx(16 * 100 * 8_766)
    assert not any("electricity" in line for line in found.missing)


def test_what_the_total_leaves_out_is_named() -> None:
    bare = costs("cluster: {platform: dgx-h100, nodes: 4}\nprocurement: {currency: USD, prices: {node: 1}}")
    assert any("procurement.term" in line for line in bare.missing)
    assert any("leaf_switch" in line for line in bare.missing)
    assert bare.total is not None and bare.total.value == 4
    nothing = costs("cluster: {platform: dgx-h100, nodes: 4}")
    assert nothing.total is None and nothing.per_run is None


QUOTE = "quote: [{part: DGX H100, quantity: 32, unit_price: 9}, {part: installation, quantity: 1, price: 5000}]"
LEFT_OUT = {  # a change of the spec, and what the total leaves out by it
    "electricity: 0.10": ("", "electricity: its price is not stated (`procurement.electricity`)"),
    "support_per_year: 250000, ": ("", "support: no price for `support_per_year`"),
    ", rack_per_month: 2000": ("", "rack space: no price for `rack_per_month`"),
    "transceiver: 1000,": ("", "transceiver module: no price for `transceiver`"),
    "node: [200000, 300000], ": ("", "installation: 5,000 USD in the quote, for no part of the bill"),
    "  pue: 1.25": (
        "  pue: 1.25\n  discount: 0.075",
        "the discount of 7.5 % on the prices (`procurement.discount`)",
    ),
    "  pue: 1.25\n": ("  pue: 1.25\n  tax: 0.19\n", "the tax of 19 % on the prices (`procurement.tax`)"),
}


def test_each_part_that_the_total_leaves_out_is_named_once() -> None:
    quoted = OWNED.replace("  pue: 1.25", f"  pue: 1.25\n  {QUOTE}")
    told = {change: costs(quoted.replace(change, other)).missing for change, (other, _) in LEFT_OUT.items()}
    whole = costs(OWNED).missing
    for change, (_, missing) in LEFT_OUT.items():
        assert told[change].count(missing) == 1 and missing not in whole, (change, told[change])


def test_every_printed_formula_gives_its_value() -> None:
    found = costs(OWNED)
    terms = (found.total, found.goodput, found.run, found.per_run, found.per_million_tokens, found.watts)
    for root in terms:
        assert root is not None
        for term in root.walk():
            names = {name: figure.value for name, figure in term.inputs} | {
                each.name: each.value for each in term.parts
            }
            assert evaluate(term.formula, names) == pytest.approx(term.value, rel=1e-9), term.name


@telling(1)
@pytest.mark.parametrize(
    ("key", "low", "high", "sign"),
    [
        ("electricity: 0.10", "electricity: 0.05", "electricity: 0.20", 1),
        ("pue: 1.25", "pue: 1.1", "pue: 1.6", 1),
        ("mean_time_between_failures: 20 h", "mean_time_between_failures: 5 h", "mean_time_between_failures: 80 h", -1),
        ("utilization: 0.8", "utilization: 0.5", "utilization: 1.0", -1),
    ],
)
def test_a_token_costs_more_where_power_or_failures_do(key: str, low: str, high: str, sign: int) -> None:
    prices = [costs(OWNED.replace(key, each)).per_million_tokens for each in (low, key, high)]
    values = [sign * term.value for term in prices if term is not None]
    assert len(values) == 3 and values == sorted(values) and values[0] < values[2]


def test_a_few_nodes_fewer_that_save_switches_are_named() -> None:
    # 33 nodes need a second set of 8 leaves; 32 nodes are one scalable unit of 8 leaves and 4 spines
    text = OWNED.replace("nodes: 31\n  spare_nodes: 1", "nodes: 33").replace("global_batch: 496", "global_batch: 528")
    design = clean(text)
    found = cheaper_neighbor(design, bill(design))
    assert found is not None
    assert (found.nodes, found.fewer) == (32, 1)
    assert found.switches == (12, 24)


def test_the_neighbor_keeps_the_nodes_that_the_job_uses() -> None:
    text = OWNED.replace("nodes: 31\n  spare_nodes: 1", "nodes: 34").replace("layout: {", "layout: {nodes: 33, ")
    design = clean(text.replace("global_batch: 496", "global_batch: 528"))
    assert cheaper_neighbor(design, bill(design)) is None


def test_a_neighbor_that_would_break_the_layout_gives_up_spare_nodes() -> None:
    """The 33rd node needs a second set of leaves. A layout that states 32 nodes gives up the spare one."""
    text = OWNED.replace("nodes: 31", "nodes: 32").replace("batch: 496", "batch: 512")
    free, bound = (clean(each) for each in (text, text.replace("layout: {tp: 2", "layout: {nodes: 32, tp: 2")))
    for design in (free, bound):
        found = cheaper_neighbor(design, bill(design))
        assert found is not None and found.switches == (12, 24) and found.fewer == 1
        assert found.of_spares == (design is bound)
        assert found.fewer_text == ("1 spare node fewer (0)" if design is bound else "1 node fewer (31)")


def test_the_neighbor_counts_the_switches_of_every_network() -> None:
    """What it saves is the difference of the two bills, the switches of the frontend network included."""
    frontend = "networks: {frontend: {nics_per_node: 2, nic_bandwidth: 400 Gb/s, switch: spectrum-4-sn5600}}"
    text = OWNED.replace("  scale_out:", f"  {frontend}\n  scale_out:").replace(
        "rack: 5000", "rack: 5000, frontend_cable: 500, frontend_switch: 250000"
    )
    more, fewer = (
        clean(
            text.replace("nodes: 31\n  spare_nodes: 1", f"nodes: {nodes}").replace("batch: 496", f"batch: {16 * nodes}")
        )
        for nodes in (33, 32)
    )
    mine, other = bill(more), bill(fewer)
    assert {item.kind: item.quantity for item in other.items}["frontend_switch"] == 1
    found = cheaper_neighbor(more, mine)
    assert found is not None and found.fewer == 1 and mine.total is not None and other.total is not None
    assert found.saved == pytest.approx((mine.total.middle - other.total.middle).low)
    assert found.saved_on_fabric == pytest.approx(found.saved - 250_000)


@pytest.mark.parametrize("network", ["frontend", "storage", "out_of_band"])
@pytest.mark.parametrize(("key", "wrong"), [("switch", "spectrum-4-sn5601"), ("technology", "ethernett")])
def test_an_unknown_id_of_a_network_is_a_problem_at_its_key(network: str, key: str, wrong: str) -> None:
    _, problems = resolve_text(
        f"cluster: {{platform: dgx-h100, nodes: 4, networks: {{{network}: {{{key}: {wrong}}}}}}}"
    )
    [problem] = [one for one in problems if one.rule == "unknown-catalog-id"]
    assert problem.path == ("cluster", "networks", network, key)
    assert {"switch": "spectrum-4-sn5600", "technology": "ethernet"}[key] in (problem.help or "")


def test_every_key_that_is_named_is_a_key_of_the_spec() -> None:
    assert unknown_keys("procurement") == []
