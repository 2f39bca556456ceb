"""Latency and throughput of a serving plan: time to first token, time per output token, output tokens per second."""

from __future__ import annotations

from math import expm1, floor, inf
from typing import TYPE_CHECKING

from clusterspec.cluster.degrees import layout_of_engines
from clusterspec.cluster.model import Design
from clusterspec.cluster.requests import Engines, Serving
from clusterspec.cost.formulas.serving import (
    median_wait,
    output_rate,
    queue_wait,
    request_time,
    requests_amid_run,
    time_per_token_after_transfer,
    time_to_first_token,
    typical_prompt_time,
)
from clusterspec.cost.mixers import next_token_elements
from clusterspec.cost.serving import constants
from clusterspec.cost.serving.constants import StepTime
from clusterspec.cost.serving.engine import NOTHING, Decoding, Engine, unevenly_loaded_ranks
from clusterspec.cost.serving.handoff import (
    link_seconds,
    linked_transfers,
    request_bytes,
    side_transfers,
    slower_transfer,
)
from clusterspec.cost.serving.latency import Highest, ServingTimes, target_excess
from clusterspec.cost.serving.pools import (
    Pools,
    cache_handoff,
    most_beside_prompts,
    prompt_seconds,
)
from clusterspec.cost.serving.runs import FiniteRun, OpenRun
from clusterspec.cost.serving.steady import (
    ROUNDS,
    Steady,
    closed_loop_state,
    computed_seconds,
    largest_satisfying,
    placed_state,
    steady_state,
)
from clusterspec.precision import precision_width
from clusterspec.records import replace

if TYPE_CHECKING:
    from clusterspec.cluster.sites import PoolLink
    from clusterspec.cost.serving.balance import ExpertUse
    from clusterspec.cost.serving.caches import TierUse

MOST_SEQUENCES = 1024
"""Limit of sequences per step of an attention rank, where the spec states none: the default of vLLM since 0.9."""

SETTLED = 1e-14
"""Relative change of the requests that a request rate keeps in flight at which their iteration ends."""


def serving_times(design: Design) -> ServingTimes | None:
    """The times of a serving plan; None where the design does not serve, or its accelerator has no peak for the
    workload.
    """
    kept = serving_caches(design)
    return replace(_plan_times(kept[0]), tiers=kept[1]) if kept is not None else None


def serving_pools(design: Design) -> Pools | None:
    """The engines of a serving plan and their load; None where `serving_times` is None."""
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

    return settled_caches(pools, lambda other: _steady_load(other)[1])


def times_with_engines(pools: Pools, engines: tuple[int, int], rate: float) -> ServingTimes:
    """The times of bare pools with other numbers of prefill and decode engines, at a request rate."""
    filled, tiers = pools_with_engines(pools, engines, rate)
    return replace(_times_at(filled, *_steady_load(filled)), tiers=tiers)


def pools_with_engines(pools: Pools, engines: tuple[int, int], rate: float) -> tuple[Pools, tuple[TierUse, ...]]:
    """The same engines with the prefix hits that their caches give, and what each tier does."""
    decode = pools.decode.times(engines[1])
    prompts = pools.prompts.times(engines[0]) if pools.has_prefill_engines else decode
    other = pools._replace(decode=decode, prompts=prompts, load=replace(pools.load, request_rate=rate))
    return _filled_caches(other if other.link is None else _pools_with_link(other, other.link))


