"""Servers of other makers by their product names: a PowerEdge XE9680 holds one of several boards of accelerators."""

from __future__ import annotations

from collections.abc import Iterator

from clusterspec.catalog import Catalog
from clusterspec.document.schema import letters_and_digits

_LONGEST = 96


def boards_of_server(name: str, catalog: Catalog) -> tuple[str, ...]:
    """The platforms that a server is sold with, by the ``servers`` facts of their entries.

    The product name matches in any spelling, with or without the words before its designation.

    >>> boards_of_server("XE9680L", Catalog.open()), boards_of_server("Dell PowerEdge XE9785L", Catalog.open())
    (('hgx-b200', 'hgx-h200'), ('mi355x-ubb8',))
    """
    wanted = letters_and_digits(name[:_LONGEST].lower())
    return (
        tuple(each for each in catalog.ids("platform") if wanted in _names_of_servers(each, catalog)) if wanted else ()
    )


def _names_of_servers(platform: str, catalog: Catalog) -> Iterator[str]:
    """Each server of a platform in comparison form, with all its words and without the first ones."""
    fact = catalog.raw_entry("platform", platform).facts.get("servers")
    for server in fact.value if fact is not None and isinstance(fact.value, list) else ():
        words = str(server).lower().split()
        for first in range(len(words)):
            rest = letters_and_digits(" ".join(words[first:]))
            if any(each.isdigit() for each in rest) and any(each.isalpha() for each in rest) and len(rest) > 3:
                yield rest
