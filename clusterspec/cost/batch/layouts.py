"""One layout of a batch, from its variant and its degrees."""

from __future__ import annotations

from collections.abc import Mapping

from clusterspec.cluster.model import Layout, Workload
from clusterspec.cluster.stages import even_stages
from clusterspec.records import replace

DEGREES = ("tp", "cp", "ep", "expert_tp", "pp", "dp", "virtual_stages", "micro_batch", "shard_group")
"""The numbers of a layout that differ within a batch, in ranks, chunks and sequences."""


def layout_of(variant: Layout, workload: Workload, degrees: Mapping[str, int]) -> Layout:
    """``variant`` with these `DEGREES`; its layers are spread over the stages as evenly as possible."""
    tp, cp, ep, expert_tp, pp, dp, virtual_stages, micro_batch, shard_group = (degrees[name] for name in DEGREES)
    ranks = tp * cp * pp * dp
    return replace(
        variant,
        tp=tp,
        cp=cp,
        ep=ep,
        expert_tp=expert_tp,
        pp=pp,
        dp=dp,
        virtual_stages=virtual_stages,
        micro_batch=micro_batch,
        shard_group=shard_group,
        ranks=ranks,
        expert_dp=max(1, ranks // (expert_tp * ep * pp)),
        stage_layers=even_stages(workload.model.layers, pp * virtual_stages),
        micro_batches=max(1, workload.global_batch // (dp * micro_batch)),
    )
