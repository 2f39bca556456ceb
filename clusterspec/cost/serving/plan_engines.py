"""The engines of a serving plan, the number of requests that fit their caches, and the links between engines."""

from __future__ import annotations

from math import ceil, floor, inf, sqrt

from clusterspec.cluster.model import Assumption, Design
from clusterspec.cluster.requests import Engines, Serving
from clusterspec.cluster.serving import KEY, RAISED
from clusterspec.cluster.variation import layout_of_engines, with_values
from clusterspec.cost.drafters import drafter_bytes, drafter_cache_bytes
from clusterspec.cost.formulas.experts import received_bytes
from clusterspec.cost.formulas.memory import tensor_bytes
from clusterspec.cost.memory import memory_line
from clusterspec.cost.memory.serving_states import received_copies, sampled_logits_sizes
from clusterspec.cost.mixers import next_token_bytes
from clusterspec.cost.serving import constants
from clusterspec.cost.serving.admission import kept_share, started_sequences
from clusterspec.cost.serving.engine import Engine
from clusterspec.cost.serving.handoff import link_seconds, linked_transfers, side_transfers, slower_transfer
from clusterspec.cost.serving.pools import Pools
from clusterspec.cost.serving.quantiles import decoded_tokens
from clusterspec.records import replace
from clusterspec.standard import Recent

TYPE_CHECKING = False
if TYPE_CHECKING:
    from clusterspec.cluster.sites import PoolLink

MOST_SEQUENCES = 1024
"""Limit of sequences per step of an attention rank, where the spec states none: the default of vLLM since 0.9."""
SPARE = 3.0
"""Standard deviations of the requests in flight of random arrivals, the root of their mean, for which operators reserve
cache above the mean: one request in a thousand then finds the cache full.
"""


_RECENT: Recent[tuple[Design, Pools | None]] = Recent(2)
"""The engines of recent designs: memory and times of a plan ask for the same."""


def bare_pools(design: Design) -> Pools | None:
    """The engines of a serving plan and their load, without the hits of sessions."""
    known = next((each for each in _RECENT if each[0] is design), None)
    return (known or _RECENT.keep((design, _new_pools(design))))[1]


def _new_pools(design: Design) -> Pools | None:
    """The engines of a plan that was not asked for lately."""
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
    pools = _with_cache_for_rate(_pools_of_engines(engine, prompts, load))
    if not pools.has_prefill_engines:
        return pools
    return _pools_on_fabric(pools) if link is None else pools_with_link(pools, link)


def _pools_of_engines(engine: Engine, prompts: Engine, load: Serving) -> Pools:
    """Engines with the requests and tokens that fit their caches, in the share of the memory that the load needs."""
    load = load_with_share(engine, load)
    tokens, requests = cache_capacity(engine, load)
    most = min(float(load.max_sequences or _sequence_limit(engine)), _most_states(engine, load))
    held = tokens if prompts is engine else cache_capacity(prompts, load)[0]
    started = min(requests, _started_sequences(engine, load, tokens))
    places = min(float(floor(started * (1 + 1e-12))), most)
    found = Pools(engine, prompts, load, places, tokens, most, held)
    if prompts is not engine or engine.separates_prompts:
        return found
    return found._replace(limit=min(places, found.most_sequences_with_prompts))


def _started_sequences(engine: Engine, load: Serving, tokens: float) -> float:
    """Sequences of an attention rank that its scheduler starts in a cache of ``tokens`` after many decode steps;
    infinite if it keeps no space for output to come.
    """
    if load.load == "static" or not load.own_output:
        return inf
    return started_sequences(load, tokens, kept_share(engine.layout.attention_dp).least)


def pools_with_load(pools: Pools, load: Serving) -> Pools:
    """The engines with another load, and with the caches that they raise for it."""
    if not load.raised:
        return pools._replace(load=load)
    own = _with_cache_for_rate(_pools_of_engines(pools.decode, pools.prompts, replace(load, kept=0)))
    return pools._replace(load=own.load, limit=own.limit, tokens=own.tokens, prompt_tokens=own.prompt_tokens)


