"""Validation of a document against a JSON Schema, and suggestions for misspelled words."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import suppress

from clusterspec.document.conforms import Schema, UnknownKeyword, conforms
from clusterspec.document.model import Document
from clusterspec.finding import Problem
from clusterspec.records import replace
from clusterspec.source import Path
from clusterspec.standard import pattern

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

_SEVERAL = {"additionalProperties", "required"}
"""Keywords that a mapping may violate several times, each a separate error."""
_OF_PARTS = {*_SEVERAL, "not", "oneOf", "anyOf"}
"""Keywords whose failure does not replace the errors of nested values."""

_validators: dict[int, tuple[Schema, Any]] = {}
"""Cached by the identity of the schema; the cache holds the schema, so no other object can get the same identity."""
_LONGEST_UNIQUE = 1000
_MOST_ITEMS = 5
"""Largest number of items of one list that get a problem each."""


def validate(document: Document, schema: Schema) -> list[Problem]:
    """The problems of a document by a draft 2020-12 schema, one per error, in document order.

    Rules: unknown-key, wrong-type, unknown-choice, missing-key, unreadable-yaml if the top level is
    not a mapping, and the rule that ``x-rule`` of a key names for errors of that key.
    """
    with suppress(UnknownKeyword):
        if conforms(document.value, schema, schema):
            return []
    from clusterspec.document import messages

    errors = list(_innermost_errors(_cached_validator(schema).iter_errors(document.value)))
    whole_lists = {_error_path(error) for error in errors if error.validator not in _OF_PARTS}
    problems: dict[tuple[Path, str], Problem] = {}
    for error in sorted(errors, key=lambda error: error.validator != "type"):
        path = _error_path(error)
        if any(path[:length] in whole_lists for length in range(len(path))):
            continue
        for problem in messages.problems_of_error(error, path, document, schema):
            keyword = error.validator if error.validator in _SEVERAL else ""
            problems.setdefault((problem.path, keyword), problem)
    meant = {*intended_keys(problems.values())}
    reported = [
        problem for (_, keyword), problem in problems.items() if keyword != "required" or problem.path not in meant
    ]
    order = {path: number for number, path in enumerate(document.places)}
    return _limited_problems(sorted(reported, key=lambda problem: order.get(problem.path, -1)))


def intended_keys(problems: Iterable[Problem]) -> Iterator[Path]:
    """The intended keys of misspelled and foreign keys, which therefore do not count as absent."""
    for problem in problems:
        if problem.rule != "unknown-key":
            continue
        from clusterspec.document.other_names import intended_key

        fixed = problem.fix.replacements[0].text if problem.fix is not None else intended_key(str(problem.path[-1]))
        if fixed:
            yield (*problem.path[:-1], fixed)


def _limited_problems(problems: list[Problem]) -> list[Problem]:
    """The problems, limited to the first few per list; the last states how many items follow."""
    lists = Counter(problem.path[:-1] for problem in problems if _is_of_item(problem))
    counted: Counter[Path] = Counter()
    kept = []
    for problem in problems:
        parent = problem.path[:-1]
        if _is_of_item(problem):
            counted[parent] += 1
        if not _is_of_item(problem) or counted[parent] < _MOST_ITEMS or lists[parent] == _MOST_ITEMS:
            kept.append(problem)
        elif counted[parent] == _MOST_ITEMS:
            more = lists[parent] - _MOST_ITEMS
            kept.append(replace(problem, message=f"{problem.message}; {more} further items have errors"))
    return kept


def _is_of_item(problem: Problem) -> bool:
    return bool(problem.path) and isinstance(problem.path[-1], int)


def _is_finite_number(_: Any, value: Any) -> bool:
    """Whether a value is a JSON number, which excludes infinity and nan."""
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)


def _is_whole_number(_: Any, value: Any) -> bool:
    return _is_finite_number(_, value) and value == math.floor(value)


def load_violation_texts(schema: Schema) -> None:
    """Load the modules that describe schema violations, so that the first invalid document is as fast as others."""
    from clusterspec.document import messages  # noqa: F401 - imported for the next use

    _cached_validator(schema)


def _cached_validator(schema: Schema) -> Any:
    """The validator of a schema, built once; jsonschema is slow to import and is imported only here."""
    if id(schema) not in _validators:
        from jsonschema import Draft202012Validator, validators

        kinds = Draft202012Validator.TYPE_CHECKER.redefine_many(
            {"number": _is_finite_number, "integer": _is_whole_number}
        )
        extend: Any = validators.extend
        strict = extend(Draft202012Validator, {"uniqueItems": _uniqueness_errors}, type_checker=kinds)
        _validators[id(schema)] = schema, strict(schema)
    return _validators[id(schema)][1]


def _uniqueness_errors(_: Any, unique: bool, value: Any, __: Schema) -> Iterator[Any]:
    """A linear-time replacement of jsonschema's check; lists beyond the limit already fail ``maxItems``."""
    from jsonschema import ValidationError

    if unique and isinstance(value, list) and len(value) <= _LONGEST_UNIQUE:
        seen = [repr(item) for item in value]
        if len(set(seen)) < len(seen):
            yield ValidationError("not unique")


