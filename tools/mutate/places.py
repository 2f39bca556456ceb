"""The places of the program that can be changed, and samples of changes: of one operator, number or word at a time."""

from __future__ import annotations

import ast
import random
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
TOP = "modules"
"""The modules outside the packages."""
PACKAGES = [
    *("analysis", "catalog", "cli", "cluster", "config", "cost", "document", "exchange", "logs", "procurement"),
    *("prose", "report", "results", "rules", "spec", "studies", "units"),
]
OPERATORS: dict[type[ast.AST], type[ast.AST]] = {
    ast.Lt: ast.LtE,
    ast.LtE: ast.Lt,
    ast.Gt: ast.GtE,
    ast.GtE: ast.Gt,
    ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq,
    ast.Is: ast.IsNot,
    ast.IsNot: ast.Is,
    ast.In: ast.NotIn,
    ast.NotIn: ast.In,
    ast.Add: ast.Sub,
    ast.Sub: ast.Add,
    ast.Mult: ast.Div,
    ast.Div: ast.Mult,
    ast.FloorDiv: ast.Mult,
    ast.Mod: ast.Mult,
    ast.And: ast.Or,
    ast.Or: ast.And,
}
WORDS = {"error": "warning", "warning": "note", "note": "error", "likely": "heuristic"}
"""Severities and confidences."""
KEY = re.compile(r"(cluster|workload|layout|operations|procurement|acceptance|measured)\.[a-z_.]+")
"""A dotted key of a spec."""
NAMES = {"min": "max", "max": "min", "ceil": "floor", "floor": "ceil", "any": "all", "all": "any"}


@dataclass(frozen=True)
class Mutation:
    """One change: the file, the line, the replaced text, and the whole text of the file afterwards."""

    file: Path
    line: int
    what: str
    text: str


class Mutator(ast.NodeTransformer):
    """Changes the node of one number; counts the nodes that can be changed."""

    def __init__(self, chosen: int) -> None:
        self.chosen, self.seen, self.what, self.line = chosen, 0, "", 0

    def turn(self, node: ast.AST) -> bool:
        """Whether this is the chosen place."""
        self.seen += 1
        if self.seen - 1 != self.chosen:
            return False
        self.line = getattr(node, "lineno", 0)
        return True

    def visit_Compare(self, node: ast.Compare) -> ast.AST:
        self.generic_visit(node)
        for index, operator in enumerate(node.ops):
            if type(operator) in OPERATORS and self.turn(node):
                node.ops[index] = OPERATORS[type(operator)]()  # type: ignore[call-overload]
                self.what = f"{type(operator).__name__} → {type(node.ops[index]).__name__}"
        return node

    def visit_BinOp(self, node: ast.BinOp) -> ast.AST:
        self.generic_visit(node)
        text = any(
            isinstance(side, ast.JoinedStr | ast.Constant) and not _is_number(side) for side in (node.left, node.right)
        )
        if type(node.op) in OPERATORS and not text and self.turn(node):
            self.what = f"{type(node.op).__name__} → {OPERATORS[type(node.op)].__name__}"
            node.op = OPERATORS[type(node.op)]()  # type: ignore[assignment]
        return node

    def visit_BoolOp(self, node: ast.BoolOp) -> ast.AST:
        self.generic_visit(node)
        if self.turn(node):
            self.what = f"{type(node.op).__name__} → {OPERATORS[type(node.op)].__name__}"
            node.op = OPERATORS[type(node.op)]()  # type: ignore[assignment]
        return node

    def visit_UnaryOp(self, node: ast.UnaryOp) -> ast.AST:
        self.generic_visit(node)
        if isinstance(node.op, ast.Not) and self.turn(node):
            self.what = "not dropped"
            return node.operand
        return node

    def visit_Call(self, node: ast.Call) -> ast.AST:
        self.generic_visit(node)
        if isinstance(node.func, ast.Name) and node.func.id in NAMES and self.turn(node):
            self.what = f"{node.func.id} → {NAMES[node.func.id]}"
            node.func.id = NAMES[node.func.id]
        return node

    def visit_Constant(self, node: ast.Constant) -> ast.AST:
        changed = other_constant(node.value)
        if changed is None or not self.turn(node):
            return node
        self.what = f"{node.value!r} → {changed!r}"
        return ast.copy_location(ast.Constant(changed), node)

    def visit_Assert(self, node: ast.Assert) -> ast.AST:
        return node  # the program's assertions tell the type checker what holds: one that is weaker changes no result

    def visit_JoinedStr(self, node: ast.JoinedStr) -> ast.AST:
        return node  # wording is not behavior

    def visit_AnnAssign(self, node: ast.AnnAssign) -> ast.AST:
        if node.value is not None:
            node.value = self.visit(node.value)
        return node


def other_constant(value: object) -> int | float | str | None:
    """Another number, severity or key in place of a constant; None for a constant that stays."""
    if isinstance(value, bool):
        return None
    if isinstance(value, int):
        return value + 1
    if isinstance(value, float):
        return value * 2 + (0.001 if value >= 0 else -0.001)
    if isinstance(value, str):
        return f"{value}_of_another" if KEY.fullmatch(value) else WORDS.get(value)
    return None


def _is_number(node: ast.AST) -> bool:
    return isinstance(node, ast.Constant) and isinstance(node.value, int | float) and not isinstance(node.value, bool)


def mutations(package: str) -> list[tuple[Path, int]]:
    """Every place of a package that can be changed, as file and number of the place."""
    found = []
    top = ROOT / "clusterspec"
    for file in sorted(top.glob("*.py") if package == TOP else (top / package).rglob("*.py")):
        if file.name == "index.py" or "table" in file.name:
            continue
        counter = Mutator(-1)
        counter.visit(ast.parse(file.read_text("utf-8")))
        found += [(file, number) for number in range(counter.seen)]
    return found


def mutate(file: Path, number: int) -> Mutation:
    """The file with one place changed."""
    tree = ast.parse(file.read_text("utf-8"))
    mutator = Mutator(number)
    changed = ast.fix_missing_locations(mutator.visit(tree))
    return Mutation(file, mutator.line, mutator.what, ast.unparse(changed))


def sample(package: str, number: int, seed: int) -> Iterator[Mutation]:
    """A random sample of the mutations of a package."""
    places = mutations(package)
    for file, place in random.Random(seed).sample(places, min(number, len(places))):
        yield mutate(file, place)


def sample_across(packages: Sequence[str], number: int, seed: int) -> dict[str, list[Mutation]]:
    """A random sample of the mutations of several packages together, by package."""
    places = [(package, *place) for package in packages for place in mutations(package)]
    drawn: dict[str, list[Mutation]] = {}
    for package, file, place in random.Random(seed).sample(places, min(number, len(places))):
        drawn.setdefault(package, []).append(mutate(file, place))
    return drawn
