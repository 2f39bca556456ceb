"""The steady state of a serving plan."""

from __future__ import annotations

from collections.abc import Callable
from math import exp, expm1, inf, sqrt
from typing import TYPE_CHECKING

from clusterspec.cluster.requests import Serving
from clusterspec.cost.formulas.compute import power
from clusterspec.cost.formulas.experts import prompts_on_fullest
from clusterspec.cost.formulas.serving import (
    bunched_requests,
    highest_load,
    prompt_time,
    prompt_wait,
    steps_wait,
    time_per_output_token,
    variation_wait,
    wave_load,
)
from clusterspec.cost.serving import constants
from clusterspec.cost.serving.constants import StepTime
from clusterspec.cost.serving.engine import CACHE, NOTHING, Decoding, Engine, unevenly_loaded_ranks
from clusterspec.cost.serving.quantiles import bisected
from clusterspec.records import NamedTuple

if TYPE_CHECKING:
    from clusterspec.cluster.sites import PoolLink

ROUNDS = 24
"""Bisection steps for the number of concurrently decoding requests."""
SHARED_ROUNDS = 8
"""Iterations of the prompts that begin in a step and of its seconds."""
LEAST_SHARE = 1e-9
"""The least share of steps with a prompt."""
CLOSE = 1e-3
"""Width of the last interval of that bisection over the number, in a closed loop."""
TAKEN = 0.01
"""The share of the places below which those of prompts do not change what a plan does."""
BUSY = inf
"""Excess of requests in flight of a plan whose prefill engines are always busy."""


class Pools(NamedTuple):
    """The decode engines, the prefill engines (the same ones, or a separate pool), and the load.

    ``limit`` is the maximum of sequences on one attention rank: that of its cache, which holds ``tokens``, or that of
    the software, ``sequences``. ``prompt_tokens`` is what the cache of a rank that runs prompts holds. Reading cached
    tokens from other memory takes a request ``loading`` seconds on average; ``transfer`` has the seconds in
    which the cache of a prompt occupies the link of a rank that sends it, and of one that receives it. ``link`` is that
    between the machines of prefill and decode engines, where these are two.
    """

    decode: Engine
    prompts: Engine
    load: Serving
    limit: float
    tokens: float
    sequences: float
    prompt_tokens: float = 0.0
    loading: float = 0.0
    transfer: tuple[float, float] = (0.0, 0.0)
    link: PoolLink | None = None

    @property
    def has_prefill_engines(self) -> bool:
        """Whether prompts have separate engines."""
        return self.prompts is not self.decode


class Steady(NamedTuple):
    """A steady state: a decode step, the steps and seconds of a prompt, and the resulting times.

    ``sequences`` of one attention rank decode concurrently; prompts of ``delaying`` of them delay each, those of
    ``typical`` the median one of a run. ``carried`` is the seconds of a prompt on the decode steps of the same engine,
    ``each_token`` of them in each gap of a request; ``share`` is the share of the engine's time for prompts.
    ``service`` is the seconds per prompt of an attention rank that runs prompts, ``wait`` the queueing time,
    ``loading`` the seconds to read cached tokens, ``rate`` the requests per second of the plan.
    """

    sequences: float
    typical: float
    delaying: float
    decode: StepTime
    prefill: StepTime
    prompt: float
    service: float
    carried: float
    tokens_per_step: float
    tpot: float
    each_token: float
    share: float
    rate: float
    wait: float
    loading: float

    @property
    def typical_token(self) -> float:
        """The time per output token of the median request of a run, in seconds."""
        return self.tpot + (self.typical - self.delaying) * self.each_token

    @property
    def full_token(self) -> float:
        """The time per output token beside the prompts of all sequences, in seconds."""
        return self.decode.total / self.tokens_per_step + self.sequences * self.each_token

    @property
    def before_decode(self) -> float:
        """Seconds of a request before it decodes: its wait, its cached tokens and its prompt."""
        return self.wait + self.loading + self.prompt

    def requests_in_flight(self, ranks: int, tokens: int) -> float:
        """Requests in flight on the whole plan, including those that wait or are in prefill."""
        return self.sequences * ranks + self.rate * self.before_decode


