"""The peaks that a spec states, beside what the catalog knows of the same part."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from clusterspec.catalog.entries import Accelerator
from clusterspec.quantity import Quantity
from clusterspec.rules.facts import Facts
from clusterspec.spec.model import AcceleratorSpec


@dataclass(frozen=True, slots=True)
class StatedPeak:
    """A peak as written, the precision that it is for, and the catalog's dense peaks of that part in FLOP/s."""

    at: str
    quantity: Quantity
    precision: str
    whose: str
    peaks: Mapping[str, float]

    @property
    def known(self) -> float | None:
        """The dense peak that the catalog has; fp16 has bf16's where the entry gives no other."""
        fallback = self.peaks.get("bf16") if self.precision == "fp16" else None
        return self.peaks.get(self.precision, fallback)

    @property
    def ratio(self) -> float:
        """The stated peak, as dense, over the catalog's."""
        return self.quantity.dense / self.known if self.known else 1.0

    @property
    def others(self) -> dict[str, float]:
        """The peaks of the same part in other precisions."""
        same = {self.precision, "bf16" if self.precision == "fp16" else "fp16" if self.precision == "bf16" else ""}
        return {precision: peak for precision, peak in self.peaks.items() if precision not in same}


def stated_peaks(facts: Facts) -> Iterator[StatedPeak]:
    """The override of the workload and those of the accelerator, where they say dense or sparse."""
    cluster, workload, said = facts.written_cluster, facts.workload, facts.written_workload
    own = cluster.accelerator if cluster and isinstance(cluster.accelerator, AcceleratorSpec) else None
    entry = facts.catalog.find("accelerator", own.like) if own and own.like else facts.accelerator
    if not isinstance(entry, Accelerator):
        return
    peaks = {precision: peak.value for precision, peak in entry.peaks.items()}
    override = said.peak_flops if said else None
    if workload is not None and override is not None and override.sparsity is not None:
        yield StatedPeak("workload.peak_flops", override, workload.precision, entry.id, peaks)
    for precision, quantity in (own.peak or {}).items() if own else ():
        if quantity.sparsity is not None:
            yield StatedPeak(f"cluster.accelerator.peak.{precision}", quantity, precision, entry.id, peaks)
