"""The longest time for which clouds lend capacity in one piece: the table `longest-offers.csv` of the catalog."""

from __future__ import annotations

from functools import cache

from clusterspec import resources
from clusterspec.records import NamedTuple

FILE = "longest-offers.csv"


class LongestOffer(NamedTuple):
    """An offer of a cloud that lasts at most so many ``days``, extensions included.

    ``provider`` is what ids of its platforms begin with. ``words`` name one such offer in a text, divided by
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
    return tuple(LongestOffer(**row) for row in resources.catalog_table(FILE))
