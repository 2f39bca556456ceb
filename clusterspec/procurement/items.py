"""The items of a bill of materials: parts with their quantities, the derivation of these, and prices."""

from __future__ import annotations

from collections.abc import Iterable

from clusterspec.money import Money
from clusterspec.records import dataclass

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

PRICED_AS = {"spare_node": "node"}
"""For kinds of item without a key in `procurement.prices`: the key whose price applies."""


@dataclass(frozen=True)
class Item:
    """A part with its quantity and the derivation of that.

    ``kind`` is a key of `procurement.prices`, or one of `PRICED_AS`. ``unit_price`` is in ``currency``: from
    `procurement.prices`, else from the lines of the quote (``quoted``), else None. ``assumed`` describes the properties
    that the spec does not state. A ``rented`` part is paid by the month, not bought; the price of the nodes has an
    ``included`` one.
    """

    kind: str
    part: str
    quantity: int
    derivation: str
    unit_price: Money | None = None
    currency: str = ""
    assumed: str = ""
    rented: bool = False
    included: bool = False
    quoted: bool = False

    @property
    def part_label(self) -> str:
        """The name of the part, with the level for switches, since leaves and spines are often the same model."""
        return f"{self.part}, {self.kind.removesuffix('_switch')}" if self.kind.endswith("_switch") else self.part

    @property
    def price(self) -> Money | None:
        """The price of the line; None without a unit price."""
        return None if self.unit_price is None else self.unit_price * self.quantity

    @property
    def unit_price_text(self) -> str:
        return self._other_price or ("" if self.unit_price is None else str(self.unit_price))

    @property
    def price_text(self) -> str:
        return self._other_price or ("" if self.price is None else str(self.price))

    @property
    def unpriced(self) -> bool:
        """Whether the part is bought separately and has no price."""
        return self.price is None and not self._other_price

    @property
    def _other_price(self) -> str:
        """How a part is paid that is not bought separately; empty if it is bought separately."""
        return "rented" if self.rented else "with the nodes" if self.included else ""

    def to_json(self) -> dict[str, Any]:
        """The item as JSON; absent prices, an empty ``assumed``, a false ``rented`` or ``included`` are omitted."""
        row: dict[str, Any] = {
            "kind": self.kind,
            "part": self.part,
            "quantity": self.quantity,
            "derivation": self.derivation,
        }
        if self.assumed:
            row["assumed"] = self.assumed
        if self.rented:
            row["rented"] = True
        if self.included:
            row["included"] = True
        if self.unit_price is not None and self.price is not None:
            row |= {"unit_price": self.unit_price.to_json(), "price": self.price.to_json()}
        return row


def kind_words(kind: str) -> str:
    """A kind of parts in a sentence.

    >>> kind_words("leaf_switch"), kind_words("nic"), kind_words("out_of_band_cable")
    ('leaf switch', 'NIC', 'out-of-band cable')
    """
    return kind.replace("out_of_band", "out-of-band").replace("_", " ") if kind != "nic" else "NIC"


def quantities_by_kind(items: Iterable[Item]) -> dict[str, int]:
    """The parts of the given items by the kind under which they are priced."""
    found: dict[str, int] = {}
    for item in items:
        kind = PRICED_AS.get(item.kind, item.kind)
        found[kind] = found.get(kind, 0) + item.quantity
    return found
