"""Variables of containers that a ConfigMap of the same file states.

Syntax: Kubernetes, "Configure a Pod to Use a ConfigMap" (``env[].valueFrom.configMapKeyRef`` and
``envFrom[].configMapRef``). A cluster may hold another map of the name; the file states its own.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from clusterspec.source import items_of, mapping_of, value_at

DEEPEST = 24


def config_maps(documents: Sequence[Any]) -> dict[str, dict[str, str]]:
    """The texts of each ConfigMap by its name, without names that several maps have."""
    maps = [each for each in documents if isinstance(each, dict) and each.get("kind") == "ConfigMap"]
    names = [value_at(each, "metadata", "name") for each in maps]
    return {
        str(name): {str(key): str(text) for key, text in mapping_of(each.get("data")).items()}
        for name, each in zip(names, maps, strict=True)
        if names.count(name) == 1
    }


def with_config_maps(value: Any, maps: dict[str, dict[str, str]], depth: int = 0) -> Any:
    """A value whose containers have the variables that they take from the maps; all others do not change.

    >>> asked = {"env": [{"name": "N", "valueFrom": {"configMapKeyRef": {"name": "a", "key": "n"}}}]}
    >>> with_config_maps(asked, {"a": {"n": "8"}}), with_config_maps(asked, {"b": {"n": "8"}}) == asked
    ({'env': [{'name': 'N', 'value': '8'}]}, True)
    >>> with_config_maps({"envFrom": [{"configMapRef": {"name": "a"}}]}, {"a": {"N": "8"}})["env"]
    [{'name': 'N', 'value': '8'}]
    """
    if depth >= DEEPEST:
        return value
    if isinstance(value, list):
        return [with_config_maps(_stated_variable(each, maps), maps, depth + 1) for each in value]
    if not isinstance(value, dict):
        return value
    inner = {key: with_config_maps(held, maps, depth + 1) for key, held in value.items()}
    taken = _taken_variables(value, maps)
    return {**inner, "env": [*items_of(inner.get("env")), *taken]} if taken else inner


def _stated_variable(each: Any, maps: dict[str, dict[str, str]]) -> Any:
    """A variable with its text, if a map has it; the item itself otherwise."""
    asked = value_at(each, "valueFrom", "configMapKeyRef") if isinstance(each, dict) else None
    text = maps.get(str(mapping_of(asked).get("name")), {}).get(str(mapping_of(asked).get("key")))
    return {"name": each.get("name"), "value": text} if text is not None else each


def _taken_variables(value: dict[str, Any], maps: dict[str, dict[str, str]]) -> list[dict[str, str]]:
    """The variables that a container takes from whole maps, without those that it states itself."""
    own = {each.get("name") for each in items_of(value.get("env")) if isinstance(each, dict)}
    sources = [each for each in items_of(value.get("envFrom")) if isinstance(each, dict)]
    found = {
        f"{each.get('prefix') or ''}{name}": text
        for each in sources
        for name, text in maps.get(str(value_at(each, "configMapRef", "name")), {}).items()
    }
    return [{"name": name, "value": text} for name, text in found.items() if name not in own]
