"""What people are told when a document does not fit a schema."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from clusterspec.document import apply_edits, nearest_words, parse, to_finding, validate
from clusterspec.document.schema import edit_distance
from clusterspec.finding import Edit, Finding, Problem, Severity
from clusterspec.source import Position, Source, Span
from tests.effort import each

SCHEMA: dict[str, Any] = {
    "type": "object",
    "additionalProperties": False,
    "required": ["version"],
    "properties": {
        "version": {"const": 1, "x-rule": "unsupported-spec-version", "examples": [1]},
        "nodes": {"type": "integer", "minimum": 1, "maximum": 1000, "examples": [64]},
        "share": {"type": "number", "minimum": 0, "maximum": 1, "examples": [0.4]},
        "name": {"type": "string", "minLength": 1, "maxLength": 9, "examples": ["east"]},
        "date": {"type": "string", "pattern": "^[0-9]{4}$", "examples": ["2026"]},
        "flag": {"type": "boolean"},
        "rate": {"$ref": "#/$defs/rate", "examples": ["400 Gb/s"]},
        "kind": {"type": "string", "enum": ["fat-tree", "torus"], "x-synonyms": {"clos": "fat-tree"}},
        "shape": {"type": "array", "items": {"type": "integer", "minimum": 1}, "minItems": 1, "maxItems": 3},
        "order": {"type": "array", "items": {"type": "string"}, "uniqueItems": True, "examples": [["a", "b"]]},
        "part": {
            "examples": ["h100"],
            "anyOf": [
                {"type": "string"},
                {
                    "type": "object",
                    "additionalProperties": False,
                    "required": ["like"],
                    "properties": {"like": {"type": "string", "examples": ["h100"]}, "nodes_used": {"type": "integer"}},
                },
            ],
        },
        "load": {"anyOf": [{"const": "hidden"}, {"$ref": "#/$defs/rate"}], "examples": ["hidden"]},
        "source": {
            "type": "object",
            "oneOf": [{"required": ["url", "read"]}, {"required": ["recalled"]}],
            "not": {"required": ["a", "b"]},
        },
    },
    "$defs": {"rate": {"type": ["string", "number"], "x-quantity": "rate"}},
}


def found(text: str, schema: dict[str, Any] = SCHEMA) -> tuple[list[Problem], list[Finding]]:
    document, problems = parse(Source("t.yaml", text))
    assert document is not None
    assert problems == []
    problems = validate(document, schema)
    return problems, [to_finding(problem, document, document.source) for problem in problems]


FAULTS = [  # text, place, rule, message, help, fix
    ("nodes: x", "2:8", "wrong-type", "`nodes` takes a whole number, but `x` is text",
     "write a whole number, such as `nodes: 64`", None),
    ("nodes: 3.5", "2:8", "wrong-type", "`nodes` takes a whole number, but `3.5` is a fraction",
     "write a whole number, such as `nodes: 64`", None),
    ("nodes: '64'", "2:8", "wrong-type", "`nodes` takes a whole number, but `'64'` is text", "write `64`", "64"),
    ("nodes: 1,000", "2:8", "wrong-type", "`nodes` takes a whole number, but `1,000` is text", "write `1000`", "1000"),
    ("nodes: 10**18", "2:8", "wrong-type", "`nodes` takes a whole number, but `10**18` is text",
     "write a whole number, such as `nodes: 64`", None),
    ("nodes: 1000000000000000000", "2:8", "wrong-type", "`1000000000000000000` is more than `nodes` can be",
     "write 1,000 or less", None),
    ("nodes: 0", "2:8", "wrong-type", "`0` is less than `nodes` can be", "write 1 or more", None),
    ("nodes: true", "2:8", "wrong-type", "`nodes` takes a whole number, but `true` is a truth value",
     "write a whole number, such as `nodes: 64`", None),
    ("nodes: [1]", "2:8", "wrong-type", "`nodes` takes a whole number, not a list",
     "write a whole number, such as `nodes: 64`", None),
    ("nodes:\n  a: 1\n  b: 2", "2:1", "wrong-type", "`nodes` takes a whole number, not a mapping",
     "write a whole number, such as `nodes: 64`", None),
    ("nodes: .inf", "2:8", "wrong-type", "`nodes` takes a whole number, but `.inf` is not a finite number",
     "write a whole number, such as `nodes: 64`", None),
    ("nodes:", "2:1", "wrong-type", "`nodes` has no value and counts as absent",
     "write a value, such as `nodes: 64`, or delete the line", None),
    ("share: 40 %", "2:8", "wrong-type", "`share` takes a number, but `40 %` is text", "write `0.4`", "0.4"),
    ("share: .nan", "2:8", "wrong-type", "`share` takes a number, but `.nan` is not a finite number",
     "write a number, such as `share: 0.4`", None),
    ("flag: yes", "2:7", "wrong-type", "`flag` takes `true` or `false`, but `yes` is text", "write `true`", "true"),
    ("name: 2026", "2:7", "wrong-type", "`name` takes text, but `2026` is a number", 'write `"2026"`', '"2026"'),
    ("name: ''", "2:7", "wrong-type", "`name` is empty", "write text, such as `name: east`", None),
    ("name: aaaaaaaaaaa", "2:7", "wrong-type", "`name` has 11 characters, and takes at most 9",
     "write text, such as `name: east`", None),
    ("date: may", "2:7", "wrong-type", "`may` is not valid for `date`", "write text, such as `date: 2026`", None),
    ("rate: [1]", "2:7", "wrong-type", "`rate` takes a quantity, not a list",
     "write a quantity, such as `rate: 400 Gb/s`", None),
    ("kind: fat_tree", "2:7", "unknown-choice", "`fat_tree` is not one of the choices of `kind`",
     "write `fat-tree`", "fat-tree"),
    ("kind: flat-tree", "2:7", "unknown-choice", "`flat-tree` is not one of the choices of `kind`",
     "did you mean `fat-tree`? The choices are `fat-tree` or `torus`", "fat-tree"),
    ("kind: Clos", "2:7", "unknown-choice", "`Clos` is not one of the choices of `kind`",
     "did you mean `fat-tree`? The choices are `fat-tree` or `torus`", "fat-tree"),
    ("kind: mesh", "2:7", "unknown-choice", "`mesh` is not one of the choices of `kind`",
     "the choices are `fat-tree` or `torus`", None),
    ("kind: 5", "2:7", "wrong-type", "`kind` takes one of its choices, but `5` is a number",
     "write `fat-tree` or `torus`", None),
    ("shape: []", "2:8", "wrong-type", "`shape` is empty", "write a list", None),
    ("shape: [1, 2, 3, x]", "2:8", "wrong-type", "`shape` has 4 items, and takes at most 3", "write a list", None),
    ("shape: [1, 0]", "2:12", "wrong-type", "`0` is less than item 2 of `shape` can be", "write 1 or more", None),
    ("order: [a, b, a]", "2:15", "wrong-type", "`order` holds `a` twice", "keep each item once", None),
    ("part: 5", "2:7", "wrong-type", "`part` takes text or a mapping, but `5` is a number",
     "write text or a mapping, such as `part: h100`", None),
    ("part: {nodes_used: x, like: a}", "2:20", "wrong-type", "`nodes_used` takes a whole number, but `x` is text",
     "write a whole number", None),
    ("part: {}", "2:1", "missing-key", "`like` is missing in `part`", "write `like: h100`", None),
    ("load: [hidden]", "2:7", "wrong-type", "`load` takes `hidden` or a quantity, not a list",
     "write `hidden` or a quantity, such as `load: hidden`", None),
    ("source: {url: x}", "2:9", "missing-key", "`source` lacks a key", "write `read`, or `recalled`", None),
    ("source: {recalled: 1, a: 1, b: 2}", "2:9", "wrong-type", "`a` and `b` exclude each other",
     "keep one of them", None),
    ("nods: 5", "2:1", "unknown-key", "`nods` is not a key of the top level", "did you mean `nodes`?", "nodes"),
    ("nodes: 5\nNodes: 5", "3:1", "unknown-key", "`Nodes` is not a key of the top level",
     "did you mean `nodes`?", None),
    ("like: a", "2:1", "unknown-key", "`like` is not a key of the top level", "it belongs to `part`", None),
    ("part: {like: a, zzz: 1}", "2:17", "unknown-key", "`zzz` is not a key of `part`",
     "the keys here are like, nodes_used", None),
    ("part: {nodes_used_by: 2, like: a}", "2:8", "unknown-key", "`nodes_used_by` is not a key of `part`",
     "did you mean `nodes_used`?", "nodes_used"),
]  # fmt: skip


@each(("text", "place", "rule", "message", "advice", "fix"), FAULTS)
def test_one_fault_is_one_finding_in_words(
    text: str, place: str, rule: str, message: str, advice: str, fix: str | None
) -> None:
    _, findings = found(f"version: 1\n{text}")
    said = [(str(one.span), one.rule, one.message, one.help, [edit.text for edit in one.edits]) for one in findings]
    assert said == [(f"t.yaml:{place}", rule, message, advice, [] if fix is None else [fix])]


@pytest.mark.parametrize("text", [row[0] for row in FAULTS if row[-1] is not None])
def test_a_fix_leaves_no_fault(text: str) -> None:
    text = f"version: 1\n{text}"
    _, findings = found(text)
    assert found(apply_edits(text, findings[0].edits))[1] == []


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("nodes: 5", "`version` is missing"),
        ("version: 2", "`version` is 1; `2` is not supported"),
        ("version: '1'", "`version` is 1; `'1'` is not supported"),
        ("version: true", "`version` is 1; `true` is not supported"),
        ("version:", "`version` has no value"),
    ],
)
def test_a_key_may_name_the_rule_of_its_faults(text: str, message: str) -> None:
    _, findings = found(text)
    assert [(one.rule, one.message) for one in findings] == [("unsupported-spec-version", message)]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "the file is empty"),
        ("# only a comment", "the file is empty"),
        ("[a]", "the top level is a list"),
        ("a", "the top level is text"),
        ("5", "the top level is a number"),
    ],
)
def test_a_top_level_that_is_no_mapping_is_unreadable(text: str, message: str) -> None:
    _, findings = found(text)
    assert [(one.rule, one.message) for one in findings] == [("unreadable-yaml", message)]


def test_a_key_without_a_value_is_a_warning() -> None:
    assert [one.severity for one in found("version: 1\nnodes:")[1]] == [Severity.WARNING]


def test_many_violations_of_one_list_are_counted() -> None:
    _, findings = found("version: 1\nshape: [0, 0, 0]\n" + "".join(f"k{i}: 1\n" for i in range(1000)))
    assert len([one for one in findings if one.rule == "unknown-key"]) == 41
    assert findings[-1].message == "`k40` and 959 further keys are not known here"
    items = [one.message for one in found("[" + "x," * 999 + "]", {"type": "array", "items": {"type": "integer"}})[1]]
    assert len(items) == 5
    assert items[-1].endswith("994 further items have errors")


def test_schemas_do_not_affect_each_other() -> None:
    assert found("a: 1", {"type": "object", "properties": {"a": {"type": "string"}}})[1]
    assert not found("a: 1", {"type": "object", "properties": {"a": {"type": "integer"}}})[1]


@pytest.mark.parametrize(
    ("word", "known", "meant"),
    [
        ("nicsPerNode", ["nics_per_node", "nodes"], ["nics_per_node"]),
        ("sclae-out", ["scale_up", "scale_out"], ["scale_out"]),
        ("zp", ["tp", "pp", "order"], ["pp", "tp"]),
        ("x", ["tp", "a"], []),
        ("bandwith", ["bandwidth", "axis_bandwidth"], ["bandwidth"]),
        ("y" * 5000, ["y" * 4999], []),
    ],
)
def test_the_nearest_words_come_first(word: str, known: list[str], meant: list[str]) -> None:
    assert nearest_words(word, known) == meant


@given(*[st.text(st.sampled_from("abc"), max_size=6)] * 3)
def test_edits_are_a_distance(one: str, other: str, third: str) -> None:
    assert edit_distance(one, other) == edit_distance(other, one)
    assert (edit_distance(one, other) == 0) == (one == other)
    assert abs(len(one) - len(other)) <= edit_distance(one, other) <= max(len(one), len(other))


def edit(line: int, start: int, end: int, text: str) -> Edit:
    return Edit(Span("t", Position(line, start), Position(line, end)), text)


def test_edits_apply_together_once_and_the_first_of_two_that_overlap() -> None:
    text = "a: é😀x\r\nb: 2\r\n"
    same = edit(1, 4, 6, "Y")
    assert apply_edits(text, [edit(2, 4, 5, "3"), same, same, edit(1, 5, 7, "Z")]) == "a: Yx\r\nb: 3\r\n"
    assert apply_edits("\ufeff" + text, [same]) == "\ufeffa: Yx\r\nb: 2\r\n"
    assert apply_edits(text, []) == text
