"""A figure of the spec, or of its reader, that counts both directions of a link as one."""

from __future__ import annotations

from collections.abc import Iterator

from clusterspec.analysis.diagnosis.placed_runs import PlacedRun
from clusterspec.analysis.diagnosis.stated_causes import STATED, WEAK
from clusterspec.results.diagnosis import Cause
from clusterspec.units import display, percent

PLATEAU = 256 * 1024**2
"""Message size in bytes above which bandwidth dominates the time of a collective on all fabrics with published data."""
DUPLEX = (0.33, 0.46)
"""Range of measured over stated bandwidth in a scale-up domain if the stated figure sums both directions. Source:
NVIDIA/nccl issue 1442, NVIDIA/nccl-tests issue 149: runs reach about 80 % of one direction.
"""


def direction_error(run: PlacedRun) -> Iterator[Cause]:
    """A bandwidth that sums both directions, in the spec or in the reader's expectation."""
    accelerator, up, last = run.cluster.accelerator, run.cluster.scale_up, run.largest
    if run.uses_network or last.size < PLATEAU or up.topology == "pcie":
        return
    known = accelerator.scale_up_bandwidth
    stated = up.bandwidth.value
    if known is not None and stated > 1.5 * known.value:
        share = percent(last.measured / stated)
        evidence = (
            f"the spec has {display(stated, 'B/s')} in each direction, the catalog {display(known.value, 'B/s')} for "
            f"{accelerator.id}: {display(last.measured, 'B/s')} is {share} of the first, "
            f"{percent(last.measured / known.value)} of the second"
        )
        following = f"write `bandwidth: {known.value * 2 / 1e9:g} GB/s duplex` under cluster.scale_up"
        yield Cause("duplex-misreading", evidence, following, STATED)
    elif last.measured < last.low and DUPLEX[0] <= last.measured / (2 * stated) <= DUPLEX[1]:
        evidence = (
            f"{percent(last.measured / (2 * stated))} of {display(2 * stated, 'B/s')}, the sum of both directions, is "
            f"{percent(last.measured / stated)} of the {display(stated, 'B/s')} of one direction"
        )
        yield Cause("duplex-misreading", evidence, f"clusterspec convert '{2 * stated / 1e9:g} GB/s duplex'", WEAK)
