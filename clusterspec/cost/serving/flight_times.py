"""Latency and throughput with a number of requests in flight: time to first token, per output token, output tokens per
second.
"""

from __future__ import annotations

from math import inf

from clusterspec.cost.formulas.queues import median_wait, queue_wait
from clusterspec.cost.formulas.serving import (
    output_rate,
    request_time,
    time_per_token_after_transfer,
    time_per_token_with_preemption,
    time_to_first_token,
    typical_prompt_time,
)
from clusterspec.cost.serving import constants
from clusterspec.cost.serving.cold import first_compilation
from clusterspec.cost.serving.engine import measured_kernels
from clusterspec.cost.serving.handoff import Handoff
from clusterspec.cost.serving.latency import ServingTimes, Stretched
from clusterspec.cost.serving.loads import (
    finite_run,
    offline_run_seconds,
    open_run,
    place_wait,
    served_pools,
    steady_load,
)
from clusterspec.cost.serving.parts.step import unevenly_loaded_ranks
from clusterspec.cost.serving.plan_engines import (
    cache_bytes_per_token,
    cache_capacity,
    is_in_one_domain,
    used_accelerators,
)
from clusterspec.cost.serving.pools import Pools, cache_handoff, is_open_run, prompt_seconds
from clusterspec.cost.serving.preemption import FullCache, computed_again, preemption, preemption_at_capacity
from clusterspec.cost.serving.runs import FiniteRun, OpenRun
from clusterspec.cost.serving.state import Steady
from clusterspec.cost.serving.steady import decoding_seconds
from clusterspec.cost.serving.step_times import prompt_step
from clusterspec.cost.serving.varied_prompts import VariedPrompts, prompts_of_lengths
from clusterspec.cost.serving.waits.delays import most_sequences_delayed_in_wave
from clusterspec.cost.serving.waits.held_prompts import wait_until_release
from clusterspec.cost.serving.waits.prefill import median_above_mean_of_coupled_ranks, varied_loop_wait
from clusterspec.cost.serving.waits.prompts import computed_seconds
from clusterspec.cost.serving.waits.shares import prompt_shares, with_unfinished_prompts
from clusterspec.records import replace

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


NO_OVERLOAD = FullCache()
MEDIAN = 0.5
"""The share of the requests that do not exceed the median."""


def times_at(pools: Pools, offered: float, now: Steady) -> ServingTimes:
    """The times with ``offered`` requests in flight on the whole plan, and the steady state with them.

    A rate above the capacity has the times of the highest rate that the plan serves, without the queue before it.
    """
    served = served_pools(pools, now)
    if served is pools:
        return _times_of_flight(pools, offered, now)
    found = _times_of_flight(served, offered, now, preemption_at_capacity(served, now))
    return replace(found, stretched=_plan_with_longer_times(pools))


