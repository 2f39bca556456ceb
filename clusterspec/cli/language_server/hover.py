"""Hover texts: the description of a key, interpretations of a quantity, a catalog entry, the pages of findings."""

from __future__ import annotations

from collections.abc import Iterator

from clusterspec import rules
from clusterspec.catalog import BrokenEntry, Catalog, UnknownEntry, lookup, tables
from clusterspec.catalog.references import KINDS_OF_KEYS
from clusterspec.document import schema_nodes, text_at
from clusterspec.document.model import Document
from clusterspec.finding import Finding
from clusterspec.report import readings_text
from clusterspec.report.findings_machines import cell
from clusterspec.source import Path, Position, Span, dotted
from clusterspec.spec.schema import schema
from clusterspec.units import UnitFault, readings

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


def hover(document: Document, catalog: Catalog, findings: list[Finding], at: Position) -> str:
    """The Markdown hover text at a position; empty if there is none."""
    found = path_at(document, at)
    parts = [*_about_findings(findings, document.source.name, at)]
    if found is not None:
        path, on_key = found
        parts = [*(_key(path) if on_key else _value(document, catalog, path)), *parts]
    return "\n\n---\n\n".join(part for part in parts if part)


def _key(path: Path) -> Iterator[str]:
    node = schema_nodes.at(schema(), path)
    if node:
        title = f"**{cell(dotted(path))}**" + (f": {node['title']}" if "title" in node else "")
        yield f"{title}\n\n{node.get('description', '')}"


def _value(document: Document, catalog: Catalog, path: Path) -> Iterator[str]:
    text = text_at(document, path).strip("'\"")
    node = schema_nodes.at(schema(), path)
    kind = KINDS_OF_KEYS.get(str(path[-1]))
    if kind is not None and "\n" not in text:
        try:
            yield _code(tables.show_text(lookup.show(catalog, f"{kind}/{text}"), WIDTH))
        except (UnknownEntry, BrokenEntry, lookup.AmbiguousName):
            yield ""
    elif any("x-quantity" in branch for branch in schema_nodes.branches(node, schema())):
        try:
            yield _code(readings_text.text(readings(text)))
        except UnitFault as fault:
            yield _code(str(fault))


def _code(text: str) -> str:
    return f"```text\n{text.rstrip().replace('```', '')}\n```"


def _about_findings(findings: list[Finding], file: str, at: Position) -> Iterator[str]:
    """The pages of the rules with findings at a position."""
    for rule in dict.fromkeys(finding.rule for finding in findings if covers(finding.span, file, at)):
        if rules.known(rule):
            yield rules.explain(rule)
