"""What stands against a signature: the gates of a purchase, the quote against the bill, and the risks."""

from __future__ import annotations

import json
from datetime import date, timedelta
from functools import cache
from math import expm1

import pytest

from clusterspec.analysis.full_report import purchase_report, report
from clusterspec.analysis.purchase.choices import recommended_row
from clusterspec.analysis.purchase.gates import RULES_OF_GATES
from clusterspec.analysis.purchase.risks import largest_risks, risks_of_purchase
from clusterspec.analysis.searches.serving import other_plans
from clusterspec.finding import Severity
from clusterspec.money import Money
from clusterspec.records import replace
from clusterspec.report.paper.options import recommendation_text
from clusterspec.report.sweep_text import serving_search_as_text
from clusterspec.results.full import FullReport
from clusterspec.results.verdict import Choice, GateStatus, Purchase, Risk
from clusterspec.rules.index import RULES
from clusterspec.studies import study_text
from tests.effort import ALL_CASES, sampled, telling, thorough
from tests.settings import SETTINGS

ASKED = "acceptance:\n  - {collective: all-reduce, nodes: 4, size: 8 GiB, busbw: 300 GB/s}\n"
READY = """
clusterspec: 1
cluster:
  platform: dgx-h100
  nodes: 31
  spare_nodes: 1
  scale_out: {technology: infiniband-ndr, switch: quantum-2-qm9700, topology: rail-optimized, nics_per_node: 8}
  networks:
    frontend: {nics_per_node: 2, nic_bandwidth: 200 Gb/s, switch: spectrum-3-sn4600}
    out_of_band: {nics_per_node: 1, nic_bandwidth: 100 Gb/s, switch: spectrum-2-sn3700}
    storage: {bandwidth: 40 GB/s, capacity: 1 PB}
  power: {nodes_per_rack: 4, rack_limit: 45 kW}
workload: {model: llama-3.1-8b, sequence_length: 8192, global_batch: 496, tokens: 1T}
layout: {tp: 1, pp: 1, micro_batch: 1, recompute: full, framework: megatron-core}
ASKED
procurement:
  currency: EUR
  as_of: 2026-11-01
  needed_by: 2027-06-01
  term: 4 years
  warranty: 4 years
  delivery: {weeks: 16}
  prices: {node: [280000, 340000], leaf_switch: 36000, spine_switch: 36000, cable: 300, transceiver: 1200, QUOTED}
  quote:
    - {part: DGX H100 system, quantity: 32, unit_price: 310000, price: 9920000}
    - {part: QM9700 leaf switch, quantity: 8, unit_price: 36000, price: 288000}
    - {part: QM9700 spine switch, quantity: 4, unit_price: 36000, price: 144000}
    - {part: node to leaf cable, quantity: 512, unit_price: 300, price: 153600}
    - {part: OSFP transceiver, quantity: 512, unit_price: 1200, price: 614400}
    - {part: storage system, quantity: 1, unit_price: 500000, price: 500000}
    - {part: rack, quantity: 8, unit_price: 3000, price: 24000}
    - {part: frontend switches and cables, quantity: 1, unit_price: 90000, price: 90000}
    - {part: out-of-band switches and cables, quantity: 1, unit_price: 9000, price: 9000}
  budget: 15000000
""".replace(
    "QUOTED",
    "storage: 500000, rack: 3000, frontend_switch: 20000, frontend_cable: 100, out_of_band_switch: 3000, "
    "out_of_band_cable: 10",
).replace("ASKED\n", ASKED)


@cache
def ready() -> FullReport:
    """The procurement report of the complete purchase."""
    return report(study_text(READY, SETTINGS), "procurement", live=False)


@cache
def decided(text: str) -> Purchase:
    """The decision on the purchase of a spec; several assertions ask about one."""
    found = purchase_report(study_text(text, SETTINGS)).purchase
    assert found is not None
    json.dumps(found.to_json(), allow_nan=False)
    return found


def status(purchase: Purchase, gate: str) -> GateStatus:
    return next(each.status for each in purchase.gates if each.gate == gate)


def why(purchase: Purchase, gate: str) -> str:
    return next(each.text for each in purchase.gates if each.gate == gate)


def test_a_complete_purchase_leaves_only_what_the_check_found() -> None:
    found = decided(READY)
    assert ready().purchase == found
    against = {gate.gate: gate.text for gate in found.gates if gate.status in {GateStatus.OPEN, GateStatus.FAILED}}
    assert not against.keys() - {"design", "prices"}, against
    assert "energy out" in against["prices"], "a warning about prices counts at its gate"
    assert found.amount == Money.of(11_743_000.0, "EUR") and found.basis == "quote"


