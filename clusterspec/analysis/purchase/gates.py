"""The decision of a buyer: the amount to sign, and the gates before a signature."""

from __future__ import annotations

from collections.abc import Sequence

from clusterspec.analysis.areas import ALL_EQUIPMENT
from clusterspec.analysis.purchase.dates import (
    delivery_gate,
    purchase_days,
    run_text,
    sold_gate,
    term_gate,
    unused_rent,
)
from clusterspec.analysis.purchase.gates_of_quote import budget_gate, quote_gate
from clusterspec.analysis.purchase.risks import (
    IDLE,
    idle_value,
    is_lightly_loaded,
    largest_risks,
    risks_of_purchase,
)
from clusterspec.analysis.verdict import verdict
from clusterspec.cluster.model import Cluster, Workload
from clusterspec.cost.serving.latency import ServingTimes
from clusterspec.finding import Finding, Severity
from clusterspec.money import Money
from clusterspec.procurement.amounts import amount_with_terms, quoted_total, rounded_text, terms_text
from clusterspec.procurement.bill import Bill
from clusterspec.procurement.cost import Cost
from clusterspec.quantity import YEAR
from clusterspec.results import EstimateReport
from clusterspec.results.full import FullReport
from clusterspec.results.verdict import Area, Gate, GateStatus, Purchase, VerdictStatus
from clusterspec.rules.readers.purchases.warranties import MONTH, covered_time, is_covered_by_price
from clusterspec.rules.readers.quotes.fabric import parts_of_quote
from clusterspec.spec.model import ProcurementSpec, Spec
from clusterspec.units import display, percent, plural, term_text, years_text

RULES_OF_GATES = {
    "prices": (
        "cloud-priced-as-purchase",
        "energy-beside-rent",
        "full-utilization-assumed",
        "impossible-pue",
        "impossible-utilization",
        "incomplete-cost-inputs",
        "network-share-unusual",
        "optimistic-pue",
        "part-price-outside-market",
        "price-outside-market",
        "purchase-dearer-than-rent",
        "stale-prices",
        "tariff-hours-overlap",
        "undated-prices",
        "unpriced-part",
    ),
    "quote": (
        "fleet-quote-off-bill",
        "quote-arithmetic",
        "quote-names-other-part",
        "quote-off-bill",
        "quote-off-prices",
        "quote-unit-miscounted",
    ),
    "use": ("pool-without-job", "shares-leave-nodes-idle"),
    "budget": ("fleet-over-budget", "over-budget"),
    "power": (
        "fleet-over-power-budget",
        "pdus-below-rack",
        "power-over-budget",
        "rack-over-power-limit",
        "row-over-power-limit",
    ),
    "term": (
        "commitment-off-term",
        "job-outlasts-term",
        "run-longer-than-target",
        "term-outlives-hardware",
        "term-shorter-than-run",
    ),
    "delivery": ("delivery-misses-date", "impossible-date", "short-lead-time"),
    "warranty": ("support-slower-than-repair", "warranty-shorter-than-term"),
    "acceptance": ("payment-before-acceptance", "procurement-without-acceptance"),
}
"""Rules whose findings count at a specific gate rather than at the gate of the design, by gate."""
RESTATED = frozenset(
    {
        *(
            "delivery-misses-date",
            "fleet-over-budget",
            "fleet-over-power-budget",
            "fleet-quote-off-bill",
            "over-budget",
        ),
        *("power-over-budget", "quote-off-bill", "rack-over-power-limit", "row-over-power-limit"),
    }
)
"""Rules whose errors repeat what a failed gate already states."""
MISSING_INPUTS = "incomplete-cost-inputs"
"""The rule whose notes keep a gate open if they report that the cost excludes energy."""
_OF_GATES = frozenset(rule for rules in RULES_OF_GATES.values() for rule in rules)
DESIGN_ASKS = {
    VerdictStatus.FAILS: "have the errors corrected",
    VerdictStatus.RESERVATIONS: "have each warning corrected or accepted in writing",
    VerdictStatus.NOT_JUDGED: "have the missing parts of the spec added",
    VerdictStatus.CLEAR: "",
}
CONDITIONS = {
    VerdictStatus.FAILS: GateStatus.FAILED,
    VerdictStatus.RESERVATIONS: GateStatus.OPEN,
    VerdictStatus.NOT_JUDGED: GateStatus.OPEN,
    VerdictStatus.CLEAR: GateStatus.MET,
}


