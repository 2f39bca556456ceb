"""Configurations that Python functions return, read from the syntax tree: nothing is imported or executed.

A function returns a call such as ``Trainer.Config(training=TrainingConfig(steps=10))``, or takes the configuration of
another function and assigns attributes: ``config.training.steps = 10``. Values are constants and arithmetic on them.
"""

from __future__ import annotations

import ast
import operator
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from clusterspec.exchange.import_result import FormatError, InputFile
from clusterspec.records import dataclass, field

LARGEST = 512 * 1024
DEEPEST = 8
"""Maximum number of functions in a chain, each of which takes the configuration that the next one returns."""
_LARGEST_EXPONENT = 64


def _power(base: float, exponent: float) -> float:
    """A power of a small exponent. Raises `OverflowError` for any other."""
    if not isinstance(exponent, int) or not 0 <= exponent <= _LARGEST_EXPONENT:
        raise OverflowError
    return float(base**exponent) if isinstance(base, float) else int(base**exponent)


_ARITHMETIC: Mapping[type[ast.operator], Callable[[Any, Any], Any]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.FloorDiv: operator.floordiv,
    ast.Div: operator.truediv,
    ast.Pow: _power,
}
_LARGEST_NUMBER = 10**15


@dataclass
class CodeConfig:
    """The values of one configuration by dotted name, each with its line.

    ``classes`` are the classes that were called, by the name of their value; ``base`` is the function that began the
    configuration and is not in the file; ``changed_by`` is a function outside the file that takes the configuration and
    returns another;
    ``undecided`` are assignments within branches, ``open`` values that the file does not decide, with their lines.
    """

    values: dict[str, tuple[Any, int]] = field(default_factory=dict)
    classes: dict[str, tuple[str, int]] = field(default_factory=dict)
    base: str = ""
    changed_by: str = ""
    undecided: list[tuple[str, int]] = field(default_factory=list)
    open: list[tuple[str, int]] = field(default_factory=list)

    def clear(self, prefix: str) -> None:
        """Remove a value and all below it."""
        for held in (self.values, self.classes):
            for name in [each for each in held if each == prefix or each.startswith(f"{prefix}.")]:
                del held[name]

    def is_open(self, *names: str) -> bool:
        """Whether the file has a value of one of these names that it does not decide."""
        return not {name for name, _ in self.open}.isdisjoint(names)


def syntax_tree(file: InputFile, what: str) -> ast.Module:
    """The syntax tree of a file.

    Raises `FormatError` if the file is not Python, or too large; ``what`` names the expected kind of file.
    """
    if len(file.data) > LARGEST:
        raise FormatError(f"has more than {LARGEST >> 10} KiB, the maximum for {what}")
    try:
        return _parsed(file.text)
    except (SyntaxError, RecursionError, ValueError, MemoryError) as fault:
        if file.name.endswith((".md", ".mdx", ".rst")):
            raise FormatError("a page with parts of Python, not a file of Python: import the file itself") from None
        raise FormatError("not valid Python", getattr(fault, "lineno", None) or 0) from None


def _parsed(text: str) -> ast.Module:
    """The syntax tree of a text, also of one with f-strings of Python 3.12."""
    try:
        return ast.parse(text)
    except SyntaxError:
        from clusterspec.exchange.python_strings import without_own_quotes

        return ast.parse(without_own_quotes(text))


def read_functions(file: InputFile, called: frozenset[str]) -> dict[str, CodeConfig]:
    """The configurations of a file by function; ``called`` names the classes that are configurations.

    Raises `FormatError` if the file is no Python, or too large.
    """
    tree = syntax_tree(file, "Python")
    functions = {node.name: node for node in tree.body if isinstance(node, ast.FunctionDef)}
    imported = {
        alias.asname or alias.name for node in tree.body if isinstance(node, ast.ImportFrom) for alias in node.names
    }
    reader = _Reader(functions, imported, called, _module_constants(tree))
    try:
        configs = {name: reader.config_of(name, 0) for name in functions}
    except RecursionError:
        raise FormatError("its expressions are nested too deeply") from None
    return {name: config for name, config in configs.items() if config is not None}


def _module_constants(tree: ast.Module) -> dict[str, ast.expr]:
    """What names stand for that one statement of the file assigns, and that no function has as arguments."""
    bound = Counter(
        node.id for node in ast.walk(tree) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)
    )
    bound.update(node.arg for node in ast.walk(tree) if isinstance(node, ast.arg))
    assigned = (node for node in tree.body if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name))
    named = {node.targets[0].id: node.value for node in assigned if isinstance(node.targets[0], ast.Name)}
    return {name: value for name, value in named.items() if bound[name] == 1}


