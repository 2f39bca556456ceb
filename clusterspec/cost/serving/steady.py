"""The steady state of a serving plan: the sequences that decode concurrently, and the work of each step."""

from __future__ import annotations

from collections.abc import Callable
from math import inf

from clusterspec.cluster.model import Serving
from clusterspec.cost.formulas.queues import most_load, prompt_wait, wave_load
from clusterspec.cost.formulas.serving import time_per_output_token
from clusterspec.cost.serving import constants as known
from clusterspec.cost.serving.engine import Engine
from clusterspec.cost.serving.steps import StepTime
from clusterspec.records import NamedTuple

ROUNDS = 24
"""Bisection steps for the number of concurrently decoding requests."""
BUSY = -inf
"""The requests that can be added where the pool for prompts is always busy."""


class Pools(NamedTuple):
    """The decode engines, the prefill engines (the same ones, or a separate pool), and the load.

    ``limit`` is the maximum of sequences on one attention rank.
    """

    decode: Engine
    prompts: Engine
    load: Serving
    limit: float

    @property
    def apart(self) -> bool:
        """Whether prompts have separate engines."""
        return self.prompts is not self.decode


class Steady(NamedTuple):
    """A steady state: a decode step, the steps and seconds of a prompt, and the resulting times.

    ``sequences`` of one attention rank decode concurrently. ``carried`` is the seconds of prompts on the decode steps
    of the same engine; ``share`` is the share of the engine's time for prompts. ``service`` is the seconds per prompt
    of an attention rank that runs prompts, ``wait`` the queueing time, ``rate`` the requests per second of the plan.
    """

    sequences: float
    decode: StepTime
    prefill: StepTime
    prompt: float
    service: float
    carried: float
    tokens_per_step: float
    tpot: float
    share: float
    rate: float
    wait: float

    @property
    def through(self) -> float:
        """Seconds from the first to the last token of a request."""
        return self.wait + self.prompt

    def offered(self, ranks: int, tokens: int) -> float:
        """Requests in flight on the whole plan, including those that wait or are in prefill."""
        return self.sequences * ranks + self.rate * self.through


def steady(pools: Pools, sequences: float) -> Steady:
    """The steady state with ``sequences`` concurrent sequences on each attention rank."""
    engine, load = pools.decode, pools.load
    static = load.load == "static"
    context = load.input_tokens + load.output_tokens / 2
    each = max(1.0, sequences / engine.layout.pp)
    decode = engine.decode(each, context, 1.0 + load.draft_tokens)
    gained = 1 + load.draft_tokens * load.draft_acceptance
    fresh = load.input_tokens * (1 - load.prefix_hit)
    together = 0.0 if pools.apart or static else each
    busy = float(engine.layout.attention_dp)
    if pools.apart:
        busy = _busy(pools, sequences, decode.total / gained)
    prefill = pools.prompts.prefill(fresh, float(load.input_tokens), busy, together, context)
    prompt = max(prefill.total, pools.prompts.launching(prefill.steps))
    carried = 0.0 if pools.apart or static else _carried(pools, (each, context), gained, (decode, prefill))
    tpot = time_per_output_token(decode.total, sequences, load.output_tokens, carried, tokens_per_step=gained)
    share = sequences / load.output_tokens * carried / tpot
    rate = sequences * engine.attention_ranks / max(1.0, load.output_tokens - 1.0) / tpot
    service = _service(pools, fresh, prompt, prefill)
    wait = _wait(pools, share, rate, (prompt, service)) if load.load in {"closed", "open"} else 0.0
    return Steady(sequences, decode, prefill, prompt, service, carried, gained, tpot, share, rate, wait)


def _carried(pools: Pools, sequences: tuple[float, float], gained: float, steps: tuple[StepTime, StepTime]) -> float:
    """Seconds that one prompt adds to the decode steps of its engine.

    ``sequences`` are those of a step, and their context; each gains ``gained`` tokens in it. ``steps`` are a decode
    step, and the steps of one prompt. Where more than one sequence ends in a step, as many prompts share the next.
    """
    engine, load = pools.decode, pools.load
    (each, context), (decode, prefill) = sequences, steps
    prompts = each * gained / load.output_tokens
    if prompts <= 1:
        return max(0.0, prefill.device - prefill.steps * decode.device)
    fresh, length = load.input_tokens * (1 - load.prefix_hit), float(load.input_tokens)
    many = engine.prefill(prompts * fresh, length, float(engine.layout.attention_dp), each, context)
    return max(0.0, many.device - many.steps * decode.device) / prompts


