"""The decision of a fleet's buyer: the amount for all pools, and the gates before a signature."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from clusterspec.analysis.full_report import purchase_report
from clusterspec.analysis.purchase.dates import term_gate
from clusterspec.analysis.purchase.gates import (
    CONDITIONS,
    DESIGN_ASKS,
    checked_gate,
    design_gate,
    findings_of_design,
    is_rented,
)
from clusterspec.analysis.purchase.gates_of_quote import budget_gate, quote_gate
from clusterspec.analysis.purchase.risks import IDLE, idle_value, is_lightly_loaded, largest_risks, risks_of_purchase
from clusterspec.cost.nameplates import machine_watts
from clusterspec.finding import Severity
from clusterspec.money import Money
from clusterspec.procurement.amounts import quoted_total, rounded_text, terms_text
from clusterspec.procurement.bill import Bill, may_have_fixed_ends
from clusterspec.procurement.offered import lines_of_pools
from clusterspec.procurement.quotes import (
    Machines,
    QuotedPart,
    joined_bill,
    needed_parts,
    parts_with_terms,
    quoted_parts_of_pools,
    with_included_parts,
    without_fabric,
)
from clusterspec.records import replace
from clusterspec.results.fleet import FleetReport
from clusterspec.results.full import FullReport
from clusterspec.results.verdict import Gate, GateStatus, Purchase, Risk, VerdictStatus
from clusterspec.rules.readers.purchases.orders import bought_pools
from clusterspec.rules.readers.quotes.fabric import pool_has_no_fabric
from clusterspec.spec.model import ProcurementSpec, QuoteLine
from clusterspec.standard import sum_of
from clusterspec.studies import Study
from clusterspec.units import display, percent, plural, term_text

if TYPE_CHECKING:
    from clusterspec.studies.fleet import FleetStudy

OF_POOLS = ("prices", "delivery", "warranty", "acceptance")
"""The gates that are evaluated for each pool and then joined."""
WORST_FIRST = (GateStatus.FAILED, GateStatus.OPEN, GateStatus.MET, GateStatus.NOT_NEEDED)


def with_purchase(study: Study, report: FleetReport) -> FleetReport:
    """The report of a fleet with the decision on its purchase. Raises `ValueError` for a study of one cluster."""
    parts = study.fleet
    if parts is None:
        raise ValueError("not a fleet")
    machines = {name: purchase_report(one) for name, one in parts.pools.items()}
    bills = {name: report.pool_bills[name].bill for name in machines if name in report.pool_bills}
    machines = {
        name: replace(one, bill=replace(one.bill, bill=bills.get(name, one.bill.bill)))
        for name, one in machines.items()
    }
    return replace(report, machines=machines, purchase=fleet_decision(parts, report, machines))


def fleet_decision(parts: FleetStudy, report: FleetReport, machines: Mapping[str, FullReport]) -> Purchase | None:
    """The decision on the machines of all pools; None if one of them cannot be resolved."""
    bought = {name: one.purchase for name, one in machines.items() if one.purchase is not None}
    if not machines or len(bought) < len(machines):
        return None
    buying = parts.study.spec.procurement or ProcurementSpec()
    counted = {
        name: (one.bill.bill, cluster)
        for name, one in machines.items()
        if (cluster := one.estimate.design.cluster) is not None
    }
    bill = joined_bill(counted)
    of_quote = _quoted_pools(parts, counted, buying.quote or ())
    fixed_ends = all(
        pool.design is not None and may_have_fixed_ends(pool.design) for pool in parts.fleet.pools.values()
    )
    found = quoted_parts_of_pools(of_quote, buying.quote or (), parts.study.settings.catalog)
    quoted_of_pools = parts_with_terms(with_included_parts(found, fixed_ends=fixed_ends), buying)
    quoted = quoted_total(buying, bill.currency)
    expected = _known_sum([one.expected for name, one in bought.items() if name in of_quote])
    rents = all(_is_rented(one) for one in machines.values())
    unused = _unused_rent(buying, report, machines)
    gates = [
        _design_gate(report),
        _joined_gate("prices", bought),
        (quote := quote_gate(quoted_of_pools, buying, (quoted, expected), report.findings, rents=rents)),
        _use_gate(report, machines),
        budget_gate(buying, (quoted, expected), quoted_of_pools, bill.currency, quote),
        _power_gate(parts, bought),
        term_gate(buying, unused, ""),
        *(_joined_gate(name, bought) for name in OF_POOLS[1:]),
    ]
    return Purchase(
        amount=quoted or expected,
        basis="" if not (quoted or expected) else "quote" if quoted else "rent" if rents else "prices",
        expected=expected,
        gates=tuple(checked_gate(gate, report.findings, buying) for gate in gates),
        parts=quoted_of_pools,
        terms=terms_text(buying),
        risks=tuple(largest_risks(_fleet_risks(parts, report, machines, (bill, quoted_of_pools, unused)))),
        days=next((one.days for one in bought.values() if one.days), ()),
    )


def _quoted_pools(parts: FleetStudy, machines: Machines, quote: Sequence[QuoteLine]) -> Machines:
    """The pools that the quote is for, without fabrics that none of their jobs needs. Pools that already exist
    according to the description are excluded, since no supplier was asked for them.
    """
    lines = lines_of_pools(quote, [cluster for _, cluster in machines.values()])
    nodes = {name: needed_parts(bill, lines).get("node", 0) for name, (bill, _) in machines.items()}
    bought = bought_pools(nodes, lines, parts.study.remarks)
    alone = {name for name, pool in parts.fleet.pools.items() if pool_has_no_fabric(parts.fleet, pool)}
    return {
        name: (without_fabric(bill) if name in alone else bill, cluster)
        for name, (bill, cluster) in machines.items()
        if name in bought
    }


def _is_rented(machine: FullReport) -> bool:
    cluster, cost = machine.estimate.design.cluster, machine.cost.cost
    return cluster is not None and cost is not None and is_rented(cost, cluster)


def _known_sum(amounts: Sequence[Money | None]) -> Money | None:
    """The sum; None if an amount is unknown or the currencies differ."""
    known = [each for each in amounts if each is not None]
    one_currency = len({each.currency for each in known}) == 1
    return Money.total(known) if one_currency and len(known) == len(amounts) else None


# Gates


def _joined_gate(name: str, purchases: Mapping[str, Purchase]) -> Gate:
    """One gate for all pools: the worst status, and each distinct text once with the names of its pools."""
    gates = {pool: gate for pool, one in purchases.items() for gate in one.gates if gate.gate == name}
    status = next(one for one in WORST_FIRST if any(gate.status is one for gate in gates.values()))
    asks = dict.fromkeys(gate.ask for gate in gates.values() if gate.status is status and gate.ask)
    return Gate(name, status, "; ".join(_texts_by_name(gates, len(gates))), "; ".join(asks))


def _texts_by_name(gates: Mapping[str, Gate], whole: int) -> list[str]:
    """Each text once, with the names of its pools or jobs unless it applies to all."""
    texts: dict[str, list[str]] = {}
    for name, gate in gates.items():
        texts.setdefault(gate.text, []).append(name)
    return [text if len(names) == whole else f"{', '.join(names)}: {text}" for text, names in texts.items()]


def _design_gate(report: FleetReport) -> Gate:
    """The gate of the jobs' designs, and of the findings about the fleet as a whole."""
    gates = {name: design_gate(one) for name, one in report.estimates.items()}
    statuses = [gate.status for gate in gates.values()]
    told = {name: gate for name, gate in gates.items() if gate.status is not GateStatus.MET}
    of_jobs = {(one.rule, one.message) for each in report.estimates.values() for one in each.findings}
    others = findings_of_design([one for one in report.findings if (one.rule, one.message) not in of_jobs])
    serious = [one for one in others if one.severity is not Severity.NOTE]
    texts = [*_texts_by_name(told, len(gates)), *(one.message for one in serious)]
    if GateStatus.FAILED in statuses or any(one.severity is Severity.ERROR for one in serious):
        status = VerdictStatus.FAILS
    elif GateStatus.OPEN in statuses or serious:
        status = VerdictStatus.RESERVATIONS
    else:
        status = VerdictStatus.CLEAR if gates else VerdictStatus.NOT_JUDGED
    none = "no job could be resolved" if not gates else "checked, nothing found against any job"
    asks = dict.fromkeys(gate.ask for gate in told.values() if gate.status is CONDITIONS[status] and gate.ask)
    return Gate("design", CONDITIONS[status], "; ".join(texts) or none, "; ".join(asks) or DESIGN_ASKS[status])


