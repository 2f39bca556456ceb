"""Merge of an import result into the text of a spec; all other characters of the text are kept."""

from __future__ import annotations

import copy
from collections.abc import Sequence
from typing import Any

from clusterspec.document import Document, parse
from clusterspec.exchange.documents import comment_text, flow_text, key_lines, yaml_scalar
from clusterspec.exchange.import_result import FormatError, ImportedValue, ImportResult, UnresolvedSpec, Value
from clusterspec.records import dataclass
from clusterspec.source import Path, Position, Source, dotted_path

ORDER = ("cluster", "workload", "layout", "measured", "acceptance", "operations", "procurement", "document")
"""The top-level keys of a spec in the order in which new keys are written."""
_OF_RUNS = frozenset({"workload", "layout"})
"""The top-level keys that describe one run."""


@dataclass(frozen=True)
class MergedText:
    """The merged text, the values written, those already present, and those that contradict the spec."""

    text: str
    written: tuple[ImportedValue, ...]
    same: tuple[ImportedValue, ...]
    kept: tuple[tuple[ImportedValue, str], ...]
    """Values that are not written because the spec states a different value, each with a text that names the spec's
    value and its line.
    """

    @property
    def other_run(self) -> tuple[tuple[ImportedValue, str], ...]:
        """The kept values that belong to another run (model, batch or layout), once per key of the spec."""
        found = {held: (each, held) for each, held in reversed(self.kept) if each.path[0] in _OF_RUNS}
        return tuple(reversed(found.values()))

    @property
    def joins_two_runs(self) -> bool:
        """Whether the merge would mix values of two runs, since some values are kept and others are written."""
        return bool(self.other_run) and any(each.path[0] in {*_OF_RUNS, "measured"} for each in self.written)


def spec_tree(reading: ImportResult) -> dict[str, Any]:
    """The spec of an import result as plain values, ``clusterspec: 1`` first."""
    root: dict[str, Any] = {"clusterspec": 1} | {key: {} for key in ORDER}
    for given in reading.given:
        _insert_value(root, given)
    return {key: value for key, value in root.items() if value not in ({}, [])}


def _insert_value(root: dict[str, Any], value: ImportedValue) -> None:
    node: Any = root
    for key in value.path[:-1]:
        child = node.get(key)
        node[key] = node = child if isinstance(child, dict) else {}
    last = value.path[-1]
    if value.appended:
        items = node.get(last)
        node[last] = [*(items if isinstance(items, list) else ()), copy.deepcopy(value.value)]
    else:
        node[last] = copy.deepcopy(value.value)


def new_spec(reading: ImportResult, name: str = "imported") -> str:
    """The text of a new spec from an import result, with the file and line after each value."""
    heading = [f"# {comment_text(text)}" for text in _heading_lines(reading)]
    base = "\n".join([*heading, "clusterspec: 1", f"name: {yaml_scalar(name)}", "cluster: {}", ""])
    ordered = sorted(reading.given, key=lambda each: ORDER.index(str(each.path[0])) if each.path[0] in ORDER else 0)
    if any(each.path[0] == "cluster" for each in ordered):
        base = base.replace("cluster: {}\n", "")
    return merge(base, ImportResult(reading.kind, tuple(ordered)), "new spec").text


def _heading_lines(reading: ImportResult) -> list[str]:
    counts = [f"{each.name}: {each.value}  ({each.at})" for each in reading.counts]
    return [f"imported: {reading.kind}", *counts, *map(str, reading.unknown), *_missing_machine_lines(reading)]


def missing_machine(reading: ImportResult) -> str:
    """The machine data that the imported spec lacks, and how to state it: a layout does not name accelerators. Empty
    for imports without a layout, and if the machine is named.
    """
    paths = {each.path[:2] for each in reading.given}
    if not any(path[0] == "layout" for path in paths) or paths & {("cluster", "platform"), ("cluster", "accelerator")}:
        return ""
    known = {dotted_path(each.path): each.value for each in reading.given}
    ranks = next((each.value for each in reading.counts if each.name == "ranks_per_node"), None)
    of_pod = any(part.what.startswith("cluster.accelerators_per_node") for part in reading.unknown)
    each_node = ranks if of_pod else known.get("cluster.accelerators_per_node", ranks)
    nodes = known.get("cluster.nodes", known.get("layout.nodes"))
    nodes_key = f", nodes: {nodes}" if isinstance(nodes, int) and "cluster.nodes" not in known else ""
    of_node = f" of {each_node} accelerators" if isinstance(each_node, int) else ""
    written = f"`cluster: {{platform: …{nodes_key}}}`; `clusterspec catalog list platform`"
    or_else = "or `accelerator` with `accelerators_per_node`"
    return f"cluster.platform: state a platform with nodes{of_node} ({written}), {or_else}"


