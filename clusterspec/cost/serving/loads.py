"""The load of a serving plan: requests in flight and the steady state with them, and runs of stated requests."""

from __future__ import annotations

from math import floor, inf, log, pi, sqrt

from clusterspec.cluster.requests import Serving
from clusterspec.cost.formulas.queues import requests_amid_run, share_without_place
from clusterspec.cost.serving.cold import compilation_seconds
from clusterspec.cost.serving.pools import Pools, is_open_run, prompts_per_step
from clusterspec.cost.serving.quantiles import first_fixed_point
from clusterspec.cost.serving.runs import FiniteRun, OpenRun, smooth_minimum
from clusterspec.cost.serving.state import Steady
from clusterspec.cost.serving.steady import (
    ROUNDS,
    closed_loop_state,
    decoding_seconds,
    placed_state,
    state_before_wait,
    state_without_wait,
    steady_state,
    with_wait,
)
from clusterspec.cost.serving.waits.carried import full_prompt_step
from clusterspec.cost.serving.waits.prefill import varied_loop_wait
from clusterspec.cost.serving.waits.shares import mean_token_seconds, prompt_shares
from clusterspec.records import NamedTuple, replace

HALF = 0.5
FARTHEST = 12.0
"""If more places are free on average than this multiple of the square root of their number, they are never all taken.
"""
MOST_FILLED = 0.99
"""The share of the rate of a full plan beyond which requests wait for places no longer than at it: the plan fills."""
WALK = 2 / 3 * sqrt(2 / pi)
"""The mean wait in a run of n prompts that arrive as fast as they are served, divided by service time · √n: the mean
distance of a random walk of n steps is √(2 n / π).
"""
OVERSHOOT = 0.5826
"""The maximum of a random walk of single steps is lower than that of Brownian motion by this many standard deviations
of a step (Chernoff, Ann. Math. Stat. 36, 1965).
"""
FILLING = 6.0
"""The first requests of a run at a rate fill n places, and the i-th of them decodes together with later ones only. Of
the time per token that n sequences add to that of one, it saves the mean of (n - i)² / 2 n² over the time to fill the
places.
"""
DELAYED_ROUNDS = 12
DELAYED = 1e-3
"""The iteration for the sequences that unfinished prompts delay ends if the sequences in a step change by less than
this.
"""
ROUNDED = 1e-9
"""Relative tolerance of the number of waves, and absolute one of the requests in the last."""
KEPT_UP = 0.999
"""The share of a request rate from which engines count as serving it; a state that serves the rate has it to 1e-4."""
SERVED = 1 - 1e-4
"""The highest rate that a plan serves, relative to its full engines; iterations to a steady state do not resolve more.
"""
NEAR = 0.85
"""Engines with a smaller share of their places taken, or of their time for prompts, are not near their capacity."""
SETTLED = 1e-6
"""The iteration for the requests in flight ends at this relative change."""


def steady_load(pools: Pools) -> tuple[float, Steady]:
    """Requests in flight on the whole plan, and the resulting steady state."""
    load, ranks = pools.load, pools.decode.attention_ranks
    if load.load == "static":
        offered = float(load.concurrency or 1)
        return offered, steady_state(pools, max(min(1.0, offered / ranks), min(pools.limit, offered / ranks)))
    if pools.in_one_wave:
        requests = float(load.requests or 1)
        return requests, state_before_wait(pools, requests / ranks)
    if load.concurrency is not None:
        return float(load.concurrency), closed_loop_state(pools, float(load.concurrency))
    if load.request_rate is None:
        most = min(pools.limit, (load.requests or inf) / ranks)
        return most * ranks, placed_state(pools, most)
    if is_open_run(load):
        return _open_run_state(pools, load.request_rate, float(load.requests or 1))
    return _endless_state(pools, load.request_rate)


