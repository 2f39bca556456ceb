"""The catalog as open data: one row for each fact and reading, as CSV, JSON, SQLite and Parquet."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator, Sequence
from importlib import import_module
from typing import TYPE_CHECKING, Any

from clusterspec.catalog import Catalog
from clusterspec.catalog.reader import Reference, quantity_of
from clusterspec.catalog.views import EntryView, FactView, entry_view, value_text
from clusterspec.cells import escaped_cell
from clusterspec.source import Cited

if TYPE_CHECKING:
    from sqlite3 import Connection

LICENSE = "CC-BY-4.0"
LICENSE_URL = "https://creativecommons.org/licenses/by/4.0/"
FORMAT = 2
SCHEMA_URL = "https://raw.githubusercontent.com/clusterspec/clusterspec/main/schemas/catalog-export.schema.json"
"""The address of the JSON Schema of the JSON document, which describes every column."""
CONVENTION = "SI; bandwidths per direction; peaks dense, and sparse peaks with sparsity as they are printed"
COLUMNS = (
    *("fact_id", "kind", "id", "name", "vendor", "status", "as_of", "fact", "written", "prints", "value", "unit"),
    *("low", "high", "of", "scope", "basis", "evidence", "source", "url", "read", "quoted_in", "copy", "also"),
    *("assumed", "note", "doubt", "not", "license", "catalog"),
)
"""``value`` is in SI (``unit``) by `CONVENTION`; ``low`` and ``high`` are the ends of a price; ``written`` is the form
of the source; ``not`` has rejected readings.
"""
MONEY = {"market.price": "USD", "market.rent": "USD/h"}
"""Units of price ranges: for a part, and for an hour of an accelerator."""

DOCUMENT, QUOTED, UNRECORDED, ASSUMED, UNSTATED = "document", "copy", "copy without address", "assumed", ""
"""How a figure is known: read at its source, in a copy with an address, or in a copy without one; or assumed with a
reason.
"""

INSTALL = "pip install 'clusterspec[parquet]'"


class ParquetMissing(RuntimeError):
    """Raised where pyarrow is not installed."""


Record = dict[str, str | float | None]
Rejection = dict[str, str | None]


def fact_id(entry: EntryView, line: FactView) -> str:
    """The id of a fact, the same in every release in which the entry has it.

    `accelerator/h100-sxm-80gb#peak.bf16`
    """
    return f"{entry.kind}/{entry.id}#{line.name}"


def fact_records(catalog: Catalog, kinds: Sequence[str] = ()) -> Iterator[Record]:
    """The facts of a catalog, or of some kinds, by kind and id. Raises `BrokenEntry`."""
    for entry in _exported_entries(catalog, kinds):
        for line in (*entry.facts, *entry.achievable):
            yield _fact_record(entry, line, catalog.version)


def export_json(catalog: Catalog, kinds: Sequence[str] = ()) -> dict[str, object]:
    """The body of a JSON document: license, conventions, entries, and facts with their rejected readings nested."""
    entries = list(_exported_entries(catalog, kinds))
    facts = [
        {**_fact_record(entry, line, catalog.version), "also": _further_sources(line), "not": _rejections(line)}
        for entry in entries
        for line in (*entry.facts, *entry.achievable)
    ]
    return {
        "$schema": SCHEMA_URL,
        "format": FORMAT,
        "license": LICENSE,
        "license_url": LICENSE_URL,
        "convention": CONVENTION,
        "entries": [_entry_record(entry) for entry in entries],
        "facts": facts,
    }


def export_csv(catalog: Catalog, kinds: Sequence[str] = ()) -> str:
    """A CSV table with a header (RFC 4180); cells are escaped so that spreadsheets read none as a formula."""
    text = io.StringIO()
    writer = csv.DictWriter(text, COLUMNS, lineterminator="\r\n")
    writer.writeheader()
    writer.writerows({name: escaped_cell(cell) for name, cell in row.items()} for row in fact_records(catalog, kinds))
    return text.getvalue()


def export_sqlite(catalog: Catalog, kinds: Sequence[str] = ()) -> bytes:
    """A SQLite database of three tables: ``entries``, ``facts`` and ``rejected_readings``."""
    from contextlib import closing
    from sqlite3 import connect

    with closing(connect(":memory:")) as connection:
        for entry in _exported_entries(catalog, kinds):
            record = _entry_record(entry)
            lists = {key: "\n".join(value) for key, value in record.items() if isinstance(value, list)}
            _insert_row(connection, "entries", record | lists)
            for line in (*entry.facts, *entry.achievable):
                _insert_row(connection, "facts", _fact_record(entry, line, catalog.version))
                for rejected in _rejections(line):
                    _insert_row(connection, "rejected_readings", {"fact_id": fact_id(entry, line), **rejected})
        connection.commit()
        return connection.serialize()


def export_parquet(catalog: Catalog, kinds: Sequence[str] = ()) -> bytes:
    """A Parquet table with the columns of the CSV. Numbers are float64, or null if absent; all other columns are
    strings.

    Raises `ParquetMissing`.
    """
    pyarrow, parquet = _parquet_modules()
    columns = [(name, pyarrow.float64() if name in NUMBERS else pyarrow.string()) for name in COLUMNS]
    schema = pyarrow.schema(columns, metadata=_table_metadata(catalog))
    content = io.BytesIO()
    parquet.write_table(pyarrow.Table.from_pylist(list(fact_records(catalog, kinds)), schema=schema), content)
    return content.getvalue()


def _parquet_modules() -> tuple[Any, Any]:
    """The modules of pyarrow for tables and for files. Raises `ParquetMissing`."""
    try:
        return import_module("pyarrow"), import_module("pyarrow.parquet")
    except ImportError:
        raise ParquetMissing(f"a Parquet file needs the extra `parquet`: {INSTALL}") from None


def _table_metadata(catalog: Catalog) -> dict[str, str]:
    return {
        "format": str(FORMAT),
        "license": LICENSE,
        "license_url": LICENSE_URL,
        "convention": CONVENTION,
        "catalog": catalog.version,
        "schema": SCHEMA_URL,
    }


NUMBERS = ("value", "low", "high")
_KEYS = {"entries": "entry", "facts": "fact_id"}


def _insert_row(connection: Connection, table: str, row: dict[str, object] | Record | Rejection) -> None:
    names = ", ".join(f'"{name}"' for name in row)
    key = _KEYS.get(table)
    typed = ", ".join(
        f'"{name}"' + (" REAL" if name in NUMBERS else " TEXT") + (" PRIMARY KEY" if name == key else "")
        for name in row
    )
    connection.execute(f"CREATE TABLE IF NOT EXISTS {table} ({typed})")
    connection.execute(f"INSERT INTO {table} ({names}) VALUES ({', '.join('?' * len(row))})", tuple(row.values()))


def _exported_entries(catalog: Catalog, kinds: Sequence[str]) -> Iterator[EntryView]:
    for kind in kinds or catalog.kinds:
        for id_ in catalog.ids(kind):
            yield entry_view(catalog.raw_entry(kind, id_))


def _entry_record(entry: EntryView) -> dict[str, object]:
    return {
        "entry": f"{entry.kind}/{entry.id}",
        "kind": entry.kind,
        "id": entry.id,
        "name": entry.name,
        "vendor": entry.vendor,
        "status": entry.status.state,
        "as_of": entry.status.as_of,
        "status_note": entry.status.note,
        "aliases": list(entry.aliases),
        "replaced_by": entry.replaced_by,
        "notes": list(entry.notes),
        "exceptions": [f"{name}: {why}" for name, why in entry.exceptions.items()],
    }


def _fact_record(entry: EntryView, line: FactView, version: str) -> Record:
    fact, origin = line.fact, line.fact.origin
    cited = origin if isinstance(origin, Cited) else None
    reference = fact.reference
    values: tuple[str | float | None, ...] = (
        *(fact_id(entry, line), entry.kind, entry.id, entry.name, entry.vendor, entry.status.state, entry.status.as_of),
        *(line.name, line.written, fact.prints, _printed_value(line), _unit_of_value(line), *_price_ends(line)),
        *(fact.of, fact.scope, fact.basis),
        _evidence_kind(reference) if cited else ASSUMED if origin else UNSTATED,
        *((reference.title, reference.url, reference.read) if cited and reference else ("", "", "")),
        *((reference.quoted_in, reference.copy) if cited and reference else ("", "")),
        "; ".join(one.named for one in fact.also),
        "" if origin is None or isinstance(origin, Cited) else origin.why,
        *(fact.note, fact.doubt),
        "; ".join(f"{one['is']} ({one['source'] or 'no source'}): {one['why']}" for one in _rejections(line)),
        *(LICENSE, version),
    )
    return dict(zip(COLUMNS, values, strict=True))


def _printed_value(line: FactView) -> float | None:
    """The value in SI as printed: a sparse peak is not halved. Years and generations are numbers."""
    quantity = quantity_of(line.fact) if line.name.startswith("sparse_peak.") else None
    if quantity is not None:
        return quantity.value
    return line.value if line.value is not None else _plain_number(line)


def _plain_number(line: FactView) -> float | None:
    number = line.fact.value
    return float(number) if isinstance(number, (int, float)) and not isinstance(number, bool) else None


def _unit_of_value(line: FactView) -> str:
    return MONEY.get(line.name) or line.unit or ("1" if _plain_number(line) is not None else "")


def _price_ends(line: FactView) -> tuple[float | None, float | None]:
    """The lowest and the highest price; both None if a fact is no price."""
    ends = line.fact.value
    if line.name not in MONEY or not isinstance(ends, list):
        return None, None
    return float(str(ends[0])), float(str(ends[-1]))


def _evidence_kind(reference: Reference | None) -> str:
    if reference is None or not reference.quoted_in:
        return DOCUMENT
    return QUOTED if reference.copy else UNRECORDED


def _further_sources(line: FactView) -> list[Rejection]:
    return [{"source": one.title, "url": one.url or None, "read": one.read or None} for one in line.fact.also]


def _rejections(line: FactView) -> list[Rejection]:
    return [{"is": value_text(one.value), "source": one.source or None, "why": one.why} for one in line.fact.rejected]
