"""Measured shares of line rate or of a peak, which replace those of the catalog."""

from __future__ import annotations

from clusterspec.quantity import Figure
from clusterspec.records import dataclass

RATE_OF_PRODUCTS, RATE_OF_KERNELS, RATE_OF_GEMMS = "products", "kernels", "gemms"
OF_DEVICES = frozenset({RATE_OF_PRODUCTS, RATE_OF_KERNELS, RATE_OF_GEMMS})
"""Kinds of measured shares that come from a job or from GEMMs, and not from a link test."""
MEASURED_AGAIN = 1e-4
"""The relative difference within which a predicted time is taken for the measured time of the same job."""


@dataclass(frozen=True)
class MeasuredShare:
    """A measured share of line rate that a collective achieves. It replaces the catalog's share.

    ``part`` is the kind of share: ``ring``, ``exchange`` or ``reduction`` inside an island, ``network`` between
    islands. ``tier`` is the outermost tier that the measured group crossed, ``ranks`` its size. For a measured training
    step, both are `RATE_OF_PRODUCTS`, and the share is the rate of products and attention relative to the catalog's.
    For a measured time per output token, both are `RATE_OF_KERNELS`, and the share is the rate of all kernels of an
    engine. For GEMMs measured alone, both are `RATE_OF_GEMMS`, ``collective`` is their precision, and the share is of
    its peak. ``seconds`` is the measured time and ``spread`` the relative half-width of its measurements.
    """

    collective: str
    tier: str
    part: str
    ranks: int
    share: Figure
    seconds: float | None = None
    spread: float = 0.0

    @property
    def is_of_step(self) -> bool:
        """Whether it is the rate of products and attention in a measured training step."""
        return self.part == RATE_OF_PRODUCTS

    @property
    def is_of_tokens(self) -> bool:
        """Whether it is the rate of all kernels of an engine, from a measured time per output token."""
        return self.part == RATE_OF_KERNELS

    @property
    def is_of_gemms(self) -> bool:
        """Whether it is the rate of GEMMs measured alone."""
        return self.part == RATE_OF_GEMMS

    def matches_measured_time(self, seconds: float) -> bool:
        """Whether a predicted time is the measured time of this job, within `MEASURED_AGAIN`."""
        return self.seconds is not None and abs(seconds / self.seconds - 1) < MEASURED_AGAIN
