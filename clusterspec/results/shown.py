"""Results in a session and in a notebook: a line for `repr`, a page for `_repr_html_`, tables for pandas.

All three read the JSON document of a result, so that a new field appears in each without a further line.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from html import escape
from typing import TYPE_CHECKING, Any

from clusterspec.units import display, percent

if TYPE_CHECKING:
    import pandas

    from clusterspec.results import Result

NOTHING = "no entries"
"""Shown for a result without figures and tables, such as the difference of equal designs."""
MOST_FIGURES = 4
"""Largest number of figures in the line of `repr`."""
MOST_ROWS = 20
"""Maximum number of table rows in a notebook; the number of omitted rows follows below."""
SHORT = 12
"""A table with at most this many rows is shown open if the result has no other figures."""
MOST_COLUMNS = 8
LONGEST_CELL = 80
_HEAD = ("version", "tool", "input", "inputs", "spec", "mfu_convention")
_FIRST = ("step_time", "mfu", "ttft", "tpot", "total", "per_run", "time_to_train", "goodput")
"""Figures that a reader looks for first."""
_COUNTED = ("tokens", "sequences")
_PARTED = ("memory", "serving")
"""Mappings whose figures are shown in one row."""
_WRITTEN = {"mfu": "MFU", "hfu": "HFU", "flops": "FLOPs", "ttft": "TTFT", "tpot": "TPOT"}
"""Words of names that are not written in small letters."""
_SHARES = ("mfu", "hfu", "goodput", "share", "effect", "oversubscription")
_OF_UNIT = ("value", "from", "to", "low", "high", "old", "new")
"""Columns whose figures have the unit that their row names."""
_UNITS = {
    **dict.fromkeys(("bytes", "memory", "capacity"), "B"),
    **dict.fromkeys(("time", "ttft", "tpot", "itl", "latency", "seconds", "exposed"), "s"),
    "watts": "W",
    "flops": "FLOP/s",
}


def figure_text(name: str, value: object) -> str:
    """A figure of the JSON document as text; its name says the unit.

    >>> figure_text("step_time", 7.1379), figure_text("mfu", 0.3807), figure_text("allocated_memory", 8e10)
    ('7.138 s', '38.1 %', '80 GB')
    """
    if value is None or isinstance(value, bool):
        value = "–" if value is None else "yes" if value else "no"
    if isinstance(value, str):
        return value if len(value) <= LONGEST_CELL else value[: LONGEST_CELL - 1] + "…"
    if isinstance(value, int | float):
        if name in _SHARES:
            return percent(value)
        words = name.split("_")
        unit = next((_UNITS[word] for word in words if word in _UNITS), "1") if words[-1] not in _COUNTED else "1"
        return display(value, unit, 4)
    if isinstance(value, Mapping):
        return ", ".join(f"{key} {figure_text(key, item)}" for key, item in list(value.items())[:MOST_FIGURES])
    items = value if isinstance(value, Sequence) else (str(value),)
    if any(isinstance(item, Mapping | Sequence) and not isinstance(item, str) for item in items):
        return f"{len(items)} rows"
    return ", ".join(figure_text(name, item) for item in items[:MOST_FIGURES])


def result_line(result: Result) -> str:
    """The line of `repr`: class, file, verdict or summary, and the first figures; everything is in `to_json`."""
    document = result.to_json()
    name = (document.get("input") or {}).get("file") or ""
    said = [f"{key} {value}" for key, value in (document.get("summary") or {}).items() if value]
    said = said or _no_findings_text(document)
    said = [status["status"]] if (status := document.get("verdict")) else said
    figures = sorted(
        _shown_figures(document), key=lambda pair: _FIRST.index(pair[0]) if pair[0] in _FIRST else len(_FIRST)
    )
    said += [f"{key} {figure_text(key, value)}" for key, value in figures][:MOST_FIGURES]
    said += [f"{len(rows)} {key}" for key, rows in _row_tables(document)][: max(1, MOST_FIGURES - len(said))]
    return f"<{type(result).__name__}{f' of {name}' if name else ''}: {', '.join(said) or NOTHING}>"


def _no_findings_text(document: Mapping[str, Any]) -> list[str]:
    """The words for a check without findings; empty for any other result."""
    found = document.get("summary")
    return ["no findings"] if isinstance(found, Mapping) and found and not any(found.values()) else []


def result_html(result: Result) -> str:
    """The figures and tables of a result, as HTML without scripts or styles of its own."""
    document = result.to_json()
    rows = "".join(
        f'<tr><th style="text-align: left">{escape(_figure_name(name))}</th><td>{escape(text)}</td></tr>'
        for name, text in _figure_texts(document)
    )
    verdict = document.get("verdict") or {}
    reasons = "".join(f"<li>{escape(str(reason))}</li>" for reason in verdict.get("reasons", ()))
    reasons = f"<ul>{reasons}</ul>" if reasons else ""
    judged = f"<p><b>{escape(verdict['status'])}</b></p>{reasons}" if verdict else ""
    judged += "".join(f"<p>{words}</p>" for words in _no_findings_text(document))
    tables = "".join(_table_html(name, lines, opened=not rows) for name, lines in _row_tables(document))
    return f"{judged}{f'<table>{rows}</table>' if rows else ''}{tables}" or f"<p>{NOTHING}</p>"


def data_frames(result: Result) -> dict[str, pandas.DataFrame]:
    """The tables of a result by name, as pandas data frames. Raises `ModuleNotFoundError` where pandas is absent."""
    import pandas

    return {name: pandas.json_normalize(rows) for name, rows in _row_tables(result.to_json())}


def _shown_figures(document: Mapping[str, Any]) -> Iterator[tuple[str, object]]:
    for name, value in document.items():
        if (
            name not in _HEAD
            and isinstance(value, int | float | str)
            and not (isinstance(value, str) and "\n" in value)
        ):
            yield name, value


def _figure_texts(document: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """The figures, and the parts of figures such as memory."""
    for name, value in document.items():
        if name in _PARTED and isinstance(value, Mapping) and value:
            numbers = {key: item for key, item in value.items() if isinstance(item, int | float) and item}
            unit = "memory" if name == "memory" else ""
            yield (
                name,
                ", ".join(f"{key.replace('_', ' ')} {figure_text(unit or key, n)}" for key, n in numbers.items()),
            )
    yield from ((name, figure_text(name, value)) for name, value in _shown_figures(document))


def _row_tables(document: Mapping[str, Any]) -> Iterator[tuple[str, list[Mapping[str, Any]]]]:
    for name, value in document.items():
        if name not in _HEAD and isinstance(value, list) and value and all(isinstance(row, Mapping) for row in value):
            yield name, value


def _cell_text(column: str, row: Mapping[str, Any]) -> str:
    """A cell of a table. A figure is shown in the unit that its row names.

    >>> _cell_text("to", {"to": 5e10, "unit": "B/s"})
    '50 GB/s'
    >>> _cell_text("new", {"new": 0.487, "unit": "share"})
    '48.7 %'
    """
    value = row.get(column)
    if isinstance(value, int | float) and not isinstance(value, bool) and column in _OF_UNIT:
        if str(row.get("key", "")).endswith("year"):
            return str(value)
        return percent(value) if row.get("unit") == "share" else display(value, row.get("unit") or "1", 4)
    return figure_text(column, value)


def _figure_name(name: str) -> str:
    """The name of a figure in words.

    >>> _figure_name("model_flops_per_accelerator"), _figure_name("mfu")
    ('model FLOPs per accelerator', 'MFU')
    """
    return " ".join(_WRITTEN.get(word, word) for word in name.split("_"))


def _table_html(name: str, rows: Sequence[Mapping[str, Any]], *, opened: bool = False) -> str:
    """A table below its name; ``opened`` shows it at once if it is short and the result has no other figures."""
    columns = list(dict.fromkeys(key for row in rows for key in row if key != "unit"))[:MOST_COLUMNS]
    head = "".join(f"<th>{escape(_figure_name(key))}</th>" for key in columns)
    body = "".join(
        f"<tr>{''.join(f'<td>{escape(_cell_text(key, row))}</td>' for key in columns)}</tr>" for row in rows[:MOST_ROWS]
    )
    more = f"<p>… and {len(rows) - MOST_ROWS} more</p>" if len(rows) > MOST_ROWS else ""
    title = f"<summary>{escape(_figure_name(name))} ({len(rows)})</summary>"
    state = " open" if opened and len(rows) <= SHORT else ""
    return f"<details{state}>{title}<table><tr>{head}</tr>{body}</table>{more}</details>"
