"""The verb ``simulate``: the requests of a serving plan, event by event, and their latencies."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from math import inf
from pathlib import Path
from typing import Any

from clusterspec.analysis.simulation.caches import cache_sizes
from clusterspec.analysis.simulation.conversations import traffic_of_conversations, traffic_with_hits
from clusterspec.analysis.simulation.day import simulated_day
from clusterspec.analysis.simulation.outcomes import (
    first_token_seconds,
    gap_percentiles,
    percentiles,
    queue_over_time,
    share_within_targets,
    simulated_targets,
    token_percentiles,
    waiting_at,
    waiting_share,
)
from clusterspec.analysis.simulation.plans import Progress, Simulation, Timing, no_progress, plan_timing
from clusterspec.analysis.simulation.ranks import Request
from clusterspec.analysis.simulation.saturation import highest_rate
from clusterspec.analysis.simulation.traffic import MOST_REQUESTS, SimulationFault, Traffic, plan_traffic, steady_flight
from clusterspec.cost.serving.caches import bare_tiers
from clusterspec.cost.serving.latency import ServingTimes
from clusterspec.cost.serving.pools import Pools, cache_handoff
from clusterspec.cost.serving.targets import OF_QUEUE
from clusterspec.cost.serving.times import serving_caches, serving_times
from clusterspec.logs.traces import Arrival, trace_path
from clusterspec.records import dataclass
from clusterspec.results.simulation import HitsBySize, SimulationReport
from clusterspec.standard import sum_of
from clusterspec.studies import Study

MOST_STEPS = 5_000_000
"""Largest number of steps with prompts that are simulated."""
MOST_RANKS = 5_000
"""Number of attention ranks at which simulation time per rank has doubled."""
OVERLOAD = 1.001
LEFT_WAITING = 0.01
"""A plan keeps up with its load if at most this share of the arriving requests is left waiting."""
LOOP_ROUNDS = 3
"""The minimum number of rounds of a closed loop: one to fill it, one at full load, one to empty it."""


@dataclass(frozen=True)
class SimulatedLoad:
    """The simulation of the requests of a plan: ``expected`` are the times by formulas, ``traffic`` its requests.

    ``hit_rate`` is the share of prompt tokens that each tier of caches holds, ``cache_sizes`` the rates of other sizes.
    """

    pools: Pools
    expected: ServingTimes
    traffic: Traffic
    timing: Timing
    run: Simulation
    hit_rate: dict[str, float]
    cache_sizes: tuple[HitsBySize, ...]

    @property
    def counted(self) -> Sequence[Request]:
        """The requests that are measured: those that arrive while the plan is neither filling nor emptying."""
        return self.traffic.counted_requests(self.run.requests)

    @property
    def latencies(self) -> dict[str, Any]:
        """The percentiles of first tokens, of times per output token, of gaps between tokens and of whole requests."""
        counted = self.counted
        return {
            "ttft": percentiles([first_token_seconds(each) for each in counted]),
            "tpot": token_percentiles(counted),
            "itl": gap_percentiles(self.run.gaps),
            "end_to_end": percentiles([each.ended - each.arrival for each in counted]),
        }

    @property
    def steady_output(self) -> tuple[float, float, float]:
        """Requests and output tokens that finish in a measured part of the load, and its length in seconds."""
        return _steady_output(self.run.requests, self.traffic)


def simulate(
    study: Study,
    *,
    seed: int = 0,
    requests: int | None = None,
    trace: Path | None = None,
    progress: Progress = no_progress,
) -> SimulationReport:
    """The simulation of a serving plan. Raises `SimulationFault`, and `TraceFault` for a trace that cannot be read."""
    load = simulated_load(study, seed=seed, requests=requests, trace=trace, progress=progress)
    pools, traffic, run, counted = load.pools, load.traffic, load.run, load.counted
    finished, tokens, seconds = load.steady_output
    probed = highest_rate(study.design, load.timing, traffic, seed, progress)
    saturation = _sustained_rate(load, probed, finished / seconds)
    grows = _queue_grows(pools, traffic, saturation)
    return SimulationReport(
        tool=study.settings.tool,
        input=study.input,
        seed=seed,
        requests=len(run.requests),
        warm_up=traffic.warm_up,
        cool_down=traffic.cool_down,
        load=traffic.load,
        engines=len(run.decode) + len(run.prefill),
        accelerators=load.expected.accelerators,
        **load.latencies,
        goodput=share_within_targets(counted, pools.load),
        hit_rate=load.hit_rate,
        request_rate=finished / seconds,
        output_tokens_per_second=tokens / seconds,
        saturation=saturation,
        preemptions=run.preemption_count,
        expected=(load.expected.ttft, load.expected.tpot),
        targets=tuple(
            each._replace(queue_grows=grows and each.quantity in OF_QUEUE)
            for each in simulated_targets(counted, run.gaps, pools.load)
        ),
        queue_share=waiting_share(counted, load.timing),
        queue=queue_over_time(run.requests, run.ended),
        queue_grows=grows,
        cache_sizes=load.cache_sizes,
        notes=(*_report_notes(pools, traffic, saturation, run.preemption_count), *_replay_notes(trace)),
        day=() if traffic.traced else simulated_day(study, seed, requests),
    )


def simulated_load(
    study: Study,
    *,
    seed: int = 0,
    requests: int | None = None,
    trace: Path | None = None,
    progress: Progress = no_progress,
) -> SimulatedLoad:
    """The simulated requests of a serving plan. The sustained rate, which takes longer to find, is not computed.

    Raises `SimulationFault` and `TraceFault` as `simulate`.
    """
    kept = serving_caches(study.design)
    expected = serving_times(study.design)
    if kept is None or expected is None:
        raise SimulationFault("there is no serving plan to simulate: `workload.serving` and `layout` describe one")
    pools = kept[0]
    if trace is None and pools.load.trace is not None:
        trace = trace_path(pools.load.trace, study.folder)
    offered = _requests_of_load(pools, expected, seed=seed, requests=requests, trace=trace)
    traffic, hit_rate, sizes = _traffic_with_hit_rates(offered, pools, expected)
    _refuse_endless_work(pools, traffic.arrivals)
    timing = plan_timing(pools, pools.tokens, cache_handoff(pools, expected.prompt_time, expected.prefill.steps))
    run = Simulation(timing, traffic.arrivals, traffic.in_flight, progress=progress)
    run.run()
    return SimulatedLoad(pools, expected, traffic, timing, run, hit_rate, sizes)


def _requests_of_load(
    pools: Pools, expected: ServingTimes, *, seed: int, requests: int | None, trace: Path | None
) -> Traffic:
    """The requests of a load, drawn with ``seed`` or taken from ``trace``, without regard to cached prompts."""
    flight = steady_flight(pools, expected)
    places = pools.limit * pools.decode.attention_ranks
    traffic = plan_traffic(pools.load, seed, requests, trace, flight, cached_tokens=pools.tokens, places=places)
    if pools.load.session is not None and not traffic.traced:
        return traffic_of_conversations(traffic, pools, expected, seed)
    return traffic


def _traffic_with_hit_rates(
    traffic: Traffic, pools: Pools, expected: ServingTimes
) -> tuple[Traffic, dict[str, float], tuple[HitsBySize, ...]]:
    """The requests with their cached tokens, the hit rate of each tier, and the hit rates by the size of a tier."""
    stated = {"accelerator": pools.load.prefix_hit} if pools.load.prefix_hit else {}
    if not any(each.blocks for each in traffic.arrivals):
        return traffic, stated, ()
    sizes = tuple(_hits_by_size(traffic, pools)) if traffic.traced else ()
    traffic, hit_rate = traffic_with_hits(traffic, pools, expected)
    return traffic, hit_rate or stated, sizes


def _steady_output(requests: Sequence[Request], traffic: Traffic) -> tuple[float, float, float]:
    """Requests and output tokens that a plan finishes in ``seconds`` of its load.

    The window extends from the admission of the first request that counts to the admission of the last one, before the
    engines empty. For a request running at either end of the window, the share of its output inside the window counts.
    A finite run, or a load whose requests all arrive at once, counts in full.
    """
    start = requests[traffic.warm_up].admitted
    end = max(each.admitted for each in requests[: len(requests) - traffic.cool_down])
    if not traffic.warm_up or end <= start:
        ended = max(each.ended for each in requests)
        return float(len(requests)), float(sum(each.output for each in requests)), ended
    shares = [_share_within(each, start, end) for each in requests]
    tokens = sum_of(share * each.output for share, each in zip(shares, requests, strict=True))
    return sum_of(shares), tokens, end - start


def _share_within(request: Request, start: float, end: float) -> float:
    """The share of a request's output between two times."""
    first, last = request.first, request.ended
    if last <= first:
        return float(start < first <= end)
    return max(0.0, min(last, end) - max(first, start)) / (last - first)


