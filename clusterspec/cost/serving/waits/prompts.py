"""Waits of a prompt: for the running step, for earlier prompts, and for other prompts in the same step."""

from __future__ import annotations

from math import ceil, exp, expm1

from clusterspec.cluster.requests import Serving
from clusterspec.cost.formulas.compute import power
from clusterspec.cost.formulas.queues import (
    highest_load,
    prompt_steps,
    steps_wait,
    variation_wait,
)
from clusterspec.cost.serving import constants
from clusterspec.cost.serving.constants import StepTime
from clusterspec.cost.serving.parts.step import unevenly_loaded_ranks
from clusterspec.cost.serving.pools import Pools, prompt_seconds, prompts_of_step, prompts_per_step
from clusterspec.cost.serving.step_times import prompt_step
from clusterspec.cost.serving.waits.held_prompts import steps_until_release, wait_until_release
from clusterspec.cost.serving.waits.running_steps import rest_after
from clusterspec.records import NamedTuple

SHARED_ROUNDS = 8
"""Iterations of the prompts that begin in a step and of its seconds."""
LEAST_SHARE = 1e-9
"""The least share of steps with a prompt."""


def mixed_prompt_wait(
    pools: Pools, steps: tuple[StepTime, StepTime], prompts: float, carried: float, load_of_rank: tuple[float, float]
) -> float:
    """Seconds that a prompt waits on an engine that also decodes: for the running step, earlier prompts and prompts in
    the same step.

    ``steps`` holds a decode step and the steps of one prompt, through all stages of a pipeline. ``prompts`` begin in
    each step of a rank, which is that of one batch on one stage; each lengthens the steps of all stages together by
    ``carried`` seconds. Prompts start at step boundaries: as many as the token budget allows start together, the rest
    wait for the next step.

    In a closed loop a request is sent when another one ends with a step, and reaches the engine after the overhead
    outside the engine: before steps of prompts alone, or amid them where other batches of a pipeline decode. In an open
    load a request that finds the rank idle waits for nothing. ``load_of_rank`` holds the tokens that one step decodes,
    and the share of the time in which the rank is busy.
    """
    (decoded, busy), stages = load_of_rank, pools.decode.layout.pp
    if pools.decode.prompts_alone and pools.load.concurrency is not None and stages > 1:
        return _wait_amid_steps_of_prompts(pools, steps[0].total / stages, prompts, pools.share_with_others)
    if pools.decode.prompts_alone and pools.load.concurrency is not None:
        return _wait_before_steps_of_prompts(pools, steps[0].total / stages, prompts, carried / stages)
    if pools.decode.prompts_alone and pools.load.load == "open":
        return _wait_amid_steps_of_prompts(pools, steps[0].total / stages, prompts, busy)
    shared = _steps_with_prompts(
        pools, steps, prompts, carried, 0.0 if pools.decode.has_prompt_only_replicas else decoded
    )
    held = wait_until_release(pools, shared.mean, prompts)
    if pools.load.concurrency is None:
        return held + _mixed_wait_at_rate(pools, shared, prompts, carried, busy if pools.load.load == "open" else 1.0)
    found = _mixed_wait_in_loop(pools, shared, pools.load.concurrency)
    ranks = 1 if unevenly_loaded_ranks(pools.decode) > 1 else pools.decode.attention_ranks  # those of all share steps
    ahead = max(0.0, pools.load.concurrency / ranks - 1)  # no other requests can be before it
    return held + min(found, shared.plain + ahead * prompt_seconds(pools.decode, steps[1]))


class StepsWithPrompts(NamedTuple):
    """The steps of an engine that decodes and runs prompts. Times in seconds.

    ``plain`` is a step without prompts, ``longer`` a step with prompts, and ``mixed`` the share of steps with prompts.
    A prompt takes ``chunks`` steps. Each step has places for ``together`` prompts, ``used`` of them taken (a share);
    other prompts in the same step add ``other_prompts`` seconds.
    """

    plain: float
    longer: float
    mixed: float
    chunks: float
    together: float
    used: float
    other_prompts: float

    @property
    def mean(self) -> float:
        """Mean seconds of a step."""
        return (1 - self.mixed) * self.plain + self.mixed * self.longer

    def full_wait(self, used: float, running: float, others: float, engines: float = 1.0) -> float:
        """Seconds of wait for the rest of the running step and for steps already full of prompts. ``running`` is the
        rest of the running step, ``others`` the probability that other requests are present, ``used`` the share of
        prompt places taken. A prompt goes to the one of ``engines`` with the fewest requests.
        """
        running += used * (self.chunks - 1) * self.longer / 2
        return others * (running + self.other_prompts) + steps_wait(used, engines * self.together, running * others)


