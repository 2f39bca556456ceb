"""Holds a document against a JSON Schema, and says what is wrong in words for people."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from typing import Any

from clusterspec.document import words
from clusterspec.document.model import Document
from clusterspec.document.outline import Schema
from clusterspec.finding import Problem
from clusterspec.source import Path

_SEVERAL = {"additionalProperties", "required"}
"""Keywords of which one mapping may fail several times, each fault being its own."""

_validators: dict[str, Any] = {}


def validate(document: Document, schema: Schema) -> list[Problem]:
    """What is wrong with the document by a draft 2020-12 schema: one problem a fault, in document order.

    Rules: unknown-key, wrong-type, unknown-choice, missing-key, unreadable-yaml where the top is
    no mapping, and what ``x-rule`` of a key names for faults of that key.
    """
    errors = list(_innermost(_validator(schema).iter_errors(document.value)))
    typed = {_path(error) for error in errors if error.validator == "type"}
    problems: dict[tuple[Path, str], Problem] = {}
    for error in sorted(errors, key=lambda error: error.validator not in {"type", "const", "enum"}):
        path = _path(error)
        if path in typed and error.validator != "type":
            continue
        for problem in words.problems(error, path, document, schema):
            keyword = error.validator if error.validator in _SEVERAL else ""
            problems.setdefault((problem.path, keyword), problem)
    order = {path: number for number, path in enumerate(document.places)}
    return sorted(problems.values(), key=lambda problem: order.get(problem.path, -1))


def _finite(_: Any, value: Any) -> bool:
    """A number of JSON, which knows neither infinity nor nan."""
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)


def _whole(_: Any, value: Any) -> bool:
    return _finite(_, value) and value == math.floor(value)


def _validator(schema: Schema) -> Any:
    """The validator of a schema, built once: jsonschema is heavy, and is imported here only."""
    name = str(schema.get("$id", id(schema)))
    if name not in _validators:
        from jsonschema import Draft202012Validator, validators

        kinds = Draft202012Validator.TYPE_CHECKER.redefine_many({"number": _finite, "integer": _whole})
        extend: Any = validators.extend
        _validators[name] = extend(Draft202012Validator, type_checker=kinds)(schema)
    return _validators[name]


def _path(error: Any) -> Path:
    return tuple(error.absolute_path)


def _innermost(errors: Iterable[Any]) -> Iterator[Any]:
    """The errors that say something: of alternatives, those of the one that the author meant."""
    for error in errors:
        if error.validator in {"anyOf", "oneOf"} and error.context:
            meant = _meant(error)
            if meant is None:
                yield error
            else:
                yield from _innermost(meant)
        else:
            yield error


def _meant(error: Any) -> list[Any] | None:
    """The errors of the one alternative whose type the value has; None where that is not one."""
    by_branch: dict[int, list[Any]] = {}
    for inner in error.context:
        by_branch.setdefault(inner.relative_schema_path[0], []).append(inner)
    fitting = [inner for inner in by_branch.values() if not any(_wrong_kind(one) for one in inner)]
    return fitting[0] if len(fitting) == 1 else None


def _wrong_kind(error: Any) -> bool:
    """Whether an alternative is out of the question: it fails as a whole, by type or as a fixed word."""
    return not error.relative_path and error.validator in {"type", "const"}
