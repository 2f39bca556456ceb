"""What is known: catalog entries, every figure cited."""

from clusterspec.catalog.folders import KINDS
from clusterspec.catalog.library import BrokenEntry, Catalog, UnknownEntry

__all__ = ["KINDS", "BrokenEntry", "Catalog", "UnknownEntry"]
