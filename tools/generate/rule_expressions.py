"""Expressions of a rule's check, written over its parameters only.

Previously assigned names, module literals and functions that only compute an expression are substituted, wherever in
the project they are defined.
"""

from __future__ import annotations

import ast
import builtins
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any, cast

from clusterspec.records import dataclass, replace

ROOT = Path(__file__).resolve().parents[2]
_ALLOWED = (
    ast.BoolOp, ast.And, ast.Or, ast.UnaryOp, ast.Not, ast.USub, ast.Compare, ast.Load, ast.Store, ast.Constant,
    ast.Attribute, ast.BinOp, ast.Mult, ast.Add, ast.Sub, ast.Mod, ast.FloorDiv, ast.Div, ast.Pow, ast.Set, ast.Tuple,
    ast.Dict, ast.IfExp, ast.Subscript, ast.Slice, ast.Starred, ast.BitOr, ast.BitAnd,
    ast.Eq, ast.NotEq, ast.Lt, ast.LtE, ast.Gt, ast.GtE, ast.Is, ast.IsNot, ast.In, ast.NotIn,
)  # fmt: skip
_IN_LITERALS = (ast.Name, ast.Call, ast.List, ast.LShift)
_BUILTINS = frozenset(
    {"abs", "all", "any", "bool", "enumerate", "float", "getattr", "int", "len", "max", "min", "round", "sum"}
)
DEEPEST = 6
"""Functions within functions that are written out."""


class _UnfitError(Exception):
    """An expression needs what no parameter has."""


@dataclass(frozen=True)
class Module:
    """The names that a module defines: functions, literals, and imports from the project."""

    functions: Mapping[str, ast.FunctionDef]
    literals: Mapping[str, ast.expr]
    imported: Mapping[str, tuple[str, str]]


