"""How long the warranty and the support of a purchase cover repairs."""

from __future__ import annotations

from clusterspec.quantity import YEAR
from clusterspec.spec.model import ProcurementSpec

MONTH = YEAR / 12
"""Seconds by which a term may exceed the warranty, because deliveries and the term begin on different days."""
NAMES = ("support", "warranty", "care pack")
"""Words in a quote line that pays for repairs."""


def covered_time(procurement: ProcurementSpec) -> float | None:
    """The longer of the times, in seconds, for which the warranty and the support cover repairs; None if neither is
    stated.
    """
    support = procurement.support.term if procurement.support else None
    return max((part.value for part in (support, procurement.warranty) if part is not None), default=None)


def is_covered_by_price(procurement: ProcurementSpec) -> bool:
    """Whether the prices or the quote pay for support. Support without a stated term covers the whole term."""
    if procurement.support is not None and procurement.support.term is not None:
        return False
    lines = procurement.quote or ()
    quoted = any(name in (line.part or "").lower() for line in lines for name in NAMES)
    return bool((procurement.prices or {}).get("support_per_year")) or quoted