def purchase_decision(report: FullReport, remarks: str) -> Purchase | None:
    """The decision on a purchase or a rent; None if the cluster cannot be resolved.

    ``remarks`` are the description and the comments of the spec: they may say that a part of the machine is in place.
    """
    design, bill, cost = report.estimate.design, report.bill.bill, report.cost.cost
    cluster, spec = design.cluster, design.spec
    if cluster is None or cost is None:
        return None
    buying = spec.procurement or ProcurementSpec()
    parts = parts_of_quote(design, cluster, bill, remarks)
    findings = report.estimate.findings
    quoted = quoted_total(buying, bill.currency)
    expected = expected_amount(cost, bill, buying)
    rents = is_rented(cost, cluster)
    unused = unused_rent(report, expected) if rents else None
    gates = (
        design_gate(report.estimate),
        _price_gate(bill, cost, rents=rents),
        (quote := quote_gate(parts, buying, (quoted, expected), findings, rents=rents)),
        _use_gate(cost, bill, report.estimate.plan.serving, design.workload),
        budget_gate(buying, (quoted, expected), parts, bill.currency, quote),
        _power_gate(report.areas, cost, cluster),
        term_gate(buying, unused, run_text(report)),
        sold_gate(delivery_gate(spec, report.today, rents=rents), cluster),
        _warranty_gate(buying, rents=rents),
        _acceptance_gate(spec, rents=rents),
    )
    amount, basis = (quoted, "quote") if quoted else (expected, "rent" if rents else "prices")
    return Purchase(
        amount=amount,
        basis=basis if amount else "",
        expected=expected,
        gates=tuple(checked_gate(gate, findings, buying) for gate in gates),
        parts=parts,
        terms=terms_text(buying),
        risks=tuple(largest_risks(risks_of_purchase(report, cost, parts, unused))),
        days=() if rents else tuple(purchase_days(report)),
    )


def expected_amount(cost: Cost, bill: Bill, buying: ProcurementSpec | None) -> Money | None:
    """The cost of the design at the spec's prices, less the discount and with the tax: the rent over the term, else the
    sum of the priced lines.
    """
    rent = next((part for part in (cost.total.parts if cost.total else ()) if part.name == "rent"), None)
    amount = bill.total if rent is None else Money(*rent.ends, cost.currency)
    return amount if amount is None or buying is None else amount_with_terms(amount, buying)


def is_rented(cost: Cost, cluster: Cluster) -> bool:
    rent = cost.total is not None and any(part.name == "rent" for part in cost.total.parts)
    return rent or cluster.cloud


# Gates, each from what the spec states and what was computed


def design_gate(estimate: EstimateReport) -> Gate:
    """The verdict on the design, in the words of its findings. Findings about the purchase belong to other gates."""
    found = findings_of_design(estimate.findings)
    waived = tuple(one for one in estimate.waived if one.finding.rule not in _OF_GATES)
    judged = verdict(estimate.plan, found, waived, words=True)
    reasons = (*judged.reasons, *(f"not judged: {part}" for part in judged.not_judged))
    text = "; ".join(reasons) or "checked, nothing found against it"
    return Gate("design", CONDITIONS[judged.status], text, DESIGN_ASKS[judged.status])


def findings_of_design(findings: Sequence[Finding]) -> tuple[Finding, ...]:
    """The findings that count at the gate of the design."""
    return tuple(one for one in findings if one.rule not in _OF_GATES)


