"""The spec reference, from the JSON Schema."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from typing import Any

from clusterspec import resources
from clusterspec.quantity import Quantity
from clusterspec.spec.keys import key_rows
from clusterspec.units import read
from clusterspec.units.display import display
from clusterspec.units.symbols import UnitFault

Schema = dict[str, Any]
HEAD = """# The spec

<!-- Made from `schemas/spec.schema.json` by `make docs`. -->

Editors complete and explain every key with

```yaml
# yaml-language-server: $schema=https://raw.githubusercontent.com/clusterspec/clusterspec/main/schemas/editor.schema.json
```
"""
TABLE = """
| key | takes | meaning |
|---|---|---|
"""

VALUES = """
## Values of keys

The column `takes` of the tables names kinds of values. A quantity is a number, a unit and, where the kind requires it,
a direction or a sparsity, in one text. Prefixes are decimal (`k`, `M`, `G`, `T`, `P`, `E`), with an `i` binary (`Gi`);
`b` is a bit, `B` a byte. The number has a decimal point, and no comma where it could be read in two ways;
`8 x 400 Gb/s` is a product.

| kind | meaning | written | read as | refused |
|---|---|---|---|---|
"""
WRITTEN: dict[str, tuple[tuple[str, ...], str]] = {
    "bytes": (("80 GB", "80 GiB", "2 PB"), "80"),
    "rate": (("400 GB/s", "400 Gb/s", "8 x 400 Gb/s", "800 GB/s duplex"), "50 GB"),
    "line_rate": (("400 Gb/s", "400 Gbps", "400GbE", "800 Gb/s duplex"), "400 gbps"),
    "bandwidth": (("900 GB/s duplex", "450 GB/s unidirectional", "450 GB/s each way"), "900 GB"),
    "peak": (("989 TFLOP/s dense", "1979 TFLOPS sparse"), "989 TFLOP/s"),
    "time": (("20 us", "50 ms", "30 min", "72 h", "4 weeks", "6 months", "5 years"), "5 m"),
    "power": (("700 W", "1.2 MW"), "1200 kVA"),
    "length": (("30 m", "2 km"), "30"),
    "count": (("2048", "128k", "15T", "15 trillion", "70B"), "0.5"),
    "ratio": (("2:1", "1:2", "3"), "50%"),
}
"""By kind of quantity: accepted texts, and a rejected one."""
OTHERS = """
A list of one kind, a mapping by percentile and a range are written as in YAML: `[0.5, 0.3]`, `{p50: 1 s, p99: 2 s}`
(a percentile is `p` and a number from 0 to 100; `p99: 2 s` means that 99 of 100 take at most 2 s), `[low, high]`.
A plain number without a kind is a share between 0 and 1 or a figure whose unit the meaning of the key states.
An amount of money is a plain number in `procurement.currency`; a date is `2026-11-30`. A key that is absent is derived
or assumed, and `estimate` lists what was assumed.
"""


def page() -> str:
    """The page of the spec's keys: a table of the top-level keys, and a section for each of them that has subkeys."""
    schema: Schema = json.loads((resources.schemas() / "spec.schema.json").read_text("utf-8"))
    tables: dict[str, list[str]] = {}
    for row in rows(schema):
        tables.setdefault(re.findall(r"[^.\[`|\s]+", row)[0], []).append(f"{row}\n")
    top = "".join(inner[0] for inner in tables.values())
    sections = (f"\n## {key}\n{TABLE}{''.join(inner[1:])}" for key, inner in tables.items() if len(inner) > 1)
    return f"{HEAD}{TABLE}{top}{quantity_rows(schema)}{''.join(sections)}"


def quantity_rows(schema: Schema) -> str:
    """The kinds of quantities: the meaning of each, example texts as the reader parses them, and a rejected text."""
    lines = (
        f"| {kind.replace('_', ' ')} | {cell(schema['$defs'][kind]['description'])} "
        f"| {listed(texts)} | {', '.join(reading(read(text, kind)) for text in texts)} | {refusal(refused, kind)} |\n"
        for kind, (texts, refused) in WRITTEN.items()
    )
    return f"{VALUES}{''.join(lines)}{OTHERS}"


def listed(texts: Iterable[str]) -> str:
    return ", ".join(f"`{text}`" for text in texts)


def reading(quantity: Quantity) -> str:
    """A quantity as the program computes with it: a bandwidth per direction in bytes, a peak dense."""
    if quantity.unit == "B/s":
        return f"{display(quantity.per_direction, 'B/s', 6)} per direction"
    if quantity.sparsity:
        return f"{display(quantity.dense, quantity.unit, 6)} dense"
    return display(quantity.value, quantity.unit, 6)


def refusal(text: str, kind: str) -> str:
    """A text that a kind refuses, and what the message advises."""
    try:
        read(text, kind)
    except UnitFault as fault:
        return f"`{text}`: {cell(fault.help)}"
    raise ValueError(f"{text} is a valid {kind}")


def rows(schema: Schema) -> Iterator[str]:
    """The rows of the tables of keys."""
    for row in key_rows(schema):
        yield f"| `{row.path}` | {cell(row.takes)} | {cell(row.meaning)} |"


def cell(text: str) -> str:
    return text.replace("\n", " ").replace("\\|", "|").replace("|", "\\|")
