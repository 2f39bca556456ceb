"""JSON as printed: the text that the encoder of the standard library writes, and nothing that JSON does not hold."""

from __future__ import annotations

import json
from enum import IntEnum
from typing import Any, NamedTuple

import pytest
from hypothesis import given
from hypothesis import strategies as st

from clusterspec.report.json_text import indented_json, json_text
from tests.effort import each, thorough

SCALARS = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text()
KEYS = st.text() | st.integers() | st.booleans() | st.none() | st.floats(allow_nan=False, allow_infinity=False)
VALUES = st.recursive(
    SCALARS,
    lambda inner: st.lists(inner) | st.lists(inner).map(tuple) | st.dictionaries(KEYS, inner),
    max_leaves=20,
)


class Level(IntEnum):
    NOTE = 1


class Pair(NamedTuple):
    low: float
    high: float


class Name(str):
    __slots__ = ()


@thorough
@given(VALUES, st.sampled_from(["", " ", "  "]))
def test_an_indented_document_is_that_of_the_standard_library(value: Any, indent: str) -> None:
    assert indented_json(value, indent) == json.dumps(value, indent=indent, ensure_ascii=False)


@each(
    "value", [Level.NOTE, {"level": Level.NOTE}, Pair(0.5, 1e300), [Pair(-0.0, 1)], {Name("a"): Name("b")}, {1.5: ()}]
)
def test_subclasses_are_written_as_the_standard_library_writes_them(value: Any) -> None:
    assert indented_json(value, "  ") == json.dumps(value, indent=2)


@each("number", [float("nan"), float("inf"), float("-inf")])
def test_no_document_holds_what_is_no_number(number: float) -> None:
    for value in (number, [number], {"step_time": number}, {number: 1}):
        for indent in (2, None):
            with pytest.raises(ValueError, match="JSON"):
                json_text(value, indent)


@each("value", [{1}, {"a": object()}, {(1, 2): 3}, b"bytes"])
def test_what_json_cannot_hold_is_refused(value: Any) -> None:
    with pytest.raises(TypeError):
        json_text(value)


def test_a_document_by_hand() -> None:
    document = {"file": "a##b", "sizes": [1, 2.0], "left": {}, "fits": True}
    lines = [
        "{",
        '  "file": "a#\\u0023b",',
        '  "sizes": [',
        "    1,",
        "    2.0",
        "  ],",
        '  "left": {},',
        '  "fits": true',
        "}",
    ]
    assert json_text(document).splitlines() == lines
    assert json_text({"a": [1, None]}, None) == '{"a": [1, null]}\n'
