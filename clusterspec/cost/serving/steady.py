"""The steady state of a serving plan."""

from __future__ import annotations

from math import exp, expm1, inf

from clusterspec.cost.formulas.queues import requests_before
from clusterspec.cost.formulas.serving import time_per_output_token
from clusterspec.cost.serving.constants import StepTime
from clusterspec.cost.serving.engine import NOTHING, Decoding
from clusterspec.cost.serving.parts.step import unevenly_loaded_ranks
from clusterspec.cost.serving.pools import (
    Pools,
    cache_handoff,
    is_open_run,
    prompt_seconds,
)
from clusterspec.cost.serving.quantiles import bisected_interval
from clusterspec.cost.serving.state import Steady, WaitTail
from clusterspec.cost.serving.step_times import decode_step, prompt_step
from clusterspec.cost.serving.waits.carried import carried_prefill
from clusterspec.cost.serving.waits.delays import (
    bunched_sequences,
    delaying_sequences,
    own_sequence,
    prompts_of_run,
    sequences_of_step,
)
from clusterspec.cost.serving.waits.formed_steps import seconds_formed_ahead
from clusterspec.cost.serving.waits.held_prompts import steps_until_release
from clusterspec.cost.serving.waits.mixed import mixed_step_wait
from clusterspec.cost.serving.waits.prefill import separate_prompt_tail, separate_prompt_wait, wait_for_received_prompts
from clusterspec.cost.serving.waits.prompts import (
    mixed_prompt_wait,
    prompts_at_rate,
    service_seconds,
    unreceived_wait,
)
from clusterspec.cost.serving.waits.replica import (
    starts_prompts_once_received,
    wait_for_reception,
    wait_of_replicas,
)
from clusterspec.cost.serving.waits.replicas import runs_in_cycles, wait_in_cycle

ROUNDS = 24
"""Bisection steps for the number of concurrently decoding requests."""
CLOSE = 1e-3
"""The bisection over concurrent sequences in a closed loop ends at this interval width."""
TAKEN = 0.01
"""Prompts that take less than this share of the places are neglected."""
BUSY = inf
"""Excess of requests in flight reported for a plan whose prefill engines are always busy."""


def steady_state(pools: Pools, sequences: float, *, full: bool = False) -> Steady:
    """The steady state with ``sequences`` concurrent sequences on each attention rank; with ``full``, they and their
    prompts take all places.
    """
    return with_wait(pools, state_before_wait(pools, sequences, full=full))


def state_before_wait(pools: Pools, sequences: float, *, full: bool = False, delayed: float = 0.0) -> Steady:
    """The steady state with a wait of 0; no other time of the state depends on the wait. Steps have ``delayed`` more
    sequences, which prompts delay.
    """
    engine, load = pools.decode, pools.load
    static = load.load == "static"
    met = _sequences_met_by_request(pools, sequences)
    together = min(max(met, pools.limit), met + delayed + own_sequence(pools))
    decoding = sequences_of_step(pools, together)
    decode = _decode_step(pools, together, decoding)
    gained = load.tokens_per_step
    prefill = _prompt_step(pools, sequences, decoding, decode.total / gained)
    carried = (
        0.0
        if pools.has_prefill_engines or static
        else carried_prefill(pools, decoding[:2], gained, (decode, prefill), full=full)
    )
    ahead = seconds_formed_ahead(pools, sequences, (decode, prefill), carried)
    lone = _lone_prompt(pools) or prefill
    prompt = prompt_seconds(pools.prompts, lone._replace(floor=max(0.0, lone.floor - ahead)))
    stages = float(engine.layout.pp)
    each_token = carried / stages / load.gaps
    typical, delaying = (
        delaying_sequences(pools, met, (decode.total / gained, each_token), part, full=full)
        for part in prompts_of_run(pools, met, full=full)
    )
    tpot = time_per_output_token(decode.total, delaying, load.gaps, carried, tokens_per_step=gained, stages=stages)
    each = decode.total / gained + sequences * each_token if pools.sent_at_once else tpot  # of the whole run
    share = sequences * each_token / each
    rate = sequences * engine.attention_ranks / load.gaps / each
    service = service_seconds(pools, prefill)
    outside = _outside_seconds(pools, prompt, prefill.steps, tpot)
    times = (service, carried, gained, tpot, each_token, share, rate, 0.0, pools.loading, outside)
    return Steady(sequences, typical, delaying, decode, prefill, prompt, *times)


