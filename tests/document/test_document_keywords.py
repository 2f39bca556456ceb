"""Laws of schema keywords, on which jsonschema must agree, of waivers at their limits, and of places."""

from __future__ import annotations

import math
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from clusterspec.document import Document, parse, to_finding, waivers
from clusterspec.document.conforms import UnknownKeyword, child_node, conforms, mappings_with_key, node_at
from clusterspec.document.model import locate, text_at
from clusterspec.document.schema import one_line_text
from clusterspec.document.validation_error import example_line, expected_text, kind_of
from clusterspec.finding import Problem
from clusterspec.source import Path, Source
from tests.settings import TODAY

TWO = [{"minimum": 1}, {"maximum": 3}]
KEYWORDS: list[tuple[dict[str, Any], list[Any], list[Any]]] = [  # a schema, valid values, and invalid ones
    ({"type": "integer"}, [0, -1, 2.0], [1.5, True, "1", None, [], {}]),
    ({"type": "number"}, [0, 1.5], [True, "1.5", None]),
    ({"type": "string"}, ["", "a"], [1, None, ["a"]]),
    ({"type": "boolean"}, [True, False], [0, 1, "true"]),
    ({"type": "null"}, [None], [0, "", False]),
    ({"type": "array"}, [[], [1]], [{}, "a"]),
    ({"type": "object"}, [{}, {"a": 1}], [[], "a"]),
    ({"type": ["string", "number"]}, ["a", 1], [None, True, []]),
    ({"enum": ["a", 1]}, ["a", 1, 1.0], ["b", True, 2]),
    ({"const": 1}, [1, 1.0], [True, 2, "1"]),
    ({"minimum": 2}, [2, 3, "a", True], [1, 1.999]),
    ({"maximum": 2}, [2, 1, "a"], [3, 2.001]),
    ({"exclusiveMinimum": 2}, [2.001, "a"], [2, 1]),
    ({"exclusiveMaximum": 2}, [1.999, "a"], [2, 3]),
    ({"minItems": 2}, [[1, 2], [1, 2, 3], "a"], [[], [1]]),
    ({"maxItems": 2}, [[], [1, 2], "abc"], [[1, 2, 3]]),
    ({"minProperties": 1}, [{"a": 1}, {"a": 1, "b": 2}, [], "a"], [{}]),
    ({"minLength": 2}, ["ab", "abc", [1]], ["", "a"]),
    ({"maxLength": 2}, ["", "ab", [1, 2, 3]], ["abc"]),
    ({"pattern": "^a+$"}, ["a", "aa", 1], ["", "ab"]),
    ({"uniqueItems": True}, [[], [1, 2], "aa"], [[1, 1], ["a", "b", "a"]]),
    ({"uniqueItems": False}, [[1, 1]], []),
    ({"items": {"type": "integer"}}, [[], [1, 2], {"a": "b"}], [[1, "a"]]),
    ({"required": ["a", "b"]}, [{"a": 1, "b": 2}, [], "a"], [{}, {"a": 1}, {"b": 1}]),
    ({"properties": {"a": {"type": "integer"}}}, [{}, {"a": 1}, {"b": "x"}, "a"], [{"a": "x"}]),
    ({"properties": {"a": {}}, "additionalProperties": False}, [{}, {"a": 1}, [1]], [{"b": 1}, {"a": 1, "b": 1}]),
    ({"properties": {"a": {}}, "additionalProperties": True}, [{"b": 1}], []),
    ({"properties": {"a": {}}, "additionalProperties": {"type": "integer"}}, [{"a": "x", "b": 1}], [{"b": "x"}]),
    ({"propertyNames": {"maxLength": 1}}, [{}, {"a": 1}, ["ab"]], [{"ab": 1}]),
    ({"anyOf": TWO}, [0, 2, 5], []),
    ({"anyOf": [{"minimum": 5}, {"maximum": 1}]}, [5, 1], [2]),
    ({"oneOf": TWO}, [0, 4], [1, 2, 3]),
    ({"allOf": TWO}, [1, 3], [0, 4]),
    ({"not": {"minimum": 1}}, [0], [1]),
    ({"if": {"minimum": 5}, "then": {"maximum": 7}, "else": {"maximum": 3}}, [3, 5, 7], [4, 8]),
    ({"if": {"minimum": 5}, "then": {"maximum": 7}}, [4, 7], [8]),
    ({"$ref": "#/$defs/a", "$defs": {"a": {"minimum": 2}}}, [2], [1]),
    ({"title": "a", "description": "b", "x-quantity": "rate", "examples": [1]}, [1, "a"], []),
]


