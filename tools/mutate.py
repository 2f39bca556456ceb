"""Mutation test: changes one operator, number or word of a package at a time, and counts the changes that tests kill.

``python -m tools.mutate [PACKAGE …] [--number N] [--seed N]`` copies the project into a temporary folder, applies
``--number`` mutations per package, drawn at random by ``--seed``, runs the tests of that package on each, and prints
the mutations that survive and the share that was killed. A survivor is a line whose change no test notices.
"""

from __future__ import annotations

import argparse
import ast
import random
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
TESTS = {
    "rules": ["tests/rules"],
    "units": ["tests/units", "tests/rules/test_deviations.py", "tests/prose/test_planted_errors.py"],
    "cluster": ["tests/cluster", "tests/rules/test_twins.py"],
    "document": ["tests/document"],
    "cost": ["tests/cost"],
}
"""The tests that should notice a change, by package."""
COPIED = ("clusterspec", "catalog", "docs", "schemas", "templates", "tests", "tools", "examples", "pyproject.toml")
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
    """One change: the file, its line, what is replaced, and the text of the whole file afterwards."""

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
            isinstance(side, ast.JoinedStr | ast.Constant) and not _number(side) for side in (node.left, node.right)
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
        changed = other(node.value)
        if changed is None or not self.turn(node):
            return node
        self.what = f"{node.value!r} → {changed!r}"
        return ast.copy_location(ast.Constant(changed), node)

    def visit_JoinedStr(self, node: ast.JoinedStr) -> ast.AST:
        return node  # wording is not behavior

    def visit_AnnAssign(self, node: ast.AnnAssign) -> ast.AST:
        if node.value is not None:
            node.value = self.visit(node.value)
        return node


def other(value: object) -> int | float | str | None:
    """Another number, severity or key in place of a constant; None for a constant that stays."""
    if isinstance(value, bool):
        return None
    if isinstance(value, int):
        return value + 1
    if isinstance(value, float):
        return value * 2 + 0.001
    if isinstance(value, str):
        return f"{value}_of_another" if KEY.fullmatch(value) else WORDS.get(value)
    return None


def _number(node: ast.AST) -> bool:
    return isinstance(node, ast.Constant) and isinstance(node.value, int | float) and not isinstance(node.value, bool)


def mutations(package: str) -> list[tuple[Path, int]]:
    """Every place of a package that can be changed, as file and number of the place."""
    found = []
    for file in sorted((ROOT / "clusterspec" / package).rglob("*.py")):
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


def survives(mutation: Mutation, folder: Path, tests: list[str]) -> bool:
    """Whether all tests of the package still pass with the mutation in the copy of the project."""
    target = folder / mutation.file.relative_to(ROOT)
    original = target.read_text("utf-8")
    target.write_text(mutation.text, "utf-8")
    try:
        return passes(folder, tests)
    finally:
        target.write_text(original, "utf-8")


def passes(folder: Path, tests: list[str]) -> bool:
    """Whether the tests pass on the copy of the project, in time."""
    call = [sys.executable, "-m", "pytest", "-q", "-x", "-p", "no:cacheprovider", *tests]
    environment = {"PYTHONPATH": str(folder), "PATH": "/usr/bin:/bin", "HOME": str(Path.home())}
    try:
        done = subprocess.run(call, cwd=folder, env=environment, capture_output=True, timeout=600, check=False)
    except subprocess.TimeoutExpired:
        return False
    return done.returncode == 0


def sample(package: str, number: int, seed: int) -> Iterator[Mutation]:
    """A random sample of the mutations of a package."""
    places = mutations(package)
    for file, place in random.Random(seed).sample(places, min(number, len(places))):
        yield mutate(file, place)


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(prog="mutate", description=__doc__)
    parser.add_argument("packages", nargs="*", default=list(TESTS))
    parser.add_argument("--number", type=int, default=20)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args(arguments)
    least = 1.0
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for item in COPIED:
            source = ROOT / item
            ignored = shutil.ignore_patterns("__pycache__")
            _ = (
                shutil.copytree(source, folder / item, ignore=ignored)
                if source.is_dir()
                else shutil.copy(source, folder)
            )
        for package in options.packages:
            if not passes(folder, TESTS[package]):
                print(
                    f"{package}: its tests fail without a mutation, so a failure would prove nothing", file=sys.stderr
                )
                return 2
            alive = []
            drawn = list(sample(package, options.number, options.seed))
            for mutation in drawn:
                if survives(mutation, folder, TESTS[package]):
                    alive.append(mutation)
                    print(f"survived: {mutation.file.relative_to(ROOT)}:{mutation.line}: {mutation.what}", flush=True)
            share = 1 - len(alive) / len(drawn) if drawn else 1.0
            least = min(least, share)
            print(f"{package}: {len(drawn) - len(alive)} of {len(drawn)} killed ({share:.0%})", flush=True)
    return 0 if least >= LEAST else 1


LEAST = 0.85
"""The share of mutations that has to be killed."""

if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