def _decode_step(pools: Pools, sequences: float, decoding: Decoding) -> StepTime:
    """A step without prompts, with ``sequences`` on each attention rank, the number of a ``decoding`` stage."""
    return decode_step(pools.decode, _sequences_of_stage(pools, sequences), decoding.context, decoding.tokens)


def _sequences_of_stage(pools: Pools, sequences: float) -> float:
    """The mean number of sequences of an attention rank in a step of one stage, where ``sequences`` of it decode.

    The ranks run their steps together. In a loop each of them starts its first requests in the same steps, so that
    ranks with fewer requests than stages share those steps and leave the others empty.
    """
    layout = pools.decode.layout
    together = min(1.0, sequences) if pools.load.load == "closed" else 0.0
    return max(1.0 / layout.attention_dp, together, sequences / layout.pp)


def with_wait(pools: Pools, now: Steady) -> Steady:
    """A steady state with the wait of a prompt."""
    engine, load = pools.decode, pools.load
    if load.load not in {"closed", "open"} or pools.in_one_wave:
        return now
    if pools.has_prefill_engines:
        return _with_prefill_wait(pools, now)
    if pools.in_groups:
        from clusterspec.cost.serving.waits.waves import wait_in_step

        wait, above = wait_in_step(pools, now.decode, sequences_of_step(pools, now.sequences), now.prompt)
        return now._replace(wait=wait, median_above=above)
    prompts = max(1.0, now.sequences / engine.layout.pp) * now.tokens_per_step / load.gaps
    step, added = now.decode.total / engine.layout.pp, now.carried / engine.layout.pp  # of one stage
    prompts = max(prompts, prompts_at_rate(pools, step, added))
    if runs_in_cycles(pools, now.prefill):
        return now._replace(wait=wait_in_cycle(pools, prompts, (now.decode, now.prefill), now.prompt))
    busy = 1 - max(0.0, 1 - now.rate * now.service / engine.attention_ranks) * exp(-now.sequences)
    decoded = max(1.0, _sequences_met_by_request(pools, now.sequences) / engine.layout.pp) * (1.0 + load.draft_tokens)
    if load.load == "open" and not engine.prompts_alone and unevenly_loaded_ranks(engine) == 1:
        return _with_open_wait(pools, now)
    return _with_wait_in_steps(pools, now, prompts, (decoded, busy))


def _with_prefill_wait(pools: Pools, now: Steady) -> Steady:
    """A state with the wait on separate prefill engines, in an endless open load of independent ranks as a tail."""
    unreceived = unreceived_wait(pools, now.decode.total, now.sequences)
    together = wait_for_received_prompts(pools, unreceived, now.rate, now.service)
    each = now.prompt / pools.prompts.layout.pp, now.service
    if pools.load.load == "closed" or pools.load.requests or unevenly_loaded_ranks(pools.prompts) > 1:
        return now._replace(wait=separate_prompt_wait(pools, now.rate, each) + unreceived + together)
    tail = separate_prompt_tail(pools, now.rate, each)._replace(least=unreceived + together)
    return now._replace(wait=tail.of_all, tail=tail)


def _with_wait_of_replicas(pools: Pools, now: Steady) -> Steady:
    """A state of an open load on attention replicas that run either prompts or decode, with the wait of a prompt."""
    steps, ranks, load = (now.decode, now.prefill), pools.decode.attention_ranks, pools.load
    rate = max(now.rate, load.request_rate or 0.0) if is_open_run(load) else now.rate
    ahead = seconds_formed_ahead(pools, now.sequences, steps, now.carried)
    others = pools.share_of_arrivals_at_busy(now.sequences)
    if load.receive_interval > 1:
        wait = wait_for_reception(pools, rate / ranks, steps, now.prompt)
        return now._replace(ahead=0.0, wait=others * wait)
    arriving = rate / ranks, now.sequences * now.tokens_per_step / load.gaps
    return now._replace(ahead=ahead, wait=ahead + others * wait_of_replicas(pools, arriving, steps, now.prompt))


def _with_wait_in_steps(pools: Pools, now: Steady, prompts: float, load_of_rank: tuple[float, float]) -> Steady:
    """A state with the wait of `mixed_prompt_wait`, and with its distribution in a closed loop."""
    engine = pools.decode
    if starts_prompts_once_received(pools):
        return _with_wait_of_replicas(pools, now)
    ahead = seconds_formed_ahead(pools, now.sequences, (now.decode, now.prefill), now.carried)
    wait = ahead + mixed_prompt_wait(pools, (now.decode, now.prefill), prompts, now.carried, load_of_rank)
    now = now._replace(ahead=ahead, wait=wait)
    if engine.prompts_alone:
        return now
    if pools.load.load == "open" or unevenly_loaded_ranks(engine) > 1:
        return now._replace(wait=wait + unreceived_wait(pools, now.decode.total, now.sequences))
    tail = _tail_of_loop(pools, now)
    return now._replace(wait=tail.of_all, tail=tail)


