"""Catalog entries as written: header, sources and facts, before conversion to types.

A fact is ``{is: 900 GB/s duplex, scope: device, basis: payload, source: stas-net}``, or a bare
value that takes the entry's own ``source``. Facts are known by dotted names (``scale_up.links``).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from clusterspec.catalog.status import Status
from clusterspec.origin import Assumed, Cited
from clusterspec.records import dataclass
from clusterspec.source import Path

Plain = str | int | float | bool | list[Any]


@dataclass(frozen=True, slots=True)
class Reference:
    """A source: title, address and date of access; ``recalled`` if it was cited from memory.

    ``quoted_in`` is the document through which the source is known, if it was not read itself.
    """

    title: str
    url: str = ""
    read: str = ""
    quoted_in: str = ""
    recalled: bool = False

    @property
    def named(self) -> str:
        return f"{self.title}, as quoted in {self.quoted_in}" if self.quoted_in else self.title


@dataclass(frozen=True, slots=True)
class Rejected:
    """A figure of another source that was not used, and the reason."""

    value: Plain
    source: str
    why: str


@dataclass(frozen=True, slots=True)
class Fact:
    """A fact: its value and source, and for a bandwidth its scope and basis.

    ``origin`` is None if the entry has neither a source nor an assumption for it; ``also`` are other
    sources of the same figure.
    """

    name: str
    value: Plain
    path: Path
    origin: Cited | Assumed | None
    of: str = ""
    prints: str = ""
    scope: str = ""
    basis: str = ""
    note: str = ""
    doubt: str = ""
    rejected: tuple[Rejected, ...] = ()
    also: tuple[Reference, ...] = ()
    bare: bool = False
    """Written as a bare value, so its path is that of the value itself."""


@dataclass(frozen=True, slots=True)
class RawEntry:
    """A catalog file. ``exceptions`` gives the reason for each inconsistent sum."""

    kind: str
    id: str
    name: str
    vendor: str
    status: Status
    sources: Mapping[str, Reference]
    facts: Mapping[str, Fact]
    achievable: Mapping[str, Fact]
    exceptions: Mapping[str, str]
    notes: tuple[str, ...]


def read_raw_entry(data: Mapping[str, Any]) -> RawEntry:
    """The raw entry of a document that is valid by the schema of catalog entries."""
    status = data["status"]
    sources = {key: Reference(**value) for key, value in data.get("sources", {}).items()}
    writer = _Writer(f"{data['kind']}/{data['id']}", sources, data.get("source", ""))
    return RawEntry(
        kind=data["kind"],
        id=data["id"],
        name=data["name"],
        vendor=data.get("vendor", ""),
        status=Status(status["is"], status["as_of"], status.get("note", "")),
        sources=sources,
        facts={fact.name: fact for fact in writer.facts(data["facts"], ("facts",))},
        achievable={key: writer.fact(value, ("achievable", key)) for key, value in data.get("achievable", {}).items()},
        exceptions=data.get("exceptions", {}),
        notes=tuple(data.get("notes", ())),
    )


@dataclass(frozen=True, slots=True)
class _Writer:
    """Converts the mappings of an entry to facts; ``source`` applies to facts that name none."""

    entry: str
    sources: Mapping[str, Reference]
    source: str

    def facts(self, data: Mapping[str, Any], path: Path) -> Iterator[Fact]:
        for key, value in data.items():
            if isinstance(value, dict) and "is" not in value:
                yield from self.facts(value, (*path, key))
            else:
                yield self.fact(value, (*path, key))

    def fact(self, written: Any, path: Path) -> Fact:
        words = written if isinstance(written, dict) else {"is": written}
        return Fact(
            name=".".join(str(key) for key in path[1:]),
            value=words["is"],
            path=path,
            origin=self.origin(words, path),
            rejected=tuple(self.rejected(each) for each in words.get("not", ())),
            also=tuple(self.sources[key] for key in words.get("also", ()) if key in self.sources),
            bare=written is not words,
            **{key: words.get(key, "") for key in ("of", "prints", "scope", "basis", "note", "doubt")},
        )

    def origin(self, words: Mapping[str, Any], path: Path) -> Cited | Assumed | None:
        name = ".".join(str(key) for key in path[1:])
        if "assumed" in words:
            return Assumed(f"{self.entry} {name}", words["assumed"])
        reference = self.sources.get(words.get("source", self.source))
        if reference is None:
            return None
        doubts = "; ".join(words[key] for key in ("doubt", "note") if key in words)
        return Cited(self.entry, name, reference.named, reference.url, reference.read, doubts)

    def rejected(self, words: Mapping[str, Any]) -> Rejected:
        source = words.get("source", "")
        title = self.sources[source].named if source in self.sources else source
        return Rejected(words["is"], title, words["why"])
