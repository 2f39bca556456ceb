"""The spec: typed values as requested by the author, before resolution.

`read` makes the `Spec` of a document, driven by the schema, the types of the model, and constraints on lists.
"""

from __future__ import annotations

import json
import math
import sys
from functools import cache
from types import NoneType, UnionType

from clusterspec import resources
from clusterspec.document import Document, intended_keys, validate
from clusterspec.document.conforms import Schema, child_node, mapping_keys, node_branches
from clusterspec.document.model import text_at
from clusterspec.document.schema import alternatives_text, kind_of_other_file, nearest_words, one_line_text
from clusterspec.finding import Fix, Problem, Replacement, Severity
from clusterspec.quantity import Quantity
from clusterspec.records import fields, is_dataclass
from clusterspec.source import Path
from clusterspec.spec import model as spec_model
from clusterspec.spec.model import PcieSpec, Spec
from clusterspec.standard import pattern
from clusterspec.units import UnitFault
from clusterspec.units import read as read_quantity

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

# Constraints on values beyond their type: ranges of quantities, consistency of list items

_AXES = ("tp", "cp", "ep", "dp", "pp")
SMALLEST = 1e-15
"""No quantity of a cluster is smaller in its SI unit."""
_DP_PAIR = {"dp_shard", "dp_replicate"}


def quantity_problem(path: Path, quantity: Quantity, notes: Schema) -> Problem | None:
    """The problem with a quantity whose unit is valid, or None; ``notes`` are the schema's annotations."""
    lowest = "zero or more" if notes.get("x-zero") else "above zero"
    if not math.isfinite(quantity.value) or quantity.value < 0 or (quantity.value == 0 and not notes.get("x-zero")):
        return Problem("wrong-type", path, f"`{_key_name(path)}` is {lowest}, but `{quantity.written}` is not")
    if 0 < quantity.value < SMALLEST:
        message = f"`{quantity.written}` is less than `{_key_name(path)}` can be"
        return Problem("wrong-type", path, message, "check the exponent and the prefix of the unit")
    if quantity.value > notes["x-maximum"]:
        most = f"{notes['x-maximum']:.0e} {quantity.unit}".replace("+", "").removesuffix(" 1")
        message = f"`{quantity.written}` is more than `{_key_name(path)}` can be ({most})"
        return Problem("wrong-type", path, message, "check the prefix of the unit")
    if notes["x-quantity"] == "bandwidth" and quantity.direction is None:
        both, one = f"`{quantity.written} duplex`", f"`{quantity.written} unidirectional`"
        message = f"`{quantity.written}` does not say whether it counts one direction or both"
        return Problem("missing-direction", path, message, f"write {both} (both summed) or {one} (each way)")
    return None


def list_problem(path: Path, items: tuple[Any, ...], parent: Any = None) -> Problem | None:
    """The problem with a list whose items are individually valid, or None; ``parent`` is the mapping that contains the
    list.
    """
    if path[-2:] == ("layout", "order"):
        return _axis_order_problem(path, items, parent if isinstance(parent, dict) else {})
    if path[-2:-1] == ("prices",) and items[0] > items[1]:
        message = f"the range of `{_key_name(path)}` goes from the higher price to the lower"
        return Problem("wrong-type", path, message, f"write `[{items[1]}, {items[0]}]`")
    return None


def _axis_order_problem(path: Path, items: tuple[str, ...], layout: dict[str, Any]) -> Problem | None:
    """The problem with an axis order. Each axis of a degree above 1 must occur once; dp_shard and dp_replicate
    may replace dp.
    """
    given = set(items)
    pair = given & _DP_PAIR
    if pair and "dp" in given:
        return Problem("wrong-type", path, f"`order` holds both `dp` and `{min(pair)}`", "keep `dp`, or the pair")
    wanted = {*_AXES, *_DP_PAIR} - {"dp"} if pair else set(_AXES)
    written = {"dp": None, **dict.fromkeys(set(_AXES) - {"dp"}, 1), **layout}  # dp follows from the others
    wanted -= {axis for axis in _AXES if written[axis] == 1}
    missing = [axis for axis in (*_AXES, *sorted(_DP_PAIR)) if axis in wanted - given]
    if missing:
        lacks = ", ".join(f"`{axis}`" for axis in missing)
        return Problem("wrong-type", path, f"`order` lacks {lacks}", "name every axis of more than one rank once")
    return None


