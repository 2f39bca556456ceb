"""Redaction of tenders: a spec rebuilt from an allow-list; and escaping of cells that a spreadsheet would execute."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

from clusterspec.source import Path
from clusterspec.spec import schema

# Redaction of tenders: a spec rebuilt from an allow-list before anything is computed from it.
#
# Everything in a tender is computed from the spec that `redact` returns, so that writers cannot reveal prices,
# budgets, quotes, descriptions, comments, waivers or paths of logs

KINDS: Mapping[str, type] = {
    "clusterspec": int,
    "name": str,
    "cluster": Mapping,
    "workload": Mapping,
    "layout": Mapping,
    "acceptance": list,
    "operations": Mapping,
    "procurement": Mapping,
}
ALLOWED = tuple(KINDS)
"""The sections of a spec that a supplier needs, in this order; ``name`` is the title of the document."""
DEMANDED: Mapping[str, Mapping[str, Any]] = {
    "operations": {"burn_in": None, "repair_time": None},
    "procurement": {
        "delivery": {"weeks": None},
        "needed_by": None,
        "support": {"term": None, "response": None},
        "warranty": None,
    },
}
"""The keys of other sections that demand something of the supplier; the rest of these sections stays confidential."""

Value = dict[str, Any]


def redact(value: object, broken: Collection[Path] = ()) -> Value:
    """The allowed sections of a spec's plain value, keys in the order of `ALLOWED`.

    Unknown keys and values at ``broken`` paths, which could not be read, are omitted, since they may have
    free text. ``measured`` is omitted entirely.
    """
    if not isinstance(value, Mapping):
        return {}
    root = schema()
    properties: Mapping[str, Any] = root["properties"]
    demanded = {key: _named_keys(value.get(key), keys) for key, keys in DEMANDED.items()}
    kept = {
        key: demanded.get(key, value[key])
        for key in ALLOWED
        if isinstance(value.get(key), KINDS[key]) and demanded.get(key) != {}
    }
    return {key: _allowed_value(kept[key], properties.get(key, {}), (key,), frozenset(broken)) for key in kept}


def _named_keys(value: object, names: Mapping[str, Any]) -> Value:
    """The keys of a mapping that ``names`` lists; a name with nested names keeps only those below it."""
    if not isinstance(value, Mapping):
        return {}
    below = {name: _named_keys(value.get(name), inner) if inner else value.get(name) for name, inner in names.items()}
    return {name: found for name, found in below.items() if found not in (None, {})}


def _allowed_value(value: Any, node: Mapping[str, Any], path: Path, broken: frozenset[Path]) -> Any:
    """A value without unknown keys and broken values below it."""
    if isinstance(value, Mapping):
        known = _known_properties(node)
        return {
            key: _allowed_value(below, known[key], (*path, key), broken)
            for key, below in value.items()
            if key in known and (*path, key) not in broken
        }
    if isinstance(value, list):
        item = _item_schema(node)
        return [
            _allowed_value(below, item, (*path, number), broken)
            for number, below in enumerate(value)
            if (*path, number) not in broken
        ]
    return value


def _resolved_node(node: Mapping[str, Any]) -> Mapping[str, Any]:
    reference = node.get("$ref")
    found: Mapping[str, Any] = schema()["$defs"][reference.rpartition("/")[2]] if reference else node
    return found


def _node_variants(node: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """A schema node and its alternatives."""
    node = _resolved_node(node)
    offered = [*node.get("anyOf", ()), *node.get("oneOf", ())]
    return [node, *(variant for one in offered for variant in _node_variants(one))]


def _known_properties(node: Mapping[str, Any]) -> dict[str, Mapping[str, Any]]:
    """The keys of a mapping; empty if arbitrary keys are allowed."""
    found: dict[str, Mapping[str, Any]] = {}
    for variant in _node_variants(node):
        found |= variant.get("properties", {})
    return found


def _item_schema(node: Mapping[str, Any]) -> Mapping[str, Any]:
    return next((one["items"] for one in _node_variants(node) if isinstance(one.get("items"), Mapping)), {})