@pytest.mark.parametrize(("schema", "valid", "invalid"), KEYWORDS, ids=lambda each: str(each)[:40])
def test_a_keyword_accepts_and_refuses_at_its_limits(
    schema: dict[str, Any], valid: list[Any], invalid: list[Any]
) -> None:
    for value in [*valid, *invalid]:
        assert conforms(value, schema, schema) is (value in valid and not any(value is one for one in invalid)), value
        assert Draft202012Validator(schema).is_valid(value) is conforms(value, schema, schema), value


def test_a_number_that_is_not_finite_is_no_number_and_an_unknown_keyword_is_an_error() -> None:
    for value in (math.inf, -math.inf, math.nan):
        assert not conforms(value, {"type": "number"}, {})
        assert not conforms(value, {"type": "integer"}, {})
    with pytest.raises(UnknownKeyword, match="multipleOf"):
        conforms(1, {"multipleOf": 2}, {})


def document_of(text: str) -> Document:
    document, _ = parse(Source("t.yaml", text))
    assert document is not None
    return document


def left(text: str, path: Path = ("a",)) -> list[str]:
    document = document_of(text)
    found = [to_finding(Problem("shared-nic", path, ""), document, document.source)]
    return [one.rule for one in waivers.open_findings(found, document, TODAY)]


WAIVER = "# clusterspec: ignore[shared-nic]: x\n"


@pytest.mark.parametrize(("between", "rules"), [(0, []), (18, []), (19, ["shared-nic", "unused-waiver"])])
def test_a_waiver_applies_below_at_most_twenty_lines_of_comment(between: int, rules: list[str]) -> None:
    assert left(WAIVER + "# more\n" * between + "a: 1\n") == rules


@pytest.mark.parametrize(("before", "rules"), [(499, 499 * ["unused-waiver"]), (500, None)])
def test_the_first_five_hundred_waivers_of_a_file_apply(before: int, rules: list[str] | None) -> None:
    other = "".join(f"k{each}: 1  # clusterspec: ignore[shared-nic]: x\n" for each in range(before))
    found = left(f"{other}a: 1  # clusterspec: ignore[shared-nic]: x\n")
    assert found == (rules if rules is not None else ["shared-nic", "unreadable-waiver", *before * ["unused-waiver"]])


@pytest.mark.parametrize(
    ("text", "rules"),
    [
        ("# clusterspec: ignore-file[shared-nic]: x\na: 1\n", []),
        ("a: 1 # clusterspec: ignore-file[shared-nic]: x\n", ["shared-nic", "unreadable-waiver"]),  # not above the key
        ("a: 1 # clusterspec: ignore[shared-nic, shared-nic]: x\n", []),
        ("a: 1 # clusterspec: ignore[shared-nic] until 2026-11-20: x\n", []),  # the last day counts
        ("a: 1\n# clusterspec: ignore[shared-nic]: x\nb: 1\n", ["shared-nic", "unused-waiver"]),
    ],
)
def test_a_waiver_applies_to_its_line_or_its_file_through_its_last_day(text: str, rules: list[str]) -> None:
    assert left(text) == rules


