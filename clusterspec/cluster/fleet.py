"""A fleet: pools of nodes, and the jobs that have parts of them.

Jobs on the same nodes take turns: they form a `NodeSet`, and each has its share of the term.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from clusterspec.cluster.degrees import nodes_of_domain
from clusterspec.cluster.levels import fabric_levels
from clusterspec.cluster.model import Cluster, Design
from clusterspec.records import dataclass
from clusterspec.source import Path
from clusterspec.spec.model import JobSpec, PoolSpec, Spec


@dataclass(frozen=True, slots=True)
class NodeSet:
    """The nodes that one job has, or several jobs in turn. ``nodes`` is None where the spec does not determine it."""

    name: str
    pool: str
    jobs: tuple[str, ...]
    nodes: int | None
    stated: bool
    """Whether the spec states the number; else the set takes what the others leave."""


@dataclass(frozen=True, slots=True)
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
    def promised(self) -> int:
        """The nodes of all jobs, those of jobs that take turns counted once."""
        return sum(each.nodes or 0 for each in self.sets)

    @property
    def idle(self) -> int | None:
        """The nodes that no job has; None where the number of nodes, or that of a job, is not known."""
        if self.nodes is None or any(each.nodes is None for each in self.sets):
            return None
        return max(0, self.nodes - self.promised)


@dataclass(frozen=True, slots=True)
class Job:
    """One work of a fleet; ``design`` is that of the job alone on its part of the pool, None if it cannot be made."""

    name: str
    spec: JobSpec
    nodes: int | None
    design: Design | None = None

    @property
    def share(self) -> float:
        """The share of the term for which the job has its nodes."""
        return 1.0 if self.spec.share is None else self.spec.share


@dataclass(frozen=True, slots=True)
class Fleet:
    """The resolved fleet, by the names in the spec."""

    spec: Spec
    pools: Mapping[str, Pool]
    jobs: Mapping[str, Job]

    def jobs_of(self, pool: str) -> Iterator[Job]:
        """The jobs of a pool, in the order of the spec."""
        return (job for job in self.jobs.values() if job.spec.pool == pool)


@dataclass(frozen=True, slots=True)
class FreeGroups:
    """The free nodes of a pool by groups of ``size`` nodes: ``whole`` groups are free, and one group has ``largest``
    free nodes or fewer."""

    name: str
    size: int
    whole: int
    largest: int


def free_groups(pool: Pool) -> tuple[FreeGroups, ...]:
    """The free nodes of a pool by scale-up domain and by leaf, where these have several nodes.

    Jobs lie next to each other in the order of the spec, from the first node on. Empty where numbers are not known.
    """
    if pool.cluster is None or pool.nodes is None or pool.idle is None:
        return ()
    levels = fabric_levels(pool.cluster)
    leaf = levels[0].nodes if levels and levels[0].nodes else 0
    sizes = (("scale-up domain", nodes_of_domain(pool.cluster)), ("leaf", leaf))
    return tuple(_free_groups(name, size, pool.promised, pool.nodes) for name, size in sizes if 1 < size <= pool.nodes)


def _free_groups(name: str, size: int, first: int, nodes: int) -> FreeGroups:
    """The groups of the nodes from ``first`` on.

    >>> _free_groups("leaf", 32, 40, 100)
    FreeGroups(name='leaf', size=32, whole=1, largest=32)
    """
    whole = max(0, nodes // size - -(-first // size))
    begun = [min(nodes, (first // size + 1) * size) - first, nodes % size if first <= nodes - nodes % size else 0]
    return FreeGroups(name, size, whole, size if whole else max(0, *begun))


def stated_nodes(job: JobSpec) -> int | None:
    """The nodes that a job states, itself or in its layout."""
    return job.nodes if job.nodes is not None else job.layout.nodes if job.layout else None


def node_sets(spec: Spec, pool: str, nodes: int | None) -> tuple[NodeSet, ...]:
    """The node sets of a pool with ``nodes`` nodes.

    A set has the largest number that one of its jobs states. The only set that states none takes what the others leave.
    """
    members: dict[str, list[str]] = {}
    for name, job in (spec.jobs or {}).items():
        if job.pool == pool:
            members.setdefault(job.nodes_of or name, []).append(name)
    stated = {name: _most_stated(spec, jobs) for name, jobs in members.items()}
    open_sets = [name for name, most in stated.items() if most is None]
    left = nodes - sum(most or 0 for most in stated.values()) if nodes is not None else 0
    rest = left if len(open_sets) == 1 and left > 0 else None
    return tuple(
        NodeSet(name, pool, tuple(jobs), rest if stated[name] is None else stated[name], stated[name] is not None)
        for name, jobs in members.items()
    )


def _most_stated(spec: Spec, jobs: list[str]) -> int | None:
    """The largest number of nodes that one of some jobs states."""
    found = [nodes for name in jobs if (nodes := stated_nodes((spec.jobs or {})[name])) is not None]
    return max(found, default=None)


def nodes_of_job(name: str, job: JobSpec, sets: tuple[NodeSet, ...]) -> int | None:
    """The nodes that a job uses: what it states, else those of its set."""
    own = stated_nodes(job)
    return own if own is not None else next((each.nodes for each in sets if name in each.jobs), None)


def nodes_path(fleet: Fleet, job: str) -> Path:
    """The key that states the nodes of a job; the job itself where none does."""
    spec = fleet.jobs[job].spec
    if spec.nodes is not None:
        return ("jobs", job, "nodes")
    return ("jobs", job, "layout", "nodes") if stated_nodes(spec) is not None else ("jobs", job)
