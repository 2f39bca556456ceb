"""Rules of a company: declarative YAML over the figures of a resolved design. No code of a project is ever run.

    rules:
      - name: no-oversubscription
        when: cluster.nodes > 16
        assert: cluster.scale_out.oversubscription <= 1
        message: our fabrics are not oversubscribed
        severity: error
        at: cluster.scale_out.oversubscription

A condition is arithmetic and comparison over the names of ``estimate --format json`` and, behind ``spec.``, the keys as
written. A quantity in quotes is read with its unit. A name without a value makes the rule silent.
"""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from clusterspec.document import decode, parse, read_bytes
from clusterspec.finding import Problem, Severity
from clusterspec.records import dataclass
from clusterspec.rules.pages import OWN
from clusterspec.rules.rule import place
from clusterspec.units import KINDS, UnitFault
from clusterspec.units import read as read_quantity

LONGEST = 500
"""Limit of characters of a condition."""
MOST = 200
"""Limit of rules and of files in one folder."""
_KEYS = {"name", "when", "assert", "message", "help", "severity", "at"}
_OPERATORS: dict[type, Callable[[Any, Any], Any]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.FloorDiv: operator.floordiv,
    ast.Mod: operator.mod,
    ast.Eq: operator.eq,
    ast.NotEq: operator.ne,
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
    ast.In: lambda one, many: one in many,
    ast.NotIn: lambda one, many: one not in many,
}
_FUNCTIONS: dict[str, Callable[..., Any]] = {"min": min, "max": max, "abs": abs, "len": len}


class PolicyFault(ValueError):
    """An invalid company rule; the message is one line that names the file."""


class _UnknownError(Exception):
    """A name has no value in this design."""


@dataclass(frozen=True, slots=True)
class CompanyRule:
    """One rule of a company."""

    name: str
    when: ast.expr | None
    demand: ast.expr
    message: str
    help: str
    severity: Severity
    at: str


def load(folders: Sequence[Path]) -> tuple[CompanyRule, ...]:
    """The rules in the YAML files of some folders. Raises `PolicyFault` for an invalid rule."""
    found: dict[str, CompanyRule] = {}
    for folder in folders:
        if not folder.is_dir():
            raise PolicyFault(f"the rules folder {folder} is not a folder")
        files = sorted(path for path in folder.iterdir() if path.suffix in {".yaml", ".yml"} and path.is_file())
        if len(files) > MOST:
            raise PolicyFault(f"the rules folder {folder} holds more than {MOST} files")
        for file in files:
            for rule in _rules(file):
                if rule.name in found:
                    raise PolicyFault(f"{file}: a rule {rule.name} exists already")
                found[rule.name] = rule
    return tuple(found.values())


def _rules(file: Path) -> Iterator[CompanyRule]:
    document, problems = parse(decode(str(file), read_bytes(file)))
    value = document.value if document is not None else None
    rules = value.get("rules") if isinstance(value, dict) else None
    if problems or not isinstance(rules, list) or len(rules) > MOST:
        why = problems[0].message if problems else f"holds no list `rules` of at most {MOST}"
        raise PolicyFault(f"{file}: {why}")
    for number, one in enumerate(rules, 1):
        try:
            yield _rule(one)
        except PolicyFault as fault:
            raise PolicyFault(f"{file}: rule {number}: {fault}") from None


def _rule(one: Any) -> CompanyRule:
    if not isinstance(one, dict) or not all(isinstance(text, str) for text in one.values()):
        raise PolicyFault("is a mapping of texts")
    unknown = one.keys() - _KEYS
    missing = {"name", "assert", "message"} - one.keys()
    if unknown or missing:
        key = sorted(unknown or missing)[0]
        raise PolicyFault(
            f"{'unknown key' if unknown else 'lacks'} {key[:60]}; the keys are {', '.join(sorted(_KEYS))}"
        )
    name = one["name"]
    if not name.replace("-", "").isalnum() or len(name) > 60:
        raise PolicyFault("its name is lower-case words joined by `-`")
    if one.get("severity", "warning") not in list(Severity):
        raise PolicyFault(f"severity is error, warning or note, not {one['severity'][:60]!r}")
    when = compiled(one["when"]) if "when" in one else None
    severity = Severity(one.get("severity", "warning"))
    texts = (one["message"][:300], one.get("help", "")[:300])
    return CompanyRule(OWN + name, when, compiled(one["assert"]), *texts, severity, one.get("at", ""))


