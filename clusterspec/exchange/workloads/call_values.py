"""Keywords of all calls in a file of Python, read from its syntax tree: nothing is imported or executed.

A name stands for its value if one statement of the file assigns it; an attribute (``common.max_sequence_length``) for
the value that the calls of the file give a keyword of its name, if these agree. A value that a command line may replace
(``opts.length or LENGTH``) is its default.
"""

from __future__ import annotations

import ast
from collections import defaultdict
from collections.abc import Iterator, Mapping
from typing import Any

from clusterspec.exchange.import_result import FormatError, InputFile
from clusterspec.exchange.workloads.config_code import UNKNOWN, constant_value, dotted_name, syntax_tree
from clusterspec.records import NamedTuple


class KeywordValue(NamedTuple):
    """A keyword of a call: the dotted name of what is called, the value or the dotted name of it, and the line.

    ``value`` is `UNKNOWN` for an expression that the file does not decide.
    """

    called: str
    keyword: str
    value: Any
    name: str
    line: int

    @property
    def is_known(self) -> bool:
        return self.value is not UNKNOWN


def keyword_values(file: InputFile) -> list[KeywordValue]:
    """The keywords of all calls of a file. Raises `FormatError` if it is no Python, too large or nested too deeply."""
    tree = syntax_tree(file, "Python")
    try:
        names, calls = _assigned_once(tree), [node for node in ast.walk(tree) if isinstance(node, ast.Call)]
        first = list(_keywords(calls, names, {}))
        return list(_keywords(calls, names, _agreed(first)))
    except RecursionError:
        raise FormatError("its expressions are nested too deeply") from None


def _assigned_once(tree: ast.Module) -> dict[str, ast.Constant]:
    """The values of names that exactly one statement of a file assigns, each with its line."""
    counted, values = defaultdict[str, int](int), dict[str, ast.Constant]()
    for node in ast.walk(tree):
        targets = node.targets if isinstance(node, ast.Assign) else _changed(node)
        for target in targets:
            for name in (each.id for each in ast.walk(target) if isinstance(each, ast.Name)):
                counted[name] += 1
        if isinstance(node, ast.Assign | ast.AnnAssign) and node.value is not None:
            target = node.targets[0] if isinstance(node, ast.Assign) else node.target
            if isinstance(target, ast.Name):
                value = _value_of(node.value, values, {})
                values[target.id] = ast.Constant(value, lineno=_line_of_value(node.value, values))
    return {name: held for name, held in values.items() if counted[name] == 1 and held.value is not UNKNOWN}


def _line_of_value(node: ast.expr, names: Mapping[str, ast.Constant]) -> int:
    """The line of an expression, or of the value of a name."""
    return names[node.id].lineno if isinstance(node, ast.Name) and node.id in names else node.lineno


def _changed(node: ast.AST) -> list[ast.expr]:
    """What a statement other than a plain assignment binds."""
    if isinstance(node, ast.AnnAssign | ast.AugAssign | ast.For | ast.NamedExpr):
        return [node.target]
    return [ast.Name(node.arg)] if isinstance(node, ast.arg) else []


def _keywords(calls: list[ast.Call], names: Mapping[str, Any], attributes: Mapping[str, Any]) -> Iterator[KeywordValue]:
    for call in calls:
        called = dotted_name(call.func)
        for keyword in call.keywords:
            if keyword.arg:
                value = _value_of(keyword.value, names, attributes)
                named = keyword.value.func if isinstance(keyword.value, ast.Call) else keyword.value
                yield KeywordValue(called, keyword.arg, value, dotted_name(named), _line_of_value(keyword.value, names))


def _agreed(found: list[KeywordValue]) -> dict[str, Any]:
    """The values in which all known keywords of a name agree."""
    values = defaultdict[str, set[int | float]](set)
    for each in found:
        if isinstance(each.value, int | float):
            values[each.keyword].add(each.value)
    return {name: held.pop() for name, held in values.items() if len(held) == 1}


def _value_of(node: ast.expr, names: Mapping[str, ast.Constant], attributes: Mapping[str, Any]) -> Any:
    """The value of an expression of constants, names and attributes, and of a default (``given or LENGTH``)."""

    def known(inner: ast.expr) -> Any:
        if isinstance(inner, ast.Name):
            return names[inner.id].value if inner.id in names else UNKNOWN
        if isinstance(inner, ast.BoolOp) and isinstance(inner.op, ast.Or):
            return constant_value(inner.values[-1], known)
        return attributes.get(inner.attr, UNKNOWN) if isinstance(inner, ast.Attribute) else UNKNOWN

    return constant_value(node, known)
