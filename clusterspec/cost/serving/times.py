"""The times of a serving plan, of its engines with their caches, and of other numbers of its engines."""

from __future__ import annotations

from clusterspec.cluster.model import Design
from clusterspec.cost.serving.flight_times import times_at
from clusterspec.cost.serving.latency import Highest, ServingTimes
from clusterspec.cost.serving.loads import (
    steady_load,
)
from clusterspec.cost.serving.plan_engines import (
    bare_pools,
    pools_with_link,
)
from clusterspec.cost.serving.pools import Pools
from clusterspec.records import replace

TYPE_CHECKING = False
if TYPE_CHECKING:
    from clusterspec.cost.serving.caches import TierUse
    from clusterspec.cost.serving.parts.balance import ExpertUse


def serving_times(design: Design) -> ServingTimes | None:
    """The times of a serving plan; None if the design does not serve, or its accelerator has no peak for the
    workload.
    """
    kept = serving_caches(design)
    return replace(_plan_times(kept[0]), tiers=kept[1]) if kept is not None else None


def serving_pools(design: Design) -> Pools | None:
    """The engines of a serving plan and their load; None if `serving_times` is None."""
    kept = serving_caches(design)
    return kept[0] if kept is not None else None


def serving_caches(design: Design) -> tuple[Pools, tuple[TierUse, ...]] | None:
    """The engines of a plan and their load with the prefix hits of its caches, and the traffic of each tier."""
    pools = bare_pools(design)
    return _filled_caches(pools) if pools is not None else None


def _filled_caches(pools: Pools) -> tuple[Pools, tuple[TierUse, ...]]:
    """Engines with the prefix hits of their caches, and the traffic of each tier."""
    if pools.load.session is None:
        return pools, ()
    from clusterspec.cost.serving.caches import settled_caches

    return settled_caches(pools, lambda other: steady_load(other)[1])


def times_with_engines(pools: Pools, engines: tuple[int, int], rate: float) -> ServingTimes:
    """The times of bare pools with other numbers of prefill and decode engines, at a request rate."""
    filled, tiers = pools_with_engines(pools, engines, rate)
    return replace(times_at(filled, *steady_load(filled)), tiers=tiers)


def pools_with_engines(pools: Pools, engines: tuple[int, int], rate: float) -> tuple[Pools, tuple[TierUse, ...]]:
    """The engines with the prefix hit rate that their caches give, and the use of each cache tier."""
    decode = pools.decode.times(engines[1])
    prompts = pools.prompts.times(engines[0]) if pools.has_prefill_engines else decode
    other = pools._replace(decode=decode, prompts=prompts, load=replace(pools.load, request_rate=rate))
    return _filled_caches(other if other.link is None else pools_with_link(other, other.link))


def _plan_times(pools: Pools) -> ServingTimes:
    found = times_at(pools, *steady_load(pools))
    for engine in (pools.decode, pools.prompts):  # a search keeps thousands of plans
        engine.steps.clear()
    return replace(found, highest=Highest(_highest_concurrency, pools), experts=_expert_use(pools))


def _highest_concurrency(pools: Pools) -> float | None:
    from clusterspec.cost.serving.highest import highest_concurrency  # few readers ask for it

    return highest_concurrency(pools)


def _expert_use(pools: Pools) -> ExpertUse | None:
    """How uneven the ranks of the decode engines are; None if the spec does not say how tokens select experts."""
    if pools.load.expert_load is None:
        return None
    from clusterspec.cost.serving.parts.balance import expert_use

    return expert_use(pools.decode)
