"""The checklist of delivery, warranty, support, payment and spares, for buyers."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from clusterspec.cluster.model import Cluster
from clusterspec.money import Money
from clusterspec.procurement.amounts import rounded_text
from clusterspec.report.estimate_rows import joined_notes
from clusterspec.report.paper.blocks import PaperTable, Section, TableColumn, TableRow
from clusterspec.results.full import FullReport
from clusterspec.spec.model import ClusterSpec, ProcurementSpec
from clusterspec.units import display, percent, plural, term_text

OPEN = "not stated"


def delivery_section(report: FullReport) -> Section | None:
    """The checklist; in a tender, the promises that the supplier has to make."""
    if report.tender:
        return _demands_section(report)
    rows = tuple(_decision_rows(report))
    if report.purchase is not None and report.purchase.basis == "rent":  # the operator of the cloud answers the others
        rows = tuple(row for row in rows if row.cells[1] != OPEN)
    if not rows:
        return None
    return _section_of_rows(rows)


ASKED = "to be stated in the offer"


def _demands_section(report: FullReport) -> Section:
    """The tender's requirements on delivery, warranty, support and burn-in, and the information that the offer must
    include.
    """
    demands = ("Delivery", "Needed by", "Warranty", "Support", "Repair time", "Burn-in")
    stated = {row.cells[0]: row.cells[1] for row in _decision_rows(report)}
    given = [(name, stated.get(name, OPEN)) for name in demands]
    rows = [
        TableRow((name, ASKED if answer == OPEN else answer), "spec", "fair" if answer == OPEN else "plain")
        for name, answer in given
        if answer != OPEN or name != "Needed by"
    ]
    rows += [TableRow((name, ASKED), "spec", "fair") for name in ("Power of a node at most", "Weight of a node")]
    rows.append(TableRow(("Price of each line", "on the attached price sheet"), "bill.items"))
    columns = (TableColumn("Subject"), TableColumn("What is demanded"))
    return Section("delivery", "What the offer promises", (PaperTable(columns, tuple(rows), "spec"),))


def _section_of_rows(rows: tuple[TableRow, ...]) -> Section:
    columns = (TableColumn("Question"), TableColumn("What is stated"))
    return Section("delivery", "Delivery and operation", (PaperTable(columns, tuple(_combined_rows(rows)), "spec"),))


def delivery_of_pools(machines: Mapping[str, FullReport], due: str) -> Section:
    """The checklist for all pools of a fleet. An answer names its pools unless it applies to all. ``due`` is the
    payment for all pools; empty if none is stated.
    """
    answers: dict[str, dict[str, list[str]]] = {}
    for name, report in machines.items():
        for row in _decision_rows(report):
            answers.setdefault(row.cells[0], {}).setdefault(row.cells[1], []).append(name)
    rows = [_row_of_pools(question, found, len(machines)) for question, found in answers.items()]
    return _section_of_rows((*rows, *([_decision_row("Payment", due)] if due else ())))


def _row_of_pools(question: str, answers: Mapping[str, Sequence[str]], pools: int) -> TableRow:
    """The row of a question with the answer of all pools, or with each answer and the names of its pools."""
    if len(answers) == 1 and len(next(iter(answers.values()))) == pools:
        return _decision_row(question, "" if OPEN in answers else next(iter(answers)))
    return _decision_row(question, "; ".join(f"{', '.join(names)}: {answer}" for answer, names in answers.items()))


MOST_OPEN = 2
"""Maximum number of unanswered questions with rows of their own; more are combined in one row."""


def _combined_rows(rows: tuple[TableRow, ...]) -> Iterator[TableRow]:
    """The rows of answered questions, and those of unanswered ones, which are combined in one row if there are many."""
    lacking = [row for row in rows if row.cells[1] == OPEN]
    if len(lacking) <= MOST_OPEN:
        yield from rows
        return
    yield from (row for row in rows if row.cells[1] != OPEN)
    first, *others = (row.cells[0] for row in lacking)
    yield TableRow(("Not stated", ", ".join((first, *(name[0].lower() + name[1:] for name in others)))), "spec", "fair")


def _spares_text(cluster: Cluster, written: ClusterSpec | None) -> str:
    """The spare nodes; empty if the spec states none."""
    if not cluster.spare_nodes and (written is None or written.spare_nodes is None):
        return ""
    return f"{cluster.spare_nodes or 'none'} in addition to {plural(cluster.nodes, 'node')}"


def _decision_rows(report: FullReport) -> Iterator[TableRow]:
    spec = report.estimate.design.spec
    buying, running = spec.procurement, spec.operations
    delivery = getattr(buying, "delivery", None)
    weeks = getattr(delivery, "weeks", None)
    yield _decision_row("Delivery", f"{weeks:g} weeks after the order" if weeks else "")
    for one in report.purchase.days if report.purchase is not None else ():
        yield _decision_row(one.event.capitalize(), f"{one.day}, {one.condition}")
    if needed := getattr(buying, "needed_by", None):
        yield _decision_row("Needed by", needed)
    milestones = getattr(delivery, "milestones", None)
    yield _decision_row("Milestones", "; ".join(milestones) if milestones else "")
    warranty = getattr(buying, "warranty", None)
    yield _decision_row("Warranty", term_text(warranty.value) if warranty else "")
    if support := _support_text(buying):
        yield _decision_row("Support", support)
    due = payment_text(buying, report.purchase.amount if report.purchase else None)
    if due or (report.purchase is not None and report.purchase.basis != "rent"):
        yield _decision_row("Payment", due)
    cluster = report.estimate.design.cluster
    if cluster is not None:
        part = cluster.platform or cluster.accelerator
        on_sale = f"{part.status.state} as of {part.status.as_of}"
        yield _decision_row("Availability", f"{part.name}: {joined_notes(on_sale, part.status.note)}")
    yield _decision_row("Spare nodes", _spares_text(cluster, spec.cluster) if cluster else "")
    repair = running.repair_time if running else None
    yield _decision_row("Repair time", display(repair.value, "s") if repair else "")
    burn_in = running.burn_in if running else None
    yield _decision_row("Burn-in", display(burn_in.value, "s") if burn_in else "")
    demanded = spec.acceptance or ()
    yield _decision_row("Acceptance tests demanded", f"{len(demanded)}" if demanded else "")


def _support_text(buying: ProcurementSpec | None) -> str:
    found = buying.support if buying else None
    if found is None:
        return ""
    answered = f"failed parts replaced within {found.response.written}" if found.response else ""
    return joined_notes(term_text(found.term.value) if found.term else "", answered)


def payment_text(buying: ProcurementSpec | None, amount: Money | None) -> str:
    """The shares of the price and their amounts by event, in the order of the events."""
    found = buying.payment if buying else None
    if found is None:
        return ""
    shares = (("at the order", found.order), ("on delivery", found.delivery), ("after acceptance", found.acceptance))
    return "; ".join(
        f"{percent(share)} {when}" + (f" ({rounded_text(amount * share)})" if amount is not None else "")
        for when, share in shares
        if share
    )


def _decision_row(question: str, answer: str) -> TableRow:
    return TableRow((question, answer or OPEN), "spec", "plain" if answer else "fair")
