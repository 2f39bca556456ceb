"""Requests that a full cache preempts: their waiting time between tokens, and the tokens that are computed again."""

from __future__ import annotations

from clusterspec.cluster.requests import Serving
from clusterspec.cost.serving.pools import Pools
from clusterspec.cost.serving.state import Steady
from clusterspec.records import NamedTuple

STARTED, STARTED_POWER = 0.22, 0.75
"""For outputs x times as long as prompts and a cache of r requests, at most 0.22 · x^0.75 · r of the requests that wait
for a place have already started. Simulated loops of 21 loads (x from 0.25 to 64, 1.3 to 4 times as many in flight as
the cache holds) have 0.5 to 1.6 times this number, 1.0 times in the median.
"""
RETRACTED = 0.075
"""As `STARTED` for schedulers that keep space for output to come (SGLang). Simulated loops of 36 loads (x from 0.25 to
16, 1.2 to 2.5 times as many in flight) have up to 1.8 times this number, 1.1 times in the median.
"""


class FullCache(NamedTuple):
    """The effect of full caches on requests that arrive faster than they are served: seconds that each request waits
    for a place after its first token, and seconds of the whole plan for the tokens that a request computes again.
    """

    waited: float = 0.0
    again: float = 0.0


def preemption(pools: Pools, offered: float) -> tuple[float, float]:
    """What a full cache does with ``offered`` requests in flight: the share of the wait for a place in it that requests
    spend after their first token, and the tokens that each computes again.

    An engine that allocates space as tokens are produced starts a request as soon as its prompt fits, and preempts the
    youngest request when no space is left. The last ones to start wait between their tokens, the others before the
    first token. When other requests end, as many requests start as fit by their prompts; these are more if prompts are
    short compared with outputs.

    In a cache that is always full, every new token replaces another one, which is computed again: a request computes as
    many tokens again as it has output. With fewer requests than start, the number is smaller in proportion. A scheduler
    that keeps space for output to come retracts few requests; their tokens are not counted.

    Source: vLLM, vllm/v1/core/sched/scheduler.py at 00024d31 (Scheduler.schedule).
    """
    places = pools.limit * pools.decode.attention_ranks
    if pools.load.load != "closed" or offered <= places or not _may_preempt(pools):
        return 0.0, 0.0
    waiting, most = offered / places - 1, _started_beyond_cache(pools.load)
    again = 0.0 if pools.load.own_output else pools.load.output_tokens * min(1.0, waiting / most)
    return most / (waiting + most), again


def _may_preempt(pools: Pools) -> bool:
    """Whether engines start more requests than their caches hold to their ends, where enough are there."""
    load = pools.load
    if load.whole_requests or pools.has_prefill_engines or load.output_tokens < 2:
        return False
    return pools.limit < min(pools.sequences, pools.most_sequences_with_prompts)  # else the cache is not what is short


def _started_beyond_cache(load: Serving) -> float:
    """The most requests that have started and wait for a place, divided by the requests that the cache holds."""
    most = RETRACTED if load.own_output else STARTED
    found: float = most * (load.output_tokens / load.input_tokens) ** STARTED_POWER
    return found


def preemption_at_capacity(pools: Pools, now: Steady) -> FullCache:
    """What full caches do where requests arrive faster than the engines serve them, in the state ``now`` of the most
    that they serve: as `preemption` has it in a loop of ever more requests.
    """
    if not _may_preempt(pools):
        return FullCache()
    tokens = 0.0 if pools.load.own_output else float(pools.load.output_tokens)
    again, places = computed_again(pools, now, tokens), pools.limit * pools.decode.attention_ranks
    return FullCache(_started_beyond_cache(pools.load) * places * (1 / now.rate + again), again)


def computed_again(pools: Pools, now: Steady, tokens: float) -> float:
    """Seconds of the whole plan for the ``tokens`` that one request computes again, in steps in which others decode."""
    return (
        tokens / max(1.0, pools.load.fresh_tokens) * now.carried / pools.decode.layout.pp / pools.decode.attention_ranks
    )