def steady_state(pools: Pools, sequences: float) -> Steady:
    """The steady state with ``sequences`` concurrent sequences on each attention rank."""
    engine, load = pools.decode, pools.load
    static = load.load == "static"
    context = load.input_tokens + load.output_tokens / 2
    met = min(pools.limit, max(0.0, sequences + _bunched_sequences(pools, sequences)))
    each = max(1.0, met / engine.layout.pp)
    drafted = 1.0 + load.draft_tokens
    few = max(1.0 / engine.layout.attention_dp, met / engine.layout.pp)
    decode = engine.decode(few, context, drafted)
    gained = 1 + load.draft_tokens * load.draft_acceptance
    fresh = load.input_tokens * (1 - load.prefix_hit)
    apart = pools.has_prefill_engines or static or engine.prompts_alone
    together = NOTHING if apart else Decoding(each, context, drafted)
    busy = float(engine.layout.attention_dp)
    if pools.has_prefill_engines:
        busy = _busy_ranks(pools, sequences, decode.total / gained)
    elif unevenly_loaded_ranks(engine) > 1:  # ranks that have a prompt beside that of another
        steps = max(1.0, fresh / (load.chunk_tokens or fresh or 1.0))
        busy = 1.0 + (busy - 1.0) * -expm1(-each * gained / load.gaps * steps)
    prefill = pools.prompts.prefill(fresh, float(load.input_tokens), busy, together)
    prompt = prompt_seconds(pools.prompts, prefill)
    carried = (
        0.0
        if pools.has_prefill_engines or static
        else _carried_prefill(pools, (each, context), gained, (decode, prefill))
    )
    stages = float(engine.layout.pp)
    each_token = carried / stages / load.gaps
    typical, delaying = (
        _delaying_sequences(pools, met, decode.total / gained, each_token, part) for part in prompts_of_run(pools)
    )
    tpot = time_per_output_token(decode.total, delaying, load.gaps, carried, tokens_per_step=gained, stages=stages)
    share = sequences / load.gaps * carried / stages / tpot
    rate = sequences * engine.attention_ranks / load.gaps / tpot
    service = _service_seconds(pools, fresh, prefill)
    wait = 0.0
    if pools.has_prefill_engines and load.load in {"closed", "open"}:
        wait = _separate_prompt_wait(pools, rate, (prompt / pools.prompts.layout.pp, service))
    elif load.load in {"closed", "open"}:
        prompts = max(1.0, sequences / engine.layout.pp) * gained / load.gaps
        busy = 1 - max(0.0, 1 - rate * service / engine.attention_ranks) * exp(-sequences)
        wait = _prompt_wait(pools, (decode, prefill), prompts, carried, (each * drafted, busy))
    loading = pools.loading
    return Steady(
        sequences,
        typical,
        delaying,
        decode,
        prefill,
        prompt,
        service,
        carried,
        gained,
        tpot,
        each_token,
        share,
        rate,
        wait,
        loading,
    )


def _bunched_sequences(pools: Pools, sequences: float) -> float:
    """The sequences of a rank beside an average one that an open load has for its arrivals in bursts."""
    load, ranks = pools.load, pools.decode.attention_ranks
    if load.load != "open" or load.arrival_cv == 1 or load.output_tokens == 1:
        return 0.0
    return bunched_requests(sequences * ranks, load.arrival_cv**2 - 1) / ranks


def _delaying_sequences(pools: Pools, sequences: float, step: float, prompt: float, part: float) -> float:
    """Sequences of a rank whose prompts delay each output token; ``step`` and ``prompt`` are seconds of one token and
    of the prompt that each output token brings.

    In a closed loop, or where requests always wait, a request decodes beside the prompts of the others alone. Its own
    takes the share ``load`` of the engine that those of all take, instead of all of it: of s sequences, s - (1 - load)
    delay it, where the load is s ``prompt`` over the time per token. In a run a request decodes beside the share
    ``part`` of the prompts.
    """
    load, ranks = pools.load, unevenly_loaded_ranks(pools.decode)
    if (load.load != "offline" and (load.concurrency is None or load.load != "closed")) or not prompt:
        return sequences
    prompt *= part
    least = step + prompt * (sequences - 1 / ranks)
    token = (least + sqrt(least * least + 4 * prompt * prompt * sequences / ranks)) / 2
    return part * max(0.0, (token - step) / prompt)


