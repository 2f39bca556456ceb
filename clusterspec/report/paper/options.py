"""Options of a buyer: price against time with the cheaper neighbors, and the recommendation."""

from __future__ import annotations

from collections.abc import Iterator

from clusterspec.procurement.amounts import rounded_text
from clusterspec.quantity import DAY, HOUR
from clusterspec.records import replace
from clusterspec.report.assumption_rows import change_text
from clusterspec.report.charts.curves import ChoicePoint, choice_chart
from clusterspec.report.paper.blocks import Block, PaperTable, Picture, TableColumn, TableRow, Text
from clusterspec.report.sweep_text import sides_text
from clusterspec.results.full import FullReport
from clusterspec.results.verdict import Choice, Choices
from clusterspec.units import display, plain

# Price against time


def choice_blocks(report: FullReport) -> Iterator[Block]:
    """The options of a buyer: price against throughput, and each option compared with the design."""
    found = report.choices
    if found is None:
        return
    alike = replace(found, rows=tuple(row for row in found.rows if row.rent == found.rows[0].rent))
    if len(alike.rows) > 1:
        yield _choice_picture(alike)
    columns = (TableColumn("Choice"), TableColumn("Price", "right"), TableColumn(_work_heading(found), "right"))
    rows = tuple(_choice_row(found, number) for number in range(len(found.rows)))
    yield PaperTable(columns, rows, "choices.rows", caption="What can be chosen")
    yield Text(recommendation_text(found), "choices.recommended")


def _choice_picture(choices: Choices) -> Picture:
    runs, (unit, seconds) = choices.unit == "s", _run_unit(choices)
    scale, currency = _money_scale(choices), choices.rows[0].amount.currency
    points = [
        ChoicePoint(
            _mark_label(row),
            (row.amount.low / scale[0], row.amount.high / scale[0]),
            row.work / seconds if runs else row.work,
            row.name[0] if row.kind in {"design", "option"} else "",
            {"design": "limit", "option": "forward"}.get(row.kind, "soft"),
            not row.errors and row.holds_load,
            row.kind == "size" or (row.kind == "design" and not _has_idle_nodes(choices)),
        )
        for row in choices.rows
    ]
    alt = "; ".join(f"{row.name}: {rounded_text(row.amount)}, {_work_text(choices, row)}" for row in choices.rows)
    heads = (
        " ".join(each for each in ("price,", scale[1], currency) if each).rstrip(","),
        f"{'hours' if unit == 'h' else unit} of the run" if runs else "output tokens per second",
    )
    texts = (plain, lambda tick: display(tick, "1"))
    caption = f"Price against {'time' if runs else _throughput_text(choices)}; the line is this machine in other sizes"
    why = [
        "has errors" if any(row.errors and row.holds_load for row in choices.rows) else "",
        "does not hold the load" if any(not row.holds_load for row in choices.rows) else "",
    ]
    hollow = f"; hollow: {' or '.join(each for each in why if each)}" if any(why) else ""
    load = (choices.load, f"load: {display(choices.load, '1')}") if choices.load is not None else None
    return Picture(choice_chart(points, heads, texts, alt, load), caption + hollow, "choices")


def _mark_label(row: Choice) -> str:
    other = "layout" if row.settings else "engines"
    return f"{row.name}, other {other}" if row.kind == "plan" else row.name


def _throughput_text(choices: Choices) -> str:
    return "highest throughput within the targets" if choices.of_targets else "throughput at equal load per accelerator"


def _has_idle_nodes(choices: Choices) -> bool:
    """Whether the design has idle nodes, since another size of the machine does the same work."""
    return any(abs(row.work / choices.rows[0].work - 1) < 1e-3 for row in choices.rows if row.kind == "size")


def _money_scale(choices: Choices) -> tuple[float, str]:
    most = max(row.amount.high for row in choices.rows)
    return (1e9, "bn") if most >= 1e9 else (1e6, "M") if most >= 1e6 else (1e3, "k") if most >= 1e3 else (1.0, "")


def _work_heading(choices: Choices) -> str:
    if choices.unit == "s":
        return "Run"
    return f"Tokens per second{' within the targets' if choices.of_targets else ''}"


def _work_text(choices: Choices, row: Choice) -> str:
    return _run_text(choices, row.work) if choices.unit == "s" else display(row.work, "1")


def _run_unit(choices: Choices) -> tuple[str, float]:
    """The unit of run times, days or hours, in which the design's run is printed, with its length in seconds. All
    choices use this unit.
    """
    return ("h", HOUR) if display(choices.rows[0].work, "s").endswith(" h") else ("days", DAY)


def _run_text(choices: Choices, seconds: float, digits: int = 3) -> str:
    unit, scale = _run_unit(choices)
    return f"{plain(seconds / scale, digits)} {unit}"


