"""The scale-up links of an accelerator, as data sheets print them, and the lines of a sheet from which nothing was
read.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from clusterspec.exchange.data_sheets.readings import NUMBER, Reading, figure, printed_number, printed_text
from clusterspec.exchange.data_sheets.rows import Row, sheet_lines

_LINKS = (
    r"(?:\bNV-?Link\b|\bInfinity Fabric\b|\bxGMI\b|\bscale-?up\b|\bICI\b|\bXe Link\b|\bUALink\b|\binter-?connect\b"
    r"|\binter-?chip\b|\b(?:GPU|chip|accelerator|peer)-to-(?:GPU|chip|accelerator|peer)\b)"
)
_OTHER = re.compile(r"\bPCI(?:e|[- ]Express)?\b|\bhost\b|\bnetwork\b|\bscale-?out\b|\bC2C\b|\bCPU\b", re.IGNORECASE)
_FIGURE = re.compile(
    rf"{_LINKS}[^.;|0-9]{{0,40}}(?:\d{{1,2}}(?:\.0)?\b[^.;|0-9]{{0,40}})?\b{NUMBER}\s?([TG])B/s", re.IGNORECASE
)
_WAYS = (
    ("duplex", re.compile(r"\bbi-?directional|\bduplex\b|\bboth directions\b", re.IGNORECASE)),
    (
        "per direction",
        re.compile(r"\buni-?directional|\b(?:per|each|in one) direction\b|\bone[- ]way\b", re.IGNORECASE),
    ),
)
_ONE_LINK = re.compile(r"^[^.;|]{0,16}(?:\b(?:per|each)\b(?! direction)|/\s?link\b)", re.IGNORECASE)
_BEFORE = 12
"""Number of characters before the name of the links that are searched for the name of another network."""
_WINDOW = 40
"""Number of characters before and after a figure that are searched for how it counts."""
HIGHEST = 8_000.0
"""GB/s of all links of one accelerator that is sold or announced, both directions together. A higher figure is read as
the bandwidth of a rack.
"""


def link_readings(rows: Sequence[Row]) -> Iterator[Reading]:
    """The bandwidth of the links of an accelerator, of all links or of one. If the text does not state the direction,
    the reading lacks it.

    A sentence row ends with the line below it, so the last sentence with a figure is the sentence of its own line.
    """
    for row in (*(row for row in rows if row.label), *(row for row in reversed(rows) if not row.label)):
        text = f"{row.label}: {row.value}" if row.label else row.value
        match = _FIGURE.search(text)
        if match is None or _OTHER.search(text[max(0, match.start() - _BEFORE) : match.end()]):
            continue
        rate = printed_number(match[1]) * (1000 if match[2].lower() == "t" else 1)
        context = text[max(0, match.start() - _WINDOW) : match.end() + _WINDOW]
        ways = [way for way, words in _WAYS if words.search(context)]
        lacks = "" if len(ways) == 1 else "the text does not say whether it counts one direction or both"
        if rate > HIGHEST:
            lacks = f"it is above {HIGHEST:,.0f} GB/s: the page may count a system of several"
        one = _ONE_LINK.match(text[match.end() : match.end() + _WINDOW])
        fact, scope = ("link_bandwidth", "link") if one else ("bandwidth", "device")
        value: dict[str, object] = {"is": " ".join([figure(rate, "GB/s"), *ways[:1]]), "scope": scope}
        yield Reading(f"scale_up.{fact}", value | {"basis": "line-code"}, printed_text(match[0]), row.line, lacks)


# Lines with a figure that no rule reads

_QUANTITY = re.compile(
    rf"(?<![\w.]){NUMBER}\s?(?:[TG]i?B(?:/s|ps)?|[TG]b(?:/s|ps)|[kM]?W|[TP](?:FL)?OPS?)\b", re.IGNORECASE
)
LINES_OF_READING = 3
"""Number of lines from a label on, within which its value is printed."""
MOST_UNREAD = 12


def unread_lines(text: str, rows: Sequence[Row], readings: Sequence[Reading]) -> Iterator[str]:
    """The lines of the part that have a quantity and from which nothing was read, each with its number."""
    of_part = {row.line for row in rows}
    found = [
        f"line {number}: `{printed_text(line)}`"
        for number, line in enumerate(sheet_lines(text), start=1)
        if number in of_part and _QUANTITY.search(line) and not _is_read(line, number, readings)
    ]
    yield from found[:MOST_UNREAD]
    if len(found) > MOST_UNREAD:
        yield f"and {len(found) - MOST_UNREAD} more lines"


def _is_read(line: str, number: int, readings: Sequence[Reading]) -> bool:
    """Whether a reading was printed on the line."""
    plain = " ".join(line.split())
    near = (each for each in readings if 0 <= number - each.line < LINES_OF_READING)
    return any(each.prints in plain or plain in each.prints for each in near)