@pytest.mark.parametrize(
    ("old", "new", "gate", "expected", "words"),
    [
        ("quantity: 512, unit_price: 1200, price: 614400", "quantity: 500, unit_price: 1200, price: 600000", "quote",
         "failed", "12 × transceiver (14.4 k EUR)"),
        ("    - {part: QM9700 spine switch, quantity: 4, unit_price: 36000, price: 144000}\n", "", "quote", "failed",
         "4 × spine switch (144 k EUR)"),
        ("    - {part: storage system, quantity: 1, unit_price: 500000, price: 500000}\n", "", "quote", "open",
         "storage"),
        ("out_of_band_switch: 3000, ", "", "prices", "open",
         "1 of 13 lines of the bill has no price: spectrum-2-sn3700"),
        (", out_of_band_switch: 3000, out_of_band_cable: 10", "", "prices", "open", "2 of 13 lines of the bill have"),
        ("cable: 300, ", "", "prices", "open", "energy out"),  # the quote has the price
        ("  as_of: 2026-11-01\n", "", "prices", "open", "no date"),
        ("{tp: 1,", "{nodes: 16, tp: 1,", "use", "open", "120 of 248 accelerators (48 %, 4.2 – 5.1 M EUR"),
        ("budget: 15000000", "budget: 11000000", "budget", "failed", "exceeds the budget of 11,000,000 EUR"),
        ("rack_limit: 45 kW", "rack_limit: 30 kW", "power", "failed", "of 30 kW"),
        ("rack_limit: 45 kW", "budget: 300 kW", "power", "failed", "all IT equipment at full load needs 347 kW"),
        ("{nodes_per_rack: 4, rack_limit: 45 kW}", "{nodes_per_rack: 4}", "power", "open", "no limit is stated"),
        ("weeks: 16", "weeks: 32", "delivery", "failed", "31 days after 2027-06-01"),
        ("  warranty: 4 years\n", "", "warranty", "open", "not stated"),
        ("warranty: 4 years", "warranty: 3 years", "warranty", "open", "1 year less"),
        ("  term: 4 years\n", "", "term", "open", "not stated"),
        (ASKED, "", "acceptance", "open", "no test is demanded"),
    ],
)  # fmt: skip
def test_each_gate_states_its_numbers(old: str, new: str, gate: str, expected: str, words: str) -> None:
    assert old in READY
    found = decided(READY.replace(old, new))
    assert status(found, gate) == expected, why(found, gate)
    assert words in why(found, gate)
    assert found.status == ("do not sign" if expected == "failed" else found.status) != "ready"


def test_findings_about_the_purchase_count_at_their_gate_and_what_a_quote_lacks_counts_in_the_budget() -> None:
    """11,743,000 EUR without the spines and 144,000 EUR for them are above a budget of 11,700,000 EUR."""
    assert frozenset(rule for rules in RULES_OF_GATES.values() for rule in rules) <= RULES.keys()
    line = "    - {part: QM9700 spine switch, quantity: 4, unit_price: 36000, price: 144000}\n"
    assert line in READY
    found = decided(READY.replace(line, "").replace("budget: 15000000", "budget: 11700000"))
    assert status(found, "budget") == GateStatus.FAILED and "144 k EUR for parts" in why(found, "budget")
    assert "quote" not in why(found, "design") and "exceed" not in why(found, "design")


TERMS = "  discount: 0.05\n  tax: 0.19\n"
SPINES = "    - {part: QM9700 spine switch, quantity: 4, unit_price: 36000, price: 144000}\n"


