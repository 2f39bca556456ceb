"""Collectives on the tiers of a cluster: algorithms, protocols, and the choice among them."""

from __future__ import annotations

from clusterspec.cost.collectives.algorithms import names_of
from clusterspec.cost.collectives.model import NAMES, CollectiveCost, CollectiveUnavailableError
from clusterspec.cost.collectives.predict import CollectiveRow, collective, nothing, table, timing_of

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
