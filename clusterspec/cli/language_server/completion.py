"""Completion: keys of a mapping, keywords of a key, ids of the catalog."""

from __future__ import annotations

import re
from pathlib import Path as FilePath

from clusterspec.catalog import BrokenEntry, Catalog
from clusterspec.catalog.references import KINDS_OF_KEYS, ids_of_key
from clusterspec.catalog.rows import rows
from clusterspec.document import project_root, schema_nodes
from clusterspec.records import dataclass
from clusterspec.rules.index import RULES
from clusterspec.source import Path
from clusterspec.spec.schema import schema

_KEY = re.compile(r"^(?P<indent> *)(?:- +)?(?P<key>[\w.-]+):(?P<value>.*)$")
_INSIDE = re.compile(r"(?:[{,]\s*)(?P<key>[\w.-]+):\s*(?P<value>[^,{}]*)$")
_COMMENT = re.compile(r"(?:^|(?<=\s))#.*$")
_WAIVES = re.compile(r"clusterspec:\s*ignore(?:-file)?\s*\[[^\]]*$")
MOST = 100
"""Files of a folder that are offered as a base."""


@dataclass(frozen=True, slots=True)
class CompletionItem:
    """A completion: its text, kind, and description from the schema."""

    text: str
    kind: str
    detail: str = ""


@dataclass(frozen=True, slots=True)
class Place:
    """A position in a text (line and column from 0, in code points), and the folder of its file."""

    lines: list[str]
    line: int
    column: int
    folder: FilePath


def offers(place: Place, catalog: Catalog) -> list[CompletionItem]:
    """The completions at a position; the text need not be valid YAML."""
    lines, line = place.lines, place.line
    before = lines[line][: place.column] if line < len(lines) else ""
    if comment := _COMMENT.search(before):
        waives = _WAIVES.search(comment[0])
        return [CompletionItem(rule, "value") for rule in RULES] if waives else []
    item = before.lstrip(" ").startswith("- ")
    indent = len(before) - len(before.lstrip(" "))
    path = _in_lists(_mapping(lines, line, indent + item))
    written = _KEY.match(before)
    if written and written["key"] == "extends" and not path:
        return [CompletionItem(name, "value") for name in _bases(place.folder)]
    inside = _INSIDE.search(before)
    if inside:
        outer = _in_lists((*path, written["key"])) if written else path
        return _values((*outer, inside["key"]), catalog)
    if written:
        if "{" in written["value"]:
            return _keys(_in_lists((*path, written["key"])), set())
        return _values((*path, written["key"]), catalog)
    return _keys(path, set() if item else _siblings(lines, line, before))


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


def _in_lists(path: Path) -> Path:
    """The path with an index behind each key that holds a list of mappings."""
    made: Path = ()
    for key in path:
        made = (*made, key)
        branches = schema_nodes.branches(schema_nodes.at(schema(), made), schema())
        items = [branch["items"] for branch in branches if isinstance(branch.get("items"), dict)]
        if any(schema_nodes.keys(one, schema()) for one in items):
            made = (*made, 0)
    return made


def _bases(folder: FilePath) -> list[str]:
    """The YAML files of a folder and of the one above it, relative to the folder."""
    root, found = project_root(folder), []
    for where, prefix in ((folder, ""), (folder.parent, "../")):
        if where.is_relative_to(root) and where.is_dir():
            names = sorted(one.name for one in where.iterdir() if one.suffix in {".yaml", ".yml"})
            found += [prefix + name for name in names[:MOST]]
    return found


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


def _summaries(catalog: Catalog, kind: str) -> dict[str, str]:
    """Name, main figures and state of each entry of a kind; none where an entry of a company cannot be read."""
    try:
        return {row.id: f"{row.name} · {row.headline} · {row.status}" for row in rows(catalog, [kind])}
    except BrokenEntry:
        return {}


def _keys(path: Path, present: set[str]) -> list[CompletionItem]:
    known = schema_nodes.keys(schema_nodes.at(schema(), path), schema())
    return [
        CompletionItem(key, "key", str(schema_nodes.resolved(node, schema()).get("description", "")))
        for key, node in known.items()
        if key not in present
    ]


def _values(path: Path, catalog: Catalog) -> list[CompletionItem]:
    node = schema_nodes.at(schema(), path)
    kind = KINDS_OF_KEYS.get(str(path[-1]))
    if kind is not None and any(branch.get("type") == "string" for branch in schema_nodes.branches(node, schema())):
        summaries = _summaries(catalog, kind)
        return [CompletionItem(id_, kind, summaries.get(id_, "")) for id_ in ids_of_key(catalog, str(path[-1]))]
    words: list[str] = []
    for branch in schema_nodes.branches(node, schema()):
        words += [str(word) for word in (*branch.get("enum", ()), *([branch["const"]] if "const" in branch else []))]
        words += ["true", "false"] if branch.get("type") == "boolean" else []
    examples = [example for example in node.get("examples", ()) if isinstance(example, str | int | float)]
    offered = words or [str(example) for example in examples]
    return [CompletionItem(word, "value" if words else "example") for word in dict.fromkeys(offered)]
