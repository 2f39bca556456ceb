"""The quick validator and jsonschema agree on every document, so that one may answer for the other."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from jsonschema import Draft202012Validator

from clusterspec.document.conforms import _ANNOTATIONS, _KEYWORDS, conforms
from clusterspec.document.schema import _cached_validator
from clusterspec.spec import schema
from tests.cli.hostile import VALUES, changed, changes
from tests.effort import each, examples  # noqa: F401 - the profile of the property tests


def agreed(value: Any) -> bool:
    """What both answer."""
    ours = conforms(value, schema(), schema())
    assert ours == _cached_validator(schema()).is_valid(value)
    return ours


@each("name", sorted(VALUES))
def test_sound_specs_conform(name: str) -> None:
    assert agreed(VALUES[name])


@given(st.sampled_from(sorted(VALUES)), st.lists(changes(), min_size=1, max_size=3))
def test_validator_and_jsonschema_agree_on_mutated_specs(name: str, made: list[tuple[Any, Any]]) -> None:
    tree = json.loads(json.dumps(VALUES[name]))
    for path, value in made:
        changed(tree, path, value)
    agreed(tree)


JUNK = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=10,
)


@given(JUNK)
def test_validator_and_jsonschema_agree_on_any_value(value: Any) -> None:
    agreed(value)


ALIKE = st.sampled_from([0, 1, 0.0, 1.0, True, False, None, "", "1", [], [1], [True], [1.0], {}, {"a": 1}, {"a": True}])
NESTED = st.recursive(
    ALIKE, lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.just("a"), inner), max_leaves=4
)


@given(st.lists(NESTED, max_size=4), NESTED)
def test_equality_is_that_of_json_as_in_jsonschema(values: list[Any], other: Any) -> None:
    for node in ({"uniqueItems": True}, {"const": other}, {"enum": [other]}):
        for value in (values, *values):
            assert conforms(value, node, node) == Draft202012Validator(node).is_valid(value), (node, value)


@pytest.mark.parametrize(
    ("values", "unique"),
    [
        ([1, True], True),
        ([0, False], True),
        ([1, 1.0], False),
        ([[1], [1.0]], False),
        ([{"a": 1, "b": 2}, {"b": 2, "a": 1.0}], False),
        ([{"a": 1}, {"a": True}], True),
        (["1", 1], True),
        ([*range(1500), 0], False),
    ],
)
def test_items_are_unique_unless_their_values_are_equal(values: list[Any], unique: bool) -> None:
    node = {"uniqueItems": True}
    assert conforms(values, node, node) is unique


def test_every_keyword_of_the_schema_is_known() -> None:
    waiting: list[Any] = [schema()]
    for node in waiting:
        used = {key for key in node if not key.startswith("x-")} - _ANNOTATIONS
        assert used <= _KEYWORDS.keys()
        for key in ("properties", "$defs"):
            waiting += node.get(key, {}).values()
        waiting += [node[key] for key in ("items", "additionalProperties", "not") if isinstance(node.get(key), dict)]
        waiting += [part for key in ("anyOf", "oneOf", "allOf") for part in node.get(key, ())]