@dataclass(frozen=True)
class Scope:
    """The names that statements may use: each is an expression over the parameters, or stays (None) as it is."""

    module: Module
    rule: str
    names: Mapping[str, ast.expr | None]
    depth: int = 0

    @classmethod
    def of_check(cls, tree: ast.Module, rule: str, parameters: Sequence[str], depth: int) -> Scope:
        """The scope in which the check of a rule begins."""
        return cls(_module_of(tree), rule, dict.fromkeys(parameters), depth)

    def inlined(self, node: ast.expr) -> str:
        """An expression over the parameters; empty where it is none."""
        try:
            return ast.unparse(self.expression(node, frozenset()))
        except _UnfitError:
            return ""

    def prefix(self, test: ast.expr, operator: type[ast.boolop]) -> tuple[str, bool]:
        """The first operands of ``a or b`` (or ``a and b``) that are expressions over the parameters, and whether all
        are; of another test the whole. Without any it is the value that decides nothing."""
        if whole := self.inlined(test):
            return whole, True
        taken = []
        if isinstance(test, ast.BoolOp) and isinstance(test.op, operator):
            for operand in test.values:
                text = self.inlined(operand)
                if not text:
                    break
                taken.append(f"({text})")
        word = " or " if operator is ast.Or else " and "
        return word.join(taken) or ("False" if operator is ast.Or else "True"), False

    def assigned(self, target: ast.expr, value: ast.expr) -> Scope | None:
        """The scope after an assignment; None where a target is no plain name."""
        pairs: list[tuple[ast.expr, ast.expr | None]] = [(target, value)]
        if isinstance(target, ast.Tuple):
            values = value.elts if isinstance(value, ast.Tuple) else [None] * len(target.elts)
            pairs = list(zip(target.elts, values, strict=False))
        names = dict(self.names)
        for name, one in pairs:
            if not isinstance(name, ast.Name):
                return None
            try:
                if one is None:
                    raise _UnfitError
                names[name.id] = self.expression(one, frozenset())
            except _UnfitError:
                names.pop(name.id, None)
        return replace(self, names=names)

    def scope_after(self, node: ast.stmt) -> Scope:
        """The scope after a branch or a loop: what is assigned inside may have changed."""
        changed = {part.id for part in ast.walk(node) if isinstance(part, ast.Name) and isinstance(part.ctx, ast.Store)}
        return replace(self, names={name: value for name, value in self.names.items() if name not in changed})

    def loop_scope(self, target: ast.expr) -> Scope | None:
        """The scope inside a loop; None where a variable of the loop hides a name that an expression uses."""
        variables = {node.id for node in ast.walk(target) if isinstance(node, ast.Name)}
        used = {name for value in self.names.values() if value is not None for name in _names_in(value)}
        if variables & (used | {name for name, value in self.names.items() if value is None}):
            return None
        return replace(self, names={**self.names, **dict.fromkeys(variables)})

    def called_statements(self, call: ast.Call) -> tuple[list[ast.stmt], Scope] | None:
        """The statements of a function of the module, and the scope in which they begin."""
        function = self.module.functions.get(call.func.id) if isinstance(call.func, ast.Name) else None
        if function is None or self.depth >= DEEPEST:
            return None
        try:
            return function.body, self._scope_of_call(self.module, function, call, frozenset())
        except _UnfitError:
            return None

    def expression(self, node: ast.expr, bound: frozenset[str]) -> ast.expr:
        """An expression with every name in place; ``bound`` are variables of comprehensions around it."""
        match node:
            case ast.Name(id=name):
                return node if name in bound else self._value_of_name(node, bound)
            case ast.Attribute(value=ast.Name("RULE"), attr="name"):
                return ast.Constant(self.rule)
            case ast.Call(func=ast.Name(id=name)) if name not in _BUILTINS:
                return self._expanded_call(node, bound)
            case ast.Call():
                return ast.Call(
                    node.func if isinstance(node.func, ast.Name) else self.expression(node.func, bound),
                    [self.expression(one, bound) for one in node.args],
                    [ast.keyword(one.arg, self.expression(one.value, bound)) for one in node.keywords],
                )
            case ast.GeneratorExp() | ast.ListComp() | ast.SetComp():
                return self._comprehension(node, bound)
        if not isinstance(node, _ALLOWED):
            raise _UnfitError
        made: type[Any] = type(node)
        return cast(
            ast.expr, made(**{name: self._with_expressions(value, bound) for name, value in ast.iter_fields(node)})
        )

    def _with_expressions(self, value: object, bound: frozenset[str]) -> object:
        if isinstance(value, list):
            return [self._with_expressions(one, bound) for one in value]
        return self.expression(value, bound) if isinstance(value, ast.expr) else value

    def _value_of_name(self, node: ast.Name, bound: frozenset[str]) -> ast.expr:
        name = node.id
        if name in self.names:
            value = self.names[name]
            if value is not None and bound & _names_in(value):
                raise _UnfitError
            return node if value is None else value
        found = _literal(self.module, name)
        if found is None:
            raise _UnfitError
        return found

    def _comprehension(self, node: ast.GeneratorExp | ast.ListComp | ast.SetComp, bound: frozenset[str]) -> ast.expr:
        generators = []
        for one in node.generators:
            iterated = self.expression(one.iter, bound)
            bound |= {part.id for part in ast.walk(one.target) if isinstance(part, ast.Name)}
            tests = [self.expression(test, bound) for test in one.ifs]
            generators.append(ast.comprehension(one.target, iterated, tests, 0))
        return type(node)(self.expression(node.elt, bound), generators)

    def _expanded_call(self, call: ast.Call, bound: frozenset[str]) -> ast.expr:
        """A call of a function that only computes an expression, written out."""
        assert isinstance(call.func, ast.Name)
        found = _function(self.module, call.func.id)
        if found is None or self.depth >= DEEPEST:
            raise _UnfitError
        module, function = found
        return self._scope_of_call(module, function, call, bound)._result(function.body)

    def _result(self, body: Sequence[ast.stmt]) -> ast.expr:
        """The value that statements return, if they are assignments, conditions and returns."""
        scope = self
        for position, node in enumerate(body):
            match node:
                case ast.Expr(ast.Constant()):
                    continue
                case ast.Assign(targets=[target], value=value):
                    assigned = scope.assigned(target, value)
                    if assigned is None:
                        raise _UnfitError
                    scope = assigned
                case ast.If(test=test, body=[ast.Return(ast.expr() as value)], orelse=orelse):
                    test, value = scope.expression(test, frozenset()), scope.expression(value, frozenset())
                    return ast.IfExp(test, value, scope._result([*orelse, *body[position + 1 :]]))
                case ast.Return(ast.expr() as value):
                    return scope.expression(value, frozenset())
                case _:
                    raise _UnfitError
        raise _UnfitError

    def _scope_of_call(self, module: Module, function: ast.FunctionDef, call: ast.Call, bound: frozenset[str]) -> Scope:
        """The scope in which a called function begins."""
        spec = function.args
        decorated = any(not ast.unparse(one).startswith("formula(") for one in function.decorator_list)
        if spec.vararg or spec.kwarg or spec.posonlyargs or decorated:
            raise _UnfitError
        given = dict(zip((one.arg for one in spec.args), call.args, strict=False))
        given |= {one.arg: one.value for one in call.keywords if one.arg}
        defaults = dict(zip((one.arg for one in reversed(spec.args)), reversed(spec.defaults), strict=False))
        names: dict[str, ast.expr | None] = {}
        for one in spec.args:
            value = given.get(one.arg, defaults.get(one.arg))
            if value is None:
                raise _UnfitError
            names[one.arg] = self.expression(value, bound)
        return Scope(module, self.rule, names, self.depth + 1)


