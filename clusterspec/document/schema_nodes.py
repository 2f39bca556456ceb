"""Lookup of JSON Schema nodes by key and path."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from clusterspec.source import Path

Schema = dict[str, Any]

_BRANCHES = ("anyOf", "oneOf", "allOf")


def resolved(given: Any, root: Schema) -> Schema:
    """A schema node with its ``$ref`` resolved; keywords next to the reference have precedence."""
    node: Schema = given if isinstance(given, dict) else {}
    while "$ref" in node:
        target: Any = root
        for part in node["$ref"].removeprefix("#/").split("/"):
            target = target[part]
        node = {**target, **{key: value for key, value in node.items() if key != "$ref"}}
    return node


def branches(node: Schema, root: Schema) -> Iterator[Schema]:
    """The node itself, then all its alternatives."""
    yield node
    parts = [part for word in _BRANCHES for part in node.get(word, ())]
    parts += [node[word] for word in ("then", "else") if word in node]
    for part in parts:
        yield from branches(resolved(part, root), root)


def child(node: Schema, root: Schema, key: str | int) -> Schema | None:
    """The node of a key or item of ``node``; None if the schema has no such key."""
    for branch in branches(node, root):
        if isinstance(key, int):
            found = branch.get("items")
        else:
            found = branch.get("properties", {}).get(key, branch.get("additionalProperties"))
        if isinstance(found, dict):
            return resolved(found, root)
    return None


def at(root: Schema, path: Path) -> Schema:
    """The node of a path; empty if the schema does not have it."""
    node = root
    for key in path:
        node = child(node, root, key) or {}
    return node


def keys(node: Schema, root: Schema) -> dict[str, Schema]:
    """The keys of a mapping, with their nodes."""
    return {name: sub for branch in branches(node, root) for name, sub in branch.get("properties", {}).items()}


_mappings_with_key: dict[int, tuple[Schema, dict[str, list[Path]]]] = {}
"""By identity of the schema, which is kept so that no other can take its place."""
_MOST = 10_000


def mappings_with_key(root: Schema, key: str) -> list[Path]:
    """The paths of all mappings that have a key, outermost first."""
    if id(root) not in _mappings_with_key:
        _mappings_with_key[id(root)] = root, _index(root)
    return _mappings_with_key[id(root)][1].get(key, [])


def _index(root: Schema) -> dict[str, list[Path]]:
    found: dict[str, list[Path]] = {}
    waiting: list[tuple[Path, Schema]] = [((), root)]
    for path, node in waiting:
        if len(waiting) > _MOST:  # a recursive schema
            break
        for name, sub in keys(node, root).items():
            found.setdefault(name, []).append(path)
            waiting.append(((*path, name), resolved(sub, root)))
        item = child(node, root, 0)
        if item is not None:
            waiting.append((path, item))
    return found
