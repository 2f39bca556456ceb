"""The JSON Schema for editors: that of the spec in draft 7, with the ids of the catalog to choose from.

Editors and SchemaStore read draft 7 without keywords of their own. An id that the catalog does not have is allowed,
since a company may add it; `clusterspec check` says whether it exists. A spec that extends another may leave out
`cluster`.
"""

from __future__ import annotations

import json
from typing import Any

from clusterspec import resources
from clusterspec.catalog import Catalog
from clusterspec.catalog.references import KINDS_OF_KEYS

Node = dict[str, Any]
ADDRESS = "https://raw.githubusercontent.com/clusterspec/clusterspec/main/schemas/editor.schema.json"


def editor_schema(catalog: Catalog) -> str:
    """The text of the schema, with the ids of a catalog."""
    spec: Node = json.loads((resources.schemas() / "spec.schema.json").read_text("utf-8"))
    made = _converted(spec, catalog)
    made["$schema"] = "http://json-schema.org/draft-07/schema#"
    made["$id"] = ADDRESS
    made["required"] = [key for key in spec["required"] if key != "cluster"]
    made["anyOf"] = [{"required": ["cluster"]}, {"required": ["extends"]}]
    return json.dumps(made, indent=1, ensure_ascii=False) + "\n"


def _converted(node: Any, catalog: Catalog) -> Any:
    """A node of the schema in draft 7, where what is beside a reference is ignored."""
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
    """The schema of a key; where its value may be an id of the catalog, with those to choose from."""
    made = _converted(node, catalog)
    kind = KINDS_OF_KEYS.get(name)
    ids = {"enum": list(catalog.ids(kind))} if kind else {}
    if kind and made.get("type") == "string":
        text = {key: made.pop(key) for key in ("type", "minLength", "maxLength", "pattern") if key in made}
        made["anyOf"] = [ids, text]
    elif kind and "anyOf" in made and any(one.get("type") == "string" for one in made["anyOf"]):
        made["anyOf"] = [ids, *made["anyOf"]]
    return made
