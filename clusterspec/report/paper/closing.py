"""What a careful reader wants last: findings, assumptions, formulas and sources."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from clusterspec.cost.plan import Plan
from clusterspec.cost.term import Term
from clusterspec.finding import Finding
from clusterspec.origin import Cited
from clusterspec.quantity import Figure
from clusterspec.report.assumed import value_text
from clusterspec.report.paper.blocks import Column, Findings, Section, Shown, Table, Text
from clusterspec.results.estimate_json import terms
from clusterspec.results.measured import row, shares
from clusterspec.source import Source
from clusterspec.units import say


def findings(found: tuple[Finding, ...], sources: Mapping[str, Source]) -> Section:
    """What the check found, the gravest first."""
    if not found:
        return Section("findings", "Findings", (Text("Nothing was found."),))
    shown = tuple(
        Shown(finding, str(finding.span), line_of(finding, sources))
        for finding in sorted(found, key=lambda finding: finding.severity.rank)
    )
    return Section("findings", "Findings", (Findings(shown),))


def line_of(finding: Finding, sources: Mapping[str, Source]) -> str:
    source = sources.get(finding.span.file)
    return source.line(finding.span.start.line).strip() if source else ""


def assumptions(plan: Plan) -> Section | None:
    """What nobody said and was taken all the same."""
    if not plan.assumptions:
        return None
    rows = tuple((key, value_text(value), why) for key, value, why in plan.assumptions)
    columns = (Column("Key"), Column("Taken"), Column("Why"))
    lead = "Nobody said these; state them in the spec where they are otherwise."
    return Section("assumptions", "Assumptions", (Table(columns, rows),), lead=lead)


def measured(plan: Plan) -> Section | None:
    """What the machine was seen to do, where that replaced what the catalog expects."""
    seen = shares(plan.design.cluster)
    if not seen:
        return None
    columns = (Column("Collective"), Column("Of"), Column("Reached", "right"), Column("Measured"))
    lead = "These were measured on the machine and stand in for the catalog's efficiencies."
    return Section("measured", "Measurements", (Table(columns, tuple(map(row, seen))),), lead=lead)


def formulas(plan: Plan) -> Section | None:
    """Every term of the estimate with its formula, sums before their parts."""
    rows = tuple(row for term in terms(plan) for row in formula_rows(term, 0))
    if not rows:
        return None
    columns = (Column("Term"), Column("Value", "right"), Column("Formula"), Column("Source"))
    return Section("formulas", "How it was computed", (Table(columns, rows),))


def formula_rows(term: Term, depth: int) -> Iterable[tuple[str, ...]]:
    name = "\u2003" * depth + term.label
    yield (name, say(term.value, term.unit), term.formula, term.source)
    if depth < 3:
        for part in term.parts:
            yield from formula_rows(part, depth + 1)


def sources(figures: Iterable[Figure]) -> Section | None:
    """The documents behind the catalog figures that were used, each once."""
    used: dict[tuple[str, str], tuple[set[str], str]] = {}
    for figure in figures:
        if isinstance(origin := figure.origin, Cited):
            facts, _ = used.setdefault((origin.source, origin.url), (set(), origin.read))
            facts.add(f"{origin.entry} {origin.fact}")
    rows = tuple((title, url, read, "; ".join(sorted(facts))) for (title, url), (facts, read) in sorted(used.items()))
    if not rows:
        return None
    return Section(
        "sources", "Sources", (Table((Column("Source"), Column("Address"), Column("Read"), Column("For")), rows),)
    )


def figures_of(plan: Plan) -> Iterable[Figure]:
    """Every figure that went into the plan and the cluster behind it."""
    cluster = plan.design.cluster
    if cluster is not None:
        part = cluster.accelerator
        yield from (f for f in (part.memory, part.memory_bandwidth, part.power) if f)
        yield from (cluster.scale_up.bandwidth, cluster.scale_up.peer_bandwidth)
        if cluster.scale_out:
            yield cluster.scale_out.nic_bandwidth
    for root in terms(plan):
        for term in root.walk():
            yield from (figure for _, figure in term.inputs)
