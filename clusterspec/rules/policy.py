"""Company rules: declarative YAML over the figures of a resolved design. No project code is ever run.

    rules:
      - name: no-oversubscription
        when: cluster.nodes > 16
        assert: cluster.scale_out.oversubscription <= 1
        message: our fabrics are not oversubscribed
        severity: error
        at: cluster.scale_out.oversubscription

A condition is arithmetic and comparison over the names of ``estimate --format json`` and, after ``spec.``, the keys as
written. A quantity in quotes is read with its unit. A name that exists but has no value in a design makes the rule
silent; a name that does not exist is rejected, and a condition that cannot be evaluated is an error of the design.
"""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from clusterspec.cost.estimate import unmeasured_step_time
from clusterspec.cost.plan import Plan
from clusterspec.document import decode, nearest_words, parse, read_bytes
from clusterspec.document.conforms import child_node, mapping_keys
from clusterspec.document.schema import alternatives_text
from clusterspec.finding import Problem, Severity
from clusterspec.records import dataclass
from clusterspec.results.estimate_json import estimate_fields, figure_names
from clusterspec.rules.pages import OWN
from clusterspec.rules.rule import key_path
from clusterspec.spec import schema
from clusterspec.units import KINDS, UnitFault
from clusterspec.units import read as read_quantity

LONGEST = 500
"""Limit of characters of a condition."""
MOST = 200
"""Limit of rules and of files in one folder."""
MOST_NAMED = 12
"""Largest number of names that the message about an unknown name lists."""
SPEC = "spec"
"""Prefix of the names of keys as written."""
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
    """An invalid company rule. The message is one line and names the file."""


class _UnknownError(Exception):
    """A name has no value in this design."""


@dataclass(frozen=True)
class CompanyRule:
    """One rule of a company, with the name of its file."""

    name: str
    when: ast.expr | None
    demand: ast.expr
    message: str
    help: str
    severity: Severity
    at: str
    file: str = ""

    @property
    def page(self) -> str:
        """The page of the rule: its message, conditions, help, severity, key and file."""
        lines = [("when", ast.unparse(self.when) if self.when else ""), ("assert", ast.unparse(self.demand))]
        lines += [("help", self.help), ("severity", str(self.severity)), ("at", self.at), ("file", self.file)]
        listed = "\n".join(f"- {name}: {text}" for name, text in lines if text)
        return f"# {self.name}\n\n{self.message}\n\n{listed}\n"


def load(folders: Sequence[Path]) -> tuple[CompanyRule, ...]:
    """The rules in the YAML files of the given folders. Raises `PolicyFault` for an invalid rule."""
    found: dict[str, CompanyRule] = {}
    for folder in folders:
        if not folder.is_dir():
            raise PolicyFault(f"the rules folder {folder} is not a folder")
        files = sorted(path for path in folder.iterdir() if path.suffix in {".yaml", ".yml"} and path.is_file())
        if len(files) > MOST:
            raise PolicyFault(f"the rules folder {folder} holds more than {MOST} files")
        for file in files:
            for rule in _company_rules(file):
                if rule.name in found:
                    raise PolicyFault(f"{file}: a rule {rule.name} exists already")
                found[rule.name] = rule
    return tuple(found.values())


def _company_rules(file: Path) -> Iterator[CompanyRule]:
    document, problems = parse(decode(str(file), read_bytes(file)))
    value = document.value if document is not None else None
    rules = value.get("rules") if isinstance(value, dict) else None
    if problems or not isinstance(rules, list) or len(rules) > MOST:
        why = problems[0].message if problems else f"holds no list `rules` of at most {MOST}"
        raise PolicyFault(f"{file}: {why}")
    for number, one in enumerate(rules, 1):
        try:
            yield _company_rule(one, str(file))
        except PolicyFault as fault:
            raise PolicyFault(f"{file}: rule {number}: {fault}") from None


def _company_rule(one: Any, file: str) -> CompanyRule:
    if not isinstance(one, dict) or not all(isinstance(text, str) for text in one.values()):
        raise PolicyFault("it must be a mapping of texts")
    unknown = one.keys() - _KEYS
    missing = {"name", "assert", "message"} - one.keys()
    if unknown or missing:
        key = sorted(unknown or missing)[0]
        raise PolicyFault(
            f"{'unknown key' if unknown else 'lacks'} {key[:60]}; the keys are {', '.join(sorted(_KEYS))}"
        )
    name = one["name"]
    if not name.replace("-", "").isalnum() or len(name) > 60:
        raise PolicyFault("its name must be lower-case words joined by `-`")
    if one.get("severity", "warning") not in list(Severity):
        raise PolicyFault(f"severity must be error, warning or note, not {one['severity'][:60]!r}")
    when = condition_tree(one["when"]) if "when" in one else None
    _refuse_unknown_key(one.get("at", ""))
    severity = Severity(one.get("severity", "warning"))
    texts = (one["message"][:300], one.get("help", "")[:300])
    return CompanyRule(OWN + name, when, condition_tree(one["assert"]), *texts, severity, one.get("at", ""), file)


