"""The legal engines for a model, and the plans of them: one engine layout, or separate prefill and decode engines."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

from clusterspec.analysis.searches.studied import NO_PINS, Pins, divisors
from clusterspec.cluster.degrees import default_expert_tp, fewest_copies
from clusterspec.cluster.demands import Demands, LayoutNumbers, serves_fp8, serves_groups, undecided_conditions
from clusterspec.cluster.legality import violated_conditions
from clusterspec.cluster.model import Cluster, Design, Layout, Workload
from clusterspec.cluster.requests import Engines, Serving
from clusterspec.cluster.sites import machine_of, prefill_design
from clusterspec.cluster.variation import layout_of_engines, with_values
from clusterspec.cost.memory.fullest import design_memory, spare_cache
from clusterspec.cost.plan import TIE
from clusterspec.cost.serving.latency import ServingTimes
from clusterspec.cost.serving.plan_engines import design_with_share
from clusterspec.cost.serving.targets import missed_targets, target_results
from clusterspec.cost.serving.times import serving_times
from clusterspec.records import dataclass, replace

MOST_STAGES = 8
"""The maximum number of pipeline stages of an engine, since each adds a hop to every token."""
Plan = tuple[Engines | None, Engines]
"""The prefill engines and the decode engines of a plan. The prefill engines are None if the decode engines also run
prompts.
"""


@dataclass(frozen=True)
class ServingJob:
    """The input of a serving search: a machine, the requests, and the layout that supplies the fixed settings."""

    design: Design
    cluster: Cluster
    workload: Workload
    layout: Layout
    load: Serving
    prefill_ranks: int | None = None
    """Ranks of the nodes on another pool that the prefill engines have; None if they are on this machine."""

    def ranks_left_for_prefill(self, decode_ranks: int) -> int:
        """Ranks left for prefill engines after ``decode_ranks``."""
        return self.ranks - decode_ranks if self.prefill_ranks is None else self.prefill_ranks

    def ranks_left_for_decode(self, prefill_ranks: int) -> int:
        """Ranks left for decode engines after ``prefill_ranks``."""
        return self.ranks - prefill_ranks if self.prefill_ranks is None else self.ranks

    def has_ranks_for(self, prefill_ranks: int, decode_ranks: int) -> bool:
        """Whether the machine has this many ranks for prefill engines and for decode engines."""
        prefill, decode = self.ranks_left_for_prefill(decode_ranks), self.ranks_left_for_decode(prefill_ranks)
        return prefill_ranks <= prefill and decode_ranks <= decode

    @property
    def nodes(self) -> int:
        """Nodes that a plan may use."""
        return self.layout.nodes

    @property
    def ranks(self) -> int:
        """Ranks that a plan may use."""
        return self.nodes * self.cluster.ranks_per_node


def serving_job(design: Design) -> ServingJob | None:
    """The input of a search from a design; None if it lacks a cluster, requests, a peak or a layout."""
    cluster, workload, layout = design.cluster, design.workload, design.layout
    if cluster is None or workload is None or layout is None or workload.serving is None or workload.peak is None:
        return None
    load = workload.serving
    prefill = load.prefill
    away = machine_of(design, prefill.pool) if prefill is not None and prefill.pool is not None else None
    if prefill is None or away is None:
        return ServingJob(design, cluster, workload, layout, load)
    nodes = away.nodes_of_ranks(prefill.replicas * prefill.ranks)
    return ServingJob(design, cluster, workload, layout, load, nodes * away.ranks_per_node)


def prefill_job(job: ServingJob) -> ServingJob | None:
    """The input of a search for the prefill engines of another pool; None if they are on the machine of the job."""
    design = prefill_design(job.design) if job.prefill_ranks is not None else None
    if design is None:
        return None
    return serving_job(with_values(design, {("workload", "serving"): replace(job.load, prefill=None, decode=None)}))


def engines(job: ServingJob, pins: Pins = NO_PINS) -> Iterator[Engines]:
    """Every legal engine of at most the ranks of the job, smaller degrees first; one replica each."""
    for tp in _pinned_numbers(pins, "tp", _tensor_degrees(job)):
        for pp in _pinned_numbers(pins, "pp", [each for each in divisors(job.ranks) if each <= MOST_STAGES]):
            if tp * pp > job.ranks:
                continue
            for attention_dp in _pinned_numbers(pins, "attention_dp", _attention_degrees(job, tp * pp)):
                for ep in _pinned_numbers(pins, "ep", _expert_degrees(job, tp * attention_dp)):
                    engine = _engine_layout(job, tp, attention_dp, ep, pp)
                    if engine.ranks <= job.ranks and _fills_or_divides_nodes(job, engine) and _is_legal(job, engine):
                        yield engine


def _pinned_numbers(pins: Pins, key: str, otherwise: Sequence[int]) -> tuple[int, ...]:
    return tuple(int(str(each)) for each in pins.choices(key, otherwise))


def _tensor_degrees(job: ServingJob) -> list[int]:
    """Degrees of tensor parallelism inside a domain, or a node without scale-up interconnect, that divide the heads."""
    cluster, heads = job.cluster, max(1, job.workload.model.heads)
    domain = cluster.ranks_per_node if cluster.scale_up.topology == "pcie" else cluster.ranks_per_domain
    found = {*divisors(cluster.ranks_per_node), *divisors(min(domain, job.ranks))}
    most = min(heads, max(1, domain), job.ranks)
    return sorted(each for each in found if each <= most and heads % each == 0)


def _attention_degrees(job: ServingJob, ranks: int) -> Sequence[int]:
    """Attention data parallelism of an engine; without experts it is the same as replicas."""
    if not job.workload.model.experts or not job.layout.capabilities.has("attention_dp"):
        return (1,)
    most = max(1, job.ranks // ranks)
    smooth = {(1 << twos) * threes for twos in range(most.bit_length()) for threes in (1, 3, 9)}
    return sorted({*divisors(most), *(each for each in smooth if each <= most)})


def _fills_or_divides_nodes(job: ServingJob, engine: Engines) -> bool:
    """Whether an engine takes whole nodes, or a whole number of engines fills a node."""
    of_node = job.cluster.ranks_per_node
    return engine.ranks % of_node == 0 or of_node % engine.ranks == 0


def _expert_degrees(job: ServingJob, ranks: int) -> Sequence[int]:
    """Expert degrees: every expert sharded over all ranks, or whole experts distributed over the ranks."""
    return (1, ranks) if job.workload.model.experts and ranks > 1 else (1,)


def _engine_layout(job: ServingJob, tp: int, attention_dp: int, ep: int, pp: int) -> Engines:
    engine = Engines(1, tp, attention_dp, ep, 1, pp)
    section = job.design.spec.workload.serving if job.design.spec.workload else None
    copies = section.redundant_experts if section else None
    if copies is None:
        copies = fewest_copies(job.workload.model.experts, ep)
    return replace(engine, expert_tp=default_expert_tp(engine), redundant_experts=copies)


def _is_legal(job: ServingJob, engine: Engines) -> bool:
    if (engine.tp * engine.attention_dp) % engine.ep:
        return False
    numbers = LayoutNumbers(
        tp=engine.tp,
        cp=1,
        ep=engine.ep,
        expert_tp=engine.expert_tp,
        pp=engine.pp,
        virtual_stages=1,
        micro_batch=1,
        interleaved=False,
        sequence_parallel=False,
        own_stages=False,
        ring=True,
        attention_dp=engine.attention_dp,
        redundant_experts=engine.redundant_experts,
    )
    refused, required = undecided_conditions(job.cluster, job.workload, job.layout)
    held, fp8, domain = job.layout.capabilities, serves_fp8(job.workload), job.cluster.ranks_per_domain
    model, groups = job.workload.model, serves_groups(job.workload)
    demands = Demands(engine.ranks, held, model, None, None, fp8, refused, required, True, domain, groups)
    return not violated_conditions(numbers, demands)


def engine_counts(most: int) -> list[int]:
    """Numbers of engines to try: all up to 16, then in steps of an eighth, and the last.

    >>> engine_counts(20)
    [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 18, 20]
    """
    found, now = [], 1
    while now < most:
        found.append(now)
        now += max(1, now // 8)
    return [*found, most] if most > 0 else []


def design_of_plan(job: ServingJob, plan: Plan, *, concurrency: int | None = None, targets: bool = False) -> Design:
    """The design of a plan, without ``targets`` so that only its times are estimated; ``concurrency`` replaces the
    load.
    """
    prefill, decode = plan
    layers = job.workload.model.layers
    layout = layout_of_engines(job.layout, decode, layers)
    same_pool = prefill is not None and prefill.pool is None
    ranks = decode.replicas * decode.ranks + (prefill.replicas * prefill.ranks if prefill and same_pool else 0)
    nodes = job.cluster.nodes_of_ranks(ranks)
    layout = replace(layout, ranks=ranks, nodes=nodes, separate_engines=prefill is not None)
    kept = job.load.targets if targets else ()
    load = replace(job.load, targets=kept, prefill=prefill, decode=decode if prefill else None)
    if concurrency is not None:
        load = replace(load, load="closed", concurrency=concurrency, request_rate=None, requests=None)
    return with_values(job.design, {("layout",): layout, ("workload", "serving"): load})


def replicated_plans(job: ServingJob, engine: Engines) -> Iterator[Plan]:
    """Plans with increasing numbers of one engine, up to all nodes of the job. Some ranks of a node may stay idle."""
    most = job.ranks // engine.ranks
    by_node = {nodes * job.cluster.ranks_per_node // engine.ranks for nodes in engine_counts(job.nodes)} - {0}
    for number in sorted({*engine_counts(most), *by_node}):
        yield None, replace(engine, replicas=number)


def own_plan(job: ServingJob) -> Plan:
    """The plan of the spec."""
    if job.load.prefill is not None and job.load.decode is not None:
        return job.load.prefill, job.load.decode
    layout = job.layout
    copies = layout.redundant_experts
    degrees = (layout.tp, layout.attention_dp, layout.ep, layout.expert_tp, layout.pp)
    return None, Engines(layout.dp, *degrees, copies)


# A serving plan with its predicted figures, whether it meets the targets, and its rank by an objective

HELD = 1.1
"""Highest ratio of requests in flight to requests in the cache that the uncertainty of the capacity can explain."""


@dataclass(frozen=True)
class RatedPlan:
    """A plan, its times, the bytes on its fullest accelerator, and whether it meets the targets at the load."""

    plan: Plan
    times: ServingTimes
    memory: float
    meets: bool
    excess: float
    """The largest excess of the plan, at least 1: latency over target, requests in flight over requests that fit the
    cache, or request rate over the rate of full engines.
    """
    concurrency: int | None = None
    """Requests in flight, if they differ from the spec."""
    limit: str = ""
    """What it exceeds most: a target such as ``tpot p99``, ``cache`` or ``rate``; empty if nothing."""
    surely_fits: bool = True
    """Whether the plan fits at the upper end of its memory range, with the cache of one request."""

    @property
    def per_user(self) -> float:
        """Output tokens per second of one request, after the first token."""
        return 1 / self.times.tpot

    @property
    def per_accelerator(self) -> float:
        return self.times.per_accelerator


def rated_plan(job: ServingJob, plan: Plan, most: float, concurrency: int | None = None) -> RatedPlan | None:
    """The numbers of a plan; None if it has no times, or takes more than ``most`` bytes of an accelerator."""
    design = design_with_share(design_of_plan(job, plan, concurrency=concurrency))
    held = design_memory(design)
    if held is None or held.total > most:
        return None
    times = serving_times(design)
    if times is None:
        return None
    late = missed_targets(times, job.load)
    meets = not late and _is_sustained(job, times)
    surely = held.capacity is None or held.upper_bytes - spare_cache(held) <= held.capacity.value
    excess, limit = _largest_excess(job, times)
    return RatedPlan(plan, times, held.total, meets, excess, concurrency, limit, surely)


def _is_sustained(job: ServingJob, times: ServingTimes) -> bool:
    """Whether the cache holds the requests in flight, and the engines serve a request rate."""
    if job.load.load != "offline" and times.offered > HELD * times.kv_capacity_sequences:
        return False
    return not times.queue_grows


def _largest_excess(job: ServingJob, times: ServingTimes) -> tuple[float, str]:
    """The largest ratio of a figure to its limit, at least 1, and the name of the limit."""
    load = job.load
    queued = times.offered / times.kv_capacity_sequences if load.load != "offline" else 0.0
    asked = (load.request_rate or 0.0) / times.state.rate if times.queue_grows else 0.0
    late = (
        (each.seconds / each.target.seconds, f"{each.target.quantity} p{each.target.percentile:g}")
        for each in target_results(times, load)
    )
    return max([(1.0, ""), (queued, "cache"), (asked, "rate"), *late], key=lambda found: found[0])


def _rounded_rate(rate: float) -> float:
    """A rate in the three digits that are printed: plans that serve the same load differ beyond them by rounding alone.

    >>> _rounded_rate(3599.98), _rounded_rate(171.43)
    (3600.0, 171.0)
    """
    return float(f"{rate:.3g}")


Key = Callable[[RatedPlan], tuple[float, ...]]
OBJECTIVES: Mapping[str, Key] = {
    "accelerators": lambda one: (
        one.times.accelerators,
        -_rounded_rate(one.times.output_tokens_per_second),
        one.times.tpot,
    ),
    "cost": lambda one: (-_rounded_rate(one.times.output_tokens_per_second), one.times.accelerators, one.times.tpot),
    "tokens_per_accelerator": lambda one: (-_rounded_rate(one.per_accelerator), one.times.tpot),
    "tokens_per_user": lambda one: (one.times.tpot, -one.per_accelerator),
    "memory": lambda one: (one.memory, one.times.tpot),
}
"""Objectives by which serving plans are ranked; lower is better. Tokens carry the cost of the whole machine, so the
plan with the most tokens has the lowest cost per token. At an equal rate, the plan with the fewest busy accelerators
draws the least power; then the one with the shortest time per output token is first.
"""
METRICS: Mapping[str, Key] = {
    "ttft": lambda one: (one.times.queue_grows, one.times.ttft, one.times.accelerators),
    "tpot": lambda one: (one.times.tpot, one.times.accelerators),
    "request_latency": lambda one: (one.times.queue_grows, one.times.request_latency, one.times.accelerators),
    "output_tokens_per_second": lambda one: (-one.times.output_tokens_per_second, one.times.accelerators),
    "output_tokens_per_second_per_accelerator": OBJECTIVES["tokens_per_accelerator"],
    "memory": OBJECTIVES["memory"],
    "headroom": OBJECTIVES["memory"],
    "fits": OBJECTIVES["memory"],
}
"""Sort keys of plans by the metric of a condition; the plan that meets the condition most easily comes first."""


def ranked_plans(plans: Iterable[RatedPlan], objective: str) -> list[RatedPlan]:
    """The plans in order of an objective or of a metric, the best first."""
    key = OBJECTIVES.get(objective) or METRICS[objective]
    return sorted(plans, key=lambda one: (*key(one), one.memory))


def ranking_key(objective: str) -> Key:
    """The sort key of all plans by an objective or a metric: plans that meet the targets first, then plans by the
    extent to which they miss them.
    """
    key = OBJECTIVES.get(objective) or METRICS[objective]
    return lambda one: (not one.meets, 0.0 if one.meets else one.excess, *key(one), one.memory)


def pareto_front(plans: Iterable[RatedPlan]) -> list[RatedPlan]:
    """The Pareto front of plans by output tokens per second per user and per accelerator, fastest user first."""
    kept: list[RatedPlan] = []
    for one in sorted(plans, key=lambda one: (-one.per_user, -one.per_accelerator)):
        if not kept or one.per_accelerator > kept[-1].per_accelerator:
            kept.append(one)
    return kept


def distinct_plans(plans: Iterable[RatedPlan]) -> list[RatedPlan]:
    """The plans of a front without ties. Among plans with nearly equal rates, the one with the shortest time to first
    token is kept.
    """
    groups: list[list[RatedPlan]] = []
    for one in plans:
        first = groups[-1][0] if groups else None
        if first and max(1 - one.per_user / first.per_user, one.per_accelerator / first.per_accelerator - 1) <= TIE:
            groups[-1].append(one)
        else:
            groups.append([one])
    return [min(group, key=lambda one: one.times.ttft) for group in groups]