def _times_of_flight(pools: Pools, offered: float, now: Steady, full: FullCache = NO_OVERLOAD) -> ServingTimes:
    """The times with ``offered`` requests in flight, which grow with each of them that waits for a place; ``full`` is
    the effect of the caches above the capacity of an open load.
    """
    load = pools.load
    now = _with_static_batch_prompt(pools, now) if load.load == "static" else now
    shares = prompt_shares(pools, now)
    now = with_unfinished_prompts(now, shares, pools)
    sent = cache_handoff(pools, now.prompt, now.prefill.steps)
    handoff, joining, started = _handoff_seconds(pools, now, sent)
    queued, wait, (early, delay), run, preempted = _request_waits(pools, now, offered, full)
    alone = time_per_token_after_transfer(now.mean_token, joining, load.output_tokens)
    token = time_per_token_with_preemption(alone, preempted, load.output_tokens)
    preempted = 0.0 if load.own_output else preempted  # of the median request: fewer than half are retracted
    usual = time_per_token_with_preemption(alone, preempted, load.output_tokens)
    place = place_wait(pools, now)
    varied = prompts_of_lengths(pools, now)
    median = typical_prompt_time(now.prompt, varied.typical)
    ttft = time_to_first_token(
        wait + early + place.median + pools.loading, median, handoff, pools.outside, tpot=started
    )
    of_mean = ttft + (now.prompt - median)
    first = of_mean - place.median if run is not None else of_mean - early - place.median
    latency = request_time(first, load.output_tokens, token) + place.of_all
    offered = _requests_in_flight(pools, now, offered, (latency, place.of_all, full.again))
    lasting = _run_seconds(pools, now, run, latency - early - wait)
    rounds = (run.requests, lasting) if run is not None and lasting is not None else None
    return ServingTimes(
        ttft=ttft,
        tpot=usual + now.typical_token - now.mean_token,
        ttft_mean=of_mean - early + delay + place.of_all - place.median,
        tpot_mean=token,
        request_latency=latency,
        output_tokens_per_second=_output_rate(pools, now, *(rounds or (offered, latency))),
        state=now,
        wait=wait,
        queued=queued,
        varied=varied_loop_wait(pools, now) if load.load == "closed" and pools.has_prefill_engines else None,
        place=place,
        burst=(early, delay),
        run=run,
        lasting=lasting,
        sent=sent,
        offered=offered,
        started=started,
        preempted=preempted,
        joining=joining,
        shares=shares,
        most_met=most_sequences_delayed_in_wave(pools, now.sequences) if pools.in_one_wave else None,
        **_prompt_fields(pools, now, varied),
        **_load_independent_fields(pools),
    )


def _prompt_fields(pools: Pools, now: Steady, varied: VariedPrompts) -> dict[str, Any]:
    """The fields of `ServingTimes` about prompts: their engines, and the times of other lengths."""
    return {
        "prompt_service": computed_seconds(pools, now.prefill),
        "prompt_floor": now.prefill.floor,
        "prompt_load": now.rate * now.service / pools.prompts.attention_ranks,
        "typical_prompt": varied.typical,
        "growing": varied.growing,
        "turns": varied.turns,
        "longer": varied.longer,
    }


def _load_independent_fields(pools: Pools) -> dict[str, Any]:
    """The fields of `ServingTimes` that do not depend on the load: the engines, their caches, and their fixed time per
    request.
    """
    engine, load, ranks = pools.decode, pools.load, pools.decode.attention_ranks
    return {
        "accelerators": used_accelerators(pools),
        "kv_bytes_per_token": cache_bytes_per_token(engine),
        "kv_capacity_tokens": pools.tokens * ranks,
        "kv_capacity_sequences": cache_capacity(engine, load)[1] * ranks,
        "stages": (pools.prompts.layout.pp, engine.layout.pp),
        "overhead": pools.outside,
        "output_tokens": float(load.output_tokens),
        "starts_together": load.load == "static",
        "always_full": load.load == "offline",
        "own_kernels": engine.cluster.accelerator.kernels is not None,
        "one_domain": is_in_one_domain(engine),
        "coupled_ranks": unevenly_loaded_ranks(engine),
        "loading": pools.loading,
        "prefix_hit": load.prefix_hit,
        "compiled_first": first_compilation(pools),
        "prompts_alone": engine.prompts_alone,
        "early": engine.software_year <= constants.EARLY,
        "recent": constants.RECENT <= engine.software_year < inf,
        "measured": measured_kernels(engine.cluster),
        "stretched": _plan_with_longer_times(pools),
    }


def _plan_with_longer_times(pools: Pools) -> Stretched | None:
    """The plan of an open load with longer times; None of other loads."""
    return Stretched(_times_at_rate, pools) if pools.load.load == "open" and pools.load.request_rate else None


def _times_at_rate(pools: Pools, factor: float) -> ServingTimes:
    """The times of the same pools at a request rate that is higher by a factor."""
    other = pools._replace(load=replace(pools.load, request_rate=(pools.load.request_rate or 0.0) * factor))
    return times_at(other, *steady_load(other))


