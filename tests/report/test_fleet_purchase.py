"""The report of the purchase of a fleet: its figures and labels worked out by hand from the prices of two pools."""

from __future__ import annotations

from collections.abc import Sequence

from clusterspec.records import replace
from clusterspec.report.paper.blocks import Block, Bullets, Paper, PaperTable, Section, Text
from clusterspec.report.paper.fleet_purchase import composed_purchase, decision_sentence
from clusterspec.results.verdict import Gate, GateStatus, Purchase
from tests.analysis.test_fleet_gates import BOUGHT, RENTED, report
from tests.effort import each, telling, thorough

PRICED = BOUGHT.split("  quote:")[0]
"""The same pools without a quote: of their eleven lines three have a price."""


def section(paper: Paper, key: str) -> Section:
    (found,) = (one for one in paper.sections if one.key == key)
    return found


def tables(blocks: Sequence[Block]) -> list[PaperTable]:
    return [one for one in blocks if isinstance(one, PaperTable)]


def purchase(text: str) -> Purchase:
    found = report(text).purchase
    assert found is not None
    return found


@thorough
def test_the_sections_stand_in_the_order_of_the_decision() -> None:
    paper = composed_purchase(report(BOUGHT))
    assert [(one.key, one.title) for one in paper.sections] == [
        ("decision", "Decision"),
        ("materials", "Bill of materials"),
        ("cost", "Cost and power by pool"),
        ("acceptance", "Acceptance plan"),
        ("delivery", "Delivery and operation"),
        ("findings", "Findings"),
    ]
    assert paper.verdict_block is not None
    assert (paper.verdict_block.word, paper.draft) == ("Do not sign: 2 gates fail, 4 gates are open", True)
    rented = composed_purchase(report(RENTED))
    assert rented.verdict_block is not None
    assert (rented.verdict_block.word, rented.draft) == ("Not ready to be signed: 2 gates are open", False)
    assert rented.signatories == ()


@telling(1)
@each(
    ("text", "amount"),
    [
        (BOUGHT, "9,530,000 USD (as quoted)"),  # 19 × 410,000 + 6 × 290,000
        (PRICED, "9,200,000 – 9,880,000 USD (sum of 3 of 11 lines)"),  # 17 × 400,000 to 440,000, 8 × 300,000
        (RENTED, "691,200 USD (rent over the term)"),  # (4 × 50 + 2 × 60) × 90 × 24 h
    ],
)
def test_what_is_signed_is_the_amount_and_its_basis(text: str, amount: str) -> None:
    found = report(text)
    facts = {fact.name: (fact.value, fact.field) for fact in composed_purchase(found).signed}
    assert list(facts) == ["Document", "Date", "SHA-256 of the spec", "Amount"]
    assert facts["Document"] == (f"Procurement report: {found.name}", "name")
    assert facts["SHA-256 of the spec"] == (found.input.sha256, "input.sha256")
    assert facts["Amount"] == (amount, "purchase.amount")
    assert found.today is not None and facts["Date"] == (found.today.isoformat(), "date")


def test_a_purchase_without_an_amount_signs_none_and_a_day_that_is_not_known_is_empty() -> None:
    found = replace(report(BOUGHT), today=None, purchase=replace(purchase(BOUGHT), amount=None))
    facts = {fact.name: fact.value for fact in composed_purchase(found).signed}
    assert facts["Date"] == "" and "Amount" not in facts


