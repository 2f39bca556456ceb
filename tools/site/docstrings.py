"""Python files without the docstrings that no page shows, at the same lines."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import cache
from itertools import pairwise

SHOWN = "Source: "
"""What the docstring of a formula has that pages show."""
BLOCKS = ("body", "orelse", "finalbody", "handlers", "cases")
"""The fields of statements that hold statements."""


def without_docstrings(text: str, *, is_page: bool = True) -> str:
    """A Python file with empty lines in place of the docstrings of functions, classes and values.

    That of the module stays if it ``is_page``: the page of a rule, or the text of `--help`. So do docstrings that name
    a source, which terms print.
    """
    lines, tree = text.split("\n"), parsed(text)
    first_alone = [] if is_page or not tree.body or not _is_text(tree.body[0]) else [(tree.body[0], False)]
    for node, is_alone in (*first_alone, *_docstrings(tree)):
        first, last = node.lineno - 1, node.end_lineno or node.lineno
        if not any(SHOWN in line for line in lines[first:last]):
            indent = lines[first][: node.col_offset]
            lines[first:last] = [f'{indent}""' if is_alone else "", *[""] * (last - first - 1)]
    return "\n".join(lines)


@cache
def parsed(text: str) -> ast.Module:
    """The tree of a file, parsed once: what a page imports and what it does not show are read from all files."""
    return ast.parse(text)


def _docstrings(tree: ast.Module) -> Iterator[tuple[ast.Expr, bool]]:
    """The docstrings of functions, classes and values, each with whether its block has nothing else."""
    for node in statements_of(tree):
        body = getattr(node, "body", None)
        if isinstance(body, list) and body:
            if isinstance(node, ast.FunctionDef | ast.ClassDef) and _is_text(body[0]):
                yield body[0], len(body) == 1
            for one, following in pairwise(body):
                if isinstance(one, ast.Assign | ast.AnnAssign) and _is_text(following):
                    yield following, False


def statements_of(tree: ast.Module) -> Iterator[ast.AST]:
    """A module and all its statements, without their expressions, which are most of a file and hold no statement."""
    waiting: list[ast.AST] = [tree]
    while waiting:
        node = waiting.pop()
        yield node
        for name in BLOCKS:
            held = getattr(node, name, None)
            if isinstance(held, list):
                waiting += held


def _is_text(node: ast.stmt) -> bool:
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str)
