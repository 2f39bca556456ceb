"""One line for each entry: what ``catalog list`` and ``catalog search`` show.

The rows of the shipped catalog are read from ``catalog/index.json``, which
``python -m tools.generate write`` makes from the entries and a test holds current: opening all
files takes a quarter of a second, opening one takes a millisecond.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass

from clusterspec import resources
from clusterspec.catalog.card import Card
from clusterspec.catalog.library import Catalog


@dataclass(frozen=True, slots=True)
class Row:
    """An entry at a glance; ``headline`` holds the figures that people know it by, as written."""

    kind: str
    id: str
    name: str
    vendor: str
    status: str
    as_of: str
    headline: str

    def to_json(self) -> dict[str, object]:
        """Plain values."""
        return asdict(self)

    @property
    def words(self) -> str:
        """What a search goes through, in lower case."""
        return " ".join((f"{self.kind}/{self.id}", self.name, self.vendor, self.status, self.headline)).lower()


def rows(catalog: Catalog, kinds: Sequence[str] = ()) -> tuple[Row, ...]:
    """The rows of a catalog, by kind and id; of some kinds where they are named.

    Raises `BrokenEntry` for a company entry that cannot be read.
    """
    shipped = {(each.kind, each.id): each for each in _shipped()}
    found = [
        shipped[kind, name] if catalog.shipped(kind, name) else row(catalog.card(kind, name))
        for kind in kinds or catalog.kinds
        for name in catalog.ids(kind)
    ]
    return tuple(found)


def search(catalog: Catalog, text: str) -> tuple[Row, ...]:
    """The rows that hold every word of a text, whatever its case."""
    wanted = text.lower().split()
    return tuple(each for each in rows(catalog) if all(word in each.words for word in wanted))


def row(card: Card) -> Row:
    """The row of one card."""
    headline = " · ".join(part for part in _HEADLINES[card.kind](card) if part)
    return Row(card.kind, card.id, card.name, card.vendor, card.status.state, card.status.as_of, headline)


def index(cards: Sequence[Card]) -> str:
    """The text of ``catalog/index.json``: the rows of all cards, one a line."""
    lines = ",\n".join(json.dumps(row(card).to_json(), ensure_ascii=False) for card in cards)
    return f"[\n{lines}\n]\n"


def _shipped() -> list[Row]:
    text = (resources.catalog() / "index.json").read_text(encoding="utf-8")
    return [Row(**values) for values in json.loads(text)]


def _accelerator(card: Card) -> Iterator[str]:
    memory = card.facts.get("memory")
    yield (memory.prints or str(memory.value)) if memory else ""
    yield _value(card, "memory_bandwidth")
    precision = "bf16" if "peak.bf16" in card.facts else "fp16"
    peak = _value(card, f"peak.{precision}")
    yield peak and f"{peak} {precision}"
    yield _value(card, "scale_up.bandwidth")


def _interconnect(card: Card) -> Iterator[str]:
    yield _value(card, "scope")
    yield _value(card, "bandwidth")
    ports = _value(card, "node_ports")
    yield ports and f"{ports} ports a node"


def _nic(card: Card) -> Iterator[str]:
    yield f"{_value(card, 'ports')} x {_value(card, 'port_bandwidth')}"
    slot = _value(card, "pcie")
    yield slot and f"PCIe {slot}"


def _switch(card: Card) -> Iterator[str]:
    yield f"{_value(card, 'ports') or '?'} x {_value(card, 'port_bandwidth')}"
    yield _value(card, "families")


def _platform(card: Card) -> Iterator[str]:
    yield f"{_value(card, 'accelerators_per_node')} x {_value(card, 'accelerator')}"
    yield f"domain {_value(card, 'domain')}"
    nics = _value(card, "nics_per_node")
    yield nics and f"{nics} x {_value(card, 'nic_bandwidth') or '?'}"
    yield _value(card, "technologies").split(", ")[0]


def _model(card: Card) -> Iterator[str]:
    size = card.facts.get("parameters")
    yield (size.prints or str(size.value)) if size else ""
    yield f"{_value(card, 'layers')} layers of {_value(card, 'hidden')}"
    experts = _value(card, "experts")
    yield experts and f"{experts} experts, {_value(card, 'experts_per_token')} for each token"


def _stack(card: Card) -> Iterator[str]:
    yield _value(card, "frameworks")
    yield f"from {_value(card, 'year')}"


_HEADLINES: dict[str, Callable[[Card], Iterator[str]]] = {
    "accelerator": _accelerator,
    "interconnect": _interconnect,
    "nic": _nic,
    "switch": _switch,
    "platform": _platform,
    "model": _model,
    "stack": _stack,
}


def _value(card: Card, name: str) -> str:
    fact = card.facts.get(name)
    if fact is None:
        return ""
    return ", ".join(map(str, fact.value)) if isinstance(fact.value, list) else str(fact.value)
