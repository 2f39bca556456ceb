"""Messages of schema violations."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from typing import Any

from clusterspec.document import conforms
from clusterspec.document.conforms import Schema
from clusterspec.document.model import Document, text_at
from clusterspec.document.other_names import advice_for_name, intended_key, similar_keys
from clusterspec.document.schema import (
    alternatives_text,
    letters_and_digits,
    near_words,
    nearest_words,
    one_line_text,
    snake_case,
)
from clusterspec.document.validation_error import (
    TYPES,
    ValidationError,
    amount_advice,
    coerced_text,
    example_line,
    kind_of,
    thousands_advice,
)
from clusterspec.finding import Fix, Problem, Replacement, Severity
from clusterspec.source import Path, dotted_path

# Messages of validation errors; messages of jsonschema are never shown

_MAX_UNKNOWN = 40
"""Unknown keys of one mapping that get a finding each."""


def problems_of_error(error: Any, path: Path, document: Document, schema: Schema) -> Iterator[Problem]:
    """The problems that describe an error of the validator."""
    fault = ValidationError(error, path, document, schema, conforms.node_at(schema, path))
    if not path and error.validator == "type":
        yield _not_a_mapping_problem(fault)
    elif fault.value is None and path and isinstance(path[-1], str):
        yield _missing_value_problem(fault)
    elif "propertyNames" in error.absolute_schema_path:
        yield _key_name_problem(fault)
    else:
        yield from _MESSAGES.get(error.validator, _other_problems)(fault)


def _key_name_problem(fault: ValidationError) -> Problem:
    """The problem of a user-chosen name that does not have the form that its mapping requires."""
    message = f"`{one_line_text(str(fault.value))}` is not a name that {fault.name} takes"
    path = (*fault.path, fault.value)
    form = _format_description(fault.field)
    return Problem("wrong-type", path if path in fault.document.places else fault.path, message, f"write {form}")


def _not_a_mapping_problem(fault: ValidationError) -> Problem:
    if fault.value is None:
        what = "the file is empty"
    else:
        what = f"the top level is {TYPES['array'] if isinstance(fault.value, list) else kind_of(fault.value)}"
    return Problem("unreadable-yaml", (), what, "a mapping of keys belongs there, such as `clusterspec: 1`")


def _missing_value_problem(fault: ValidationError) -> Problem:
    key = fault.path[-1]
    node = conforms.node_at(fault.schema, fault.path[:-1])
    if key in node.get("required", ()) or key in node.get("else", {}).get("required", ()):
        return fault.problem("missing-key", f"{fault.name} has no value", fault.advice)
    message = f"{fault.name} has no value and counts as absent"
    line = example_line(fault.path, fault.field)
    advice = (f"write a value, such as `{line}`, or " if line else "write a value, or ") + "delete the line"
    return Problem("wrong-type", fault.path, message, advice, severity=Severity.WARNING, at_key=True)


def _type_problems(fault: ValidationError) -> Iterator[Problem]:
    if isinstance(fault.value, dict | list):
        message = f"{fault.name} takes {fault.expected}, not {fault.written}"
    else:
        message = f"{fault.name} takes {fault.expected}, but {fault.written} is {kind_of(fault.value)}"
    text = coerced_text(fault.value, fault.field, text_at(fault.document, fault.path))
    if text is None:
        advice = thousands_advice(fault.value, fault.field) or amount_advice(fault.value, fault.field) or fault.advice
        yield fault.problem("wrong-type", message, advice)
    else:
        fix = Fix(f"write `{text}`", (Replacement(fault.path, text),), safe=True)
        yield fault.problem("wrong-type", message, f"write `{text}`", fix)


def _choice_problems(fault: ValidationError) -> Iterator[Problem]:
    choices = [str(choice) for choice in fault.limit]
    word = str(fault.value)
    synonyms = {letters_and_digits(one): choice for one, choice in fault.field.get("x-synonyms", {}).items()}
    synonym = synonyms.get(letters_and_digits(word))
    meant = (
        [synonym]
        if synonym
        else [one for one in nearest_words(word, choices) if _last_number(one) == _last_number(word)]
    )
    advice = f"the choices are {alternatives_text(choices)}"
    message = f"{fault.written} is not one of the choices of {fault.name}"
    same = [one for one in choices if letters_and_digits(one) == letters_and_digits(word)]
    if len(same) == 1:
        certain = Fix(f"write `{same[0]}`", (Replacement(fault.path, same[0]),), safe=True)
        yield fault.problem("unknown-choice", message, f"write `{same[0]}`", certain)
        return
    if meant:
        advice = f"did you mean {alternatives_text(meant)}? {advice[0].upper()}{advice[1:]}"
    remark = fault.field.get("x-remarks", {}).get(word.lower())
    advice = f"{advice}; {remark}" if remark else advice
    fix = Fix(f"write `{meant[0]}`", (Replacement(fault.path, meant[0]),)) if len(meant) == 1 else None
    yield fault.problem("unknown-choice", message, advice, fix)


def _last_number(word: str) -> str:
    """The digits at the end of a word. Words such as `int4` and `int8` are not misspellings of each other."""
    return word[len(word.rstrip("0123456789")) :]


def _const_problems(fault: ValidationError) -> Iterator[Problem]:
    text = json.dumps(fault.limit)
    fix = Fix(f"write `{text}`", (Replacement(fault.path, text),))
    message = f"{fault.name} is {text}; {fault.written} is not supported"
    yield fault.problem("unknown-choice", message, f"write `{fault.path[-1]}: {text}`", fix)


def _unknown_key_problems(fault: ValidationError) -> Iterator[Problem]:
    known = fault.error.schema.get("properties", {})
    unknown = [key for key in fault.value if key not in known]
    for key in unknown[:_MAX_UNKNOWN]:
        yield _unknown_key_problem(fault, key, list(known))
    if len(unknown) > _MAX_UNKNOWN:
        key, rest = unknown[_MAX_UNKNOWN], len(unknown) - _MAX_UNKNOWN
        message = f"`{one_line_text(key)}` and {rest - 1} further keys are not known here"
        yield Problem("unknown-key", (*fault.path, key), message, at_key=True)


def _unknown_key_problem(fault: ValidationError, key: str, keys: list[str]) -> Problem:
    path = (*fault.path, key)
    where = f"a key of `{dotted_path(fault.path)}`" if fault.path else "a key of the top level"
    message = f"`{one_line_text(key)}` is not {where}"
    alias = intended_key(key, keys)
    if alias in keys:
        told = _advice_for_choice(fault, key, [alias])
    else:
        told = _advice_for_percentile(fault, key) or advice_for_name(key) or _advice_for_choice(fault, key, keys)
    if told:
        return Problem("unknown-key", path, message, told, at_key=True)
    mappings_with_key = _mappings_with_key(fault, alias or key, fault.value[key])
    meant = [alias] if alias in keys else []
    if not alias or not (meant or mappings_with_key):
        meant = nearest_words(key, keys)
        fitting = [one for one in meant if _takes_value(fault, key, one)]
        meant = fitting if mappings_with_key else meant
    if not meant and not mappings_with_key:
        meant = _longer_keys(fault, key, keys) or similar_keys(key, keys)[:3]
    if not meant and not mappings_with_key:
        below = [
            each
            for each, homes in conforms.mappings_by_key(fault.schema).items()
            if _is_inside_mapping(homes, fault.path)
        ]
        alias = next(iter(similar_keys(key, below, least=1.0)), "")
        mappings_with_key = _mappings_with_key(fault, alias, fault.value[key]) if alias else []
    if meant:
        advice = f"did you mean {alternatives_text(meant)}?"
    elif mappings_with_key and alias:
        advice = f"write `{alias}` {'in' if mappings_with_key[0][0] == '`' else 'at'} {mappings_with_key[0]}"
    elif mappings_with_key:
        advice = f"it belongs to {' or '.join(mappings_with_key)}"
    else:
        advice = f"the keys here are {', '.join(sorted(keys))}"
    return Problem(
        "unknown-key", path, message, advice, at_key=True, fix=_key_fix(fault, key, meant, sure=not alias, keys=keys)
    )


def _longer_keys(fault: ValidationError, key: str, keys: list[str]) -> list[str]:
    """The key that begins with the words of the unknown one, is absent and can take its value, such as
    `prompts_per_step` for `prompts`; empty if there are several.
    """
    start = f"{snake_case(key)}_"
    longer = [one for one in keys if one.startswith(start) and one not in fault.value and _takes_value(fault, key, one)]
    return longer if len(longer) == 1 else []


def _takes_value(fault: ValidationError, key: str, other: str) -> bool:
    """Whether another key of the mapping accepts the value of a key."""
    return _has_type(fault.value[key], conforms.node_at(fault.schema, (*fault.path, other)), fault.schema)


def _key_fix(fault: ValidationError, key: str, meant: list[str], *, sure: bool, keys: list[str]) -> Fix | None:
    """The fix that renames a key to the only intended key, if that is absent and accepts the value. The fix is safe for
    a misspelling.
    """
    if len(meant) != 1 or meant[0] in fault.value:
        return None
    if not _takes_value(fault, key, meant[0]):
        return None
    safe = sure and len(near_words(key, keys)) == 1
    return Fix(f"write `{meant[0]}`", (Replacement((*fault.path, key), meant[0], key=True),), safe=safe)


_PERCENTILE = re.compile(r"(?P<key>[a-z_]+)_(?P<last>p[0-9]+)|(?P<first>p[0-9]+)_(?P<rest>[a-z_]+)")


def _advice_for_percentile(fault: ValidationError, key: str) -> str:
    """The advice for a key that names a percentile, such as `ttft_p99` or `p99_ttft`; empty for other keys."""
    match = _PERCENTILE.fullmatch(snake_case(key))
    if match is None or isinstance(fault.value[key], dict | list):
        return ""
    name, percentile = match["key"] or match["rest"], match["last"] or match["first"]
    below = [home for home in conforms.mappings_with_key(fault.schema, name) if home[: len(fault.path)] == fault.path]
    for home in sorted(below, key=len):
        node = conforms.node_at(fault.schema, (*home, name))
        if conforms.child_node(node, fault.schema, percentile) is not None:
            line = f"write `{name}: {{{percentile}: {one_line_text(fault.value[key])}}}`"
            return line if home == fault.path else f"{line} in `{dotted_path(home)}`"
    return ""


def _advice_for_choice(fault: ValidationError, key: str, keys: list[str]) -> str:
    """The advice for a key that is a choice of one of the ``keys``, by itself (`zero_bubble: true`) or with its
    number (`zero_stage: 3`); else empty.
    """
    value = fault.value[key]
    names = {letters_and_digits(key)} if value in (True, None, {}) else set()
    if isinstance(value, int):
        names |= {f"{word}{value}" for word in snake_case(key).split("_")}
    lines = []
    for each in keys:
        for branch in conforms.node_branches(conforms.node_at(fault.schema, (*fault.path, each)), fault.schema):
            choices = {letters_and_digits(str(one)): one for one in branch.get("enum", ())}
            choices |= {letters_and_digits(one): choice for one, choice in branch.get("x-synonyms", {}).items()}
            lines += [f"{each}: {choices[name]}" for name in names & choices.keys()]
    return f"write {alternatives_text(lines[:3])}" if lines else ""


def _steps_between(home: Path, path: Path) -> tuple[int, int]:
    """Sort key for the distance of two mappings: the number of keys from one to the other, then the depth of the first.
    `layout` and `workload.rl.rollout` are equally near to `workload.serving`; `layout` is intended more often.
    """
    return len(home) + len(path) - 2 * _common_key_count(home, path), len(home)


def _mappings_with_key(fault: ValidationError, key: str, value: Any) -> list[str]:
    """The first two mappings of the schema that have a key with such a value, for use in a sentence; the nearest first.

    A scalar of another type means something else: the number in `procurement.prices.accelerator: 30000` is not the
    accelerator of `cluster`. Two such forms are a mapping in place of a scalar (`nics: {per_node: 8}`), and a value
    under a key that belongs to a mapping inside this one.
    """
    homes = sorted(
        conforms.mappings_with_key(fault.schema, key),
        key=lambda home: (*_steps_between(home, fault.path), _is_for_other_work(home, fault)),
    )
    found = [home for home in homes if _has_type(value, conforms.node_at(fault.schema, (*home, key)), fault.schema)]
    found = found or [home for home in homes if isinstance(value, dict) or home[: len(fault.path)] == fault.path != ()]
    return [f"`{dotted_path(home)}`" if home else "the top level" for home in found[:2]]


def _is_for_other_work(home: Path, fault: ValidationError) -> bool:
    """Whether a mapping describes reinforcement learning although the workload with the key does not."""
    return (
        "rl" in home and isinstance(fault.value, dict) and "rl" not in fault.value and fault.value.get("kind") != "rl"
    )


def _is_inside_mapping(homes: list[Path], path: Path) -> bool:
    """Whether one of the given mappings is at a path or below it."""
    return any(home[: len(path)] == path for home in homes)


def _common_key_count(path: Path, other: Path) -> int:
    """The number of keys with which both paths begin."""
    return next(
        (at for at, (here, there) in enumerate(zip(path, other, strict=False)) if here != there),
        min(len(path), len(other)),
    )


def _has_type(value: Any, node: Any, root: Any) -> bool:
    """Whether a value has a type that a node of the schema allows."""
    types = [branch["type"] for branch in conforms.node_branches(node, root) if "type" in branch]
    return not types or any(conforms.conforms(value, {"type": allowed}, root) for allowed in types)


def _missing_key_problems(fault: ValidationError) -> Iterator[Problem]:
    for key in fault.limit:
        if key not in fault.value:
            path = (*fault.path, key)
            node = conforms.node_at(fault.schema, path)
            where = f" in `{dotted_path(fault.path)}`" if fault.path else ""
            line = example_line(path, node) or f"{key}: …"
            about = f" ({node['description'].rstrip('.')})" if "description" in node else ""
            rule = node.get("x-rule", "missing-key")
            yield Problem(rule, path, f"`{key}` is missing{where}", f"write `{line}`{about}")


LEAST_PERCENT = 2
"""Shares of at least this value may have been written in percent."""


def _bound_problems(fault: ValidationError) -> Iterator[Problem]:
    low, exclusive = "inimum" in fault.error.validator, "exclusive" in fault.error.validator
    limit = f"{fault.limit:,}" if isinstance(fault.limit, int) else f"{fault.limit:g}"
    message = f"{fault.written} is {'less' if low else 'more'} than {fault.name} can be"
    side = "more" if low else "less"
    advice = f"write a number {side} than {limit}" if exclusive else f"write {limit} or {side}"
    if fault.limit == 1 and LEAST_PERCENT <= fault.value <= 100:
        advice += f": a share, such as {fault.value / 100:g} for {fault.value:g} %"
    yield fault.problem("wrong-type", message, advice)


def _length_problems(fault: ValidationError) -> Iterator[Problem]:
    what = "item" if isinstance(fault.value, list) else "character"
    what += "s" if len(fault.value) != 1 else ""
    if not fault.value:
        yield fault.problem("wrong-type", f"{fault.name} is empty", fault.advice)
        return
    word = "at least" if "min" in fault.error.validator else "at most"
    message = f"{fault.name} has {len(fault.value):,} {what}, and takes {word} {fault.limit:,}"
    yield fault.problem("wrong-type", message, fault.advice)


def _duplicate_item_problems(fault: ValidationError) -> Iterator[Problem]:
    for number, item in enumerate(fault.value):
        if item in fault.value[:number]:
            message = f"{fault.name} holds `{one_line_text(item)}` twice"
            yield Problem("wrong-type", (*fault.path, number), message, "keep each item once")
            return


def _pattern_problems(fault: ValidationError) -> Iterator[Problem]:
    code = fault.field.get("x-synonyms", {}).get(str(fault.value).lower())
    if code is not None:
        fix = Fix(f"write `{code}`", (Replacement(fault.path, code),))
        message = f"{fault.written} is not valid for {fault.name}: {_format_description(fault.field)}"
        yield fault.problem("wrong-type", message, f"write `{fault.path[-1]}: {code}`", fix)
        return
    what = f": {_format_description(fault.field)}" if _format_description(fault.field) else ""
    yield fault.problem("wrong-type", f"{fault.written} is not valid for {fault.name}{what}", fault.advice)


def _format_description(field: Schema) -> str:
    """The schema's description of the format of a value."""
    return str(field.get("x-form", ""))


