"""The spec reference, from the JSON Schema."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

from clusterspec import resources

Schema = dict[str, Any]
WORDS = {
    "object": "mapping",
    "array": "list",
    "string": "text",
    "integer": "whole number",
    "boolean": "`true` or `false`",
}
HEAD = """# The spec

Made from `schemas/spec.schema.json` by `make docs`. Editors complete and explain every key with

```yaml
# yaml-language-server: $schema=https://raw.githubusercontent.com/clusterspec/clusterspec/main/schemas/editor.schema.json
```
"""
NAMED = ".NAME"
"""A name that the user chooses, in the path of a key. Keys below it that stand elsewhere in the spec refer to them."""
TABLE = """
| key | takes | meaning |
|---|---|---|
"""


def page() -> str:
    """The keys of a spec: one table of those at the top, and a section for each of them that has keys of its own."""
    schema: Schema = json.loads((resources.schemas() / "spec.schema.json").read_text("utf-8"))
    tables: dict[str, list[str]] = {}
    for row in rows(schema, schema, ""):
        tables.setdefault(re.findall(r"[^.\[`|\s]+", row)[0], []).append(f"{row}\n")
    top = "".join(inner[0] for inner in tables.values())
    sections = (f"\n## {key}\n{TABLE}{''.join(inner[1:])}" for key, inner in tables.items() if len(inner) > 1)
    return f"{HEAD}{TABLE}{top}{''.join(sections)}"


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
    """What a value may be, in the words of YAML."""
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