@thorough
def test_prices_in_addition_to_a_quote_have_its_discount_and_tax() -> None:
    """11,743,000 EUR are 13,275,461.50 with 5 % off and 19 % tax, without the spines 13,112,669.50 and 162,792."""
    found = decided(READY.replace("  budget:", f"{TERMS}  budget:"))
    assert found.amount == Money.of(11_743_000 * 0.95 * 1.19, "EUR") and found.terms == ", with discount and tax"
    expected = decided(READY).expected
    assert expected is not None and found.expected is not None
    assert found.expected.low == pytest.approx(expected.low * 0.95 * 1.19)
    text = READY.replace(SPINES, "").replace("  budget: 15000000", f"{TERMS}  budget: 13200000")
    short = decided(text)
    (part,) = (part for part in short.parts if part.missing)
    assert part.missing is not None and part.missing.price == 162_792.0
    assert "4 × spine switch (163 k EUR), with discount and tax" in why(short, "quote")
    assert status(short, "budget") == GateStatus.FAILED and why(short, "budget").startswith(
        "13.3 M EUR, with 163 k EUR"
    )
    (found_over,) = (one for one in study_text(text, SETTINGS).checked.findings if one.rule == "over-budget")
    assert "162,792 EUR" in found_over.message and "75,462 EUR above the budget" in found_over.message
    assert {risk.risk: risk.money for risk in short.risks}["parts without a quote"] == part.missing
    enough = text.replace("13200000", "13300000")
    assert status(decided(enough), "budget") == GateStatus.MET
    assert not [one for one in study_text(enough, SETTINGS).checked.findings if one.rule == "over-budget"]


def test_a_price_of_a_part_that_the_machine_does_not_need_opens_no_gate() -> None:
    """Two tiers of switches have no core."""
    found, more = (decided(READY.replace("cable: 300", f"cable: 300{price}")) for price in ("", ", core_switch: 50000"))
    assert more.gates == found.gates


@thorough
def test_a_budget_is_held_against_prices_less_the_discount_and_with_the_tax() -> None:
    """At half off and a quarter of tax, 0.625 of the prices are paid: of 11.2 to 13.1 M EUR at most 8.2."""
    bare = READY[: READY.index("  quote:")] + "  budget: 7950000\n"
    dear, cheap = decided(bare), decided(bare.replace("  budget:", "  discount: 0.5\n  tax: 0.25\n  budget:"))
    assert dear.amount is not None and cheap.amount is not None and cheap.terms == ", with discount and tax"
    assert (cheap.amount.low, cheap.amount.high) == (0.625 * dear.amount.low, 0.625 * dear.amount.high)
    assert (status(dear, "budget"), status(cheap, "budget")) == (GateStatus.FAILED, GateStatus.MET)
    assert why(cheap, "budget").endswith(" EUR, with discount and tax, of 7,950,000 EUR")


def test_sums_of_a_quote_that_contradict_each_other_are_a_risk_and_stand_at_its_gate() -> None:
    """The lines sum to 11,743,000 EUR. A line of 100,000 EUR more than 32 × 310,000 EUR makes 11,843,000 of them."""
    total = READY.replace("  budget:", "  quoted_total: 11000000\n  budget:")
    for text, risk, money, words in (
        (total, "sum of the quote", 743_000.0, "743,000 EUR too little"),
        (total.replace("11000000", "12000000"), "sum of the quote", 257_000.0, "257,000 EUR too much"),
        (READY.replace("price: 9920000", "price: 10020000"), "lines of the quote", 100_000.0, "not 10,020,000"),
        (total.replace(SPINES, ""), "sum of the quote", 599_000.0, "599,000 EUR too little"),
    ):
        found = decided(text)
        assert {one.risk: one.money for one in found.risks}[risk] == Money.of(money, "EUR"), text
        assert status(found, "quote") == GateStatus.FAILED and words in why(found, "quote"), why(found, "quote")
    exact = decided(total.replace("11000000", "11743000"))
    assert not {"sum of the quote", "lines of the quote"} & {one.risk for one in exact.risks}
    less = decided(total.replace("15000000", "11500000"))
    assert status(less, "budget") == GateStatus.OPEN and "sum to 11.7 M EUR" in why(less, "budget")


def test_a_gate_fails_only_where_the_check_objects() -> None:
    """Cabling of two nodes is a note, which leaves the gate open; spines of 31 are an error."""
    small = (
        "clusterspec: 1\ncluster: {platform: dgx-h200, nodes: 4}\n"
        "workload: {kind: serve, model: deepseek-v3, precision: fp8, "
        "serving: {input_tokens: 4000, output_tokens: 1000, concurrency: 256}}\nlayout: {framework: sglang, tp: 8}\n"
        "procurement: {currency: USD, prices: {node: 320000, cable: 900}, budget: 1400000, "
        "quote: [{part: node, quantity: 4, price: 1280000}, {part: leaf switch, quantity: 2, price: 72000}]}\n"
    )
    severities = {"open": {Severity.NOTE}, "failed": {Severity.ERROR}}
    for text, expected in ((small, "open"), (READY.replace(SPINES, ""), "failed")):
        findings = [one for one in study_text(text, SETTINGS).checked.findings if "no line for" in one.message]
        assert {one.severity for one in findings} == severities[expected]
        assert status(decided(text), "quote") == expected
        assert "lacks" in why(decided(text), "quote")
    scarce = decided(small.replace("1400000", "1360000"))
    assert status(scarce, "budget") == GateStatus.OPEN and "would exceed" in why(scarce, "budget")


