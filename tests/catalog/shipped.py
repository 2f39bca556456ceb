"""The shipped catalog as the tests go through it: every card, read once."""

from __future__ import annotations

from clusterspec.catalog import KINDS, Catalog
from clusterspec.catalog.card import Card, Fact

CATALOG = Catalog.open()
NAMES = [(kind, name) for kind in KINDS for name in CATALOG.ids(kind)]
CARDS: list[Card] = [CATALOG.card(kind, name) for kind, name in NAMES]


def every_fact(card: Card) -> list[Fact]:
    """The facts of a card and what was measured beside them."""
    return [*card.facts.values(), *card.achievable.values()]