def test_the_sentence_has_the_machines_the_runs_the_gate_that_fails_and_the_largest_risk() -> None:
    found = decision_sentence(report(RENTED), purchase(RENTED))
    assert found.startswith(
        "Proposed rent: 4 nodes of p5.48xlarge (32 accelerators) and 2 nodes of p5.48xlarge (16 accelerators) for "
        "691 k USD (over the term). Time of the runs, with pauses: run "
    )
    assert "Do not sign" not in found and "The largest risk: rent after the runs, " in found
    gates = [Gate(name, GateStatus.FAILED, f"{name} is wrong") for name in ("design", "power")]
    assert "Do not sign: power is wrong." in decision_sentence(
        report(RENTED), replace(purchase(RENTED), gates=tuple(gates))
    )
    ready = replace(purchase(RENTED), gates=())
    assert decision_sentence(report(RENTED), ready).startswith("Rent 4 nodes of p5.48xlarge")
    bought = replace(purchase(BOUGHT), gates=(), risks=())
    without = replace(report(BOUGHT), jobs={})
    assert decision_sentence(without, bought) == (
        "Buy 17 nodes of DGX B200 (136 accelerators) and 8 nodes of DGX H200 (64 accelerators) for 9.53 M USD "
        "(as quoted; 9.2 – 9.88 M USD at the prices of the spec)."
    )


def test_the_quote_is_printed_with_the_need_of_all_pools() -> None:
    _, quote = tables(section(composed_purchase(report(BOUGHT)), "materials").blocks)
    assert [row.cells for row in quote.rows[:3]] == [
        ("B200 node", "17", "19", "+2", "7,790,000 USD", "–", "more than needed"),
        ("H200 node", "8", "6", "−2", "1,740,000 USD", "580,000 USD", "short"),
        ("leaf switch", "6", "–", "–", "–", "–", "missing from the quote"),
    ]
    assert len(tables(section(composed_purchase(report(PRICED)), "materials").blocks)) == 1


@thorough
def test_parts_that_no_bill_counts_are_listed_once_for_pools_that_lack_the_same() -> None:
    (bullets,) = (
        one for one in section(composed_purchase(report(BOUGHT)), "materials").blocks if isinstance(one, Bullets)
    )
    assert bullets.title == "Not counted of train and serve"
    assert [field for _, field in bullets.items] == [f"pools.train.total.not_counted[{number}]" for number in range(4)]
    other = BOUGHT.replace("nodes: 8, prices", "nodes: 8, power: {nodes_per_rack: 2}, prices")
    apart = [one for one in section(composed_purchase(report(other)), "materials").blocks if isinstance(one, Bullets)]
    assert [one.title for one in apart] == ["Not counted of train", "Not counted of serve"]


def test_each_job_is_billed_its_share_and_the_pools_are_summed() -> None:
    """17 × 420,000 and 8 × 300,000, of which the job on four of eight nodes is billed half."""
    pools, _, billed = tables(section(composed_purchase(report(BOUGHT)), "cost").blocks)
    assert [(row.cells[0], *row.cells[1:5], row.cells[-1]) for row in pools.rows] == [
        ("train", "16", "16", "0", "100 %", "7,140,000 USD"),
        ("serve", "8", "4", "4", "50 %", "2,400,000 USD"),
        ("all", "24", "20", "4", "", "9,540,000 USD"),
    ]
    assert billed.caption == "What each job is billed"
    assert [column.align for column in billed.columns] == ["left", "right", "right"]
    assert [(row.cells[:2], row.field) for row in billed.rows] == [
        (("a", "7,140,000 USD"), "jobs.a"),
        (("b", "1,200,000 USD"), "jobs.b"),
    ]
    said = [one.text for one in section(composed_purchase(report(BOUGHT)), "cost").blocks if isinstance(one, Text)]
    assert any(one.startswith("Each job is billed the cost of its pool") for one in said)
    assert said[-1].startswith("No tax is stated, and no amount includes one. No amount includes interest")


def test_each_pool_has_a_price_sheet_with_its_lines() -> None:
    sheets = composed_purchase(report(RENTED)).attachments
    assert [(name, title) for name, _, title in sheets] == [
        ("price-sheet-a.csv", "Price sheet for suppliers, pool a"),
        ("price-sheet-b.csv", "Price sheet for suppliers, pool b"),
    ]
    assert ["node,aws-p5-48xlarge,4," in sheets[0][1], "node,aws-p5-48xlarge,2," in sheets[1][1]] == [True, True]
