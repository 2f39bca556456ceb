"""The requests of conversations in a simulation, and their cached tokens."""

from __future__ import annotations

from math import ceil

from clusterspec.analysis.simulation.caches import replay_of, session_arrivals, with_hits
from clusterspec.analysis.simulation.traffic import Traffic
from clusterspec.cost.serving.caches import LONGEST, bare_tiers
from clusterspec.cost.serving.latency import ServingTimes
from clusterspec.cost.serving.pools import Pools

MOST_FILLING = 100_000
"""Maximum number of requests that fill the caches before the simulated ones."""
FILLINGS_OF_CACHES = 1.2
LONGEST_THOUGHT = 15.0
"""The longest time between two turns, in multiples of the mean. One in three million exponentially distributed times is
longer. A tier that keeps blocks longer has every block that is used again.
"""


def traffic_of_conversations(traffic: Traffic, pools: Pools, expected: ServingTimes, seed: int) -> Traffic:
    """The turns of conversations that replace the requests of a load, preceded by enough turns to fill the caches.

    Answers have the lengths of the requests that they replace; the part that later turns repeat has its mean length.
    """
    load, session = pools.load, pools.load.session
    assert session is not None
    rate = load.request_rate or expected.output_tokens_per_second / load.output_tokens
    apart = LONGEST_THOUGHT * session.think_time + expected.request_latency
    kept = max((min(use.retention, apart) for use in expected.tiers if use.retention < LONGEST), default=0.0)
    before = min(MOST_FILLING, ceil(FILLINGS_OF_CACHES * kept * rate))
    found = session_arrivals(
        seed, before + len(traffic.arrivals), session, load.output_tokens, rate=rate, running=expected.request_latency
    )
    filling = len(found) - len(traffic.arrivals)
    turns = [each._replace(output=other.output) for each, other in zip(found[filling:], traffic.arrivals, strict=True)]
    return traffic._replace(arrivals=[*found[:filling], *turns], filling=filling)


def traffic_with_hits(traffic: Traffic, pools: Pools, expected: ServingTimes) -> tuple[Traffic, dict[str, float]]:
    """The requests with the prompt tokens that are cached in each tier, and the share of input tokens read from each
    tier.
    """
    uses = expected.tiers or bare_tiers(pools)
    held = pools.prompt_tokens if pools.has_prefill_engines else pools.tokens
    replay = replay_of(uses, pools.prompts.attention_ranks, held)
    queued = traffic.in_flight is None
    with_hits(traffic.arrivals[: traffic.filling], replay, queued=queued)
    found, hit_rate = with_hits(traffic.arrivals[traffic.filling :], replay, queued=queued)
    start = found[0].time if queued and found else 0.0
    amid = [each._replace(cached=float(each.prompt - 1), loading=0.0) for each in found[: traffic.partial]]
    found = [*amid, *found[traffic.partial :]]
    return traffic._replace(arrivals=[each._replace(time=each.time - start) for each in found], filling=0), hit_rate
