"""Blocks of statements of a module, and a compiled module that notes which of them run.

A block is the body of a module, class, function, branch or loop. Its line is that of its first statement.
"""

from __future__ import annotations

import ast
import builtins
from collections.abc import Iterator
from importlib.machinery import SourceFileLoader
from pathlib import Path
from types import CodeType

NOTES = "__mutate_notes__"
"""The builtin that instrumented modules write to."""


def _blocks(tree: ast.AST) -> Iterator[list[ast.stmt]]:
    """Every block, a block before those inside it."""
    for _, value in ast.iter_fields(tree):
        children = value if isinstance(value, list) else [value]
        if children and isinstance(children[0], ast.stmt):
            yield value
        for child in children:
            if isinstance(child, ast.AST):
                yield from _blocks(child)


def block_line(text: str, line: int) -> int:
    """The line of the innermost block that holds a line of a module; decorators belong to the block around."""
    found = 0
    for block in _blocks(ast.parse(text)):
        if block[0].lineno <= line <= (block[-1].end_lineno or line):
            found = block[0].lineno
    return found


class Notes:
    """The blocks that ran since they were last taken."""

    def __init__(self) -> None:
        self.places: list[tuple[str, int]] = []
        self.ran = bytearray()
        self.imports = False
        """Whether a module is being read for an import."""

    def code(self, file: str, text: str, path: str) -> CodeType:
        """A module that notes in a byte of its own that a block runs: this takes no call."""
        tree = ast.parse(text)
        for block in list(_blocks(tree)):
            self.places.append((file, block[0].lineno))
            self.ran.append(0)
            note = ast.parse(f"{NOTES}[{len(self.ran) - 1}] = 1").body
            start = 0
            while start < len(block) and _stays_first(block[start]):
                start += 1
            block[start:start] = [_relocated(node, block[0]) for node in note]
        return compile(tree, path, "exec", dont_inherit=True)

    def newly_run_lines(self) -> dict[str, list[int]]:
        """The lines of the blocks that ran since this was asked last, by file."""
        found: dict[str, list[int]] = {}
        place = self.ran.find(1)
        while place >= 0:
            file, line = self.places[place]
            found.setdefault(file, []).append(line)
            self.ran[place] = 0
            place = self.ran.find(1, place)
        return found

    def listen(self, folder: Path, part: str) -> None:
        """Note blocks of the modules in a part of the folder that are imported from now on."""
        setattr(builtins, NOTES, self.ran)
        usual, start = SourceFileLoader.get_code, f"{folder / part}/"

        def get_code(loader: SourceFileLoader, name: str) -> CodeType | None:
            path = loader.get_filename(name)
            if not path.startswith(start):
                return usual(loader, name)
            self.imports = True
            try:
                text = Path(path).read_text("utf-8")
            finally:
                self.imports = False
            return self.code(path.removeprefix(f"{folder}/"), text, path)

        SourceFileLoader.get_code = get_code  # type: ignore[method-assign, assignment]


def _stays_first(node: ast.stmt) -> bool:
    """Whether a statement has to stay at the start of its block: a docstring, an import from ``__future__``."""
    if isinstance(node, ast.Expr):
        return isinstance(node.value, ast.Constant) and isinstance(node.value.value, str)
    return isinstance(node, ast.ImportFrom) and node.module == "__future__"


def _relocated(tree: ast.stmt, to: ast.stmt) -> ast.stmt:
    """The tree with the position of a statement."""
    for node in ast.walk(tree):
        ast.copy_location(node, to)
    return tree
