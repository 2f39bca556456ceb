"""The report of a whole fleet: figures, jobs, pools, the bill of each pool, and findings."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from pathlib import PurePath

from clusterspec.document.comments import unwrapped_text
from clusterspec.money import Money
from clusterspec.procurement.amounts import rounded_text
from clusterspec.procurement.items import Item
from clusterspec.report import fleet_costs, fleet_text
from clusterspec.report.charts.bars import StackPart, StackRow, rows_text, stack_rows_chart, timed_rows_chart
from clusterspec.report.charts.fleet import DrawnLink, DrawnNodes, DrawnPool, DrawnTurn, fleet_chart
from clusterspec.report.charts.svg import cause_of
from clusterspec.report.paper.appendix import section_of_findings
from clusterspec.report.paper.blocks import (
    Block,
    Card,
    Cards,
    Paper,
    PaperTable,
    Picture,
    Section,
    TableColumn,
    TableRow,
    Text,
    TitleFact,
)
from clusterspec.report.paper.decision import stated_verdict
from clusterspec.report.paper.machine import layout_rows
from clusterspec.report.paper.materials import part_text
from clusterspec.report.paper.words import catalog_names, worded_section
from clusterspec.results import BillReport, counts_by_severity
from clusterspec.results.fleet import FleetReport, PoolUse
from clusterspec.results.verdict import VerdictStatus
from clusterspec.spec.model import PoolLinkSpec
from clusterspec.standard import sum_of
from clusterspec.units import display, percent, plain, plural, term_text

WORK_HEADS = ("job", "model", "kind", "layout")
JOB_TINTS = ("forward", "tp", "dp", "gradients", "activations", "backward", "cp", "optimizer", "pp", "ep")
"""The color of each job, repeated where there are more."""


def composed_fleet(report: FleetReport) -> Paper:
    """The paper of a fleet; the report of one job or pool has their details."""
    verdict, spec = report.verdict_in_words, report.spec
    written = spec.document if spec else None
    return Paper(
        title=report.name,
        kind="Fleet report",
        subtitle=f"{plural(len(report.jobs), 'job')} on {plural(len(report.pools), 'pool')}",
        description=unwrapped_text((spec.description if spec else None) or ""),
        verdict_block=stated_verdict(verdict, _omitted_items(report)),
        facts=_title_facts(report),
        sections=(
            Section("decision", "At a glance", (Cards(tuple(headline_cards(report))), *fleet_pictures(report))),
            _jobs_section(report),
            pools_section(report),
            *growth_sections(report),
            _findings_section(report),
            *_bill_section(report),
        ),
        colophon=f"clusterspec {report.tool.version}, catalog {report.tool.catalog}",
        tool=f"clusterspec {report.tool.version}",
        created=report.today.isoformat() if report.today else "",
        author=(written.author if written else None) or "",
        digest=report.input.sha256 or "",
        draft=verdict.status is VerdictStatus.FAILS,
    )


def _omitted_items(report: FleetReport) -> tuple[str, ...]:
    """The parts that the costs of the pools omit; empty if no cost is known."""
    known = (use for use in report.pools.values() if use.cost is not None)
    return tuple(dict.fromkeys(text for use in known for text in use.missing))


def _title_facts(report: FleetReport) -> tuple[TitleFact, ...]:
    """The document data of the title page."""
    counted = counts_by_severity(report.findings)
    open_ = f"{plural(counted['error'], 'error')}, {plural(counted['warning'], 'warning')}"
    day = report.today.isoformat() if report.today else ""
    rows = (
        ("Spec", PurePath(report.input.name).name, "input.file"),
        ("Date", day, "date"),
        ("Open findings", open_, "summary"),
    )
    return tuple(TitleFact(*row) for row in rows)


def headline_cards(report: FleetReport) -> Iterator[Card]:
    """The total nodes, power and cost of all pools, as far as every pool has the figure."""
    pools = report.pools.values()
    nodes, idle = fleet_costs.pool_total(report, "nodes"), sum(use.idle or 0 for use in pools)
    if nodes is not None:
        note = f"{idle:,} without a job" if idle else "all with a job"
        if spares := sum(use.spares for use in pools):
            note += f"; {plural(spares, 'spare')} more"
        yield Card("Nodes", f"{nodes:,.0f}", note, "pools", "fair" if idle else "plain")
    if (power := fleet_costs.pool_total(report, "power")) is not None:
        yield Card("Power", display(power, "W"), "of IT, at full load", "pools")
    if (cost := fleet_costs.total_cost(report)) is not None:
        term = report.spec.procurement.term if report.spec and report.spec.procurement else None
        over = f"over {term_text(term.value)}" if term else "no term is stated"
        partial = "; a partial sum" if any(use.missing for use in pools) else ""
        yield Card(fleet_costs.cost_title(report), rounded_text(cost), over + partial, "pools")


def fleet_pictures(report: FleetReport) -> Iterator[Picture]:
    """The pools with nodes and links, the owners of the nodes, the cost of the pools, and the duration of the runs."""
    tints = {name: JOB_TINTS[number % len(JOB_TINTS)] for number, name in enumerate(report.jobs)}
    yield from fleet_picture(report, tints)
    rows = [StackRow(name, tuple(_node_parts(report, name, use, tints))) for name, use in report.pools.items()]
    caption = "Nodes of each pool by job, as the mean of the term"
    yield from _stack_picture(rows, plain, caption, "pools")
    paid = [
        StackRow(
            name,
            tuple(
                StackPart(part, cause_of(part), value, rounded_text(Money.of(value, use.currency)))
                for part, value in use.parts.items()
            ),
        )
        for name, use in report.pools.items()
    ]
    if len({use.currency for use in report.pools.values()}) == 1:
        currency = next(iter(report.pools.values())).currency
        yield from _stack_picture(
            paid, lambda tick: rounded_text(Money.of(tick, currency)), "Cost of each pool", "pools"
        )
    runs = [
        StackRow(name, (StackPart(name, tints[name], use.elapsed, display(use.elapsed, "s")),))
        for name, use in report.jobs.items()
        if use.elapsed
    ]
    caption = "Time of each run, with the pauses in which other jobs have the nodes"
    yield from _stack_picture(runs, None, caption, "jobs")


def _node_parts(report: FleetReport, name: str, use: PoolUse, tints: dict[str, str]) -> Iterator[StackPart]:
    held = 0.0
    for job, part in report.jobs.items():
        nodes = (part.nodes or 0 if part.pool == name else 0) + (part.beside.get(name) or 0)
        if nodes:
            held += nodes * part.share
            yield StackPart(job, tints[job], nodes * part.share, plain(nodes * part.share))
    free = (use.nodes or 0) - held
    if free > 1e-9:
        yield StackPart("without a job", "bubble", free, plain(free))


def _stack_picture(
    rows: list[StackRow], label: Callable[[float], str] | None, caption: str, field: str
) -> Iterator[Picture]:
    """A picture of the rows that have a value. For times, ``label`` is None, and the rows are named like their
    parts.
    """
    shown = [row for row in rows if sum_of(part.value for part in row.parts) > 0]
    if not shown:
        return
    alt = rows_text(shown)
    drawn = (
        stack_rows_chart(shown, label, alt, name=field)
        if label is not None
        else timed_rows_chart(shown, alt, name=field, legend=False)
    )
    yield Picture(drawn, caption, field)


def _jobs_section(report: FleetReport) -> Section:
    rows = [
        TableRow(cells, f"jobs.{name}", bare=True)
        for name, cells in zip(report.jobs, fleet_text.job_rows(report), strict=True)
    ]
    works = [TableRow(_work_cells(report, name), f"jobs.{name}", bare=True) for name in report.jobs]
    blocks: list[Block] = [
        text_first_table(WORK_HEADS, works, "jobs", len(WORK_HEADS), "What each job runs"),
        text_first_table(fleet_text.JOB_HEADS, rows, "jobs", 2, "What each job takes"),
    ]
    if fleet_costs.has_costs(report):
        money = zip(report.jobs, fleet_costs.money_rows(report), strict=True)
        paid = [TableRow(cells, f"jobs.{name}", bare=True) for name, cells in money]
        blocks.append(text_first_table(fleet_costs.MONEY_HEADS, paid, "jobs", 1, "What each job costs"))
    roles = [Text(line, "jobs") for line in fleet_text.role_lines(report)]
    told = re.sub(r"(^|\. )([a-z])", lambda match: match[1] + match[2].upper(), fleet_text.column_legend(report))
    return Section("jobs", "Jobs", (*blocks, *roles, Text(told)))


def _work_cells(report: FleetReport, name: str) -> tuple[str, ...]:
    """The cells of `WORK_HEADS` for a job; roles of reinforcement learning have layouts of their own."""
    found = report.estimates.get(name)
    design = found.design if found else None
    work, layout = (design.workload, design.layout) if design else (None, None)
    if work is None:
        return (name, *(fleet_costs.UNKNOWN,) * 3)
    rows = [row.cells for row in layout_rows(layout, work)] if layout else []
    told = "; ".join(f"{title}: {text}" if len(rows) > 1 else text for title, text in rows)
    kind = "rl" if work.rl is not None else work.kind  # the trainer of reinforcement learning trains
    return name, work.model.name, kind, told or fleet_costs.UNKNOWN


def pools_section(report: FleetReport) -> Section:
    *rows, total = fleet_text.pool_rows(report)
    shown = [TableRow(cells, f"pools.{name}", bare=True) for name, cells in zip(report.pools, rows, strict=True)]
    shown.append(TableRow(total, "pools", bare=True, total=True))
    paid_for = fleet_costs.cost_title(report)
    title = f"Nodes, power and {paid_for.lower()}" if fleet_costs.has_costs(report) else "Nodes and power"
    blocks: list[Block] = [text_first_table(fleet_text.POOL_HEADS, shown, "pools", 1, title)]
    heads, paid = fleet_costs.cost_parts(report)
    costs = [TableRow(cells, f"pools.{cells[0]}.parts", bare=True) for cells in paid]
    blocks += [text_first_table(heads, costs, "pools", 1, f"{paid_for} by part")] if costs else []
    shared = (fleet_text.wait_text(report), *fleet_text.link_texts(report))
    notes = (
        *shared,
        fleet_text.budget_text(report),
        fleet_text.power_gap_text(report),
        fleet_costs.omitted_items(report),
    )
    return Section("pools", "Pools", (*blocks, *(Text(note) for note in notes if note)))


def growth_sections(report: FleetReport) -> list[Section]:
    """The phases of each pool that grows."""
    growing = {name: use for name, use in report.pools.items() if use.phases}
    meaning = fleet_text.GROWTH_NOTE[0].upper() + fleet_text.GROWTH_NOTE[1:]
    note = Text(" ".join((meaning, *fleet_text.changed_figure_texts(report))))
    return [
        Section(f"growth-{name}", f"Growth of {name}", (_growth_table(name, use), note))
        for name, use in growing.items()
    ]


def _growth_table(name: str, use: PoolUse) -> PaperTable:
    field = f"pools.{name}.phases"
    rows = [TableRow(cells, f"{field}[{at}]", bare=True) for at, cells in enumerate(fleet_text.growth_rows(use))]
    return text_first_table(fleet_text.GROWTH_HEADS, rows, field, 1)


def _bill_section(report: FleetReport) -> Iterator[Section]:
    """The parts of all pools."""
    if (table := bill_table(report)) is not None:
        designs = (each.design for each in report.estimates.values())
        names = {key: name for one in designs for key, name in catalog_names(one.cluster).items()}
        yield worded_section(Section("materials", "Bill of materials", (table,)), names)


def bill_table(report: FleetReport) -> PaperTable | None:
    """The parts of all pools with a sum for each; None without parts."""
    heads = ("Pool", "Part", "Quantity", "Unit price", "Price", "Derivation")
    columns = tuple(TableColumn(head, "left" if head in {"Pool", "Part", "Derivation"} else "right") for head in heads)
    rows = tuple(row for name, bill in report.pool_bills.items() for row in _bill_rows(name, bill))
    return PaperTable(columns, rows, "pools") if rows else None


def _bill_rows(name: str, report: BillReport) -> Iterator[TableRow]:
    """The parts of a pool, and their sum if one has a price."""
    for number, item in enumerate(report.items):
        yield TableRow((name, *_item_cells(item)), f"pools.{name}.items[{number}]", bare=True)
    if report.bill.total is not None:
        cells = (name, report.bill.total_title, "", "", str(report.bill.total), "")
        yield TableRow(cells, f"pools.{name}.total", bare=True, total=True)


def _item_cells(item: Item) -> tuple[str, ...]:
    prices = (item.unit_price_text or "no price", item.price_text or "no price")
    return part_text(item), f"{item.quantity:,}", *prices, item.derivation


def _findings_section(report: FleetReport) -> Section:
    return section_of_findings(report.findings, report.sources)


def text_first_table(
    heads: tuple[str, ...], rows: list[TableRow], field: str, left: int, caption: str = ""
) -> PaperTable:
    """A table with text in the first ``left`` columns and numbers in the others."""
    columns = tuple(
        TableColumn(head[0].upper() + head[1:], "left" if number < left else "right")
        for number, head in enumerate(heads)
    )
    return PaperTable(columns, tuple(rows), field, caption=caption)


# The drawing of the pools, their jobs and the links between them


MOST_POOLS = 12
"""Maximum number of pools that are drawn; larger fleets have tables only."""


def fleet_picture(report: FleetReport, tints: Mapping[str, str]) -> Iterator[Picture]:
    """The pools whose nodes are known, in one drawing; nothing if there are none, or very many."""
    known = {name: use for name, use in report.pools.items() if use.nodes}
    if not 0 < len(known) <= MOST_POOLS:
        return
    pools = [_drawn_pool(report, name, use, tints) for name, use in known.items()]
    links = list(_drawn_links(report, list(known)))
    told = [f"{pool.name}, {pool.note}: {'; '.join(run.label for run in pool.runs)}" for pool in pools]
    told += [f"link {pools[link.ends[0]].name} to {pools[link.ends[1]].name}: {link.label}" for link in links]
    caption = "The machine: pools, the jobs on their nodes" + (", and the links between pools" if links else "")
    yield Picture(fleet_chart(pools, links, ". ".join(told)), caption, "pools")


def _drawn_pool(report: FleetReport, name: str, use: PoolUse, tints: Mapping[str, str]) -> DrawnPool:
    runs = [
        DrawnNodes(one.nodes, _drawn_turns(report, one.jobs, tints), _run_label(report, one.jobs, one.nodes))
        for one in use.sets
        if one.nodes
    ]
    if use.idle:
        runs.append(DrawnNodes(use.idle, (), f"{plural(use.idle, 'node')} without a job"))
    return DrawnPool(name, f"{plural(use.nodes or 0, 'node')} of {use.machine}", tuple(runs), use.spares)


def _drawn_turns(report: FleetReport, jobs: tuple[str, ...], tints: Mapping[str, str]) -> tuple[DrawnTurn, ...]:
    shares = {job: report.jobs[job].share for job in jobs if job in report.jobs}
    whole = max(1.0, sum(shares.values()))
    return tuple(DrawnTurn(job, tints[job], share / whole) for job, share in shares.items())


def _run_label(report: FleetReport, jobs: tuple[str, ...], nodes: int) -> str:
    """The jobs on some nodes, each with its share of the term unless that is the whole term."""
    shares = {job: report.jobs[job].share for job in jobs if job in report.jobs}
    named = [job if share == 1 else f"{job} {percent(share, 2)}" for job, share in shares.items()]
    return f"{', '.join(named)}: {plural(nodes, 'node')}"


def _drawn_links(report: FleetReport, pools: list[str]) -> Iterator[DrawnLink]:
    for link in (report.spec.pool_links if report.spec else None) or ():
        ends = [pools.index(name) for name in link.between or () if name in pools]
        if len(ends) == 2:
            yield DrawnLink((min(ends), max(ends)), _link_label(report, link))


def _link_label(report: FleetReport, link: PoolLinkSpec) -> str:
    """The rate of a link with its latency, and the jobs that send over it."""
    rate = f"{display(link.bandwidth.value, 'B/s')} each way" if link.bandwidth else link.fabric or "rate not stated"
    late = f", {display(link.latency.value, 's')}" if link.latency else ""
    senders = next((list(one.mean) for one in report.links if set(one.between) == set(link.between or ())), [])
    return rate + late + (f"; used by {', '.join(senders)}" if senders else "; no job sends over it")
