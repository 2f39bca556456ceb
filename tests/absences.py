"""Records without one of their optional fields: what a spec, a machine or a result may lack."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from clusterspec.records import replace

SECTIONS = "clusterspec.spec.model"
"""Where the records of a spec are."""
DEPTH = 3
"""Sections inside sections that are followed."""
_FIELDS: dict[type, tuple[str, ...]] = {}


def _optional_fields(kind: type) -> tuple[str, ...]:
    if kind not in _FIELDS:
        stated = {
            name: text
            for base in reversed(kind.__mro__)
            for name, text in vars(base).get("__annotations__", {}).items()
        }
        _FIELDS[kind] = tuple(name for name, text in stated.items() if "None" in str(text))
    return _FIELDS[kind]


def records_without(record: Any, depth: int) -> Iterator[tuple[str, Any]]:
    """The record without each optional field that it has, by the path of the field."""
    for name in _optional_fields(type(record)):
        value = getattr(record, name)
        if value is None:
            continue
        yield name, replace(record, **{name: None})
        if depth and type(value).__module__.startswith(SECTIONS):
            yield from (
                (f"{name}.{path}", replace(record, **{name: less})) for path, less in records_without(value, depth - 1)
            )
