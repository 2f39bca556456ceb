"""Mutation test: changes one operator, number or word of a package at a time, and counts the changes that tests kill.

``python -m tools.mutate [PACKAGE …] [--number N] [--seed N]`` copies the project into a temporary folder, applies
``--number`` mutations per package, drawn at random by ``--seed``, runs the tests of that package on each, and prints
the mutations that survive and the share that was killed. A survivor is a line whose change no test notices.
Tests that reach ``--seconds`` of processor time before one fails leave a mutation undecided, which is not killed.
``--across N`` draws from the lines of all packages together. Generated pages and golden files kill nothing here.
"""

from __future__ import annotations

import argparse
import ast
import random
import re
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
TOP = "modules"
"""The modules beside the packages."""
PACKAGES = [
    *("analysis", "catalog", "cli", "cluster", "config", "cost", "document", "exchange", "logs", "procurement"),
    *("prose", "report", "results", "rules", "spec", "studies", "units"),
]
TESTS = {package: f"tests/{package}" for package in PACKAGES} | {TOP: "tests"}
"""The tests that should notice a change, by package; of the modules beside the packages, those at the top."""
IGNORED = ("tests/report/browser", "tests/report/golden", "tests/test_generated.py", "tests/test_examples.py")
"""Tests that compare pages, and tests that need a browser."""
GOLDEN = "tests/golden.py", "assert text == path.read_text", "assert text or path.read_text"
"""The comparison with golden files, and its replacement: a stale page does not show an error."""
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

    def visit_Assert(self, node: ast.Assert) -> ast.AST:
        return node  # the program's assertions tell the type checker what holds: one that is weaker changes no result

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


def tried(mutation: Mutation, folder: Path, tests: str, seconds: int) -> str:
    """The result of the mutation in the copy of the project: `KILLED`, `SURVIVED` or `UNDECIDED`."""
    target = folder / mutation.file.relative_to(ROOT)
    original = target.read_text("utf-8")
    target.write_text(mutation.text, "utf-8")
    try:
        return outcome(folder, nearest_first(mutation.file, folder, tests), seconds)
    finally:
        target.write_text(original, "utf-8")


def test_files(folder: Path, tests: str) -> list[Path]:
    """The test files of a file or folder, as paths in the copy; of the top folder only its own files."""
    place = folder / tests
    files = [place] if place.is_file() else (place.glob if tests == "tests" else place.rglob)("test_*.py")
    return [path for path in sorted(files) if not path.relative_to(folder).as_posix().startswith(IGNORED)]


