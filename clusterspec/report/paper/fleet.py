"""The report of a whole fleet: its jobs, its pools, the bill of each pool, and the findings."""

from __future__ import annotations

from clusterspec.procurement.bill import Item
from clusterspec.report import fleet_text
from clusterspec.report.paper.appendix import section_of_findings
from clusterspec.report.paper.blocks import Block, Paper, PaperTable, Section, TableColumn, TableRow, Text, TitleFact
from clusterspec.report.paper.decision import stated_verdict
from clusterspec.results import BillReport, count
from clusterspec.results.fleet import FleetReport, PoolUse
from clusterspec.results.verdict import VerdictStatus
from clusterspec.units import plural


def composed_fleet(report: FleetReport) -> Paper:
    """The paper of a fleet; the report of one job or pool has their details."""
    verdict, spec = report.verdict, report.spec
    written = spec.document if spec else None
    return Paper(
        title=report.name,
        kind="Fleet report",
        subtitle=f"{plural(len(report.jobs), 'job')} on {plural(len(report.pools), 'pool')}",
        description=(spec.description if spec else None) or "",
        verdict_block=stated_verdict(verdict),
        facts=_facts(report),
        sections=(
            _jobs_section(report),
            _pools_section(report),
            *_growth_sections(report),
            _findings_section(report),
            *_bill_sections(report),
        ),
        colophon=f"clusterspec {report.tool.version}, catalog {report.tool.catalog}",
        tool=f"clusterspec {report.tool.version}",
        created=report.today.isoformat() if report.today else "",
        author=(written.author if written else None) or "",
        digest=report.input.sha256 or "",
        draft=verdict.status is VerdictStatus.FAILS,
    )


def _facts(report: FleetReport) -> tuple[TitleFact, ...]:
    """The document data of the title page."""
    counted = count(report.findings)
    open_ = f"{plural(counted['error'], 'error')}, {plural(counted['warning'], 'warning')}"
    day = report.today.isoformat() if report.today else ""
    rows = (("Spec", report.input.name, "input.file"), ("Date", day, "date"), ("Open findings", open_, "summary"))
    return tuple(TitleFact(*row) for row in rows)


def _jobs_section(report: FleetReport) -> Section:
    rows = [
        TableRow(cells, f"jobs.{name}", bare=True)
        for name, cells in zip(report.jobs, fleet_text.job_rows(report), strict=True)
    ]
    blocks: list[Block] = [_table(fleet_text.JOB_HEADS, rows, "jobs", 2)]
    if fleet_text.has_costs(report):
        money = zip(report.jobs, fleet_text.money_rows(report), strict=True)
        paid = [TableRow(cells, f"jobs.{name}", bare=True) for name, cells in money]
        blocks.append(_table(fleet_text.MONEY_HEADS, paid, "jobs", 1))
    roles = [Text(line) for line in fleet_text.role_lines(report)]
    return Section("jobs", "Jobs", (*blocks, *roles, Text(fleet_text.legend(report))))


def _pools_section(report: FleetReport) -> Section:
    *rows, total = fleet_text.pool_rows(report)
    shown = [TableRow(cells, f"pools.{name}", bare=True) for name, cells in zip(report.pools, rows, strict=True)]
    shown.append(TableRow(total, "pools", bare=True, total=True))
    blocks: list[Block] = [_table(fleet_text.POOL_HEADS, shown, "pools", 1)]
    heads, paid = fleet_text.cost_parts(report)
    costs = [TableRow(cells, f"pools.{cells[0]}.parts", bare=True) for cells in paid]
    blocks += [_table(heads, costs, "pools", 1)] if costs else []
    shared = (fleet_text.wait_text(report), fleet_text.link_text(report))
    notes = (*shared, fleet_text.budget_text(report), fleet_text.left_out(report))
    return Section("pools", "Pools", (*blocks, *(Text(note) for note in notes if note)))


def _growth_sections(report: FleetReport) -> list[Section]:
    """The phases of each pool that grows."""
    growing = {name: use for name, use in report.pools.items() if use.phases}
    note = Text(" ".join((fleet_text.GROWTH_NOTE, *fleet_text.moved_texts(report))))
    return [
        Section(f"growth-{name}", f"Growth of {name}", (_growth_table(name, use), note))
        for name, use in growing.items()
    ]


def _growth_table(name: str, use: PoolUse) -> PaperTable:
    field = f"pools.{name}.phases"
    rows = [TableRow(cells, f"{field}[{at}]", bare=True) for at, cells in enumerate(fleet_text.growth_rows(use))]
    return _table(fleet_text.GROWTH_HEADS, rows, field, 1)


def _bill_sections(report: FleetReport) -> list[Section]:
    """The parts of each pool."""
    return [_bill_section(name, bill) for name, bill in report.pool_bills.items() if bill.items]


def _bill_section(name: str, bill: BillReport) -> Section:
    heads = ("Part", "Kind", "Quantity", "Derivation")
    field = f"pools.{name}.items"
    rows = [TableRow(_item_cells(item), f"{field}[{number}]", bare=True) for number, item in enumerate(bill.items)]
    columns = tuple(TableColumn(head, "right" if head == "Quantity" else "left") for head in heads)
    return Section(f"bill-{name}", f"Materials of {name}", (PaperTable(columns, tuple(rows), field),))


def _item_cells(item: Item) -> tuple[str, str, str, str]:
    name = f"{item.part} (assumed)" if item.assumed else item.part
    return (name, item.kind.replace("_", " "), f"{item.quantity:,}", item.derivation)


def _findings_section(report: FleetReport) -> Section:
    return section_of_findings(report.findings, report.sources)


def _table(heads: tuple[str, ...], rows: list[TableRow], field: str, left: int) -> PaperTable:
    """A table whose first columns are text."""
    columns = tuple(
        TableColumn(head[0].upper() + head[1:], "left" if number < left else "right")
        for number, head in enumerate(heads)
    )
    return PaperTable(columns, tuple(rows), field)
