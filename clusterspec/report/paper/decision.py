"""The first page: verdict, areas, waivers, headline figures, the checklist for buyers, and risks."""

from __future__ import annotations

from collections.abc import Iterator

from clusterspec.finding import Severity
from clusterspec.report.estimate_rows import VERDICT_WORDS, joined_notes, serving_rows
from clusterspec.report.paper.blocks import (
    Block,
    Card,
    Cards,
    PaperTable,
    Section,
    TableColumn,
    TableRow,
    Tone,
    VerdictBlock,
)
from clusterspec.results.full import FullReport
from clusterspec.results.verdict import REQUESTS, Area, Verdict, VerdictStatus
from clusterspec.units import display, percent, plain, portion

# Checklist of delivery, warranty, spares and single points of failure with spec keys, and risks

OPEN = "not stated"


def delivery_section(report: FullReport) -> Section | None:
    """The checklist."""
    if report.tender:
        return None
    rows = tuple(_decision_rows(report))
    columns = (TableColumn("Question"), TableColumn("What the spec states"), TableColumn("Key"))
    return Section("delivery", "Delivery and operation", (PaperTable(columns, rows, "spec"),))


def _decision_rows(report: FullReport) -> Iterator[TableRow]:
    spec = report.estimate.design.spec
    buying, running = spec.procurement, spec.operations
    delivery = getattr(buying, "delivery", None)
    weeks = getattr(delivery, "weeks", None)
    yield _decision_row("Delivery", f"{weeks:g} weeks" if weeks else "", "procurement.delivery.weeks")
    milestones = getattr(delivery, "milestones", None)
    yield _decision_row("Milestones", "; ".join(milestones) if milestones else "", "procurement.delivery.milestones")
    warranty = getattr(buying, "warranty", None)
    yield _decision_row("Warranty", warranty.written if warranty else "", "procurement.warranty")
    cluster = report.estimate.design.cluster
    spares = f"{cluster.spare_nodes} spare of {cluster.nodes} nodes" if cluster and cluster.spare_nodes else ""
    yield _decision_row("Spare nodes", spares, "cluster.spare_nodes")
    repair = running.repair_time if running else None
    yield _decision_row("Repair time", display(repair.value, "s") if repair else "", "operations.repair_time")
    burn_in = running.burn_in if running else None
    yield _decision_row("Burn-in", display(burn_in.value, "s") if burn_in else "", "operations.burn_in")
    demanded = spec.acceptance or ()
    yield _decision_row("Acceptance tests demanded", f"{len(demanded)}" if demanded else "", "acceptance")
    for failure in report.machine.failures if report.machine else ():
        text = f"loses {percent(failure.lost)} of {failure.who}"
        tone: Tone = "bad" if failure.lost >= 0.5 else "plain"
        yield TableRow(
            (f"If {failure.part} fails", text, "cluster.scale_out"),
            "machine.failures",
            tone,
        )


def _decision_row(question: str, answer: str, key: str) -> TableRow:
    return TableRow((question, answer or OPEN, key), "spec", "plain" if answer else "fair")


def risks_table(report: FullReport) -> PaperTable | None:
    """The three most severe findings, ties in file order."""
    found = [pair for pair in enumerate(report.estimate.findings) if pair[1].severity is not Severity.NOTE]
    found.sort(key=lambda pair: pair[1].severity.rank)
    if report.tender or not found:
        return None
    rows = tuple(
        TableRow(
            (f"{finding.message} [{finding.rule}]", str(finding.severity)),
            f"findings[{number}].message",
            _severity_tone(finding.severity),
        )
        for number, finding in found[:3]
    )
    return PaperTable(
        (TableColumn("Risk"), TableColumn("Severity")), rows, "findings", caption="The three most severe risks"
    )


def _severity_tone(severity: Severity) -> Tone:
    return "bad" if severity is Severity.ERROR else "fair"


TONES: dict[VerdictStatus, Tone] = {
    VerdictStatus.FAILS: "bad",
    VerdictStatus.RESERVATIONS: "fair",
    VerdictStatus.CLEAR: "good",
    VerdictStatus.NOT_JUDGED: "plain",
}
STATES: dict[str, tuple[str, Tone]] = {
    "good": ("holds", "good"),
    "tight": ("tight", "fair"),
    "bad": ("exceeded", "bad"),
    "open": ("not judged", "plain"),
}