def condition_tree(text: str) -> ast.expr:
    """The condition as a syntax tree of allowed nodes. Raises `PolicyFault`.

    >>> ast.unparse(condition_tree("cluster.nodes > 16 and layout.tp in [4, 8]"))
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
            raise PolicyFault(f"{text[:60]!r} contains {type(node).__name__}, which is not allowed in a condition")
        if isinstance(node, ast.Call) and not (isinstance(node.func, ast.Name) and node.func.id in _FUNCTIONS):
            *others, last = _FUNCTIONS
            raise PolicyFault(f"{text[:60]!r} is not valid: only {', '.join(others)} and {last} can be called")
    for node in _outermost_names(tree):
        _refuse_unknown_name(node)
    return tree


def _outermost_names(tree: ast.expr) -> Iterator[ast.expr]:
    """The names in a condition, each with its attributes; names of functions are omitted."""
    inner = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Attribute)}
    called = {id(node.func) for node in ast.walk(tree) if isinstance(node, ast.Call)}
    for node in ast.walk(tree):
        if isinstance(node, ast.Name | ast.Attribute) and id(node) not in inner | called:
            yield node


def _refuse_unknown_name(node: ast.expr) -> None:
    """Raises `PolicyFault` for a name that neither an estimate nor a spec has; the message names the nearest one."""
    parts = ast.unparse(node).split(".")
    if parts[0] == SPEC:
        _refuse_unknown_key(".".join(parts[1:]), f"{SPEC}.")
        return
    known: Any = {**figure_names(), SPEC: None}
    for number, part in enumerate(parts):
        if not isinstance(known, dict) or part not in known:
            outer = "".join(f"{one}." for one in parts[:number])
            inside = known if isinstance(known, dict) else {}
            raise PolicyFault(_unknown_name_message(outer, part, inside, ".".join(parts)))
        known = known[part]


def _refuse_unknown_key(dotted: str, prefix: str = "") -> None:
    """Raises `PolicyFault` for a key that no spec has; the message suggests the nearest key."""
    root = schema()
    node: Any = root
    for key in key_path(dotted) if dotted else ():
        inner = child_node(node, root, key)
        if inner is None:
            raise PolicyFault(_unknown_name_message(prefix, str(key), mapping_keys(node, root)))
        node, prefix = inner, f"{prefix}{key}."


def _unknown_name_message(outer: str, part: str, known: Iterable[str], whole: str = "") -> str:
    """The message about an unknown name: it suggests a similar name, or the ``whole`` name as a key of the spec, and
    otherwise lists the known names.
    """
    meant = [outer + name for name in nearest_words(part, known)]
    if not meant and whole and _is_key(whole):
        meant = [f"{SPEC}.{whole}"]
    few = [*known] if outer else []
    there = f"; there are {', '.join(outer + name for name in few[:MOST_NAMED])}" if few else ""
    advice = f"; did you mean {alternatives_text(meant)}?" if meant else there
    return f"no name `{outer}{part[:60]}` exists{advice}"


def _is_key(dotted: str) -> bool:
    """Whether specs may have a key at this path."""
    try:
        _refuse_unknown_key(dotted)
    except PolicyFault:
        return False
    return True


_ALLOWED = (
    ast.BoolOp, ast.And, ast.Or, ast.UnaryOp, ast.Not, ast.USub, ast.Compare, ast.BinOp, ast.Name, ast.Load,
    ast.Attribute, ast.Constant, ast.List, ast.Tuple, ast.Call, *_OPERATORS,
)  # fmt: skip


def company_figures(plan: Plan, written: object) -> dict[str, Any]:
    """The values that company rules can compare, by name: those of an estimate, and the spec as written."""
    return estimate_fields(plan, unmeasured_step_time(plan)) | {"spec": written}


def run_company_rules(rules: Sequence[CompanyRule], figures: Mapping[str, Any]) -> list[Problem]:
    """The problems that company rules report for a design; ``figures`` are its values by name."""
    found = []
    for rule in rules:
        at = key_path(rule.at) if rule.at else ()
        try:
            holds = rule.when is None or _truth_value(rule.when, figures)
            if holds and not _truth_value(rule.demand, figures):
                found.append(Problem(rule.name, at, rule.message, rule.help, rule.severity))
        except _UnknownError:
            continue
        except (ArithmeticError, RecursionError, TypeError, ValueError) as fault:
            why = "nested too deeply" if isinstance(fault, RecursionError) else str(fault) or type(fault).__name__
            message = f"the conditions of {rule.name} cannot be evaluated: {why}"
            found.append(Problem(rule.name, at, message, "correct the rule, or its `when`"))
    return found


def _truth_value(node: ast.expr, figures: Mapping[str, Any]) -> bool:
    """The truth value of a condition. Raises `TypeError` if its value is neither true nor false."""
    value = _node_value(node, figures)
    if not isinstance(value, bool):
        raise TypeError(f"`{ast.unparse(node)[:60]}` is {_value_text(value)}, neither true nor false")
    return value


def _value_text(value: Any) -> str:
    return repr(value)[:60]


def _node_value(node: ast.expr, figures: Mapping[str, Any]) -> Any:
    """The value of a condition or of a part of it. Raises `_UnknownError`, and `TypeError` for an invalid operation."""
    return _VALUES[type(node)](node, figures)


def _boolean_value(node: Any, figures: Mapping[str, Any]) -> bool:
    values = (_truth_value(item, figures) for item in node.values)
    return all(values) if isinstance(node.op, ast.And) else any(values)


def _signed_value(node: Any, figures: Mapping[str, Any]) -> Any:
    return (
        not _truth_value(node.operand, figures)
        if isinstance(node.op, ast.Not)
        else -_number_operand(_node_value(node.operand, figures))
    )


def _arithmetic_value(node: Any, figures: Mapping[str, Any]) -> Any:
    return _OPERATORS[type(node.op)](
        _number_operand(_node_value(node.left, figures)), _number_operand(_node_value(node.right, figures))
    )


def _number_operand(value: Any) -> float:
    """The value, if it is a number. Raises `TypeError` otherwise; text times a number, for example, would grow without
    limit.
    """
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise TypeError(f"{_value_text(value)} is not a number")
    return value


def _comparison_value(node: ast.Compare, figures: Mapping[str, Any]) -> bool:
    left = _node_value(node.left, figures)
    for sign, item in zip(node.ops, node.comparators, strict=True):
        right = _node_value(item, figures)
        if isinstance(sign, _ORDERED) and isinstance(left, str) and isinstance(right, str):
            (unit, one), (other_unit, other) = _unit_and_value(left), _unit_and_value(right)
            if unit != other_unit:
                raise TypeError(f"{_value_text(left)} and {_value_text(right)} have different units")
        else:
            one, other = _comparable_value(left, right), _comparable_value(right, left)
        if not _OPERATORS[type(sign)](one, other):
            return False
        left = right
    return True


def _comparable_value(value: Any, other: Any) -> Any:
    """The number of a quoted quantity that is compared with a number; other values unchanged."""
    if not isinstance(value, str) or isinstance(other, bool) or not isinstance(other, int | float):
        return value
    return _unit_and_value(value)[1]


_ORDERED = (ast.Lt, ast.LtE, ast.Gt, ast.GtE)


def _unit_and_value(text: str) -> tuple[str, float]:
    """The unit and the value of a quoted quantity. Raises `TypeError` for other text, which has no order."""
    for kind in KINDS:
        try:
            quantity = read_quantity(text, kind)
        except UnitFault:
            continue
        return quantity.unit, quantity.value if quantity.direction is None else quantity.per_direction
    raise TypeError(f"{_value_text(text)} is not a quantity")


def _figure_value(node: ast.expr, figures: Mapping[str, Any]) -> Any:
    if isinstance(node, ast.Name):
        found: Any = figures.get(node.id)
    elif isinstance(node, ast.Attribute):
        outer = _figure_value(node.value, figures)
        found = outer.get(node.attr) if isinstance(outer, dict) else None
    if found is None:
        raise _UnknownError
    return found


_VALUES: dict[type, Callable[[Any, Mapping[str, Any]], Any]] = {
    ast.Constant: lambda node, _: node.value,
    ast.Name: _figure_value,
    ast.Attribute: _figure_value,
    ast.List: lambda node, figures: [_node_value(item, figures) for item in node.elts],
    ast.Tuple: lambda node, figures: [_node_value(item, figures) for item in node.elts],
    ast.BoolOp: _boolean_value,
    ast.UnaryOp: _signed_value,
    ast.BinOp: _arithmetic_value,
    ast.Call: lambda node, figures: _FUNCTIONS[node.func.id](*(_node_value(item, figures) for item in node.args)),
    ast.Compare: _comparison_value,
}
