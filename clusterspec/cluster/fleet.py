"""A fleet: pools of nodes, and the jobs that have parts of them.

Jobs on the same nodes take turns: they form a `NodeSet`, and each has its share of the term. Engines of a job may have
nodes of another pool.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from math import prod

from clusterspec.cluster.degrees import nodes_of_domain
from clusterspec.cluster.model import Cluster, Design
from clusterspec.cluster.planes import fabric_levels
from clusterspec.records import NamedTuple, dataclass
from clusterspec.source import Path
from clusterspec.spec.model import (
    EnginesSpec,
    JobSpec,
    PoolSpec,
    RoleSpec,
    RolloutSpec,
    Spec,
    WorkloadSpec,
)


@dataclass(frozen=True)
class NodeSet:
    """The nodes that one job has, or several jobs in turn. ``nodes`` is None if the spec does not determine it."""

    name: str
    pool: str
    jobs: tuple[str, ...]
    nodes: int | None
    stated: bool
    """Whether the spec states the number of nodes. Otherwise the set takes the remaining nodes."""
    path: Path | None = None
    """The key of the engines that have the nodes, if these are on another pool than the job."""


@dataclass(frozen=True)
class Pool:
    """One machine of a fleet; ``nodes`` without its spares."""

    name: str
    spec: PoolSpec
    cluster: Cluster | None
    nodes: int | None
    sets: tuple[NodeSet, ...] = ()
    design: Design | None = None
    """The pool as a design without a workload."""

    @property
    def promised_nodes(self) -> int:
        """The nodes of all jobs. Nodes that jobs use in turn count once."""
        return sum(each.nodes or 0 for each in self.sets)

    @property
    def idle_nodes(self) -> int | None:
        """The nodes that no job has; None if the number of nodes of the pool or of a job is unknown."""
        if self.nodes is None or any(each.nodes is None for each in self.sets):
            return None
        return max(0, self.nodes - self.promised_nodes)


@dataclass(frozen=True)
class Job:
    """One job of a fleet. ``design`` covers only this job on its part of the pool; None if it cannot be made."""

    name: str
    spec: JobSpec
    nodes: int | None
    design: Design | None = None

    @property
    def term_share(self) -> float:
        """The share of the term for which the job has its nodes."""
        return 1.0 if self.spec.share is None else self.spec.share


@dataclass(frozen=True)
class Fleet:
    """The resolved fleet, by the names in the spec."""

    spec: Spec
    pools: Mapping[str, Pool]
    jobs: Mapping[str, Job]

    def store_pool(self, pool: str) -> str:
        """The pool that owns a pool's storage system: the pool itself, or the one that it names."""
        networks = self.pools[pool].spec.networks if pool in self.pools else None
        named = networks.storage.pool if networks and networks.storage else None
        return named if named is not None and named in self.pools else pool

    def jobs_of(self, pool: str) -> Iterator[Job]:
        """The jobs with nodes of a pool, in the order of the spec."""
        return (job for job in self.jobs.values() if pool in pools_of_job(job.spec))

    def job_node_count(self, pool: str, job: str) -> int | None:
        """The nodes that a job has on a pool, summed over its engines; None if unknown."""
        sets = self.pools[pool].sets if pool in self.pools else ()
        own = [each.nodes if each.path else self.jobs[job].nodes for each in sets if job in each.jobs]
        return None if not own or None in own else sum(each or 0 for each in own)


@dataclass(frozen=True)
class FreeGroups:
    """The free nodes of a pool in groups of ``size`` nodes: ``whole`` groups are entirely free, and the largest partly
    free group has ``largest`` free nodes.
    """

    name: str
    size: int
    whole: int
    largest: int


