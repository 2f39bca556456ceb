"""Designs side by side: price, power, time, tokens, risk."""

from __future__ import annotations

from collections.abc import Callable

from clusterspec.procurement.money import money
from clusterspec.report.paper.blocks import PaperTable, Section, TableColumn, TableRow
from clusterspec.report.verdict_words import VERDICT_WORDS
from clusterspec.results import count
from clusterspec.results.full import FullReport
from clusterspec.results.verdict import used_text
from clusterspec.units import display, percent


def section(report: FullReport) -> Section | None:
    """This design and the compared ones, one column each."""
    if not report.against:
        return None
    designs = (report, *report.against)
    names = ("This design", *(f"{letter}: {other.title}" for letter, other in zip("BCD", report.against, strict=False)))
    columns = (TableColumn("What"), *(TableColumn(name, "right") for name in names))
    rows = [
        TableRow((label, *(read(one) for one in designs)), field, fields=("", *_fields(field, len(report.against))))
        for label, field, read in ROWS
        if any(read(one) != "–" for one in designs)
    ]
    return Section("options", "Options", (PaperTable(columns, tuple(rows), "against"),))


def _fields(field: str, others: int) -> tuple[str, ...]:
    """The field of this design and of each other one."""
    return (field, *(f"against[{number}].{field}" for number in range(others)))


def _verdict(report: FullReport) -> str:
    return VERDICT_WORDS[report.estimate.verdict.status]


def _findings(report: FullReport) -> str:
    counted = count(report.estimate.findings)
    return f"{counted['error']} / {counted['warning']}"


def _price(report: FullReport) -> str:
    bill = report.bill.bill
    return money(bill.total, bill.currency) if bill.total is not None else "–"


def _term(report: FullReport) -> str:
    cost = report.cost.cost
    return display(cost.total.value, cost.currency or "currency") if cost and cost.total and cost.years else "–"


def _power(report: FullReport) -> str:
    cost = report.cost.cost
    return display(cost.watts.value, "W") if cost and cost.watts.parts else "–"


def _step(report: FullReport) -> str:
    plan = report.estimate.plan
    return display(plan.step_time.value, "s") if plan.step_time else "–"


def _mfu(report: FullReport) -> str:
    plan = report.estimate.plan
    return percent(plan.mfu) if plan.mfu is not None else "–"


def _memory(report: FullReport) -> str:
    use = report.estimate.plan.memory
    return percent(use.total.value / use.capacity.value) if use and use.capacity else "–"


def _run(report: FullReport) -> str:
    kept, plan = report.reliability, report.estimate.plan
    seconds = (kept.with_interruptions if kept else None) or plan.time_to_train
    return display(seconds, "s") if seconds else "–"


def _tokens(report: FullReport) -> str:
    cost = report.cost.cost
    found = cost.per_million_tokens if cost else None
    return display(found.value, cost.currency or "currency") if cost and found else "–"


def _serving(name: str, unit: str) -> Callable[[FullReport], str]:
    """A function that formats a figure of a serving plan."""

    def read(report: FullReport) -> str:
        found = report.estimate.plan.serving
        return "–" if found is None else display(getattr(found, name), unit)

    return read


def _drafted(report: FullReport) -> str:
    """The speculative decoding of a plan, shown because its figures are not comparable with others."""
    work = report.estimate.design.workload
    load = work.serving if work is not None else None
    if load is None or not load.draft_tokens:
        return "none" if load is not None else "–"
    return f"{load.draft_tokens}, {percent(load.draft_acceptance, 2)} accepted"


def _trained(report: FullReport) -> str:
    return "–" if report.serves else _tokens(report)


def _answered(report: FullReport) -> str:
    return _tokens(report) if report.serves else "–"


ROWS = (
    ("Verdict", "verdict.status", _verdict),
    ("Open errors / warnings", "findings", _findings),
    ("Uses", "accelerators_used", lambda one: used_text(one.estimate.design) or "–"),
    ("Price", "bill.total.price", _price),
    ("Cost over the term", "cost.total", _term),
    ("Electrical power", "cost.watts", _power),
    ("Step time", "estimate.step_time", _step),
    ("MFU", "estimate.mfu", _mfu),
    ("Time to first token", "estimate.serving.ttft", _serving("ttft", "s")),
    ("Time per output token", "estimate.serving.tpot", _serving("tpot", "s")),
    (
        "Output tokens per second",
        "estimate.serving.output_tokens_per_second",
        _serving("output_tokens_per_second", "1"),
    ),
    (
        "Output tokens per second of an accelerator",
        "estimate.serving.output_tokens_per_second_per_accelerator",
        _serving("per_accelerator", "1"),
    ),
    ("Draft tokens per step (speculative)", "estimate.serving", _drafted),
    ("Memory of the fullest accelerator", "estimate.memory.total", _memory),
    ("Run with interruptions", "reliability.with_interruptions", _run),
    ("A million trained tokens", "cost.per_million_tokens", _trained),
    ("A million output tokens", "cost.per_million_output_tokens", _answered),
)
"""Label, JSON field of this design, and formatter; the fields of other designs are under ``against``."""
