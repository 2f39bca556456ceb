"""The requests of a simulation: from the load of a spec, from conversations, or from a trace."""

from __future__ import annotations

from collections.abc import Sequence
from math import ceil, inf
from pathlib import Path

from clusterspec.analysis.simulation.arrivals import (
    SPREAD,
    drawn_lengths,
    drawn_times,
    with_partial_outputs,
    with_spread,
)
from clusterspec.analysis.simulation.caches import with_session_blocks
from clusterspec.analysis.simulation.ranks import Request
from clusterspec.cluster.requests import Serving
from clusterspec.cost.serving.latency import ServingTimes
from clusterspec.cost.serving.pools import Pools
from clusterspec.logs.traces import Arrival, trace_arrivals
from clusterspec.records import NamedTuple
from clusterspec.units import plural, with_noun

USUAL_REQUESTS = 5_000
MOST_REQUESTS = 1_000_000
ROUNDS = 20
"""A closed loop simulates at least this many requests for each one in flight."""
WARM_UP = 0.1
"""The share of requests at the start that are not measured, since the plan is emptier than in the steady state."""
FILLED = 2.0
"""An open load is in the steady state after this many times its requests in flight have arrived."""
MOST_LAST = 0.25
"""The maximum share of an open load's requests that only keep the plan full until the measured requests have ended."""


class SimulationFault(Exception):
    """A plan that cannot be simulated, with the reason."""


class Traffic(NamedTuple):
    """The requests of a simulation, the number in flight in a closed loop, and the number that is not counted.

    After ``full_after`` requests of an open load or of a loop, the plan is as full as in the steady state. The last
    ``cool_down`` requests do not count: they keep the plan full until those before them have ended. The first
    ``partial`` of a loop start amid their answers.
    """

    arrivals: list[Arrival]
    in_flight: int | None
    warm_up: int
    load: str
    traced: bool = False
    filling: int = 0
    full_after: int = 0
    cool_down: int = 0
    partial: int = 0

    def counted_requests(self, requests: Sequence[Request]) -> Sequence[Request]:
        """The measured requests: those that arrive at a full plan and leave a full plan."""
        return requests[self.warm_up : len(requests) - self.cool_down]


def steady_flight(pools: Pools, times: ServingTimes) -> float:
    """The average number of requests in flight on the whole plan. For a load above the capacity, the number in full
    engines without the queue, so that warm-up takes as long as just below the capacity.
    """
    if not times.queue_grows:
        return times.offered
    return times.state.requests_in_flight(pools.decode.attention_ranks)