def read_assignments(file: InputFile) -> CodeConfig:
    """The values that a file of Python assigns to names outside functions: constants, and keys of dictionaries.

    A name stands for its value before; another name or call is in ``classes``. What a branch or a loop assigns is open.
    Raises `FormatError` if the file is no Python, or too large.
    """
    config, names = CodeConfig(), dict[str, ast.expr]()
    for node in syntax_tree(file, "Python").body:
        if isinstance(node, ast.Assign) and len(node.targets) == 1 and isinstance(node.targets[0], ast.Name):
            target = node.targets[0].id
            config.clear(target)
            try:
                _assign_value(target, node.value, config, names)
            except RecursionError:
                raise FormatError("its expressions are nested too deeply", node.lineno) from None
        elif isinstance(node, ast.If | ast.For | ast.While | ast.With | ast.Try | ast.AugAssign):
            for name, line in _assigned_names(node):
                names.pop(name.partition(".")[0], None)
                config.clear(name)
                config.open.append((name, line))
    return config


def _assign_value(name: str, node: ast.expr, config: CodeConfig, names: dict[str, ast.expr]) -> None:
    """Record an expression under a name, the keys of a dictionary below it."""
    node = _Known(names).visit(node)
    if "." not in name:
        names[name] = node
    keyed: list[tuple[str, ast.expr]] = []
    if isinstance(node, ast.Call) and dotted_name(node.func) == "dict":
        keyed = [(each.arg, each.value) for each in node.keywords if each.arg]
    elif isinstance(node, ast.Dict):
        pairs = zip(node.keys, node.values, strict=True)
        keyed = [(str(key.value), value) for key, value in pairs if isinstance(key, ast.Constant)]
    elif (value := constant_value(node)) is not UNKNOWN:
        config.values[name] = (value, node.lineno)
    else:
        config.open.append((name, node.lineno))
        if called := dotted_name(node.func if isinstance(node, ast.Call) else node):
            config.classes[name] = (called, node.lineno)
    for key, value in keyed:
        _assign_value(f"{name}.{key}", value, config, names)


class _Known(ast.NodeTransformer):
    """Replaces names by the constants assigned to them before, each with the line of its assignment."""

    def __init__(self, names: Mapping[str, ast.expr]) -> None:
        self.names = names

    def visit_Name(self, node: ast.Name) -> ast.expr:
        held = self.names.get(node.id)
        value = UNKNOWN if held is None else constant_value(held)
        plain = isinstance(value, int | float | str | bool)
        return ast.copy_location(ast.Constant(value), held or node) if plain else node  # type: ignore[arg-type]


