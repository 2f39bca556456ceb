"""Serving designs that differ only in values that no engine reads, and therefore have equal times and memory."""

from __future__ import annotations

from clusterspec.cluster.model import Cluster, Design, Layout, Workload
from clusterspec.cluster.variation import Changes, layout_of_engines, with_values
from clusterspec.cost.serving.constants import rank_links
from clusterspec.records import replace


def have_equal_engines(one: Design, other: Design) -> bool:
    """Whether two designs serve the same load with equal engines, so that times and memory of one hold for the other.

    It is False for designs that do not serve, and for engines on two machines, which are not compared.
    """
    works, layouts = (one.workload, other.workload), (one.layout, other.layout)
    if one.cluster is None or other.cluster is None or None in works or None in layouts:
        return False
    (work, same_work), (layout, same_layout) = map(_work_of_engines, works), map(_layout_of_engines, layouts)
    if work is None or work != same_work or layout != same_layout:
        return False
    return _have_equal_links((one.cluster, other.cluster), _group_sizes(one))


def _work_of_engines(workload: Workload | None) -> Workload | None:
    """The workload as engines read it, with the stated share of the memory, without the kernel of attention: that of
    engines follows from their software. None if it does not serve, or on two machines.
    """
    load = workload.serving if workload is not None else None
    if workload is None or load is None or (load.prefill is not None and load.prefill.pool is not None):
        return None
    if load.raised_from is not None:
        load = replace(load, memory_fraction=load.raised_from)
    return replace(workload, attention="", serving=load)


def _layout_of_engines(layout: Layout | None) -> Layout | None:
    """The layout as engines read it: adjacent ranks form their groups, they split no sequence, send no gradients, and
    overlap no transfers between stages.
    """
    if layout is None:
        return None
    return replace(layout, order=(), sequence_parallel=False, overlap=replace(layout.overlap, dp=False, pp=False))


def _group_sizes(design: Design) -> frozenset[int]:
    """The ranks of each group of an engine that communicates: tensor-parallel ranks, replicas of attention, stages."""
    assert design.layout is not None and design.workload is not None and design.workload.serving is not None
    prefill = design.workload.serving.prefill
    layouts = [design.layout]
    if prefill is not None:
        layouts.append(layout_of_engines(design.layout, prefill, design.workload.model.layers))
    return frozenset(
        ranks
        for each in layouts
        for ranks in (each.tp, each.tp * each.attention_dp, each.tp * each.attention_dp * each.pp)
        if ranks > 1
    )


def _have_equal_links(clusters: tuple[Cluster, Cluster], sizes: frozenset[int]) -> bool:
    """Whether two clusters differ at most in a fabric between nodes that groups of these ``sizes`` use alike."""
    one, other = clusters
    if (
        one.nic_bandwidth_per_accelerator != other.nic_bandwidth_per_accelerator
        or one.kernels != other.kernels
        or one.kernels_part != other.kernels_part
    ):
        return False
    without: Changes = {("scale_out",): None, ("scale_up", "in_network_reduction"): False}
    bare = [with_values(each, without) for each in clusters]
    return bare[0] == bare[1] and all(rank_links(one, size) == rank_links(other, size) for size in sizes)
