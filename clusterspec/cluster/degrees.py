"""Degrees of parallelism, layers of the pipeline stages, overlap settings and dispatcher: as written, else the
defaults.
"""

from __future__ import annotations

from clusterspec.catalog.entries import Platform
from clusterspec.catalog.frameworks import Capabilities
from clusterspec.catalog.stacks import FULLY, Stack
from clusterspec.cluster.model import Cluster, Design, Dispatcher, Overlap, Workload
from clusterspec.cluster.resolution import ResolutionLog
from clusterspec.records import dataclass, replace
from clusterspec.source import Written
from clusterspec.spec.model import DispatcherSpec, LayoutSpec, OverlapSpec

TYPE_CHECKING = False
if TYPE_CHECKING:
    from clusterspec.cluster.requests import Engines

LAYOUT_KEY = "layout"


@dataclass(frozen=True)
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
    """Nodes of one scale-up domain; 1 if it is within a node."""
    return max(1, cluster.scale_up.domain // cluster.accelerators_per_node)


def nodes_of_rack(platform: Platform) -> int:
    """Nodes of a rack-scale machine as sold, also where a cluster has fewer; 1 for a node."""
    return max(1, (platform.domain or 1) // (platform.accelerators_per_node or 1))


def share_of_rack(platform: Platform | None) -> float | None:
    """Watts per node of a rack that is sold whole: the rack's power divided by its nodes. None for machines sold by the
    node, and if the catalog has no power for the rack.
    """
    nodes = nodes_of_rack(platform) if platform is not None else 1
    if platform is None or platform.rack_power is None or nodes == 1:
        return None
    return platform.rack_power.value / nodes


def rack_nodes(cluster: Cluster, stated_nodes: int | None) -> int | None:
    """Nodes of one rack: as stated, else as the platform is sold; None if neither is known."""
    platform = cluster.platform
    return stated_nodes or (nodes_of_rack(platform) if platform is not None and platform.form == "rack" else None)


def domain_overhead(cluster: Cluster) -> float:
    """Watts of a rack-scale machine in addition to its nodes, for scale-up switches and power conversion, by its
    platform; 0 if the platform states no power of a rack.
    """
    platform, node = cluster.platform, cluster.node_power
    share = share_of_rack(platform)
    if platform is None or platform.rack_power is None or share is None:
        return 0.0
    written = node.value if node is not None and isinstance(node.origin, Written) else 0.0
    rated = platform.power.value if platform.power else share if node else 0.0
    return max(0.0, platform.rack_power.value - nodes_of_rack(platform) * max(written, rated))


def job_nodes(section: LayoutSpec, cluster: Cluster) -> int:
    """Nodes that the job uses: the stated number, else all nodes in whole domains, else all nodes.

    A number above the cluster's is used as stated; a rule reports it. If the used and spare nodes of all domains add up
    to the nodes of the cluster, the spare nodes are the ones held back in the domains.
    """
    if section.nodes is not None:
        return section.nodes
    used = nodes_per_domain(section, cluster)
    if used is None:
        return cluster.nodes
    there = nodes_of_domain(cluster)
    if cluster.all_nodes % there == 0 and cluster.all_nodes // there * used == cluster.nodes:
        return cluster.nodes
    whole = cluster.nodes // there
    return whole * used if whole else min(used, cluster.nodes)


def nodes_per_domain(section: LayoutSpec, cluster: Cluster) -> int | None:
    """Nodes used in each domain, if fewer than all; else None."""
    used, there = section.nodes_per_domain, nodes_of_domain(cluster)
    return used if used is not None and used < there else None


def resolve_degrees(
    section: LayoutSpec, capabilities: Capabilities, ranks: int, workload: Workload | None, log: ResolutionLog
) -> Degrees:
    """The degrees on ``ranks`` ranks. dp is the largest that fits, at least 1; a rule reports a remainder.

    A serving plan may have fewer replicas (``dp``) than fit. Where serving is disaggregated, the degrees apply to the
    decode engines.
    """
    serving = workload.serving if workload is not None else None
    if serving is not None and serving.decode is not None:
        return _engine_degrees(serving.decode)
    serves, why = workload is not None and workload.kind == "serve", "no parallelism on this axis"
    written = {
        axis: log.written_or_assumed(getattr(section, axis), f"{LAYOUT_KEY}.{axis}", 1, why)
        for axis in ("tp", "ep", "pp")
    }
    written["cp"] = log.training_value(section.cp, f"{LAYOUT_KEY}.cp", 1, why, serves)
    tp, ep, pp, cp = written.values()
    attention_dp = _attention_dp(section, workload, log)
    fits = max(1, ranks // (tp * attention_dp * cp * pp))
    if serving is not None and section.dp is not None:
        fits = min(fits, section.dp)
    degrees = Degrees(tp, attention_dp, cp, ep, 1, pp, fits, section.virtual_stages or 1)
    expert_tp = _expert_tp(section, capabilities, degrees, workload, log)
    return replace(degrees, expert_tp=expert_tp, redundant_experts=_redundant_expert_count(workload, ep, log))


def _engine_degrees(engines: Engines) -> Degrees:
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
    why = "one replica of attention in each engine"
    return log.written_or_assumed(section.attention_dp, f"{LAYOUT_KEY}.attention_dp", 1, why)


def _expert_tp(
    section: LayoutSpec, capabilities: Capabilities, degrees: Degrees, workload: Workload | None, log: ResolutionLog
) -> int:
    """Ranks that shard one expert; ``degrees`` has the other degrees."""
    if section.expert_tp is not None:
        return section.expert_tp
    if workload is not None and workload.kind == "serve":
        found = default_expert_tp(degrees)
        why = "experts are distributed over all tp × attention_dp ranks of an engine"
    elif degrees.ep == 1:
        found, why = degrees.tp, "without expert parallelism, tp shards experts like all other weights"
    else:
        found = degrees.tp if capabilities.has("defaults.expert_tp") else 1
        why = f"the default of {capabilities.written}"
    if degrees.ep > 1 or (workload is not None and workload.model.experts):
        log.assume(f"{LAYOUT_KEY}.expert_tp", found, why)
    return found


def default_expert_tp(engine: Degrees | Engines) -> int:
    """Ranks of an engine that shard one expert: tp × attention_dp / ep, at least 1."""
    return max(1, engine.tp * engine.attention_dp // engine.ep)


def fewest_copies(experts: int, ep: int) -> int:
    """The fewest redundant experts with which the number of experts is divisible by ep.

    >>> fewest_copies(256, 72), fewest_copies(256, 8)
    (32, 0)
    """
    return -experts % ep


def _redundant_expert_count(workload: Workload | None, ep: int, log: ResolutionLog) -> int:
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


MOST_STAGES = 65_536
"""The most stages with a list of layers; no cluster has more."""


def resolve_stages(
    section: LayoutSpec, degrees: Degrees, workload: Workload | None, log: ResolutionLog
) -> tuple[int, ...]:
    """Layers of every stage in model order. A list of pp numbers is spread over the virtual stages.

    Empty if the model is not known or there are more stages than any cluster has.
    """
    stages = degrees.pp * degrees.virtual_stages
    written = section.stage_layers
    if stages > MOST_STAGES:
        return ()
    if written is not None and len(written) == stages:
        return written
    if written is not None and len(written) == degrees.pp:
        return tuple(_virtual_stage_layers(written, degrees.virtual_stages))
    if workload is None:
        return ()
    layers = even_stages(workload.model.layers, stages)
    if workload.model.layers % stages and written is None:
        log.assume("layout.stage_layers", layers, "as even as possible, the stages at both ends shorter")
    return layers


def _virtual_stage_layers(per_rank: tuple[int, ...], virtual_stages: int) -> list[int]:
    """pp numbers split into virtual stages: chunk by chunk, each rank's layers as even as possible."""
    chunks = [even_stages(layers, virtual_stages) for layers in per_rank]
    return [rank[chunk] for chunk in range(virtual_stages) for rank in chunks]


def even_stages(layers: int, stages: int) -> tuple[int, ...]:
    """Layers of each stage, divided as evenly as possible. The last stage, with the output head, is shortened first;
    then the first stage, with the embedding, as in Llama 3 (arXiv:2407.21783, section 3.3.2).

    >>> even_stages(126, 16)
    (7, 8, 8, 8, 8, 8, 8, 8, 8, 8, 8, 8, 8, 8, 8, 7)
    """
    each, longer = divmod(layers, stages)
    at_start = (stages - longer) // 2
    return (each,) * at_start + (each + 1,) * longer + (each,) * (stages - longer - at_start)


# Resolves overlap with computation and the dispatcher of tokens

OVERLAP_KEY = "layout.overlap"
PAIRED = "dualpipe"
"""The schedule that overlaps the expert exchange of one micro-batch with the computation of another."""


def resolve_overlap(
    section: LayoutSpec, degrees: Degrees, stack: Stack | None, log: ResolutionLog, sharding: str = ""
) -> Overlap:
    """The overlap as written, else the default of the schedule or of the software; defaults are listed only for axes
    that communicate.
    """
    stated = section.overlap or OverlapSpec()

    def overlap_setting(axis: str, default: bool, why: str) -> bool:
        written: bool | None = getattr(stated, axis)
        if written is None and _does_communicate(axis, degrees):
            log.assume(f"{OVERLAP_KEY}.{axis}", default, why)
        return default if written is None else written

    return Overlap(
        tp=_tensor_overlap(stated, degrees, stack, log),
        cp=overlap_setting("cp", True, "the keys and values of the next block are fetched during the current one"),
        **{axis: overlap_setting(axis, *why) for axis, why in usual_overlap(section.schedule, sharding, stack).items()},
    )


def usual_overlap(schedule: str | None, sharding: str, stack: Stack | None) -> dict[str, tuple[bool, str]]:
    """Whether the communication of ep, dp and pp overlaps if the spec does not say so, with the reason of the
    assumption.
    """
    paired = (True, "what the schedule is for (DeepSeek-V3, arXiv 2412.19437, 3.2.1)") if schedule == PAIRED else None
    return {
        "ep": paired or (False, "dispatch and combine wait for the experts"),
        "dp": _software_overlap("dp", stack, sharding),
        "pp": paired or _software_overlap("pp", stack),
    }


def _does_communicate(axis: str, degrees: Degrees) -> bool:
    found: int = getattr(degrees, axis)
    return found > 1 or (axis == "dp" and degrees.cp > 1)


def _software_overlap(axis: str, stack: Stack | None, sharding: str = "") -> tuple[bool, str]:
    """Whether a stack overlaps the communication of an axis, and the reason to assume so."""
    if stack is None:
        return True, "usual"
    hides = axis in stack.hides or (sharding in FULLY and "shards" in stack.hides)
    return hides, f"{stack.id} {'hides it' if hides else 'does not hide it'}"


def _tensor_overlap(section: OverlapSpec, degrees: Degrees, stack: Stack | None, log: ResolutionLog) -> str | float:
    """The overlap of tensor-parallel communication: ``none``, ``partial``, ``full`` or a share. A written false means
    none, true means full.
    """
    if section.tp is None:
        if degrees.tp > 1:
            log.assume(f"{OVERLAP_KEY}.tp", "partial", _partial_overlap_reason(stack))
        return "partial"
    if isinstance(section.tp, bool):
        return "full" if section.tp else "none"
    return section.tp


def _partial_overlap_reason(stack: Stack | None) -> str:
    if stack is None:
        return "what the software does"
    figure = stack.achievable.get("hidden.tensor")
    share = figure.value if figure else 0.0
    return f"what {stack.id} does: it runs {share:.0%} of the traffic inside the GEMMs around it"


def resolve_dispatcher(
    section: LayoutSpec,
    degrees: Degrees,
    cluster: Cluster,
    workload: Workload | None,
    *,
    stack: Stack | None,
    log: ResolutionLog,
) -> Dispatcher:
    """The dispatcher of tokens: as written, else the software's default. The default is listed as an assumption only if
    the layout dispatches tokens.
    """
    written = section.dispatcher
    kind = written.kind if isinstance(written, DispatcherSpec) else written
    precision = written.precision if isinstance(written, DispatcherSpec) else None
    if kind is None:
        limited = workload.model.routing_max_nodes if workload is not None else None
        kind, why = _usual_dispatcher(cluster, stack, limited)
        sent = degrees.ep > 1 and workload is not None and workload.model.experts
        if sent and precision is None:
            log.assume("layout.dispatcher", kind, why)
    wide = workload is not None and workload.precision in {"fp32", "tf32"}
    return Dispatcher(kind, precision or ("fp32" if wide else "bf16"))


def _usual_dispatcher(cluster: Cluster, stack: Stack | None, limited: int | None) -> tuple[str, str]:
    """The dispatcher that a stack uses on a machine, and the reason to assume so; ``limited`` is the number of nodes to
    which the routing sends one token, None without a limit.

    A limit saves traffic only where a token is sent once to each node (DeepSeek-V3, arXiv 2412.19437, section 3.2.2).
    """
    if stack is None:
        return "all-to-all", "usual"
    if limited and "ep" in stack.may_hide:
        return "deepep", f"routing to at most {limited} nodes saves nothing unless a token is sent once to each"
    if stack.rack_dispatcher and cluster.scale_up.domain > cluster.accelerators_per_node:
        return stack.rack_dispatcher, f"what {stack.id} does where the scale-up domain spans nodes"
    return stack.dispatcher, f"what {stack.id} does"


def accelerators_used(design: Design) -> int | None:
    """Accelerators on which the layout places ranks; None without a layout."""
    if design.layout is None or design.cluster is None:
        return None
    return -(-design.layout.ranks // design.cluster.ranks_per_accelerator)


def nodes_of_engines(design: Design) -> int | None:
    """Nodes on which a serving plan places ranks; separate engines may fill only some of the layout's nodes. None
    without a layout.
    """
    used = accelerators_used(design)
    if used is None or design.layout is None or design.cluster is None:
        return None
    return min(design.layout.nodes, -(-used // design.cluster.accelerators_per_node))


def own_accelerators(design: Design) -> int | None:
    """Accelerators that the whole job uses on its own machine, including roles on separate nodes; None without a
    layout.
    """
    rl = design.workload.rl if design.workload is not None else None
    if rl is None or design.cluster is None:
        return accelerators_used(design)
    return rl.nodes * design.cluster.accelerators_per_node


def idle_nodes(design: Design) -> int | None:
    """Nodes of the machine without work from the job, spares excluded; None without a layout."""
    used = own_accelerators(design)
    if used is None or design.cluster is None:
        return None
    return max(0, design.cluster.nodes - -(-used // design.cluster.accelerators_per_node))
