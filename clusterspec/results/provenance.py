"""Provenance of numbers as text: the line of the spec, or the source cited by a catalog entry."""

from __future__ import annotations

import contextlib
from pathlib import PurePath

from clusterspec.catalog import BrokenEntry, Catalog
from clusterspec.document import Document
from clusterspec.origin import Cited, Origin, Written
from clusterspec.patterns import pattern
from clusterspec.records import dataclass
from clusterspec.source import Path, Span

_STEP = pattern(r"([^.\[\]]+)|\[(\d+)\]")


@dataclass(frozen=True, slots=True)
class Provenance:
    """Converts origins to text, with line and source if a document and a catalog are given."""

    document: Document | None = None
    catalog: Catalog | None = None
    folders: bool = True
    """Whether files are named with their folders."""

    def text(self, origin: Origin) -> str:
        """``spec.yaml:12: tp: 8`` for written values, entry and source for cited ones, else the reason."""
        if isinstance(origin, Written):
            return self._written(origin)
        return self._cited(origin) if isinstance(origin, Cited) else str(origin)

    def _written(self, origin: Written) -> str:
        span = origin.span or self._span(path_of(origin.key))
        source = self.document.sources.get(span.file, self.document.source) if span and self.document else None
        if span is None or source is None:
            return str(origin)
        file = span.file if self.folders else PurePath(span.file).name
        return f"{file}:{span.start.line}: {source.line(span.start.line).strip()}"

    def _span(self, path: Path) -> Span | None:
        """The span of a value, or of its nearest enclosing mapping that is written: keys of a catalog model
        have the span of ``workload.model``.
        """
        places = self.document.places if self.document else {}
        found = next((places[path[:length]] for length in range(len(path), 0, -1) if path[:length] in places), None)
        return (found.key or found.value) if found else None

    def _cited(self, origin: Cited) -> str:
        return str(self.resolved(origin))

    def resolved(self, origin: Cited) -> Origin:
        """A citation with the source document of the entry, if it names the entry only."""
        if origin.url or self.catalog is None:
            return origin
        kind, _, name = origin.entry.partition("/")
        with contextlib.suppress(KeyError, BrokenEntry, LookupError):
            fact = self.catalog.raw_entry(kind, name).facts.get(origin.fact)
            if fact is not None and fact.origin is not None:
                return fact.origin
        return origin


def path_of(key: str) -> Path:
    """A dotted key path as a path.

    >>> path_of("measured[0].size")
    ('measured', 0, 'size')
    """
    return tuple(int(number) if number else name for name, number in _STEP.findall(key))
