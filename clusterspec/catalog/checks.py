"""Validation of company entries against the schema, before they are read."""

from __future__ import annotations

import json
from collections.abc import Iterator
from functools import cache
from typing import Any

from clusterspec import resources
from clusterspec.catalog.raw_entry import RawEntry, read_raw_entry
from clusterspec.document import Document, validate
from clusterspec.finding import Problem
from clusterspec.source import Path


def check(document: Document, kind: str, name: str) -> list[Problem]:
    """The problems of a document as the catalog entry ``kind/name``."""
    problems = validate(document, schema())
    if problems:
        return problems
    misplaced = [*_misplaced(document, "kind", kind), *_misplaced(document, "id", name)]
    unlisted = _unlisted(document.value.get("facts"), ("facts",), set(document.value.get("sources", {})))
    return [*misplaced, *_unsourced(read_raw_entry(document.value)), *unlisted]


def _misplaced(document: Document, key: str, expected: str) -> Iterator[Problem]:
    written = document.value[key]
    if written != expected:
        message = f"{key} is `{written}`, but the path of the file implies `{expected}`"
        yield Problem("catalog-entry-misplaced", (key,), message, "change the value or move the file")


def _unsourced(raw_entry: RawEntry) -> Iterator[Problem]:
    """The problems of figures without a source of the entry and without a reason for an assumption."""
    for fact in (*raw_entry.facts.values(), *raw_entry.achievable.values()):
        if fact.origin is None:
            message = f"{fact.name} has neither a source that this entry lists nor an assumption"
            help_ = "name one of `sources` in `source:`, or give a reason in `assumed:`"
            yield Problem("catalog-figure-unsourced", fact.path, message, help_)


def _unlisted(value: Any, path: Path, sources: set[str]) -> Iterator[Problem]:
    """The problems of additional sources that the entry does not list."""
    for key, inner in value.items() if isinstance(value, dict) else ():
        for number, source in enumerate(inner if key == "also" else ()):
            if source not in sources:
                message = f"`{source}` is not a source that this entry lists"
                yield Problem("catalog-figure-unsourced", (*path, "also", number), message, "name one of `sources`")
        yield from _unlisted(inner, (*path, key), sources)


@cache
def schema() -> dict[str, Any]:
    """The JSON Schema of catalog entries."""
    text = (resources.schemas() / "catalog.schema.json").read_text(encoding="utf-8")
    loaded: dict[str, Any] = json.loads(text)
    return loaded
