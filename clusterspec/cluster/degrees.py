"""The degrees of parallelism of a layout: as written, else the framework's defaults."""

from __future__ import annotations

from clusterspec.catalog.entries import Platform
from clusterspec.cluster.model import Cluster, Engines, Workload
from clusterspec.cluster.resolution_log import ResolutionLog
from clusterspec.records import dataclass
from clusterspec.spec.model import LayoutSpec

KEY = "layout"
EXPERTS_CUT_BY_TP = frozenset({"megatron-core", "nemo"})
"""Frameworks that shard experts by tp for any ep (Megatron-Core, ``expert_tensor_parallel_size``)."""


@dataclass(frozen=True, slots=True)
class Degrees:
    """The number of ranks of each axis."""

    tp: int
    attention_dp: int
    cp: int
    ep: int
    expert_tp: int
    pp: int
    dp: int
    virtual_stages: int
    redundant_experts: int = 0

    @property
    def ranks(self) -> int:
        """Ranks of the whole job."""
        return self.tp * self.attention_dp * self.cp * self.pp * self.dp

    @property
    def expert_dp(self) -> int:
        """Ranks that hold the same shard of the experts."""
        return max(1, self.ranks // (self.expert_tp * self.ep * self.pp))


def nodes_of_domain(cluster: Cluster) -> int:
    """Nodes of one scale-up domain; 1 where it is within a node."""
    return max(1, cluster.scale_up.domain // cluster.accelerators_per_node)


def nodes_of_rack(platform: Platform) -> int:
    """Nodes of a rack-scale machine as sold, also where a cluster has fewer; 1 for a node."""
    return max(1, (platform.domain or 1) // (platform.accelerators_per_node or 1))


def domain_overhead(cluster: Cluster) -> float:
    """Watts of a rack-scale machine besides its nodes, for scale-up switches and power conversion, by its platform; 0
    where the platform states no power of a rack.
    """
    platform = cluster.platform
    nodes = nodes_of_rack(platform) if platform else 1
    if platform is None or platform.rack_power is None or nodes == 1:
        return 0.0
    stated = platform.power.value if platform.power else 0.0
    own = cluster.node_power.value if cluster.node_power else 0.0
    return max(0.0, platform.rack_power.value - nodes * max(stated, own))


def job_nodes(section: LayoutSpec, cluster: Cluster) -> int:
    """Nodes that the job uses: as stated, else those of the whole domains, else all.

    A number above the cluster's is used as stated; a rule reports it.
    """
    if section.nodes is not None:
        return max(1, section.nodes)
    used = nodes_per_domain(section, cluster)
    if used is None:
        return max(1, cluster.nodes)
    whole = cluster.nodes // nodes_of_domain(cluster)
    return max(1, whole * used) if whole else min(used, max(1, cluster.nodes))


def nodes_per_domain(section: LayoutSpec, cluster: Cluster) -> int | None:
    """Nodes used in each domain, where that is fewer than it has; else None."""
    used, there = section.nodes_per_domain, nodes_of_domain(cluster)
    return used if used is not None and 0 < used < there else None


def resolve_degrees(
    section: LayoutSpec, framework: str, ranks: int, workload: Workload | None, log: ResolutionLog
) -> Degrees:
    """The degrees on ``ranks`` ranks. dp is the largest that fits, at least 1; a rule reports a remainder.

    A serving plan may have fewer replicas (``dp``) than fit. Where serving is disaggregated, the degrees are those of
    the decode engines.
    """
    serving = workload.serving if workload is not None else None
    if serving is not None and serving.decode is not None:
        return _of_engines(serving.decode)
    serves, why = workload is not None and workload.kind == "serve", "no parallelism on this axis"
    written = {axis: log.either(getattr(section, axis), f"{KEY}.{axis}", 1, why) for axis in ("tp", "ep", "pp")}
    written["cp"] = log.training(section.cp, f"{KEY}.cp", 1, why, serves)
    tp, ep, pp, cp = (max(1, degree) for degree in written.values())
    attention_dp = _attention_dp(section, workload, log)
    fits = max(1, ranks // (tp * attention_dp * cp * pp))
    if serving is not None and section.dp is not None:
        fits = min(fits, max(1, section.dp))
    expert_tp = _expert_tp(section, framework, Engines(1, tp, attention_dp, ep), workload, log)
    redundant = _redundant_experts(workload, ep, log)
    return Degrees(tp, attention_dp, cp, ep, expert_tp, pp, fits, max(1, section.virtual_stages or 1), redundant)


def _of_engines(engines: Engines) -> Degrees:
    return Degrees(
        engines.tp,
        engines.attention_dp,
        1,
        engines.ep,
        engines.expert_tp,
        engines.pp,
        engines.replicas,
        1,
        engines.redundant_experts,
    )


def _attention_dp(section: LayoutSpec, workload: Workload | None, log: ResolutionLog) -> int:
    """Attention replicas in each engine; 1 in training, where a replica of attention is a replica of the model."""
    if workload is None or workload.kind != "serve":
        return 1
    return max(1, log.either(section.attention_dp, f"{KEY}.attention_dp", 1, "one replica of attention in each engine"))


def _expert_tp(
    section: LayoutSpec, framework: str, engine: Engines, workload: Workload | None, log: ResolutionLog
) -> int:
    """Ranks that shard one expert; ``engine`` has the other degrees."""
    if section.expert_tp is not None:
        return max(1, section.expert_tp)
    if workload is not None and workload.kind == "serve":
        found, why = default_expert_tp(engine), "experts are distributed over all tp × attention_dp ranks of an engine"
    elif engine.ep == 1:
        found, why = engine.tp, "without expert parallelism, tp shards experts like all other weights"
    else:
        found = engine.tp if framework in EXPERTS_CUT_BY_TP else 1
        why = f"the default of {framework}"
    if engine.ep > 1 or (workload is not None and workload.model.experts):
        log.assume(f"{KEY}.expert_tp", found, why)
    return found


def default_expert_tp(engine: Engines) -> int:
    """Ranks of an engine that shard one expert: tp × attention_dp / ep, at least 1."""
    return max(1, engine.tp * engine.attention_dp // engine.ep)


def fewest_copies(experts: int, ep: int) -> int:
    """The fewest redundant experts with which the number of experts is divisible by ep.

    >>> fewest_copies(256, 72), fewest_copies(256, 8)
    (32, 0)
    """
    return -experts % max(1, ep)


def _redundant_experts(workload: Workload | None, ep: int, log: ResolutionLog) -> int:
    serving = workload.serving if workload is not None else None
    if workload is None or serving is None or not workload.model.experts:
        return 0
    section = log.spec.workload.serving if log.spec.workload else None
    if section is not None and section.redundant_experts is not None:
        return section.redundant_experts
    fewest = fewest_copies(workload.model.experts, ep)
    if ep == 1:
        return 0
    why = f"the fewest that make {workload.model.experts} experts divisible by ep {ep}"
    return log.assume("workload.serving.redundant_experts", fewest, why)