def _steps_with_prompts(
    pools: Pools, steps: tuple[StepTime, StepTime], prompts: float, carried: float, decoded: float
) -> StepsWithPrompts:
    """The steps of `mixed_prompt_wait`, each with the same number of decoded tokens."""
    engine, (decode, prefill) = pools.decode, steps
    ranks, stages = unevenly_loaded_ranks(engine), float(engine.layout.pp)
    every = steps_until_release(pools, prompts) * pools.load.receive_interval
    chunks, together = steps_of_one_prompt(pools, prefill, decoded)
    prompts = min(prompts, together / chunks)  # no more begin in a step than it has places for
    beginning = 1 - exp(-prompts * ranks) if ranks > 1 or together > 1 else prompts
    mixed = max(
        LEAST_SHARE, min(1.0, beginning * chunks) if ranks == 1 else -expm1(-prompts * ranks * chunks * every) / every
    )
    longer = (decode.total + prompts * carried / mixed) / stages
    if engine.has_prompt_only_replicas and pools.load.draft_tokens:  # no rank decodes in steps of prompts
        each = prefill.lasting_seconds / prefill.steps / stages
        many = prompts * carried / stages / each
        mixed, longer = max(LEAST_SHARE, many / (1 + many)), each
    other_prompts = min(prompts, together - 1) * max(0.0, prefill.device - prefill.steps * decode.device)
    if other_prompts:  # as far as the host launches the step sooner than the device runs it
        other_prompts = max(0.0, other_prompts + prefill.total - prompt_seconds(engine, prefill))
    used = prompts * chunks / together  # of the steps; an open load weighs them by their time
    return StepsWithPrompts(decode.total / stages, longer, mixed, chunks, together, used, other_prompts)


def steps_of_one_prompt(pools: Pools, prefill: StepTime, decoded: float) -> tuple[float, float]:
    """The number of steps of a prompt that share the token budget with ``decoded`` tokens, and the prompts that fit in
    each.
    """
    load, chunks = pools.load, 1.0
    if prefill.steps > 1 and load.chunk_tokens:  # the next prompt fills the rest of the last chunk
        chunks = load.fresh_tokens / max(1.0, load.chunk_tokens - decoded)
    return chunks, prompts_of_step(pools, decoded)


def _mixed_wait_at_rate(pools: Pools, shared: StepsWithPrompts, prompts: float, carried: float, busy: float) -> float:
    """The wait of a prompt among ``prompts`` of each step that come at any time and find the rank ``busy``.

    At a stated rate, prompts take no more places than arrivals fill, however few sequences decode.
    """
    used = min(shared.used * shared.longer / shared.mean * busy, constants.MOST_LOAD)
    if pools.load.load == "open" and pools.load.request_rate:
        each = shared.chunks / shared.together * shared.longer
        used = min(used, pools.load.request_rate / pools.prompts.attention_ranks * each)
    squares = (1 - shared.mixed) * shared.plain * shared.plain + shared.mixed * shared.longer * shared.longer
    engines = pools.engines_of_choice if pools.load.load == "open" else 1.0
    found = shared.full_wait(used, squares / (2 * shared.mean), busy, engines)
    each = shared.plain * shared.chunks / shared.together + carried / float(pools.decode.layout.pp)
    return found + variation_seconds(pools, min(constants.MOST_LOAD, busy * prompts * each / shared.mean), each)


def _mixed_wait_in_loop(pools: Pools, shared: StepsWithPrompts, requests: float) -> float:
    """Seconds that a prompt waits in a closed loop: it arrives late in the step after its predecessor ended, or in a
    later one.
    """
    running = rest_after(shared.mixed, shared.plain, shared.longer, pools.between_requests)
    others = pools.share_with_others
    used = min(shared.used * others, highest_load(max(1.0, requests / pools.decode.attention_ranks)))
    return shared.full_wait(used, running, others)


