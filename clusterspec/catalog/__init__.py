"""What is known: catalog entries, every figure cited."""

from clusterspec.catalog.folders import KINDS, UnreadableFolder
from clusterspec.catalog.library import BrokenEntry, Catalog, UnknownEntry

__all__ = ["KINDS", "BrokenEntry", "Catalog", "UnknownEntry", "UnreadableFolder"]
