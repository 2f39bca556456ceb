"""Settles how the work is cut: every degree, the order of ranks, the stages and the schedule."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from math import gcd

from clusterspec.cluster.model import Cluster, Layout, Workload
from clusterspec.cluster.resolution_log import ResolutionLog
from clusterspec.spec.model import LayoutSpec, OffloadSpec, OptimizerStatesSpec, OverlapSpec

KEY = "layout"
ORDER = ("tp", "cp", "ep", "dp", "pp")
OVERLAP: Mapping[str, bool] = {"tp": False, "cp": True, "ep": False, "dp": True, "pp": True}
SHARDS_FULLY = frozenset({"torchtitan", "fsdp", "maxtext"})
EXPERTS_CUT_BY_TP = frozenset({"megatron-core", "nemo"})
NEWEST_SOFTWARE = 2026
"""The newest year of software that the cost model knows figures of."""
MOST_STAGES = 65_536
"""Stages beyond which no list of their layers is kept; no cluster has so many."""


@dataclass(frozen=True, slots=True)
class _Degrees:
    """How many ways each axis cuts, in ranks."""

    tp: int
    cp: int
    ep: int
    expert_tp: int
    pp: int
    dp: int
    virtual_stages: int

    @property
    def ranks(self) -> int:
        return self.tp * self.cp * self.pp * self.dp

    @property
    def expert_dp(self) -> int:
        return max(1, self.ranks // (self.expert_tp * self.ep * self.pp))


def settle_layout(said: LayoutSpec, cluster: Cluster, workload: Workload | None, log: ResolutionLog) -> Layout:
    """The layout. Where the degrees do not multiply to the ranks there are, a rule says so, and this takes
    the largest dp that fits, at least 1, so that everything else can still be judged; likewise an order
    with an axis twice or missing is completed, and a shard group that does not divide dp × cp is taken
    as their greatest common divisor.
    """
    framework = said.framework or "custom"
    nodes = job_nodes(said, cluster)
    degrees = _degrees(said, framework, nodes * cluster.ranks_per_node, workload, log)
    sharding = log.either(said.sharding, f"{KEY}.sharding", _sharding(framework), _why_sharding(framework))
    micro_batch = log.either(said.micro_batch, f"{KEY}.micro_batch", 1, "the smallest")
    offload, states = said.offload or OffloadSpec(), said.optimizer_states or OptimizerStatesSpec()
    return Layout(
        framework=framework,
        software_year=log.either(said.software_year, f"{KEY}.software_year", NEWEST_SOFTWARE, "the newest known"),
        ranks=degrees.ranks,
        nodes=nodes,
        tp=degrees.tp,
        cp=degrees.cp,
        ep=degrees.ep,
        expert_tp=degrees.expert_tp,
        pp=degrees.pp,
        dp=degrees.dp,
        expert_dp=degrees.expert_dp,
        sequence_parallel=_sequence_parallel(said, degrees.tp, log),
        cp_method=_cp_method(said, degrees, log),
        sharding=sharding,
        shard_group=_shard_group(said, sharding, degrees, cluster, log),
        order=_order(said, log),
        schedule=_schedule(said, degrees, log),
        virtual_stages=degrees.virtual_stages,
        stage_layers=_stage_layers(said, degrees, workload, log),
        micro_batch=micro_batch,
        micro_batches=_micro_batches(workload, degrees.dp, micro_batch),
        recompute=log.either(said.recompute, f"{KEY}.recompute", "none", "nothing says otherwise"),
        offload_optimizer=offload.optimizer or 0.0,
        offload_activations=offload.activations or 0.0,
        master_precision=log.either(states.master, f"{KEY}.optimizer_states.master", "fp32", "usual"),
        moments_precision=log.either(states.moments, f"{KEY}.optimizer_states.moments", "fp32", "usual"),
        gradient_compression=max(1.0, float(said.gradient_compression or 1)),
        overlap=_overlap(said.overlap or OverlapSpec(), degrees, log),
        nodes_per_domain=_nodes_per_domain(said, cluster),
    )


def nodes_of_domain(cluster: Cluster) -> int:
    """Nodes that one scale-up domain spans; 1 where it lies inside a node."""
    return max(1, cluster.scale_up.domain // cluster.accelerators_per_node)


def job_nodes(said: LayoutSpec, cluster: Cluster) -> int:
    """Nodes that the job uses: as stated, else so many of each whole domain, else all.

    A stated number above the cluster's is taken as it is; a rule speaks of it.
    """
    if said.nodes is not None:
        return max(1, said.nodes)
    used = _nodes_per_domain(said, cluster)
    if used is None:
        return max(1, cluster.nodes)
    whole = cluster.nodes // nodes_of_domain(cluster)
    return max(1, whole * used) if whole else min(used, max(1, cluster.nodes))


def _nodes_per_domain(said: LayoutSpec, cluster: Cluster) -> int | None:
    used, there = said.nodes_per_domain, nodes_of_domain(cluster)
    return used if used is not None and 0 < used < there else None


def _degrees(said: LayoutSpec, framework: str, ranks: int, workload: Workload | None, log: ResolutionLog) -> _Degrees:
    cut = {axis: log.either(getattr(said, axis), f"{KEY}.{axis}", 1, "not cut") for axis in ("tp", "cp", "ep", "pp")}
    tp, cp, ep, pp = (max(1, degree) for degree in cut.values())
    fits = max(1, ranks // (tp * cp * pp))
    expert_tp = said.expert_tp
    if expert_tp is None:
        expert_tp = tp if framework in EXPERTS_CUT_BY_TP else 1
        if ep > 1 or (workload is not None and workload.model.experts):
            log.assume(f"{KEY}.expert_tp", expert_tp, f"the default of {framework}")
    return _Degrees(tp, cp, ep, max(1, expert_tp), pp, fits, max(1, said.virtual_stages or 1))


def _sharding(framework: str) -> str:
    return "fsdp" if framework in SHARDS_FULLY else "zero1"


def _why_sharding(framework: str) -> str:
    return f"what {framework} does" if framework in SHARDS_FULLY else "the distributed optimizer is usual"


def _sequence_parallel(said: LayoutSpec, tp: int, log: ResolutionLog) -> bool:
    if tp == 1:
        return bool(said.sequence_parallel)
    return log.either(said.sequence_parallel, f"{KEY}.sequence_parallel", True, "usual beside tp")


def _cp_method(said: LayoutSpec, degrees: _Degrees, log: ResolutionLog) -> str:
    if degrees.cp == 1:
        return said.cp_method or "ring"
    return log.either(said.cp_method, f"{KEY}.cp_method", "ring", "usual")


def _shard_group(said: LayoutSpec, sharding: str, degrees: _Degrees, cluster: Cluster, log: ResolutionLog) -> int:
    """Ranks over which the sharded state is split: of one hsdp group, else all of dp × cp; 1 without sharding."""
    replicas = degrees.dp * degrees.cp
    if sharding != "hsdp":
        return 1 if sharding == "none" else replicas
    if said.shard_group is not None:
        return gcd(max(1, said.shard_group), replicas)
    group = gcd(max(1, cluster.ranks_per_domain // degrees.tp), replicas)
    return log.assume(f"{KEY}.shard_group", group, "the ranks of one domain over tp")


def _order(said: LayoutSpec, log: ResolutionLog) -> tuple[str, ...]:
    if said.order is None:
        return log.assume(f"{KEY}.order", ORDER, "usual")
    halves = {"dp_shard", "dp_replicate"} & set(said.order)
    known = set(ORDER) - {"dp"} | halves if len(halves) == 2 else set(ORDER)
    axes = ("dp" if axis in halves and len(halves) == 1 else axis for axis in said.order)
    kept = tuple(dict.fromkeys(axis for axis in axes if axis in known))
    return kept + tuple(axis for axis in ORDER if axis in known and axis not in kept)


def _schedule(said: LayoutSpec, degrees: _Degrees, log: ResolutionLog) -> str:
    interleaved = degrees.virtual_stages > 1
    default = "interleaved" if interleaved else "1f1b"
    if degrees.pp == 1:
        return said.schedule or default
    why = "a rank has several virtual stages" if interleaved else "usual"
    return log.either(said.schedule, f"{KEY}.schedule", default, why)


def _stage_layers(
    said: LayoutSpec, degrees: _Degrees, workload: Workload | None, log: ResolutionLog
) -> tuple[int, ...]:
    """Layers of every stage in model order. A list of pp numbers is spread over the virtual stages.

    Empty where the model is not known or there are more stages than any cluster has.
    """
    stages = degrees.pp * degrees.virtual_stages
    written = said.stage_layers
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
        log.assume(f"{KEY}.stage_layers", layers, "as even as possible, the stages at both ends shorter")
    return layers


def _virtual(per_rank: tuple[int, ...], virtual_stages: int) -> list[int]:
    """pp numbers cut into virtual stages: chunk by chunk, each rank's layers as even as possible."""
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


def _micro_batches(workload: Workload | None, dp: int, micro_batch: int) -> int | None:
    if workload is None or workload.kind != "train":
        return None
    return max(1, workload.global_batch // (dp * max(1, micro_batch)))


def _overlap(said: OverlapSpec, degrees: _Degrees, log: ResolutionLog) -> dict[str, bool]:
    """Which communication may hide; a default is listed only for an axis that communicates."""
    overlap = {}
    for axis, default in OVERLAP.items():
        written: bool | None = getattr(said, axis)
        if written is None and getattr(degrees, axis) > 1:
            log.assume(f"{KEY}.overlap.{axis}", default, "usual")
        overlap[axis] = default if written is None else written
    return overlap