def _wait_before_steps_of_prompts(pools: Pools, plain: float, prompts: float, carried: float) -> float:
    """Seconds that a prompt waits in a closed loop where prompts run in separate steps with priority over decode steps.

    On average ``prompts`` requests end in each decode step of ``plain`` seconds. Their successors run together,
    ``carried`` seconds each. They arrive after the engine has begun its next step: a decode step, or a prompt step if
    requests had ended in the decode step before. Prompts beyond the token budget of one step take several steps. Where
    the engine receives requests after every few decode steps, those that ended in any of them share the next step.
    """
    load, late = pools.load, pools.outside
    interval = load.receive_interval
    prompts *= interval
    ended = -expm1(-prompts)
    if not ended or load.concurrency is None:
        return 0.0
    group = prompts / ended * carried
    waiting = ended / (1 + ended) / interval  # only the last decode step of an interval precedes a step of prompts
    decoding = max(plain / 2, plain - late) + (interval - 1) / 2 * plain
    running = (1 - waiting) * decoding + waiting * max(group / 2, group - late)
    own, most = prompts + 1, prompts_per_step(pools)
    in_steps = (max(1.0, own / most) + 1) / 2 * seconds_of_prompts(pools, min(own, most))
    other_prompts = in_steps - seconds_of_prompts(pools, 1.0)
    return pools.share_with_others * (running + other_prompts)


def step_ahead(pools: Pools, steps: tuple[StepTime, StepTime], mixed: float) -> float:
    """Mean seconds for which the host launches a step with prompts before the device is free for it, at least; 0 if it
    forms a step at the end of the one before. ``steps`` holds a decode step and the steps of a prompt; the share
    ``mixed`` of all steps are prompt steps.

    While the step before it runs the host launches the step of the prompt. Steps whose launch takes longer than the
    device are launched one after the other.

    Source: TensorRT-LLM, overlap scheduler (nvidia.github.io/TensorRT-LLM/features/overlap-scheduler.html): "introduces
    one extra decoding step"; vLLM pull request 19970: a scheduler one step ahead of the execution; SGLang,
    python/sglang/srt/managers/scheduler.py (event_loop_overlap).
    """
    if not pools.decode.runs_ahead:
        return 0.0
    decode, prefill = steps
    mixed = min(1.0, mixed)
    found = (1.0 - mixed) * decode.total + mixed * max(0.0, prefill.total - prefill.floor) / prefill.steps
    return found / pools.load.receive_interval  # the wait for a reception holds such a step


def steps_of_prompts(pools: Pools, prompts: float, decoding: float, ahead: float = 0.0) -> tuple[float, float]:
    """The number of prompt-only steps per decode step, and the seconds of one of them: the longer of host launch time
    and device time.

    ``prompts`` begin per decode step on average. In a closed loop, all prompts that follow one decode step share the
    next prompt step. In an open load prompts arrive at any time: a prompt step during which others arrive is followed
    by another prompt step, before the next decode step of ``decoding`` seconds (0 for a closed loop). The host launches
    the first of them for ``ahead`` seconds before the decode step ends.
    """
    most = prompts_per_step(pools)
    steps = max(-expm1(-prompts), prompts / most)
    each = seconds_of_prompts(pools, prompts / steps, ahead / max(1.0, steps))
    for _ in range(SHARED_ROUNDS if decoding else 0):
        before, steps = steps, max(prompt_steps(steps, prompts, decoding, each), prompts / most)
        each = seconds_of_prompts(pools, prompts / steps, ahead / max(1.0, steps))
        if abs(steps - before) < LEAST_SHARE * before:
            break
    return steps, each


def prompts_at_rate(pools: Pools, step: float, prompt: float) -> float:
    """Prompts per step of a rank in a run of a stated number of requests that arrive at a rate; 0 for other loads.

    Each prompt lengthens the ``step`` by ``prompt`` seconds, during which more prompts arrive.
    """
    load = pools.load
    if load.load != "open" or not load.requests or not load.request_rate:
        return 0.0
    each, most = load.request_rate / pools.prompts.attention_ranks, prompts_per_step(pools)
    shared = seconds_of_prompts(pools, most) / most / pools.prompts.layout.pp  # as many as fit share a step
    prompt = min(prompt, shared)
    return each * step / (1 - min(constants.MOST_LOAD, each * prompt))


