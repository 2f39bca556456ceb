"""The JSON Schema for editors: the spec schema in draft 7, with the units of quantities and the ids of the catalog."""

from __future__ import annotations

import json
from typing import Any

from clusterspec import resources
from clusterspec.catalog import Catalog
from clusterspec.catalog.company import KINDS_OF_KEYS, ids_of_key
from clusterspec.report.findings_machines import json_text
from clusterspec.units.json_schema import quantity_schema

Node = dict[str, Any]
VERSION = "clusterspec"
"""The key that a base cannot supply."""
_ABOUT = ("title", "description", "examples", "default")
"""Keywords about a key, which accept any value."""
ADDRESS = "https://raw.githubusercontent.com/clusterspec/clusterspec/main/schemas/editor.schema.json"


def editor_schema(catalog: Catalog) -> str:
    """The text of the schema, with the ids of a catalog."""
    spec: Node = json.loads((resources.schemas() / "spec.schema.json").read_text("utf-8"))
    made = _draft_7_node(spec, catalog)
    made["$schema"] = "http://json-schema.org/draft-07/schema#"
    made["$id"] = ADDRESS
    made["required"] = [key for key in spec["required"] if key != "cluster"]
    made["anyOf"] = [{"required": ["cluster"]}, {"required": ["extends"]}]
    return json_text(made, indent=1)


def _draft_7_node(node: Any, catalog: Catalog) -> Any:
    """A schema node in draft 7, where keywords next to a reference are ignored."""
    if isinstance(node, list):
        return [_draft_7_node(item, catalog) for item in node]
    if not isinstance(node, dict):
        return node
    kept = {key: value for key, value in node.items() if not key.startswith("x-")}
    if "x-quantity" in node:
        kept = {key: value for key, value in kept.items() if key in _ABOUT} | quantity_schema(node["x-quantity"])
    made: Node = {}
    for key, value in kept.items():
        if key == "properties":
            made[key] = {name: _property_schema(name, one, catalog) for name, one in value.items()}
        elif key == "$defs":
            made["definitions"] = {name: _draft_7_node(one, catalog) for name, one in value.items()}
        elif key == "$ref":
            reference = {"$ref": value.replace("#/$defs/", "#/definitions/")}
            made |= reference if len(kept) == 1 else {"allOf": [reference]}
        elif key in ("examples", "default", "const", "enum"):
            made[key] = value
        else:
            made[key] = _draft_7_node(value, catalog)
    return made


def _property_schema(name: str, node: Node, catalog: Catalog) -> Any:
    """The schema of a key, which may be null; a text that names an entry is one of the ids that the key takes."""
    made = _draft_7_node(node, catalog)
    named = name in KINDS_OF_KEYS and not node.get("x-unused")
    ids = {"type": "string", "enum": list(ids_of_key(catalog, name))} if named else {}
    if ids and made.get("type") == "string":
        made = {key: value for key, value in made.items() if key in _ABOUT} | ids
    elif ids and "anyOf" in made:
        made["anyOf"] = [ids if one.get("type") == "string" else one for one in made["anyOf"]]
    return made if name == VERSION else _nullable_node(made)


def _nullable_node(node: Node) -> Node:
    """A schema that accepts null, too."""
    texts = {key: node[key] for key in _ABOUT if key in node}
    rest = {key: value for key, value in node.items() if key not in _ABOUT}
    null = {"type": "null"}
    if "anyOf" in rest and len(rest) == 1:
        return texts | {"anyOf": [*rest["anyOf"], null]}
    kinds = rest.get("type")
    if kinds and not {"anyOf", "allOf", "oneOf", "enum", "const", "not", "if"} & rest.keys():
        return texts | rest | {"type": [*([kinds] if isinstance(kinds, str) else kinds), "null"]}
    return texts | {"anyOf": [rest, null]}
