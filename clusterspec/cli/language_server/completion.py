"""Completion: keys of a mapping, keywords of a key, ids of the catalog."""

from __future__ import annotations

import re

from clusterspec.catalog import Catalog
from clusterspec.catalog.references import KINDS_OF_KEYS
from clusterspec.document import schema_nodes
from clusterspec.records import dataclass
from clusterspec.source import Path
from clusterspec.spec.schema import schema

_KEY = re.compile(r"^(?P<indent> *)(?:- +)?(?P<key>[\w.-]+):(?P<value>.*)$")
_INSIDE = re.compile(r"(?:[{,]\s*)(?P<key>[\w.-]+):\s*(?P<value>[^,{}]*)$")


@dataclass(frozen=True, slots=True)
class CompletionItem:
    """A completion: its text, kind, and description from the schema."""

    text: str
    kind: str
    detail: str = ""


def offers(lines: list[str], line: int, column: int, catalog: Catalog) -> list[CompletionItem]:
    """The completions at a position (line and column from 0, in code points); the text need not be valid YAML."""
    before = lines[line][:column] if line < len(lines) else ""
    path = _mapping(lines, line, len(before) - len(before.lstrip(" ")))
    written = _KEY.match(before)
    inside = _INSIDE.search(before)
    if inside:
        outer = (*path, written["key"]) if written else path
        return _values((*outer, inside["key"]), catalog)
    if written:
        if "{" in written["value"]:
            return _keys((*path, written["key"]), set())
        return _values((*path, written["key"]), catalog)
    return _keys(path, _siblings(lines, line, before))


def _mapping(lines: list[str], line: int, indent: int) -> Path:
    """The path of the mapping that a line of some indentation belongs to."""
    path: list[str] = []
    for number in range(min(line, len(lines)) - 1, -1, -1):
        found = _KEY.match(lines[number])
        if found and len(found["indent"]) < indent and not found["value"].split("#")[0].strip():
            path.append(found["key"])
            indent = len(found["indent"])
        if indent == 0:
            break
    return tuple(reversed(path))


def _siblings(lines: list[str], line: int, before: str) -> set[str]:
    """The keys that the mapping has already."""
    indent = len(before) - len(before.lstrip(" "))
    found: set[str] = set()
    for numbers in (range(line - 1, -1, -1), range(line + 1, len(lines))):
        for number in numbers:
            match = _KEY.match(lines[number])
            if match and len(match["indent"]) < indent:
                break
            if match and len(match["indent"]) == indent:
                found.add(match["key"])
    return found


def _keys(path: Path, present: set[str]) -> list[CompletionItem]:
    known = schema_nodes.keys(schema_nodes.at(schema(), path), schema())
    return [
        CompletionItem(key, "key", str(schema_nodes.resolved(node, schema()).get("description", "")))
        for key, node in known.items()
        if key not in present
    ]


def _values(path: Path, catalog: Catalog) -> list[CompletionItem]:
    kind = KINDS_OF_KEYS.get(str(path[-1]))
    if kind is not None:
        return [CompletionItem(id_, kind) for id_ in catalog.ids(kind)]
    node = schema_nodes.at(schema(), path)
    words: list[str] = []
    for branch in schema_nodes.branches(node, schema()):
        words += [str(word) for word in (*branch.get("enum", ()), *([branch["const"]] if "const" in branch else []))]
        words += ["true", "false"] if branch.get("type") == "boolean" else []
    examples = [example for example in node.get("examples", ()) if isinstance(example, str | int | float)]
    offered = words or [str(example) for example in examples]
    return [CompletionItem(word, "value" if words else "example") for word in dict.fromkeys(offered)]