def _use_gate(report: FleetReport, machines: Mapping[str, FullReport]) -> Gate:
    """The nodes of all pools that no job has, and jobs whose load half of their engines would serve."""
    unknown = [name for name, use in report.pools.items() if use.idle is None or not use.nodes]
    if unknown:
        text = f"the nodes that jobs leave idle are not known, on {', '.join(unknown)}"
        return Gate("use", GateStatus.OPEN, text, "state the nodes of each job")
    nodes = {name: use.nodes or 0 for name, use in report.pools.items()}
    idle = {name: use.idle or 0 for name, use in report.pools.items() if use.idle}
    texts = []
    if any(count > IDLE * nodes[name] for name, count in idle.items()):
        of_pools = ", ".join(f"{count:,} of {nodes[name]:,} on {name}" for name, count in idle.items())
        value = _known_sum([idle_value(count / nodes[name], machines[name].bill.bill) for name, count in idle.items()])
        verb = "has" if sum(idle.values()) == 1 else "have"
        texts.append(f"{of_pools}{f' ({rounded_text(value)})' if value else ''} {verb} no job")
    light = [
        name
        for name, one in report.estimates.items()
        if one.plan.serving is not None and one.plan.serving.most_in_flight and is_lightly_loaded(one.plan.serving)
    ]
    if light:
        texts.append(f"half of the engines of {', '.join(light)} would serve the stated load")
    if texts:
        ask = "name the work of the nodes, or buy fewer"
        return Gate("use", GateStatus.OPEN, "nodes: " * bool(idle) + "; ".join(texts), ask)
    left = f"; {sum(idle.values()):,} are left as a reserve" if idle else ""
    return Gate("use", GateStatus.MET, f"jobs have the {plural(sum(nodes.values()), 'node')} of all pools{left}")