def sequences_kept(pools: Pools) -> float:
    """Sequences of one attention rank that an open load keeps in flight, at most the number of places."""
    rate = pools.load.request_rate
    if is_open_run(pools.load) or rate is None:
        return steady_load(pools)[1].sequences
    return _open_loop_state(pools, rate)[1].sequences


def serves_rate(pools: Pools, now: Steady, rate: float) -> bool:
    """Whether engines that also run prompts serve a request rate in its state, with free places. If places are few,
    prompts in some of them keep sequences from the rest.
    """
    return now.sequences < pools.limit and now.rate > KEPT_UP * rate and rate <= now.capacity


def _endless_state(pools: Pools, rate: float) -> tuple[float, Steady]:
    """Requests in flight at a rate without an end, and the steady state with them.

    A rate above the capacity has no steady state: requests that wait are more with every second. The state is then that
    of the highest rate that the plan serves, for every higher rate.
    """
    offered, now = _open_loop_state(pools, rate)
    if not _is_near_capacity(pools, now, rate):
        return offered, now
    most = SERVED * state_without_wait(pools, pools.limit).rate
    if most < rate:
        offered, now = _open_loop_state(pools, most)
    return offered, now._replace(capacity=most)


def _is_near_capacity(pools: Pools, now: Steady, rate: float) -> bool:
    """Whether engines have no more than few places free, or little time for more prompts."""
    ranks = pools.prompts.attention_ranks
    taken = now.sequences if pools.has_prefill_engines else now.sequences + now.rate * now.prompt / ranks
    busy = now.rate * now.service if pools.has_prefill_engines else 0.0
    return not serves_rate(pools, now, rate) or taken > NEAR * pools.limit or busy > NEAR * ranks


def served_pools(pools: Pools, now: Steady) -> Pools:
    """The engines at the highest request rate that they serve, if the load requests more; ``now`` is their state."""
    load = pools.load
    over = load.load == "open" and (load.request_rate or 0.0) > now.capacity
    return pools._replace(load=replace(load, request_rate=now.capacity)) if over else pools


def decoding_rate(pools: Pools, requests: float) -> float:
    """Requests per second of the whole plan while ``requests`` are in flight and all of them decode, those that have
    places. Prefill engines that cannot keep up do not lower this rate.
    """
    return state_before_wait(pools, min(pools.limit, requests / pools.decode.attention_ranks)).rate


def _open_loop_state(pools: Pools, rate: float) -> tuple[float, Steady]:
    """Requests that a request rate keeps in flight, and the steady state with them, by fixed-point iteration.

    The first solution assumes that prompts take no places and prefill keeps up. Saturated prefill engines then limit
    the rate of the plan.
    """
    ranks, limit, apart = pools.decode.attention_ranks, pools.limit, pools.has_prefill_engines
    found, now = _sequences_at_rate(pools, rate)
    for _ in range(ROUNDS if apart or found >= limit else 0):
        before, found = found, _sequences_at_request_rate(pools, rate, now)
        taken = min(found, limit)
        now = state_without_wait(pools, taken) if apart or found >= limit else state_before_wait(pools, taken)
        filled = taken == limit and pools.decode.separates_prompts
        now = _filled_places(now, rate, ranks, pools.load.gaps) if filled else now
        if filled or (apart and now.sequences < taken):
            now = now if filled else state_without_wait(pools, limit)  # prefill is saturated, whatever the rate
            found = _sequences_at_request_rate(pools, rate, now)
            break
        if abs(found - before) < SETTLED * found:
            break
    now = with_wait(pools, now)
    return found * ranks + rate * (now.before_decode + now.outside), now


class PlaceWait(NamedTuple):
    """The wait for a place in an open load whose mean number of requests leaves places free: a ``share`` of the
    requests finds none, and waits ``mean`` seconds with an exponential tail.
    """

    share: float = 0.0
    mean: float = 0.0

    @property
    def of_all(self) -> float:
        """The mean wait of all requests, in seconds."""
        return self.share * self.mean

    @property
    def median(self) -> float:
        """The wait that half of the requests do not exceed, in seconds."""
        return self.mean * log(2 * self.share) if self.share > HALF else 0.0