def _missing_machine_lines(reading: ImportResult) -> list[str]:
    found = missing_machine(reading)
    return [f"missing: {found}"] if found else []


def merge(text: str, reading: ImportResult, name: str) -> MergedText:
    """The text of a spec with an import result merged in. A key with another value in the spec is kept and listed.

    Raises `UnresolvedSpec` if the text is not a spec, `FormatError` if nothing can be inserted into it.
    """
    if not reading.given:
        return MergedText(text, (), (), ())
    document = _parsed_document(text, name)
    written: list[ImportedValue] = []
    same: list[ImportedValue] = []
    kept: list[tuple[ImportedValue, str]] = []
    for group in _insertion_groups(reading.given):
        held = [_present_value(document, given) for given in group]
        new = [given for given, stands in zip(group, held, strict=True) if stands is None]
        if new:
            document = _document_with_group(document, new)
        written += new
        same += [given for given, stands in zip(group, held, strict=True) if stands == ""]
        kept += [(given, stands) for given, stands in zip(group, held, strict=True) if stands]
    return MergedText(document.source.text, tuple(written), tuple(same), tuple(kept))


def _insertion_groups(values: Sequence[ImportedValue]) -> list[list[ImportedValue]]:
    """The values in groups to insert together: consecutive items of one list, and single keys."""
    groups: list[list[ImportedValue]] = []
    for given in values:
        last = groups[-1][-1] if groups else None
        if last is not None and given.appended and last.appended and given.path == last.path:
            groups[-1].append(given)
        else:
            groups.append([given])
    return groups


def _parsed_document(text: str, name: str) -> Document:
    document, problems = parse(Source(name, text))
    if document is None or problems or not isinstance(document.value, dict):
        why = problems[0].message if problems else "it is not a mapping"
        raise UnresolvedSpec(f"{name} cannot be read as a spec: {why}")
    return document


def _present_value(document: Document, value: ImportedValue) -> str | None:
    """None if a key can be inserted, empty if it already has the value, else a description of its current value."""
    node = document.value
    for depth, key in enumerate(value.path):
        if not isinstance(node, dict):
            return _written_value_text(document, value.path[:depth])
        if key not in node or node[key] is None:
            return (
                None
                if node.get(key) is None and not _is_explicit_null(document, value.path[: depth + 1])
                else _written_value_text(document, value.path[: depth + 1])
            )
        node = node[key]
    if value.appended:
        if not isinstance(node, list):
            return _written_value_text(document, value.path)
        return "" if value.value in node else None
    return "" if _is_equal_value(node, value.value) else _written_value_text(document, value.path)


def _is_explicit_null(document: Document, path: Path) -> bool:
    """Whether null is written explicitly rather than left blank."""
    place = document.places.get(path)
    return place is not None and place.value.start != place.value.end


def _is_equal_value(held: Any, value: Value) -> bool:
    """Whether two values are equal; quantities are compared in SI units if both can be read."""
    if isinstance(held, str) and isinstance(value, str) and held != value:
        from clusterspec.units import UnitFault, read

        for kind in ("line_rate", "bandwidth", "bytes"):
            try:
                return read(held, kind).value == read(value, kind).value
            except UnitFault:
                continue
    return bool(held == value)


def _written_value_text(document: Document, path: Path) -> str:
    place = document.places[path]
    value: Any = document.value
    for key in path:
        value = value[key]
    return f"{dotted_path(path)} is {flow_text(value)} on line {place.value.start.line}"