def compiled(text: str) -> ast.expr:
    """A condition as a syntax tree of allowed nodes. Raises `PolicyFault`.

    >>> ast.unparse(compiled("cluster.nodes > 16 and layout.tp in [4, 8]"))
    'cluster.nodes > 16 and layout.tp in [4, 8]'
    """
    try:
        tree = ast.parse(text.strip(), mode="eval").body if len(text) <= LONGEST else None
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        tree = None
    if tree is None:
        raise PolicyFault(f"{text[:60]!r} is not a valid condition")
    for node in ast.walk(tree):
        if not isinstance(node, _ALLOWED) or (isinstance(node, ast.Attribute) and node.attr.startswith("_")):
            raise PolicyFault(f"{text[:60]!r} holds {type(node).__name__}, which no condition may")
        if isinstance(node, ast.Call) and not (isinstance(node.func, ast.Name) and node.func.id in _FUNCTIONS):
            *others, last = _FUNCTIONS
            raise PolicyFault(f"{text[:60]!r} is not valid: only {', '.join(others)} and {last} can be called")
    return tree


_ALLOWED = (
    ast.BoolOp, ast.And, ast.Or, ast.UnaryOp, ast.Not, ast.USub, ast.Compare, ast.BinOp, ast.Name, ast.Load,
    ast.Attribute, ast.Constant, ast.List, ast.Tuple, ast.Call, *_OPERATORS,
)  # fmt: skip


def run_company_rules(rules: Sequence[CompanyRule], figures: Mapping[str, Any]) -> list[Problem]:
    """The problems that company rules report for a design; ``figures`` are its values by name."""
    found = []
    for rule in rules:
        try:
            holds = rule.when is None or _value(rule.when, figures)
            if holds and not _value(rule.demand, figures):
                at = place(rule.at) if rule.at else ()
                found.append(Problem(rule.name, at, rule.message, rule.help, rule.severity))
        except (_UnknownError, ArithmeticError, RecursionError, TypeError, ValueError):
            continue
    return found


def _value(node: ast.expr, figures: Mapping[str, Any]) -> Any:
    """The value of a condition or of a part of it. Raises `_UnknownError`, and `TypeError` for an invalid operation."""
    return _VALUES[type(node)](node, figures)


def _both(node: Any, figures: Mapping[str, Any]) -> bool:
    values = (_value(item, figures) for item in node.values)
    return all(values) if isinstance(node.op, ast.And) else any(values)


def _signed(node: Any, figures: Mapping[str, Any]) -> Any:
    operand = _value(node.operand, figures)
    return not operand if isinstance(node.op, ast.Not) else -_number(operand)


def _arithmetic(node: Any, figures: Mapping[str, Any]) -> Any:
    return _OPERATORS[type(node.op)](_number(_value(node.left, figures)), _number(_value(node.right, figures)))


def _number(value: Any) -> float:
    """A number. Text is rejected, since text times a number would grow without limit."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise TypeError
    return value


def _compared(node: ast.Compare, figures: Mapping[str, Any]) -> bool:
    left = _value(node.left, figures)
    for sign, item in zip(node.ops, node.comparators, strict=True):
        right = _value(item, figures)
        one, other = _alike(left, right), _alike(right, left)
        if not _OPERATORS[type(sign)](one, other):
            return False
        left = right
    return True


def _alike(value: Any, other: Any) -> Any:
    """The value of a quantity in quotes where it is compared with a number; any other value unchanged."""
    if not isinstance(value, str) or isinstance(other, bool) or not isinstance(other, int | float):
        return value
    for kind in KINDS:
        try:
            quantity = read_quantity(value, kind)
        except UnitFault:
            continue
        return quantity.value if quantity.direction is None else quantity.per_direction
    raise TypeError


def _named(node: ast.expr, figures: Mapping[str, Any]) -> Any:
    if isinstance(node, ast.Name):
        found: Any = figures.get(node.id)
    elif isinstance(node, ast.Attribute):
        outer = _named(node.value, figures)
        found = outer.get(node.attr) if isinstance(outer, dict) else None
    if found is None:
        raise _UnknownError
    return found


_VALUES: dict[type, Callable[[Any, Mapping[str, Any]], Any]] = {
    ast.Constant: lambda node, _: node.value,
    ast.Name: _named,
    ast.Attribute: _named,
    ast.List: lambda node, figures: [_value(item, figures) for item in node.elts],
    ast.Tuple: lambda node, figures: [_value(item, figures) for item in node.elts],
    ast.BoolOp: _both,
    ast.UnaryOp: _signed,
    ast.BinOp: _arithmetic,
    ast.Call: lambda node, figures: _FUNCTIONS[node.func.id](*(_value(item, figures) for item in node.args)),
    ast.Compare: _compared,
}