def seconds_of_prompts(pools: Pools, together: float, ahead: float = 0.0) -> float:
    """Seconds of prompt-only steps with ``together`` prompts (at least one), whose launch began ``ahead`` seconds
    before the device was free.

    For conversations it is the mean over their turns: short prompts last as long as their launch, long ones longer.
    """
    engine, load = pools.prompts, pools.load
    fresh, length, ranks = load.fresh_tokens, float(load.input_tokens), float(engine.layout.attention_dp)
    others = (max(1.0, together) - 1) * fresh
    if load.session is None:
        return prompt_step(engine, others + fresh, length, ranks).lasting_after(ahead)
    from clusterspec.cost.serving.caches import turn_prompts

    turns = [each for each in turn_prompts(load) if each.share]
    steps = [(each.share, prompt_step(engine, others + each.fresh, each.length, ranks)) for each in turns]
    return sum(share * step.lasting_after(ahead) for share, step in steps)


def service_seconds(pools: Pools, prefill: StepTime) -> float:
    """Seconds for which a prompt occupies an attention rank. It is the time of its computation; on separate prefill
    engines it is at least the time for which the links of the sending or the receiving engine carry its cache.
    """
    sending, receiving = pools.transfer
    shared = receiving * pools.prompts.attention_ranks / pools.decode.attention_ranks
    return max(computed_seconds(pools, prefill), sending, shared)


def computed_seconds(pools: Pools, prefill: StepTime) -> float:
    """Seconds per prompt of each pipeline stage of an attention rank; a chunk holds as many whole prompts as fit, and
    stages work on different chunks.
    """
    stages, together = pools.prompts.layout.pp, prompts_per_step(pools)
    if pools.has_prefill_engines:
        together = _prompts_of_full_steps(pools.load)
        return seconds_of_prompts(pools, together) / together / stages
    launched = prefill.floor / together
    return max(prefill.device if together > 1 else prefill.total, launched) / stages


def _prompts_of_full_steps(load: Serving) -> float:
    """Prompts per full step where prompts are packed up to the token budget, averaged over the steps of one prompt; 1
    without a budget.
    """
    fresh = max(1.0, load.fresh_tokens)
    return ceil(fresh / load.chunk_tokens) * load.chunk_tokens / fresh if load.chunk_tokens else 1.0


def _wait_amid_steps_of_prompts(pools: Pools, plain: float, prompts: float, busy: float) -> float:
    """Seconds that a prompt of an open load waits if prompts run in separate steps that precede decode steps.

    An engine is ``busy`` for that share of the time; a prompt that finds it idle waits for nothing. Otherwise it waits
    for the rest of the running step, a decode step of ``plain`` seconds or one of ``prompts``, and for the full steps
    of prompts queued before it. All decode steps between two receptions of requests count as one.
    """
    plain, prompts = plain * pools.load.receive_interval, prompts * pools.load.receive_interval
    stages, most = pools.decode.layout.pp, prompts_per_step(pools)
    steps, each = steps_of_prompts(pools, prompts, plain * stages)
    each /= stages
    cycle = plain + steps * each
    running = (plain * plain + steps * each * each) / (2 * cycle)
    used = min(constants.MOST_LOAD, prompts / cycle * seconds_of_prompts(pools, most) / stages / most) * busy
    service = steps * each / prompts
    own = min(most, 1 + 2 * running * prompts / cycle)  # with those that came in the same step
    other_prompts = seconds_of_prompts(pools, own) - seconds_of_prompts(pools, 1.0)
    full = steps_wait(used, most * pools.engines_of_choice, running * busy)
    return busy * (running + other_prompts) + full + variation_seconds(pools, used, service)


def variation_seconds(pools: Pools, used: float, service: float) -> float:
    """Additional wait of a prompt in an open load due to bursty arrivals and unequal prompt lengths, in seconds; 0 in a
    closed loop.

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


def unreceived_wait(pools: Pools, step: float, sequences: float) -> float:
    """Seconds until an engine receives a request, beyond the rest of the running step of ``step`` seconds: half of the
    other decode steps of an interval. An engine that decodes nothing receives it at once.

    ``sequences`` is the mean number that an attention rank decodes. A separate prefill engine starts a prompt once the
    decode engine has received the request and reserved its cache.

    Source: SGLang, python/sglang/srt/managers/scheduler_recv_skipper.py: each decode step adds 1 to a counter, each
    step with prompts 1,000, and requests are received when it reaches the interval; disaggregation/prefill.py: prompts
    wait for the handshake with the decode engine.
    """
    interval, requests = pools.load.receive_interval, pools.load.concurrency
    if interval == 1:
        return 0.0
    others = pools.share_with_others if requests is not None else 1.0
    return (interval - 1) / 2 * step * -expm1(-sequences * pools.decode.layout.attention_dp) * others
