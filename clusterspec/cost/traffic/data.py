"""Data parallelism: gradients reduced over replicas, and weights gathered where they are sharded."""

from __future__ import annotations

from clusterspec.cluster.model import Layout, Workload
from clusterspec.cost.formulas.elementwise import absent, chosen
from clusterspec.cost.parameters import Share
from clusterspec.cost.traffic.transfer import Transfer
from clusterspec.precision import width
from clusterspec.records import dataclass

DENSE, EXPERT = "dp_cp", "expert_dp"
"""The groups over which ordinary weights and those of experts are replicated."""
SHARD, REPLICATE = "shard", "replicate"
"""The two levels of hsdp."""


@dataclass(frozen=True, slots=True)
class Weights:
    """Weights of one rank before sharding: those replicated on every data-parallel rank, and experts'."""

    dense: float
    expert: float = 0.0

    @classmethod
    def of(cls, held: Share, layout: Layout) -> Weights:
        """The weights of a rank's layers; experts that are sharded as other weights count as dense."""
        dense = held.dense + held.replicated
        alike = (layout.ep == 1) & (layout.expert_tp == layout.tp)
        return cls(dense + chosen(alike, held.expert, 0.0), chosen(alike, 0.0, held.expert))

    def __add__(self, other: Weights) -> Weights:
        return Weights(self.dense + other.dense, self.expert + other.expert)

    def __mul__(self, share: float) -> Weights:
        return Weights(self.dense * share, self.expert * share)


def gradient_bytes(workload: Workload, layout: Layout) -> float:
    """Bytes of one gradient on the wire: in the precision in which it is kept, or a narrower one that the software
    reduces in, as the mixed-precision policy of FSDP may state.
    """
    kept = width(workload.gradient_precision)
    sent = layout.stack.reduces if layout.stack else None
    return (min(kept, width(sent)) if sent else kept) / layout.gradient_compression


def parameter_bytes(workload: Workload) -> float:
    """Bytes of one weight on the wire."""
    return width(workload.parameter_precision)


def _present(*transfers: Transfer) -> tuple[Transfer, ...]:
    return tuple(transfer for transfer in transfers if not absent(transfer.size))


def reductions(weights: Weights, workload: Workload, layout: Layout) -> tuple[Transfer, ...]:
    """The transfers that reduce the gradients of these weights: all-reduce, or reduce-scatter where states are sharded.

    hsdp scatters over its shard group; `across` returns the reduction that follows.
    """
    each = gradient_bytes(workload, layout)
    name = "all-reduce" if layout.sharding == "none" else "reduce-scatter"
    dense = SHARD if layout.sharding == "hsdp" else DENSE
    return _present(Transfer(dense, name, each * weights.dense), Transfer(EXPERT, name, each * weights.expert))


def across(weights: Weights, workload: Workload, layout: Layout) -> tuple[Transfer, ...]:
    """With hsdp, the all-reduces of gradient shards between the shard groups."""
    if layout.sharding != "hsdp":
        return ()
    shard = gradient_bytes(workload, layout) * weights.dense / layout.shard_group
    return _present(Transfer(REPLICATE, "all-reduce", shard))


def gathers(weights: Weights, workload: Workload, layout: Layout) -> tuple[Transfer, ...]:
    """The transfers that gather these weights on every rank; none where they are not sharded."""
    if layout.sharding == "none":
        return ()
    each = parameter_bytes(workload)
    dense = SHARD if layout.sharding == "hsdp" else DENSE
    return _present(
        Transfer(dense, "all-gather", each * weights.dense), Transfer(EXPERT, "all-gather", each * weights.expert)
    )
