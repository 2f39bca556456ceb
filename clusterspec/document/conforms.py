"""JSON Schema without jsonschema: lookup of nodes by key and path, and validity of values without messages."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterator

from clusterspec.source import Path

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

Schema = dict[str, "Any"]

_BRANCHES = ("anyOf", "oneOf", "allOf")


def resolved_node(written_node: Any, root: Schema) -> Schema:
    """A schema node with its ``$ref`` resolved; keywords next to the reference have precedence."""
    node: Schema = written_node if isinstance(written_node, dict) else {}
    while "$ref" in node:
        target: Any = root
        for part in node["$ref"].removeprefix("#/").split("/"):
            target = target[part]
        node = {**target, **{key: value for key, value in node.items() if key != "$ref"}}
    return node


def node_branches(node: Schema, root: Schema) -> Iterator[Schema]:
    """The node itself, then all its alternatives."""
    yield node
    parts = [part for word in _BRANCHES for part in node.get(word, ())]
    parts += [node[word] for word in ("then", "else") if word in node]
    for part in parts:
        yield from node_branches(resolved_node(part, root), root)


def child_node(node: Schema, root: Schema, key: str | int) -> Schema | None:
    """The node of a key or item of ``node``; None if the schema has no such key."""
    for branch in node_branches(node, root):
        if isinstance(key, int):
            found = branch.get("items")
        else:
            found = branch.get("properties", {}).get(key, branch.get("additionalProperties"))
        if isinstance(found, dict):
            return resolved_node(found, root)
    return None


def node_at(root: Schema, path: Path) -> Schema:
    """The node of a path; empty if the schema does not have it."""
    node = root
    for key in path:
        node = child_node(node, root, key) or {}
    return node


def mapping_keys(node: Schema, root: Schema) -> dict[str, Schema]:
    """The keys of a mapping, with their nodes."""
    return {name: sub for branch in node_branches(node, root) for name, sub in branch.get("properties", {}).items()}


_mappings_with_key: dict[int, tuple[Schema, dict[str, list[Path]]]] = {}
"""Cached by the identity of the schema; the cache holds the schema, so no other object can get the same identity."""
_MOST = 10_000


def mappings_with_key(root: Schema, key: str) -> list[Path]:
    """The paths of all mappings that have a key, outermost first."""
    return mappings_by_key(root).get(key, [])


def mappings_by_key(root: Schema) -> dict[str, list[Path]]:
    """The paths of the mappings that have a key, outermost first, for each key of a schema."""
    if id(root) not in _mappings_with_key:
        _mappings_with_key[id(root)] = root, _paths_by_key(root)
    return _mappings_with_key[id(root)][1]


def _paths_by_key(root: Schema) -> dict[str, list[Path]]:
    found: dict[str, list[Path]] = {}
    waiting: list[tuple[Path, Schema]] = [((), root)]
    for path, node in waiting:
        if len(waiting) > _MOST:  # a recursive schema
            break
        for name, sub in mapping_keys(node, root).items():
            found.setdefault(name, []).append(path)
            waiting.append(((*path, name), resolved_node(sub, root)))
        item = child_node(node, root, 0)
        if item is not None:
            waiting.append((path, item))
    return found


# Whether a value is valid by a JSON Schema, without error messages

Keyword = Callable[["Any", "Any", Schema, Schema], bool]
"""A function that tests a value against a keyword, given the keyword's argument, its node and the root schema."""
_ANNOTATIONS = {"$schema", "$id", "$comment", "$defs", "title", "description", "examples", "default", "then", "else"}


class UnknownKeyword(Exception):
    """Raised for a keyword of a schema that no function of this module tests."""


def conforms(value: Any, node: Schema, root: Schema) -> bool:
    """Whether a value is valid by a node of a schema; references are resolved in ``root``.

    Raises `UnknownKeyword` for a keyword that no function tests.
    """
    for keyword, argument in node.items():
        if keyword in _ANNOTATIONS or keyword.startswith("x-"):
            continue
        meets = _KEYWORDS.get(keyword)
        if meets is None:
            raise UnknownKeyword(keyword)
        if not meets(value, argument, node, root):
            return False
    return True


def _conforms_to_reference(value: Any, name: str, _: Schema, root: Schema) -> bool:
    target: Any = root
    for part in name.removeprefix("#/").split("/"):
        target = target[part]
    return conforms(value, target, root)


def _has_type(value: Any, kinds: str | list[str], *_: Schema) -> bool:
    return any(_TYPES[kind](value) for kind in ([kinds] if isinstance(kinds, str) else kinds))


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)