def _error_path(error: Any) -> Path:
    return tuple(error.absolute_path)


def _innermost_errors(errors: Iterable[Any]) -> Iterator[Any]:
    """The most specific errors. Among alternatives, the errors of the intended alternative."""
    for error in errors:
        if error.validator in {"anyOf", "oneOf"} and error.context:
            meant = _intended_errors(error)
            if meant is None:
                yield error
            else:
                yield from _innermost_errors(meant)
        else:
            yield error


def _intended_errors(error: Any) -> list[Any] | None:
    """The errors of the only alternative with the type of the value; None if there is not exactly one."""
    by_branch: dict[int, list[Any]] = {}
    for inner in error.context:
        by_branch.setdefault(inner.relative_schema_path[0], []).append(inner)
    fitting = [inner for inner in by_branch.values() if not any(_has_wrong_kind(one) for one in inner)]
    return fitting[0] if len(fitting) == 1 else None


def _has_wrong_kind(error: Any) -> bool:
    """Whether an alternative is excluded because its type or constant does not match."""
    return not error.relative_path and error.validator in {"type", "const"}


# Suggestions for misspelled words, by edit distance

_HUMP = pattern(r"(?<=[a-z0-9])(?=[A-Z])")
_MAX_LENGTH = 100


def nearest_words(word: str, candidates: Iterable[str], distance: int = 2) -> list[str]:
    """The known words at the smallest edit distance, at most ``distance`` (one for short words).

    Case, camel case, and ``_`` for ``-`` do not count as edits.

    >>> nearest_words("nicsPerNod", ["nics_per_node", "nodes"])
    ['nics_per_node']
    """
    ranked = _ranked_words(word, candidates, distance)
    fewest = min((count for count, _ in ranked), default=0)
    return sorted(one for count, one in ranked if count == fewest)


def near_words(word: str, candidates: Iterable[str], distance: int = 2) -> list[str]:
    """All known words within the distance of `nearest_words`. If some differ only in case or separators, only these.

    >>> near_words("tpp", ["tp", "pp", "dp"])
    ['pp', 'tp']
    """
    ranked = _ranked_words(word, candidates, distance)
    return sorted(one for count, one in ranked if count == 0) or sorted(one for _, one in ranked)


def _ranked_words(word: str, candidates: Iterable[str], distance: int) -> list[tuple[int, str]]:
    """The known words within the distance, each with its edit distance."""
    if len(word) > _MAX_LENGTH:
        return []
    given = snake_case(word)
    allowed = min(distance, 1 if len(given) <= 4 else distance)
    counted = [
        (edit_distance(given, snake_case(one)), one)
        for one in candidates
        if abs(len(given) - len(snake_case(one))) <= allowed
    ]
    return [(count, one) for count, one in counted if count <= allowed and count < len(given)]


