"""Completions and hover texts at a position of a spec."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path as FilePath

from clusterspec import rules
from clusterspec.catalog import BrokenEntry, Catalog, UnknownEntry, export, lookup
from clusterspec.catalog.company import ids_of_key, kind_of_key
from clusterspec.catalog.export import catalog_rows
from clusterspec.document import conforms, project_root, text_at
from clusterspec.document.model import Document
from clusterspec.finding import Finding
from clusterspec.records import dataclass
from clusterspec.report import readings_text
from clusterspec.report.findings_machines import markdown_cell
from clusterspec.rules.index import RULES
from clusterspec.source import Path, Position, Span, dotted_path
from clusterspec.spec import schema
from clusterspec.units import UnitFault
from clusterspec.units.readings import readings

# Completion: keys of a mapping, keywords of a key, ids of the catalog

_KEY = re.compile(r"^(?P<indent> *)(?:- +)?(?P<key>[\w.-]+):(?P<value>.*)$")
_INSIDE = re.compile(r"(?:[{,]\s*)(?P<key>[\w.-]+):\s*(?P<value>[^,{}]*)$")
_COMMENT = re.compile(r"(?:^|(?<=\s))#.*$")
_WAIVES = re.compile(r"clusterspec:\s*ignore(?:-file)?\s*\[[^\]]*$")
MOST = 100
"""Largest number of files of a folder that are offered as a base."""


@dataclass(frozen=True)
class CompletionItem:
    """A completion: its text, kind, and description from the schema."""

    text: str
    kind: str
    detail: str = ""


@dataclass(frozen=True)
class Place:
    """A position in a text (line and column from 0, in code points), and the folder of its file."""

    lines: list[str]
    line: int
    column: int
    folder: FilePath


def completion_items(place: Place, catalog: Catalog) -> list[CompletionItem]:
    """The completions at a position; the text need not be valid YAML."""
    lines, line = place.lines, place.line
    before = lines[line][: place.column] if line < len(lines) else ""
    if comment := _COMMENT.search(before):
        waives = _WAIVES.search(comment[0])
        return [CompletionItem(rule, "value") for rule in RULES] if waives else []
    item = before.lstrip(" ").startswith("- ")
    indent = len(before) - len(before.lstrip(" "))
    path = _path_in_lists(_mapping_path(lines, line, indent + item))
    written = _KEY.match(before)
    if written and written["key"] == "extends" and not path:
        return [CompletionItem(name, "value") for name in _base_files(place.folder)]
    inside = _INSIDE.search(before)
    if inside:
        outer = _path_in_lists((*path, written["key"])) if written else path
        return _value_items((*outer, inside["key"]), catalog)
    if written:
        if "{" in written["value"]:
            return _key_items(_path_in_lists((*path, written["key"])), set())
        return _value_items((*path, written["key"]), catalog)
    return _key_items(path, set() if item else _sibling_keys(lines, line, before))


def _mapping_path(lines: list[str], line: int, indent: int) -> Path:
    """The path of the mapping that contains a line indented by ``indent`` spaces."""
    path: list[str] = []
    for number in range(min(line, len(lines)) - 1, -1, -1):
        found = _KEY.match(lines[number])
        if found and len(found["indent"]) < indent and not found["value"].split("#")[0].strip():
            path.append(found["key"])
            indent = len(found["indent"])
        if indent == 0:
            break
    return tuple(reversed(path))


def _path_in_lists(path: Path) -> Path:
    """The path with an index after each key whose value is a list of mappings."""
    made: Path = ()
    for key in path:
        made = (*made, key)
        branches = conforms.node_branches(conforms.node_at(schema(), made), schema())
        items = [branch["items"] for branch in branches if isinstance(branch.get("items"), dict)]
        if any(conforms.mapping_keys(one, schema()) for one in items):
            made = (*made, 0)
    return made


def _base_files(folder: FilePath) -> list[str]:
    """The YAML files of a folder and of the one above it, relative to the folder."""
    root, found = project_root(folder), []
    for where, prefix in ((folder, ""), (folder.parent, "../")):
        if where.is_relative_to(root) and where.is_dir():
            names = sorted(one.name for one in where.iterdir() if one.suffix in {".yaml", ".yml"})
            found += [prefix + name for name in names[:MOST]]
    return found


def _sibling_keys(lines: list[str], line: int, before: str) -> set[str]:
    """The keys that the mapping already has. In an item of a list, the first key follows the dash."""
    indent = len(before) - len(before.lstrip(" "))
    found: set[str] = set()
    for numbers in (range(line - 1, -1, -1), range(line + 1, len(lines))):
        for number in numbers:
            match = _KEY.match(lines[number])
            if match is None or match.start("key") > indent:
                continue
            begins_item = match.start("key") > len(match["indent"])
            if match.start("key") < indent or (begins_item and number > line):
                break
            found.add(match["key"])
            if begins_item:
                break
    return found


def _entry_summaries(catalog: Catalog, kind: str) -> dict[str, str]:
    """Name, main figures and state of each entry of a kind; empty if a company entry cannot be read."""
    try:
        return {row.id: f"{row.name} · {row.headline} · {row.status}" for row in catalog_rows(catalog, [kind])}
    except BrokenEntry:
        return {}


def _key_items(path: Path, present: set[str]) -> list[CompletionItem]:
    known = conforms.mapping_keys(conforms.node_at(schema(), path), schema())
    return [
        CompletionItem(key, "key", str(conforms.resolved_node(node, schema()).get("description", "")))
        for key, node in known.items()
        if key not in present
    ]


def _value_items(path: Path, catalog: Catalog) -> list[CompletionItem]:
    node = conforms.node_at(schema(), path)
    kind = kind_of_key(path)
    if kind is not None and any(branch.get("type") == "string" for branch in conforms.node_branches(node, schema())):
        summaries = _entry_summaries(catalog, kind)
        return [CompletionItem(id_, kind, summaries.get(id_, "")) for id_ in ids_of_key(catalog, path)]
    words: list[str] = []
    for branch in conforms.node_branches(node, schema()):
        words += [str(word) for word in (*branch.get("enum", ()), *([branch["const"]] if "const" in branch else []))]
        words += ["true", "false"] if branch.get("type") == "boolean" else []
    examples = [example for example in node.get("examples", ()) if isinstance(example, str | int | float)]
    offered = words or [str(example) for example in examples]
    return [CompletionItem(word, "value" if words else "example") for word in dict.fromkeys(offered)]


# Hover texts: the description of a key, interpretations of a quantity, a catalog entry, the pages of findings

WIDTH = 88


def covers(span: Span, file: str, at: Position) -> bool:
    """Whether a position is in a span, including its end."""
    return span.file == file and span.start <= at <= span.end


def path_at(document: Document, at: Position) -> tuple[Path, bool] | None:
    """The innermost key path at a position, and whether the position is on its key."""
    file = document.source.name
    found: tuple[Path, bool] | None = None
    for path, place in document.places.items():
        if place.key is not None and covers(place.key, file, at):
            return path, True
        if path and covers(place.value, file, at) and (found is None or len(path) > len(found[0])):
            found = path, False
    return found


def hover_text(document: Document, catalog: Catalog, findings: list[Finding], at: Position) -> str:
    """The Markdown hover text at a position; empty if there is none."""
    found = path_at(document, at)
    parts = [*_rule_pages(findings, document.source.name, at)]
    if found is not None:
        path, on_key = found
        parts = [*(_key_lines(path) if on_key else _value_lines(document, catalog, path)), *parts]
    return "\n\n---\n\n".join(part for part in parts if part)


def _key_lines(path: Path) -> Iterator[str]:
    node = conforms.node_at(schema(), path)
    if node:
        title = f"**{markdown_cell(dotted_path(path))}**" + (f": {node['title']}" if "title" in node else "")
        yield f"{title}\n\n{node.get('description', '')}"


def _value_lines(document: Document, catalog: Catalog, path: Path) -> Iterator[str]:
    text = text_at(document, path).strip("'\"")
    node = conforms.node_at(schema(), path)
    kind = kind_of_key(path)
    if kind is not None and "\n" not in text:
        try:
            yield _code_block(export.show_text(lookup.entry_named(catalog, f"{kind}/{text}"), WIDTH))
        except (UnknownEntry, BrokenEntry, lookup.AmbiguousName):
            yield ""
    elif any("x-quantity" in branch for branch in conforms.node_branches(node, schema())):
        try:
            yield _code_block(readings_text(readings(text)))
        except UnitFault as fault:
            yield _code_block(str(fault))


def _code_block(text: str) -> str:
    return f"```text\n{text.rstrip().replace('```', '')}\n```"


def _rule_pages(findings: list[Finding], file: str, at: Position) -> Iterator[str]:
    """The pages of the rules with findings at a position."""
    for rule in dict.fromkeys(finding.rule for finding in findings if covers(finding.span, file, at)):
        if rules.is_rule_name(rule):
            yield rules.page_markdown(rule)