def _key_name(path: Path) -> str:
    return next((key for key in reversed(path) if isinstance(key, str)), "")


# The JSON Schema of specs, read once


@cache
def schema() -> dict[str, Any]:
    """The schema shared by editors and the reader. Its annotations: ``x-quantity`` is the kind of a quantity,
    ``x-maximum`` its largest SI value, and ``x-zero`` allows zero. ``x-unused`` marks a key that nothing uses yet.
    ``x-synonyms`` are synonyms of choices, ``x-remarks`` say what a synonym leaves open. ``x-rule`` is the rule of
    errors.
    """
    text = (resources.schemas() / "spec.schema.json").read_text(encoding="utf-8")
    loaded: dict[str, Any] = json.loads(text)
    return loaded


RENAMED = {"passes": "pass", "starts": "from"}
"""Fields whose key is a reserved word of Python."""

_NOT_KEYS = {"file", "broken"}
_KEEPS_VALUE = {"unknown-key", "missing-key", "unsupported-spec-version"}
"""Rules whose problems leave the value at their path valid."""


def read(document: Document) -> tuple[Spec, list[Problem]]:
    """The spec of a document, as far as it can be read, and the problems with its structure and units.

    ``broken`` of the spec contains ``()`` if a base is missing or the document is not a spec, so that
    no key counts as absent.
    """
    if what := kind_of_other_file(document.value):
        return Spec(document.source.name, broken=frozenset({()})), [_foreign_file_problem(what)]
    root = schema()
    problems = validate(document, root)
    partial = document.partial or any(problem.path == ("extends",) for problem in problems)
    if partial:  # the base may have the missing key
        problems = [problem for problem in problems if problem.rule != "missing-key"]
    reader = _SpecReader(document, root, problems)
    if partial:
        reader.broken.add(())
    if not isinstance(document.value, dict):
        return Spec(document.source.name, broken=frozenset({()})), problems
    if not document.value.keys() & root["properties"].keys():
        problems = [_keyless_problem() for problem in problems if problem.rule == "unsupported-spec-version"]
        return Spec(document.source.name, broken=frozenset({()})), problems
    values = reader.fields(Spec, root, (), document.value)
    return Spec(document.source.name, **values, broken=frozenset(reader.broken)), problems


def _foreign_file_problem(program: str) -> Problem:
    """The problem with a file of another program."""
    message = f"this is {program}, not a spec: the top level has no `clusterspec: 1`"
    return Problem("unsupported-spec-version", (), message, "leave it out; of a folder only specs are checked")


def _keyless_problem() -> Problem:
    """The problem with a file that has no key of a spec at its top level."""
    message = "no top-level key belongs to a spec, and `clusterspec` is missing"
    advice = "write `clusterspec: 1` in a spec; leave another file out, or pass `--only-specs`"
    return Problem("unsupported-spec-version", (), message, advice)


@cache
def keys_of(record: type) -> dict[str, str]:
    """The keys of a dataclass of the model, each with the name of its field."""
    names = [field.name for field in fields(record) if field.name not in _NOT_KEYS]
    return {RENAMED.get(name, name): name for name in names}


@cache
def types_of(record: type, name: str) -> tuple[Any, ...]:
    """The types of a field except None.

    `typing.get_type_hints` evaluates the annotations of all fields, which takes longer than reading a spec.
    """
    owner = next(base for base in record.__mro__ if name in getattr(base, "__annotations__", ()))
    return _annotated_types(owner.__annotations__[name], owner.__module__)


@cache
def _annotated_types(annotation: str, module: str) -> tuple[Any, ...]:
    """The types in the annotation of a field, except None. The result is cached, since many fields have the same
    annotation.
    """
    return _field_types(eval(annotation, {}, _Names(module)))  # annotations of our own records