def free_groups(pool: Pool) -> tuple[FreeGroups, ...]:
    """The free nodes of a pool by scale-up domain and by leaf, where these have several nodes.

    Jobs lie next to each other in the order of the spec, from the first node on. Empty if numbers are not known.
    """
    if pool.cluster is None or pool.nodes is None or pool.idle_nodes is None:
        return ()
    levels = fabric_levels(pool.cluster)
    leaf = levels[0].nodes if levels and levels[0].nodes else 0
    sizes = (("scale-up domain", nodes_of_domain(pool.cluster)), ("leaf", leaf))
    return tuple(
        _free_groups(name, size, pool.promised_nodes, pool.nodes) for name, size in sizes if 1 < size <= pool.nodes
    )


def _free_groups(name: str, size: int, first: int, nodes: int) -> FreeGroups:
    """The groups of the nodes from ``first`` on.

    >>> _free_groups("leaf", 32, 40, 100)
    FreeGroups(name='leaf', size=32, whole=1, largest=32)
    """
    whole = max(0, nodes // size - -(-first // size))
    begun = [min(nodes, (first // size + 1) * size) - first, nodes % size if first <= nodes - nodes % size else 0]
    return FreeGroups(name, size, whole, size if whole else max(0, *begun))


# Engines of a job


class EnginesAway(NamedTuple):
    """Engines of a job that run on another pool than the job: their role, the key path of their mapping below the job,
    and their number of nodes. If the spec states the number of engines, ``ranks`` is given in place of ``nodes``.
    """

    role: str
    pool: str
    path: Path
    nodes: int | None
    ranks: int | None = None

    def node_count_at(self, ranks_per_node: int | None) -> int | None:
        """The nodes of the engines on a pool with ``ranks_per_node``; None if their number is not stated."""
        if self.nodes is None and self.ranks is not None and ranks_per_node:
            return -(-self.ranks // ranks_per_node)
        return self.nodes


def engines_on_other_pools(job: JobSpec) -> tuple[EnginesAway, ...]:
    """The engines of a job that name another pool than its own."""
    return tuple(each for each in named_engines(job.workload) if each.pool != job.pool)


def named_engines(work: WorkloadSpec | None) -> Iterator[EnginesAway]:
    """The engines of a workload that name a pool."""
    sides = work.serving.disaggregated if work and work.serving else None
    for side in ("prefill", "decode"):
        engines: EnginesSpec | None = getattr(sides, side, None)
        if engines is not None and engines.pool is not None:
            path: Path = ("workload", "serving", "disaggregated", side)
            yield EnginesAway(side, engines.pool, path, None, _ranks_of_engines(engines))
    for role in ("rollout", "reference", "critic", "reward"):
        section: RolloutSpec | RoleSpec | None = getattr(work.rl, role) if work and work.rl else None
        if section is not None and section.pool is not None:
            yield EnginesAway(role, section.pool, ("workload", "rl", role), section.nodes)


def _ranks_of_engines(engines: EnginesSpec) -> int:
    degrees = (engines.replicas, engines.tp, engines.attention_dp, engines.pp)
    return prod(each or 1 for each in degrees)


def engines_at_home(job: JobSpec, ranks_per_node: int | None) -> tuple[str, int] | None:
    """The engines, `prefill` or `decode`, that stay on the job's own pool while the others run on another pool, and
    their nodes; None if no engines run on another pool.
    """
    sides = job.workload.serving.disaggregated if job.workload and job.workload.serving else None
    away = {each.role for each in engines_on_other_pools(job)}
    for side, other in (("prefill", "decode"), ("decode", "prefill")):
        engines: EnginesSpec | None = getattr(sides, side, None)
        if engines is not None and ranks_per_node and other in away and side not in away:
            return side, -(-_ranks_of_engines(engines) // ranks_per_node)
    return None


def pools_of_job(job: JobSpec) -> dict[str | None, None]:
    """The pools that a job has nodes on, its own first."""
    return dict.fromkeys((job.pool, *(each.pool for each in engines_on_other_pools(job))))


def main_pool(job: JobSpec) -> str | None:
    """The pool whose machine a job is designed on: its decode engines' pool, else its own."""
    return next((each.pool for each in engines_on_other_pools(job) if each.role == "decode"), job.pool)


def nodes_of_separate_roles(job: JobSpec) -> int | None:
    """Nodes of the job's pool for roles on separate nodes; None if rollout states no separate nodes."""
    rl = job.workload.rl if job.workload else None
    if rl is None:
        return 0
    away = {each.role for each in engines_on_other_pools(job)}
    roles = (("reference", rl.reference), ("critic", rl.critic), ("reward", rl.reward))
    separate = sum(role.nodes or 0 for name, role in roles if role is not None and name not in away)
    if "rollout" in away or rl.placement == "colocated":
        return separate
    own = rl.rollout.nodes if rl.rollout is not None else None
    if own is None:
        return separate if rl.placement is None else None
    return separate + own


def stated_nodes(job: JobSpec) -> int | None:
    """The number of nodes that a job states, in the job or in its layout; the layout's nodes are the trainer's."""
    return job.nodes if job.nodes is not None else nodes_of_layout(job)


def nodes_of_layout(job: JobSpec) -> int | None:
    """The nodes of the job's pool that its layout states, plus those of separate roles."""
    inner, separate = job.layout.nodes if job.layout else None, nodes_of_separate_roles(job)
    return inner + separate if inner is not None and separate is not None else None


# Node sets


def node_sets(spec: Spec, pool: str, nodes: int | None, ranks_per_node: int | None = None) -> tuple[NodeSet, ...]:
    """The node sets of a pool with ``nodes`` nodes of ``ranks_per_node`` ranks.

    A set has the largest number that any of its jobs states. If only one set has no stated number, it takes the
    remaining nodes.
    """
    members: dict[tuple[str, Path | None], list[str]] = {}
    stated: dict[tuple[str, Path | None], list[int | None]] = {}
    for name, job in (spec.jobs or {}).items():
        turn = job.nodes_of or name
        if job.pool == pool:
            members.setdefault((turn, None), []).append(name)
            home = engines_at_home(job, ranks_per_node)
            own = stated_nodes(job)
            stated.setdefault((turn, None), []).append(home[1] if own is None and home else own)
        for each in engines_on_other_pools(job):
            if each.pool == pool:
                key = (turn, ("jobs", turn, *each.path))
                members.setdefault(key, []).append(name)
                stated.setdefault(key, []).append(each.node_count_at(ranks_per_node))
    most = {key: max((each for each in found if each is not None), default=None) for key, found in stated.items()}
    open_sets = [key for key, number in most.items() if number is None]
    left = nodes - sum(number or 0 for number in most.values()) if nodes is not None else 0
    rest = left if len(open_sets) == 1 and left > 0 else None
    return tuple(
        NodeSet(
            key[0] if key[1] is None else f"{key[0]}.{key[1][-1]}",
            pool,
            tuple(jobs),
            rest if most[key] is None else most[key],
            most[key] is not None,
            key[1] and ("jobs", jobs[0], *key[1][2:]),
        )
        for key, jobs in members.items()
    )


def nodes_of_job(name: str, job: JobSpec, sets: tuple[NodeSet, ...]) -> int | None:
    """The nodes that a job uses: the stated number, else the number of its set."""
    own = stated_nodes(job)
    return own if own is not None else next((each.nodes for each in sets if name in each.jobs and not each.path), None)


def nodes_path(fleet: Fleet, job: str) -> Path:
    """The key that states the nodes of a job; the job itself if no key does."""
    spec = fleet.jobs[job].spec
    if spec.nodes is not None:
        return ("jobs", job, "nodes")
    return ("jobs", job, "layout", "nodes") if stated_nodes(spec) is not None else ("jobs", job)


def node_set_path(fleet: Fleet, nodes: NodeSet) -> Path:
    """The key that states the nodes of a node set; the job or engines themselves if no key does."""
    if nodes.path is None:
        return nodes_path(fleet, nodes.jobs[0])
    role = nodes.path[-1]
    return nodes.path if role in {"prefill", "decode"} or not nodes.stated else (*nodes.path, "nodes")
