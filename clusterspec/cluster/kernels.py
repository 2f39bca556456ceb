"""Finds the table of measured kernels that holds for an accelerator."""

from __future__ import annotations

from clusterspec.catalog.entries import Accelerator, Kernels
from clusterspec.cluster.lookup import Lookup

KEY = "cluster.kernels"
STAND_INS = {0: "hopper", 2025: "blackwell"}
"""The table that stands in for accelerators without one, by the first year of the accelerators."""


def kernels_of(accelerator: Accelerator, lookup: Lookup) -> Kernels | None:
    """The table that the accelerator's entry names, else that of a contemporary, as an assumption."""
    name = accelerator.kernels
    if name is None:
        year = accelerator.year or 0
        name = STAND_INS[max(first for first in STAND_INS if first <= year)]
        why = (
            f"no kernels of {accelerator.id} are published: those of a contemporary, scaled by its best matrix product"
        )
        lookup.log.assume(KEY, name, why)
    entry = lookup.known("kernels", name)
    return entry if isinstance(entry, Kernels) else None
