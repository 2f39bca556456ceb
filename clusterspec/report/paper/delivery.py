"""Checklist of delivery, warranty, spares and single points of failure with spec keys, and risks."""

from __future__ import annotations

from collections.abc import Iterator

from clusterspec.finding import Severity
from clusterspec.report.paper.blocks import PaperTable, Section, TableColumn, TableRow, Tone
from clusterspec.results.full import FullReport
from clusterspec.units import display, percent

OPEN = "not stated"


def section(report: FullReport) -> Section | None:
    """The checklist."""
    if report.tender:
        return None
    rows = tuple(_rows(report))
    columns = (TableColumn("Question"), TableColumn("What the spec states"), TableColumn("Key"))
    return Section("delivery", "Delivery and operation", (PaperTable(columns, rows, "spec"),))


def _rows(report: FullReport) -> Iterator[TableRow]:
    spec = report.estimate.design.spec
    buying, running = spec.procurement, spec.operations
    delivery = getattr(buying, "delivery", None)
    weeks = getattr(delivery, "weeks", None)
    yield _row("Delivery", f"{weeks:g} weeks" if weeks else "", "procurement.delivery.weeks")
    milestones = getattr(delivery, "milestones", None)
    yield _row("Milestones", "; ".join(milestones) if milestones else "", "procurement.delivery.milestones")
    warranty = getattr(buying, "warranty", None)
    yield _row("Warranty", warranty.written if warranty else "", "procurement.warranty")
    cluster = report.estimate.design.cluster
    spares = f"{cluster.spare_nodes} spare of {cluster.nodes} nodes" if cluster and cluster.spare_nodes else ""
    yield _row("Spare nodes", spares, "cluster.spare_nodes")
    repair = running.repair_time if running else None
    yield _row("Repair time", display(repair.value, "s") if repair else "", "operations.repair_time")
    burn_in = running.burn_in if running else None
    yield _row("Burn-in", display(burn_in.value, "s") if burn_in else "", "operations.burn_in")
    demanded = spec.acceptance or ()
    yield _row("Acceptance tests demanded", f"{len(demanded)}" if demanded else "", "acceptance")
    for failure in report.machine.failures if report.machine else ():
        text = f"loses {percent(failure.lost)} of {failure.who}"
        tone: Tone = "bad" if failure.lost >= 0.5 else "plain"
        yield TableRow(
            (f"If {failure.part} fails", text, "cluster.scale_out"),
            "machine.failures",
            tone,
        )


def _row(question: str, answer: str, key: str) -> TableRow:
    return TableRow((question, answer or OPEN, key), "spec", "plain" if answer else "fair")


def risks(report: FullReport) -> PaperTable | None:
    """The three most severe findings, ties in file order."""
    found = [pair for pair in enumerate(report.estimate.findings) if pair[1].severity is not Severity.NOTE]
    found.sort(key=lambda pair: pair[1].severity.rank)
    if report.tender or not found:
        return None
    rows = tuple(
        TableRow(
            (f"{finding.message} [{finding.rule}]", str(finding.severity)),
            f"findings[{number}].message",
            _tone(finding.severity),
        )
        for number, finding in found[:3]
    )
    return PaperTable(
        (TableColumn("Risk"), TableColumn("Severity")), rows, "findings", caption="The three most severe risks"
    )


def _tone(severity: Severity) -> Tone:
    return "bad" if severity is Severity.ERROR else "fair"