def _hits_by_size(traffic: Traffic, pools: Pools) -> Iterable[HitsBySize]:
    """The hit rates of a trace's requests for different sizes of one cache that all engines share."""
    width = bare_tiers(pools)[0].token_bytes
    pace = traffic.arrivals[-1].time / max(1, len(traffic.arrivals) - 1) if traffic.in_flight is None else None
    for each in cache_sizes(traffic.arrivals):
        seconds = each.requests * pace if pace is not None else None
        yield HitsBySize(each.tokens, each.tokens * width, each.hit_rate, each.requests, seconds)


def _refuse_endless_work(pools: Pools, arrivals: Sequence[Arrival]) -> None:
    """Raises `SimulationFault` for a simulation that would take very long, and for requests that do not fit an
    engine.
    """
    if len(arrivals) > MOST_REQUESTS:
        raise SimulationFault(f"{len(arrivals):,} requests are more than the {MOST_REQUESTS:,} that are simulated")
    longest = max(each.prompt + each.output for each in arrivals)
    if longest > pools.tokens:
        raise SimulationFault(
            f"a request of {longest:,} tokens does not fit in the cache of an engine, which holds {pools.tokens:,.0f}"
        )
    chunk = pools.load.chunk_tokens or inf
    steps = sum(1 + each.prompt / chunk for each in arrivals)
    ranks = pools.decode.attention_ranks + (pools.prompts.attention_ranks if pools.has_prefill_engines else 0)
    if steps * (1 + ranks / MOST_RANKS) > MOST_STEPS:
        raise SimulationFault(
            f"{len(arrivals):,} requests have {steps:,.0f} chunks of prompts on {ranks:,} attention ranks, more than "
            "are simulated: take fewer with `--requests`"
        )