def _wait(pools: Pools, share: float, rate: float, each: tuple[float, float]) -> float:
    """Queueing time of a prompt in seconds: the running step, and the prompts before it.

    ``share`` of the time of decode engines goes to prompts, at ``rate`` of them; ``each`` has the seconds of a single
    prompt, and of one in a batched step. A request of a closed loop waits for the other requests alone (the arrival
    theorem of Reiser and Lavenberg, J. ACM 27(2), 1980), and in a finite run its prompts arrive in waves.
    """
    prompt, service = each
    used = share if not pools.apart else rate * service / pools.prompts.attention_ranks
    busy = min(1.0, used * prompt / service) if service else 0.0
    if pools.apart and pools.load.requests:
        used, busy = wave_load(used, known.WAVE.value), wave_load(busy, known.WAVE.value)
    requests = pools.load.concurrency
    if requests is None:
        return prompt_wait(min(used, known.MOST_LOAD), service, busy, prompt)
    others = (requests - 1) / requests
    most = most_load(max(1.0, requests / pools.prompts.attention_ranks))
    return prompt_wait(min(used * others, most), service, busy * others, prompt)


def _busy(pools: Pools, sequences: float, tpot: float) -> float:
    """Attention ranks of one engine that the request rate keeps busy, with one prompt at a time on each."""
    engine, load, prompts = pools.decode, pools.load, pools.prompts
    ranks = prompts.layout.attention_dp
    if ranks == 1:
        return 1.0
    rate = sequences * engine.attention_ranks / max(1.0, load.output_tokens - 1.0) / tpot
    alone = prompts.prefill(float(load.input_tokens), float(load.input_tokens), float(ranks)).total
    return min(float(ranks), 1.0 + rate / prompts.replicas * alone * (ranks - 1) / ranks)


def _service(pools: Pools, fresh: float, prompt: float, prefill: StepTime) -> float:
    """Seconds of an attention rank per prompt, with as many prompts together as a chunk holds."""
    chunk = pools.load.chunk_tokens or fresh
    together = max(1.0, chunk // max(1.0, fresh))
    launched = pools.prompts.launching(prefill.steps) / together
    return max(prefill.device, launched) if together > 1 else prompt


def closed(pools: Pools, requests: float) -> Steady:
    """The steady state with ``requests`` in flight on the whole plan; those that do not fit wait.

    Where prompts limit the loop, the requests that do not decode wait for their prompt.
    """
    ranks = pools.decode.attention_ranks
    capacity = pools.prompts.attention_ranks

    def spare(steady: Steady) -> float:
        if pools.apart and steady.rate * steady.service > capacity:
            return BUSY
        return requests - steady.offered(ranks, pools.load.output_tokens)

    top = min(pools.limit, requests / ranks)
    found = steady(pools, top)
    if spare(found) >= 0:
        return found
    low, high, limited = 1e-6 * top, top, spare(found) == BUSY
    for _ in range(ROUNDS):
        middle = (low + high) / 2
        left = spare(steady(pools, middle))
        low, high, limited = (middle, high, limited) if left >= 0 else (low, middle, left == BUSY)
        if high - low < 1e-3 * high:
            break
    found = steady(pools, low)
    left = requests - found.offered(ranks, pools.load.output_tokens)
    return found._replace(wait=found.wait + max(0.0, left) / found.rate) if limited else found


def bisected(met: Callable[[float], bool], limit: float) -> float:
    """The largest number of sequences up to ``limit`` that satisfies a condition; 0 if one sequence does not."""
    if not met(1.0):
        return 0.0
    if met(limit):
        return limit
    low, high = 1.0, limit
    for _ in range(ROUNDS):
        middle = (low + high) / 2
        low, high = (middle, high) if met(middle) else (low, middle)
    return low