def test_the_warranty_covers_what_the_check_takes_for_covered() -> None:
    short = READY.replace("warranty: 4 years", "warranty: 3 years")
    for text, expected, words in (
        (short, GateStatus.OPEN, "3 years, 1 year less than the term of 4 years"),
        (short.replace("  prices: {", "  prices: {support_per_year: 20000, "), GateStatus.MET, "the price of support"),
        (short.replace("  delivery:", "  support: {term: 4 years}\n  delivery:"), GateStatus.MET, "support of 4 years"),
        (short.replace("  delivery:", "  support: {term: 2 years}\n  delivery:"), GateStatus.OPEN, "1 year less"),
        (
            short.replace("  prices: {", "  support: {term: 2 years}\n  prices: {support_per_year: 20000, "),
            *(GateStatus.OPEN, "1 year less"),
        ),
        (short.replace("3 years", "47 months"), GateStatus.MET, "3.917 years"),
    ):
        found = [one for one in study_text(text, SETTINGS).checked.findings if one.rule == "warranty-shorter-than-term"]
        assert bool(found) == (expected is GateStatus.OPEN), text
        assert status(decided(text), "warranty") == expected and words in why(decided(text), "warranty")


def test_a_rent_asks_for_no_quote_delivery_or_warranty() -> None:
    found = decided(
        "clusterspec: 1\ncluster: {platform: aws-p5-48xlarge, nodes: 2}\n"
        "procurement: {currency: USD, as_of: 2026-11-01, term: 1 year, prices: {node_hour: 50}}\n"
    )
    assert found.basis == "rent" and found.amount == Money.of(2 * 50 * 8766.0, "USD")
    for gate in ("quote", "delivery", "warranty", "power"):
        assert status(found, gate) == GateStatus.NOT_NEEDED
    assert status(found, "term") == GateStatus.MET, "no run is planned that could end before"


def test_rent_after_the_run_is_a_risk_of_its_share() -> None:
    work = "workload: {model: llama-3.1-8b, sequence_length: 8192, global_batch: 64, tokens: 10B}\nlayout: {tp: 2}\n"
    found = decided(
        f"clusterspec: 1\ncluster: {{platform: aws-p5-48xlarge, nodes: 2}}\n{work}"
        "procurement: {currency: USD, as_of: 2026-11-01, term: 1 year, prices: {node_hour: 50}}\n"
    )
    risk = found.risks[0]
    assert risk.risk == "rent after the run" and risk.money is not None and found.amount is not None
    assert 0.95 * found.amount.low < risk.money.low < found.amount.low, "a run of some days in a year"
    assert status(found, "term") == GateStatus.OPEN


def test_nothing_stated_is_never_ready_to_sign() -> None:
    found = decided("clusterspec: 1\ncluster: {platform: dgx-h100, nodes: 4}\n")
    assert found.status == "not ready" and found.amount is None
    assert status(found, "prices") == status(found, "quote") == status(found, "use") == GateStatus.OPEN


def test_risks_are_in_money_and_days_and_the_largest_is_first() -> None:
    found = decided(READY.replace("{tp: 1,", "{nodes: 16, tp: 1,"))
    assert [risk.risk for risk in found.risks][:2] == ["idle accelerators", "prices"]
    assert found.risks[0].money == Money.of(4_650_000, "EUR")  # 15 of 31 nodes at 310,000
    assert found.risks[1].money == Money.of(32 * 30_000, "EUR")
    amounts = [risk.money.high for risk in found.risks if risk.money]
    assert amounts == sorted(amounts, reverse=True)


def test_parts_without_a_quote_say_what_it_lacks_and_what_another_may_sell() -> None:
    """4 of 8 leaf switches at 36,000, and 8 racks at 3,000 of which the quote has no line."""
    short = READY.replace(
        "leaf switch, quantity: 8, unit_price: 36000, price: 288000",
        "leaf switch, quantity: 4, unit_price: 36000, price: 144000",
    )
    found = decided(short.replace("    - {part: rack, quantity: 8, unit_price: 3000, price: 24000}\n", ""))
    (risk,) = (risk for risk in found.risks if risk.risk == "parts without a quote")
    assert risk.money == Money.of(4 * 36_000 + 8 * 3_000, "EUR")
    assert risk.text == "leaf switch (144 k EUR); rack (24 k EUR), unless another supplier has them"


