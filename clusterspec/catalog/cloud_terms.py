"""The terms on which clouds lend and sell: the tables `longest-offers.csv` and `purchase-terms.csv` of the catalog."""

from __future__ import annotations

from functools import cache

from clusterspec import resources
from clusterspec.records import NamedTuple


class LongestOffer(NamedTuple):
    """An offer of a cloud that lasts at most so many ``days``, extensions included.

    ``provider`` is the prefix of the ids of its platforms. ``words`` name one such offer in a text, divided by
    semicolons. ``read`` is the day on which the source was read.
    """

    name: str
    provider: str
    words: str
    days: str
    source: str
    read: str

    @property
    def names(self) -> list[str]:
        """Its names in a text, in lower case."""
        return self.words.split(";")


@cache
def longest_offers() -> tuple[LongestOffer, ...]:
    """All rows of the table."""
    return tuple(LongestOffer(**row) for row in resources.catalog_table("longest-offers.csv"))


class PurchaseTerms(NamedTuple):
    """The terms of one kind of purchase.

    ``provider`` is the beginning of the ids of its platforms. ``words`` name it in a text, and ``noun`` are words for
    it in a further sentence, both divided by semicolons. ``cancels`` is `never`, `window` (within so many ``days`` of
    the purchase, up to so many ``dollars`` an hour) or `limit` (up to so many ``dollars`` in twelve months). ``read``
    is the day on which the source was read.
    """

    name: str
    provider: str
    words: str
    noun: str
    cancels: str
    days: str
    dollars: str
    source: str
    read: str

    @property
    def names(self) -> list[str]:
        """Its names in a text, in lower case."""
        return self.words.split(";")

    @property
    def nouns(self) -> list[str]:
        """Words for it in a further sentence, in lower case."""
        return self.noun.split(";")


@cache
def purchase_terms() -> tuple[PurchaseTerms, ...]:
    """All rows of the table."""
    return tuple(PurchaseTerms(**row) for row in resources.catalog_table("purchase-terms.csv"))