def _sustained_rate(load: SimulatedLoad, probed: float | None, completed: float) -> float | None:
    """The highest rate, in requests per second, that a plan sustains, from the rate ``probed`` with requests offered at
    once and the rate ``completed`` in the run; None if no rate was probed.

    A run whose queue grows completes as many requests as the plan sustains with full engines. A run that keeps up with
    a higher load than full engines, which preempt requests, sustains at least its load; a closed loop sustains the
    number that it completes. A plan sustains more conversations than it completes under too many, because the caches
    then hold less of each.
    """
    offered = _endless_arrival_rate(load.pools, load.traffic)
    if probed is None or (offered is None and load.traffic.in_flight is None):
        return probed
    if offered is None or offered <= probed * OVERLOAD:
        return max(probed, completed)
    if _keeps_up(load):
        return max(offered, completed)
    return probed if load.pools.load.session is not None else min(offered, completed)


def _keeps_up(load: SimulatedLoad) -> bool:
    """Whether about the same number of requests wait when the last measured request arrives as when the first does."""
    counted = load.counted
    before, after = waiting_at(load.run.requests, (counted[0].arrival, counted[-1].arrival))
    return after - before <= LEFT_WAITING * len(counted)


def _endless_arrival_rate(pools: Pools, traffic: Traffic) -> float | None:
    """The rate of requests that arrive without an end; None for other loads."""
    return pools.load.request_rate if pools.load.load == "open" and traffic.warm_up else None


def _queue_grows(pools: Pools, traffic: Traffic, saturation: float | None) -> bool:
    """Whether requests of an endless load arrive faster than the plan can sustain."""
    offered = _endless_arrival_rate(pools, traffic)
    return saturation is not None and (offered or 0.0) > saturation * OVERLOAD


def _is_short_loop(pools: Pools, traffic: Traffic) -> bool:
    """Whether a closed loop without an end has too few requests to be full for a round."""
    rounds = len(traffic.arrivals) / traffic.in_flight if traffic.in_flight else LOOP_ROUNDS
    return not traffic.traced and not pools.load.requests and bool(traffic.warm_up) and rounds < LOOP_ROUNDS


def _replay_notes(trace: Path | None) -> Iterable[str]:
    """A note on the formulas that are printed with the figures of a trace that the spec does not name."""
    if trace is not None:
        yield (
            "The formulas have the load of the spec, not of the trace: with `arrivals: {trace: FILE}` in the spec, and "
            "without its own rate and lengths, they have those of the trace."
        )


def _report_notes(pools: Pools, traffic: Traffic, saturation: float | None, preempted: int) -> Iterable[str]:
    """Notes that a reader of the figures needs."""
    if _queue_grows(pools, traffic, saturation):
        yield (
            "The load exceeds what the plan sustains: the queue grows as long as requests arrive, and so does the time "
            "to first token. The printed times hold for a run of this length."
        )
    if traffic.in_flight is not None and len({each[1:] for each in traffic.arrivals}) == 1:
        yield "All requests are equally long, so those that start together end together. State `p99` of the lengths."
    if traffic.in_flight is not None and traffic.in_flight > len(traffic.arrivals):
        yield "The run has fewer requests than the concurrency: raise `--requests`."
    elif _is_short_loop(pools, traffic):
        needed = LOOP_ROUNDS * (traffic.in_flight or 0)
        yield (
            "For most of a run of this length the number of requests in flight rises or falls, so rates and waits are "
            f"not those of a full loop: `--requests {needed}` is enough."
        )
    if traffic.warm_up and traffic.full_after > traffic.warm_up:
        needed = 2 * traffic.full_after
        yield f"The run ends before the plan is full, so waits are too short: `--requests {needed}` is enough."
    if preempted:
        yield f"Requests lost their cache to older ones {preempted:,} times, and computed it again."