def _choice_row(choices: Choices, number: int) -> TableRow:
    row = choices.rows[number]
    recommended = "recommended" if number == choices.recommended else ""
    marks = (
        "" if row.surely_fits or row.errors else "may not fit",
        "" if row.holds_load else "does not hold the load",
        f"error: {', '.join(rule.replace('-', ' ') for rule in row.errors)}" if row.errors and row.holds_load else "",
        "over the budget" if row.over_budget else "",
        (f"rent of {row.rent}" if row.rent else "purchase") if row.rent != choices.rows[0].rent else "",
        recommended,
    )
    shown = ", ".join(mark for mark in marks if mark)
    name = f"{row.name} with {_plan_text(row)}" if row.kind == "plan" else row.name
    cells = (f"{name} ({shown})" if shown else name, rounded_text(row.amount), _work_text(choices, row))
    return TableRow(cells, f"choices.rows[{number}]", bare=True)


def difference_text(choices: Choices, row: Choice) -> str:
    """The cost and time of a choice relative to the design: `21.1 M EUR less, as fast`."""
    first = choices.rows[0]
    money = row.amount.middle - first.amount.middle
    dearer = f"{rounded_text(money)} more" if money.low > 0 else f"{rounded_text(money * -1)} less"
    dearer = "at the same price" if abs(money.low) < 1e-3 * first.amount.middle.low else dearer
    if abs(row.work / first.work - 1) < 1e-3:
        return f"{dearer}, as fast"
    if choices.unit == "s":
        more, word = row.work - first.work, "longer" if row.work > first.work else "sooner"
        return f"{dearer}, {_run_text(choices, abs(more), 2)} {word}"
    return f"{dearer}, {change_text(row.work / first.work - 1)} tokens"


def recommendation_text(choices: Choices) -> str:
    """The option with the most throughput for its price, compared with the design."""
    rent = choices.rows[0].rent
    kind = "choices" if len({row.rent for row in choices.rows}) == 1 else f"rents of {rent}" if rent else "purchases"
    if choices.recommended is None and (less := slower_text(choices)):
        return f"None is recommended, since the load needs less than this design.{less}"
    if choices.recommended is None:
        against = (
            "has an error" if any(row.errors for row in choices.rows) else "",
            "exceeds the budget" if any(row.over_budget for row in choices.rows) else "",
            "may not fit in memory" if any(not row.surely_fits for row in choices.rows) else "",
            "does not hold the load" if any(not row.holds_load for row in choices.rows) else "",
        )
        return f"No choice is recommended: each of the {kind} {' or '.join(why for why in against if why)}."
    best = choices.rows[choices.recommended]
    slower = "" if choices.recommended_row else slower_text(choices)
    of = f"Of the {kind} without errors"
    of += " and within the budget" if any(row.over_budget for row in choices.rows) else ""
    of += " that surely fit"
    of += " and hold the load" if any(not row.holds_load for row in choices.rows) else ""
    least = "has the lowest cost per token" if best.per_million is not None else "does the most work for its price"
    of += " and are neither slower nor more expensive" if slower else ""
    if best is choices.rows[0] and choices.unit == "s" and all(_is_worse_size(row, best) for row in choices.rows[1:]):
        sound = " without errors" if any(row.errors for row in choices.rows[1:]) else ""
        return f"Each other size of this machine{sound} is slower or more expensive than this design.{slower}"
    if best is choices.rows[0]:
        return f"{of}, this design {least}.{slower}"
    less = slower_text(choices) if choices.of_targets or choices.load is not None else ""
    return f"Recommended: {choice_name(best)} ({difference_text(choices, best)}). {of} it {least}.{less}"


def _is_worse_size(size: Choice, design: Choice) -> bool:
    """Whether another size of a training machine has errors, takes longer than the design, or costs more."""
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
"""The layout keys that are shown to tell layouts apart in reports for buyers."""


def slower_text(choices: Choices) -> str:
    """A text on the cheapest size that is slower than the design, or serves less but still the required load. The buyer
    has to weigh this.
    """
    first, runs = choices.rows[0], choices.unit == "s"
    sizes = [row for row in choices.rows[1:] if row.kind != "option" and not row.errors and row.surely_fits]
    slow = [row for row in sizes if row.holds_load and (row.work > first.work) is runs and row.work != first.work]
    slow = [row for row in slow if row.amount.middle.low < first.amount.middle.low]
    if not slow or not (runs or choices.of_targets or choices.load is not None):
        return ""
    cheapest = min(slow, key=lambda row: row.amount.middle.low)
    if cheapest is choices.recommended_row:  # the sentence before says so
        return ""
    name = choice_name(cheapest) if cheapest.kind == "plan" else cheapest.name
    what = "would be cheaper and slower" if runs else "would hold the load for less, with less in reserve"
    return f" {name} {what}: {difference_text(choices, cheapest)}."