@thorough
def test_delays_below_half_a_percent_of_the_run_are_no_risk() -> None:
    often, seldom = (
        decided(f"{READY}operations: {{mean_time_between_failures: {hours} h, restart_time: 10 min}}\n")
        for hours in (20, 2000)
    )
    assert "interruptions" in {risk.risk for risk in often.risks}
    assert "interruptions" not in {risk.risk for risk in seldom.risks}


@telling(1)
@pytest.mark.parametrize(("pause", "days"), [("60 s", 1000 / 30), ("5 s", None)])
def test_pauses_of_planned_checkpoints_are_no_interruptions(pause: str, days: float | None) -> None:
    """A pause of 60 s every 30 min takes a thirtieth of the run, 33 days of 1,000, one of 5 s a 360th, which is no
    risk. Failures every 20 h repeat 15 min and restart for 10.
    """
    every = f"checkpoint_interval: 30 min, checkpoint_time: {pause}"
    text = f"{READY}operations: {{mean_time_between_failures: 20 h, restart_time: 10 min, {every}}}\n"
    full = purchase_report(study_text(text, SETTINGS))
    kept, costs = full.reliability, full.cost.cost
    assert kept is not None and kept.with_interruptions is not None and costs is not None
    found = {risk.risk: risk for risk in risks_of_purchase(full, costs, (), None)}
    run, failures = kept.with_interruptions / 86_400, found["interruptions"]
    runs = 72_000 / (72_000 + kept.restart)  # a stopped job neither fails nor saves
    kept_of_running = (1800 - kept.checkpoint) / (72_000 * expm1(1800 / 72_000))
    paused = kept.checkpoint / 1800
    assert failures.days == pytest.approx(run * (1 - runs * (kept_of_running + paused)))
    assert failures.days == pytest.approx(run * (15 * 60 + kept.restart) / (20 * 3600), rel=0.04)
    assert ("checkpoint pauses" in found) is (days is not None)
    if days is not None:
        planned = found["checkpoint pauses"]
        assert planned.days == pytest.approx(runs * days * run / 1000)
        assert planned.text == "planned checkpoints stop training 60 s every 30 min"


def test_a_tender_decides_nothing() -> None:
    assert report(study_text(READY, SETTINGS), "procurement", "tender", live=False).purchase is None
    design = report(study_text(READY, SETTINGS), "design", live=False)
    assert design.signing is None and design.purchase is not None and design.purchase.basis == "quote"


def test_the_run_ends_after_delivery_burn_in_and_its_own_time() -> None:
    """The prices are of 2026-11-01, and it is 2026-11-20: 16 weeks from then end on 2027-03-12; a burn-in of 60 h takes
    three days."""
    found = decided(READY + "operations: {burn_in: 60 h}\n").days
    assert [(one.event, one.day) for one in found][:2] == [
        ("delivered", "2027-03-12"),
        ("ready for work", "2027-03-15"),
    ]
    assert found[2].event == "end of the run" and found[2].day > "2027-02-24"
    delivered, ended = decided(READY).days
    assert (delivered.event, ended.event) == ("delivered", "end of the run")
    assert date.fromisoformat(found[2].day) - date.fromisoformat(ended.day) == timedelta(days=3)
    assert decided(READY.replace("delivery: {weeks: 16}", "discount: 0")).days == ()


@thorough
def test_a_machine_without_idle_nodes_is_cheaper_and_as_fast() -> None:
    """16 of 31 nodes work: a machine of 16 is as fast, one of 8 takes twice as long."""
    text = READY.replace("{tp: 1,", "{nodes: 16, tp: 2,").replace("global_batch: 496", "global_batch: 512")
    full = report(study_text(text, SETTINGS), "procurement", live=False)
    found = full.choices
    assert found is not None and found.unit == "s"
    by_nodes = {row.name: row for row in found.rows}
    own, less, half = found.rows[0], by_nodes["16 nodes"], by_nodes["8 nodes"]
    assert not less.errors and less.nodes == 17, "one spare node is kept"
    assert not half.errors, "a test over 31 nodes is one of the design, not of a machine of 8"
    assert found.recommended_row is less and "would be cheaper" not in recommendation_text(found)
    assert recommended_row(tuple(row for row in found.rows if row is not less), "s") == 0, "half is slower"
    assert less.amount.high < own.amount.low
    assert 0.97 < less.work / own.work < 1.001, "idle nodes replace those below a failed leaf, one spare does not"
    assert 1.8 < half.work / less.work < 2.1
    best = found.rows[found.recommended or 0]
    assert best.surely_fits and not best.errors
    assert all(best.amount.low * best.work <= row.amount.low * row.work * 1.05 for row in found.rows if not row.errors)
    json.dumps(full.to_json(), allow_nan=False)


