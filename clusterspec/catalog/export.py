"""Export of the catalog as a table with one row per fact and its source.

The data are licensed CC BY 4.0, which is stated in every row and document.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator, Sequence

from clusterspec.catalog.entry_view import EntryView, FactView, entry_view
from clusterspec.catalog.library import Catalog
from clusterspec.origin import Cited

LICENSE = "CC-BY-4.0"
LICENSE_URL = "https://creativecommons.org/licenses/by/4.0/"
COLUMNS = (
    *("kind", "id", "name", "vendor", "status", "as_of", "fact", "written", "value", "unit", "scope", "basis"),
    *("source", "url", "read", "also", "assumed", "note", "doubt", "license", "catalog"),
)
"""``value`` is in SI (``unit``), bandwidths per direction and peaks dense; ``written`` is the source's own form."""

Record = dict[str, str | float | None]


def records(catalog: Catalog, kinds: Sequence[str] = ()) -> Iterator[Record]:
    """The facts of a catalog, or of some kinds, by kind and id. Raises `BrokenEntry`."""
    for kind in kinds or catalog.kinds:
        for id_ in catalog.ids(kind):
            entry = entry_view(catalog.raw_entry(kind, id_))
            for line in (*entry.facts, *entry.achievable):
                yield _record(entry, line, catalog.version)


def export_json(catalog: Catalog, kinds: Sequence[str] = ()) -> dict[str, object]:
    """The body of a JSON document: license, conventions and rows."""
    return {
        "license": LICENSE,
        "license_url": LICENSE_URL,
        "convention": "SI; bandwidths per direction, peaks dense, sparse peaks as their dense half",
        "facts": list(records(catalog, kinds)),
    }


def export_csv(catalog: Catalog, kinds: Sequence[str] = ()) -> str:
    """A CSV table with a header (RFC 4180)."""
    text = io.StringIO()
    writer = csv.DictWriter(text, COLUMNS, lineterminator="\r\n")
    writer.writeheader()
    writer.writerows(records(catalog, kinds))
    return text.getvalue()


def _record(entry: EntryView, line: FactView, version: str) -> Record:
    origin = line.fact.origin
    cited = origin if isinstance(origin, Cited) else None
    assumed = "" if origin is None or isinstance(origin, Cited) else origin.why
    values: tuple[str | float | None, ...] = (
        *(entry.kind, entry.id, entry.name, entry.vendor, entry.status.state, entry.status.as_of),
        *(line.name, line.written, line.value, line.unit, line.fact.scope, line.fact.basis),
        *((cited.source, cited.url, cited.read) if cited else ("", "", "")),
        "; ".join(one.named for one in line.fact.also),
        *(assumed, line.fact.note, line.fact.doubt, LICENSE, version),
    )
    return dict(zip(COLUMNS, values, strict=True))
