"""Traffic of several jobs on the link between two pools: the rate that each job needs and gets."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from clusterspec.cluster.fleet import Fleet, Job, engines_on_other_pools, main_pool
from clusterspec.cluster.sites import link_to_pool
from clusterspec.cost.estimate import legal_estimate
from clusterspec.cost.reinforcement.weights import SHARE as BROADCAST_SHARE
from clusterspec.cost.serving.handoff import HANDOFF_SHARE, request_cache_bytes
from clusterspec.records import NamedTuple
from clusterspec.spec.model import PoolLinkSpec
from clusterspec.standard import sum_of

GENERATING = frozenset({"prefill", "decode", "rollout"})
"""Roles of the engines that receive caches or new weights."""


class Crossing(NamedTuple):
    """Bytes per second that a job sends over a link, on average and during a transfer."""

    mean: float
    burst: float


class LinkDemand(NamedTuple):
    """The demand of each job on a link, by name, each estimated without the others.

    ``total`` is the rate in B/s that is available to caches and weights. ``turns`` maps each job to the job with which
    it shares its nodes in turns, or to itself.
    """

    total: float
    crossings: dict[str, Crossing]
    turns: dict[str, str]

    @property
    def mean(self) -> float:
        """Average rate of all jobs in B/s; of jobs that take turns, only the largest counts."""
        return sum_of(self._mean_rates())

    @property
    def burst_rate(self) -> float:
        """Rate in B/s if all jobs send at the same time; of jobs that take turns, only the largest counts."""
        return sum_of(
            _largest_by_name((self.turns[name], each.burst) for name, each in self.crossings.items()).values()
        )

    def share_left(self, job: str) -> float:
        """The share of the link that other jobs leave for a job."""
        return fair_rate(self.total, self._mean_rates(excluded=self.turns[job])) / self.total

    def _mean_rates(self, excluded: str = "") -> list[float]:
        means = _largest_by_name((self.turns[name], each.mean) for name, each in self.crossings.items())
        return [mean for turn, mean in means.items() if turn != excluded]


def fair_rate(total: float, others: Iterable[float]) -> float:
    """The max-min fair rate in B/s of a job that always has data to send. The link carries ``total`` B/s, and other
    jobs demand ``others``.

    Jobs that demand less than an equal share get their demand; the rest is divided equally.

    Source: Bertsekas and Gallager, Data Networks, second edition, section 6.5.2.

    >>> fair_rate(10.0, [2.0, 30.0])
    4.0
    """
    found, left, sharing = 0.0, total, sorted(others)
    for count, rate in enumerate([*sharing, 0.0]):
        found = max(found, left / (len(sharing) + 1 - count))
        left -= rate
    return found


def link_demand(fleet: Fleet, link: PoolLinkSpec) -> LinkDemand | None:
    """The demand on a link of the jobs with engines on both of its pools, each job estimated alone.

    None if there are no such jobs or if nothing connects the pools. On one fabric the link is the NICs of the
    jobs' nodes.
    """
    ends = frozenset(link.between or ())
    jobs = [job for job in fleet.jobs.values() if uses_link_between(job, ends)]
    total = _link_rate(fleet, jobs, ends) if jobs and len(ends) == 2 else None
    if not total:
        return None
    found = {job.name: each for job in jobs if (each := _traffic_on_link(job)) is not None}
    return LinkDemand(total, found, {job.name: job.spec.nodes_of or job.name for job in jobs})


def shares_of_links(fleet: Fleet) -> Mapping[str, float]:
    """For each job with engines on another pool, the share of the link between the pools that other jobs leave free.

    Only links of stated bandwidth that several jobs share count; jobs on one fabric have their own NICs.
    """
    shares: dict[str, float] = {}
    for link in fleet.spec.pool_links or ():
        ends = frozenset(link.between or ())
        joined = [job.name for job in fleet.jobs.values() if uses_link_between(job, ends)]
        if link.bandwidth is None or len(joined) < 2:
            continue
        demand = link_demand(fleet, link)
        if demand is not None:
            shares |= {name: demand.share_left(name) for name in demand.turns}
    return {name: share for name, share in shares.items() if share < 1}


def uses_link_between(job: Job, ends: frozenset[str]) -> bool:
    """Whether a job sends caches or new weights over a link between these pools. Models other than the trained one only
    receive tokens.
    """
    return job.design is not None and any(
        {each.pool, main_pool(job.spec)} == ends or {each.pool, job.spec.pool} == ends
        for each in engines_on_other_pools(job.spec)
        if each.role in GENERATING
    )


def _largest_by_name(values: Iterable[tuple[str, float]]) -> dict[str, float]:
    """The largest value of each name."""
    found: dict[str, float] = {}
    for name, value in values:
        found[name] = max(value, found.get(name, 0.0))
    return found


def _link_rate(fleet: Fleet, jobs: list[Job], ends: frozenset[str]) -> float | None:
    """B/s of a link available to caches and weights; for one fabric, the rate of the NICs of the jobs' nodes."""
    main = main_pool(jobs[0].spec)
    other = next(iter(ends - {main}))
    design, machine = jobs[0].design, fleet.pools[other].cluster if other in fleet.pools else None
    if design is None or machine is None or main is None:
        return None
    counts = [sum(fleet.job_node_count(pool, job.name) or 0 for job in jobs) for pool in (main, other)]
    link = link_to_pool(design, other, machine, (counts[0], counts[1]))
    weights_alone = all(job.design and job.design.workload and job.design.workload.rl for job in jobs)
    share = BROADCAST_SHARE.value if weights_alone else HANDOFF_SHARE
    return link.total * share if link is not None else None


def _traffic_on_link(job: Job) -> Crossing | None:
    """The traffic of a job on a link; None if its times are unknown. In reinforcement learning, the weights of a step
    are sent during its weight sync.
    """
    assert job.design is not None
    plan = legal_estimate(job.design)
    if plan.rl is not None:
        sent = plan.rl.sync.sent
        return Crossing(sent / plan.rl.step, sent / plan.rl.sync.seconds)
    load = plan.design.workload.serving if plan.design.workload else None
    each = request_cache_bytes(plan.design)
    if plan.serving is None or load is None or each is None:
        return None
    rate = load.request_rate or plan.serving.output_tokens_per_second / load.output_tokens
    return Crossing(rate * each, rate * each)
