"""Validation of a configuration against its schema (``schemas/config.schema.json``).

The schema uses a subset of JSON Schema: type, enum, items, properties, additionalProperties, required and bounds.
"""

from __future__ import annotations

import json
from functools import cache
from typing import Any

from clusterspec import resources
from clusterspec.config.config_fault import ConfigFault

Schema = dict[str, Any]
_TYPES: dict[str, tuple[type, ...]] = {
    "object": (dict,),
    "array": (list,),
    "string": (str,),
    "boolean": (bool,),
    "number": (int, float),
}
_WORDS = {
    "object": "a table of rule names",
    "array": "a list",
    "string": "text",
    "boolean": "true or false",
    "number": "a number",
}
_SHOWN = 60
TOP = "the configuration"


@cache
def schema() -> Schema:
    """The schema of the configuration."""
    loaded: Schema = json.loads((resources.schemas() / "config.schema.json").read_text("utf-8"))
    return loaded


def check(value: Any, node: Schema, name: str = TOP) -> None:
    """Raises `ConfigFault` for the first violation of the schema."""
    if "enum" in node:
        _choice(value, node["enum"], name)
        return
    kind: str = node["type"]
    allowed: Any = _TYPES[kind]
    if not isinstance(value, allowed) or (isinstance(value, bool) and kind != "boolean"):
        raise ConfigFault(f"{name} is {_wanted(node)}, not {_shown(value)}")
    if kind == "number" and not node["minimum"] <= value <= node["maximum"]:  # nan is not allowed
        raise ConfigFault(f"{name} is a number, not {_shown(value)}")
    if kind == "string" and not node.get("minLength", 0) <= len(value) <= node.get("maxLength", 10_000):
        raise ConfigFault(
            f"{name} is a text of {node.get('minLength', 0)} to {node.get('maxLength', 10_000)} characters"
        )
    if kind == "array":
        _items(value, node, name)
    if kind == "object":
        _table(value, node, name)


def _choice(value: Any, choices: list[str], name: str) -> None:
    if value in choices:
        return
    from difflib import get_close_matches

    near = get_close_matches(str(value)[:_SHOWN].lower(), choices, n=1)
    meant = f"; did you mean {near[0]}?" if near else ""
    raise ConfigFault(f"{name} is {', '.join(choices[:-1])} or {choices[-1]}, not {_shown(value)}{meant}")


def _items(value: list[Any], node: Schema, name: str) -> None:
    if len(value) < node.get("minItems", 0):
        raise ConfigFault(f"{name} is empty")
    for item in value:
        if node["items"].get("type") == "string" and (not isinstance(item, str) or not item or "\0" in item):
            raise ConfigFault(f"{name} is {_wanted(node)}")
        check(item, node["items"], f"[[{name}]]" if node["items"].get("type") == "object" else f"an item of {name}")


def _table(value: dict[str, Any], node: Schema, name: str) -> None:
    known = node.get("properties", {})
    others = node["additionalProperties"]
    prefix = f"{name}." if name != TOP else ""
    for key, item in value.items():
        if key in known:
            check(item, known[key], prefix + key)
        elif others:
            check(item, others, prefix + _word(key))
        else:
            from difflib import get_close_matches

            near = get_close_matches(key[:_SHOWN], known, n=1)
            advice = f"did you mean {near[0]}?" if near else f"the keys are {', '.join(sorted(known))}"
            where = f" in `{name}`" if name != TOP else ""
            raise ConfigFault(f"unknown key `{_word(key)}`{where}; {advice}")
    for key in node.get("required", ()):
        if key not in value:
            raise ConfigFault(f"{name} lacks {key}")


def _word(key: str) -> str:
    """A key on one line, shortened."""
    return "".join(letter if letter.isprintable() else "?" for letter in key[:_SHOWN])


def _wanted(node: Schema) -> str:
    if node["type"] == "array" and node["items"].get("type") == "string":
        return 'a list of words, such as ["one", "two"]'
    return _WORDS[node["type"]]


def _shown(value: Any) -> str:
    if isinstance(value, int) and not isinstance(value, bool) and abs(value) > 10**_SHOWN:
        return "a number of more than 60 digits"
    text = repr(value)
    return text if len(text) <= _SHOWN else text[: _SHOWN - 1] + "…"