@dataclass
class _Reader:
    functions: Mapping[str, ast.FunctionDef]
    imported: set[str]
    called: frozenset[str]
    constants: Mapping[str, ast.expr]

    def config_of(self, name: str, depth: int) -> CodeConfig | None:
        """The configuration that a function of the file returns; None if it returns another thing."""
        function = self.functions[name]
        if depth > DEEPEST:
            return None
        names: dict[str, CodeConfig | ast.expr] = {**self.constants}
        for statement in function.body:
            if isinstance(statement, ast.Return) and statement.value is not None:
                found = self._configuration(statement.value, names, depth, _annotation_name(function) in self.called)
                return found if found is not None and (found.values or found.classes or found.base) else None
            if isinstance(statement, ast.Assign) and len(statement.targets) == 1:
                self._assign(statement, names, depth)
            elif isinstance(statement, ast.If | ast.For | ast.While | ast.With | ast.Try):
                _note_branch(statement, names)
        return None

    def _assign(self, statement: ast.Assign, names: dict[str, CodeConfig | ast.expr], depth: int) -> None:
        target, value = statement.targets[0], statement.value
        if isinstance(target, ast.Name):
            made = self._configuration(value, names, depth)
            names[target.id] = value if made is None else made
            return
        dotted = dotted_name(target)
        root, _, path = dotted.partition(".")
        config = names.get(root)
        if isinstance(config, CodeConfig) and path:
            config.clear(path)
            self._put(path, value, config, names)

    def _configuration(
        self, node: ast.expr, names: Mapping[str, Any], depth: int, returned: bool = False
    ) -> CodeConfig | None:
        """The configuration that an expression creates; None if it creates none.

        A class in the file that derives from a configuration counts if a function with this class as its return
        annotation returns the expression.
        """
        if isinstance(node, ast.Name):
            held = names.get(node.id)
            return held if isinstance(held, CodeConfig) else None
        if not isinstance(node, ast.Call):
            return None
        called = dotted_name(node.func)
        if called in self.functions:
            return self.config_of(called, depth + 1)
        if called in self.called or (returned and called.endswith("Config")):
            config = CodeConfig()
            for keyword in node.keywords:
                if keyword.arg:
                    self._put(keyword.arg, keyword.value, config, names)
            return config
        return self._outside_configuration(node, called, names, depth) if called in self.imported else None

    def _outside_configuration(
        self, node: ast.Call, called: str, names: Mapping[str, Any], depth: int
    ) -> CodeConfig | None:
        """What a function of another file begins, or makes of the configuration that it takes first."""
        if not node.args and not node.keywords:
            return CodeConfig(base=called)
        taken = self._configuration(node.args[0], names, depth + 1) if node.args and depth < DEEPEST else None
        if taken is not None:
            taken.changed_by = called
        return taken

    def _put(self, name: str, node: ast.expr, config: CodeConfig, names: Mapping[str, Any]) -> None:
        """Record a value, or the keywords of a call as values below its name."""
        if isinstance(node, ast.Name) and isinstance(names.get(node.id), ast.expr):
            node = names[node.id]
        if isinstance(node, ast.Call):
            config.classes[name] = (dotted_name(node.func), node.lineno)
            for at, argument in enumerate(node.args):
                self._put(f"{name}.{at}", argument, config, names)
            for keyword in node.keywords:
                if keyword.arg:
                    self._put(f"{name}.{keyword.arg}", keyword.value, config, names)
        elif isinstance(node, ast.List | ast.Tuple) and any(isinstance(each, ast.Call) for each in node.elts):
            for at, element in enumerate(node.elts):
                self._put(f"{name}.{at}", element, config, names)
        else:
            value = constant_value(node, lambda inner: _value_of_name(inner, names))
            if value is not UNKNOWN:
                config.values[name] = (value, node.lineno)
            else:
                config.open.append((name, node.lineno))


def _value_of_name(node: ast.expr, names: Mapping[str, Any]) -> Any:
    """The value of a name that stands for an expression of constants."""
    held = names.get(node.id) if isinstance(node, ast.Name) else None
    return constant_value(held) if isinstance(held, ast.expr) else UNKNOWN


def _annotation_name(function: ast.FunctionDef) -> str:
    return dotted_name(function.returns) if function.returns is not None else ""


UNKNOWN = object()


def constant_value(node: ast.expr, known: Callable[[ast.expr], Any] = lambda node: UNKNOWN) -> Any:
    """The value of an expression of constants, and of what ``known`` knows; `UNKNOWN` for any other."""
    if isinstance(node, ast.Constant):
        return node.value
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        inner = constant_value(node.operand, known)
        return -inner if isinstance(inner, int | float) else UNKNOWN
    if isinstance(node, ast.BinOp) and type(node.op) in _ARITHMETIC:
        return _calculated(
            _ARITHMETIC[type(node.op)], constant_value(node.left, known), constant_value(node.right, known)
        )
    if not isinstance(node, ast.List | ast.Tuple):
        return known(node)
    listed = [constant_value(each, known) for each in node.elts]
    return UNKNOWN if any(each is UNKNOWN for each in listed) else listed


def _calculated(operation: Callable[[Any, Any], Any], *sides: Any) -> Any:
    """The result of an operation on two numbers; `UNKNOWN` if there is none."""
    if not all(isinstance(side, int | float) and abs(side) < _LARGEST_NUMBER for side in sides):
        return UNKNOWN
    try:
        return operation(*sides)
    except (ZeroDivisionError, OverflowError):
        return UNKNOWN


def dotted_name(node: ast.expr) -> str:
    """The dotted name of an expression; empty if it is none."""
    parts: list[str] = []
    while isinstance(node, ast.Attribute):
        parts.append(node.attr)
        node = node.value
    return ".".join([node.id, *reversed(parts)]) if isinstance(node, ast.Name) else ""


def _note_branch(branch: ast.stmt, names: Mapping[str, CodeConfig | ast.expr]) -> None:
    """Record the assignments of a branch, which nothing decides here."""
    for target, line in _assigned_names(branch):
        root, _, path = target.partition(".")
        config = names.get(root)
        if isinstance(config, CodeConfig) and path:
            config.undecided.append((path, line))


def _assigned_names(branch: ast.stmt) -> Iterator[tuple[str, int]]:
    for node in ast.walk(branch):
        if isinstance(node, ast.Assign | ast.AugAssign):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            yield from ((name, node.lineno) for target in targets if (name := dotted_name(target)))
