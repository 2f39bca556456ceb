"""The conditions in the index, which spare loading a rule, never silence one that has something to report."""

from __future__ import annotations

import ast
from collections.abc import Mapping

import pytest

from clusterspec import studies
from clusterspec.rules.engine import PartCache
from clusterspec.rules.index import RULES, SILENT
from clusterspec.rules.pages import module
from tests.cli.conftest import ROOT
from tests.effort import each
from tests.settings import SETTINGS
from tools.generate.rule_guards import guard

TEXTS = [path.read_text("utf-8") for path in sorted((ROOT / "examples").glob("*.yaml"))]
"""The texts of pages, and all others of this folder, are tried by `every_check_runs`."""
PARAMETERS = "a, b, c"


@each("text", TEXTS)
def test_a_guard_holds_only_where_the_check_reports_nothing(text: str) -> None:
    facts = studies.study_text(text, SETTINGS, "spec.yaml", ROOT / "examples").facts()
    parts = PartCache(facts)
    for name in SILENT:
        known = parts.arguments_of_check(RULES[name][1])
        if known is not None and SILENT[name](*known):
            assert list(module(name).check(*known)) == [], f"{name} has something to report on\n{text}"


def test_nearly_every_rule_has_a_guard() -> None:
    judged = {name for name, (_, needs) in RULES.items() if needs}
    assert len(judged - SILENT.keys()) < 10


def silent(body: str, values: Mapping[str, object], before: str = "") -> bool:
    """Whether the guard of a check of these statements holds for parameters of these values."""
    lines = "".join(f"    {line}\n" for line in body.splitlines())
    text = guard(ast.parse(f"{before}\ndef check({PARAMETERS}):\n{lines}"), "some-rule")
    return bool(text) and bool(eval(f"lambda {PARAMETERS}: {text}")(*(values.get(name, 0) for name in "abc")))


@each(
    ("body", "values", "expected"),
    [
        ("if a: return\nyield 1", {"a": 1}, True),
        ("if a: return\nyield 1", {"a": 0}, False),
        ("if a: yield 1\nif b: yield 2", {}, True),
        ("if a: yield 1\nif b: yield 2", {"b": 1}, False),
        ("if a: yield 1\nelif b: yield 2", {"a": 1, "b": 0}, False),
        ("if a: yield 1\nelif b: yield 2", {"a": 0, "b": 0}, True),
        ("for x in a: yield x", {"a": ()}, True),
        ("for x in a: yield x", {"a": (0,)}, False),
        ("for x in a:\n    if x > b: yield x", {"a": (1, 2), "b": 2}, True),
        ("for x in a:\n    if x > b: yield x", {"a": (1, 3), "b": 2}, False),
        ("for x in a:\n    if x == b: continue\n    yield x", {"a": (2, 2), "b": 2}, True),
        ("for x in a:\n    if x == b: continue\n    yield x", {"a": (2, 1), "b": 2}, False),
        ("x = a + 1\nif x > b: yield x", {"a": 1, "b": 2}, True),
        ("x = 1\nif a: x = 5\nif x > b: yield x", {"a": 0, "b": 2}, True),
        ("x = 1\nif a: x = 5\nif x > b: yield x", {"a": 1, "b": 2}, False),
        ("x = 1\nfor y in a: x = y\nif x > b: yield x", {"a": (5,), "b": 2}, False),
        ("if a: x = 1\nelse: return\nif x > b: yield x", {"a": 0}, True),
        ("if a: x = 1\nelse: return\nif x > b: yield x", {"a": 1, "b": 0}, False),
        ("if a or unknown(b): return\nyield 1", {"a": 1}, True),
        ("if a or unknown(b): return\nif c: yield 1", {"a": 0, "c": 0}, False),
        ("if a and unknown(b): yield 1", {"a": 0}, True),
        ("if a and unknown(b): yield 1", {"a": 1}, False),
        ("a += 1\nif a: yield 1", {"a": -1}, False),
        ("while a: yield 1", {"a": 0}, False),
    ],
)
def test_a_guard_follows_the_statements_of_a_check(body: str, values: dict[str, object], expected: bool) -> None:
    assert silent(body, values) is expected


@pytest.mark.parametrize(
    ("before", "body", "values", "expected"),
    [
        ("def more(x):\n    y = x + 1\n    return y if x else 0", "if more(a): yield 1", {"a": 0}, True),
        ("def more(x):\n    y = x + 1\n    return y if x else 0", "if more(a): yield 1", {"a": 1}, False),
        ("def each(x):\n    for y in x: yield y", "yield from each(a)", {"a": ()}, True),
        ("def each(x):\n    for y in x: yield y", "yield from each(a)", {"a": (1,)}, False),
        ("MOST = 3", "if a > MOST: yield 1", {"a": 3}, True),
        ("MOST = 3", "if a > MOST: yield 1", {"a": 4}, False),
        ("MOST = 3\n", "MOST = b\nif a > MOST: yield 1", {"a": 3, "b": 1}, False),
    ],
)
def test_a_guard_writes_out_literals_and_functions(
    before: str, body: str, values: dict[str, object], expected: bool
) -> None:
    assert silent(body, values, before) is expected


def test_a_reassigned_variable_ends_the_guard() -> None:
    assert silent("x = b\nfor y in a:\n    if x > y: yield y", {"a": ()}) is True
    assert silent("x = b\nfor b in a:\n    if x > b: yield b", {"a": ()}) is False