def _names_in(node: ast.expr) -> set[str]:
    """The names in an expression."""
    return {one.id for one in ast.walk(node) if isinstance(one, ast.Name) and not hasattr(builtins, one.id)}


@cache
def _module(name: str) -> Module | None:
    """A module of the project by its dotted name."""
    path = ROOT.joinpath(*name.split("."))
    file = path / "__init__.py" if path.is_dir() else path.with_suffix(".py")
    return _module_of(ast.parse(file.read_text("utf-8"))) if name.startswith("clusterspec.") and file.exists() else None


def _module_of(tree: ast.Module) -> Module:
    imports = [node for node in tree.body if isinstance(node, ast.ImportFrom) and node.module]
    imported = {name.asname or name.name: (node.module or "", name.name) for node in imports for name in node.names}
    functions = {node.name: node for node in tree.body if isinstance(node, ast.FunctionDef)}
    return Module(functions, dict(_literals(tree)), imported)


def _literals(tree: ast.Module) -> Iterator[tuple[str, ast.expr]]:
    """The literals that a module names; a frozen set of literals is one."""
    for node in tree.body:
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
            value = node.value
            if isinstance(value, ast.Call) and isinstance(value.func, ast.Name) and value.func.id == "frozenset":
                value = value.args[0] if value.args else value
            names = {part.id for part in ast.walk(value) if isinstance(part, ast.Name)}
            if names <= {"float"} and all(isinstance(part, (*_ALLOWED, *_IN_LITERALS)) for part in ast.walk(value)):
                yield node.targets[0].id, value


def _literal(module: Module, name: str) -> ast.expr | None:
    if name in module.literals:
        return module.literals[name]
    source = _module(module.imported[name][0]) if name in module.imported else None
    return _literal(source, module.imported[name][1]) if source else None


def _function(module: Module, name: str) -> tuple[Module, ast.FunctionDef] | None:
    if name in module.functions:
        return module, module.functions[name]
    source = _module(module.imported[name][0]) if name in module.imported else None
    return _function(source, module.imported[name][1]) if source else None