def _with_open_wait(pools: Pools, now: Steady) -> Steady:
    """A state of an open load on engines that mix prompts with decoding, with the wait of a prompt.

    Prompts of a run come while fewer sequences decode than later in the run.
    """
    load, engine, sequences, decode, rate = pools.load, pools.decode, now.sequences, now.decode, now.rate
    if is_open_run(load) and load.request_rate:
        arriving, rate = float(load.requests or 1) / load.request_rate, max(now.rate, load.request_rate)
        before = requests_before(rate, arriving, load.gaps * now.tpot) / engine.attention_ranks
        if before < sequences:
            sequences = before
            _, context, drafted = sequences_of_step(pools, sequences)
            decode = decode_step(engine, _sequences_of_stage(pools, sequences), context, drafted)
    ahead = seconds_formed_ahead(pools, sequences, (decode, now.prefill), now.carried)
    least = ahead + unreceived_wait(pools, decode.total, sequences)
    decoding = sequences_of_step(pools, _sequences_met_by_request(pools, sequences))
    busy = pools.share_of_arrivals_at_busy(sequences)
    tail = mixed_step_wait(pools, (decode, now.carried), decoding, rate, (busy, least))
    if not is_open_run(load):
        sooner = prompt_seconds(pools.prompts, now.prefill) - now.prompt
        tail = tail.for_share(busy, least, min(least, max(0.0, sooner)))
    return now._replace(wait=tail.of_all, ahead=ahead, tail=tail)


def _tail_of_loop(pools: Pools, now: Steady) -> WaitTail:
    """The distribution of the wait of a prompt in a closed loop in its steady state: the distribution for random
    arrivals at the same rate, scaled to the mean wait of the loop.
    """
    busy = pools.share_with_others
    decoding = sequences_of_step(pools, _sequences_met_by_request(pools, now.sequences))
    if pools.decode.layout.pp > 1:  # other batches end while one is on the first stage
        return mixed_step_wait(pools, (now.decode, now.carried), decoding, now.rate * busy, (busy, now.ahead))
    tail = mixed_step_wait(pools, (now.decode, now.carried), decoding, now.rate, (busy, now.ahead))
    part = now.wait / tail.of_all if tail.of_all else 0.0
    later = unreceived_wait(pools, now.decode.total, now.sequences)
    return tail._replace(least=part * tail.least + later, window=part * tail.window, mean=part * tail.mean)


def _sequences_met_by_request(pools: Pools, sequences: float) -> float:
    """Mean number of sequences that decode together with a request, on a rank with ``sequences`` on average."""
    return min(pools.limit, max(0.0, sequences + bunched_sequences(pools, sequences)))


def _outside_seconds(pools: Pools, prompt: float, chunks: float, tpot: float) -> float:
    """Seconds of a request before and after the engines, and on its way from prefill to decode engines."""
    sent = cache_handoff(pools, prompt, chunks)
    return pools.outside + (sent.seconds + 0.5 * tpot if sent else 0.0)


def _lone_prompt(pools: Pools) -> StepTime | None:
    """The steps of the prompt if only one request is in flight and no other attention replica runs; otherwise None."""
    load, engine = pools.load, pools.prompts
    if load.concurrency != 1 or engine.layout.attention_dp > 1:
        return None
    return prompt_step(engine, load.fresh_tokens, float(load.input_tokens), 1.0)


def _prompt_step(pools: Pools, sequences: float, decoding: Decoding, token: float) -> StepTime:
    """The steps of one prompt. Unless prompts have separate steps, the sequences in ``decoding``, at ``token`` seconds
    per token, decode in the same steps. Prompts on other attention ranks add to the load of the experts.
    """
    engine, load = pools.decode, pools.load
    fresh, busy = load.fresh_tokens, float(engine.layout.attention_dp)
    if pools.has_prefill_engines:
        busy = _busy_ranks(pools, sequences, token)
    elif unevenly_loaded_ranks(engine) > 1:  # ranks that have a prompt while another has one
        prompts = decoding.sequences * load.tokens_per_step / load.gaps
        steps = max(1.0, fresh / (load.chunk_tokens or fresh or 1.0)) * steps_until_release(pools, prompts)
        busy = 1.0 + (busy - 1.0) * -expm1(-prompts * steps)
    return prompt_step(pools.prompts, fresh, float(load.input_tokens), busy, _decoding_with_prompts(pools, decoding))