TEXT = "a: 1\nb:\n  c: [1, 22]\n  d: |\n    x\n    y\ne: 'q'\n"


@pytest.mark.parametrize(
    ("path", "at_key", "place", "text"),
    [
        (("a",), False, "1:4", "1"),
        (("a",), True, "1:1", "1"),
        (("b",), False, "2:1", "c: [1, 22]\n  d: |\n    x\n    y"),  # several lines: its key
        (("b", "c"), False, "3:6", "[1, 22]"),
        (("b", "c", 1), False, "3:10", "22"),
        (("b", "c", 9), False, "3:3", ""),  # absent: the key of the nearest present parent
        (("b", "zz", "z"), False, "2:1", ""),
        (("zz",), False, "1:1", ""),
        (("e",), False, "7:4", "'q'"),
        (("e", 0), False, "7:4", ""),  # one value in place of a list
        (("e", 1), False, "7:1", ""),
    ],
)
def test_a_path_has_the_place_of_its_value_its_key_or_its_parent(
    path: Path, at_key: bool, place: str, text: str
) -> None:
    document = document_of(TEXT)
    assert str(locate(document, path, at_key=at_key)) == f"t.yaml:{place}"
    assert text_at(document, path) == text


NESTED: dict[str, Any] = {
    "properties": {
        "a": {"$ref": "#/$defs/list"},
        "b": {"anyOf": [{"type": "string"}, {"properties": {"c": {"type": "integer"}}}]},
    },
    "$defs": {"list": {"type": "array", "items": {"properties": {"c": {"type": "boolean"}}}}},
    "additionalProperties": {"type": "null"},
}


def test_a_path_of_a_schema_goes_through_references_items_and_alternatives() -> None:
    assert node_at(NESTED, ("a", 0, "c")) == {"type": "boolean"}
    assert node_at(NESTED, ("b", "c")) == {"type": "integer"}
    assert node_at(NESTED, ("other",)) == {"type": "null"}
    assert node_at(NESTED, ("b", "other")) == {}
    assert child_node(NESTED["properties"]["b"], NESTED, 0) is None
    assert sorted(mappings_with_key(NESTED, "c")) == [("a",), ("b",)]
    assert mappings_with_key(NESTED, "a") == [()]


def test_a_value_is_shown_on_one_line_of_forty_eight_characters() -> None:
    assert one_line_text("a" * 48) == "a" * 48
    assert one_line_text("a" * 49) == "a" * 47 + "…"
    assert one_line_text("a\tb\nc") == "a b c"


@pytest.mark.parametrize(
    ("node", "expected", "line"),
    [
        ({"type": "integer", "examples": [64]}, "a whole number", "k: 64"),
        ({"type": ["string", "number"]}, "text or a number", ""),
        ({"x-quantity": "rate", "type": "string", "examples": ["4 GB/s"]}, "a quantity", "k: 4 GB/s"),
        ({"enum": ["a"]}, "one of its choices", ""),
        ({"const": 1}, "`1`", ""),
        ({"anyOf": [{"type": "string"}, {"type": "array"}, {"type": "string"}]}, "text or a list", ""),
        ({"oneOf": [{"const": "x"}, {"type": "object"}]}, "`x` or a mapping", ""),
        ({}, "another value", ""),
        ({"type": "array", "examples": [["a", "b"]]}, "a list", "k: [a, b]"),
    ],
)
def test_a_key_says_what_it_takes_and_its_first_example(node: dict[str, Any], expected: str, line: str) -> None:
    assert expected_text(node, {}) == expected
    assert example_line(("k",), node) == line
    assert example_line((), node) == line.removeprefix("k: ")


def test_a_value_has_a_kind_in_words() -> None:
    kinds = [(True, "a truth value"), (1, "a number"), (1.5, "a fraction"), (math.nan, "not a finite number")]
    for value, words in [*kinds, ("x", "text"), (None, "nothing")]:
        assert kind_of(value) == words
