"""Options of a buyer: price against time with the cheaper neighbors, the recommendation, and designs side by side."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from clusterspec.money import Money
from clusterspec.procurement.amounts import rounded_text
from clusterspec.records import NamedTuple
from clusterspec.report.assumption_rows import change_text
from clusterspec.report.charts.curves import ChoicePoint, choice_chart
from clusterspec.report.estimate_rows import verdict_word
from clusterspec.report.paper.blocks import Block, PaperTable, Picture, Section, TableColumn, TableRow, Text
from clusterspec.report.paper.differences import difference_blocks
from clusterspec.report.sweep_text import sides_text
from clusterspec.results import count
from clusterspec.results.full import FullReport
from clusterspec.results.verdict import Choice, Choices
from clusterspec.units import display, percent, plain

DAY = 86_400.0

# Price against time


def choice_blocks(report: FullReport) -> Iterator[Block]:
    """The options of a buyer: price against throughput, and each option compared with the design."""
    found = report.choices
    if found is None:
        return
    yield _choice_picture(found)
    columns = (TableColumn("Choice"), TableColumn("Price", "right"), TableColumn(_work_head(found), "right"))
    rows = tuple(_choice_row(found, number) for number in range(len(found.rows)))
    yield PaperTable(columns, rows, "choices.rows", caption="What can be chosen")
    yield Text(recommendation_text(found), "choices.recommended")


def _choice_picture(found: Choices) -> Picture:
    days = found.unit == "s"
    scale, currency = _money_scale(found), found.rows[0].amount.currency
    points = [
        ChoicePoint(
            _mark_label(row),
            (row.amount.low / scale[0], row.amount.high / scale[0]),
            row.work / DAY if days else row.work,
            row.name[0] if row.kind in {"design", "option"} else "",
            {"design": "limit", "option": "forward"}.get(row.kind, "soft"),
            not row.errors and row.holds_load,
            row.kind == "size" or (row.kind == "design" and not _has_idle_nodes(found)),
        )
        for row in found.rows
    ]
    alt = "; ".join(f"{row.name}: {rounded_text(row.amount)}, {_work_text(found, row)}" for row in found.rows)
    heads = (f"price, {scale[1]} {currency}".rstrip(), "days of the run" if days else "output tokens per second")
    texts = (plain, lambda tick: display(tick, "1"))
    caption = f"Price against {'time' if days else _throughput_text(found)}; the line is this machine in other sizes"
    why = [
        "has errors" if any(row.errors and row.holds_load for row in found.rows) else "",
        "does not hold the load" if any(not row.holds_load for row in found.rows) else "",
    ]
    hollow = f"; hollow: {' or '.join(each for each in why if each)}" if any(why) else ""
    load = (found.load, f"load: {display(found.load, '1')}") if found.load is not None else None
    return Picture(choice_chart(points, heads, texts, alt, load), caption + hollow, "choices")


def _mark_label(row: Choice) -> str:
    other = "layout" if row.settings else "engines"
    return f"{row.name}, other {other}" if row.kind == "plan" else row.name


def _throughput_text(found: Choices) -> str:
    return (
        "the most throughput within the targets" if found.of_targets else "throughput at equal load of an accelerator"
    )


def _has_idle_nodes(found: Choices) -> bool:
    """Whether a size of the machine does the work of the design: its other nodes have none."""
    return any(abs(row.work / found.rows[0].work - 1) < 1e-3 for row in found.rows if row.kind == "size")


def _money_scale(found: Choices) -> tuple[float, str]:
    most = max(row.amount.high for row in found.rows)
    return (1e9, "bn") if most >= 1e9 else (1e6, "M") if most >= 1e6 else (1e3, "k") if most >= 1e3 else (1.0, "")


def _work_head(found: Choices) -> str:
    return "Run" if found.unit == "s" else "Tokens per second"


def _work_text(found: Choices, row: Choice) -> str:
    return display(row.work, "s" if found.unit == "s" else "1")


def _choice_row(found: Choices, number: int) -> TableRow:
    row = found.rows[number]
    recommended = "recommended" if number == found.recommended else ""
    marks = (
        "" if row.surely_fits or row.errors else "may not fit",
        "" if row.holds_load else "does not hold the load",
        f"error: {', '.join(rule.replace('-', ' ') for rule in row.errors)}" if row.errors and row.holds_load else "",
        "dearer than the budget" if row.over_budget else "",
        (f"rent of {row.rent}" if row.rent else "purchase") if row.rent != found.rows[0].rent else "",
        recommended,
    )
    shown = ", ".join(mark for mark in marks if mark)
    name = f"{row.name} with {_plan_text(row)}" if row.kind == "plan" else row.name
    cells = (f"{name} ({shown})" if shown else name, rounded_text(row.amount), _work_text(found, row))
    return TableRow(cells, f"choices.rows[{number}]", bare=True)


def difference_text(found: Choices, row: Choice) -> str:
    """The cost and time of a choice relative to the design: `21.1 M EUR less, as fast`."""
    first = found.rows[0]
    money = row.amount.middle - first.amount.middle
    dearer = f"{rounded_text(money)} more" if money.low > 0 else f"{rounded_text(money * -1)} less"
    dearer = "as dear" if abs(money.low) < 1e-3 * first.amount.middle.low else dearer
    if abs(row.work / first.work - 1) < 1e-3:
        return f"{dearer}, as fast"
    if found.unit == "s":
        more, word = row.work - first.work, "longer" if row.work > first.work else "sooner"
        return f"{dearer}, {display(abs(more), 's')} {word}"
    return f"{dearer}, {change_text(row.work / first.work - 1)} tokens"


def recommendation_text(found: Choices) -> str:
    """The option with the most throughput for its price, compared with the design."""
    rent = found.rows[0].rent
    kind = "choices" if len({row.rent for row in found.rows}) == 1 else f"rents of {rent}" if rent else "purchases"
    if found.recommended is None and (less := slower_text(found)):
        return f"None is recommended, since the load takes less than this design.{less}"
    if found.recommended is None:
        against = (
            "has an error" if any(row.errors for row in found.rows) else "",
            "exceeds the budget" if any(row.over_budget for row in found.rows) else "",
            "may not fit in memory" if any(not row.surely_fits for row in found.rows) else "",
            "does not hold the load" if any(not row.holds_load for row in found.rows) else "",
        )
        return f"No choice is recommended: each of the {kind} {' or '.join(why for why in against if why)}."
    best = found.rows[found.recommended]
    slower = "" if found.recommended_row else slower_text(found)
    of = f"Of the {kind} without errors"
    of += " and within the budget" if any(row.over_budget for row in found.rows) else ""
    of += " that surely fit"
    of += " and hold the load" if any(not row.holds_load for row in found.rows) else ""
    least = "has the least cost of a token" if best.per_million is not None else "does the most work for its price"
    of += " and are neither slower nor dearer" if slower else ""
    if best is found.rows[0] and found.unit == "s" and all(_is_worse_size(row, best) for row in found.rows[1:]):
        sound = " without errors" if any(row.errors for row in found.rows[1:]) else ""
        return f"Each other size of this machine{sound} is slower or dearer than this design.{slower}"
    if best is found.rows[0]:
        return f"{of}, this design {least}.{slower}"
    less = slower_text(found) if found.of_targets or found.load is not None else ""
    return f"Recommended: {choice_name(best)} ({difference_text(found, best)}). {of} it {least}.{less}"


def _is_worse_size(size: Choice, design: Choice) -> bool:
    """Whether another size of a training machine has errors, or takes longer than the design or costs more."""
    worse = size.work > design.work or size.amount.middle.low > design.amount.middle.low
    return size.kind == "size" and bool(size.errors or worse)


def choice_name(choice: Choice) -> str:
    """A choice in a sentence."""
    if choice.kind == "plan":
        return f"{choice.name} of this machine with {_plan_text(choice)}"
    return f"{choice.name} of this machine" if choice.kind == "size" else choice.name


def _plan_text(choice: Choice) -> str:
    """The engines or the layout that a search found: `the layout tp 8, pp 16, recompute full`."""
    if choice.settings is None:
        return sides_text(choice.engines or {})
    shown = ", ".join(f"{key} {choice.settings[key]}" for key in SHOWN_KEYS if key in choice.settings)
    return f"the layout {shown}"


SHOWN_KEYS = ("tp", "cp", "ep", "pp", "recompute")
"""The keys that tell layouts apart for a reader who does not write them."""


def slower_text(found: Choices) -> str:
    """The cheapest size that is slower than the design, or serves less but all of the required load; the buyer must
    weigh this.
    """
    first, runs = found.rows[0], found.unit == "s"
    sizes = [row for row in found.rows[1:] if row.kind != "option" and not row.errors and row.surely_fits]
    slow = [row for row in sizes if row.holds_load and (row.work > first.work) is runs and row.work != first.work]
    slow = [row for row in slow if row.amount.middle.low < first.amount.middle.low]
    if not slow or not (runs or found.of_targets or found.load is not None):
        return ""
    cheapest = min(slow, key=lambda row: row.amount.middle.low)
    name = choice_name(cheapest) if cheapest.kind == "plan" else cheapest.name
    what = "would be cheaper and slower" if runs else "would hold the load for less, with less in reserve"
    return f" {name} {what}: {difference_text(found, cheapest)}."


# Designs side by side


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


class Compared(NamedTuple):
    """A row of the comparison: label, JSON field, value of a design (a text as it is shown), unit (of money empty), and
    the better direction: 1 for more, -1 for less, 0 for neither.
    """

    label: str
    field: str
    value: Callable[[FullReport], float | str | None]
    unit: str = ""
    better: int = 0


TERM = "money of a term"
"""The unit of amounts that are comparable only in one currency and over one term."""


def _compared_row(one: Compared, designs: tuple[FullReport, ...]) -> TableRow | None:
    values = [one.value(each) for each in designs]
    if all(value is None for value in values):
        return None
    comparable = len({_currency(each) for each in designs}) == 1 if one.unit in {"", TERM} else True
    if one.unit == TERM:
        comparable &= len({_term_text(each) for each in designs}) == 1
    if one.field.startswith(OF_WORK):
        comparable &= len({_planned_work(each) for each in designs}) == 1
    texts = [
        _cell_text(one, value, values[0] if comparable and number else None, designs[number])
        for number, value in enumerate(values)
    ]
    stated = [value * one.better for value in values if isinstance(value, float) and one.better and comparable]
    best = {
        number + 1
        for number, value in enumerate(values)
        if isinstance(value, float) and stated and min(stated) < max(stated) == value * one.better
    }
    fields = ("", one.field, *(f"against[{number}].{one.field}" for number in range(len(designs) - 1)))
    return TableRow((one.label, *texts), one.field, fields=fields, best=frozenset(best))


def _cell_text(one: Compared, value: float | str | None, first: float | str | None, report: FullReport) -> str:
    """A value with its unit, and its difference from the first design's value."""
    if value is None or isinstance(value, str):
        return value or "–"
    money = Money.of(value, _currency(report))
    text = (
        percent(value)
        if one.unit == "%"
        else rounded_text(money)
        if one.unit in {"", TERM}
        else display(value, one.unit)
    )
    changed = change_text(value / first - 1) if isinstance(first, float) and first else ""
    return f"{text} ({changed})" if changed else text