class _Names(dict[str, "Any"]):
    """The names for evaluating the annotations of a module, including types of the spec that are imported on
    first use.
    """

    def __init__(self, module: str) -> None:
        super().__init__()
        self.modules = (sys.modules[module], spec_model)

    def __missing__(self, name: str) -> Any:
        for module in self.modules:
            if hasattr(module, name):
                return getattr(module, name)
        raise KeyError(name)


def _field_types(hint: Any) -> tuple[Any, ...]:
    """The types of a field except None."""
    if isinstance(hint, UnionType):
        return tuple(option for part in hint.__args__ for option in _field_types(part) if option is not NoneType)
    return (hint,)


def _generic_origin(option: Any) -> Any:
    """The class of a type with parameters: ``tuple`` of ``tuple[int, ...]``; None for other types."""
    return getattr(option, "__origin__", None)


class _SpecReader:
    def __init__(self, document: Document, root: Schema, problems: list[Problem]) -> None:
        self.document = document
        self.root = root
        self.problems = problems
        faults = [one for one in problems if one.severity is Severity.ERROR and one.rule not in _KEEPS_VALUE]
        absent = {problem.path for problem in problems if problem.rule == "missing-key"}
        self.broken = {problem.path for problem in faults} | absent | {*intended_keys(problems)}

    def fields(self, record: Any, node: Schema, path: Path, value: dict[str, Any]) -> dict[str, Any]:
        """The arguments for ``record`` from a mapping."""
        known = mapping_keys(node, self.root)
        made = {}
        for key, name in keys_of(record).items():
            if value.get(key) is not None:
                sub = child_node(node, self.root, key) if key in known else None
                made[name] = self._read_value(types_of(record, name), sub or {}, (*path, key), value[key])
        return made

    def _read_value(self, options: tuple[Any, ...], node: Schema, path: Path, value: Any) -> Any:
        if path in self.broken:
            return None
        if isinstance(value, dict):
            made = self._read_mapping(options, node, path, value)
        elif isinstance(value, list):
            made = self._read_list(options, node, path, value)
        else:
            made = self._read_scalar(options, node, path, value)
        if made is None:
            self.broken.add(path)
        elif node.get("x-unused"):
            self._note_unused(path)
        return made

    def _read_mapping(self, options: tuple[Any, ...], node: Schema, path: Path, value: dict[str, Any]) -> Any:
        for option in options:
            if is_dataclass(option) and option is not Quantity:
                return option(**self.fields(option, node, path, value))  # type: ignore[operator]
            if _generic_origin(option) is dict:
                inner = _field_types(option.__args__[1])
                read = {key: self._read_entry(inner, node, (*path, key), item) for key, item in value.items()}
                return {key: item for key, item in read.items() if item is not None}
        return None

    def _read_entry(self, options: tuple[Any, ...], node: Schema, path: Path, item: Any) -> Any:
        sub = child_node(node, self.root, path[-1])
        return self._read_value(options, sub, path, item) if sub is not None and item is not None else None

    def _read_list(self, options: tuple[Any, ...], node: Schema, path: Path, value: list[Any]) -> Any:
        for option in options:
            if _generic_origin(option) is tuple:
                inner = _field_types(option.__args__[0])
                sub = child_node(node, self.root, 0) or {}
                items = tuple(self._read_value(inner, sub, (*path, i), item) for i, item in enumerate(value))
                return None if None in items else self._checked_list(path, items)
        return None

    def _checked_list(self, path: Path, items: tuple[Any, ...]) -> Any:
        """A list, or None if its items are inconsistent."""
        problem = list_problem(path, items, self._parent_mapping(path) if path[-1] == "order" else None)
        if problem is not None:
            self.problems.append(problem)
            return None
        return items

    def _parent_mapping(self, path: Path) -> Any:
        """The mapping that has the value at a path."""
        value = self.document.value
        for key in path[:-1]:
            value = value[key]
        return value

    def _read_scalar(self, options: tuple[Any, ...], node: Schema, path: Path, value: Any) -> Any:
        if options == (PcieSpec,) and isinstance(value, int | float):
            return PcieSpec(int(value), int(value))
        if len(options) == 1 and _generic_origin(options[0]) is tuple:
            only = self._read_scalar(_field_types(options[0].__args__[0]), node, path, value)
            return None if only is None else (only,)
        if Quantity in options and value not in _accepted_words(node, self.root):
            return self._read_quantity(node, path, value)
        if isinstance(value, bool):
            return value if bool in options else None
        if isinstance(value, str):
            return value if str in options else None
        return self._read_number(options, path, value)

    def _read_number(self, options: tuple[Any, ...], path: Path, value: int | float) -> Any:
        if int in options and value == int(value):
            return int(value)
        if float in options:
            return float(value)
        return self._written_text(path, value) if str in options else None

    def _written_text(self, path: Path, value: Any) -> str:
        """A scalar as written: 1.10 stays 1.10."""
        if isinstance(value, str):
            return value
        text = text_at(self.document, path)
        return text if text and not text.startswith(("*", "'", '"')) else str(value)

    def _read_quantity(self, node: Schema, path: Path, value: Any) -> Quantity | None:
        notes = next((one for one in node_branches(node, self.root) if "x-quantity" in one), {})
        try:
            quantity = read_quantity(self._written_text(path, value), notes["x-quantity"])
        except UnitFault as fault:
            fault = _fault_with_usual_unit(fault, self._written_text(path, value), node)
            self.problems.append(_unreadable_quantity_problem(fault, path, value, _accepted_words(node, self.root)))
            return None
        problem = quantity_problem(path, quantity, notes)
        if problem is not None:
            self.problems.append(problem)
            return None
        return quantity

    def _note_unused(self, path: Path) -> None:
        message = f"`{path[-1]}` has no effect: no check, estimate or report uses it yet"
        advice = "keep it as documentation, or delete it"
        self.problems.append(Problem("unused-key", path, message, advice, severity=Severity.NOTE, at_key=True))