SIGNING = {
    VerdictStatus.FAILS: "Do not sign",
    VerdictStatus.RESERVATIONS: "Sign only if you accept these reservations",
    VerdictStatus.CLEAR: "Nothing found against signing",
    VerdictStatus.NOT_JUDGED: "Not ready to be signed: not all of it was judged",
}
"""The decision that a buyer takes from a verdict."""


def verdict_block(verdict: Verdict, kind: str, *, tender: bool) -> VerdictBlock:
    """The verdict of the first page; for buyers with the decision first."""
    word = VERDICT_WORDS[verdict.status]
    if kind == "procurement" and not tender:
        word = f"{SIGNING[verdict.status]}: {word[0].lower()}{word[1:]}"
    return VerdictBlock(word, TONES[verdict.status], verdict.reasons, verdict.not_judged)


def decision_section(report: FullReport) -> Section:
    """Headline figures, the verdict by area, and the waivers."""
    blocks: list[Block] = []
    if shown := headline_cards(report):
        blocks.append(Cards(shown))
    if report.areas:
        blocks.append(areas_table(report.areas))
    if report.estimate.waived and not report.tender:
        blocks.append(waivers_table(report))
    return Section("decision", "Decision" if report.kind == "procurement" else "At a glance", tuple(blocks))


def areas_table(found: tuple[Area, ...]) -> PaperTable:
    """One row per area: binding constraint, value, limit and headroom."""
    columns = (
        TableColumn("Area", key="area"),
        TableColumn("Binding constraint", key="constraint"),
        TableColumn("Value", "right", "value"),
        TableColumn("Limit", "right", "limit"),
        TableColumn("Headroom", "right", "headroom"),
        TableColumn("Verdict", key="state"),
    )
    rows = tuple(_area_row(number, area) for number, area in enumerate(found))
    return PaperTable(columns, rows, "areas", caption="Verdict by area")


def _area_row(number: int, area: Area) -> TableRow:
    word, tone = STATES[area.state]
    note = f" ({area.note})" if area.note and area.note != word else ""
    cells = (
        area.area[0].upper() + area.area[1:],
        area.constraint + note,
        amount_text(area.value, area.unit),
        amount_text(area.limit, area.unit),
        headroom_text(area),
        word,
    )
    return TableRow(cells, f"areas[{number}]", tone)


def headroom_text(area: Area) -> str:
    """What remains of the limit; what exceeds twice the limit as a multiple of it."""
    if area.headroom is None:
        return "–"
    if area.headroom < -1:
        return f"{plain(1 - area.headroom, 2)} × the limit"
    return percent(area.headroom, 2) if area.headroom < 0 else portion(area.headroom)


def amount_text(value: float | None, unit: str) -> str:
    """A number of an area; shares are percentages."""
    if value is None:
        return "–"
    if unit == REQUESTS:
        return f"{value:,.0f}"
    return percent(value) if unit == "1" else display(value, unit)


def waivers_table(report: FullReport) -> PaperTable:
    """The waived findings with reason and expiry date."""
    columns = (
        TableColumn("Waived finding", key="rule"),
        TableColumn("Severity", key="severity"),
        TableColumn("Reason", key="reason"),
        TableColumn("Until", key="until"),
        TableColumn("Expires", key="until"),
    )
    rows = []
    for number, one in enumerate(report.estimate.waived):
        until = one.waiver.until
        left = (until - report.today).days if until else None
        expires = "never" if left is None else "today" if left == 0 else f"in {left:,} day{'' if left == 1 else 's'}"
        cells = (
            f"{one.finding.rule}: {one.finding.message}",
            str(one.finding.severity),
            one.waiver.reason,
            until.isoformat() if until else "no date",
            expires,
        )
        rows.append(TableRow(cells, f"waived[{number}]", "bad" if one.finding.severity.rank == 0 else "plain"))
    return PaperTable(columns, tuple(rows), "waived", caption="Waivers")


