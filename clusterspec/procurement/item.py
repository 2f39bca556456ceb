"""Items of the bill of materials."""

from __future__ import annotations

from typing import Any

from clusterspec.procurement.money import money, plain, times
from clusterspec.records import dataclass
from clusterspec.spec.model import Price

PRICED_AS = {"spare_node": "node"}
"""Kinds of item that have no key of their own in `procurement.prices`: the key whose price they take."""


@dataclass(frozen=True, slots=True)
class Item:
    """A part with its quantity and the derivation of that.

    ``kind`` is a key of `procurement.prices`, or one of `PRICED_AS`. ``unit_price`` is an amount in ``currency``
    or a range, None if the spec has none. ``assumed`` describes the properties that the spec does not state.
    """

    kind: str
    part: str
    quantity: int
    derivation: str
    unit_price: Price | None = None
    currency: str = ""
    assumed: str = ""

    @property
    def price(self) -> Price | None:
        """The price of the line; None without a unit price."""
        return None if self.unit_price is None else times(self.unit_price, self.quantity)

    @property
    def unit_price_text(self) -> str:
        return money(self.unit_price, self.currency)

    @property
    def price_text(self) -> str:
        return money(self.price, self.currency)

    def to_json(self) -> dict[str, Any]:
        """The item as JSON; absent prices and an empty ``assumed`` are omitted."""
        row: dict[str, Any] = {
            "kind": self.kind,
            "part": self.part,
            "quantity": self.quantity,
            "derivation": self.derivation,
        }
        if self.assumed:
            row["assumed"] = self.assumed
        if self.unit_price is not None:
            row |= {"unit_price": plain(self.unit_price), "price": plain(self.price)}
        return row