def bare_pools(design: Design) -> Pools | None:
    """The engines of a serving plan and their load, without the hits of sessions."""
    cluster, workload, layout = design.cluster, design.workload, design.layout
    if cluster is None or workload is None or layout is None or workload.serving is None:
        return None
    load = workload.serving
    load = replace(load, chunk_tokens=load.chunk_of_replica((load.prefill or layout).attention_dp))
    workload = replace(workload, serving=load)
    engine = Engine.of(cluster, workload, layout, layout.dp)
    if engine is None:
        return None
    prompts, link = engine, None
    if load.prefill is not None and load.prefill.pool is not None:
        found = _prefill_on_pool(design, load.prefill, load.prefill.pool)
        if found is None:
            return None
        prompts, link = found
    elif load.prefill is not None:
        other = layout_of_engines(layout, load.prefill, workload.model.layers)
        prompts = Engine.of(cluster, workload, other, load.prefill.replicas) or engine
    tokens, requests = _cache_capacity(engine, load)
    most = float(load.max_sequences or _sequence_limit(engine))
    held = tokens if prompts is engine else _cache_capacity(prompts, load)[0]
    beside = inf if prompts is not engine or engine.prompts_alone else most_beside_prompts(load)
    limit = min(float(floor(requests)), most, beside)
    pools = Pools(engine, prompts, load, limit, tokens, most, held)
    if not pools.has_prefill_engines:
        return pools
    return _pools_on_fabric(pools) if link is None else _pools_with_link(pools, link)


def _pools_on_fabric(pools: Pools) -> Pools:
    """Engines of one machine, with the seconds for which a cache occupies the links of a rank, if any connect them."""
    engine, layouts = pools.decode, (pools.prompts.layout, pools.decode.layout)
    sides = side_transfers(engine.cluster, engine.workload, layouts, float(pools.load.input_tokens))
    if not sides:
        return pools
    return pools._replace(transfer=(sides[0].seconds, sides[1].seconds), sent=slower_transfer(sides))


