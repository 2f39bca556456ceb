"""Collectives on the tiers of a cluster: algorithms, protocols, and the choice among them."""

from __future__ import annotations

from clusterspec.cost.collectives.algorithms import names_of
from clusterspec.cost.collectives.model import NAMES, CollectiveCost, CollectiveUnavailableError
from clusterspec.cost.collectives.predict import collective, nothing, timing_of
from clusterspec.cost.collectives.table import CollectiveRow, table

__all__ = [
    "NAMES",
    "CollectiveCost",
    "CollectiveRow",
    "CollectiveUnavailableError",
    "collective",
    "names_of",
    "nothing",
    "table",
    "timing_of",
]