def _unreadable_quantity_problem(fault: UnitFault, path: Path, value: Any, words: list[str]) -> Problem:
    """The problem with an unreadable quantity of a key that also accepts keywords."""
    meant = nearest_words(str(value), words)
    if not meant:
        advice = f"write {alternatives_text(words)}, or a quantity: {fault.help}" if words else fault.help
        return Problem(fault.rule, path, fault.message, advice)
    fix = Fix(f"write `{meant[0]}`", (Replacement(path, meant[0]),))
    message = f"`{path[-1]}` takes {alternatives_text(words)} or a quantity, but `{one_line_text(value)}` is neither"
    return Problem("unknown-choice", path, message, f"did you mean {alternatives_text(meant)}?", fix=fix)


_MUCH_LONGER = 20
"""If a bare number is at least this many times the example when read as seconds, it is more likely meant as
milliseconds.
"""


def _fault_with_usual_unit(fault: UnitFault, written: str, node: Schema) -> UnitFault:
    """The fault, with the example of the key in its advice. For a bare number the advice has the unit that was most
    probably omitted.

    It is the unit of the key's example (ms for a time per token). If the example is in seconds, it is ms if that brings
    the number much nearer to the example: with `ttft: 2 s`, a bare 500 means ms and a bare 3 means seconds.
    """
    example = str(next(iter(node.get("examples", ())), ""))
    usual = pattern(r"([\d.]+) (\S+)").fullmatch(example)
    if example and fault.rule in {"unreadable-quantity", "wrong-unit"}:
        advice = pattern(r"(write [a-z ]{1,60} such as )`[^`]{1,40}`").sub(
            lambda match: f"{match[1]}`{example}`", fault.help
        )
        return UnitFault(fault.rule, fault.message, advice)
    if fault.rule != "missing-unit" or usual is None or not pattern(r"[\d.]+").fullmatch(written):
        return fault
    unit = "ms" if usual[2] == "s" and float(written) > _MUCH_LONGER * float(usual[1]) else usual[2]
    first = f"`{written} {unit}`"
    others = [each for each in fault.help.removeprefix("write ").split(" or ") if each != first]
    return UnitFault(fault.rule, fault.message, f"write {' or '.join([first, *others])}")


def _accepted_words(node: Schema, root: Schema) -> list[Any]:
    """The keywords that a key accepts in place of a quantity."""
    return [one["const"] for one in node_branches(node, root) if "const" in one]
