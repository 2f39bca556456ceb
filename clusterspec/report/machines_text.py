"""The machines that a search compares, as text and CSV."""

from __future__ import annotations

import re

from clusterspec.procurement.amounts import money_text
from clusterspec.report import PLAIN, TextStyle, csv_text, paragraph, text_table, title_text
from clusterspec.report.estimate_rows import latency_text
from clusterspec.report.layout_tables import layout_text
from clusterspec.report.search_text import used_nodes_text
from clusterspec.results.machine_search import BEST, MachineRow, MachinesReport
from clusterspec.units import display, percent, plural

UNKNOWN = "–"
HEADS = ("machine", "nodes", "fabric", "time", "MFU", "run", "power", "cost", "")
_QUANTITY = re.compile(r" (?=\d|not known|of unknown time)")
"""Text between the name of a limit and the machine's figure."""
MOST_ROWS = 40
"""Machines that are printed; CSV and JSON have all."""


def machines_text(report: MachinesReport, style: TextStyle = PLAIN) -> str:
    """The limits, the best machines with their layouts, and a table of all machines with the limits that each
    misses."""
    meeting = sum(row.meets for row in report.machines)
    limits = f" ({', '.join(report.limits)})" if report.limits else ""
    unjudged = sum(bool(_missed_names(row)[1]) for row in report.machines)
    rest = f"; {unjudged} cannot be judged" if unjudged else ""
    meet = "meets" if meeting == 1 else "meet"
    told = f"{plural(len(report.machines), 'machine')} compared, {meeting} {meet} all limits{limits}{rest}."
    parts = [paragraph(f"{title_text(report.name)}: {told}", style)]
    parts += [_best_text(name, report.best[name], report, style) for name in BEST if name in report.best]
    parts += [_best_text(f"misses only {limit}", row, report, style) for limit, row in report.nearest.items()]
    several = len({row.fabric for row in report.machines}) > 1
    columns = [column for column in range(len(HEADS)) if several or HEADS[column] != "fabric"]
    rows = [[_machine_cells(row, report)[column] for column in columns] for row in report.machines]
    more = f"{len(rows) - MOST_ROWS} more with --format csv or json.\n" if len(rows) > MOST_ROWS else ""
    heads = [HEADS[column] for column in columns]
    right = range(3 if several else 2, len(heads) - 1)
    table = text_table(heads, rows[:MOST_ROWS], right=(1, *right), wrap=(0, len(heads) - 1), style=style)
    parts += [style.paint("bold", "Machines") + "\n" + table + more + paragraph(_legend_text(report), style)]
    return "\n".join(parts)


def _best_text(name: str, row: MachineRow, report: MachinesReport, style: TextStyle) -> str:
    """One of the best machines, with its layout and the items missing from its cost."""
    size = f"{plural(row.nodes, 'node')}, {plural(row.accelerators or 0, 'accelerator')}"
    figures = [_time_text(row), _run_text(row), _power_text(row), _cost_text(row, report)]
    shown = ", ".join(figure for figure in figures if figure != UNKNOWN)
    stated = {key: value for key, value in (row.layout or {}).items() if key not in {"nodes", "nodes_per_domain"}}
    used = used_nodes_text({} if (row.layout or {}).get("nodes") == row.nodes else row.layout or {})
    layout = layout_text(stated, row.disaggregated)
    place = f"Layout on {used}" if used else "Layout"
    doubt = " It may not fit: the upper end of its memory range exceeds the memory." if row.surely_fits is False else ""
    text = f"{title_text(row.spec)}, {size}, {row.fabric or 'no fabric'}: {shown}. {place}: {layout}.{doubt}"
    return style.paint("bold", name.capitalize()) + "\n" + paragraph(text, style)


def _machine_cells(row: MachineRow, report: MachinesReport) -> tuple[str, ...]:
    mfu = percent(row.mfu) if row.mfu is not None else UNKNOWN
    times = (_time_text(row), mfu, _run_text(row), _power_text(row), _cost_text(row, report))
    return (title_text(row.spec), f"{row.nodes:,}", row.fabric or UNKNOWN, *times, _titles_or_misses(row, report))


def _titles_or_misses(row: MachineRow, report: MachinesReport) -> str:
    """The limits that a machine misses, by name, else its titles."""
    if row.why or row.missed:
        missed, unknown = (", ".join(names) for names in _missed_names(row))
        texts = (row.why, f"misses {missed}" if missed else "", f"{unknown} not known" if unknown else "")
        return "; ".join(text for text in texts if text)
    titles = [name for name in BEST if report.best.get(name) == row]
    front = ["Pareto"] if not titles and row in report.pareto else []
    return ", ".join((*titles, *front))


def _missed_names(row: MachineRow) -> tuple[list[str], list[str]]:
    """The names of the limits that a machine misses, and of limits that cannot be judged."""
    names = {_QUANTITY.split(reason)[0]: "not known" in reason for reason in row.missed}
    return [name for name, unknown in names.items() if not unknown], [
        name for name, unknown in names.items() if unknown
    ]


def _time_text(row: MachineRow) -> str:
    if row.serving is not None:
        return f"{latency_text(row.serving, 'ttft')} / {display(row.serving['tpot'], 's')}"
    return display(row.step_time, "s") if row.step_time is not None else UNKNOWN


def _run_text(row: MachineRow) -> str:
    return display(row.elapsed, "s") if row.elapsed is not None else UNKNOWN


def _power_text(row: MachineRow) -> str:
    return display(row.power, "W") if row.power is not None else UNKNOWN


def _cost_text(row: MachineRow, report: MachinesReport) -> str:
    return money_text(round(row.cost), report.currency) if row.cost is not None else UNKNOWN


def _legend_text(report: MachinesReport) -> str:
    """The meaning of the columns, and the items that every cost omits."""
    cost = "over the term" if report.whole_term else "of the purchase, since `procurement.term` is not stated"
    text = "time: of a step, or to the first / of each next token. run: without interruptions. power: IT at full load."
    text += f" cost: {cost}."
    unknown = dict.fromkeys(reason for row in report.machines for reason in row.missed if "not known" in reason)
    text += "".join(f" {reason}." for reason in unknown)
    left_out = dict.fromkeys(part for row in report.machines if row.cost is not None for part in row.unpriced)
    named = "; ".join([*left_out][:6])
    return f"{text} Some costs leave out: {named}." if named else text


FIELDS = (
    "spec",
    "nodes",
    "fabric",
    "accelerators",
    "layout",
    "step_time",
    "mfu",
    "time_to_train",
    "time_to_train_with_interruptions",
    "ttft",
    "tpot",
    "queue_grows",
    "memory",
    "power",
    "cost",
    "per_run",
    "best",
    "pareto",
    "missed",
    "why",
)


def machines_csv(report: MachinesReport) -> str:
    """One row per machine, in SI units."""
    rows = []
    for row in report.machines:
        served = row.serving or {}
        values = row.to_json() | {key: served.get(key) for key in ("ttft", "tpot", "queue_grows")}
        values["layout"] = layout_text(row.layout or {}, row.disaggregated)
        values["best"] = " ".join(name for name in BEST if report.best.get(name) == row)
        values |= {"pareto": row in report.pareto, "missed": "; ".join(row.missed)}
        rows.append(["" if values[key] is None else values[key] for key in FIELDS])
    return csv_text(FIELDS, rows)