def place_wait(pools: Pools, now: Steady) -> PlaceWait:
    """The wait for a place of an open load without an end, in the state ``now`` of its mean number of requests.

    Source: Allen and Cunneen (Allen, Probability, statistics and queueing theory, 1990, section 5.5): as with
    exponential times, times half of the summed squared variations of the times between arrivals and in places.
    """
    return PlaceWait() if pools.load.load != "open" or pools.load.requests else _wait_without_place(pools, now)


def _wait_without_place(pools: Pools, now: Steady) -> PlaceWait:
    """The wait for a place of requests that arrive at a rate without an end, in the state ``now``."""
    load, places = pools.load, pools.limit * pools.decode.attention_ranks
    if pools.has_prefill_engines or not load.request_rate:
        return PlaceWait()
    if not pools.decode.prompts_alone and pools.limit >= pools.most_sequences_with_prompts:
        return PlaceWait()  # the token budget of a step limits the sequences: what waits for it is in `now.wait`
    rate, alone = load.request_rate, now.prompt + load.gaps * now.mean_token
    if not alone or places - rate * alone > FARTHEST * sqrt(places):
        return PlaceWait()
    filled = state_without_wait(pools, pools.limit)
    full = max(alone if rate * alone < places else 0.0, places / filled.rate if filled.rate else alone)
    rate, alone = min(rate, MOST_FILLED * places / full), min(alone, full)  # beyond it the plan is full
    decoding = load.gaps * now.mean_token / alone
    spread = load.output_lengths.variation * decoding * decoding if load.output_lengths else 0.0
    share = share_without_place(rate, places, alone, full)
    return PlaceWait(share, (load.arrival_cv**2 + spread) / 2 / (places / full - rate))


def _sequences_at_request_rate(pools: Pools, rate: float, now: Steady) -> float:
    """Sequences per rank that the request rate keeps in flight at the time per output token of the state ``now``."""
    return min(rate * pools.load.gaps * now.tpot / pools.decode.attention_ranks, 4 * pools.limit)


def _sequences_at_rate(pools: Pools, rate: float) -> tuple[float, Steady]:
    """Sequences per rank that a request rate keeps in flight, at most the number of places, and the steady state with
    them before waits. Prompts that are unfinished when requests start to decode keep more of them in flight.
    """
    alone = _sequences_without_others(pools, rate)
    delayed, (found, now) = 0.0, _sequences_with_delayed(pools, rate, 0.0, alone)
    for _ in range(DELAYED_ROUNDS):
        before, delayed = delayed, _delayed_sequences(pools, rate, now)
        if found >= pools.limit or abs(delayed - before) < DELAYED * (found + 1):
            break
        found, now = _sequences_with_delayed(pools, rate, delayed, found)
    return found, now


def _delayed_sequences(pools: Pools, rate: float, now: Steady) -> float:
    """The additional sequences per rank from prompts that are unfinished when requests start to decode."""
    later = mean_token_seconds(now, prompt_shares(pools, now), pools) - now.tpot
    return max(0.0, rate * pools.load.gaps * later / pools.decode.attention_ranks)


def _sequences_without_others(pools: Pools, rate: float) -> float:
    """Sequences per rank that a request rate keeps in flight if each decodes alone and no prompt delays it."""
    alone = decoding_seconds(pools, 1 / pools.decode.layout.attention_dp)
    return rate * pools.load.gaps * alone / pools.decode.attention_ranks