def headline_cards(report: FullReport) -> tuple[Card, ...]:
    """The headline figures that could be computed. Prices come first for buyers."""
    plan = report.estimate.plan
    held, used = report.estimate.condition, report.estimate.used_text("")
    share = f"on {used}" if " of " in used else ""
    found = []
    if plan.step_time:
        band = plan.step_time_range
        span = f"{display(band[0], 's')} to {display(band[1], 's')}" if band else ""
        found.append(
            Card("Step time", display(plan.step_time.value, "s"), joined_notes(span, share, held), "estimate.step_time")
        )
    if plan.mfu is not None:
        again = f"HFU {percent(plan.hfu)}" if plan.hfu is not None else ""
        found.append(Card("MFU", percent(plan.mfu), joined_notes(again, held), "estimate.mfu"))
    if plan.tokens_per_second_per_accelerator is not None:
        field, rate = "estimate.tokens_per_second_per_accelerator", plan.tokens_per_second_per_accelerator
        each = "per accelerator used" if share else "per accelerator"
        found.append(Card("Tokens per second", f"{rate:,.0f}", joined_notes(each, held), field))
    performance = (*found, *_serving_cards(report, held), *_memory_cards(report), *_run_cards(report, held, share))
    prices = tuple(_price_cards(report))
    return (*prices, *performance) if report.kind == "procurement" else (*performance, *prices)


def _serving_cards(report: FullReport, held: str) -> list[Card]:
    """The times of a serving plan, by the names and notes of `estimate`."""
    plan = report.estimate.plan
    work = plan.design.workload
    if plan.serving is None or work is None or work.serving is None:
        return []
    found: list[Card] = []
    for name, value, note, field in serving_rows(plan.serving, work.serving, held):
        title = f"{found[-1].label}, {name.strip()}" if name.startswith(" ") else f"{name[0].upper()}{name[1:]}"
        found.append(Card(title, value, note, f"estimate.serving.{field}"))
    return found


def _memory_cards(report: FullReport) -> list[Card]:
    plan = report.estimate.plan
    if plan.memory is None or plan.memory.capacity is None:
        return []
    total, capacity = plan.memory.total.value, plan.memory.capacity.value
    low, high = plan.memory_range or (total, total)
    tone: Tone = "bad" if low > capacity else "fair" if high > capacity else "good"
    word = {"bad": "does not fit", "fair": "may not fit", "good": "fits"}[tone]
    note = f"{word}: {display(total, 'B')} of {plan.capacity_text}"
    return [Card("Memory", percent(total / capacity), note, "estimate.memory.total", tone)]


def _run_cards(report: FullReport, held: str, share: str) -> list[Card]:
    plan, kept = report.estimate.plan, report.reliability
    if plan.time_to_train is None:
        return []
    if kept is None or kept.with_interruptions is None:
        return [
            Card(
                "Run",
                display(plan.time_to_train, "s"),
                joined_notes("without interruptions", share, held),
                "estimate.time_to_train",
            )
        ]
    note = joined_notes(f"{display(plan.time_to_train, 's')} without interruptions", share, held)
    return [
        Card("Run with interruptions", display(kept.with_interruptions, "s"), note, "reliability.with_interruptions")
    ]


def _price_cards(report: FullReport) -> list[Card]:
    from clusterspec.procurement.bill import money_text

    cost, bill = report.cost.cost, report.bill.bill
    found = []
    if bill.total is not None:
        dated = f"prices of {cost.as_of}" if cost and cost.as_of else "prices without a date"
        found.append(Card(bill.total_title, money_text(bill.total, bill.currency), dated, "bill.total.price"))
    if cost and cost.total and cost.years:
        over = f"over {cost.years:g} years" + ("; a partial sum" if cost.missing else "")
        found.append(
            Card("Cost over the term", display(cost.total.value, cost.currency or "currency"), over, "cost.total")
        )
    if cost and cost.per_million_tokens and report.serves:
        each = display(cost.per_million_tokens.value, cost.currency or "currency")
        found.append(Card("A million output tokens", each, "at this load", "cost.per_million_output_tokens"))
    return found
