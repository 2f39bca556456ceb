"""Items of the bill of materials."""

from __future__ import annotations

from typing import Any

from clusterspec.money import Money
from clusterspec.records import dataclass

PRICED_AS = {"spare_node": "node"}
"""Kinds of item that have no key of their own in `procurement.prices`: the key whose price they take."""


@dataclass(frozen=True, slots=True)
class Item:
    """A part with its quantity and the derivation of that.

    ``kind`` is a key of `procurement.prices`, or one of `PRICED_AS`. ``unit_price`` is in ``currency``, None if
    the spec has none. ``assumed`` describes the properties that the spec does not state.
    """

    kind: str
    part: str
    quantity: int
    derivation: str
    unit_price: Money | None = None
    currency: str = ""
    assumed: str = ""

    @property
    def price(self) -> Money | None:
        """The price of the line; None without a unit price."""
        return None if self.unit_price is None else self.unit_price * self.quantity

    @property
    def unit_price_text(self) -> str:
        return "" if self.unit_price is None else str(self.unit_price)

    @property
    def price_text(self) -> str:
        return "" if self.price is None else str(self.price)

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
        if self.unit_price is not None and self.price is not None:
            row |= {"unit_price": self.unit_price.to_json(), "price": self.price.to_json()}
        return row
