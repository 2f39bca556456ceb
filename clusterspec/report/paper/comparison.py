"""Designs side by side: the best value of each row, and the differences between the designs."""

from __future__ import annotations

from collections.abc import Callable
from math import inf, isfinite

from clusterspec.money import Money
from clusterspec.procurement.amounts import amount_of_quote, rounded_text
from clusterspec.records import NamedTuple
from clusterspec.report.assumption_rows import change_text
from clusterspec.report.estimate_rows import verdict_word
from clusterspec.report.paper.blocks import Block, PaperTable, Section, TableColumn, TableRow
from clusterspec.report.paper.differences import difference_blocks
from clusterspec.report.paper.options import choice_blocks
from clusterspec.results import counts_by_severity
from clusterspec.results.full import FullReport
from clusterspec.units import display, percent, term_text


def comparison_section(report: FullReport) -> Section | None:
    """This design and the compared ones, one column each; of each row the best is bold."""
    if not report.against:
        return None
    designs = (report, *report.against)
    columns = (TableColumn("What"), *(TableColumn(name, "right") for name in report.names))
    rows = [row for row in (_compared_row(one, designs) for one in ROWS) if row is not None]
    blocks: list[Block] = [PaperTable(columns, tuple(rows), "against", caption="Best of each row in bold")]
    if report.purchase is None:
        blocks += choice_blocks(report)
    blocks += difference_blocks(report)
    return Section("options", "Options", tuple(blocks))


class ComparedRow(NamedTuple):
    """A row of the comparison: label, JSON field, function that returns a design's value (or text), unit (empty for
    money), and whether more (1), less (-1) or neither (0) is better.
    """

    label: str
    field: str
    value: Callable[[FullReport], float | str | None]
    unit: str = ""
    better: int = 0


TERM = "money of a term"
"""The unit of amounts that are comparable only in the same currency and over the same term."""


def _compared_row(subject: ComparedRow, designs: tuple[FullReport, ...]) -> TableRow | None:
    values = [subject.value(each) for each in designs]
    if all(value is None for value in values):
        return None
    comparable = True
    if subject.unit in {"", TERM}:
        comparable = len({(_shared_currency(each), _is_rent(each)) for each in designs}) == 1
    if subject.unit == TERM:
        comparable &= len({_term_text(each) for each in designs}) == 1
    if subject.field.startswith(OF_WORK):
        comparable &= len({_planned_work(each) for each in designs}) == 1
    texts = [
        _cell_text(subject, value, values[0] if comparable and number else None, designs[number])
        for number, value in enumerate(values)
    ]
    stated = [value * subject.better for value in values if isinstance(value, float) and subject.better and comparable]
    best = {
        number + 1
        for number, value in enumerate(values)
        if isinstance(value, float) and stated and min(stated) < max(stated) == value * subject.better
    }
    fields = ("", subject.field, *(f"against[{number}].{subject.field}" for number in range(len(designs) - 1)))
    return TableRow((subject.label, *texts), subject.field, fields=fields, best=frozenset(best))


def _cell_text(subject: ComparedRow, value: float | str | None, first: float | str | None, report: FullReport) -> str:
    """A value with its unit, and its difference from the first design's value."""
    if value is None or isinstance(value, str):
        return value or "–"
    money = Money.of(value, _shared_currency(report))
    text = (
        percent(value)
        if subject.unit == "%"
        else rounded_text(money)
        if subject.unit in {"", TERM}
        else display(value, subject.unit)
    )
    known = isinstance(first, float) and first and isfinite(first) and isfinite(value)
    changed = change_text(value / first - 1) if known and isinstance(first, float) else ""
    return f"{text} ({changed})" if changed else text


OF_WORK = ("reliability.", "cost.per_million", "estimate.step_time", "estimate.serving")
"""Fields of times and costs, which are comparable only for the same work."""


def _planned_work(report: FullReport) -> tuple[str, float | None] | None:
    """The model and the tokens of the run."""
    work = report.estimate.design.workload
    return (work.model.name, work.tokens) if work is not None else None


def _planned_text(report: FullReport) -> str | None:
    work = report.estimate.design.workload
    if work is None:
        return None
    return work.model.name + (f", {display(work.tokens, '1')} tokens" if work.tokens else "")


def _shared_currency(report: FullReport) -> str:
    return report.bill.bill.currency


def _is_rent(report: FullReport) -> bool:
    """Whether a machine is rented. A rent includes energy, racks and repair, so it is not compared with a purchase."""
    buying, cluster = report.estimate.design.spec.procurement, report.estimate.design.cluster
    return bool((buying and buying.is_rent) or (cluster and cluster.cloud))


def _findings_text(report: FullReport) -> str:
    counted = counts_by_severity(report.estimate.findings)
    return f"{counted['error']} / {counted['warning']}"