def _alternative_problems(fault: ValidationError) -> Iterator[Problem]:
    context = fault.error.context
    if context and all(inner.validator == "required" for inner in context):
        either = [
            alternatives_text([key for key in inner.validator_value if key not in fault.value]) for inner in context
        ]
        advice = f"write {', or '.join(dict.fromkeys(either))}"
        yield fault.problem("missing-key", f"{fault.name} lacks a key", advice)
    else:
        yield from _type_problems(fault)


def _excluded_key_problems(fault: ValidationError) -> Iterator[Problem]:
    keys = fault.limit.get("required") if isinstance(fault.limit, dict) else None
    message = (
        f"{' and '.join(f'`{key}`' for key in keys)} exclude each other" if keys else f"{fault.name} cannot be this"
    )
    yield fault.problem("wrong-type", message, "keep one of them" if keys else "")


def _other_problems(fault: ValidationError) -> Iterator[Problem]:
    yield fault.problem("wrong-type", f"{fault.written} is not valid for {fault.name}", fault.advice)


_MESSAGES: dict[str, Callable[[ValidationError], Iterator[Problem]]] = {
    "type": _type_problems,
    "enum": _choice_problems,
    "const": _const_problems,
    "additionalProperties": _unknown_key_problems,
    "required": _missing_key_problems,
    "uniqueItems": _duplicate_item_problems,
    "pattern": _pattern_problems,
    "anyOf": _alternative_problems,
    "oneOf": _alternative_problems,
    "not": _excluded_key_problems,
    **dict.fromkeys(("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum"), _bound_problems),
    **dict.fromkeys(("minItems", "maxItems", "minLength", "maxLength"), _length_problems),
}
