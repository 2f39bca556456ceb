"""The JSON Schema for editors: the spec schema in draft 7, with catalog ids as suggestions.

Editors and SchemaStore read draft 7 without custom keywords. Unknown ids are allowed, since a company may add them;
`clusterspec check` reports them. A spec that extends another may omit `cluster`, and delete any key with null; in other
specs null counts as absent, which `check` reports.
"""

from __future__ import annotations

import json
from typing import Any

from clusterspec import resources
from clusterspec.catalog import Catalog
from clusterspec.catalog.references import KINDS_OF_KEYS
from clusterspec.report.findings_machines import dumps

Node = dict[str, Any]
VERSION = "clusterspec"
"""The key that a base cannot supply."""
_ABOUT = ("title", "description", "examples", "default")
"""Keywords about a key, which accept any value."""
ADDRESS = "https://raw.githubusercontent.com/clusterspec/clusterspec/main/schemas/editor.schema.json"


def editor_schema(catalog: Catalog) -> str:
    """The text of the schema, with the ids of a catalog."""
    spec: Node = json.loads((resources.schemas() / "spec.schema.json").read_text("utf-8"))
    made = _converted(spec, catalog)
    made["$schema"] = "http://json-schema.org/draft-07/schema#"
    made["$id"] = ADDRESS
    made["required"] = [key for key in spec["required"] if key != "cluster"]
    made["anyOf"] = [{"required": ["cluster"]}, {"required": ["extends"]}]
    return dumps(made, indent=1)


def _converted(node: Any, catalog: Catalog) -> Any:
    """A schema node in draft 7, where keywords next to a reference are ignored."""
    if isinstance(node, list):
        return [_converted(item, catalog) for item in node]
    if not isinstance(node, dict):
        return node
    kept = {key: value for key, value in node.items() if not key.startswith("x-")}
    made: Node = {}
    for key, value in kept.items():
        if key == "properties":
            made[key] = {name: _property(name, one, catalog) for name, one in value.items()}
        elif key == "$defs":
            made["definitions"] = {name: _converted(one, catalog) for name, one in value.items()}
        elif key == "$ref":
            reference = {"$ref": value.replace("#/$defs/", "#/definitions/")}
            made |= reference if len(kept) == 1 else {"allOf": [reference]}
        elif key in ("examples", "default", "const", "enum"):
            made[key] = value
        else:
            made[key] = _converted(value, catalog)
    return made


def _property(name: str, node: Node, catalog: Catalog) -> Any:
    """The schema of a key, which may be null, with the catalog ids as suggestions if its value may be one."""
    made = _converted(node, catalog)
    kind = KINDS_OF_KEYS.get(name)
    ids = {"enum": list(catalog.ids(kind))} if kind else {}
    if kind and made.get("type") == "string":
        text = {key: made.pop(key) for key in ("type", "minLength", "maxLength", "pattern") if key in made}
        made["anyOf"] = [ids, text]
    elif kind and "anyOf" in made and any(one.get("type") == "string" for one in made["anyOf"]):
        made["anyOf"] = [ids, *made["anyOf"]]
    return made if name == VERSION else _or_null(made)


def _or_null(node: Node) -> Node:
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