SERVES = """clusterspec: 1
cluster: {platform: dgx-h200, nodes: 4}
workload:
  kind: serve
  model: llama-3.3-70b
  serving: {input_tokens: 1000, output_tokens: 200, request_rate: RATE, targets: {ttft: 2 s, tpot: 40 ms}}
layout: {framework: vllm, tp: 4, dp: 8}
procurement: {currency: EUR, prices: {node: 100000}}
"""


@thorough
@pytest.mark.parametrize(
    ("rate", "held"), sampled([(4, {"2 nodes", "3 nodes", "6 nodes", "8 nodes"}), (10_000, set())], 4)
)
def test_sizes_of_a_serving_machine_hold_the_load_that_their_engines_serve(rate: int, held: set[str]) -> None:
    """Engines serve in proportion to their number; where fewer hold the load, none is recommended."""
    found = report(study_text(SERVES.replace("RATE", f"{rate}"), SETTINGS), "procurement", live=False).choices
    assert found is not None and found.of_targets and found.load == rate * 200
    sizes = {row.name: row for row in found.rows if row.kind == "size"}
    assert {name for name, row in sizes.items() if row.holds_load} == held
    own = found.rows[0]
    for row in sizes.values():
        assert row.work / own.work == pytest.approx(row.nodes / 4, rel=0.02)
        assert row.amount == Money.of(100_000.0 * row.nodes, "EUR")
    other = [row for row in found.rows if row.kind == "plan"]
    assert all(row.holds_load and not row.errors and row.engines for row in other)
    assert found.recommended is None and ("for less" in recommendation_text(found)) is bool(held)


def test_a_design_that_is_only_dearer_or_faster_than_other_sizes_is_not_called_the_cheapest() -> None:
    """A size with half the nodes takes twice as long: the least cost of a token among one choice says nothing."""
    found = ready().choices
    assert found is not None
    own = replace(found.rows[0], errors=(), surely_fits=True, over_budget=False, per_million=1.0)
    low, high = own.amount.low, own.amount.high
    half = replace(own, name="16 nodes", kind="size", work=2 * own.work, amount=Money(low / 2, high / 2, "EUR"))
    found = replace(found, rows=(own, half), recommended=recommended_row((own, half), "s"))
    assert found.recommended == 0
    text = recommendation_text(found)
    assert text.startswith("Each other size of this machine is slower or more expensive") and "lowest cost" not in text
    assert "16 nodes would be cheaper and slower" in text
    as_good = replace(half, work=own.work, amount=own.amount, per_million=2.0)
    assert "lowest cost" in recommendation_text(replace(found, rows=(own, as_good))), "as fast, and at the same price"


@thorough
def test_a_machine_that_is_no_longer_sold_leaves_its_delivery_open() -> None:
    """A DGX A100 is discontinued by its maker: a date in the spec does not settle that."""
    assert status(decided(READY), "delivery") is GateStatus.MET
    gates = {gate.gate: gate for gate in decided(READY.replace("platform: dgx-h100", "platform: dgx-a100")).gates}
    assert gates["delivery"].status is GateStatus.OPEN
    assert "DGX A100 is discontinued as of 20" in gates["delivery"].text and "delivered" in gates["delivery"].ask


def test_an_open_load_without_targets_recommends_no_machine_larger_than_it_takes() -> None:
    """Half of the engines hold the load: nothing is said of targets that nobody stated."""
    text = SERVES.replace("RATE", "4").replace(", targets: {ttft: 2 s, tpot: 40 ms}", "")
    full = report(study_text(text, SETTINGS), "procurement", live=False)
    found, bought = full.choices, full.purchase
    assert found is not None and not found.of_targets and found.load == 800
    assert any(row.holds_load and row.nodes < 4 for row in found.rows)
    best = found.recommended_row
    assert found.recommended != 0 and (best is None or (best.holds_load and best.nodes < 4))
    assert not recommendation_text(found).startswith("Of the choices")
    assert bought is not None
    use = next(each for each in bought.gates if each.gate == "use")
    assert use.status is GateStatus.OPEN and "run at once" in use.text and "target" not in use.text