def plan_traffic(
    load: Serving,
    seed: int,
    requests: int | None,
    trace: Path | None,
    flight: float = 0.0,
    *,
    cached_tokens: float = inf,
    places: float = inf,
) -> Traffic:
    """The requests of a spec's load or of a trace. Arrival times of a trace are used for an open load only. The cache
    of an engine has space for ``cached_tokens``, and the plan has ``places`` for requests.

    In an open load, ``flight`` requests are in flight on average: twice as many arrive before the first request that is
    measured, and as many after the last one. In a closed loop, one round comes before the first request that counts,
    and one after the last.
    """
    _refuse_incomplete_load(load, trace)
    if trace is not None:
        found = with_session_blocks(trace_arrivals(trace)[:requests])
        return Traffic(found, load.concurrency, 0, f"trace {trace.name}", traced=True)
    filling = ceil(FILLED * flight) if load.load == "open" else 0
    emptying = _requests_to_end(load, flight)
    count = _request_count(load, requests, 2 * filling + emptying)
    warm_up = 0 if load.requests or load.load == "offline" else max(int(WARM_UP * count), min(filling, count // 2))
    prompts, answers, spread = _request_lengths(load, seed, count, cached_tokens)
    found = [*map(Arrival, _arrival_times(load, seed, count), prompts, answers)]
    in_flight, partial = load.concurrency if load.load == "closed" else None, 0
    if in_flight and not load.requests and count >= 2 * in_flight:  # a whole round is left
        warm_up = max(warm_up, in_flight)
        if not load.equal_outputs:  # others start and end at different times
            partial = min(in_flight, ceil(places)) if places < inf else in_flight
            found = with_partial_outputs(found, partial, seed)
    last = min(emptying, int(MOST_LAST * count))
    text = _load_text(load, spread)
    return Traffic(found, in_flight or None, warm_up, text, full_after=filling, cool_down=last, partial=partial)


def _refuse_incomplete_load(load: Serving, trace: Path | None) -> None:
    """Raise `SimulationFault` for a static batch, and for a load whose rate or concurrency is missing."""
    if load.load == "static":
        raise SimulationFault("a static batch starts and ends together: `estimate` computes it without a simulation")
    needed = {"open": ("request_rate", load.request_rate), "closed": ("concurrency", load.concurrency)}
    key, value = needed.get(load.load, ("", 1))
    if not value and trace is None:
        raise SimulationFault(f"the load is {load.load}, and `{key}` is missing")


def _requests_to_end(load: Serving, flight: float) -> int:
    """The requests that keep the plan full until those before them have ended; 0 for a run of stated requests."""
    endless = {"open": ceil(flight), "closed": load.concurrency or 0}
    return 0 if load.requests else endless.get(load.load, 0)


def _request_count(load: Serving, requests: int | None, unmeasured: int) -> int:
    """The simulated requests: as asked, as the spec states, else enough for those that are ``unmeasured``."""
    least = ROUNDS * load.concurrency if load.load == "closed" and load.concurrency else 0
    count = requests or load.requests or max(USUAL_REQUESTS, least, min(MOST_REQUESTS, unmeasured))
    if count > MOST_REQUESTS:
        raise SimulationFault(f"{count:,} requests are more than the {MOST_REQUESTS:,} that are simulated")
    return count


def _arrival_times(load: Serving, seed: int, count: int) -> list[float]:
    """The arrival times of requests in seconds: drawn for an open load, else 0."""
    if load.load == "open" and load.request_rate:
        return drawn_times(seed, count, load.request_rate, load.arrival_cv)
    return [0.0] * count


def _load_text(load: Serving, spread: float) -> str:
    """The load in words, with the relative ``spread`` of drawn lengths."""
    text = "all requests at once"
    if load.load == "open" and load.request_rate:
        process = "Poisson" if load.arrival_cv == 1 else f"gamma with a variation of {load.arrival_cv:g}"
        text = f"{with_noun(f'{load.request_rate:g}', 'request')} a second, {process}"
    if load.load == "closed" and load.concurrency:
        text = f"{plural(load.concurrency, 'request')} in flight"
    return f"{text}, lengths drawn within {100 * spread:.0f} % of their stated means" if spread else text


def _request_lengths(load: Serving, seed: int, count: int, cached_tokens: float) -> tuple[list[int], list[int], float]:
    """The lengths of prompts and of answers in tokens, and the relative spread of lengths for which the spec states
    only the mean.

    As in the formulas, such requests end at different times. Requests of an offline load, and requests whose answers
    have their mean as 99th percentile, are equal. No request is spread beyond the ``cached_tokens`` of an engine.
    """
    prompts = drawn_lengths(f"input {seed}", count, load.input_tokens, load.input_lengths)
    answers = drawn_lengths(f"output {seed}", count, load.output_tokens, load.output_lengths)
    if load.load == "offline" or load.equal_outputs or (load.input_lengths and load.output_lengths):
        return prompts, answers, 0.0
    spread = max(0.0, min(SPREAD, cached_tokens / (load.input_tokens + load.output_tokens + 1) - 1))
    if load.input_lengths is None:
        prompts = with_spread(f"prompts {seed}", prompts, spread)
    if load.output_lengths is None:
        answers = with_spread(f"answers {seed}", answers, spread)
    return prompts, answers, spread
