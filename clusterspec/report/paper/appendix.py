"""Appendix of a report: findings, assumptions, formulas, sources, glossary, and the spec."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence

from clusterspec.cost.plan import Plan
from clusterspec.cost.term import Term
from clusterspec.finding import Finding
from clusterspec.quantity import Figure
from clusterspec.report.assumption_rows import change_text
from clusterspec.report.estimate_rows import value_text
from clusterspec.report.paper.blocks import (
    Block,
    Bullets,
    Cards,
    Code,
    Findings,
    Heading,
    LocatedFinding,
    NumberedSentences,
    PaperTable,
    Picture,
    Section,
    TableColumn,
    TableRow,
    Terms,
    Text,
)
from clusterspec.results.estimate_json import measured_shares, root_terms, share_row
from clusterspec.results.full import FullReport
from clusterspec.results.full import glossary as words
from clusterspec.source import Cited, Source
from clusterspec.units import display, plural

MOST_FINDINGS = 60
MOST_DECISIVE = 10
LONGEST_FORMULA = 90
"""Largest number of characters of a formula in the row of its term."""
LEAD = "`clusterspec estimate --explain TERM` prints each formula with its inputs."


def findings_section(report: FullReport) -> Section | None:
    """The findings, most severe first, grouped by rule."""
    return None if report.tender else section_of_findings(report.estimate.findings, report.estimate.sources)


def section_of_findings(findings: Sequence[Finding], sources: Mapping[str, Source]) -> Section:
    """The section of the given findings, with the lines of the texts that they are about."""
    found = list(enumerate(findings))
    if not found:
        return Section("findings", "Findings", (Text("The check found nothing."),))
    found.sort(key=lambda pair: (pair[1].severity.rank, pair[1].rule, pair[0]))
    shown = tuple(_finding_shown(number, finding, sources) for number, finding in found[:MOST_FINDINGS])
    blocks: list[Block] = [Findings(shown)]
    if len(found) > MOST_FINDINGS:
        text = f"{plural(len(found) - MOST_FINDINGS, 'more finding')}: `clusterspec check` lists all."
        blocks.append(Text(text, "findings"))
    return Section("findings", "Findings", tuple(blocks))


def _finding_shown(number: int, finding: Finding, sources: Mapping[str, Source]) -> LocatedFinding:
    source = sources.get(finding.span.file)
    start = finding.span.start
    line = excerpt(source.line(start.line), start.column) if source else ""
    line = "" if re.fullmatch(r"\w+:", line) else line
    return LocatedFinding(finding, start.line, line, f"findings[{number}]")


LONGEST_LINE = 110


def excerpt(line: str, column: int) -> str:
    """A line of the spec without its indent; a long line is cut to the part that starts shortly before ``column`` (from
    1).

    >>> excerpt("  tp: 8", 3), excerpt("jobs: {" + "a: 1, " * 40 + "}", 140)[:26]
    ('tp: 8', '… a: 1, a: 1, a: 1, a: 1, ')
    """
    shown = line.strip()
    if len(shown) <= LONGEST_LINE:
        return shown
    first = max(0, min(column - 1 - (len(line) - len(line.lstrip())) - 20, len(shown) - LONGEST_LINE))
    first = shown.find(" ", first) + 1 if first else 0
    part, cut = shown[first : first + LONGEST_LINE], first + LONGEST_LINE < len(shown)
    part = part.rpartition(" ")[0] or part if cut else part
    return f"{'… ' if first else ''}{part}{' …' if cut else ''}"


def measurements_section(report: FullReport) -> Section | None:
    """The measurements that replace catalog efficiencies."""
    seen = measured_shares(report.estimate.design.cluster)
    if not seen:
        return None
    columns = (
        TableColumn("Collective", key="collective"),
        TableColumn("Of"),
        TableColumn("Reached", "right", "share"),
        TableColumn("Measured", key="why"),
    )
    rows = tuple(TableRow(share_row(each), f"estimate.measured[{number}]") for number, each in enumerate(seen))
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
    rows: list[TableRow] = []
    others: list[TableRow] = []
    for number, (key, value, why) in shown:
        one = effects.get(key)
        moved = (change_text(one.step_time), change_text(one.memory)) if one else ("", "")
        row = TableRow((key, value_text(value), *moved, why), f"estimate.assumptions[{number}]")
        (rows if any(moved) else others).append(row)
    title = "Decisive assumptions" if decisive else "Assumptions and constants by effect"
    lead = "Alternative values are the ends of the range, 10 % more or less, or the keyword with the largest effect."
    field = "estimate.assumptions"
    blocks = [PaperTable(columns, tuple(rows), field)] if rows else []
    if others:
        caption = "Without a separate effect on this design" if rows else ""
        blocks.append(PaperTable(columns, tuple(others), field, caption=caption))
    return Section("assumptions", title, tuple(blocks), lead=lead, appendix=True) if blocks else None


def formulas_section(plan: Plan) -> Section | None:
    """The terms of the estimate with their formulas, sums before their parts."""
    rows = tuple(
        each
        for number, term in enumerate(root_terms(plan))
        for each in _formula_rows(term, f"estimate.terms[{number}]", 0)
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
    return Section("formulas", "Derivations", (table,), lead=LEAD, appendix=True)


def formula_reference(formula: str, name: str) -> str:
    """A formula as printed in the row of its term: a long sum in words; any other long formula as the option that
    prints it.

    >>> formula_reference("weights * width", "weights"), formula_reference(" + ".join(["term"] * 40), "step")
    ('weights * width', 'sum of its 40 parts')
    >>> formula_reference("max(term, 1)" * 30, "gather")
    'long; printed by `--explain gather`'
    """
    if len(formula) <= LONGEST_FORMULA:
        return formula
    if re.fullmatch(r"\w+( \+ \w+)+", formula):
        return f"sum of its {formula.count(' + ') + 1} parts"
    return f"long; printed by `--explain {name}`"


def _formula_rows(term: Term, field: str, depth: int) -> Iterator[TableRow]:
    cells = (term.label, display(term.value, term.unit), formula_reference(term.formula, term.name), term.source)
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
        origin = report.estimate.provenance.resolved_origin(origin) if isinstance(origin, Cited) else origin
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
    for root in root_terms(plan):
        for term in root.walk():
            yield from (figure for _, figure in term.inputs)


def glossary_section(report: FullReport, sections: Iterable[Section | None]) -> Section:
    """The terms that the sections contain."""
    said = "\n".join(text for section in sections if section is not None for text in section_texts(section))
    rows = tuple(
        (*pair, f"glossary[{number}]")
        for number, pair in enumerate(words(serving=report.serves))
        if any(re.search(rf"\b{re.escape(word)}", said, re.IGNORECASE) for word in pair[0].split(", "))
    )
    return Section("glossary", "Glossary", (Terms(rows),) if rows else (), appendix=True)


def section_texts(section: Section) -> Iterator[str]:
    """All texts of a section, including the text alternative and the labels of its figures."""
    yield from (section.title, section.lead)
    for block in section.blocks:
        if isinstance(block, PaperTable):
            yield from (block.caption, *(column.label for column in block.columns))
            yield from (cell for row in block.rows for cell in row.cells)
        elif isinstance(block, Picture):
            yield from (block.caption, *re.findall(r">([^<>]+)<", block.svg))
        elif isinstance(block, Cards):
            yield from (text for card in block.cards for text in (card.label, card.note))
        elif isinstance(block, Bullets):
            yield from (text for text, _ in block.items)
        elif isinstance(block, NumberedSentences):
            yield from (step.text for step in block.steps)
        elif isinstance(block, Findings):
            yield from (f"{one.finding.message} {one.finding.help}" for one in block.shown)
        elif isinstance(block, Text | Heading):
            yield block.text


def spec_section(report: FullReport) -> Section:
    """The spec as read, or as redacted for the tender."""
    title = "The spec of this tender" if report.tender else "The spec"
    return Section("spec", title, (Code(report.text, "spec"),), appendix=True)
