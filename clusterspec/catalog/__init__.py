"""The catalog of hardware, models and software; every figure has a source."""

from clusterspec.catalog.folders import KINDS, UnreadableFolder
from clusterspec.catalog.library import BrokenEntry, Catalog, UnknownEntry

__all__ = ["KINDS", "BrokenEntry", "Catalog", "UnknownEntry", "UnreadableFolder"]
