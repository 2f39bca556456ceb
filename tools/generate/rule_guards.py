"""The conditions under which a rule returns at once, read from the first statements of its check.

``if layout.ep == 1: return`` at the start of a check is a condition on the parameters alone. Written into the index of
the rules, it lets the engine skip the rule without loading its module. Names assigned before it are put in its place;
a condition that needs anything else of the module ends the search.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

_ALLOWED = (
    ast.BoolOp, ast.And, ast.Or, ast.UnaryOp, ast.Not, ast.USub, ast.Compare, ast.Name, ast.Load, ast.Constant,
    ast.Attribute, ast.BinOp, ast.Mult, ast.Add, ast.Sub, ast.Mod, ast.FloorDiv, ast.Div, ast.Set, ast.Tuple, ast.IfExp,
    ast.Eq, ast.NotEq, ast.Lt, ast.LtE, ast.Gt, ast.GtE, ast.Is, ast.IsNot, ast.In, ast.NotIn, ast.Call,
)  # fmt: skip
LONGEST = 300
"""Characters of a condition in the index."""


def guard(tree: ast.Module) -> str:
    """When the check of a rule's module has nothing to report, as an expression; empty where that cannot be told."""
    check = next((node for node in tree.body if isinstance(node, ast.FunctionDef) and node.name == "check"), None)
    if check is None:
        return ""
    known: dict[str, ast.expr | None] = {one.arg: None for one in check.args.args}
    known |= dict(_constants(tree))
    texts = [text for text in _conditions(check.body, known) if len(text) <= LONGEST]
    return " or ".join(f"({text})" for text in texts)


def _constants(tree: ast.Module) -> Iterator[tuple[str, ast.expr]]:
    """The literals that a module names."""
    for node in tree.body:
        if not isinstance(node, ast.Assign) or not isinstance(node.targets[0], ast.Name):
            continue
        if isinstance(node.value, ast.Constant | ast.Set | ast.Tuple) and _inlined(node.value, {}) is not None:
            yield node.targets[0].id, node.value


def _conditions(body: list[ast.stmt], known: dict[str, ast.expr | None]) -> Iterator[str]:
    for position, node in enumerate(body):
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
            continue
        if isinstance(node, ast.Assign):
            if not _assigned(node, known):
                return
        elif isinstance(node, ast.If) and not node.orelse and _returns(node.body):
            test = _inlined(node.test, known)
            if test is not None:
                yield ast.unparse(test)
            elif isinstance(node.test, ast.BoolOp) and isinstance(node.test.op, ast.Or):
                first = _inlined(node.test.values[0], known)
                if first is not None:
                    yield ast.unparse(first)
                return
        elif isinstance(node, ast.If) and not node.orelse and position == len(body) - 1:
            test = _inlined(node.test, known)
            if test is not None:
                yield f"not ({ast.unparse(test)})"
            return
        else:
            return


def _returns(body: list[ast.stmt]) -> bool:
    return len(body) == 1 and isinstance(body[0], ast.Return) and body[0].value is None


def _assigned(node: ast.Assign, known: dict[str, ast.expr | None]) -> bool:
    """Takes the names of an assignment; False where a target is no plain name."""
    target = node.targets[0]
    pairs: list[tuple[ast.expr, ast.expr | None]] = [(target, node.value)]
    if isinstance(target, ast.Tuple):
        values = node.value.elts if isinstance(node.value, ast.Tuple) else [None] * len(target.elts)
        pairs = list(zip(target.elts, values, strict=False))
    for name, value in pairs:
        if not isinstance(name, ast.Name):
            return False
        inlined = _inlined(value, known) if value is not None else None
        if inlined is None:
            known.pop(name.id, None)
        else:
            known[name.id] = inlined
    return True


def _inlined(node: ast.expr, known: dict[str, ast.expr | None]) -> ast.expr | None:
    """An expression over the parameters alone; None where it is none."""
    for part in ast.walk(node):
        if not isinstance(part, _ALLOWED) or (isinstance(part, ast.Name) and part.id not in known):
            return None
        if isinstance(part, ast.Call) and not isinstance(part.func, ast.Attribute):
            return None

    class Put(ast.NodeTransformer):
        def visit_Name(self, name: ast.Name) -> ast.AST:
            value = known[name.id]
            return name if value is None else value

    copy = ast.parse(ast.unparse(node), mode="eval").body
    return Put().visit(copy)  # type: ignore[no-any-return]
