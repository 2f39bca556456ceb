"""Summary rows of entries, as shown by ``catalog list`` and ``catalog search``.

The rows of the shipped catalog are read from ``catalog/index.json``, which is generated from the
entries and kept current by a test: reading all files takes a quarter of a second, reading one a
millisecond.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence

from clusterspec import resources
from clusterspec.catalog.fact_quantity import value_text
from clusterspec.catalog.library import Catalog
from clusterspec.catalog.raw_entry import RawEntry
from clusterspec.document import nearest
from clusterspec.records import asdict, dataclass


@dataclass(frozen=True, slots=True)
class CatalogRow:
    """The summary of an entry.

    ``headline`` has its main figures as written; ``year`` is that of first shipment, or None.
    """

    kind: str
    id: str
    name: str
    vendor: str
    status: str
    as_of: str
    year: int | None
    headline: str

    def to_json(self) -> dict[str, object]:
        """Plain values."""
        return asdict(self)

    @property
    def words(self) -> str:
        """The searched text, in lower case."""
        return " ".join((f"{self.kind}/{self.id}", self.name, self.vendor, self.status, self.headline)).lower()


def rows(catalog: Catalog, kinds: Sequence[str] = ()) -> tuple[CatalogRow, ...]:
    """The rows of a catalog by kind and id, optionally of some kinds only.

    Raises `BrokenEntry` for an invalid company entry.
    """
    shipped = {(each.kind, each.id): each for each in _shipped()}
    found = [
        shipped[kind, name] if catalog.shipped(kind, name) else row(catalog.raw_entry(kind, name))
        for kind in kinds or catalog.kinds
        for name in catalog.ids(kind)
    ]
    return tuple(found)


def filtered(rows: Sequence[CatalogRow], vendor: str = "", since: int | None = None) -> tuple[CatalogRow, ...]:
    """The rows whose vendor contains a text, ignoring case, and whose year is ``since`` or later.

    Parts without a year are excluded if ``since`` is given.
    """
    return tuple(
        each
        for each in rows
        if vendor.lower() in each.vendor.lower() and (since is None or (each.year is not None and each.year >= since))
    )


def nearest_vendors(rows: Sequence[CatalogRow], text: str) -> list[str] | None:
    """The vendors whose name, or a word of it, is most similar to a text; None if the name of a vendor holds the text.

    >>> nearest_vendors([CatalogRow("nic", "connectx-7", "ConnectX-7", "NVIDIA", "shipping", "", 2022, "")], "nvidea")
    ['NVIDIA']
    """
    vendors = {each.vendor for each in rows if each.vendor}
    if any(text.lower() in vendor.lower() for vendor in vendors):
        return None
    words = {word: vendor for vendor in sorted(vendors, reverse=True) for word in vendor.split() if len(word) > 3}
    forms = words | {vendor: vendor for vendor in vendors}
    return sorted({forms[form] for form in nearest(text, forms)})


def search(catalog: Catalog, text: str) -> tuple[CatalogRow, ...]:
    """The rows that contain all words of a text, ignoring case."""
    wanted = text.lower().split()
    return tuple(each for each in rows(catalog) if all(word in each.words for word in wanted))


def row(raw_entry: RawEntry) -> CatalogRow:
    """The row of one raw entry."""
    headline = " · ".join(part for part in _HEADLINES[raw_entry.kind](raw_entry) if part)
    year = raw_entry.facts.get("year")
    return CatalogRow(
        raw_entry.kind,
        raw_entry.id,
        raw_entry.name,
        raw_entry.vendor,
        raw_entry.status.state,
        raw_entry.status.as_of,
        year.value if year and isinstance(year.value, int) else None,
        headline,
    )


def index(raw_entries: Sequence[RawEntry]) -> str:
    """The text of ``catalog/index.json``: the rows of all raw entries, one per line."""
    lines = ",\n".join(json.dumps(row(raw_entry).to_json(), ensure_ascii=False) for raw_entry in raw_entries)
    return f"[\n{lines}\n]\n"


def _shipped() -> list[CatalogRow]:
    text = (resources.catalog() / "index.json").read_text(encoding="utf-8")
    return [CatalogRow(**values) for values in json.loads(text)]


def _accelerator(raw_entry: RawEntry) -> Iterator[str]:
    memory = raw_entry.facts.get("memory")
    yield (memory.prints or str(memory.value)) if memory else ""
    yield _value(raw_entry, "memory_bandwidth")
    precision = "bf16" if "peak.bf16" in raw_entry.facts else "fp16"
    peak = _value(raw_entry, f"peak.{precision}")
    yield peak and f"{peak} {precision}"
    yield _value(raw_entry, "scale_up.bandwidth")


def _interconnect(raw_entry: RawEntry) -> Iterator[str]:
    yield _value(raw_entry, "scope")
    yield _value(raw_entry, "bandwidth")
    ports = _value(raw_entry, "node_ports")
    yield ports and f"{ports} ports per node"


def _nic(raw_entry: RawEntry) -> Iterator[str]:
    yield f"{_value(raw_entry, 'ports')} x {_value(raw_entry, 'port_bandwidth')}"
    slot = _value(raw_entry, "pcie")
    yield slot and f"PCIe {slot}"


def _switch(raw_entry: RawEntry) -> Iterator[str]:
    yield f"{_value(raw_entry, 'ports') or '?'} x {_value(raw_entry, 'port_bandwidth')}"
    yield _value(raw_entry, "families")


def _platform(raw_entry: RawEntry) -> Iterator[str]:
    yield f"{_value(raw_entry, 'accelerators_per_node')} x {_value(raw_entry, 'accelerator')}"
    yield f"domain {_value(raw_entry, 'domain')}"
    nics = _value(raw_entry, "nics_per_node")
    yield nics and f"{nics} x {_value(raw_entry, 'nic_bandwidth') or '?'}"
    yield _value(raw_entry, "technologies").split(", ")[0]


def _model(raw_entry: RawEntry) -> Iterator[str]:
    size = raw_entry.facts.get("parameters")
    yield (size.prints or str(size.value)) if size else ""
    yield f"{_value(raw_entry, 'layers')} layers of {_value(raw_entry, 'hidden')}"
    experts = _value(raw_entry, "experts")
    yield experts and f"{experts} experts, {_value(raw_entry, 'experts_per_token')} per token"


def _stack(raw_entry: RawEntry) -> Iterator[str]:
    yield _value(raw_entry, "frameworks")
    yield f"from {_value(raw_entry, 'year')}"


def _kernels(raw_entry: RawEntry) -> Iterator[str]:
    yield f"measured on {_value(raw_entry, 'accelerator')}"
    yield f"{len(raw_entry.achievable)} figures"


_HEADLINES: dict[str, Callable[[RawEntry], Iterator[str]]] = {
    "accelerator": _accelerator,
    "interconnect": _interconnect,
    "nic": _nic,
    "switch": _switch,
    "platform": _platform,
    "model": _model,
    "stack": _stack,
    "kernels": _kernels,
}


def _value(raw_entry: RawEntry, name: str) -> str:
    fact = raw_entry.facts.get(name)
    return value_text(fact.value) if fact else ""
