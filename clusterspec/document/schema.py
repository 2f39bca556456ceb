"""Holds a document against a JSON Schema, and says what is wrong in words for people."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import suppress
from typing import Any

from clusterspec.document.conforms import conforms
from clusterspec.document.model import Document
from clusterspec.document.outline import Schema
from clusterspec.finding import Problem
from clusterspec.records import replace
from clusterspec.source import Path

_SEVERAL = {"additionalProperties", "required"}
"""Keywords of which one mapping may fail several times, each fault being its own."""
_OF_PARTS = {*_SEVERAL, "not", "oneOf", "anyOf"}
"""Keywords whose failure leaves faults of the parts worth telling."""

_validators: dict[int, tuple[Schema, Any]] = {}
"""By identity of the schema, which is kept so that no other can take its place."""
_LONGEST_UNIQUE = 1000
_MOST_ITEMS = 5
"""Items of one list that get a problem each."""


def validate(document: Document, schema: Schema) -> list[Problem]:
    """What is wrong with the document by a draft 2020-12 schema: one problem a fault, in document order.

    Rules: unknown-key, wrong-type, unknown-choice, missing-key, unreadable-yaml where the top is
    no mapping, and what ``x-rule`` of a key names for faults of that key.
    """
    with suppress(NotImplementedError):
        if conforms(document.value, schema, schema):
            return []
    from clusterspec.document import words

    errors = list(_innermost(_validator(schema).iter_errors(document.value)))
    whole = {_path(error) for error in errors if error.validator not in _OF_PARTS}
    problems: dict[tuple[Path, str], Problem] = {}
    for error in sorted(errors, key=lambda error: error.validator != "type"):
        path = _path(error)
        if any(path[:length] in whole for length in range(len(path))):
            continue
        for problem in words.problems(error, path, document, schema):
            keyword = error.validator if error.validator in _SEVERAL else ""
            problems.setdefault((problem.path, keyword), problem)
    meant = {*meant_keys(problems.values())}
    told = [problem for (_, keyword), problem in problems.items() if keyword != "required" or problem.path not in meant]
    order = {path: number for number, path in enumerate(document.places)}
    return _fewer(sorted(told, key=lambda problem: order.get(problem.path, -1)))


def meant_keys(problems: Iterable[Problem]) -> Iterator[Path]:
    """The keys that misspelt keys were meant to be: they are not absent, they could not be read."""
    for problem in problems:
        if problem.rule == "unknown-key" and problem.fix is not None:
            yield (*problem.path[:-1], problem.fix.replacements[0].text)


def _fewer(problems: list[Problem]) -> list[Problem]:
    """The problems, of those with the items of one list only the first, which says how many follow."""
    lists = Counter(problem.path[:-1] for problem in problems if _of_item(problem))
    told: Counter[Path] = Counter()
    kept = []
    for problem in problems:
        parent = problem.path[:-1]
        if _of_item(problem):
            told[parent] += 1
        if not _of_item(problem) or told[parent] < _MOST_ITEMS or lists[parent] == _MOST_ITEMS:
            kept.append(problem)
        elif told[parent] == _MOST_ITEMS:
            more = lists[parent] - _MOST_ITEMS
            kept.append(replace(problem, message=f"{problem.message}; {more} further items have faults"))
    return kept


def _of_item(problem: Problem) -> bool:
    return bool(problem.path) and isinstance(problem.path[-1], int)


def _finite(_: Any, value: Any) -> bool:
    """A number of JSON, which knows neither infinity nor nan."""
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)


def _whole(_: Any, value: Any) -> bool:
    return _finite(_, value) and value == math.floor(value)


def _validator(schema: Schema) -> Any:
    """The validator of a schema, built once: jsonschema is heavy, and is imported here only."""
    if id(schema) not in _validators:
        from jsonschema import Draft202012Validator, validators

        kinds = Draft202012Validator.TYPE_CHECKER.redefine_many({"number": _finite, "integer": _whole})
        extend: Any = validators.extend
        strict = extend(Draft202012Validator, {"uniqueItems": _unique}, type_checker=kinds)
        _validators[id(schema)] = schema, strict(schema)
    return _validators[id(schema)][1]


def _unique(_: Any, unique: bool, value: Any, __: Schema) -> Iterator[Any]:
    """jsonschema's own check takes quadratic time; a list that is far too long fails ``maxItems`` anyway."""
    from jsonschema import ValidationError

    if unique and isinstance(value, list) and len(value) <= _LONGEST_UNIQUE:
        seen = [repr(item) for item in value]
        if len(set(seen)) < len(seen):
            yield ValidationError("not unique")


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
    """The errors of the one alternative whose type the value has; None if that is not one."""
    by_branch: dict[int, list[Any]] = {}
    for inner in error.context:
        by_branch.setdefault(inner.relative_schema_path[0], []).append(inner)
    fitting = [inner for inner in by_branch.values() if not any(_wrong_kind(one) for one in inner)]
    return fitting[0] if len(fitting) == 1 else None


def _wrong_kind(error: Any) -> bool:
    """Whether an alternative is out of the question: it fails as a whole, by type or as a fixed word."""
    return not error.relative_path and error.validator in {"type", "const"}