def alternatives_text(words: list[str]) -> str:
    """Words as alternatives in a sentence.

    >>> alternatives_text(["a", "b", "c"])
    '`a`, `b` or `c`'
    """
    marked = [f"`{word}`" for word in words]
    return f"{', '.join(marked[:-1])} or {marked[-1]}" if len(marked) > 1 else marked[0]


def snake_case(word: str) -> str:
    """A word in snake case.

    >>> snake_case("nicsPerNode"), snake_case("scale-out")
    ('nics_per_node', 'scale_out')
    """
    return _HUMP.sub("_", word).lower().replace("-", "_").replace(" ", "_")


def letters_and_digits(name: str) -> str:
    """A name in lower case without spaces and punctuation, for comparison with other spellings of it.

    >>> letters_and_digits("p5.48xlarge"), letters_and_digits("Flash_Attention-2")
    ('p548xlarge', 'flashattention2')
    """
    return "".join(filter(str.isalnum, name.lower()))


def edit_distance(one: str, other: str) -> int:
    """The edit distance of two words: insertions, deletions, replacements and adjacent transpositions.

    >>> edit_distance("sclae_out", "scale_out")
    1
    """
    before: list[int] = []
    row = list(range(len(other) + 1))
    for i, letter in enumerate(one):
        before, above, row = row, before, [i + 1]
        for j, wanted in enumerate(other):
            cost = min(before[j] + (letter != wanted), before[j + 1] + 1, row[j] + 1)
            if i and j and letter == other[j - 1] and wanted == one[i - 1]:
                cost = min(cost, above[j - 1] + 1)
            row.append(cost)
    return row[-1]


# Recognition of YAML files of other programs by their top-level keys

_MARKS = (
    ({"apiVersion", "kind"}, "a Kubernetes manifest"),
    ({"apiVersion", "name", "version"}, "a Helm chart"),
    ({"services"}, "a Docker Compose file"),
    ({"on", "jobs"}, "a GitHub Actions workflow"),
    ({"stages", "script"}, "a GitLab pipeline"),
    ({"AWSTemplateFormatVersion", "Resources"}, "a CloudFormation template"),
    ({"repos"}, "a configuration of pre-commit"),
    ({"openapi", "paths"}, "an OpenAPI document"),
)


def kind_of_other_file(value: Any) -> str:
    """The kind of another program's file, for use in a sentence; empty if the document may be a spec.

    >>> kind_of_other_file({"apiVersion": "apps/v1", "kind": "Deployment"})
    'a Kubernetes manifest (kind `Deployment`)'
    >>> kind_of_other_file({"clusterspec": 1, "kind": "x"})
    ''
    """
    if not isinstance(value, dict) or any(key.lower() == "clusterspec" for key in value):
        return ""
    for keys, what in _MARKS:
        if keys <= value.keys():
            kind = f" (kind `{one_line_text(value['kind'])}`)" if isinstance(value.get("kind"), str) else ""
            return what + kind
    return ""


def describes_fleet(value: Any) -> bool:
    """Whether a spec describes pools and jobs rather than one cluster."""
    return isinstance(value, dict) and ("pools" in value or "jobs" in value) and not kind_of_other_file(value)


def describes_one_design(value: dict[str, Any]) -> bool:
    """Whether the text of a document is about one design: it has neither several pools nor several jobs."""
    return not any(len(part) > 1 for key in ("pools", "jobs") if isinstance(part := value.get(key), dict))


_MAX_SHOWN = 48
"""Characters."""


def one_line_text(value: object) -> str:
    """A text on one line, shortened, without control characters."""
    text = str(value)
    text = text if len(text) <= _MAX_SHOWN else text[: _MAX_SHOWN - 1] + "…"
    return "".join(letter if letter.isprintable() else " " for letter in text)