def _sequences_with_delayed(pools: Pools, rate: float, delayed: float, near: float) -> tuple[float, Steady]:
    """Sequences per rank that a request rate keeps in flight with ``delayed`` more sequences in a step, and the state;
    ``near`` is a number of sequences close to the result.

    It applies where prompts occupy no places and their engines are not saturated.
    """
    states: dict[float, Steady] = {}

    def in_flight(sequences: float) -> float:
        states[sequences] = state_before_wait(pools, sequences, delayed=delayed)
        return _sequences_at_request_rate(pools, rate, states[sequences])

    found = first_fixed_point(in_flight, min(near, pools.limit), pools.limit, SETTLED)
    return found, states[found]


def open_run(pools: Pools, now: Steady) -> OpenRun:
    """The run of the requests that an open load states."""
    load, ranks = pools.load, pools.decode.attention_ranks
    full = full_run_state(pools)
    each = load.gaps * full.full_token if pools.equal_requests else full.prompt + load.gaps * full.tpot
    turn = each / (pools.limit * ranks)
    requests, rate, service = float(load.requests or 1), load.request_rate or 1.0, _full_service(pools, now)
    walk, even = service * max(0.0, WALK * sqrt(requests) - OVERSHOOT), now.decode.total * load.receive_interval
    if now.tail is not None:
        even = now.tail.window / 2
    even = min(even, now.wait)
    varied = even + smooth_minimum(now.wait - even, walk)
    added = decoding_seconds(pools, pools.limit) - decoding_seconds(pools, 1.0 / ranks)
    sooner = pools.limit * ranks / rate * max(0.0, added / full.tpot) / FILLING
    run = OpenRun(requests, rate, pools.limit * ranks, turn, varied, service, sooner, pools.equal_requests)
    run = run._replace(tail=now.tail, walk=walk if now.tail is not None else inf)
    return _with_places_taken_at_times(run, load, now, _wait_without_place(pools, now))


def _with_places_taken_at_times(run: OpenRun, load: Serving, now: Steady, endless: PlaceWait) -> OpenRun:
    """A run with the waits for a place that irregular arrivals cause; ``endless`` is the wait of arrivals without end.

    Requests that arrive before the mean number is in flight find free places; from then on the number in flight follows
    a random walk. Requests end at about the intervals at which they began, so each of n places has every n-th request:
    its walk has n times fewer steps, each of n arrivals.
    """
    flight = min(run.places, run.rate * (now.prompt + load.gaps * now.mean_token))
    after = max(0.0, run.requests - flight)
    if not endless.share or not after:
        return run
    walk = run.turn * load.arrival_cv * max(0.0, WALK * sqrt(after) - OVERSHOOT * sqrt(run.places))
    return run._replace(waiting=endless.share * after / run.requests, placing=endless.mean, placed_walk=walk)


def _full_service(pools: Pools, now: Steady) -> float:
    """Seconds of the whole plan per prompt in full prefill steps, with half of the sequences of a state decoding."""
    return _starting_service(
        pools, max(1.0, now.sequences * pools.decode.attention_ranks), float(pools.load.requests or 1)
    )


def _open_run_state(pools: Pools, rate: float, requests: float) -> tuple[float, Steady]:
    """Requests in flight on the whole plan, as an arriving request finds them in a run of ``requests`` at a given rate,
    and the steady state with that number, by fixed-point iteration.
    """
    load, ranks, found = pools.load, pools.decode.attention_ranks, 1e-3
    now = state_before_wait(pools, found)
    for _ in range(ROUNDS):
        pace = min(rate, 1 / _full_service(pools, now))
        before, met = found, requests_amid_run(requests, pace, load.gaps * now.tpot) / ranks
        found = min(pools.limit, met)
        now = state_before_wait(pools, found)
        if abs(found - before) < SETTLED * found:
            break
    if found >= pools.limit:  # prompts take places, too
        now = full_run_state(pools)
    now = with_wait(pools, now)
    return found * ranks + now.rate * (now.before_decode + now.outside), now


