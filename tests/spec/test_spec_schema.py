"""The schema, the model and the reader know the same keys; the schema serves an editor."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import is_dataclass
from pathlib import Path
from typing import Any, get_args

import pytest

from clusterspec.document import parse
from clusterspec.document.conforms import child_node, mapping_keys, node_branches, resolved_node
from clusterspec.quantity import Quantity
from clusterspec.source import Path as KeyPath
from clusterspec.source import Source, dotted_path
from clusterspec.spec import RENAMED, keys_of, read, schema, types_of
from clusterspec.spec.model import ClusterSpec, Spec
from clusterspec.units import KINDS
from tests.effort import each, telling
from tests.spec_keys import unknown_keys

ROOT = schema()
HERE = Path(__file__).parent
NAMED = {("pools",), ("jobs",)}
"""The mappings whose keys are names."""
NOT_IN_THE_MODEL = {("clusterspec",), ("extends",)}


def every_key(node: dict[str, Any] = ROOT, path: KeyPath = ()) -> Iterator[tuple[KeyPath, dict[str, Any]]]:
    """Each key of the schema with its node; items of lists, and names of pools and jobs, count as the list or mapping.

    A section that refers to another one has its keys there.
    """
    for name, sub in mapping_keys(node, ROOT).items():
        inner = resolved_node(sub, ROOT)
        yield (*path, name), inner
        if not sub.get("$ref", "").startswith("#/properties/"):
            yield from every_key(inner, (*path, name))
    for item in (child_node(node, ROOT, 0), child_node(node, ROOT, "a name") if path in NAMED else None):
        if item is not None:
            yield from every_key(item, path)


KEYS = dict(every_key())


def fields_of(record: Any, path: KeyPath = ()) -> Iterator[tuple[KeyPath, tuple[Any, ...]]]:
    for key, name in keys_of(record).items():
        options = types_of(record, name)
        yield (*path, key), options
        for option in options:
            inner = next((one for one in get_args(option) if is_dataclass(one)), option)
            again = path in NAMED and (key in keys_of(ClusterSpec) or key in keys_of(Spec))
            if is_dataclass(inner) and inner is not Quantity and not again:
                yield from fields_of(inner, (*path, key))


FIELDS = dict(fields_of(Spec))


def test_the_schema_is_a_draft_2020_12_schema() -> None:
    from jsonschema import Draft202012Validator

    Draft202012Validator.check_schema(ROOT)


def test_the_keys_of_the_schema_are_the_fields_of_the_model() -> None:
    tables = {path for path, options in FIELDS.items() if any("dict" in str(option) for option in options)} - NAMED
    known = {path for path in KEYS if path[:-1] not in tables} - NOT_IN_THE_MODEL
    assert known == set(FIELDS)
    assert RENAMED == {"passes": "pass", "starts": "from"}


def test_a_quantity_of_the_model_has_its_kind_in_the_schema() -> None:
    for path, options in FIELDS.items():
        kinds = {one["x-quantity"] for one in node_branches(KEYS[path], ROOT) if "x-quantity" in one}
        item = child_node(KEYS[path], ROOT, 0)
        if item is not None:
            kinds |= {item["x-quantity"]} if "x-quantity" in item else set()
        mapped = all("dict" in str(option) for option in options if "Quantity" in str(option))
        assert bool(kinds) == ("Quantity" in str(options) and not mapped), dotted_path(path)
        assert kinds <= KINDS.keys()


def test_every_quantity_has_a_largest_value_and_a_unit() -> None:
    for name, node in ROOT["$defs"].items():
        if "x-quantity" in node:
            assert node["x-quantity"] == name
            assert node["x-maximum"] > 0
            assert node["x-unit"] == KINDS[name].unit


def closed(node: Any) -> Iterator[dict[str, Any]]:
    if isinstance(node, dict):
        if node.get("type") == "object":
            yield node
        for value in node.values():
            yield from closed(value)
    elif isinstance(node, list):
        for value in node:
            yield from closed(value)


def test_every_mapping_is_closed() -> None:
    named = [ROOT["properties"][name] for (name,) in NAMED]
    named += [one for one in ROOT["$defs"]["latency"]["anyOf"] if one.get("type") == "object"]  # names of percentiles
    assert all(node["additionalProperties"] is False for node in closed(ROOT) if node not in named)
    assert all(node["additionalProperties"]["additionalProperties"] is False for node in named[: len(NAMED)])


NO_SUBJECT = re.compile(r"(?:Of|Per|Between|Whether|How|What|From|Until|Which|Who|When|Where|Most|Least|Number) ")
VERB = re.compile(
    r"\b(?:is|are|has|have|may|must|does|can|run|lie|join|serve|take|share|attend|predict|sign|form|do|read|mix|took|"
    r"(?!accelerators|nodes|ranks|layers|tokens|heads)[a-z]{3,}s) "
)


@each("path", KEYS)
def test_every_key_has_what_an_editor_shows(path: KeyPath) -> None:
    node = KEYS[path]
    assert node["title"]
    told = node["description"]
    assert told.endswith(".") and VERB.search(told) and not NO_SUBJECT.match(told), "not a sentence with a subject"
    kinds = {one.get("type") for one in node_branches(node, ROOT) if isinstance(one.get("type"), str)}
    shown = (
        "examples" in node or "enum" in node or kinds <= {"boolean", "object"} or child_node(node, ROOT, 0) is not None
    )
    assert shown, "neither examples nor choices"


@telling(2)
@each("path", KEYS)
def test_every_example_default_and_choice_can_be_written(path: KeyPath) -> None:
    node = KEYS[path]
    values = [*node.get("examples", ()), *node.get("enum", ())] + ([node["default"]] if "default" in node else [])
    for value in values:
        assert problems_with(path, value) == []


REQUIRED: dict[KeyPath, dict[str, Any]] = {
    ("pool_links",): {"between": ["a", "b"]},
    ("workload", "serving", "day"): {"from": "20:00", "to": "08:00", "request_rate": 2},
    ("procurement", "tariff"): {"from": "22:00", "to": "06:00", "price": 0.08},
}
"""The keys that items of a list need, by the path of the list."""


def problems_with(path: KeyPath, value: Any) -> list[str]:
    """What is wrong with a spec that holds nothing but one value."""
    tree: Any = value
    for depth in range(len(path) - 1, -1, -1):
        tree = {path[depth]: tree}
        if child_node(KEYS.get(path[:depth], ROOT), ROOT, 0) is not None:
            tree = [REQUIRED.get(path[:depth], {}) | tree]
        elif path[:depth] in NAMED:
            tree = {"a": {"pool": "a"} | tree if path[:depth] == ("jobs",) else tree}
    rest: dict[str, Any] = {"cluster": {}} if path[:1] not in NAMED else {"pools": {}, "jobs": {}}
    tree = {"clusterspec": 1, **rest, **tree}
    document, _ = parse(Source("t.yaml", json.dumps(tree, ensure_ascii=False)))
    assert document is not None
    spec, problems = read(document)
    assert spec.broken == frozenset() or problems
    return [problem.message for problem in problems if problem.rule != "unused-key"]


def key_path(path: KeyPath) -> KeyPath:
    """The path of a key without the items of lists and the names of pools and jobs."""
    named = path[:1] in NAMED
    return tuple(key for depth, key in enumerate(path) if isinstance(key, str) and not (named and depth == 1))


def test_exactly_the_keys_that_nothing_uses_yet_get_a_note() -> None:
    document, _ = parse(Source("t.yaml", (HERE / "every_key.yaml").read_text()))
    assert document is not None
    _, problems = read(document)
    noted = {key_path(one.path) for one in problems if one.rule == "unused-key"}
    assert noted == {path for path, node in KEYS.items() if node.get("x-unused")}


def test_the_sample_of_the_reader_holds_every_key() -> None:
    document, _ = parse(Source("t.yaml", (HERE / "every_key.yaml").read_text()))
    assert document is not None
    assert set(KEYS) <= {key_path(path) for path in document.places}


@pytest.mark.parametrize(("key", "value"), [("memory_fraction", 0), ("memory_fraction", 1e-300), ("request_rate", 0)])
def test_a_divisor_is_never_zero(key: str, value: float) -> None:
    assert problems_with(("workload", "serving", key), value)


def test_every_key_that_the_reader_names_is_a_key_of_the_spec() -> None:
    assert unknown_keys("spec") == []


def test_every_amount_of_money_is_marked_so_that_its_currency_is_explained() -> None:
    money = [path for path, node in KEYS.items() if path[0] == "procurement" and _is_money(path, node)]
    assert len(money) >= 6
    assert [dotted_path(path) for path in money if not KEYS[path].get("x-amount")] == []


def _is_money(path: KeyPath, node: dict[str, Any]) -> bool:
    """Whether a number has the name of a price, a total or a budget, or its description names the currency."""
    number = any(branch.get("type") == "number" for branch in node_branches(node, ROOT))
    named = re.search(r"price|total|budget", str(path[-1])) or "currency" in node.get("description", "")
    return number and bool(named)