OF_WORK = ("reliability.", "cost.per_million", "estimate.step_time", "estimate.serving")
"""Fields of times and costs, which compare for one and the same work only."""


def _planned_work(report: FullReport) -> tuple[str, float | None] | None:
    """The model and the tokens of the run."""
    work = report.estimate.design.workload
    return (work.model.name, work.tokens) if work is not None else None


def _planned_text(report: FullReport) -> str | None:
    work = report.estimate.design.workload
    if work is None:
        return None
    return work.model.name + (f", {display(work.tokens, '1')} tokens" if work.tokens else "")


def _currency(report: FullReport) -> str:
    return report.bill.bill.currency


def _findings_text(report: FullReport) -> str:
    counted = count(report.estimate.findings)
    return f"{counted['error']} / {counted['warning']}"


def _price(report: FullReport) -> float | None:
    total = report.bill.bill.total
    return total.middle.low if total is not None else None


def _term_cost(report: FullReport) -> float | None:
    cost = report.cost.cost
    return cost.total.value if cost and cost.total and cost.years else None


def _term_text(report: FullReport) -> str | None:
    buying = report.estimate.design.spec.procurement
    return buying.term.written if buying and buying.term else None


def _power(report: FullReport) -> float | None:
    cost = report.cost.cost
    return cost.watts.value if cost and cost.watts.parts else None


