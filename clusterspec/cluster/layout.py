"""Resolves the parallel layout: degrees, order of ranks, stages, schedule, and software behavior."""

from __future__ import annotations

from math import gcd

from clusterspec.cluster.degrees import Degrees, job_nodes, nodes_per_domain, resolve_degrees
from clusterspec.cluster.model import Cluster, Layout, Workload
from clusterspec.cluster.overlap import resolve_dispatcher, resolve_overlap
from clusterspec.cluster.resolution_log import ResolutionLog
from clusterspec.cluster.software import Software
from clusterspec.cluster.stages import resolve_stages
from clusterspec.spec.model import LayoutSpec, OffloadSpec, OptimizerStatesSpec, OverlapSpec

KEY = "layout"
ORDER = ("tp", "cp", "ep", "dp", "pp")
SHARDS_FULLY = frozenset({"torchtitan", "fsdp", "maxtext"})


def resolve_layout(
    section: LayoutSpec, cluster: Cluster, workload: Workload | None, software: Software, log: ResolutionLog
) -> Layout:
    """The layout. Rules report invalid values; here they are replaced, so that everything else can still be checked.

    dp becomes the largest that fits (at least 1), an order is completed, a shard group becomes its gcd with dp × cp.
    """
    framework, nodes = software.framework, job_nodes(section, cluster)
    degrees = resolve_degrees(section, framework, nodes * cluster.ranks_per_node, workload, log)
    sharding, serves = _sharding(section, framework, workload, log), _serves(workload)
    micro_batch = log.training(section.micro_batch, f"{KEY}.micro_batch", 1, "the smallest", serves)
    master_precision, moments_precision = _state_precisions(section, serves, log)
    return Layout(
        framework=framework,
        software_year=software.year,
        software=software.release,
        stack=software.stack,
        ranks=_ranks(degrees, workload),
        separate_engines=_separate(workload),
        nodes=nodes,
        tp=degrees.tp,
        attention_dp=degrees.attention_dp,
        cp=degrees.cp,
        ep=degrees.ep,
        expert_tp=degrees.expert_tp,
        redundant_experts=degrees.redundant_experts,
        pp=degrees.pp,
        dp=degrees.dp,
        expert_dp=degrees.expert_dp,
        sequence_parallel=_sequence_parallel(section, degrees.tp, log),
        cp_method=_cp_method(section, degrees, log),
        sharding=sharding,
        shard_group=_shard_group(section, sharding, degrees, cluster, log),
        order=_order(section, log),
        schedule=_schedule(section, degrees, serves, log),
        virtual_stages=degrees.virtual_stages,
        stage_layers=resolve_stages(section, degrees, workload, log),
        micro_batch=micro_batch,
        micro_batches=_micro_batches(workload, degrees.dp, micro_batch),
        recompute=_recompute(section, serves, log),
        offload_optimizer=_offload(section).optimizer or 0.0,
        offload_activations=_offload(section).activations or 0.0,
        master_precision=master_precision,
        moments_precision=moments_precision,
        gradient_compression=max(1.0, float(section.gradient_compression or 1)),
        overlap=resolve_overlap(section.overlap or OverlapSpec(), degrees, software.stack, log),
        dispatcher=resolve_dispatcher(section, degrees, cluster, workload, stack=software.stack, log=log),
        nodes_per_domain=nodes_per_domain(section, cluster),
    )


def _state_precisions(section: LayoutSpec, serves: bool, log: ResolutionLog) -> tuple[str, str]:
    """The precisions of the master weights and of the moments."""
    written, key = section.optimizer_states or OptimizerStatesSpec(), f"{KEY}.optimizer_states"
    master = log.training(written.master, f"{key}.master", "fp32", "usual", serves)
    return master, log.training(written.moments, f"{key}.moments", "fp32", "usual", serves)


def _offload(section: LayoutSpec) -> OffloadSpec:
    return section.offload or OffloadSpec()


def _separate(workload: Workload | None) -> bool:
    return workload is not None and workload.serving is not None and workload.serving.decode is not None


def _ranks(degrees: Degrees, workload: Workload | None) -> int:
    """Ranks of the job; with separate engines those of prefill and decode."""
    prefill = workload.serving.prefill if workload is not None and workload.serving is not None else None
    return degrees.ranks + (prefill.replicas * prefill.ranks if prefill is not None else 0)


def _serves(workload: Workload | None) -> bool:
    return workload is not None and workload.kind == "serve"


def _sharding(section: LayoutSpec, framework: str, workload: Workload | None, log: ResolutionLog) -> str:
    """The sharding of model states; none in serving, where replicas are independent."""
    if _serves(workload):
        return section.sharding or "none"
    if framework in SHARDS_FULLY:
        return log.either(section.sharding, f"{KEY}.sharding", "fsdp", f"what {framework} does")
    return log.either(section.sharding, f"{KEY}.sharding", "zero1", "the distributed optimizer is usual")


def _sequence_parallel(section: LayoutSpec, tp: int, log: ResolutionLog) -> bool:
    if tp == 1:
        return bool(section.sequence_parallel)
    return log.either(section.sequence_parallel, f"{KEY}.sequence_parallel", True, "usual with tp")


def _cp_method(section: LayoutSpec, degrees: Degrees, log: ResolutionLog) -> str:
    if degrees.cp == 1:
        return section.cp_method or "ring"
    return log.either(section.cp_method, f"{KEY}.cp_method", "ring", "usual")


def _shard_group(section: LayoutSpec, sharding: str, degrees: Degrees, cluster: Cluster, log: ResolutionLog) -> int:
    """Ranks over which states are sharded: those of one hsdp group, else all of dp × cp; 1 without sharding."""
    replicas = degrees.dp * degrees.cp
    if sharding != "hsdp":
        return 1 if sharding == "none" else replicas
    if section.shard_group is not None:
        return gcd(max(1, section.shard_group), replicas)
    group = gcd(max(1, cluster.ranks_per_domain // degrees.tp), replicas)
    return log.assume(f"{KEY}.shard_group", group, "the ranks of one domain over tp")


def _order(section: LayoutSpec, log: ResolutionLog) -> tuple[str, ...]:
    if section.order is None:
        return log.assume(f"{KEY}.order", ORDER, "usual")
    halves = {"dp_shard", "dp_replicate"} & set(section.order)
    known = set(ORDER) - {"dp"} | halves if len(halves) == 2 else set(ORDER)
    axes = ("dp" if axis in halves and len(halves) == 1 else axis for axis in section.order)
    kept = tuple(dict.fromkeys(axis for axis in axes if axis in known))
    return kept + tuple(axis for axis in ORDER if axis in known and axis not in kept)


def _schedule(section: LayoutSpec, degrees: Degrees, serves: bool, log: ResolutionLog) -> str:
    interleaved = degrees.virtual_stages > 1
    default = "interleaved" if interleaved else "1f1b"
    if degrees.pp == 1:
        return section.schedule or default
    why = "a rank has several virtual stages" if interleaved else "usual"
    return log.training(section.schedule, f"{KEY}.schedule", default, why, serves)


def _micro_batches(workload: Workload | None, dp: int, micro_batch: int) -> int | None:
    if workload is None or workload.kind != "train":
        return None
    return max(1, workload.global_batch // (dp * max(1, micro_batch)))


def _recompute(section: LayoutSpec, serves: bool, log: ResolutionLog) -> str | tuple[str, ...]:
    if section.recompute is None and serves:
        return "none"
    if section.recompute is None:
        return log.assume(f"{KEY}.recompute", "none", "activations are stored unless recomputation is stated")
    return section.recompute