def _total_price(report: FullReport) -> float | None:
    total = report.bill.bill.total
    return total.middle.low if total is not None else None


def _quoted_amount(report: FullReport) -> float | None:
    """The amount of the quote without its tax, so that offers with and without tax compare."""
    buying = report.estimate.design.spec.procurement
    amount = amount_of_quote(buying) if buying is not None and buying.quote else None
    return amount / (1 + (buying.tax or 0)) if buying is not None and amount is not None else None


def _term_cost(report: FullReport) -> float | None:
    cost = report.cost.cost
    return cost.total.value if cost and cost.total and cost.years else None


def _term_text(report: FullReport) -> str | None:
    buying = report.estimate.design.spec.procurement
    return term_text(buying.term.value) if buying and buying.term else None


def _drawn_power(report: FullReport) -> float | None:
    """The nameplate power of the machine; None for a cloud, since the power of its machines is only assumed."""
    cost, cluster = report.cost.cost, report.estimate.design.cluster
    cloud = cluster is not None and cluster.cloud
    return cost.watts.value if cost and cost.watts.parts and not cloud else None


def _memory_share(report: FullReport) -> float | None:
    use = report.estimate.plan.memory
    return use.total.value / use.capacity.value if use and use.capacity else None


def _run_time(report: FullReport) -> float | None:
    kept, plan = report.reliability, report.estimate.plan
    return (kept.with_interruptions if kept else None) or plan.time_to_train


def _price_per_million(report: FullReport) -> float | None:
    cost = report.cost.cost
    return cost.per_million_tokens.value if cost and cost.per_million_tokens else None


def _serving_figure(name: str) -> Callable[[FullReport], float | None]:
    """A function that reads a figure of a serving plan."""

    def read(report: FullReport) -> float | None:
        found = report.estimate.plan.serving
        endless = found is not None and name == "ttft" and found.queue_grows
        return None if found is None else inf if endless else float(getattr(found, name))

    return read


def _speculation_text(report: FullReport) -> str | None:
    """The speculative decoding of a plan, shown because its figures are not comparable with others."""
    work = report.estimate.design.workload
    load = work.serving if work is not None else None
    if load is None or not load.draft_tokens:
        return "none" if load is not None else None
    return f"{load.draft_tokens}, {percent(load.draft_acceptance, 2)} accepted"


ROWS = (
    ComparedRow("Verdict", "verdict.status", lambda one: verdict_word(one.estimate.verdict)),
    ComparedRow("Open errors / warnings", "findings", _findings_text),
    ComparedRow("Planned work", "estimate.parameters", _planned_text),
    ComparedRow("Uses", "accelerators_used", lambda one: one.estimate.used_text() or None),
    ComparedRow("Quote, without tax", "purchase.amount", _quoted_amount, "", -1),
    ComparedRow("Price", "bill.total.price", _total_price, "", -1),
    ComparedRow("Term", "cost.years", _term_text),
    ComparedRow("Cost over the term", "cost.total", _term_cost, TERM, -1),
    ComparedRow("Electrical power", "cost.watts", _drawn_power, "W", -1),
    ComparedRow("Run with interruptions", "reliability.with_interruptions", _run_time, "s", -1),
    ComparedRow(
        "A million trained tokens",
        "cost.per_million_tokens",
        lambda one: None if one.serves else _price_per_million(one),
        "",
        -1,
    ),
    ComparedRow(
        "Goodput", "reliability.goodput", lambda one: one.reliability.goodput if one.reliability else None, "%", 1
    ),
    ComparedRow("Step time", "estimate.step_time", lambda one: one.estimate.plan.whole_step.seconds, "s"),
    ComparedRow("MFU", "estimate.mfu", lambda one: one.estimate.plan.whole_step.mfu, "%", 1),
    ComparedRow("Time to first token", "estimate.serving.ttft", _serving_figure("ttft"), "s", -1),
    ComparedRow("Time per output token", "estimate.serving.tpot", _serving_figure("tpot"), "s", -1),
    ComparedRow(
        "Output tokens per second",
        "estimate.serving.output_tokens_per_second",
        _serving_figure("output_tokens_per_second"),
        "1",
        1,
    ),
    ComparedRow(
        "Output tokens per second of an accelerator",
        "estimate.serving.output_tokens_per_second_per_accelerator",
        _serving_figure("per_accelerator"),
        "1",
        1,
    ),
    ComparedRow(
        "A million output tokens",
        "cost.per_million_output_tokens",
        lambda one: _price_per_million(one) if one.serves else None,
        "",
        -1,
    ),
    ComparedRow("Draft tokens per step (speculative)", "estimate.serving", _speculation_text),
    ComparedRow("Memory of the fullest accelerator", "estimate.memory.total", _memory_share, "%"),
)
"""The fields of other designs are under ``against``."""