def _handoff_seconds(pools: Pools, now: Steady, sent: Handoff | None) -> tuple[float, float, float]:
    """Three times of the handoff in seconds: before the first token, after the first token, and the decode engine's
    time per output token where a request waits half a step for it (0 if that wait is already counted).
    """
    if sent is None:
        return 0.0, 0.0, 0.0
    if pools.load.transfer.first_token == "prefill":
        return 0.0, sent.seconds + 0.5 * now.tpot, 0.0
    return sent.seconds, 0.0, now.tpot


def _run_seconds(pools: Pools, now: Steady, run: FiniteRun | OpenRun | None, rest: float) -> float | None:
    """Seconds of a run whose requests take ``rest`` without their waits; None for other loads."""
    if isinstance(run, OpenRun):
        tokens = pools.load.output_tokens - 1
        alone = tokens * now.decode.total / now.tokens_per_step
        others = run.requests_with_last(tokens * now.mean_token, alone) / pools.decode.attention_ranks
        return run.seconds(rest - tokens * max(0.0, now.mean_token - decoding_seconds(pools, others)))
    if pools.load.load == "offline":
        return offline_run_seconds(pools, now)
    if run is None or pools.load.load != "closed" or not pools.load.requests:
        return None
    tokens, each = pools.load.output_tokens - 1, now.decode.total / now.tokens_per_step
    latency, final = rest + run.queued + run.varied, rest - tokens * (now.tpot - each)
    if not pools.equal_requests or run.concurrency > run.places:
        return run.seconds(latency, final)
    latency = final + run.last - run.cold if pools.in_waves else latency
    last = decoding_seconds(pools, run.requests_of_last_round / pools.decode.attention_ranks)
    return run.seconds_of_rounds(latency, final - tokens * max(0.0, each - last))


def _request_waits(
    pools: Pools, now: Steady, offered: float, full: FullCache
) -> tuple[float, float, tuple[float, float], FiniteRun | OpenRun | None, float]:
    """Five results: the wait of a request for a place before its first token; its mean total wait until then; the
    differences of the median and of the mean from the first; the run; and the mean wait after the first token in a
    cache that preempts.

    The start of a run lengthens the wait; in a steady state the median is below the mean. Tokens that are computed
    again lengthen the time between the ends of requests, and requests without a place wait for these ends.
    """
    load, queued = pools.load, 0.0 if pools.in_waves else _place_wait(pools, now, offered)
    if load.load == "static":
        return queued, queued, (0.0, 0.0), None, 0.0
    share, tokens = preemption(pools, offered)
    if not load.requests and load.load == "open":
        later = full.waited + offered * full.again
        return queued, now.wait + queued, (_median_above_mean(pools, now), 0.0), None, later
    again, flight = computed_again(pools, now, tokens), offered - queued * now.rate
    queued *= 1 + again * now.rate
    later, queued, inside = queued * share, queued * (1 - share), flight * again
    if not load.requests and not pools.keeps_step:
        return queued, now.wait + queued, (_median_above_mean(pools, now), 0.0), None, later + inside
    if is_open_run(load):
        run: FiniteRun | OpenRun = open_run(pools, now)
    else:
        whole = finite_run(pools, now, offered, queued + later)
        started = share * max(0.0, whole.concurrency - whole.places)
        whole = whole._replace(turn=whole.turn + again) if again else whole
        run = whole._replace(queued=whole.queued - later, started=started) if share else whole
        later = whole.mean - run.mean + inside
    median, mean = run.wait_at(0.5), run.mean
    least = min(now.wait + queued, median, mean)
    return queued, least, (median - least, mean - least), run, later


def _place_wait(pools: Pools, now: Steady, offered: float) -> float:
    """Seconds until a request has a place, excluding the wait for its prompt and the prompt's computation."""
    load, places = pools.load, pools.limit * pools.decode.attention_ranks
    if load.load == "offline":
        return 0.0
    queued = queue_wait(offered, places, _steps_in_place(pools), now.tpot)
    if load.load == "static":
        return queued
    if load.load == "closed" and now.rate and now.sequences >= pools.limit and not pools.has_prefill_engines:
        flight = now.requests_in_flight(pools.decode.attention_ranks)
        return max(0.0, (offered - flight) / now.rate)  # Little's law: the rest wait for a place
    if pools.has_prefill_engines or _budget_limits_places(pools) or now.sequences >= pools.limit or not now.rate:
        return max(0.0, queued - now.before_decode)
    return max(0.0, (offered - places) / now.rate - now.wait - now.loading)  # requests with a prompt have a place