@pytest.mark.parametrize("targets", sampled(["", ", targets: {tpot: 40 ms}"], 4))
def test_plans_meet_targets_only_where_there_are_some(targets: str) -> None:
    text = SERVES.replace("RATE", "4").replace(", targets: {ttft: 2 s, tpot: 40 ms}", targets)
    text = text.replace("nodes: 4", "nodes: 1").replace("dp: 8", "dp: 2").replace("request_rate: 4", "concurrency: 16")
    found = other_plans(study_text(text, SETTINGS))
    said = "meet the targets at the load" if targets else "hold the load"
    assert found.layouts and found.aim == said
    assert f"{found.fitting} {said}" in serving_search_as_text(found)


@pytest.mark.parametrize(
    ("left_out", "best"), [(set(), 2), ({2}, 1), ({1, 2}, 0), ({0, 1, 2}, None)], ids=["all", "two", "one", "none"]
)
@pytest.mark.parametrize("why", ["over_budget", "surely_fits", "errors"])
def test_nothing_over_its_budget_or_memory_is_recommended(why: str, left_out: set[int], best: int | None) -> None:
    """Of machines whose tokens cost 3, 2 and 1 each, the cheapest that nothing rules out."""
    rows = [Choice(f"{at}", "size", 1, Money.of(1.0), 1.0, per_million=3.0 - at) for at in range(3)]
    for at in left_out:
        out = [why == each for each in ("over_budget", "surely_fits", "errors")]
        rows[at] = replace(rows[at], over_budget=out[0], surely_fits=not out[1], errors=("x",) if out[2] else ())
    assert recommended_row(rows, "s") == best


@telling(1)
@pytest.mark.parametrize(("concurrency", "state"), [(2, GateStatus.OPEN), (None, GateStatus.MET)])
def test_engines_far_beyond_their_load_are_not_in_use(concurrency: int | None, state: GateStatus) -> None:
    """Without a concurrency, the load is the most that the targets allow."""
    serving = "{{input_tokens: 1000, output_tokens: 100, concurrency: {}, targets: {{ttft: 1 s, tpot: 30 ms}}}}"
    text = (
        "clusterspec: 1\ncluster: {{platform: dgx-h200, nodes: 1}}\n"
        f"workload: {{{{kind: serve, model: llama-3.1-8b, serving: {serving}}}}}\nlayout: {{{{framework: vllm}}}}\n"
    )
    most = study_text(text.format(2), SETTINGS).plan.serving
    assert most is not None and most.most_in_flight
    assert status(decided(text.format(concurrency or most.most_in_flight)), "use") == state


LARGE = """
clusterspec: 1
cluster: {platform: dgx-h100, nodes: 8}
workload: {model: llama-3.1-405b, sequence_length: 16384, global_batch: 64, tokens: 100B}
layout: {framework: megatron-core, tp: 8, pp: 2, micro_batch: 2}
procurement: {currency: EUR, prices: {node: 310000}}
"""


@thorough
def test_a_machine_that_does_not_hold_its_job_is_compared_with_the_smallest_multiple_that_does() -> None:
    """Weights, gradients and optimizer states of 405B take 16 B each, 6.5 TB: 64 H100 have 5.5 TB, 128 have 10.9 TB."""
    found = report(study_text(LARGE, SETTINGS), "procurement", live=False).choices
    assert found is not None and found.recommended is not None
    best = found.rows[found.recommended]
    assert (best.kind, best.nodes, best.amount.low) == ("plan", 16, 16 * 310_000)
    assert best.surely_fits and not best.errors and best.settings is not None
    keys = "".join(f", {key}: {value}" for key, value in best.settings.items() if not isinstance(value, list))
    other = LARGE.replace("nodes: 8}", "nodes: 16}").replace(", tp: 8, pp: 2, micro_batch: 2", keys)
    plan = study_text(other, SETTINGS).plan
    assert plan.surely_fits and "16 nodes of this machine with the layout tp 8, pp 16" in recommendation_text(found)
    if ALL_CASES:
        held = report(study_text(other, SETTINGS), "procurement", live=False).choices
        assert held is not None and not any(row.settings for row in held.rows), "the job fits"


SLICE = """
clusterspec: 1
cluster: {platform: tpu-v5p, accelerators: 256STATED}
workload: {model: llama-3.1-8b, sequence_length: 8192, global_batch: 512, tokens: 1T}
layout: {framework: maxtext, sharding: fsdp, micro_batch: 1, recompute: full}
procurement: {currency: USD, term: 1 year, prices: {node_hour: 8.4}}
"""


