"""The communication that a layout overlaps with computation."""

from __future__ import annotations

from clusterspec.cluster.model import Overlap
from clusterspec.cost.compute.software import SoftwareBehavior
from clusterspec.records import NamedTuple


class Hiding(NamedTuple):
    """The communication that may overlap with computation, by axis.

    ``pipelined`` is the share of tensor-parallel traffic that runs inside the GEMMs around it; ``by_default`` whether
    transfers overlap that a framework overlaps without a setting.
    """

    tp: bool
    cp: bool
    ep: bool
    dp: bool
    pp: bool
    pipelined: float
    by_default: bool

    @classmethod
    def of(cls, overlap: Overlap, software: SoftwareBehavior) -> Hiding:
        """The overlap settings of a layout; ``partial`` is the default of the software."""
        refused = overlap.tp in ("none", 0)
        share = overlap.tp if isinstance(overlap.tp, int | float) else software.tensor_hidden
        return cls(
            tp=overlap.tp == "full",
            cp=overlap.cp,
            ep=overlap.ep,
            dp=overlap.dp,
            pp=overlap.pp,
            pipelined=0.0 if refused else share,
            by_default=not refused,
        )