def checked_gate(gate: Gate, findings: Sequence[Finding], buying: ProcurementSpec) -> Gate:
    """The gate, replaced by the worst finding on its subject if that is worse than the gate's own result.

    Notes do not count, except the note that the cost leaves energy out.
    """
    found = [one for one in findings if one.rule in RULES_OF_GATES.get(gate.gate, ())]
    counted = [one for one in found if one.severity is not Severity.NOTE or _leaves_energy_out(one, buying)]
    worst = min(counted, key=lambda one: one.severity.rank, default=None)
    if worst is None:
        return gate
    if gate.status is GateStatus.FAILED:
        others = [one for one in counted if one.severity is Severity.ERROR and one.rule not in RESTATED]
        texts, asks = (
            dict.fromkeys((first, *rest))
            for first, rest in (
                (gate.text, [one.message for one in others]),
                (gate.ask, [one.help for one in others if one.help]),
            )
        )
        return Gate(gate.gate, gate.status, "; ".join(texts), "; ".join(asks))
    if worst.severity is Severity.ERROR:
        return Gate(gate.gate, GateStatus.FAILED, worst.message, worst.help or gate.ask)
    return gate if gate.status is GateStatus.OPEN else Gate(gate.gate, GateStatus.OPEN, worst.message, worst.help or "")


def _leaves_energy_out(finding: Finding, buying: ProcurementSpec) -> bool:
    """Whether a finding reports that the cost excludes energy because no price of electricity is stated."""
    return finding.rule == MISSING_INPUTS and finding.path == ("procurement",) and not buying.electricity


def _price_gate(bill: Bill, cost: Cost, *, rents: bool) -> Gate:
    if rents and cost.total is not None:
        return Gate("prices", GateStatus.MET, "the rent has a price" + (f" of {cost.as_of}" if cost.as_of else ""))
    if rents:
        return Gate(
            "prices",
            GateStatus.OPEN,
            "the rent has no price (`procurement.prices.node_hour`), or no term",
            "ask for the price of an hour and a term",
        )
    if bill.total is None:
        return Gate(
            "prices",
            GateStatus.OPEN,
            "no part has a price (`procurement.prices`)",
            "ask suppliers to fill in the price sheet",
        )
    lines = len(bill.items)
    if bill.unpriced or bill.lacking:
        unpriced = ", ".join(dict.fromkeys(item.part for item in bill.unpriced))
        uncounted = list(dict.fromkeys(text.partition(":")[0] for text in bill.lacking))
        texts = []
        if unpriced:
            verb = "has" if len(bill.unpriced) == 1 else "have"
            texts.append(f"{len(bill.unpriced)} of {plural(lines, 'line')} of the bill {verb} no price: {unpriced}")
        if uncounted:
            texts.append(f"{plural(len(uncounted), 'part')} not counted: {', '.join(uncounted)}")
        return Gate("prices", GateStatus.OPEN, "; ".join(texts), "ask for these prices")
    if cost.as_of is None:
        return Gate(
            "prices", GateStatus.OPEN, "the prices have no date (`procurement.as_of`)", "ask how long they are valid"
        )
    return Gate(
        "prices",
        GateStatus.MET,
        f"{plural(lines, 'line')} of the bill {'is' if lines == 1 else 'are'} priced, as of {cost.as_of}",
    )


def _use_gate(cost: Cost, bill: Bill, times: ServingTimes | None, work: Workload | None) -> Gate:
    used, whole = cost.accelerators_used, cost.accelerators
    if used is None:
        if work is not None:
            text = "the spec has no layout that runs, so that the accelerators that the work uses are not known"
        else:
            text = "no planned work is stated; in a fleet, the report of a job (`--job`) has the work of its pool"
        return Gate("use", GateStatus.OPEN, text, "have the work planned")
    idle = 1 - used / whole if whole else 0.0
    most = times.most_in_flight if times is not None else None
    if idle <= IDLE and times is not None and most and is_lightly_loaded(times):
        targeted = work is not None and work.serving is not None and work.serving.targets
        held = "at which the targets are met" if targeted else "that the engines run at once"
        share = percent(times.offered / most, 2)
        text = f"the load has {plural(round(times.offered), 'request')} in flight, {share} of the {most:,} {held}"
        return Gate("use", GateStatus.OPEN, text, "plan fewer engines, or state the load that the others are for")
    if idle <= IDLE:
        return Gate("use", GateStatus.MET, f"the planned work uses {used:,.0f} of {whole:,} accelerators")
    value = idle_value(idle, bill)
    worth = f", {rounded_text(value)} of the nodes" if value else ""
    return Gate(
        "use",
        GateStatus.OPEN,
        f"{whole - used:,.0f} of {whole:,} accelerators ({percent(idle, 2)}{worth}) have no work",
        "name their work, or buy fewer",
    )


