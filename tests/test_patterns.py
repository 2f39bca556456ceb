"""No regular expression takes more than linear time: each is pumped with repeated characters and its steps counted."""

from __future__ import annotations

import ast
import importlib
import pkgutil
import re
from collections import defaultdict
from collections.abc import Iterator
from functools import cache
from inspect import getsource
from math import inf
from re import _parser as parser  # type: ignore[attr-defined]
from types import ModuleType
from typing import Any

import pytest

import clusterspec
from clusterspec.standard import _Pattern
from tests.backtracking import Program, pumped, steps
from tests.effort import ALL_CASES, sampled

SHORT, LONG = 12, 24
FEW, MOST = 6, 300
"""Steps for each character that are not worth a comparison, and those after which a matcher is stopped: a hundred words
that are tried at each character take as many.
"""
METHODS = {"search", "match", "fullmatch", "sub", "findall", "finditer", "split"}
LINEAR = 2.6
"""The most that the steps may grow where a text grows to twice its length; with quadratic steps it is nearly 4."""


def modules() -> Iterator[ModuleType]:
    """A quarter of the modules of the package, all in `make test-all`: their patterns take seconds to compile."""
    names = [each.name for each in pkgutil.walk_packages(clusterspec.__path__, "clusterspec.")]
    for name in sampled(names, len(names)):
        if not name.endswith("__main__"):
            yield importlib.import_module(name)


def compiled(value: object) -> Iterator[tuple[str, int]]:
    """The patterns in a value: itself, or those that it holds."""
    if isinstance(value, _Pattern):
        value = re.compile(*value._given)
    if isinstance(value, re.Pattern):
        text = value.pattern
        yield text.decode("latin-1") if isinstance(text, bytes) else text, value.flags & ~re.UNICODE
    elif isinstance(value, tuple | list):
        for each in value:
            yield from compiled(each)
    elif isinstance(value, dict):
        yield from compiled([*value.values()])


def flags_of(call: ast.Call) -> int:
    named = [word.value for word in call.keywords if word.arg == "flags"]
    wanted = " ".join(ast.unparse(each) for each in [*call.args[1:], *named])
    names = re.findall(r"re\.([A-Z]+)", wanted)
    return sum({getattr(re, name).value for name in names})


def calls(module: ModuleType) -> Iterator[tuple[str, str, ast.Call]]:
    """The name on which each method of patterns is called in a module, the method and the call."""
    source = getsource(module)
    if not any(f".{method}(" in source for method in METHODS):
        return
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in METHODS:
            yield ast.unparse(node.func.value), node.func.attr, node


@cache
def patterns() -> dict[tuple[str, int], set[str]]:
    """The patterns of all modules, with the methods by which they are used (search, where the name does not tell)."""
    found: dict[tuple[str, int], set[str]] = defaultdict(set)
    for module in modules():
        held = {name: [*compiled(value)] for name, value in vars(module).items()}
        if not (any(held.values()) or "re." in getsource(module)):
            continue
        used: dict[str, set[str]] = defaultdict(set)
        for name, method, call in calls(module):
            used[name].add(method)
            if name == "re" and isinstance(call.args[0], ast.Constant):
                text = call.args[0].value
                found[str(text, "latin-1") if isinstance(text, bytes) else str(text), flags_of(call)].add(method)
        for name, value in vars(module).items():
            for each in held[name]:
                found[each] |= used.get(name, {"search"} if not isinstance(value, _Pattern | re.Pattern) else set())
    return {pattern: methods or {"search"} for pattern, methods in found.items()}


def growth(text: str, flags: int, method: str) -> tuple[float, str]:
    """How much the steps grow from a text to one of twice the length, at worst, and that text."""
    program = Program(text, flags)
    if not program.unbounded:
        return 1.0, ""
    worst = (1.0, "")
    for short, long in zip(pumped(program.example, SHORT), pumped(program.example, LONG), strict=True):
        most = MOST * max(len(long), LONG)
        many = steps(program, long, method, most)
        if many == most:
            return inf, long
        if many > FEW * LONG:
            worst = max(worst, (many / steps(program, short, method, most), long))
    return worst


def test_no_pattern_takes_more_than_linear_time() -> None:
    known = patterns()
    assert len(known) > (250 if ALL_CASES else 60)
    slow = {
        (text, method): where
        for (text, flags), methods in sampled(known.items(), 12)
        for method in methods
        if (where := growth(text, flags, method))[0] > LINEAR
    }
    assert slow == {}


@pytest.mark.parametrize(
    ("text", "method"),
    [
        (r"\s*(.*?)\s*$", "match"),
        (r"\s+$", "search"),
        (r"^\s*name\s*:", "search"),
        (r"(a+)+b", "match"),
        (r"(?:a|a)*b", "match"),
        (r"values:\s*\n?\s*-", "match"),
        (r"<b>.*?</b>", "finditer"),
        (r"[a-z]+=", "finditer"),
        (r"x[0-9]*[0-9]*y", "match"),
        (r'"(?:[^"\\]|\\.|[^"])*"', "match"),
    ],
)
def test_a_pattern_that_backtracks_is_found(text: str, method: str) -> None:
    assert growth(text, re.MULTILINE, method)[0] > LINEAR


@pytest.mark.parametrize(
    ("text", "method"),
    [
        (r"\s*+-", "match"),
        (r"^[ \t]*name\s*:", "search"),
        (r"(?>a+)b", "match"),
        (r"<b>[^<]*</b>", "finditer"),
        (r"(?<![a-z])[a-z]+=", "finditer"),
        (r"\b\w{1,9}\b", "finditer"),
        (r"a.{0,200}?b", "search"),
    ],
)
def test_a_pattern_that_does_not_is_passed(text: str, method: str) -> None:
    assert growth(text, re.MULTILINE, method)[0] <= LINEAR


def _possessive_groups(items: Any, inside: bool = False) -> Iterator[Any]:
    """The possessive repetitions of more than one sign that stand inside of a capturing group."""
    for name, value in items:
        operator = str(name)
        if operator == "POSSESSIVE_REPEAT" and inside and len(value[2]) > 1:
            yield value
        parts = value if isinstance(value, tuple | list) else (value,)
        within = inside or (operator == "SUBPATTERN" and value[0] is not None)
        for part in parts:
            for each in part if isinstance(part, list) else [part]:
                if isinstance(each, parser.SubPattern):
                    yield from _possessive_groups(each, within)


def test_no_pattern_needs_a_python_newer_than_the_oldest_supported() -> None:
    """Python 3.11.2, which Debian 12 has, matches nothing where a group repeats possessively inside a capturing one."""
    assert list(_possessive_groups(parser.parse(r"(?P<text>(?:(?!x)[^\n]*\n)*+)x")))
    found = {text for text, flags in patterns() if list(_possessive_groups(parser.parse(text, flags)))}
    assert found == set()