def full_run_state(pools: Pools) -> Steady:
    """The state of a run at a rate whose requests take all places, without its wait.

    If such requests are equal and an engine runs all waiting prompts before any request decodes, the requests of all
    places decode together; otherwise some places hold a request whose prompt is still computed.
    """
    if pools.equal_requests and pools.decode.separates_prompts:
        return state_before_wait(pools, pools.limit, full=True)
    return state_without_wait(pools, pools.limit)


def _filled_places(full: Steady, rate: float, ranks: int, gaps: float) -> Steady:
    """The state of engines with all places taken, where prompts run in separate steps.

    Full engines run fewer prompt steps than engines with free places, because prompts wait for places. Where the state
    would therefore exceed the request rate, Little's law with all sequences gives the time per token.
    """
    tpot = full.sequences * ranks / (rate * gaps)
    return full._replace(tpot=max(full.tpot, tpot), rate=min(full.rate, rate))


def finite_run(pools: Pools, steady: Steady, offered: float, queued: float) -> FiniteRun:
    """The run of the load's requests, or of a loop without an end, with ``offered`` requests in flight and ``queued``
    seconds until a request has a place in the steady state.
    """
    load, ranks, requests = pools.load, pools.decode.attention_ranks, pools.requests_of_run
    flight = requests if pools.sent_at_once else min(offered, requests)
    places, alike = pools.limit * ranks, load.load == "offline" and not (load.input_lengths or load.output_lengths)
    service = busy = steady.service / pools.prompts.attention_ranks
    if flight >= requests or not pools.has_prefill_engines:
        service = _starting_service(pools, min(flight, places))  # full steps, not one prompt with all sequences
    each = steady.carried / pools.decode.layout.pp / ranks
    turn = max(steady.full_token * load.gaps / (steady.sequences * ranks), each) if steady.rate else service
    if pools.has_prefill_engines:
        turn = max(turn, busy)
    together = prompts_per_step(pools) * pools.prompts.attention_ranks
    joined = steady.prompt * (1 - 1 / steady.prefill.steps) if pools.prompts.layout.attention_dp > 1 else 0.0
    looped = pools.has_prefill_engines and load.load == "closed"
    varied = varied_loop_wait(pools, steady) if looped else steady.wait
    waits = queued + steady.wait - varied, varied, steady.before_decode
    waves, cold = requests / flight if pools.in_waves else 1.0, compilation_seconds(pools)
    lanes = float(pools.prompts.replicas)
    found = FiniteRun(requests, flight, places, service, turn, *waits, together, lanes, cold, waves, joined=joined)
    tail = steady.tail if load.load == "closed" else None
    return found._replace(alike=alike, tail=tail, above=steady.median_above)


def offline_run_seconds(pools: Pools, now: Steady) -> float | None:
    """Seconds of the requests that an offline load states, all of equal lengths; None in a steady state, and with
    separate prefill engines.

    Requests with a place start and end together; the remaining requests follow in waves. Fewer decode in the last wave:
    its steps are shorter, but not in proportion to their number. A run of one wave has full prefill steps.
    """
    load, engine = pools.load, pools.decode
    if load.load != "offline" or not load.requests or pools.has_prefill_engines:
        return None
    requests, together = float(load.requests), now.sequences * engine.attention_ranks
    waves = floor(requests / together * (1 + ROUNDED))
    left = max(0.0, requests - waves * together)
    prompt = now.carried / engine.layout.pp / engine.attention_ranks
    if requests <= together * (1 + ROUNDED):
        prompt = _starting_service(pools, requests)
    full, last = (decoding_seconds(pools, each / engine.attention_ranks) for each in (together, left))
    return requests * prompt + load.gaps * (waves * full + (last if left > ROUNDED else 0.0))


def _starting_service(pools: Pools, together: float, waiting: float = 0.0) -> float:
    """Seconds of the whole plan per prompt of the requests that start a run, in steps full of prompts
    (`full_prompt_step`).
    """
    full = full_prompt_step(pools, together, waiting)
    return full.step.lasting_seconds / pools.prompts.layout.pp / full.prompts / pools.prompts.attention_ranks