def _median_above_mean(pools: Pools, now: Steady) -> float:
    """The median wait of a prompt minus its mean wait, in seconds: below zero in a steady state of equal prompts.

    0 for other loads and where prompts differ in length: the median of wait and prompt together is then close to the
    mean wait and the median prompt.
    """
    if now.tail is not None and pools.load.load in {"open", "closed"} and pools.load.input_lengths is None:
        return now.tail.wait_at(MEDIAN) - now.tail.of_all
    busy = min(1.0, now.rate * now.service / pools.prompts.attention_ranks)
    if pools.load.load != "open" or pools.load.input_lengths is not None or not busy:
        return 0.0
    if pools.has_prefill_engines and unevenly_loaded_ranks(pools.prompts) > 1:
        return median_above_mean_of_coupled_ranks(pools, now)
    if unevenly_loaded_ranks(pools.decode) > 1:
        return 0.0  # even parts of steps of all ranks, and whole ones
    step = 0.0 if pools.has_prefill_engines else now.decode.total * pools.share_of_arrivals_at_busy(now.sequences)
    step *= pools.load.receive_interval
    prompts = now.sequences * now.tokens_per_step / pools.load.gaps  # half are held for longer than the mean
    queued = now.wait - now.ahead - wait_until_release(pools, now.tpot * now.tokens_per_step, prompts)
    return median_wait(max(0.0, queued), busy, step) - queued


def _steps_in_place(pools: Pools) -> float:
    """Steps for which a request occupies a place: its decode steps, and one step of its prompt unless the token budget
    of a step limits the places.
    """
    return pools.load.gaps if _budget_limits_places(pools) else float(pools.load.output_tokens)


def _budget_limits_places(pools: Pools) -> bool:
    """Whether the token budget of a step limits the sequences that decode. A request then has its prompt computed
    before it takes a place.
    """
    apart = pools.has_prefill_engines or pools.decode.prompts_alone
    return not apart and pools.limit >= pools.most_sequences_with_prompts


def _requests_in_flight(pools: Pools, steady: Steady, offered: float, seconds: tuple[float, float, float]) -> float:
    """Requests in flight on the whole plan: for an open load that the engines serve, rate × latency; for other loads,
    the ``offered`` requests and those that sometimes wait for a place. ``seconds`` are the mean latency, the mean wait
    for a place, and the seconds of the whole plan by which tokens that are computed again delay the end of each
    request.

    Source: Little's law (Operations Research 9(3), 1961).
    """
    load, (latency, waited, again) = pools.load, seconds
    if load.load == "open" and load.request_rate and not load.requests:
        return latency / (1 / load.request_rate + again)
    return offered + steady.rate * waited


def _output_rate(pools: Pools, steady: Steady, offered: float, latency: float) -> float:
    """Output tokens per second of the plan; its engines run no more prompts than they have time for."""
    load = pools.load
    found = output_rate(offered, load.output_tokens, latency)
    if load.load == "static":
        return found
    each = steady.service if pools.has_prefill_engines else steady.carried / pools.decode.layout.pp
    return min(found, pools.prompts.attention_ranks / each * load.output_tokens) if each else found


def _with_static_batch_prompt(pools: Pools, steady: Steady) -> Steady:
    """The state of a static batch, with the steps and seconds of all its prompts."""
    load, engine = pools.load, pools.decode
    tokens = max(1.0, steady.sequences) * load.input_tokens * (1 - load.prefix_hit)
    whole = prompt_step(engine, tokens, float(load.input_tokens), float(engine.layout.attention_dp))
    return steady._replace(prefill=whole, prompt=prompt_seconds(engine, whole))