def _prefill_on_pool(design: Design, engines: Engines, pool: str) -> tuple[Engine, PoolLink] | None:
    """The prefill engines on the machine of a pool, and the link from there; None without one, or without a peak."""
    from clusterspec.cluster.sites import design_on_pool, link_to_pool  # few plans have two machines

    other = design_on_pool(design, pool, {})
    if other.cluster is None or other.workload is None or other.layout is None or design.layout is None:
        return None
    layout = layout_of_engines(other.layout, engines, other.workload.model.layers)
    engine = Engine.of(other.cluster, other.workload, layout, engines.replicas)
    nodes = (design.layout.nodes, -(-layout.ranks // other.cluster.ranks_per_node))
    link = link_to_pool(design, pool, other.cluster, nodes)
    return (engine, link) if engine is not None and link is not None and link.total > 0 else None


def _pools_with_link(pools: Pools, link: PoolLink) -> Pools:
    """Engines on two machines, with the seconds for which a cache occupies the link of a rank and the shared link."""
    prompts, answers, tokens = pools.prompts, pools.decode, float(pools.load.input_tokens)
    clusters, layouts = (prompts.cluster, answers.cluster), (prompts.layout, answers.layout)
    sides = linked_transfers(clusters, answers.workload, layouts, tokens, link)
    shared = link_seconds(answers.workload, prompts.layout, tokens, link) * prompts.attention_ranks
    seconds = max(sides[0].seconds, shared), sides[1].seconds
    return pools._replace(transfer=seconds, sent=slower_transfer(sides), link=link)


def request_cache_bytes(design: Design) -> float | None:
    """Bytes of the cache of one prompt that prefill engines send; None where prefill has no engines of its own."""
    workload, layout = design.workload, design.layout
    load = workload.serving if workload is not None else None
    if workload is None or layout is None or load is None or load.prefill is None:
        return None
    sender = layout_of_engines(layout, load.prefill, workload.model.layers)
    return request_bytes(workload, sender, float(load.input_tokens)) * sender.tp


def _cache_capacity(engine: Engine, load: Serving) -> tuple[float, float]:
    """Tokens and requests that fit the cache of one attention rank."""
    memory = engine.cluster.accelerator.memory
    whole = memory.value / engine.cluster.ranks_per_accelerator if memory else 0.0
    weights = engine.weight_bytes / engine.layout.pp
    entire = load.load == "static" or load.whole_requests
    held = load.input_tokens + load.output_tokens * (1.0 if entire else 0.5)
    each = engine.sequence_bytes(held) / engine.layout.pp
    wanted = each * (load.concurrency or 0) / engine.attention_ranks if load.raised else 0.0
    free = cache_space(whole, weights + constants.RESERVED.value, wanted, load)
    requests = max(1.0, free / each) if each else float(MOST_SEQUENCES)
    return requests * held, requests


def _sequence_limit(engine: Engine) -> int:
    """The software's limit of sequences per step, where the spec states none."""
    stack = engine.layout.stack
    if stack is None or stack.serving is None:
        return MOST_SEQUENCES
    return stack.serving.defaults_for(engine.cluster.accelerator).max_sequences or MOST_SEQUENCES


def cache_space(memory: float, taken: float, wanted: float, load: Serving) -> float:
    """Bytes that a rank's ``memory`` leaves for its cache after ``taken`` bytes.

    A cache of ``wanted`` bytes raises the memory fraction, up to `HIGHEST_FRACTION`.
    """
    if load.of_free:
        return max(0.0, memory - taken) * load.memory_fraction
    free, most = memory * load.memory_fraction - taken, memory * constants.HIGHEST_FRACTION - taken
    return max(0.0, free, min(wanted, most))


def _plan_times(pools: Pools) -> ServingTimes:
    found = _times_at(pools, *_steady_load(pools))
    for engine in (pools.decode, pools.prompts):  # a search keeps thousands of plans
        engine.steps.clear()
    return replace(found, highest=Highest(_highest_concurrency, pools), experts=_expert_use(pools))


def _expert_use(pools: Pools) -> ExpertUse | None:
    """How uneven the ranks of the decode engines are; None where the spec does not say how tokens select experts."""
    if pools.load.expert_load is None:
        return None
    from clusterspec.cost.serving.balance import expert_use

    return expert_use(pools.decode)


def _times_at(pools: Pools, offered: float, now: Steady) -> ServingTimes:
    """The times with ``offered`` requests in flight on the whole plan, and the steady state with them."""
    engine, prompts, load, ranks = pools.decode, pools.prompts, pools.load, pools.decode.attention_ranks
    steps, prompt = _static_batch_prompt(pools, now) if load.load == "static" else (now.prefill, now.prompt)
    started = now.tpot if pools.has_prefill_engines else 0.0  # else the wait has the running step
    sent = cache_handoff(pools, prompt, steps.steps)
    handoff, joining = (sent.seconds if sent else 0.0), 0.0
    if sent and load.transfer.first_token == "prefill":
        handoff, joining, started = 0.0, handoff + 0.5 * now.tpot, 0.0
    token = time_per_token_after_transfer(now.tpot, joining, load.output_tokens)
    overhead = engine.habits.request
    queued, wait, (early, delay), run = _waits(pools, now, offered)
    median = typical_prompt_time(prompt, load.typical_prompt)
    ttft = time_to_first_token(wait + early + pools.loading, median, handoff, overhead, tpot=started)
    of_mean = ttft + prompt - median
    latency = request_time(of_mean if run is not None else of_mean - early, load.output_tokens, token)
    offered = _requests_in_flight(pools, now, offered, latency)
    lasting = _run_seconds(pools, now, run, latency - early - wait)
    rounds = (run.requests, lasting) if run is not None and lasting is not None else (offered, latency)
    return ServingTimes(
        ttft=ttft,
        tpot=token + now.typical_token - now.tpot,
        ttft_mean=of_mean - early + delay,
        tpot_mean=token,
        request_latency=latency,
        output_tokens_per_second=_output_rate(pools, now, *rounds),
        accelerators=_used_accelerators(pools),
        kv_bytes_per_token=_cache_bytes_per_token(engine),
        kv_capacity_tokens=pools.tokens * ranks,
        kv_capacity_sequences=_cache_capacity(engine, load)[1] * ranks,
        prefill_share=prompt / latency if load.load == "static" else now.share,
        sequences=now.sequences,
        decode=now.decode,
        prefill=steps,
        prompt_time=prompt,
        prompt_service=computed_seconds(pools, steps),
        typical_prompt=load.typical_prompt,
        wait=wait,
        queued=queued,
        burst=(early, delay),
        run=run,
        lasting=lasting,
        stages=(prompts.layout.pp, engine.layout.pp),
        prompt_floor=pools.prompts.launch_floor(steps.steps),
        sent=sent,
        overhead=overhead,
        carried=now.typical,
        output_tokens=float(load.output_tokens),
        carried_prefill=now.carried,
        tokens_per_step=now.tokens_per_step,
        offered=offered,
        started=started,
        starts_together=load.load == "static",
        prompt_load=now.rate * now.service / prompts.attention_ranks,
        coupled_ranks=unevenly_loaded_ranks(engine),
        loading=pools.loading,
        prefix_hit=load.prefix_hit,
        joining=joining,
        prompts_alone=engine.prompts_alone,
    )


def _run_seconds(pools: Pools, now: Steady, run: FiniteRun | OpenRun | None, rest: float) -> float | None:
    """Seconds of a run whose requests take ``rest`` without their waits; None of other loads."""
    if isinstance(run, OpenRun):
        return run.seconds(rest)
    if run is None or pools.load.load != "closed":
        return None
    final = rest - (pools.load.output_tokens - 1) * (now.tpot - now.decode.total / now.tokens_per_step)
    return run.seconds(rest + run.queued + run.varied, final)


def _waits(
    pools: Pools, now: Steady, offered: float
) -> tuple[float, float, tuple[float, float], FiniteRun | OpenRun | None]:
    """The wait of a request for a place, its mean wait in all, what the median and the mean have beside that, and the
    run. The start of a run adds to both; in an open load the median is shorter.
    """
    load, queued = pools.load, _place_wait(pools, now, offered)
    if load.load == "static":
        return queued, queued, (0.0, 0.0), None
    if not load.requests:
        return queued, now.wait + queued, (_median_above_mean(pools, now), 0.0), None
    run = open_run(pools, now) if is_open_run(load) else finite_run(pools, now, offered, queued)
    median, mean = run.wait_at(0.5), run.mean
    least = min(now.wait + queued, median, mean)
    return queued, least, (median - least, mean - least), run


def _place_wait(pools: Pools, now: Steady, offered: float) -> float:
    """Seconds until a request has a place, without those in which it waits for its prompt or computes it."""
    load, places = pools.load, pools.limit * pools.decode.attention_ranks
    if load.load == "offline":
        return 0.0
    queued = queue_wait(offered, places, _steps_in_place(pools), now.tpot)
    if load.load == "static":
        return queued
    if pools.has_prefill_engines or now.sequences >= pools.limit or not now.rate:
        return max(0.0, queued - now.before_decode)
    return max(0.0, (offered - places) / now.rate - now.wait - now.loading)  # requests with a prompt have a place


def _median_above_mean(pools: Pools, now: Steady) -> float:
    """The median wait of a prompt less the mean one, in seconds: below zero in an open load of equal prompts.

    The median of a wait and of prompts that vary is nearer to that of the prompts and the mean wait.
    """
    busy = min(1.0, now.rate * now.service / pools.prompts.attention_ranks)
    if pools.load.load != "open" or pools.load.input_lengths is not None or not busy:
        return 0.0
    step = 0.0 if pools.has_prefill_engines else now.decode.total * -expm1(-now.sequences)
    return median_wait(now.wait, busy, step) - now.wait


def _steps_in_place(pools: Pools) -> float:
    """Steps for which a request takes a place: those in which it decodes, and one of its prompt, which takes none where
    the budget of a step is what limits the places.
    """
    load = pools.load
    apart = pools.has_prefill_engines or pools.decode.prompts_alone
    limited = not apart and pools.limit >= most_beside_prompts(load)
    return load.gaps if limited else float(load.output_tokens)


def _requests_in_flight(pools: Pools, steady: Steady, offered: float, latency: float) -> float:
    """Requests in flight on the whole plan: where engines keep up with an open load, those that arrive while one runs.

    Source: Little's law (Operations Research 9(3), 1961). Elsewhere they are ``offered``.
    """
    load, used = pools.load, steady.rate * steady.service / pools.prompts.attention_ranks
    kept_up = steady.sequences < pools.limit and used < constants.MOST_LOAD and not load.requests
    return load.request_rate * latency if load.load == "open" and load.request_rate and kept_up else offered


def _output_rate(pools: Pools, steady: Steady, offered: float, latency: float) -> float:
    """Output tokens per second of the plan; its engines run no more prompts than they have time for."""
    load = pools.load
    found = output_rate(offered, load.output_tokens, latency)
    if load.load == "static":
        return found
    each = steady.service if pools.has_prefill_engines else steady.carried / pools.decode.layout.pp
    return min(found, pools.prompts.attention_ranks / each * load.output_tokens) if each else found


def _steady_load(pools: Pools) -> tuple[float, Steady]:
    """Requests in flight on the whole plan, and the resulting steady state."""
    load, ranks = pools.load, pools.decode.attention_ranks
    if load.load == "static":
        offered = float(load.concurrency or 1)
        return offered, steady_state(pools, max(min(1.0, offered / ranks), min(pools.limit, offered / ranks)))
    if load.concurrency is not None:
        return float(load.concurrency), closed_loop_state(pools, float(load.concurrency))
    if load.request_rate is None:
        most = min(pools.limit, (load.requests or inf) / ranks)
        return most * ranks, placed_state(pools, most)
    if is_open_run(load):
        return _open_run_state(pools, load.request_rate, float(load.requests or 1))
    return _open_loop_state(pools, load.request_rate)


def _open_loop_state(pools: Pools, rate: float) -> tuple[float, Steady]:
    """Requests that a request rate keeps in flight, and the steady state with them, by fixed-point iteration."""
    load, ranks = pools.load, pools.decode.attention_ranks
    found = 1e-3
    now = steady_state(pools, found)
    for _ in range(ROUNDS):
        before, found = found, min(rate * load.gaps * now.tpot / ranks, 4 * pools.limit)
        taken = min(found, pools.limit)
        limited = pools.has_prefill_engines or found >= pools.limit
        now = placed_state(pools, taken) if limited else steady_state(pools, taken)
        if taken == pools.limit and pools.decode.prompts_alone:
            now = _filled_places(now, rate, ranks, load.gaps)
            found = min(rate * load.gaps * now.tpot / ranks, 4 * pools.limit)
            break
        if abs(found - before) < SETTLED * found:
            break
    return found * ranks + rate * (now.before_decode + now.outside), now


def is_open_run(load: Serving) -> bool:
    """Whether a stated number of requests arrive at a rate, on engines that also run their prompts."""
    return load.load == "open" and bool(load.requests) and load.prefill is None


def open_run(pools: Pools, now: Steady) -> OpenRun:
    """The run of the requests that an open load states."""
    load, ranks = pools.load, pools.decode.attention_ranks
    full = now if now.sequences >= pools.limit else steady_state(pools, pools.limit, full=True)
    turn = (full.prompt + load.gaps * full.tpot) / (pools.limit * ranks)
    return OpenRun(float(load.requests or 1), load.request_rate or 1.0, pools.limit * ranks, turn, now.wait)


def _open_run_state(pools: Pools, rate: float, requests: float) -> tuple[float, Steady]:
    """Requests in flight on the whole plan in a run of ``requests`` that come at a rate, as one of them meets them, and
    the steady state with them, by fixed-point iteration.
    """
    load, ranks, found = pools.load, pools.decode.attention_ranks, 1e-3
    now = steady_state(pools, found)
    for _ in range(ROUNDS):
        before, met = found, requests_amid_run(requests, rate, load.gaps * now.tpot) / ranks
        found = min(pools.limit, met)
        now = steady_state(pools, found)
        if abs(found - before) < SETTLED * found:
            break
    return found * ranks + now.rate * (now.before_decode + now.outside), now


def _filled_places(full: Steady, rate: float, ranks: int, gaps: float) -> Steady:
    """The state of engines all of whose places are taken, where prompts have steps of their own.

    Fewer steps of prompts stop its sequences than those of engines with free places, to which prompts come at any time.
    Where it would serve a request rate with fewer sequences, a token takes what Little's law gives with all of them.
    """
    tpot = full.sequences * ranks / (rate * gaps)
    return full._replace(tpot=max(full.tpot, tpot), rate=min(full.rate, rate))


def _static_batch_prompt(pools: Pools, steady: Steady) -> tuple[StepTime, float]:
    """The steps of the prompts of a static batch, and their seconds."""
    load, engine = pools.load, pools.decode
    fresh = load.input_tokens * (1 - load.prefix_hit)
    whole = engine.prefill(
        max(1.0, steady.sequences) * fresh, float(load.input_tokens), float(engine.layout.attention_dp)
    )
    return whole, prompt_seconds(engine, whole)


def finite_run(pools: Pools, steady: Steady, offered: float, queued: float) -> FiniteRun:
    """The run of the requests that a load states, where ``offered`` are in flight and ``queued`` seconds pass until one
    has a place in the steady state.
    """
    ranks, requests = pools.decode.attention_ranks, float(pools.load.requests or 1)
    flight, places = min(offered, requests), pools.limit * ranks
    service = busy = steady.service / pools.prompts.attention_ranks
    if flight >= requests:
        service = _starting_service(pools, min(flight, places))
    each = steady.carried / pools.decode.layout.pp / ranks
    turn = max(steady.full_token * pools.load.gaps / (steady.sequences * ranks), each) if steady.rate else service
    if pools.has_prefill_engines:
        turn = max(turn, busy)
    return FiniteRun(requests, flight, places, service, turn, queued, steady.wait, steady.before_decode)


def _starting_service(pools: Pools, together: float) -> float:
    """Seconds of the whole plan for each prompt of a run that starts at once, ``together`` of which have a place.

    Steps are full of prompts; where the same engine decodes, half of those requests do so beside them on average. In a
    run whose requests follow each other, those that started together end together, and come again in waves that a
    single prompt to a step stands for.
    """
    engine, load = pools.prompts, pools.load
    fresh, length = max(1.0, load.input_tokens * (1 - load.prefix_hit)), float(load.input_tokens)
    own = together / engine.attention_ranks
    drafted, beside = 1.0 + load.draft_tokens, NOTHING
    if not pools.has_prefill_engines and not engine.prompts_alone and own > 1:
        beside = Decoding(own / 2 / engine.layout.pp, length + load.output_tokens / 2, drafted)
    budget = (load.chunk_tokens or fresh) - beside.sequences * beside.tokens
    prompts = max(1.0, min(own, budget / fresh))
    step = engine.prefill(prompts * fresh, length, float(engine.layout.attention_dp), beside)
    return max(step.total, engine.launch_floor(step.steps)) / engine.layout.pp / prompts / engine.attention_ranks


def _used_accelerators(pools: Pools) -> float:
    engines = (pools.decode, pools.prompts) if pools.has_prefill_engines else (pools.decode,)
    return sum(each.replicas * each.accelerators for each in engines)


def _cache_bytes_per_token(engine: Engine) -> float:
    """Bytes of cache per token over the whole model, for any sharding."""
    return precision_width(engine.workload.kv_precision) * next_token_elements(engine.model, (engine.whole,))


def _highest_concurrency(pools: Pools) -> float | None:
    """Highest concurrency, queued requests included, at which all targets are met; that of a steady state.

    Without a target, the limit of the KV cache. Prefill engines that are always busy miss any TTFT target.
    """
    load, ranks = pools.load, pools.decode.attention_ranks
    if not load.targets:
        return pools.limit * ranks

    prompts = pools.prompts.attention_ranks
    steady = replace(load, concurrency=None, requests=None)  # any number of requests, not that of the plan
    other = pools._replace(load=steady)
    first = any(each.quantity in {"ttft", "end_to_end"} for each in load.targets)

    def excess(sequences: float) -> float:
        now = steady_state(other, max(1.0, sequences))
        if first and now.rate * now.service > prompts:
            return inf
        return target_excess(_times_at(other, max(1.0, sequences) * ranks, now), steady)

    most = largest_satisfying(excess, pools.limit)
    return steady_state(other, most).requests_in_flight(ranks, load.output_tokens) if most else 0.0
