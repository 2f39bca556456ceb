"""The facts that a data sheet of each kind of part states, with the labels and units that makers use."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from clusterspec.exchange.data_sheets.links import link_readings
from clusterspec.exchange.data_sheets.readings import (
    Reading,
    Rule,
    Value,
    figure,
    peak_readings,
    printed_number,
    printed_text,
    readings_of,
    rule,
    watts,
)
from clusterspec.exchange.data_sheets.rows import Row

# Values as entries write them

_FORMS = {
    **{form.lower(): form for form in ("OSFP", "QSFP-DD", "QSFP112", "QSFP56", "QSFP28")},
    **{"qsfpdd": "QSFP-DD", "qsfp56-dd": "QSFP-DD"},
}
_FORM = "(OSFP|QSFP56-DD|QSFP-?DD|QSFP112|QSFP56|QSFP28)"
_MEDIA = {"single": "singlemode", "multi": "multimode"}
_TYPES = {"transceiver": "module", "active optical cable": "aoc", "direct attach copper": "dac"}
HIGHEST_PORT = 3_200.0
"""Gb/s of the fastest port that is sold or announced. A higher figure is read as the capacity of a whole switch."""


def _memory(match: re.Match[str]) -> Value:
    return {
        "is": figure(printed_number(match[1]), "GiB"),
        "prints": printed_text(match[0]),
        "assumed": "the printed figure in powers of two, as memory is built; write what the driver reports",
    }


def _memory_type(match: re.Match[str]) -> Value:
    return re.sub("(?<=HBM[0-9])E", "e", match[1].upper())


def _per_second(match: re.Match[str]) -> str:
    return figure(printed_number(match[1]) * (1000 if match[2].lower() == "t" else 1), "GB/s")


def _bandwidth(match: re.Match[str]) -> Value:
    return {"is": _per_second(match), "scope": "device", "basis": "signalling"}


def _line_rate(gigabits: float, scope: str) -> dict[str, object]:
    rate = figure(gigabits / 1000, "Tb/s") if gigabits > HIGHEST_PORT else figure(gigabits, "Gb/s")
    return {"is": f"{rate} per direction", "scope": scope, "basis": "line-code"}


def _terabits(match: re.Match[str]) -> float:
    """The Gb/s of a number with G or T."""
    return printed_number(match[1]) * (1000 if match[2].lower() == "t" else 1)


def _plain_value(match: re.Match[str]) -> Value:
    value = printed_number(next(each for each in match.groups() if each))
    return int(value) if value.is_integer() else value


def _length(match: re.Match[str]) -> Value:
    return f"{match[1]} {match[2]}"


# Ports of switches and adapters: how many, at which rate, in which form of cage

_RATE = r"(\d{1,4}(?:\.\d)?)\s?([GT])(?:b(?:ps|/s|[eE])?|igabit|E|)(?![A-Za-z])"
_PORTS = re.compile(
    rf"\b(\d{{1,4}})\s?(?:x|×|\*|-?ports? (?:of|at|with)?|-port)\s{{0,2}}(?:{_FORM}(?:112|224)?\s)?{_RATE}"
    rf"(?:[^,;.]{{0,25}}?\b{_FORM}(?:112|224|800)?\b)?",
    re.IGNORECASE,
)


def _port_readings(rows: Sequence[Row]) -> Iterator[Reading]:
    """The number of ports at the highest rate that the sheet names; if several numbers are given for it, the
    largest.
    """
    found = [
        (float(m[3]) * (1000 if m[4].lower() == "t" else 1), int(m[1]), m, row.line)
        for row in rows
        for m in _PORTS.finditer(row.value)
    ]
    found = [each for each in found if each[0] <= HIGHEST_PORT and each[1] > 0]
    if not found:
        return
    rate, count, match, line = max(found, key=lambda each: each[:2])
    yield Reading("ports", count, printed_text(match[0]), line)
    yield Reading("port_bandwidth", _line_rate(rate, "port"), printed_text(match[0]), line)
    forms = [(m[2] or m[5], at) for each, _, m, at in found if each == rate and (m[2] or m[5])]
    for form, at in forms[:1]:
        yield Reading("connector", _FORMS[form.lower()], form, at)


# Rules by kind

_MAX_POWER = (
    r"^(?!.*\b(?:available|per port|per module|through)\b).*(?:\b(?:max(?:imum)?|peak|nameplate)\b.{0,25}"
    r"\b(?:power|utili[sz]ed|consumption|draw|input)|\bt[dbg]p\b|thermal design power|board power)"
)
_ANY_POWER = rf"{_MAX_POWER}|power consumption|^(?:system |total )?power(?: usage| draw)?$"
_TYPICAL = r"\btyp(?:ical)?\b.{0,25}\b(?:power|consumption|draw)|power.{0,20}\btyp(?:ical)?\b"
_POWER = r"#\s?(kW|W)(?:atts?)?\b"
_MEMORY = (
    r"^(?:gpu|hbm\d?e?|accelerator|device|graphics|card|onboard|dedicated|total)?\s?(?:memory|vram)"
    r"(?: size| capacity| configuration)?$"
)
_SLOT = r"PCI(?:e|[- ]Express)\s?(?:Gen(?:eration)?\s?)?([3-7])(?:\.0)?\b"
_UNITS = r"\b([1-9]\d?)\s?R?U\b"
_HEIGHT = "size|height|form|chassis|dimensions|rack"
_LENGTH = r"#[- ]?(m|km)(?:eters?)?\b"
_LANES = r"(?:PCIe?|Gen)[^,;]{0,24}\bx\s?(16|8|4)\b|\b(16) lanes"


def _kilowatts(match: re.Match[str]) -> Value:
    return figure(printed_number(match[1]) * (1000 if match[2].lower() == "mw" else 1), "kW")


_RULES: dict[str, tuple[Rule, ...]] = {
    "accelerator": (
        rule("memory", _MEMORY, r"#\s?(?:GB|GiB)\b(?!/s)", _memory),
        rule("memory_type", r"memory", r"\b(HBM[2-4]E?|GDDR[567]X?)\b", _memory_type),
        rule("memory_bandwidth", r"(?:memory|hbm).{0,20}bandwidth", r"#\s?([TG])B/s", _bandwidth),
        rule("power.max", _ANY_POWER, _POWER, watts),
        rule("pcie", "interface|interconnect|bus|host|form", _SLOT, _plain_value),
    ),
    "switch": (
        rule("capacity", r"(?:capacity|throughput|aggregate|switching)", r"#\s?([TG])b(?:ps|/s)", _terabits),
        rule("latency", r"latency", r"#\s?(ns|us|µs)", lambda m: f"{m[1]} {m[2].replace('µ', 'u')}"),
        rule("power.max", _MAX_POWER, _POWER, watts),
        rule("power.typical", _TYPICAL, _POWER, watts),
        rule("rack_units", _HEIGHT, _UNITS, _plain_value),
        rule("rack_units", "", rf"{_UNITS} (?:design|form|chassis|height|switch)|^([1-9])U\b", _plain_value),
    ),
    "nic": (
        rule("pcie", "", _SLOT, _plain_value),
        rule("lanes", "", _LANES, _plain_value),
        rule("power.max", _MAX_POWER, _POWER, watts),
        rule("power.typical", _TYPICAL, _POWER, watts),
    ),
    "optics": (
        rule("type", "", r"\b(transceiver|active optical cable|direct attach copper)", lambda m: _TYPES[m[1].lower()]),
        rule("media", "", r"\b(single|multi)[- ]?mode\b", lambda m: _MEDIA[m[1].lower()]),
        rule("reach", "", rf"\b(?:[DFLSV]R\d{{0,2}}|optics?|mode)\b.{{0,12}}?\b{_LENGTH}", _length),
        rule("reach", "", rf"(?:reach|distance|length)[^.;]{{0,40}}?\b{_LENGTH}", _length),
        rule("ports", "", r"\b([1248])\s?x\s?\d{3,4}\s?Gb/?p?s\b", _plain_value),
        rule("lane_bandwidth", "", r"\b#\s?G(?:b/?p?s)?[- ]PAM4", lambda m: _line_rate(printed_number(m[1]), "lane")),
        rule("power.max", "", r"(?:max|power|consum)[^.;]{0,40}?\b#[- ]?(W)(?:atts?)?\b", watts),
        rule("cages", "", rf"\b{_FORM}\b", lambda m: [_FORMS[m[1].lower()]]),
    ),
    "cdu": (
        rule("capacity", r"capacity|heat|cooling", r"#\s?(kW|MW)\b", _kilowatts),
        rule("approach", "", r"#\s?(?:°\s?C|K|°)\s?(?:ATD|approach)", _plain_value),
        rule("flow", "flow", r"#\s?(?:LPM|L/min|liters)", _plain_value),
        rule("power.max", r"power", _POWER, watts),
        rule("rack_units", _HEIGHT, _UNITS, _plain_value),
    ),
    "storage-system": (
        rule("read", r"\bread", r"#\s?([TG])B/s", _per_second),
        rule("write", r"\bwrite", r"#\s?([TG])B/s", _per_second),
        rule("capacity", r"(?:usable|effective).{0,12}capacity", r"#\s?(TB|TiB|PB|PiB)\b", _length),
        rule("rack_units", _HEIGHT, _UNITS, _plain_value),
        rule("power.max", _ANY_POWER, _POWER, watts),
    ),
    "platform": (
        rule("accelerators_per_node", r"gpu|accelerator", r"\b(\d{1,2})\s?x\s", _plain_value),
        rule("power.max", _ANY_POWER, _POWER, watts),
        rule("rack_units", _HEIGHT, _UNITS, _plain_value),
    ),
}
SHEET_KINDS = tuple(_RULES)
"""The kinds of entries that are read from a data sheet."""
LINES_OF_TITLE = 5


def sheet_readings(rows: Sequence[Row], kind: str) -> list[Reading]:
    """The readings from the rows of a sheet, each once; ``kind`` is one of `SHEET_KINDS`.

    The title of an optical part identifies it: values on which the title lines agree replace other readings.
    """
    found = list(readings_of(rows, _RULES[kind]))
    if kind == "accelerator":
        found += [*link_readings(rows), *peak_readings(rows)]
    if kind in {"switch", "nic"}:
        found += _port_readings(rows)
    if kind == "switch":
        found = list(_with_direction(found))
    if kind == "optics":
        found += _end_readings(rows)
    once = list({(each.fact, repr(each.value)): each for each in reversed(found)}.values())[::-1]
    return _as_titled(once, rows) if kind == "optics" else once


def _as_titled(readings: Sequence[Reading], rows: Sequence[Row]) -> list[Reading]:
    """The readings without those that contradict the title: if the title lines state exactly one value of a fact, its
    other values are dropped.
    """
    lines = set([*dict.fromkeys(row.line for row in rows)][:LINES_OF_TITLE])
    titled: dict[str, list[Value]] = {}
    for each in readings:
        if each.line in lines:
            titled.setdefault(each.fact, []).append(each.value)
    return [each for each in readings if len(titled.get(each.fact, [])) != 1 or each.value == titled[each.fact][0]]


def _with_direction(found: Sequence[Reading]) -> Iterator[Reading]:
    """The readings of a switch, with the direction of its capacity by the sum of its ports.

    Makers print the capacity of one direction or of both: if the figure is the ports times their rate, it is of one
    direction; if it is twice as much, half of it is. Any other sum leaves the direction open.
    """
    facts = {each.fact: each.value for each in found}
    rate, ports = facts.get("port_bandwidth"), facts.get("ports")
    one_way = float(str(rate["is"]).split()[0]) * ports if isinstance(rate, dict) and isinstance(ports, int) else None
    for each in found:
        if each.fact != "capacity":
            yield each
            continue
        whole = float(str(each.value))
        ways = round(whole / one_way, 3) if one_way else 0.0
        lacks = "" if ways in {1.0, 2.0} else "the ports times their rate do not say whether it is one way"
        yield each._replace(value=_line_rate(whole / max(ways, 1.0), "switch"), lacks=lacks)


def _end_readings(rows: Sequence[Row]) -> Iterator[Reading]:
    """The rate of one end of an optical part: the highest that the sheet names."""
    rates = [
        (_terabits(m), m, row.line)
        for row in rows
        for m in re.finditer(r"\b(\d{1,4}(?:\.\d)?)\s?([GT])b(?:/s|ps)", row.value, re.IGNORECASE)
    ]
    rates = [each for each in rates if each[0] <= HIGHEST_PORT]
    if rates:
        rate, match, line = max(rates, key=lambda each: each[0])
        yield Reading("bandwidth", _line_rate(rate, "port"), printed_text(match[0]), line)