def _with_cache_for_rate(pools: Pools) -> Pools:
    """Engines whose memory fraction rises where a request rate keeps more requests in flight than their caches hold."""
    load, ranks = pools.load, pools.decode.attention_ranks
    if not load.raised or load.request_rate is None:
        return pools
    widest = _pools_of_engines(pools.decode, pools.prompts, replace(load, kept=MOST_SEQUENCES * ranks))
    if widest.limit <= pools.limit:
        return pools
    from clusterspec.cost.serving.loads import sequences_kept  # few caches are too small for their load

    mean = sequences_kept(widest)
    needed = ceil((mean + SPARE * sqrt(mean)) * ranks)
    found = _pools_of_engines(pools.decode, pools.prompts, replace(load, kept=needed))
    if not load.own_output or found.limit * ranks >= needed:
        return found
    beyond = ceil(needed * needed / (found.limit * ranks))  # the scheduler starts fewer than the cache holds
    return _pools_of_engines(pools.decode, pools.prompts, replace(load, kept=beyond))


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
    nodes = (design.layout.nodes, other.cluster.nodes_of_ranks(layout.ranks))
    link = link_to_pool(design, pool, other.cluster, nodes)
    return (engine, link) if engine is not None and link is not None and link.total > 0 else None


def pools_with_link(pools: Pools, link: PoolLink) -> Pools:
    """Engines on two machines, with the seconds for which a cache occupies the link of a rank and the shared link."""
    prompts, answers, tokens = pools.prompts, pools.decode, float(pools.load.input_tokens)
    clusters, layouts = (prompts.cluster, answers.cluster), (prompts.layout, answers.layout)
    sides = linked_transfers(clusters, answers.workload, layouts, tokens, link)
    shared = link_seconds(answers.workload, prompts.layout, tokens, link) * prompts.attention_ranks
    seconds = max(sides[0].seconds, shared), sides[1].seconds
    return pools._replace(transfer=seconds, sent=slower_transfer(sides), link=link)


def cache_capacity(engine: Engine, load: Serving) -> tuple[float, float]:
    """Tokens and requests that fit the cache of one attention rank."""
    held = _cached_tokens_per_request(load)
    each = engine.reserved_bytes(held) / engine.layout.pp
    free = cache_space(_rank_memory(engine), _uncached_bytes(engine, load), load)
    if engine.state_pool and each:
        return _capacity_of_pools(engine, held, free)
    requests = max(1.0, free / each) if each else float(MOST_SEQUENCES)
    return requests * held, requests


def _cached_tokens_per_request(load: Serving) -> float:
    """Tokens of cache that a request in flight takes: all of its tokens if the cache is reserved to its end, else the
    mean.
    """
    entire = load.load == "static" or load.whole_requests
    return load.input_tokens + decoded_tokens(load) * (2.0 if entire else 1.0)


def _rank_memory(engine: Engine) -> float:
    """Bytes of the memory of one rank."""
    memory = engine.cluster.accelerator.memory
    return memory.value / engine.cluster.ranks_per_accelerator if memory else 0.0


def _uncached_bytes(engine: Engine, load: Serving) -> float:
    """Bytes of the weights and buffers of one rank."""
    weights = engine.weight_bytes / engine.layout.pp + drafter_bytes(engine.workload, engine.layout)
    return weights + max(constants.RESERVED.value, _sampling_bytes(engine)) + _received_bytes(engine, load)


def load_with_share(engine: Engine, load: Serving) -> Serving:
    """The load with the share of the memory that its engines are started with: a default rises where the requests in
    flight need it.
    """
    memory = _rank_memory(engine)
    if load.raised_from is None or load.of_free or not memory:
        return load
    each = engine.reserved_bytes(_cached_tokens_per_request(load)) / engine.layout.pp
    wanted = each * ceil((load.concurrency or load.kept) / engine.attention_ranks)
    needed = (_uncached_bytes(engine, load) + wanted) / memory
    return replace(load, memory_fraction=raised_fraction(needed, load.raised_from))


def raised_fraction(needed: float, default: float) -> float:
    """The share of the memory with which engines start if weights, buffers and cache need the share ``needed``: the
    ``default``, or more in whole percent, up to `HIGHEST_FRACTION`.

    >>> raised_fraction(0.8, 0.9), raised_fraction(0.921, 0.9), raised_fraction(1.2, 0.9)
    (0.9, 0.93, 0.95)
    """
    return max(default, min(ceil(100 * needed * (1 - 1e-12)) / 100, constants.HIGHEST_FRACTION))


def design_with_share(design: Design) -> Design:
    """The design with the memory share with which its engines start, as value and as assumption."""
    load = design.workload.serving if design.workload is not None else None
    if load is None or load.raised_from is None or load.of_free:
        return design
    pools = bare_pools(design)
    if pools is None or pools.load.memory_fraction == load.memory_fraction:
        return design
    share = pools.load.memory_fraction
    listed = tuple(_with_share(each, share) for each in design.assumptions)
    found = with_values(design, {("workload", "serving", "memory_fraction"): share, ("assumptions",): listed})
    _RECENT.keep((found, pools))  # they have the share
    return found