_TYPES: dict[str, Callable[[Any], bool]] = {
    "object": lambda value: isinstance(value, dict),
    "array": lambda value: isinstance(value, list),
    "string": lambda value: isinstance(value, str),
    "boolean": lambda value: isinstance(value, bool),
    "null": lambda value: value is None,
    "number": _is_number,
    "integer": lambda value: _is_number(value) and value == math.floor(value),
}


def _has_valid_properties(value: Any, properties: dict[str, Schema], _: Schema, root: Schema) -> bool:
    if not isinstance(value, dict):
        return True
    return all(conforms(item, properties[key], root) for key, item in value.items() if key in properties)


def _has_valid_other_keys(value: Any, allowed: bool | Schema, node: Schema, root: Schema) -> bool:
    if not isinstance(value, dict) or allowed is True:
        return True
    known = node.get("properties", {})
    others = [item for key, item in value.items() if key not in known]
    return not others if allowed is False else all(conforms(item, allowed, root) for item in others)


def _has_valid_names(value: Any, allowed: Schema, _: Schema, root: Schema) -> bool:
    return not isinstance(value, dict) or all(conforms(key, allowed, root) for key in value)


def _meets_condition(value: Any, condition: Schema, node: Schema, root: Schema) -> bool:
    branch = node.get("then" if conforms(value, condition, root) else "else", {})
    return conforms(value, branch, root)


def _has_valid_items(value: Any, schema: Schema, _: Schema, root: Schema) -> bool:
    return not isinstance(value, list) or all(conforms(item, schema, root) for item in value)


def _hashable_identity(value: Any) -> object:
    """A hashable value common to equal JSON values: 1 equals 1.0, and neither equals true."""
    if isinstance(value, dict):
        return frozenset((key, _hashable_identity(each)) for key, each in value.items())
    if isinstance(value, list):
        return tuple(map(_hashable_identity, value))
    if isinstance(value, bool):
        return str, value
    return object() if value != value else value  # noqa: PLR0124 - NaN equals nothing


def _is_json_equal(one: Any, other: Any) -> bool:
    """Whether two values are equal in JSON, where true differs from 1."""
    if isinstance(one, str) or isinstance(other, str):
        return bool(one == other)
    return _hashable_identity(one) == _hashable_identity(other)


def _has_unique_items(value: Any, unique: bool, *_: Schema) -> bool:
    return not unique or not isinstance(value, list) or len(set(map(_hashable_identity, value))) == len(value)


def _bound_keyword(is_met: Callable[[Any, Any], bool]) -> Keyword:
    return lambda value, limit, *_: not _is_number(value) or is_met(value, limit)


def _size_keyword(
    kind: type[list[Any]] | type[dict[str, Any]] | type[str], is_met: Callable[[int, int], bool]
) -> Callable[[Any, Any, Schema, Schema], bool]:
    return lambda value, limit, *_: not isinstance(value, kind) or is_met(len(value), limit)


_KEYWORDS: dict[str, Keyword] = {
    "$ref": _conforms_to_reference,
    "type": _has_type,
    "enum": lambda value, choices, *_: any(_is_json_equal(value, choice) for choice in choices),
    "const": lambda value, only, *_: _is_json_equal(value, only),
    "properties": _has_valid_properties,
    "additionalProperties": _has_valid_other_keys,
    "required": lambda value, keys, *_: not isinstance(value, dict) or all(key in value for key in keys),
    "items": _has_valid_items,
    "propertyNames": _has_valid_names,
    "if": _meets_condition,
    "uniqueItems": _has_unique_items,
    "pattern": lambda value, form, *_: not isinstance(value, str) or re.search(form, value) is not None,
    "minimum": _bound_keyword(lambda value, limit: bool(value >= limit)),
    "maximum": _bound_keyword(lambda value, limit: bool(value <= limit)),
    "exclusiveMinimum": _bound_keyword(lambda value, limit: bool(value > limit)),
    "exclusiveMaximum": _bound_keyword(lambda value, limit: bool(value < limit)),
    "minItems": _size_keyword(list, lambda size, limit: size >= limit),
    "maxItems": _size_keyword(list, lambda size, limit: size <= limit),
    "minProperties": _size_keyword(dict, lambda size, limit: size >= limit),
    "minLength": _size_keyword(str, lambda size, limit: size >= limit),
    "maxLength": _size_keyword(str, lambda size, limit: size <= limit),
    "anyOf": lambda value, parts, _, root: any(conforms(value, part, root) for part in parts),
    "oneOf": lambda value, parts, _, root: sum(conforms(value, part, root) for part in parts) == 1,
    "allOf": lambda value, parts, _, root: all(conforms(value, part, root) for part in parts),
    "not": lambda value, part, _, root: not conforms(value, part, root),
}
