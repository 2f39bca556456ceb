"""The catalog of hardware, models and software; every figure has a source."""

from clusterspec.catalog.library import KINDS, BrokenEntry, Catalog, UnknownEntry, UnreadableFolder

__all__ = ["KINDS", "BrokenEntry", "Catalog", "UnknownEntry", "UnreadableFolder"]
