"""The shipped catalog as the tests go through it: every raw_entry, read once."""

from __future__ import annotations

from clusterspec.catalog import KINDS, Catalog
from clusterspec.catalog.frameworks import Capabilities, capabilities, framework_of
from clusterspec.catalog.reader import Fact, RawEntry

CATALOG = Catalog.open()
NAMES = [(kind, name) for kind in KINDS for name in CATALOG.ids(kind)]
CARDS: list[RawEntry] = [CATALOG.raw_entry(kind, name) for kind, name in NAMES]


def every_fact(raw_entry: RawEntry) -> list[Fact]:
    """The facts of a raw entry and what was measured in addition."""
    return [*raw_entry.facts.values(), *raw_entry.achievable.values()]


def held(framework: str, year: int = 2026) -> Capabilities:
    """What a framework does in a year; `unnamed` where a layout names none."""
    return capabilities(framework_of(framework or "unnamed", CATALOG), None, year, named=bool(framework))