def _power_gate(areas: tuple[Area, ...], cost: Cost, cluster: Cluster) -> Gate:
    if cluster.cloud:
        return Gate("power", GateStatus.NOT_NEEDED, "the operator of the cloud supplies it")
    drawn = display(cost.watts.value, "W") if cost.watts.parts else ""
    judged = [
        (area, area.value, area.limit)
        for area in areas
        if area.area == "power" and area.value is not None and area.limit is not None
    ]
    worst = next((each for each in judged if each[0].state == "bad"), None)
    if worst is not None:
        area, value, limit = worst
        ask = "take fewer nodes, spread them over more racks, or have the limit raised"
        text = f"{area.constraint} needs {display(value, 'W')}, above the limit of {display(limit, 'W')}"
        return Gate("power", GateStatus.FAILED, text, ask)
    above = next((each for each in judged if each[1] > each[2]), None)
    if above is not None:
        area, value, limit = above
        text = f"{area.constraint} needs {display(value, 'W')} ({area.note}); the limit is {display(limit, 'W')}"
        return Gate("power", GateStatus.OPEN, text, "ask the supplier for the power of a node")
    if judged:
        kept = {"its budget" if area.constraint == ALL_EQUIPMENT else "the limit of a rack" for area, _, _ in judged}
        limits = " and ".join(sorted(kept))
        return Gate("power", GateStatus.MET, f"within {limits}; the machine draws {drawn or 'an unknown power'}")
    needs = f"the machine draws {drawn} and no limit is stated" if drawn else "neither the power nor a limit is known"
    return Gate("power", GateStatus.OPEN, f"{needs} (`cluster.power`)", "ask the site for its limit")


def _warranty_gate(buying: ProcurementSpec, *, rents: bool) -> Gate:
    if rents:
        return Gate("warranty", GateStatus.NOT_NEEDED, "rented")
    covered, stated = covered_time(buying), _warranty_text(buying)
    if buying.term is not None and is_covered_by_price(buying):
        term = term_text(buying.term.value)
        return Gate(
            "warranty", GateStatus.MET, f"{stated or 'none stated'}; the price of support covers the term of {term}"
        )
    if covered is None:
        return Gate(
            "warranty", GateStatus.OPEN, "not stated (`procurement.warranty`)", "ask for a warranty over the term"
        )
    if buying.term is not None and (short := buying.term.value - covered) > MONTH:
        text = f"{stated}, {years_text(short / YEAR)} less than the term of {term_text(buying.term.value)}"
        return Gate("warranty", GateStatus.OPEN, text, "ask for the price of the missing years")
    return Gate("warranty", GateStatus.MET, stated)


def _warranty_text(buying: ProcurementSpec) -> str:
    """The warranty and the support, by their lengths; empty if neither is stated."""
    support = buying.support.term if buying.support is not None else None
    texts = [term_text(buying.warranty.value)] if buying.warranty is not None else []
    texts += [f"support of {term_text(support.value)}"] if support is not None else []
    return " and ".join(texts)


def _acceptance_gate(spec: Spec, *, rents: bool) -> Gate:
    demanded = len(spec.acceptance or ())
    if demanded:
        return Gate("acceptance", GateStatus.MET, f"{plural(demanded, 'test')} demanded")
    if rents:
        return Gate("acceptance", GateStatus.NOT_NEEDED, "rented")
    text = "no test is demanded (`acceptance`); this report proposes some"
    return Gate("acceptance", GateStatus.OPEN, text, "demand the tests of the acceptance plan")