def _with_share(assumption: Assumption, share: float) -> Assumption:
    """The assumption of the default share of the memory with the raised ``share``; any other as it is."""
    key, default, why = assumption
    if key != f"{KEY}.memory_fraction":
        return assumption
    named, most = why.removesuffix(f", {RAISED}"), constants.HIGHEST_FRACTION
    return key, share, f"raised from {default:g}, {named}, for the requests in flight, up to {most:g}"


def _capacity_of_pools(engine: Engine, held: float, free: float) -> tuple[float, float]:
    """Tokens, and requests of ``held`` tokens, that fit ``free`` bytes of an attention rank if recurrent states and
    key-value pairs have separate pools: the pool that fills first limits the requests.
    """
    from clusterspec.cost.serving.parts import recurrent as recurrent_parts  # few models

    pool = engine.state_pool
    state = recurrent_parts.state_bytes(engine) / engine.layout.pp
    kept = engine.reserved_bytes(held) / engine.layout.pp - state
    by_tokens = free / (1 + pool) / kept if kept > 0 else inf
    requests = max(1.0, min(_states_in(engine, free), by_tokens))
    return (max(requests, by_tokens) if kept > 0 else requests) * held, requests


def _most_states(engine: Engine, load: Serving) -> float:
    """The number of sequences of an attention rank whose recurrent states fit their separate pool, at least one;
    infinite without such a pool. A state is as large for a short sequence as for a long one.
    """
    if not engine.state_pool or not engine.reserved_bytes(_cached_tokens_per_request(load)):
        return inf
    free = cache_space(_rank_memory(engine), _uncached_bytes(engine, load), load)
    return max(1.0, floor(_states_in(engine, free) * (1 + 1e-12)))


def _states_in(engine: Engine, free: float) -> float:
    """Sequences whose recurrent states fit their share of ``free`` bytes of an attention rank."""
    from clusterspec.cost.serving.parts import recurrent as recurrent_parts  # few models

    pool, state = engine.state_pool, recurrent_parts.state_bytes(engine) / engine.layout.pp
    return free * pool / (1 + pool) / (engine.state_slots * state)


def _sampling_bytes(engine: Engine) -> float:
    """Bytes of a rank outside its weights and cache while it samples all sequences that it may run; 0 if the software
    reserves no memory for that.
    """
    found = sampled_logits_sizes(engine.workload)
    sampling = memory_line("sampling", tensor_bytes, "", **found).value if found else 0.0
    return sampling + constants.CONTEXT.value if sampling else 0.0


def _received_bytes(engine: Engine, load: Serving) -> float:
    """Bytes that a rank reserves for tokens of other attention replicas in a step of prompts."""
    found = received_copies(engine.workload, engine.layout, load.chunk_tokens)
    return memory_line("received copies", received_bytes, "", **found).value if found else 0.0


def _sequence_limit(engine: Engine) -> int:
    """The software's limit of sequences per step, where the spec states none."""
    stack = engine.layout.stack
    if stack is None or stack.serving is None:
        return MOST_SEQUENCES
    return stack.serving.defaults_for(engine.cluster.accelerator).max_sequences or MOST_SEQUENCES


def cache_space(memory: float, taken: float, load: Serving) -> float:
    """Bytes that a rank's ``memory`` leaves for its cache after ``taken`` bytes."""
    if load.of_free:
        return max(0.0, memory - taken) * load.memory_fraction
    return max(0.0, memory * load.memory_fraction - taken)


def used_accelerators(pools: Pools) -> float:
    """The accelerators of all engines of a plan."""
    engines = (pools.decode, pools.prompts) if pools.has_prefill_engines else (pools.decode,)
    return sum(each.replicas * each.accelerators for each in engines)


def cache_bytes_per_token(engine: Engine) -> float:
    """Bytes of cache per token over the whole model, for any sharding."""
    reserved = engine.layout.stack.window_tokens if engine.layout.stack is not None else 0.0
    drafted = drafter_cache_bytes(engine.workload, 1.0, 1)
    return next_token_bytes(engine.model, (engine.whole,), engine.workload.kv_precision, reserved) + drafted


def is_in_one_domain(engine: Engine) -> bool:
    """Whether the ranks of an engine share a scale-up domain."""
    ranks = engine.ranks * engine.layout.pp
    links = constants.rank_links(engine.cluster, ranks) if ranks > 1 else None
    return links is None or links.domains == 1
