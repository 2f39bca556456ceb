"""The text of a catalog entry from a data sheet: the figures that it states, those left open, and the template."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence

from clusterspec.catalog import Catalog
from clusterspec.catalog.company import NewEntry, Origin, commented_facts, flow_text, open_comments
from clusterspec.catalog.reader import FactReader
from clusterspec.exchange.data_sheets.kinds import sheet_readings
from clusterspec.exchange.data_sheets.links import unread_lines
from clusterspec.exchange.data_sheets.readings import Reading, Value
from clusterspec.exchange.data_sheets.rows import sheet_lines, sheet_rows
from clusterspec.exchange.import_result import TITLE, excerpt

MOST_TIMES = 4.0
"""A peak above this multiple of the largest peak in the catalog is read as that of a system of several accelerators.
"""
MOST_READINGS = 4
"""Maximum number of differing readings of a fact that are listed."""
HEAD = """\
# Read from the text of a data sheet by a program: compare each figure with the page before you rely on it. Then decide
# what is left open, and uncomment the facts of the template that the page states. `clusterspec catalog check` reports
# errors.
kind: {kind}
id: {id}
name: {name}
vendor: {vendor}
status: {{is: announced, as_of: {read}}}
sources:
  data-sheet:
    title: {title}
    url: {url}
    read: {read}
source: data-sheet
facts:
"""


class EmptySheet(ValueError):
    """The text has no figure for this kind of entry."""


def sheet_entry(kind: str, id_: str, origin: Origin, text: str) -> NewEntry:
    """An entry of ``kind`` from the text of a data sheet or product page.

    Raises `EmptySheet` if the text states no fact of the kind.
    """
    rows = sheet_rows(text, origin.name)
    readings = sheet_readings(rows, kind)
    if kind == "accelerator":
        readings = list(_accelerator_readings(readings))
    taken = {each.fact: each for each in readings if not each.lacks and _has_one_value(each, readings)}
    if not taken:
        opened = "; ".join([*_open_lines(readings, taken)][: MOST_READINGS - 1])
        raise EmptySheet(
            f"states no fact of {kind} entries with a label and a unit" + (f". {opened}" if opened else "")
        )
    worded = [line for line in sheet_lines(text) if any(map(str.isalpha, line))]
    title = next((line for line in worded if origin.name.lower() in line.lower()), worded[0])
    head = HEAD.format(
        kind=kind,
        id=id_,
        name=_quoted_text(origin.name),
        vendor=_quoted_text(origin.vendor),
        title=_quoted_text(excerpt(" ".join(title.split()), TITLE)),
        url=_quoted_text(origin.url),
        read=origin.read.isoformat(),
    )
    unread = [f"not read: {line}" for line in unread_lines(text, rows, readings)]
    left_open = (*_open_lines(readings, taken), *unread)
    lines = [*_fact_lines(taken), *open_comments(left_open), *commented_facts(kind, taken)]
    return NewEntry(head + "".join(f"{line}\n" for line in lines), left_open)


def _accelerator_readings(readings: Sequence[Reading]) -> Iterator[Reading]:
    """The readings of an accelerator. All peaks are left open if one is far above the largest of the catalog."""
    catalog = Catalog.open()
    raw = (catalog.raw_entry("accelerator", id_) for id_ in catalog.ids("accelerator"))
    largest = max(peak.value for each in raw for peak in FactReader(each).peaks("peak").values()) / 1e12
    peaks = {each: float(str(each.value).split()[0]) for each in readings if each.fact.split(".")[0].endswith("peak")}
    beyond = any(peak > MOST_TIMES * largest for peak in peaks.values())
    why = f"one is more than {MOST_TIMES:g} times the largest of the catalog: the page may count a system of several"
    yield from (each._replace(lacks=why) if beyond and each in peaks else each for each in readings)


def _quoted_text(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)


def _has_one_value(reading: Reading, readings: Sequence[Reading]) -> bool:
    """Whether no other reading of the fact has another value."""
    return all(each.value == reading.value for each in readings if each.fact == reading.fact and not each.lacks)


def _fact_lines(taken: dict[str, Reading]) -> Iterator[str]:
    groups: dict[str, list[Reading]] = {}
    for fact, reading in taken.items():
        groups.setdefault(fact.partition(".")[0], []).append(reading)
    for group, members in groups.items():
        if members[0].fact == group:
            yield f"  {group}: {flow_text(_with_print(members[0]))}"
            continue
        yield f"  {group}:"
        yield from (f"    {each.fact.partition('.')[2]}: {flow_text(_with_print(each))}" for each in members)


def _with_print(reading: Reading) -> Value:
    """The value, with the printed text if that differs from it."""
    value = reading.value
    if isinstance(value, dict):
        return value if "prints" in value else {**value, "prints": reading.prints}
    if isinstance(value, list) or str(value) == reading.prints:
        return value
    return {"is": value, "prints": reading.prints}


def _open_lines(readings: Sequence[Reading], taken: dict[str, Reading]) -> Iterator[str]:
    """What the sheet states in different ways or incompletely."""
    for fact in dict.fromkeys(each.fact for each in readings if each.fact not in taken):
        said = [each for each in readings if each.fact == fact]
        listed = ", ".join(f"`{each.prints}` on line {each.line}" for each in said[:MOST_READINGS])
        why = next((each.lacks for each in said if each.lacks), "the text states several figures")
        yield f"{fact}: {listed}; {why}"