def prompt_seconds_with_decoding(pools: Pools, sequences: float, fresh: float, length: float) -> float:
    """Seconds of a prompt of ``length`` tokens, ``fresh`` of them computed, while ``sequences`` decode."""
    engine = pools.prompts
    decoding = _decoding_with_prompts(pools, sequences_of_step(pools, _sequences_met_by_request(pools, sequences)))
    return prompt_seconds(
        engine, prompt_step(engine, max(1.0, fresh), length, float(engine.layout.attention_dp), decoding)
    )


def decoding_seconds(pools: Pools, sequences: float) -> float:
    """Seconds per output token of ``sequences`` on each attention rank that decode without prompts."""
    engine, load = pools.decode, pools.load
    _, context, drafted = sequences_of_step(pools, sequences)
    return decode_step(engine, _sequences_of_stage(pools, sequences), context, drafted).total / load.tokens_per_step


def _decoding_with_prompts(pools: Pools, decoding: Decoding) -> Decoding:
    """The sequences that decode in steps with prompts: none if such steps hold prompts alone."""
    apart = pools.has_prefill_engines or pools.load.load == "static" or pools.decode.separates_prompts
    return NOTHING if apart else decoding


def _busy_ranks(pools: Pools, sequences: float, tpot: float) -> float:
    """Attention ranks of one engine that are busy with prefill at this rate, one prompt per rank."""
    engine, load, prompts = pools.decode, pools.load, pools.prompts
    ranks = prompts.layout.attention_dp
    if ranks == 1:
        return 1.0
    rate = sequences * engine.attention_ranks / load.gaps / tpot
    alone = prompt_step(prompts, float(load.input_tokens), float(load.input_tokens), float(ranks)).total
    return min(float(ranks), 1.0 + rate / prompts.replicas * alone * (ranks - 1) / ranks)


def placed_state(pools: Pools, places: float) -> Steady:
    """The steady state with ``places`` for sequences on each attention rank, all of them taken."""
    return with_wait(pools, state_without_wait(pools, places))


def state_without_wait(pools: Pools, places: float) -> Steady:
    """The state that `placed_state` gives for a wait of 0.

    A request occupies a place while its prompt is computed. There are two exceptions: prompts on separate engines,
    whose time then limits how many sequences decode, and places that the token budget of a step limits.
    """
    found, load = state_before_wait(pools, places, full=True), pools.load
    if load.load == "static" or (not pools.has_prefill_engines and pools.limit >= pools.most_sequences_with_prompts):
        return found
    ranks = pools.prompts.attention_ranks

    def excess(steady: Steady) -> float:
        if pools.has_prefill_engines:
            return steady.rate * steady.service - ranks
        return steady.sequences + steady.rate * steady.prompt / ranks - places

    most = excess(found)
    if most <= (0.0 if pools.has_prefill_engines else TAKEN * places):
        return found
    low = (1e-6 * places, -float(ranks) if pools.has_prefill_engines else -places)
    found_at = bisected_interval(
        lambda each: excess(state_before_wait(pools, each, full=True)), low, (places, most), ROUNDS, CLOSE
    )[0]
    return state_before_wait(pools, found_at, full=True)


def closed_loop_state(pools: Pools, requests: float) -> Steady:
    """The steady state with ``requests`` in flight on the whole plan; those that do not fit wait.

    Where prompts limit the loop, the requests that do not decode wait for their prompt.
    """
    ranks = pools.decode.attention_ranks
    capacity = pools.prompts.attention_ranks
    if pools.in_waves:
        return steady_state(pools, max(1.0 / ranks, min(pools.limit, requests / ranks)))

    def excess(sequences: float) -> float:
        now = state_before_wait(pools, sequences)
        if pools.has_prefill_engines and now.rate * now.service > capacity:
            return BUSY  # whatever the wait, which is not computed
        return with_wait(pools, now).requests_in_flight(ranks) - requests

    top = min(pools.limit, requests / ranks)
    most = excess(top)
    if most <= 0:
        return placed_state(pools, top)
    low, high = bisected_interval(excess, (1e-6 * top, -requests), (top, most), ROUNDS, CLOSE)
    found = steady_state(pools, low)
    if not pools.has_prefill_engines or excess(high) < BUSY:
        return found
    left = requests - found.requests_in_flight(ranks)
    return found._replace(wait=found.wait + max(0.0, left) / found.rate)
