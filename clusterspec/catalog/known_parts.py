"""Parts that are known only by name: the table `known-parts.csv` of the catalog.

A row has the facts that a source states about a part, and the figures that no source states. It is no entry: nothing is
estimated from it. A part with the figures of a design is an entry.
"""

from __future__ import annotations

from functools import cache

from clusterspec import resources
from clusterspec.document.schema import letters_and_digits
from clusterspec.records import NamedTuple

FILE = "known-parts.csv"
_OTHER_KIND_WORDS = {"drive": "ssd nvme", "processor": "cpu", "optics": "transceiver", "memory-expander": "cxl"}
"""Other names of the kinds of parts."""


class KnownPart(NamedTuple):
    """A part without an entry.

    ``states`` is what the source says about it, ``unknown`` the figures that no source states. ``status`` and ``year``
    are as announced or sold; the year is empty if no source names one. ``aliases`` are divided by semicolons. ``read``
    is the day on which the source was read.
    """

    kind: str
    name: str
    vendor: str
    aliases: str
    status: str
    year: str
    states: str
    unknown: str
    source: str
    url: str
    read: str

    def to_json(self) -> dict[str, object]:
        """Plain values."""
        year = int(self.year) if self.year else None
        return self._asdict() | {"year": year, "aliases": self.names[1:]}

    @property
    def names(self) -> list[str]:
        """Its names, the main name first."""
        return [self.name, *filter(None, map(str.strip, self.aliases.split(";")))]

    @property
    def words(self) -> str:
        """The searched text, in lower case."""
        return " ".join((self.kind, _OTHER_KIND_WORDS.get(self.kind, ""), self.vendor, *self.names)).lower()

    @property
    def stated_words(self) -> str:
        """The searched text and what the source states, in lower case."""
        return f"{self.words} {self.states}".lower()


@cache
def known_parts() -> tuple[KnownPart, ...]:
    """All parts of the table."""
    return tuple(KnownPart(**row) for row in resources.catalog_table(FILE))


def part_of_name(name: str) -> KnownPart | None:
    """The part that has a name, with its vendor or without, ignoring case, spaces and punctuation; None for others.

    A word of the name with letters and digits suffices.

    >>> found = part_of_name("AMD MI500X")
    >>> found.name, found.status, part_of_name("mi500").year, part_of_name("h100")
    ('Instinct MI500', 'announced', '2027', None)
    """
    return _parts_by_name().get(letters_and_digits(name))


@cache
def _parts_by_name() -> dict[str, KnownPart]:
    """The parts by the letters and digits of their names; of several parts with one name, the first."""
    found: dict[str, KnownPart] = {}
    for each in known_parts():
        for one in (*each.names, *filter(_is_designation, each.name.split())):
            for maker in _maker_prefixes(each):
                found.setdefault(letters_and_digits(f"{maker} {one}"), each)
    return found


def _is_designation(word: str) -> bool:
    return any(letter.isdigit() for letter in word) and any(letter.isalpha() for letter in word)


def _maker_prefixes(part: KnownPart) -> tuple[str, str, str]:
    """Possible prefixes of a name: nothing, the vendor, or the vendor's first word."""
    return "", part.vendor, part.vendor.partition(" ")[0]