def _memory(report: FullReport) -> float | None:
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
        return None if found is None else float(getattr(found, name))

    return read


def _speculation_text(report: FullReport) -> str | None:
    """The speculative decoding of a plan, shown because its figures are not comparable with others."""
    work = report.estimate.design.workload
    load = work.serving if work is not None else None
    if load is None or not load.draft_tokens:
        return "none" if load is not None else None
    return f"{load.draft_tokens}, {percent(load.draft_acceptance, 2)} accepted"


ROWS = (
    Compared("Verdict", "verdict.status", lambda one: verdict_word(one.estimate.verdict)),
    Compared("Open errors / warnings", "findings", _findings_text),
    Compared("Planned work", "estimate.parameters", _planned_text),
    Compared("Uses", "accelerators_used", lambda one: one.estimate.used_text() or None),
    Compared("Price", "bill.total.price", _price, "", -1),
    Compared("Term", "cost.years", _term_text),
    Compared("Cost over the term", "cost.total", _term_cost, TERM, -1),
    Compared("Electrical power", "cost.watts", _power, "W", -1),
    Compared("Run with interruptions", "reliability.with_interruptions", _run_time, "s", -1),
    Compared(
        "A million trained tokens",
        "cost.per_million_tokens",
        lambda one: None if one.serves else _price_per_million(one),
        "",
        -1,
    ),
    Compared(
        "Goodput", "reliability.goodput", lambda one: one.reliability.goodput if one.reliability else None, "%", 1
    ),
    Compared("Step time", "estimate.step_time", lambda one: one.estimate.plan.step_seconds, "s"),
    Compared("MFU", "estimate.mfu", lambda one: one.estimate.plan.mfu, "%", 1),
    Compared("Time to first token", "estimate.serving.ttft", _serving_figure("ttft"), "s", -1),
    Compared("Time per output token", "estimate.serving.tpot", _serving_figure("tpot"), "s", -1),
    Compared(
        "Output tokens per second",
        "estimate.serving.output_tokens_per_second",
        _serving_figure("output_tokens_per_second"),
        "1",
        1,
    ),
    Compared(
        "Output tokens per second of an accelerator",
        "estimate.serving.output_tokens_per_second_per_accelerator",
        _serving_figure("per_accelerator"),
        "1",
        1,
    ),
    Compared(
        "A million output tokens",
        "cost.per_million_output_tokens",
        lambda one: _price_per_million(one) if one.serves else None,
        "",
        -1,
    ),
    Compared("Draft tokens per step (speculative)", "estimate.serving", _speculation_text),
    Compared("Memory of the fullest accelerator", "estimate.memory.total", _memory, "%"),
)
"""The fields of other designs are under ``against``."""
