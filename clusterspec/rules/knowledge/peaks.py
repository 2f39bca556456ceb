"""Peaks stated in a spec, with the catalog's peaks of the same part."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from clusterspec.catalog import Catalog
from clusterspec.catalog.entries import Accelerator
from clusterspec.cluster.model import Design
from clusterspec.quantity import Quantity, Sparsity
from clusterspec.records import dataclass
from clusterspec.spec.model import AcceleratorSpec, Spec
from clusterspec.units.display import AGREES, agrees_within

WITHOUT_SPARSITY = ("Google",)
"""Vendors whose data sheets print no peak with 2:4 sparsity."""
SPARSE_GAIN = 2.0
"""Factor of a peak with 2:4 structured sparsity over the dense peak."""


@dataclass(frozen=True)
class StatedPeak:
    """A peak as written, its precision, and the catalog's dense peaks of that part in FLOP/s."""

    at: str
    quantity: Quantity
    precision: str
    whose: str
    peaks: Mapping[str, float]
    skips_zeros: bool = True
    """Whether the part may support 2:4 sparsity; parts of the vendors in `WITHOUT_SPARSITY`, such as TPUs, do not."""

    @property
    def catalog_peak(self) -> float | None:
        """The dense peak in the catalog; for fp16 the bf16 peak if the entry states no fp16 peak."""
        fallback = self.peaks.get("bf16") if self.precision == "fp16" else None
        return self.peaks.get(self.precision, fallback)

    @property
    def ratio(self) -> float:
        """The stated peak, as dense, over the catalog's."""
        return self.quantity.dense / self.catalog_peak if self.catalog_peak else 1.0

    @property
    def is_sparse(self) -> bool:
        """Whether a peak declared dense is the catalog's peak with 2:4 sparsity, which is twice as high."""
        dense = self.quantity.sparsity is Sparsity.DENSE
        return self.skips_zeros and dense and agrees_within(self.ratio, SPARSE_GAIN, AGREES)

    @property
    def peaks_of_other_precisions(self) -> dict[str, float]:
        """The peaks of the same part in other precisions."""
        same = {self.precision, "bf16" if self.precision == "fp16" else "fp16" if self.precision == "bf16" else ""}
        return {precision: peak for precision, peak in self.peaks.items() if precision not in same}


def stated_peaks(spec: Spec, design: Design, catalog: Catalog) -> Iterator[StatedPeak]:
    """The peaks of the workload and of the accelerator that state dense or sparse."""
    found = known_peaks(spec, design, catalog)
    if found is None:
        return
    whose, peaks = found
    own, workload = _own_accelerator(spec), design.workload
    override = spec.workload.peak_flops if spec.workload else None
    skips_zeros = design.cluster is None or design.cluster.accelerator.vendor not in WITHOUT_SPARSITY
    if workload is not None and override is not None and override.sparsity is not None:
        yield StatedPeak("workload.peak_flops", override, workload.precision, whose, peaks, skips_zeros)
    for precision, quantity in (own.peak or {}).items() if own else ():
        if quantity.sparsity is not None:
            yield StatedPeak(f"cluster.accelerator.peak.{precision}", quantity, precision, whose, peaks, skips_zeros)


def known_peaks(spec: Spec, design: Design, catalog: Catalog) -> tuple[str, Mapping[str, float]] | None:
    """The id of the accelerator's catalog entry and its dense peaks by precision, FLOP/s; None if it has none."""
    own, resolved = _own_accelerator(spec), design.cluster.accelerator if design.cluster else None
    entry = catalog.find("accelerator", own.like) if own and own.like else resolved
    if not isinstance(entry, Accelerator):
        return None
    return entry.id, {precision: peak.value for precision, peak in entry.peaks.items()}


def _own_accelerator(spec: Spec) -> AcceleratorSpec | None:
    stated = spec.cluster.accelerator if spec.cluster else None
    return stated if isinstance(stated, AcceleratorSpec) else None
