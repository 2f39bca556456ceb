"""The spec reference, from the JSON Schema."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from typing import Any

from clusterspec import resources
from clusterspec.quantity import Quantity
from clusterspec.units import read
from clusterspec.units.display import display
from clusterspec.units.symbols import UnitFault

Schema = dict[str, Any]
WORDS = {
    "object": "mapping",
    "array": "list",
    "string": "text",
    "integer": "whole number",
    "boolean": "`true` or `false`",
}
HEAD = """# The spec

<!-- Made from `schemas/spec.schema.json` by `make docs`. -->

Editors complete and explain every key with

```yaml
# yaml-language-server: $schema=https://raw.githubusercontent.com/clusterspec/clusterspec/main/schemas/editor.schema.json
```
"""
NAMED = ".NAME"
"""A name that the user chooses, in the path of a key. Its subkeys that occur elsewhere in the spec link to those."""
TABLE = """
| key | takes | meaning |
|---|---|---|
"""

VALUES = """
## Values of keys

The column `takes` of the tables names kinds of values. A quantity is a number, a unit and, where the kind asks for it,
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
    for row in rows(schema, schema, ""):
        tables.setdefault(re.findall(r"[^.\[`|\s]+", row)[0], []).append(f"{row}\n")
    top = "".join(inner[0] for inner in tables.values())
    sections = (f"\n## {key}\n{TABLE}{''.join(inner[1:])}" for key, inner in tables.items() if len(inner) > 1)
    return f"{HEAD}{TABLE}{top}{values(schema)}{''.join(sections)}"


def values(schema: Schema) -> str:
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


def rows(schema: Schema, root: Schema, prefix: str) -> Iterator[str]:
    for name, raw in schema.get("properties", {}).items():
        field = resolved(raw, root)
        path = f"{prefix}{name}"
        if NAMED in prefix and raw.keys() == {"$ref"}:
            same = raw["$ref"].removeprefix("#/properties/").replace("/properties/", ".")
            yield f"| `{path}` | {cell(takes(raw, root))} | As `{same}`. |"
            continue
        yield f"| `{path}` | {cell(takes(raw, root))} | {cell(meaning(raw, field))} |"
        for inner, mark in insides(field, root):
            yield from rows(inner, root, f"{path}{mark}.")


def insides(field: Schema, root: Schema) -> Iterator[tuple[Schema, str]]:
    """The mappings inside a field: itself, its alternatives, the items of a list, or those below names of the user."""
    for choice in (field, *(resolved(c, root) for key in ("oneOf", "anyOf") for c in field.get(key, ()))):
        if "properties" in choice:
            yield choice, ""
        items = resolved(choice.get("items", {}), root) if isinstance(choice.get("items"), dict) else {}
        if "properties" in items:
            yield items, "[]"
        named = choice.get("additionalProperties")
        if isinstance(named, dict) and "properties" in named:
            yield named, NAMED


def resolved(field: Schema, root: Schema) -> Schema:
    """A field with its reference followed; what stands beside the reference wins."""
    if "$ref" not in field:
        return field
    target = root
    for part in field["$ref"].removeprefix("#/").split("/"):
        target = target[part]
    return resolved(target, root) | {key: value for key, value in field.items() if key != "$ref"}


def takes(raw: Schema, root: Schema) -> str:
    field = resolved(raw, root)
    if "enum" in field:
        return " \\| ".join(f"`{choice}`" for choice in field["enum"])
    if "const" in field:
        return f"`{field['const']}`"
    if quantity := field.get("x-quantity"):
        return str(quantity).replace("_", " ")
    found = " or ".join(dict.fromkeys(kinds(field, root)))
    examples = field.get("examples") or []
    return f"{found}, such as `{json.dumps(examples[0], ensure_ascii=False)}`" if examples else found


def kinds(field: Schema, root: Schema) -> Iterator[str]:
    """The possible values of a key, in YAML terms."""
    if "x-quantity" in field:
        yield str(field["x-quantity"]).replace("_", " ")
    elif "const" in field:
        yield f"`{field['const']}`"
    elif "type" in field:
        types: list[str] = field["type"] if isinstance(field["type"], list) else [field["type"]]
        yield from (WORDS.get(each, each) for each in types)
    for choice in (*field.get("oneOf", ()), *field.get("anyOf", ())):
        yield from kinds(resolved(choice, root), root)


def meaning(raw: Schema, field: Schema) -> str:
    found = raw.get("description") or field.get("description") or raw.get("title") or field.get("title") or ""
    default = field.get("default")
    found += " Nothing uses it yet." if field.get("x-unused") else ""
    return found + (f" Default: `{json.dumps(default, ensure_ascii=False)}`." if default is not None else "")


def cell(text: str) -> str:
    return text.replace("\n", " ").replace("\\|", "|").replace("|", "\\|")
