"""Layers of the pipeline stages: as written, else as even as possible."""

from __future__ import annotations

from clusterspec.cluster.degrees import Degrees
from clusterspec.cluster.model import Engines, Layout, Workload
from clusterspec.cluster.resolution_log import ResolutionLog
from clusterspec.records import replace
from clusterspec.spec.model import LayoutSpec

MOST_STAGES = 65_536
"""Limit of stages for which a list of layers is kept; no cluster has so many."""


def resolve_stages(
    section: LayoutSpec, degrees: Degrees, workload: Workload | None, log: ResolutionLog
) -> tuple[int, ...]:
    """Layers of every stage in model order. A list of pp numbers is spread over the virtual stages.

    Empty where the model is not known or there are more stages than any cluster has.
    """
    stages = degrees.pp * degrees.virtual_stages
    written = section.stage_layers
    if stages > MOST_STAGES:
        return ()
    if written is not None and len(written) == stages:
        return written
    if written is not None and len(written) == degrees.pp:
        return tuple(_virtual(written, degrees.virtual_stages))
    if workload is None:
        return ()
    layers = even_stages(workload.model.layers, stages)
    if workload.model.layers % stages and written is None:
        log.assume("layout.stage_layers", layers, "as even as possible, the stages at both ends shorter")
    return layers


def _virtual(per_rank: tuple[int, ...], virtual_stages: int) -> list[int]:
    """pp numbers split into virtual stages: chunk by chunk, each rank's layers as even as possible."""
    chunks = [even_stages(layers, virtual_stages) for layers in per_rank]
    return [rank[chunk] for chunk in range(virtual_stages) for rank in chunks]


def even_stages(layers: int, stages: int) -> tuple[int, ...]:
    """Layers over stages as even as possible; the last stage (it holds the head) and then the first
    (the embedding) are the shorter ones, as Llama 3 does (arXiv:2407.21783, section 3.3.2).

    >>> even_stages(126, 16)
    (7, 8, 8, 8, 8, 8, 8, 8, 8, 8, 8, 8, 8, 8, 8, 7)
    """
    each, longer = divmod(layers, stages)
    shorter = stages - longer if longer else 0
    at_start = shorter // 2
    at_end = shorter - at_start
    return (each,) * at_start + (each + 1,) * longer + (each,) * (at_end if longer else stages)


def of_engines(layout: Layout, engines: Engines, layers: int) -> Layout:
    """The layout with the degrees of other engines, for a model with a given number of layers."""
    return replace(
        layout,
        ranks=engines.replicas * engines.ranks,
        dp=engines.replicas,
        tp=engines.tp,
        attention_dp=engines.attention_dp,
        ep=engines.ep,
        expert_tp=engines.expert_tp,
        pp=engines.pp,
        redundant_experts=engines.redundant_experts,
        stage_layers=even_stages(layers, engines.pp) if engines.pp <= MOST_STAGES else (),
        separate_engines=False,
    )
