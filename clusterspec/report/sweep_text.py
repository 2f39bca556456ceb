"""Serving plans found by search, as text and CSV."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from clusterspec.procurement.bill import money
from clusterspec.report import ink as grid
from clusterspec.report.ink import PLAIN, Ink, wrapped
from clusterspec.report.search_notes import (
    comparison_text,
    findings_text,
    memory_note,
    memory_text,
    paragraph,
    refused_text,
)
from clusterspec.report.search_text import layout_text
from clusterspec.results.search import SERVING_COLUMNS, LayoutRow, SearchReport, SweepRow
from clusterspec.units import display, percent, plain, plural

# Serving plans found by search, as text and CSV

DEGREES = ("tp", "attention_dp", "ep", "pp")
SHORT = {"attention_dp": "adp"}


def search(report: SearchReport, ink: Ink = PLAIN) -> str:
    """The number of plans evaluated, the best plans, the Pareto front, and the plan of the spec."""
    parts = [paragraph(report.why, ink)] if report.incomplete else [paragraph(_looked(report), ink)]
    if report.layouts:
        title = f"Best by {report.objective.replace('_', ' ')}"
        parts.append(ink.paint("bold", title) + "\n" + table(report.layouts, ink, report.currency))
        parts[-1] += _counted(report, ink)
        notes = (memory_note(report.layouts), *findings_text(report.layouts, "plan").splitlines())
        parts.append("".join(paragraph(each, ink) for each in notes))
        parts.append("".join(paragraph(comparison_text(each, "plan", "a request"), ink) for each in report.comparisons))
    elif not report.incomplete:
        parts.append(paragraph(f"No plan found: {report.why}.{_nearest(report)}", ink))
    if len(report.pareto) > 1:
        title = "Pareto front of output tokens per second of a user and of an accelerator"
        parts.append(ink.paint("bold", title) + "\n" + table(report.pareto, ink, report.currency, fronted=True))
    if report.present is not None:
        parts.append(paragraph(_present(report, report.present), ink))
    return "\n".join(part for part in parts if part)


def _looked(report: SearchReport) -> str:
    """The number of plans evaluated, of those that meet the targets, and of those dropped, with the rule."""
    looked = f"{report.evaluated:,} plans evaluated: {report.fitting:,} meet the targets at the load"
    looked += f", {report.may_fit:,} of these may not fit." if report.may_fit else "."
    return " ".join(each for each in (looked, refused_text(report, "plan")) if each)


def engines(row: LayoutRow) -> str:
    """The engines of a plan: ``4 × tp 8``, or ``2 × tp 4 prefill + 1 × adp 8 decode``."""
    serving = row.serving or {}
    pools = serving.get("disaggregated")
    if pools:
        return " + ".join(f"{_engine(pools[side], pools[side].get('replicas', 1))} {side}" for side in pools)
    return _engine(row.layout, serving.get("replicas") or 1)


def _engine(degrees: object, replicas: int) -> str:
    assert isinstance(degrees, dict)
    named = [(key, degrees.get(key, 1)) for key in DEGREES]
    kept = [(key, value) for key, value in named if value != 1] or [("tp", 1)]
    shown = " ".join(f"{SHORT.get(key, key)} {value}" for key, value in kept)
    return f"{replicas} × {shown}"


def medians(row: LayoutRow) -> tuple[float, float]:
    """The median time to first token and time per output token of a plan, in seconds."""
    found = row.serving or {}
    return found["ttft"], found["tpot"]


def latencies(row: LayoutRow) -> tuple[float, float]:
    """The time to first token and the time per output token of a plan at the percentile of the targets, in seconds."""
    at = (row.serving or {}).get("at_percentile")
    return (at["ttft"], at["tpot"]) if at else medians(row)


def latency_heads(rows: Sequence[LayoutRow]) -> tuple[str, str]:
    """The names of `latencies`: ``TTFT p95`` and ``TPOT p95``; medians have no suffix."""
    at = next((row.serving["at_percentile"] for row in rows if row.serving and row.serving["at_percentile"]), None)
    suffix = f" p{plain(at['percentile'])}" if at else ""
    return f"TTFT{suffix}", f"TPOT{suffix}"


def table(rows: tuple[LayoutRow, ...], ink: Ink, currency: str, *, fronted: bool = False) -> str:
    """One line per plan; those of the front with their requests in flight."""
    costs = any(row.cost is not None for row in rows)
    heads = (
        "",
        "engines",
        *(("in flight",) if fronted else ("accelerators",)),
        *((("TTFT", "TPOT")) if fronted else latency_heads(rows)),
        "tok/s/user",
        "tok/s/acc",
        *(() if fronted else ("memory",)),
        *((f"{currency} per M tokens".lstrip(),) if costs else ()),
    )
    lines = []
    for number, row in enumerate(rows, 1):
        found = row.serving or {}
        whole = f"{found['concurrency']:,.0f}" if fronted else f"{found['accelerators']:,.0f}"
        memory = memory_text(row)
        lines.append(
            (
                str(number),
                engines(row),
                whole,
                *(display(seconds, "s") for seconds in (latencies(row) if not fronted else medians(row))),
                f"{found['tokens_per_second_per_user']:,.0f}",
                f"{found['output_tokens_per_second_per_accelerator']:,.0f}",
                *(() if fronted else (memory,)),
                *((money(round(row.cost, 2)) if row.cost is not None else "",) if costs else ()),
            )
        )
    return grid.text_table(heads, lines, right=(0, *range(2, len(heads))), wrap=(1,), ink=ink)


def _counted(report: SearchReport, ink: Ink) -> str:
    """What is counted where plans leave accelerators of a node idle; empty without such a plan."""
    if not any(row.serving and row.serving["idle"] for row in report.layouts):
        return ""
    priced = any(row.cost is not None for row in report.layouts)
    counted = "throughput and cost count those in use" if priced else "throughput counts those in use"
    note = f"Some plans leave accelerators of a node idle; {counted}."
    return ink.paint("dim", "\n".join(wrapped(note, ink.measure, "  ", "  "))) + "\n"


def _nearest(report: SearchReport) -> str:
    row = report.smallest
    if row is None or row.serving is None:
        return ""
    heads, values = latency_heads((row,)), latencies(row)
    first, each = (f"{name} of {display(value, 's')}" for name, value in zip(heads, values, strict=True))
    return f" The nearest, {engines(row)}, reaches a {first} and a {each}."


def _present(report: SearchReport, present: LayoutRow) -> str:
    found = present.serving or {}
    text = (
        f"The plan of the spec gives {display(found['output_tokens_per_second'], '1')} output tokens per second on "
        f"{plural(round(found['accelerators']), 'accelerator')}"
    )
    if present.fits is False:
        text += " and does not fit in memory"
    if not found.get("meets_targets"):
        text += " and misses its targets"
    best = report.layouts[0].serving if report.layouts else None
    if best is None:
        return text + "."
    fewer = round(found["accelerators"] - best["accelerators"])
    gain = best["output_tokens_per_second_per_accelerator"] / found["output_tokens_per_second_per_accelerator"] - 1
    if engines(report.layouts[0]) == engines(present) and not fewer:
        return f"{text}; it is the best one found."
    number = plural(abs(fewer), "accelerator")
    beside = f"{number} {'fewer' if fewer > 0 else 'more'}" if fewer else "as many accelerators"
    more = f"{percent(abs(gain), 2)} {'more' if gain >= 0 else 'fewer'} tokens with each"
    return f"{text}; the best one takes {beside} and makes {more}."


FIELDS = ("ttft", "tpot", "output_tokens_per_second", "output_tokens_per_second_per_accelerator", "concurrency")


def search_csv(report: SearchReport) -> str:
    """One row per plan: those at the load of the spec, then the front."""
    names = ("kind", "engines", "accelerators", *FIELDS, "memory", "fits", "cost")
    rows = []
    for kind, found in (("best", report.layouts), ("front", report.pareto)):
        for row in found:
            serving = row.serving or {}
            values = (
                serving.get("accelerators"),
                *(serving.get(name) for name in FIELDS),
                row.memory,
                row.fits,
                row.cost,
            )
            rows.append([kind, engines(row), *("" if value is None else str(value) for value in values)])
    return grid.separated(names, rows)


# The points of a sweep, as text and CSV

Column = tuple[str, Callable[[SweepRow], str]]
"""The head of a column, and its text for a point."""


def sweep(rows: list[SweepRow], ink: Ink = PLAIN) -> str:
    """One line per point: axes, results, and the layout in short."""
    names = list(rows[0].axes) if rows else []
    columns: list[Column] = [(name.rpartition(".")[2], _axis(name)) for name in names]
    columns += _serving() if any(row.serving for row in rows) else _training()
    columns += [("memory", lambda row: _amount(row.memory, "B")), ("fits", lambda row: FITS[row.fits])]
    if any(row.cost is not None for row in rows):
        head = "per M tokens" if any(row.serving for row in rows) else "cost"
        columns.append((head, _cost))
    columns.append(("layout", lambda row: row.why or layout_text(row.layout or {}, (row.serving or {}).get(POOLS))))
    lines = [tuple(shown(row) for _, shown in columns) for row in rows]
    return grid.text_table(
        [head for head, _ in columns],
        lines,
        right=range(len(names), len(columns) - 1),
        wrap=(len(columns) - 1,),
        ink=ink,
    )


POOLS = "disaggregated"
FITS = {True: "yes", False: "no", None: ""}


def _axis(name: str) -> Callable[[SweepRow], str]:
    return lambda row: str(row.axes[name])


def _training() -> list[Column]:
    return [
        ("step", lambda row: _amount(row.step_time, "s")),
        ("MFU", lambda row: percent(row.mfu) if row.mfu is not None else ""),
    ]


def _serving() -> list[Column]:
    return [
        ("TTFT", lambda row: _amount(_of(row, "ttft"), "s")),
        ("TPOT", lambda row: _amount(_of(row, "tpot"), "s")),
        ("tok/s", lambda row: _number(_of(row, "output_tokens_per_second"))),
        ("tok/s/acc", lambda row: _number(_of(row, "output_tokens_per_second_per_accelerator"))),
        ("accelerators", lambda row: _number(_of(row, "accelerators"))),
    ]


def _of(row: SweepRow, name: str) -> float | None:
    return row.serving[name] if row.serving else None


def _amount(value: float | None, unit: str) -> str:
    return display(value, unit) if value is not None else ""


def _number(value: float | None) -> str:
    return f"{value:,.0f}" if value is not None else ""


def _cost(row: SweepRow) -> str:
    if row.cost is None:
        return ""
    return money(round(row.cost, 2) if row.serving else round(row.cost))


def sweep_csv(rows: list[SweepRow]) -> str:
    """One row per point, in SI units."""
    names = list(rows[0].axes) if rows else []
    served: Sequence[str] = SERVING_COLUMNS if any(row.serving for row in rows) else ()
    fields = (*names, "step_time", "mfu", *served, "memory", "cost", "layout", "why", "fits", "errors")
    found = []
    for row in rows:
        pools = (row.serving or {}).get(POOLS)
        texts = {"layout": layout_text(row.layout or {}, pools), "errors": " ".join(row.errors)}
        found.append(row.to_json() | (row.serving or {}) | texts)
    return grid.separated(fields, (["" if one.get(name) is None else one[name] for name in fields] for one in found))