def nearest_first(file: Path, folder: Path, tests: str) -> list[str]:
    """The test files; files that name the changed module come first, because they fail soonest."""
    module = ".".join(file.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__")
    package, _, name = module.rpartition(".")
    naming = re.compile(rf"{re.escape(module)}\b|from {re.escape(package)} import .*\b{re.escape(name)}\b")
    files = test_files(folder, tests)
    order = sorted(files, key=lambda path: (not naming.search(path.read_text("utf-8")), path.stat().st_size))
    return [str(path.relative_to(folder)) for path in order]


def outcome(folder: Path, tests: list[str], seconds: int) -> str:
    """Whether a test fails on the copy of the project (`KILLED`), none does (`SURVIVED`), or the limits end the tests
    before that is known (`UNDECIDED`): ``seconds`` of processor time, and ten times as long for tests that wait.
    """
    call = [sys.executable, "-m", "pytest", "-q", "-x", "-p", "no:cacheprovider", *tests]
    environment = {"PYTHONPATH": str(folder), "PATH": "/usr/bin:/bin", "HOME": str(Path.home())}
    limit = partial(resource.setrlimit, resource.RLIMIT_CPU, (seconds, seconds + 1))
    try:
        done = subprocess.run(
            call, cwd=folder, env=environment, capture_output=True, preexec_fn=limit, timeout=10 * seconds, check=False
        )
    except subprocess.TimeoutExpired:
        return UNDECIDED
    if done.returncode in STOPPED:
        return UNDECIDED
    return KILLED if done.returncode else SURVIVED


def sample(package: str, number: int, seed: int) -> Iterator[Mutation]:
    """A random sample of the mutations of a package."""
    places = mutations(package)
    for file, place in random.Random(seed).sample(places, min(number, len(places))):
        yield mutate(file, place)


def copied(folder: Path) -> None:
    """Copy the files of the project that Git keeps or would keep: tests read the pages at the top too."""
    listed = ("git", "ls-files", "-z", "--cached", "--others", "--exclude-standard")
    for name in subprocess.run(listed, cwd=ROOT, capture_output=True, text=True, check=True).stdout.split("\0"):
        if name and (ROOT / name).is_file():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(ROOT / name, folder / name)
    name, comparison, replacement = GOLDEN
    text = (folder / name).read_text("utf-8")
    assert comparison in text, f"{name} compares golden files in other words than {comparison!r}"
    (folder / name).write_text(text.replace(comparison, replacement), "utf-8")


def draws(options: argparse.Namespace) -> Iterator[tuple[str, list[Mutation]]]:
    """The packages with the mutations that are drawn of each."""
    if not options.across:
        for package in options.packages:
            yield package, list(sample(package, options.number, options.seed))
        return
    places = [(package, *place) for package in options.packages for place in mutations(package)]
    drawn: dict[str, list[Mutation]] = {}
    for package, file, number in random.Random(options.seed).sample(places, min(options.across, len(places))):
        drawn.setdefault(package, []).append(mutate(file, number))
    yield from drawn.items()


def results(package: str, drawn: list[Mutation], folder: Path, seconds: int) -> Counter[str]:
    """How many of the mutations are killed, survive and stay undecided; prints each that is not killed."""
    counts: Counter[str] = Counter()
    for mutation in drawn:
        result = tried(mutation, folder, TESTS[package], seconds)
        counts[result] += 1
        if result != KILLED:
            print(f"{result}: {mutation.file.relative_to(ROOT)}:{mutation.line}: {mutation.what}", flush=True)
    return counts


def killed_share(counts: Counter[str]) -> float:
    """The share of the mutations that tests kill; an undecided one counts as not killed."""
    return counts[KILLED] / counts.total() if counts.total() else 1.0


def told(package: str, counts: Counter[str]) -> str:
    """One line on the results of a package."""
    undecided = f", {counts[UNDECIDED]} undecided" if counts[UNDECIDED] else ""
    return f"{package}: {counts[KILLED]} of {counts.total()} killed{undecided} ({killed_share(counts):.0%})"


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(prog="mutate", description=__doc__)
    parser.add_argument("packages", nargs="*", default=list(TESTS))
    parser.add_argument("--number", type=int, default=20)
    parser.add_argument("--across", type=int, default=0, help="draw as many from all packages together")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--seconds", type=int, default=600, help="processor time of the tests of one mutation")
    options = parser.parse_args(arguments)
    counted: dict[str, Counter[str]] = {}
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        copied(folder)
        for package, drawn in draws(options):
            files = [str(path.relative_to(folder)) for path in test_files(folder, TESTS[package])]
            if (unchanged := outcome(folder, files, options.seconds)) != SURVIVED:
                why = "fail" if unchanged == KILLED else f"take more than {options.seconds} s"
                print(f"{package}: its tests {why} unchanged, so a failure would prove nothing", file=sys.stderr)
                return 2
            counted[package] = results(package, drawn, folder, options.seconds)
            print(told(package, counted[package]), flush=True)
    total = sum(counted.values(), Counter())
    print(told("all", total))
    judged = [total] if options.across else list(counted.values())
    return 0 if min(map(killed_share, judged), default=1.0) >= LEAST else 1


KILLED, SURVIVED, UNDECIDED = "killed", "survived", "undecided"
STOPPED = {-signal.SIGXCPU, -signal.SIGKILL}
"""Endings of tests that reach a limit of the operating system: processor time or memory."""
LEAST = 0.85
"""The share of mutations that has to be killed."""

if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
