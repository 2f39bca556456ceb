"""Appendix of a report: compared designs, findings, assumptions, formulas, sources, glossary, and the spec."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

from clusterspec.cost.plan import Plan
from clusterspec.cost.term import Term
from clusterspec.finding import Finding
from clusterspec.origin import Cited
from clusterspec.procurement.bill import money_text
from clusterspec.quantity import Figure
from clusterspec.report.estimate_rows import VERDICT_WORDS, change_text, value_text
from clusterspec.report.paper.blocks import (
    Block,
    Code,
    Findings,
    PaperTable,
    Section,
    Shown,
    TableColumn,
    TableRow,
    Text,
)
from clusterspec.results import count
from clusterspec.results.estimate_json import row, shares, terms
from clusterspec.results.full import FullReport
from clusterspec.results.full import glossary as words
from clusterspec.source import Source
from clusterspec.units import display, percent, plural

# Designs side by side: price, power, time, tokens, risk


def comparison_section(report: FullReport) -> Section | None:
    """This design and the compared ones, one column each."""
    if not report.against:
        return None
    designs = (report, *report.against)
    names = ("This design", *(f"{letter}: {other.title}" for letter, other in zip("BCD", report.against, strict=False)))
    columns = (TableColumn("What"), *(TableColumn(name, "right") for name in names))
    rows = [
        TableRow(
            (label, *(read(one) for one in designs)), field, fields=("", *_field_names(field, len(report.against)))
        )
        for label, field, read in ROWS
        if any(read(one) != "–" for one in designs)
    ]
    return Section("options", "Options", (PaperTable(columns, tuple(rows), "against"),))


def _field_names(field: str, others: int) -> tuple[str, ...]:
    """The field of this design and of each other one."""
    return (field, *(f"against[{number}].{field}" for number in range(others)))


def _verdict_text(report: FullReport) -> str:
    return VERDICT_WORDS[report.estimate.verdict.status]


def _findings_text(report: FullReport) -> str:
    counted = count(report.estimate.findings)
    return f"{counted['error']} / {counted['warning']}"


def _price_text(report: FullReport) -> str:
    bill = report.bill.bill
    return money_text(bill.total, bill.currency) if bill.total is not None else "–"


def _term_cost_text(report: FullReport) -> str:
    cost = report.cost.cost
    return display(cost.total.value, cost.currency or "currency") if cost and cost.total and cost.years else "–"


def _power_text(report: FullReport) -> str:
    cost = report.cost.cost
    return display(cost.watts.value, "W") if cost and cost.watts.parts else "–"


def _step_time_text(report: FullReport) -> str:
    plan = report.estimate.plan
    return display(plan.step_time.value, "s") if plan.step_time else "–"


def _mfu_text(report: FullReport) -> str:
    plan = report.estimate.plan
    return percent(plan.mfu) if plan.mfu is not None else "–"


def _memory_text(report: FullReport) -> str:
    use = report.estimate.plan.memory
    return percent(use.total.value / use.capacity.value) if use and use.capacity else "–"


def _run_time_text(report: FullReport) -> str:
    kept, plan = report.reliability, report.estimate.plan
    seconds = (kept.with_interruptions if kept else None) or plan.time_to_train
    return display(seconds, "s") if seconds else "–"


def _throughput_text(report: FullReport) -> str:
    cost = report.cost.cost
    found = cost.per_million_tokens if cost else None
    return display(found.value, cost.currency or "currency") if cost and found else "–"


def _serving_figure(name: str, unit: str) -> Callable[[FullReport], str]:
    """A function that formats a figure of a serving plan."""

    def read(report: FullReport) -> str:
        found = report.estimate.plan.serving
        return "–" if found is None else display(getattr(found, name), unit)

    return read


def _speculation_text(report: FullReport) -> str:
    """The speculative decoding of a plan, shown because its figures are not comparable with others."""
    work = report.estimate.design.workload
    load = work.serving if work is not None else None
    if load is None or not load.draft_tokens:
        return "none" if load is not None else "–"
    return f"{load.draft_tokens}, {percent(load.draft_acceptance, 2)} accepted"


def _trained(report: FullReport) -> str:
    return "–" if report.serves else _throughput_text(report)


def _answered(report: FullReport) -> str:
    return _throughput_text(report) if report.serves else "–"


ROWS = (
    ("Verdict", "verdict.status", _verdict_text),
    ("Open errors / warnings", "findings", _findings_text),
    ("Uses", "accelerators_used", lambda one: one.estimate.used_text() or "–"),
    ("Price", "bill.total.price", _price_text),
    ("Cost over the term", "cost.total", _term_cost_text),
    ("Electrical power", "cost.watts", _power_text),
    ("Step time", "estimate.step_time", _step_time_text),
    ("MFU", "estimate.mfu", _mfu_text),
    ("Time to first token", "estimate.serving.ttft", _serving_figure("ttft", "s")),
    ("Time per output token", "estimate.serving.tpot", _serving_figure("tpot", "s")),
    (
        "Output tokens per second",
        "estimate.serving.output_tokens_per_second",
        _serving_figure("output_tokens_per_second", "1"),
    ),
    (
        "Output tokens per second of an accelerator",
        "estimate.serving.output_tokens_per_second_per_accelerator",
        _serving_figure("per_accelerator", "1"),
    ),
    ("Draft tokens per step (speculative)", "estimate.serving", _speculation_text),
    ("Memory of the fullest accelerator", "estimate.memory.total", _memory_text),
    ("Run with interruptions", "reliability.with_interruptions", _run_time_text),
    ("A million trained tokens", "cost.per_million_tokens", _trained),
    ("A million output tokens", "cost.per_million_output_tokens", _answered),
)
"""Label, JSON field of this design, and formatter; the fields of other designs are under ``against``."""


MOST_FINDINGS = 60
MOST_DECISIVE = 10
LONGEST_FORMULA = 240
"""Characters of a printed formula; the JSON has all of it."""
LEAD = "Long formulas are cut here; `clusterspec estimate --explain TERM` prints them completely, with their inputs."


def findings_section(report: FullReport) -> Section | None:
    """The findings, most severe first, grouped by rule."""
    return None if report.tender else section_of_findings(report.estimate.findings, report.estimate.sources)


def section_of_findings(findings: Sequence[Finding], sources: Mapping[str, Source]) -> Section:
    """The section of some findings, with the lines of the texts that they are about."""
    found = list(enumerate(findings))
    if not found:
        return Section("findings", "Findings", (Text("The check found nothing."),))
    found.sort(key=lambda pair: (pair[1].severity.rank, pair[1].rule, pair[0]))
    shown = tuple(_shown_finding(number, finding, sources) for number, finding in found[:MOST_FINDINGS])
    blocks: list[Block] = [Findings(shown)]
    if len(found) > MOST_FINDINGS:
        text = f"{plural(len(found) - MOST_FINDINGS, 'more finding')}: `clusterspec check` lists all."
        blocks.append(Text(text, "findings"))
    return Section("findings", "Findings", tuple(blocks))


def _shown_finding(number: int, finding: Finding, sources: Mapping[str, Source]) -> Shown:
    source = sources.get(finding.span.file)
    line = source.line(finding.span.start.line).strip()[:160] if source else ""
    line = "" if re.fullmatch(r"\w+:", line) else line
    return Shown(finding, f"line {finding.span.start.line}", line, f"findings[{number}]")


def measurements_section(report: FullReport) -> Section | None:
    """The measurements that replace catalog efficiencies."""
    seen = shares(report.estimate.design.cluster)
    if not seen:
        return None
    columns = (
        TableColumn("Collective", key="collective"),
        TableColumn("Of"),
        TableColumn("Reached", "right", "share"),
        TableColumn("Measured", key="why"),
    )
    rows = tuple(TableRow(row(each), f"estimate.measured[{number}]") for number, each in enumerate(seen))
    return Section("measured", "Measurements", (PaperTable(columns, rows, "estimate.measured"),))


def assumptions_section(report: FullReport, *, decisive: bool = False) -> Section | None:
    """The assumptions by effect; with ``decisive``, only the ten most influential."""
    plan = report.estimate.plan
    if not plan.assumptions:
        return None
    effects = {one.assumption[0]: one for one in report.influences}
    order = sorted(
        enumerate(plan.assumptions), key=lambda pair: -(effects[pair[1][0]].size if pair[1][0] in effects else 0.0)
    )
    shown = [pair for pair in order if pair[1][0] in effects][:MOST_DECISIVE] if decisive else order
    columns = (
        TableColumn("Assumed", key="key"),
        TableColumn("Value", key="value"),
        TableColumn("Output token" if report.serves else "Step time", "right"),
        TableColumn("Memory", "right"),
        TableColumn("Why", key="why"),
    )
    rows = []
    for number, (key, value, why) in shown:
        one = effects.get(key)
        moved = (change_text(one.step_time), change_text(one.memory)) if one else ("", "")
        rows.append(TableRow((key, value_text(value), *moved, why), f"estimate.assumptions[{number}]"))
    title = "Decisive assumptions" if decisive else "Assumptions and constants by effect"
    lead = "Alternative values are the ends of the range, 10 % more or less, or the keyword with the largest effect."
    table = PaperTable(columns, tuple(rows), "estimate.assumptions")
    return Section("assumptions", title, (table,), lead=lead, appendix=True) if rows else None


def formulas_section(plan: Plan) -> Section | None:
    """The terms of the estimate with their formulas, sums before their parts."""
    rows = tuple(
        each for number, term in enumerate(terms(plan)) for each in _formula_rows(term, f"estimate.terms[{number}]", 0)
    )
    if not rows:
        return None
    columns = (
        TableColumn("Term", key="name"),
        TableColumn("Value", "right", "value"),
        TableColumn("Formula", key="formula"),
        TableColumn("Source", key="source"),
    )
    table = PaperTable(columns, rows, "estimate.terms")
    return Section("formulas", "Derivations", (table,), lead=LEAD if _has_cut_row(rows) else "", appendix=True)


def shortened_formula(formula: str) -> str:
    """A formula that fits a few lines.

    >>> shortened_formula("weights * width"), len(shortened_formula("term + " * 100))
    ('weights * width', 239)
    """
    return formula if len(formula) <= LONGEST_FORMULA else f"{formula[: LONGEST_FORMULA - 2].rstrip()} …"


def _has_cut_row(rows: Iterable[TableRow]) -> bool:
    return any(cell.endswith(" …") for row in rows for cell in row.cells)


def _formula_rows(term: Term, field: str, depth: int) -> Iterator[TableRow]:
    cells = (term.label, display(term.value, term.unit), shortened_formula(term.formula), term.source)
    yield TableRow(cells, field, total=depth == 0, depth=depth)
    if depth < 2:
        for number, part in enumerate(term.parts):
            if part.value:
                yield from _formula_rows(part, f"{field}.parts[{number}]", depth + 1)


def sources_section(report: FullReport) -> Section | None:
    """The distinct sources of the catalog figures used."""
    used: dict[tuple[str, str], tuple[set[str], str]] = {}
    for figure in _used_figures(report.estimate.plan):
        origin = figure.origin
        origin = report.estimate.provenance.resolved(origin) if isinstance(origin, Cited) else origin
        if isinstance(origin, Cited):
            facts, _ = used.setdefault((origin.source, origin.url), (set(), origin.read))
            facts.add(f"{origin.entry} {origin.fact}")
    if not used:
        return None
    rows = tuple(
        TableRow((title, url, read, "; ".join(sorted(facts))), "estimate.terms")
        for (title, url), (facts, read) in sorted(used.items())
    )
    columns = (TableColumn("Source"), TableColumn("Address"), TableColumn("Read"), TableColumn("For"))
    return Section("sources", "Sources", (PaperTable(columns, rows, "estimate.terms"),), appendix=True)


def _used_figures(plan: Plan) -> Iterable[Figure]:
    """The figures used by the plan and its cluster."""
    cluster = plan.design.cluster
    if cluster is not None:
        part = cluster.accelerator
        yield from (figure for figure in (part.memory, part.memory_bandwidth, part.power) if figure)
        yield from (cluster.scale_up.bandwidth, cluster.scale_up.peer_bandwidth)
        if cluster.scale_out:
            yield cluster.scale_out.nic_bandwidth
    for root in terms(plan):
        for term in root.walk():
            yield from (figure for _, figure in term.inputs)


def glossary_section(report: FullReport) -> Section:
    """The terms of the report, in two tables that are printed side by side."""
    terms_of = words(serving=report.serves)
    rows = tuple(TableRow(pair, f"glossary[{number}]") for number, pair in enumerate(terms_of))
    columns = (TableColumn("Term", key="term"), TableColumn("Meaning", key="meaning"))
    half = -(-len(rows) // 2)
    tables = tuple(PaperTable(columns, part, "glossary") for part in (rows[:half], rows[half:]) if part)
    return Section("glossary", "Glossary", tables, appendix=True)


def spec_section(report: FullReport) -> Section:
    """The spec as read, or as redacted for the tender."""
    title = "The spec of this tender" if report.tender else "The spec"
    return Section("spec", title, (Code(report.text, "spec"),), appendix=True)