def prompts_of_run(pools: Pools) -> tuple[float, float]:
    """The prompts beside which a request decodes, over those of a steady state: the median and the mean of a run.

    Of the last requests that run together each decodes beside the prompts after its own alone, so that the share is
    uniform among them; all others decode beside as many as in a steady state. Where prompts have steps of
    their own, equal requests that are sent at once start and end together, in waves.
    """
    load = pools.load
    if load.concurrency is None or load.load != "closed" or not load.requests:
        return 1.0, 1.0
    first = min(float(load.concurrency), pools.limit * pools.decode.attention_ranks)
    last = first / max(load.requests, load.concurrency)
    if pools.decode.prompts_alone and load.requests <= load.concurrency and load.output_lengths is None:
        return 0.5, 0.5
    return min(1.0, 0.5 / last), 1 - last / 2


def most_beside_prompts(load: Serving) -> float:
    """Sequences that one attention rank decodes while the rest of each chunk keeps up with the prompts that follow.

    A step has at most ``chunk_tokens`` tokens, those of decoding sequences included: with s sequences, s / gaps
    prompts begin in a step, so that s (drafted + gained prompt / gaps) = chunk. Infinite without chunks.

    Source: Agrawal et al., Sarathi-Serve, arXiv 2403.02310, section 4.3: the budget of tokens of a step.
    """
    if load.chunk_tokens is None or load.load not in {"closed", "open"}:
        return inf
    gained = 1 + load.draft_tokens * load.draft_acceptance
    fresh = load.input_tokens * (1 - load.prefix_hit)
    return max(1.0, load.chunk_tokens / (1.0 + load.draft_tokens + gained * fresh / load.gaps))


def prompt_seconds(engine: Engine, prefill: StepTime) -> float:
    """Seconds of the steps of one prompt, which the stages of a pipeline process in succession."""
    floor, each = engine.launch_floor(prefill.steps), prefill.total / prefill.steps
    return prompt_time(prefill.steps, each, floor, float(engine.layout.pp))


def _carried_prefill(
    pools: Pools, sequences: tuple[float, float], gained: float, steps: tuple[StepTime, StepTime]
) -> float:
    """Seconds that one prompt adds to the decode steps of its engine.

    ``sequences`` holds the sequences of a step and their context in tokens; each gains ``gained`` tokens per step.
    ``steps`` holds a decode step and the steps of one prompt. Where several sequences end in one step, as many prompts
    share the next one. Attention replicas wait for the one with the most prompts in every step.
    """
    engine, load = pools.decode, pools.load
    (each, context), (decode, prefill) = sequences, steps
    prompts = each * gained / load.gaps
    if engine.prompts_alone:
        return _prompt_alone(pools, prompts)
    ranks = unevenly_loaded_ranks(engine)
    if prompts <= 1 and ranks == 1:
        added = prefill.device - prefill.steps * decode.device
        return max(0.0, added - _shared_reads(pools, each, prompts, steps))
    if ranks > 1 and prefill.steps > 1:  # chunks of different ranks share steps
        chunk = max(0.0, prefill.device / prefill.steps - decode.device)
        return chunk * -expm1(-prompts * prefill.steps * ranks) / prompts
    affected = 1 - exp(-prompts * ranks) if ranks > 1 else 1.0
    most = prompts_on_fullest(prompts, ranks) / affected
    if ranks > 1:  # a step has no more prompts than its budget; the others come with those of other ranks in the next
        most = max(prompts, min(most, prompts_per_step(pools)))
    busy = float(engine.layout.attention_dp) / ranks * max(1.0, ranks * prompts / affected / most)
    fresh, length = load.input_tokens * (1 - load.prefix_hit), float(load.input_tokens)
    beside = Decoding(each, context, 1.0 + load.draft_tokens)
    many = engine.prefill(most * fresh, length, busy, beside)
    return max(0.0, many.device - many.steps * decode.device) * affected / prompts


def _prompt_alone(pools: Pools, prompts: float) -> float:
    """Seconds that a prompt adds where steps with prompts hold no sequences that decode: those of such steps, which the
    host may take longer to launch than the device to run.

    ``prompts`` begin in a step on average. Those that follow requests which end in one step share the next one.
    """
    engine, load = pools.decode, pools.load
    together = min(prompts_per_step(pools), prompts / -expm1(-prompts) if prompts else 1.0)
    fresh = load.input_tokens * (1 - load.prefix_hit)
    step = engine.prefill(together * fresh, float(load.input_tokens), 1.0)
    return max(step.total, engine.launch_floor(step.steps)) / together


