"""The conditions under which a rule has nothing to report, read from the statements of its check.

``if layout.ep == 1: return`` at the start of a check is a condition on the parameters alone, as is the loop
``for each in deviations.found: if each.rule == RULE.name: yield …``, which reports nothing if no element fulfills the
condition. Written into the index of the rules, such a condition lets the engine skip the rule without loading its
module. Where a statement cannot be written as an expression over the parameters, the check is taken to report something
from there on.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence

from tools.generate.rule_expressions import DEEPEST, Scope

LONGEST = 1000
"""Characters of a condition in the index."""


def guard(tree: ast.Module, rule: str) -> str:
    """When the check of a rule's module has nothing to report, as an expression; empty if it cannot be determined."""
    check = next((node for node in tree.body if isinstance(node, ast.FunctionDef) and node.name == "check"), None)
    if check is None:
        return ""
    parameters = [one.arg for one in check.args.args]
    for depth in (0, DEEPEST):  # where the condition is too long, without those of the functions that the check calls
        found = silence_condition(check.body, Scope.of_check(tree, rule, parameters, depth))
        found = ast.unparse(ast.parse(found, mode="eval"))
        if len(found) <= LONGEST and found not in {"False", "True"}:
            return found
    return ""


def silence_condition(body: Sequence[ast.stmt], scope: Scope, leaving: type[ast.stmt] = ast.Return) -> str:
    """When statements yield nothing; ``leaving`` is what ends them: `return`, or `continue` in a loop."""
    if not body or _only_leaves(body[0], leaving):
        return "True"
    first, rest = body[0], body[1:]
    if isinstance(first, ast.If):
        return _branch(first, rest, scope, leaving)
    if isinstance(first, ast.Assign):
        assigned = scope.assigned(first.targets[0], first.value)
        return silence_condition(rest, assigned, leaving) if assigned else "False"
    quiet = _plain_statement(first, scope)
    return (
        quiet
        if isinstance(first, ast.Return)
        else conjunction(quiet, lambda: silence_condition(rest, scope.scope_after(first), leaving))
    )


def _only_leaves(node: ast.stmt, leaving: type[ast.stmt]) -> bool:
    """Whether a statement is a bare `return` or `continue`, and nothing more."""
    return isinstance(node, leaving) and getattr(node, "value", None) is None


def _plain_statement(node: ast.stmt, scope: Scope) -> str:
    """A statement that neither branches nor assigns."""
    match node:
        case ast.Expr(ast.Constant()):
            return "True"
        case ast.For(orelse=[]):
            return _loop(node, scope)
        case ast.Expr(ast.YieldFrom(ast.Call() as call)) | ast.Return(ast.Call() as call):
            called = scope.called_statements(call)
            return silence_condition(*called) if called else "False"
    return "False"


def _branch(node: ast.If, following: Sequence[ast.stmt], scope: Scope, leaving: type[ast.stmt]) -> str:
    """An ``if`` and what follows it: once after both branches, or after each where a branch leaves or assigns."""
    left, whole = scope.prefix(node.test, ast.Or)
    if _only_leaves(node.body[0], leaving):
        return disjunction(
            left, lambda: silence_condition([*node.orelse, *following], scope, leaving) if whole else "False"
        )
    test, whole = scope.prefix(node.test, ast.And)
    apart = any(isinstance(part, leaving | ast.Assign) for part in ast.walk(node))
    after = following if apart else []
    entered = silence_condition([*node.body, *after], scope, leaving) if whole else "False"
    passed = silence_condition([*node.orelse, *after], scope, leaving)
    if entered == "False":
        quiet = conjunction(negated(test), lambda: passed)
    elif passed == "False":
        quiet = conjunction(test, lambda: entered)
    else:
        quiet = "True" if {entered, passed} == {"True"} else f"({entered}) if {test} else ({passed})"
    return quiet if apart else conjunction(quiet, lambda: silence_condition(following, scope, leaving))


def _loop(node: ast.For, scope: Scope) -> str:
    """A loop: silent where it is for every element."""
    each, inner = scope.inlined(node.iter), scope.scope_after(node).loop_scope(node.target)
    if not each or inner is None:
        return "False"
    quiet = silence_condition(node.body, inner, ast.Continue)
    if quiet == "True":
        return "True"
    return f"not any({negated(quiet)} for {ast.unparse(node.target)} in ({each}))"


def disjunction(first: str, second: Callable[[], str]) -> str:
    """Two conditions, one of which is enough."""
    if first == "True":
        return first
    other = second()
    if first == "False":
        return other
    return first if other == "False" or len(first) + len(other) > LONGEST else f"({first}) or ({other})"


def conjunction(first: str, second: Callable[[], str]) -> str:
    """Two conditions that are both needed."""
    if first == "False":
        return first
    other = second()
    if other == "False" or len(first) + len(other) > LONGEST:
        return "False"
    return other if first == "True" else first if other == "True" else f"({first}) and ({other})"


def negated(text: str) -> str:
    """The opposite of a condition."""
    match ast.parse(text, mode="eval").body:
        case ast.Constant(value):
            return str(not value)
        case ast.UnaryOp(ast.Not(), opposite):
            return ast.unparse(opposite)
        case ast.Compare(value, [ast.Is() | ast.In() as operator], [other]):
            reverse = ast.IsNot() if isinstance(operator, ast.Is) else ast.NotIn()
            return ast.unparse(ast.Compare(value, [reverse], [other]))
        case condition:
            return ast.unparse(ast.UnaryOp(ast.Not(), condition))
