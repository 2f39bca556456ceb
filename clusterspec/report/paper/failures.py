"""The section on reliability: goodput over the checkpoint interval, and the effects of single failures."""

from __future__ import annotations

from collections.abc import Iterator

from clusterspec.cost.storage import StorageUse
from clusterspec.report.charts.curves import goodput_chart
from clusterspec.report.faults_text import assumed_value, cost_text, fault_cells, result_sentences
from clusterspec.report.paper.blocks import Block, Bullets, PaperTable, Picture, Section, TableColumn, TableRow
from clusterspec.results.faults import FaultRow, FaultsReport
from clusterspec.results.full import FullReport
from clusterspec.results.machine import Reliability
from clusterspec.units import display, percent


def reliability_section(report: FullReport) -> Section | None:
    """Goodput of a training plan with its checkpoints, and single failures of any plan."""
    kept, failed = report.reliability, report.faults
    goodput = _goodput_blocks(kept, report.estimate.storage) if kept is not None else ()
    blocks = (*goodput, *(failure_blocks(failed) if failed is not None else ()))
    return Section("reliability", "Reliability", blocks) if blocks else None


def failures_section(report: FullReport) -> Section | None:
    """Single failures alone, for buyers."""
    blocks = tuple(failure_blocks(report.faults)) if report.faults is not None else ()
    return Section("reliability", "Failures", blocks) if blocks else None


def failure_blocks(report: FaultsReport) -> Iterator[Block]:
    """The effect of each failed part on the job, as `clusterspec faults` prints it, and the cost of a year."""
    if not report.rows:
        return
    columns = [
        TableColumn("Failed part", key="part"),
        TableColumn("Number", "right", "count"),
        TableColumn("A year", "right", "failures_per_year"),
        TableColumn("The job", key="effect"),
        TableColumn("Step", "right", "step_time"),
        TableColumn("Hours lost", "right", "hours_lost_per_year"),
        TableColumn("Cost a year", "right", "cost_per_year"),
        TableColumn("Why", key="why"),
    ]
    rows = tuple(_failure_row(report, row, number) for number, row in enumerate(report.rows))
    yield PaperTable(tuple(columns), rows, "faults.rows", caption="What one failure does to the job")
    if texts := tuple(result_sentences(report)):
        yield Bullets("A year of failures", tuple((text, "faults") for text in texts))
    if report.assumptions:
        yield _assumed_table(report)


def _assumed_table(report: FaultsReport) -> PaperTable:
    """The assumed rates and times. A reason equal to that of the row above is not repeated."""
    above = ("", *(why for _, _, why in report.assumptions))
    rows = (
        TableRow(
            (key, _unbroken_rate_text(assumed_value(value)), "as above" if why == before else why),
            f"faults.assumptions[{number}]",
        )
        for number, ((key, value, why), before) in enumerate(zip(report.assumptions, above, strict=False))
    )
    columns = TableColumn("Assumed", key="key"), TableColumn("Value", key="value"), TableColumn("Why", key="why")
    return PaperTable(
        columns, tuple(rows), "faults.assumptions", caption="Rates and times that the spec does not state"
    )


def _unbroken_rate_text(text: str) -> str:
    """A yearly rate and its range, both without line breaks inside: `0.11 in a year` above `(0.07 to 0.2)`."""
    rate, mark, span = text.partition(" (")
    return rate.replace(" ", "\xa0") + mark + span.replace(" ", "\xa0")


def _failure_row(report: FaultsReport, row: FaultRow, number: int) -> TableRow:
    cost = f"{cost_text(row)} {report.currency}".rstrip() if row.cost is not None else "–"
    return TableRow((*fault_cells(row), cost, row.why), f"faults.rows[{number}]")


def _data_rows(store: StorageUse | None) -> Iterator[TableRow]:
    """The rate at which training reads its data, where the spec states a storage system."""
    reads = store.data if store is not None else None
    if reads is not None:
        given = display(reads.batch.rate.value, "B/s")
        text = f"{percent(reads.share, 2)} of the {given} that the stated storage system gives"
        cells = ("Training reads data at", display(reads.needed.value, "B/s"), text)
        yield TableRow(cells, "estimate.storage.data", bare=True)


def _checkpoint_rows(reliability: Reliability, store: StorageUse | None) -> Iterator[TableRow]:
    """The size of a checkpoint, and its transfers where the spec states a storage system."""
    if reliability.checkpoint_bytes is not None:
        cells = ("Size of a checkpoint", display(reliability.checkpoint_bytes, "B"), "14 B for each parameter")
        yield TableRow(cells, "reliability.checkpoint_bytes", bare=True)
    moved = (("Written in", "checkpoint"), ("Read after a failure in", "restore"))
    for name, key in moved:
        found = getattr(store, key) if store is not None else None
        if found is not None:
            text = (
                f"{display(found.size.value, 'B')} at {display(found.rate.value, 'B/s')} of the stated storage system"
            )
            cells = (name, display(found.seconds.value, "s"), text)
            yield TableRow(cells, f"estimate.storage.{key}.seconds", bare=True)
    if store is not None and store.kept is not None:
        cells = ("Checkpoints that are kept", display(store.kept.value, "B"), "on the storage system, all together")
        yield TableRow(cells, "estimate.storage.kept_bytes", bare=True)


def _goodput_blocks(reliability: Reliability, store: StorageUse | None) -> tuple[Block, ...]:
    """Failures, checkpoints and goodput."""
    alt = f"goodput {percent(reliability.goodput)} with a checkpoint every {display(reliability.interval, 's')}"
    picture = Picture(
        goodput_chart(reliability.curve, (reliability.interval, reliability.goodput), alt),
        f"Goodput over the checkpoint interval: {percent(reliability.goodput)} at {display(reliability.interval, 's')}",
        "reliability",
    )
    rows = [
        TableRow(
            ("Time between failures of the job", display(reliability.between, "s"), reliability.origins["between"]),
            "reliability.between",
        ),
        TableRow(
            ("Interval between checkpoints", display(reliability.interval, "s"), reliability.origins["interval"]),
            "reliability.interval",
        ),
        TableRow(
            ("One checkpoint", display(reliability.checkpoint, "s"), reliability.origins["checkpoint"]),
            "reliability.checkpoint",
        ),
        TableRow(
            ("One restart", display(reliability.restart, "s"), reliability.origins["restart"]), "reliability.restart"
        ),
        *_checkpoint_rows(reliability, store),
        *_data_rows(store),
    ]
    results = [
        TableRow(("Goodput, with the failures that stop the job", percent(reliability.goodput)), "reliability.goodput")
    ]
    if reliability.high > reliability.low:
        span = f"{percent(reliability.low)} to {percent(reliability.high)}"
        results.append(TableRow(("Over published failure rates", span), "reliability.low"))
    if reliability.best_interval is not None:
        cells = ("Interval with the least lost time", display(reliability.best_interval, "s"))
        results.append(TableRow(cells, "reliability.best_interval"))
    if reliability.time_to_train is not None and reliability.with_interruptions is not None:
        results += [
            TableRow(
                ("Run without interruptions", display(reliability.time_to_train, "s")), "reliability.time_to_train"
            ),
            TableRow(
                ("Run with interruptions", display(reliability.with_interruptions, "s")),
                "reliability.with_interruptions",
            ),
        ]
    columns = (TableColumn("Figure"), TableColumn("Value", "right"), TableColumn("Origin"))
    reached = PaperTable(columns[:2], tuple(results), "reliability", caption="Share of the time on steps that are kept")
    return picture, reached, PaperTable(columns, tuple(rows), "reliability")