def _power_gate(parts: FleetStudy, purchases: Mapping[str, Purchase]) -> Gate:
    """The power of all pools against `operations.power_budget`, and each pool against its own limits."""
    own = _joined_gate("power", purchases)
    operations = parts.study.spec.operations
    if operations is None or operations.power_budget is None:
        return own
    watts = {name: machine_watts(pool.design) if pool.design else None for name, pool in parts.fleet.pools.items()}
    limit = display(operations.power_budget.value, "W")
    lacking = [name for name, each in watts.items() if each is None]
    drawn = sum_of(each for each in watts.values() if each is not None)
    if own.status is GateStatus.FAILED:
        return own
    if drawn > operations.power_budget.value:
        text = f"all pools draw {display(drawn, 'W')}, above the budget of {limit}"
        return Gate("power", GateStatus.FAILED, text, "take fewer nodes, or have the budget raised")
    if lacking:
        text = f"the power of {', '.join(lacking)} is not known; the budget of all pools is {limit}"
        return Gate("power", GateStatus.OPEN, text, "ask the supplier for the power of a node")
    share = percent(drawn / operations.power_budget.value, 2)
    return Gate("power", GateStatus.MET, f"all pools draw {display(drawn, 'W')}, {share} of the budget of {limit}")


def _unused_rent(buying: ProcurementSpec, report: FleetReport, machines: Mapping[str, FullReport]) -> Risk | None:
    """The rent after the last run on each rented pool; a pool with a service, or a run of unknown time, is in use."""
    if buying.term is None:
        return None
    rents, texts = [], []
    for name, one in machines.items():
        runs = [use.elapsed for use in report.jobs.values() if name in {use.pool, *use.beside}]
        rent = one.purchase.expected if one.purchase is not None else None
        if rent is None or not _is_rented(one) or not runs or None in runs:
            continue
        last = max(each for each in runs if each is not None)
        if (share := 1 - last / buying.term.value) > IDLE:
            rents.append(Money.of(rent.middle.low * share, rent.currency))
            term = term_text(buying.term.value)
            texts.append(f"the last run on {name} ends after {display(last, 's')} of the term of {term}")
    total = _known_sum(rents) if rents else None
    return Risk("rent after the runs", None, total, "; ".join(texts)) if total is not None else None


# Risks


def _fleet_risks(
    parts: FleetStudy,
    report: FleetReport,
    machines: Mapping[str, FullReport],
    whole: tuple[Bill, tuple[QuotedPart, ...], Risk | None],
) -> Iterator[Risk]:
    """The risks of each job's run, then the risks of the bill, the quote and the unused rent of all pools."""
    bill, quoted, unused = whole
    yield from () if unused is None else (unused,)
    for name, study in parts.jobs.items():
        of_job = purchase_report(study)
        if of_job.cost.cost is not None and name in report.jobs:
            for risk in risks_of_purchase(of_job, of_job.cost.cost, (), None):
                if risk.risk in OF_RUN:
                    yield replace(risk, risk=f"{risk.risk} of {name}")
    of_bill = next(iter(machines.values()))
    cost = of_bill.cost.cost
    if cost is not None:
        joined = replace(of_bill, bill=replace(of_bill.bill, bill=bill))
        yield from (each for each in risks_of_purchase(joined, cost, quoted, None) if each.risk in OF_BILL)
    for name, use in report.pools.items():
        if use.nodes and use.idle and use.idle > IDLE * use.nodes:
            value = idle_value(use.idle / use.nodes, machines[name].bill.bill)
            text = f"{use.idle:,} of {plural(use.nodes, 'node')} {'has' if use.idle == 1 else 'have'} no job"
            yield Risk(f"idle nodes of {name}", None, value.middle if value else None, text)


OF_RUN = frozenset({"interruptions", "checkpoint pauses", "slower steps"})
OF_BILL = frozenset({"prices", "parts without a quote", "sum of the quote", "lines of the quote"})