def test_a_slice_of_a_pod_is_compared_with_slices_of_other_sizes() -> None:
    """256 chips of the 8,960 of a pod are 64 hosts; a slice whose shape is stated has that size alone."""
    found = report(study_text(SLICE.replace("STATED", ""), SETTINGS), "procurement", live=False).choices
    assert found is not None
    sizes = {row.nodes: row.work for row in found.rows if row.kind == "size" and not row.errors}
    assert {32, 128} <= sizes.keys() and sizes[32] > found.rows[0].work > sizes[128]
    fixed = study_text(SLICE.replace("STATED", ", scale_up: {shape: [4, 8, 8]}"), SETTINGS)
    stated = report(fixed, "procurement", live=False).choices
    assert stated is None or not {row.nodes for row in stated.rows} & {32, 16, 48}


@pytest.mark.parametrize(
    ("budget", "expected", "severity"), [(28, "met", ""), (25, "open", "note"), (22, "failed", "error")]
)
def test_a_limit_that_only_an_assumed_power_exceeds_is_open(budget: int, expected: str, severity: str) -> None:
    """8 accelerators of 900 W are 7.2 kW; 0.4 to 1.1 of it for the rest of a node of unknown power gives 10.08 to
    15.12, 12.6 in the middle. With a switch of 2.12 kW two nodes draw 27.3 kW, at least 22.3: the gate agrees with the
    finding.
    """
    found = report(
        study_text(
            f"""
clusterspec: 1
cluster: {{platform: gaudi3-hls, nodes: 2, scale_out: {{technology: roce-v2}}, power: {{budget: {budget} kW}}}}
procurement: {{currency: EUR, as_of: 2026-11-01, term: 4 years, prices: {{node: 150000}}}}
""",
            SETTINGS,
        ),
        "procurement",
    )
    assert found.purchase is not None
    assert status(found.purchase, "power") == expected, why(found.purchase, "power")
    told = [str(one.severity) for one in found.estimate.findings if one.rule == "power-over-budget"]
    assert told == ([severity] if severity else [])
    assert ("at least 22.3 kW" in why(found.purchase, "power")) is (expected == "open")


EXPANSION = """clusterspec: 1
{place}
cluster: {{platform: dgx-h100, nodes: 62}}
procurement:
  currency: USD
  as_of: 2026-11-01
  quote:
    - {{part: DGX H100 system, quantity: 31, unit_price: 310000}}
    - {{part: QM9700 leaf switch with transceivers, quantity: 8, unit_price: 90000}}
"""


@pytest.mark.parametrize(
    ("place", "node"),
    [
        ("# 31 nodes are in place; the order adds 31", "in place"),
        ("description: 31 nodes are in place; the order adds 31", "in place"),
        ("# 31 racks", "short"),
    ],
)
def test_a_report_reads_of_an_expansion_in_comments_as_the_check_does(place: str, node: str) -> None:
    """Modules in the description of a switch have no number, in the report as in the check."""
    states = {part.kind: part.state for part in decided(EXPANSION.format(place=place)).parts}
    assert (states["node"], states["transceiver"]) == (node, "no quantity")


def risk(days: float | None, low: float | None = None, high: float | None = None) -> Risk:
    money = None if low is None else Money(low, low if high is None else high, "EUR")
    return Risk(f"{days} {low} {high}", days, money, "why")


@pytest.mark.parametrize(
    ("given", "shown"),
    [
        # the most money first, at its upper end; then the most days
        ([risk(1.0), risk(9.0, 5.0), risk(2.0, 3.0, 8.0), risk(3.0)], [2, 1, 3]),
        ([risk(1.0), risk(2.0), risk(3.0), risk(4.0)], [3, 2, 1]),
        ([risk(0.0), risk(None), risk(None, 0.0), risk(0.0, 0.0, 0.0)], []),  # nothing is at risk
        ([risk(0.0005), risk(None, 0.5)], [1, 0]),
        ([risk(None, 0.0, 4.0), risk(None, 3.0)], [0, 1]),
        ([risk(2.0, 3.0), risk(4.0, 3.0)], [1, 0]),
    ],
)
def test_the_three_largest_risks_are_those_with_the_most_money_and_days(given: list[Risk], shown: list[int]) -> None:
    assert largest_risks(iter(given)) == [given[at] for at in shown]
