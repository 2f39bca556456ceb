"""The procurement report of a whole fleet: gates, the bill of all pools, the cost by job, and acceptance tests."""

from __future__ import annotations

from collections.abc import Iterator

from clusterspec.records import replace
from clusterspec.report import cost_text, fleet_costs
from clusterspec.report.paper import decision, fleet
from clusterspec.report.paper.acceptance import LEAD, acceptance_blocks
from clusterspec.report.paper.appendix import section_of_findings
from clusterspec.report.paper.blocks import Block, Cards, Paper, Section, TableRow, Text, TitleFact
from clusterspec.report.paper.delivery import delivery_of_pools, payment_text
from clusterspec.report.paper.materials import never_counted_text, quote_table, uncounted_bullets
from clusterspec.report.paper.words import catalog_names, worded_section
from clusterspec.results.fleet import FleetReport
from clusterspec.results.verdict import GateStatus, Purchase
from clusterspec.units import display, plural
from clusterspec.units.display import joined_words

KIND = "Procurement report"


def composed_purchase(report: FleetReport) -> Paper:
    """The paper for the buyer of a fleet. If a pool is not resolved, there is no decision, only the known facts about
    the fleet.
    """
    purchase, whole = report.purchase, replace(fleet.composed_fleet(report), kind=KIND)
    if purchase is None:
        return whole
    written = report.spec.document if report.spec else None
    designs = [one.estimate.design for one in report.machines.values()]
    designs += [one.design for one in report.estimates.values()]
    named = (catalog_names(each.cluster, each.layout, each.workload) for each in designs)
    names = {key: name for each in named for key, name in each.items()}
    sections = [worded_section(each, names) for each in _sections(report, purchase) if each.blocks]
    return replace(
        whole,
        verdict_block=decision.signing_block(purchase),
        sections=tuple(sections),
        draft=purchase.status == "do not sign",
        signatories=(written.signatories or ()) if written else (),
        signed=_signed_facts(report, purchase),
        attachments=tuple(_price_sheets(report)),
    )


def _sections(report: FleetReport, purchase: Purchase) -> Iterator[Section]:
    yield _decision_section(report, purchase)
    yield _materials_section(report, purchase)
    yield _cost_section(report)
    yield from fleet.growth_sections(report)
    yield _acceptance_section(report)
    buying = report.spec.procurement if report.spec else None
    yield delivery_of_pools(report.machines, payment_text(buying, purchase.amount))
    yield section_of_findings(report.findings, report.sources)


def _decision_section(report: FleetReport, purchase: Purchase) -> Section:
    """The sentence, the headline figures, the risks and the gates, and who has the nodes."""
    blocks: list[Block] = [Cards(tuple(fleet.headline_cards(report)))]
    blocks += [risks] if (risks := decision.risks_of_purchase(purchase)) is not None else []
    blocks += [decision.gates_table(purchase), *fleet.fleet_pictures(report)]
    return Section("decision", "Decision", tuple(blocks), lead=decision_sentence(report, purchase))


def decision_sentence(report: FleetReport, purchase: Purchase) -> str:
    """The machines of all pools, their price and the runs on them; the first gate that fails, and the largest risk."""
    verb = "Rent" if purchase.basis == "rent" else "Buy"
    if purchase.status != "ready":
        verb = "Proposed rent:" if verb == "Rent" else "Proposed purchase:"
    clusters = [one.estimate.design.cluster for one in report.machines.values()]
    machines = [decision.machine_phrase(each) for each in clusters if each is not None]
    sentences = [f"{verb} {joined_words(machines)} for {decision.amount_phrase(purchase)}."]
    runs = [f"{name} {display(use.elapsed, 's')}" for name, use in report.jobs.items() if use.elapsed]
    if runs:
        sentences.append(f"Time of the runs, with pauses: {', '.join(runs)}.")
    failed = sorted(purchase.gates_with_status(GateStatus.FAILED), key=lambda gate: gate.gate == "design")
    sentences += [f"Do not sign: {decision.failure_phrase(failed[0], purchase)}."] if failed else []
    sentences += decision.risk_sentences(purchase)
    return " ".join(sentences)


def _materials_section(report: FleetReport, purchase: Purchase) -> Section:
    """The bill of each pool in one table, the quote compared with all bills, and the parts that no bill counts."""
    blocks: list[Block] = [table] if (table := fleet.bill_table(report)) is not None else []
    blocks += [quoted] if (quoted := quote_table(purchase)) is not None else []
    lacking = {name: bill.bill.not_counted for name, bill in report.pool_bills.items() if bill.bill.not_counted}
    for texts in dict.fromkeys(lacking.values()):
        names = [name for name in lacking if lacking[name] == texts]
        title = f"Not counted of {joined_words(names)}"
        blocks += uncounted_bullets(f"pools.{names[0]}.total.not_counted", texts, title=title)
    return Section("materials", "Bill of materials", tuple(blocks))


def _cost_section(report: FleetReport) -> Section:
    """Nodes, power and cost of each pool by part, and the bill of each job."""
    pools = fleet.pools_section(report)
    if not fleet_costs.has_costs(report):
        return pools
    rows = zip(report.jobs, fleet_costs.money_rows(report), strict=True)
    billed = [TableRow(cells, f"jobs.{name}", bare=True) for name, cells in rows]
    table = fleet.text_first_table(fleet_costs.MONEY_HEADS, billed, "jobs", 1, "What each job is billed")
    said = (
        "Each job is billed the cost of its pool for its nodes and its share of the term, with the energy that they "
        "draw; the cost of nodes without a job is billed to no job."
    )
    return Section(
        "cost",
        "Cost and power by pool",
        (
            *pools.blocks,
            table,
            Text(said),
            Text(
                never_counted_text(
                    next((one.estimate.design.spec.procurement for one in report.machines.values()), None)
                )
            ),
        ),
    )


def _acceptance_section(report: FleetReport) -> Section:
    """The acceptance tests of each pool."""
    blocks = [
        block
        for name, one in report.machines.items()
        for block in acceptance_blocks(one, f"pools.{name}.acceptance", name)
    ]
    return Section("acceptance", "Acceptance plan", tuple(blocks), lead=LEAD)


def _signed_facts(report: FleetReport, purchase: Purchase) -> tuple[TitleFact, ...]:
    """The signed data: document, date, hash of the spec, amount."""
    rows = [
        TitleFact("Document", f"{KIND}: {report.name}", "name"),
        TitleFact("Date", report.today.isoformat() if report.today else "", "date"),
        TitleFact("SHA-256 of the spec", report.input.sha256 or "unknown", "input.sha256"),
    ]
    if purchase.amount is not None:
        basis = {"quote": "as quoted", "prices": _priced_text(report), "rent": "rent over the term"}[purchase.basis]
        rows.append(TitleFact("Amount", f"{purchase.amount} ({basis})", "purchase.amount"))
    return tuple(rows)


def _priced_text(report: FleetReport) -> str:
    """The number of lines of the bills that have a price, as text."""
    lines = [item for bill in report.pool_bills.values() for item in bill.items]
    priced = sum(item.price is not None for item in lines)
    return "total" if priced == len(lines) else f"sum of {priced:,} of {plural(len(lines), 'line')}"


def _price_sheets(report: FleetReport) -> Iterator[tuple[str, str, str]]:
    """The price sheet of each pool."""
    for name, bill in report.pool_bills.items():
        if bill.items:
            sheet = cost_text.price_sheet_csv(bill)
            yield f"price-sheet-{name}.csv", sheet, f"Price sheet for suppliers, pool {name}"