def _shared_reads(pools: Pools, each: float, prompts: float, steps: tuple[StepTime, StepTime]) -> float:
    """Seconds of repeated reads of the cache that a prompt of several chunks does not add: the next prompt fills the
    rest of its last chunk where one comes in time.

    ``prompts`` begin in a step beside ``each`` sequences; ``steps`` holds a decode step and those of one prompt.
    """
    load, (decode, prefill) = pools.load, steps
    if prefill.steps == 1 or not load.chunk_tokens or pools.decode.reads_beside_prompts == 1:
        return 0.0
    fresh = load.input_tokens * (1 - load.prefix_hit)
    chunks = fresh / max(1.0, load.chunk_tokens - each * (1.0 + load.draft_tokens))
    repeated, once = (sum(part.seconds for part in step.parts if part.name == CACHE) for step in (prefill, decode))
    return (prefill.steps - chunks) * min(1.0, prompts * chunks) * max(0.0, repeated - once)


def prompts_per_step(pools: Pools, taken: float = 0.0) -> float:
    """Whole prompts that the budget of tokens of one step holds beside ``taken`` ones; one where there is no budget."""
    load = pools.load
    fresh = max(1.0, load.input_tokens * (1 - load.prefix_hit))
    return max(1.0, ((load.chunk_tokens or fresh) - taken) // fresh)


def _prompt_wait(
    pools: Pools, steps: tuple[StepTime, StepTime], prompts: float, carried: float, load_of_rank: tuple[float, float]
) -> float:
    """Seconds of a prompt on an engine that also decodes: the running step, prompts before it and in the same step.

    ``steps`` holds a decode step and the steps of one prompt; ``prompts`` begin in each step of a rank and lengthen it
    by ``carried`` seconds each. A prompt starts with a step. As many as fit the budget of a step start together, the
    others wait for the next one.

    In a closed loop a request follows one that ended with a step, whatever that step took, and reaches the engine so
    much later as a request takes outside of it. A request of an open load waits for nothing where it finds the rank
    idle: ``load_of_rank`` has the tokens that a step decodes, and the share of the time with a prompt or any of a
    Poisson number of sequences.
    """
    decoded, busy = load_of_rank
    if pools.decode.prompts_alone and pools.load.concurrency is not None:
        return _wait_before_steps_of_prompts(pools, steps[0].total, prompts, carried)
    decoded = 0.0 if pools.decode.prompts_alone else decoded
    engine, load, (decode, prefill) = pools.decode, pools.load, steps
    ranks, stages = unevenly_loaded_ranks(engine), float(engine.layout.pp)
    together, chunks = prompts_per_step(pools, decoded), 1.0
    if prefill.steps > 1 and load.chunk_tokens:  # the next prompt fills the rest of the last chunk
        chunks = load.input_tokens * (1 - load.prefix_hit) / max(1.0, load.chunk_tokens - decoded)
    beginning = 1 - exp(-prompts * ranks) if ranks > 1 or together > 1 else prompts
    mixed = max(LEAST_SHARE, min(1.0, beginning * chunks) if ranks == 1 else -expm1(-prompts * ranks * chunks))
    plain, longer = decode.total, decode.total + prompts * carried / stages / mixed
    mean = (1 - mixed) * plain + mixed * longer
    used = prompts * chunks / together  # of the steps; of the time, where more or longer steps have prompts, below
    beside = min(prompts, together - 1) * max(0.0, prefill.device - prefill.steps * decode.device)
    if load.concurrency is None:
        others, most = busy if load.load == "open" else 1.0, constants.MOST_LOAD
        used *= longer / mean
        running = ((1 - mixed) * plain * plain + mixed * longer * longer) / (2 * mean)
    else:
        late = engine.habits.request
        running = (1 - mixed) * max(plain / 2, plain - late) + mixed * max(longer / 2, longer - late)
        others = (load.concurrency - 1) / load.concurrency
        most = highest_load(max(1.0, load.concurrency / engine.attention_ranks))
    used = min(used * others, most)
    running += used * (chunks - 1) * longer / 2
    found = others * (running + beside) + steps_wait(used, together, running * others)
    if load.concurrency is None:
        each = plain * chunks / together + carried / stages
        return found + _variation_wait(pools, min(most, others * prompts * each / mean), each)
    if ranks > 1:
        return found
    ahead = max(0.0, load.concurrency / engine.attention_ranks - 1)  # no other requests can be before it
    return min(found, plain + ahead * prompt_seconds(engine, prefill))


def _wait_before_steps_of_prompts(pools: Pools, plain: float, prompts: float, carried: float) -> float:
    """Seconds of a prompt of a closed loop where prompts have steps of their own, which go before those that decode.

    ``prompts`` requests end in a step that decodes, of ``plain`` seconds, on average, and the prompts that follow them
    run together, ``carried`` seconds each. They reach the engine when it has begun its next step: one that decodes, or,
    where it decoded before that one too, one with the prompts of the requests that had ended then. Prompts beyond the
    budget of a step run in several.
    """
    load, late = pools.load, pools.decode.habits.request
    ended = -expm1(-prompts)
    if not ended or load.concurrency is None:
        return 0.0
    group = prompts / ended * carried
    waiting = ended / (1 + ended)
    running = (1 - waiting) * max(plain / 2, plain - late) + waiting * max(group / 2, group - late)
    beside = min(prompts, (prompts + prompts_per_step(pools) - 1) / 2) * carried
    return (load.concurrency - 1) / load.concurrency * (running + beside)


def _variation_wait(pools: Pools, used: float, service: float) -> float:
    """The wait of a prompt of an open load that Poisson arrivals of equal prompts do not have; zero in a closed loop.

    The requests of a cluster are spread over the ranks that run prompts.
    """
    load = pools.load
    if load.concurrency is not None:
        return 0.0
    bunching = (load.arrival_cv**2 - 1) / pools.prompts.attention_ranks
    spread = load.input_lengths.variation if load.input_lengths else 0.0
    if not bunching and not spread:
        return 0.0
    used = max(LEAST_SHARE, used)
    behind = max(0.0, min(prompts_per_step(pools) - 1, bunching * power(used, 1 / 3))) / 2  # in the same step
    return variation_wait(used, service, bunching, spread) + behind * service


def _separate_prompt_wait(pools: Pools, rate: float, each: tuple[float, float]) -> float:
    """Queueing time of a prompt on engines of its own in seconds: the running step, and the prompts before it.

    ``rate`` prompts a second arrive; ``each`` has the seconds of a single prompt, and of one in a batched step. A
    request of a closed loop waits for the other requests alone (the arrival theorem of Reiser and Lavenberg, J. ACM
    27(2), 1980), and in a finite run its prompts arrive in waves.
    """
    prompt, service = each
    used = rate * service / pools.prompts.attention_ranks
    busy, longer = (min(1.0, used * prompt / service) if service else 0.0), 0.0
    if unevenly_loaded_ranks(pools.prompts) > 1:  # a step ends on all ranks of an engine at once
        step = _shared_step_seconds(pools, rate, prompt)
        busy = 1 - (1 - min(1.0, busy * step / prompt)) ** unevenly_loaded_ranks(pools.prompts)
        prompt, longer = step, step - prompt
    if pools.load.requests:
        used, busy = wave_load(used, constants.WAVE.value), wave_load(busy, constants.WAVE.value)
    requests = pools.load.concurrency
    if requests is None:
        used = min(used, constants.MOST_LOAD)
        return longer + prompt_wait(used, service, busy, prompt) + _variation_wait(pools, used, service)
    others = (requests - 1) / requests
    most = highest_load(max(1.0, requests / pools.prompts.attention_ranks))
    return longer * others + prompt_wait(min(used * others, most), service, busy * others, prompt)


def _shared_step_seconds(pools: Pools, rate: float, alone: float) -> float:
    """Seconds of a step of a prefill engine whose attention ranks wait for the one with the most prompts.

    ``rate`` prompts a second arrive at all engines, and one takes ``alone`` seconds. Those that arrive in a step run in
    the next one. A router that counts the requests of each rank, the running ones included, sends the new ones to ranks
    with few of them, which then have up to twice the mean.
    """
    engine, load = pools.prompts, pools.load
    ranks = engine.layout.attention_dp
    fresh, length = load.input_tokens * (1 - load.prefix_hit), float(load.input_tokens)
    if fresh > (load.chunk_tokens or fresh):
        return alone
    found = engine.prefill(prompts_per_step(pools) * fresh, length, float(ranks)).total
    for _ in range(SHARED_ROUNDS):  # from full steps: where both full and short ones last, fluctuations fill them
        mean = max(LEAST_SHARE, rate / engine.attention_ranks * found)
        drawn = prompts_on_fullest(mean, ranks) / -expm1(-mean * ranks)
        most = max(1.0, mean, min(prompts_per_step(pools), drawn, 2 * mean))
        before, found = found, engine.prefill(most * fresh, length, min(ranks, max(1.0, ranks * mean / most))).total
        if abs(found - before) < 1e-2 * before:
            break
    return max(alone, found)


def _busy_ranks(pools: Pools, sequences: float, tpot: float) -> float:
    """Attention ranks of one engine that are busy with prefill at this rate, one prompt per rank."""
    engine, load, prompts = pools.decode, pools.load, pools.prompts
    ranks = prompts.layout.attention_dp
    if ranks == 1:
        return 1.0
    rate = sequences * engine.attention_ranks / load.gaps / tpot
    alone = prompts.prefill(float(load.input_tokens), float(load.input_tokens), float(ranks)).total
    return min(float(ranks), 1.0 + rate / prompts.replicas * alone * (ranks - 1) / ranks)


def _service_seconds(pools: Pools, fresh: float, prefill: StepTime) -> float:
    """Seconds of an attention rank per prompt on each stage; a chunk holds as many whole prompts as fit.

    On separate engines no less than the seconds in which the links, of those that send or of those that receive, are
    busy with its cache.
    """
    stages, together = pools.prompts.layout.pp, prompts_per_step(pools)
    launched = pools.prompts.launch_floor(prefill.steps) / together
    computed = max(prefill.device if together > 1 else prefill.total, launched) / stages
    sending, receiving = pools.transfer
    return max(computed, sending, receiving * pools.prompts.attention_ranks / pools.decode.attention_ranks)


def placed_state(pools: Pools, places: float) -> Steady:
    """The steady state with ``places`` for sequences on each attention rank, all of them taken.

    A request has its place while its prompt is computed, too, except where prompts have separate engines, whose time
    then limits how many sequences decode, and where the budget of tokens of a step is what limits the places.
    """
    found, load = steady_state(pools, places), pools.load
    if load.load == "static" or (not pools.has_prefill_engines and pools.limit >= most_beside_prompts(load)):
        return found
    ranks = pools.prompts.attention_ranks

    def excess(steady: Steady) -> float:
        if pools.has_prefill_engines:
            return steady.rate * steady.service - ranks
        return steady.sequences + steady.rate * steady.prompt / ranks - places

    most = excess(found)
    if most <= TAKEN * places:
        return found
    low = (1e-6 * places, -float(ranks) if pools.has_prefill_engines else -places)
    found_at = bisected(lambda each: excess(steady_state(pools, each)), low, (places, most), ROUNDS, CLOSE)[0]
    return steady_state(pools, found_at)


def closed_loop_state(pools: Pools, requests: float) -> Steady:
    """The steady state with ``requests`` in flight on the whole plan; those that do not fit wait.

    Where prompts limit the loop, the requests that do not decode wait for their prompt.
    """
    ranks = pools.decode.attention_ranks
    capacity = pools.prompts.attention_ranks

    def excess(steady: Steady) -> float:
        if pools.has_prefill_engines and steady.rate * steady.service > capacity:
            return BUSY
        return steady.requests_in_flight(ranks, pools.load.output_tokens) - requests

    top = min(pools.limit, requests / ranks)
    found = steady_state(pools, top)
    most = excess(found)
    if most <= 0:
        return placed_state(pools, top)
    low, high = bisected(
        lambda sequences: excess(steady_state(pools, sequences)), (1e-6 * top, -requests), (top, most), ROUNDS, CLOSE
    )
    found = steady_state(pools, low)
    if not pools.has_prefill_engines or excess(steady_state(pools, high)) < BUSY:
        return found
    left = requests - found.requests_in_flight(ranks, pools.load.output_tokens)
    return found._replace(wait=found.wait + max(0.0, left) / found.rate)


def largest_satisfying(excess: Callable[[float], float], limit: float) -> float:
    """The largest number of sequences up to ``limit`` with an ``excess`` of at most 0; 0 if one sequence has more."""
    least = excess(1.0)
    if least > 0:
        return 0.0
    most = excess(limit)
    return bisected(excess, (1.0, least), (limit, most), ROUNDS)[0] if most > 0 else limit
