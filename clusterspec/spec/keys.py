"""The keys of a spec as its JSON Schema describes them: the values and the meaning of each."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any

from clusterspec.records import NamedTuple

Schema = Mapping[str, Any]
WORDS = {
    "object": "mapping",
    "array": "list",
    "string": "text",
    "integer": "whole number",
    "boolean": "`true` or `false`",
}
NAMED = "NAME"
"""In the path of a key: a name that the user chooses."""


class KeyRow(NamedTuple):
    """A key, described in Markdown: its path (``[]`` marks a list, `NAMED` a chosen name), what it takes, and what it
    means. ``quantity`` is its kind of quantity, if any; ``same`` is the path of the key whose description it shares.
    """

    path: str
    takes: str
    meaning: str
    quantity: str = ""
    same: str = ""


def key_rows(schema: Schema) -> Iterator[KeyRow]:
    """All keys of a schema, each before those inside it."""
    return _key_rows(schema, schema, "")


def rows_of_key(schema: Schema, path: str) -> tuple[KeyRow, ...]:
    """A key and the keys directly inside it; empty if the schema has no such key. Indices of lists, names that the user
    chooses, and keys that repeat others are followed: ``jobs.chat.workload.model`` is ``workload.model``.
    """
    rows = list(key_rows(schema))
    wanted = re.sub(r"\[[^\]]{0,20}\]", "", path)
    found = next((row for row in rows if _is_path_of(row, wanted)), None)
    if found is None:
        outer = next((row for row in rows if row.same and _is_path_of(row, wanted, inside=True)), None)
        rest = wanted.split(".")[len(outer.path.split(".")) :] if outer is not None else []
        return rows_of_key(schema, ".".join([outer.same, *rest])) if outer is not None else ()
    if found.same:
        return rows_of_key(schema, found.same)
    parts = _names_of_path(found.path)
    inside = (row for row in rows if _names_of_path(row.path)[: len(parts)] == parts)
    named = [*parts, NAMED]
    return (
        found,
        *(
            row
            for row in inside
            if len(row.path.split(".")) == len(parts) + 1
            or (_names_of_path(row.path)[: len(named)] == named and len(_names_of_path(row.path)) == len(named) + 1)
        ),
    )


def keys_with_name(schema: Schema, name: str) -> list[str]:
    """The paths of the keys whose last part is a name, without those that repeat others."""
    return list(
        dict.fromkeys(row.path for row in key_rows(schema) if _names_of_path(row.path)[-1] == name and not row.same)
    )


def _names_of_path(path: str) -> list[str]:
    return path.replace("[]", "").split(".")


def _is_path_of(row: KeyRow, path: str, *, inside: bool = False) -> bool:
    """Whether a path leads to a key; with ``inside``, also whether it is below the key."""
    own, asked = _names_of_path(row.path), path.split(".")
    if len(own) > len(asked) or (len(own) < len(asked) and not inside):
        return False
    return all(mine in {theirs, NAMED} for mine, theirs in zip(own, asked, strict=False))


def _key_rows(schema: Schema, root: Schema, prefix: str) -> Iterator[KeyRow]:
    for name, raw in schema.get("properties", {}).items():
        field = resolved_field(raw, root)
        path = f"{prefix}{name}"
        if f".{NAMED}." in prefix and raw.keys() == {"$ref"}:
            same = raw["$ref"].removeprefix("#/properties/").replace("/properties/", ".")
            yield KeyRow(path, _value_kinds(raw, root), f"As `{same}`.", same=same)
            continue
        yield KeyRow(path, _value_kinds(raw, root), _key_meaning(raw, field), str(field.get("x-quantity") or ""))
        for inner, mark in _inner_mappings(field, root):
            yield from _key_rows(inner, root, f"{path}{mark}.")


def _inner_mappings(field: Schema, root: Schema) -> Iterator[tuple[Schema, str]]:
    """The mappings inside a field: itself, its alternatives, the items of a list, or those below names of the user."""
    for choice in (field, *(resolved_field(c, root) for key in ("oneOf", "anyOf") for c in field.get(key, ()))):
        if "properties" in choice:
            yield choice, ""
        items = resolved_field(choice.get("items", {}), root) if isinstance(choice.get("items"), dict) else {}
        if "properties" in items:
            yield items, "[]"
        named = choice.get("additionalProperties")
        if isinstance(named, dict) and "properties" in named:
            yield named, f".{NAMED}"


def resolved_field(field: Schema, root: Schema) -> Schema:
    """A field with its reference followed; keys next to the reference take precedence."""
    if "$ref" not in field:
        return field
    target = root
    for part in field["$ref"].removeprefix("#/").split("/"):
        target = target[part]
    return {**resolved_field(target, root), **{key: value for key, value in field.items() if key != "$ref"}}


def _value_kinds(raw: Schema, root: Schema) -> str:
    field = resolved_field(raw, root)
    if "enum" in field:
        return " | ".join(f"`{choice}`" for choice in field["enum"])
    if "const" in field:
        return f"`{field['const']}`"
    if quantity := field.get("x-quantity"):
        return str(quantity).replace("_", " ")
    found = " or ".join(dict.fromkeys(_value_texts(field, root)))
    examples = field.get("examples") or []
    return f"{found}, such as `{json.dumps(examples[0], ensure_ascii=False)}`" if examples else found


def _value_texts(field: Schema, root: Schema) -> Iterator[str]:
    """The possible values of a key, in YAML terms."""
    if "x-quantity" in field:
        yield str(field["x-quantity"]).replace("_", " ")
    elif "const" in field:
        yield f"`{field['const']}`"
    elif "type" in field:
        types: list[str] = field["type"] if isinstance(field["type"], list) else [field["type"]]
        yield from (WORDS.get(each, each) for each in types)
    for choice in (*field.get("oneOf", ()), *field.get("anyOf", ())):
        yield from _value_texts(resolved_field(choice, root), root)


def _key_meaning(raw: Schema, field: Schema) -> str:
    found = raw.get("description") or field.get("description") or raw.get("title") or field.get("title") or ""
    default = field.get("default")
    found += " Nothing uses it yet." if field.get("x-unused") else ""
    return found + (f" Default: `{json.dumps(default, ensure_ascii=False)}`." if default is not None else "")