def _document_with_group(document: Document, group: Sequence[ImportedValue]) -> Document:
    """The document with a key or list items inserted into its text. Raises `FormatError` if other values would
    change.
    """
    text, given = document.source.text, group[0]
    parent, rest = _deepest_present_path(document, given.path)
    node: Any = document.value
    for key in parent:
        node = node[key]
    if given.appended and not rest:
        made = _text_with_items(text, document, group)
    elif given.appended:
        first = _nested_value(rest[1:], [given.value])
        made = _text_with_key(text, document, parent, node, (str(rest[0]), first, comment_text(str(given.at))))
        if len(group) > 1:
            made = _text_with_items(made, _parsed_document(made, document.source.name), group[1:])
    else:
        value = _nested_value(rest[1:], given.value)
        made = _text_with_key(text, document, parent, node, (str(rest[0]), value, comment_text(str(given.at))))
    wanted = copy.deepcopy(document.value)
    for each in group:
        _insert_value(wanted, each)
    again = parse(Source(document.source.name, made))[0]
    if again is None or again.value != wanted:
        raise FormatError(f"{document.source.name}: {dotted_path(given.path)} cannot be inserted into the text")
    return again


def _deepest_present_path(document: Document, path: Path) -> tuple[Path, Path]:
    """The longest prefix of a path that has a value in the document, and the rest of the path."""
    node, depth = document.value, 0
    while depth < len(path) and isinstance(node, dict) and node.get(path[depth]) is not None:
        node, depth = node[path[depth]], depth + 1
    return path[:depth], path[depth:]


def _nested_value(path: Sequence[str | int], value: Value) -> Value:
    for key in reversed(path):
        value = {str(key): value}
    return value


def _text_with_key(text: str, document: Document, parent: Path, node: Any, entry: tuple[str, Value, str]) -> str:
    key, value, note = entry
    lines = text.split("\n")
    blank = document.places.get((*parent, key))
    if blank is not None and blank.key is not None:  # the key exists without a value
        indent, line = blank.key.start.column - 1, blank.key.start.line
        made = list(key_lines(key, value, indent, note))
        lines[line - 1 : line] = [lines[line - 1], *made[1:]] if len(made) > 1 else [made[0]]
        return "\n".join(_lines_with_ends(lines, text))
    place = document.places[parent]
    if _is_flow(document, place.value.start):
        return _text_with_flow_entry(text, place.value.end, f"{yaml_scalar(key)}: {flow_text(value)}", not node)
    first = document.places[(*parent, next(iter(node)))].key
    assert first is not None
    last = _last_line_number(document, parent)
    lines[last:last] = key_lines(key, value, first.start.column - 1, note)
    return "\n".join(_lines_with_ends(lines, text))


def _text_with_items(text: str, document: Document, group: Sequence[ImportedValue]) -> str:
    path = group[0].path
    place = document.places[path]
    if _is_flow(document, place.value.start):
        entries = ", ".join(flow_text(given.value) for given in group)
        return _text_with_flow_entry(text, place.value.end, entries, not _present_items(document, path))
    lines = text.split("\n")
    first = document.source.line(place.value.start.line)
    lead = first[: len(first) - len(first.lstrip())]
    last = _last_line_number(document, path)
    lines[last:last] = [f"{lead}- {flow_text(given.value)}  # {comment_text(str(given.at))}" for given in group]
    return "\n".join(_lines_with_ends(lines, text))


def _present_items(document: Document, path: Path) -> list[Any]:
    node: Any = document.value
    for key in path:
        node = node[key]
    return list(node)


def _lines_with_ends(lines: list[str], text: str) -> list[str]:
    """The lines with the line ends of the text."""
    if "\r\n" not in text:
        return lines
    return [
        line if line.endswith("\r") or number == len(lines) - 1 else line + "\r" for number, line in enumerate(lines)
    ]


def _last_line_number(document: Document, path: Path) -> int:
    """The last line of a block."""
    size = len(path)
    return max(place.value.end.line for each, place in document.places.items() if each[:size] == path)


def _is_flow(document: Document, start: Position) -> bool:
    return document.source.line(start.line)[start.column - 1 : start.column] in {"{", "["}


def _text_with_flow_entry(text: str, end: Position, entry: str, empty: bool) -> str:
    lines = text.split("\n")
    offset = sum(len(line) + 1 for line in lines[: end.line - 1]) + end.column - 2
    before = text[:offset].rstrip()
    comma = "" if empty or before.endswith(",") else ","
    gap = "" if empty else " "
    return (
        f"{before}{comma}{gap}{entry}{text[len(before) :]}"
        if "\n" not in text[len(before) : offset]
        else (f"{before}{comma} {entry}{text[len(before) :]}")
    )
