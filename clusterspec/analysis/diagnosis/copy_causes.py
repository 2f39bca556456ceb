"""Causes of slow copies between the memory of a host and its accelerators, by their rates and the slot's."""

from __future__ import annotations

from collections.abc import Iterator

from clusterspec.analysis.diagnosis.placed_runs import PlacedRun
from clusterspec.analysis.diagnosis.reason_causes import NEXT_OF_REASONS
from clusterspec.analysis.diagnosis.stated_causes import GIVEN, STRONG, WEAK
from clusterspec.cost.formulas.collectives import slot_rate
from clusterspec.results.diagnosis import Cause

_NEAR = "wrong-pcie-generation"
USABLE = 0.85
"""Share of a slot's rate that copies reach: their packets have headers (assumed; 12 to 13 of 15.75 GB/s of PCIe 3 and
24 to 26 of 31.5 GB/s of PCIe 4 are usual).
"""
OLDEST = 3
"""The oldest generation of PCIe whose rate is known."""
SLOW = 0.7
"""Share of what copies reach below which something is wrong."""
LIKE = 1.15
"""The ratio of both directions up to which they are alike, as those of a link are: it has as many lanes in both."""
MISSED = 0.2
"""Largest relative difference from a half, a quarter or less at which lanes or a generation explain a rate."""


def copy_causes(run: PlacedRun) -> Iterator[Cause]:
    """The causes of copies that are far below the slot of the spec, or that run on another NUMA node.

    Fewer lanes and an earlier generation halve both directions once or more; the way over another socket lowers each by
    its own share.
    """
    following = NEXT_OF_REASONS["core-binding"]
    for text, line in run.log_lines("far-copies")[:1]:
        yield Cause("core-binding", f"line {line} of the log: {text}", following, STRONG)
    slot = run.cluster.pcie_host
    if slot is None or slot < OLDEST:
        return
    for text, line in run.log_lines("host-copies")[:1]:
        there, back = map(float, text.split())
        most = USABLE * slot_rate(slot) / 1e9
        share = max(there, back) / most
        if share >= SLOW:
            continue
        alike = max(there, back) <= LIKE * min(there, back)
        evidence = (
            f"line {line} of the log: {there:g} GB/s from host to device and {back:g} back, {share:.0%} of the "
            f"{most:.3g} GB/s that copies over a PCIe {slot} x16 slot reach"
        )
        halves = alike and _is_halved(share)
        yield Cause(_NEAR, evidence, NEXT_OF_REASONS[_NEAR], GIVEN if halves else WEAK)
        yield Cause("core-binding", evidence, following, WEAK if halves else GIVEN)


def _is_halved(share: float) -> bool:
    """Whether a share is near a half, a quarter, an eighth or a sixteenth.

    >>> _is_halved(0.52), _is_halved(0.36)
    (True, False)
    """
    return any(abs(share * parts - 1) <= MISSED for parts in (2, 4, 8, 16))
