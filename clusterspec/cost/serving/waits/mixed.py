"""Waits of a prompt of an open load on an engine whose steps compute prompts and decode sequences together."""

from __future__ import annotations

from math import ceil, exp, expm1, log, sqrt

from clusterspec.cost.formulas.compute import power
from clusterspec.cost.formulas.routing import share_with_as_many
from clusterspec.cost.serving import constants
from clusterspec.cost.serving.constants import StepTime
from clusterspec.cost.serving.engine import Decoding
from clusterspec.cost.serving.pools import Pools
from clusterspec.cost.serving.state import LEAST_LOAD, WaitTail
from clusterspec.cost.serving.step_times import prompt_step
from clusterspec.cost.serving.waits.carried import seconds_added
from clusterspec.cost.serving.waits.prompts import variation_seconds
from clusterspec.records import NamedTuple

ROUNDS, CLOSE = 20, 1e-9
"""Newton steps for the decay of long waits at most, and the relative change at which they end."""
ONE = 0.999
"""A step that holds this share of a prompt counts as one that holds a whole prompt."""


class PromptQueue(NamedTuple):
    """Prompts that come at random times, ``rate`` per second, to an engine whose steps take ``plain`` seconds without
    prompts and ``added`` seconds more for each. A step holds at most ``per_step`` prompts, fractions included, and
    takes ``full`` seconds with so many. Steps follow each other; each computes the prompts that came before it, up to
    ``per_step``. A prompt goes to the one of ``engines`` with the fewest prompts. A step takes as long again on each of
    ``stages`` of a pipeline, but the next one follows it at once. A step with prompts takes ``fixed`` seconds more,
    however many it has: the host launches as many kernels for one as for all.

    W prompts are there at the start of a step, V = min(W, per_step) of them are computed, and L = W − V are left. If A
    prompts arrive during the step, the next one starts with L + A. The mean of V is v = rate · plain / (1 − rate ·
    added), and the squares of both sides give 2 E[L] per_step (1 − load) = E[A²] − E[V²].
    """

    rate: float
    plain: float
    added: float
    per_step: float
    full: float
    engines: float = 1.0
    stages: float = 1.0
    fixed: float = 0.0

    @property
    def load(self) -> float:
        """The prompts that arrive while a full step runs, divided by the prompts that the step computes.

        >>> round(PromptQueue(5.0, 0.02, 0.1, 2.0, 0.22).load, 9)
        0.55
        """
        return self.rate * self.full / self.per_step

    @property
    def step(self) -> float:
        """Mean seconds of a step.

        >>> PromptQueue(5.0, 0.02, 0.1, 2.0, 0.22).step
        0.04
        """
        return (self.plain + self.with_prompts * self.fixed) / (1 - self.rate * self.added)

    @property
    def with_prompts(self) -> float:
        """The share of the steps that hold prompts; 0 where it makes no difference.

        A step has none if none came in the step before it, which is a step without prompts or one with their mean
        number.

        >>> found = PromptQueue(10.0, 0.01, 0.0, 9.0, 0.06, fixed=0.05).with_prompts  # after 0.01 s or 0.06 s
        >>> round(found, 6) == round((1 - exp(-0.1)) / (exp(-0.6) + 1 - exp(-0.1)), 6)
        True
        """
        if not self.fixed:
            return 0.0
        after, found = -expm1(-self.rate * self.plain), 1.0
        for _ in range(ROUNDS if self.added else 1):
            mean = (self.plain + found * self.fixed) / (1 - self.rate * self.added)
            longer = self.plain + self.fixed + self.added * self.rate * mean / found
            before, found = found, after / (exp(-self.rate * longer) + after)
            if abs(found - before) < CLOSE * found:
                break
        return found

    @property
    def left(self) -> float:
        """Mean number of prompts, over the time, that a running step leaves for later ones, where it holds one.

        Full steps form a queue with ``per_step`` servers; a service takes one step.

        Source: Sakasegawa, "An approximation formula L_q = α ρ^β / (1 − ρ)", Ann. Inst. Statist. Math. 29, 1977.

        >>> round(PromptQueue(5.0, 0.02, 0.1, 1.0, 0.1).left, 9)  # one place: 0.5² / 2 (1 − 0.5)
        0.25
        """
        places = max(1.0, self.per_step) * self.engines
        return power(self.load, sqrt(2 * (places + 1))) / (2 * (1 - self.load)) / self.engines

    @property
    def second_moment(self) -> float:
        """The mean of V².

        >>> round(PromptQueue(5.0, 0.02, 0.1, 100.0, 10.02).second_moment, 3)  # (0.1² + 0.2 + 0.02) / (1 − 0.5²)
        0.307
        """
        came, computed = self.rate * (self.plain + self.fixed), self.rate * self.added
        mean = self.rate * self.step
        left = self.left * self.step / self.full  # at the start of steps, not over the time
        alone = self.rate * self.rate * self._square_without_prompts
        found = mean + alone + 2 * came * computed * mean - 2 * left * self.per_step * (1 - self.load)
        return max(mean * mean, found / (1 - computed * computed))

    @property
    def _square_without_prompts(self) -> float:
        """The mean square of the seconds of a step, without those that grow with its prompts."""
        share, longer = self.with_prompts, self.plain + self.fixed
        return (1 - share) * self.plain * self.plain + share * longer * longer

    @property
    def step_remainder(self) -> float:
        """Mean seconds until the running step ends, at most half of a full one. Of several engines, a prompt goes to
        one amid a step with prompts only if all are.

        >>> round(PromptQueue(1e-9, 0.02, 0.1, 2.0, 0.22).step_remainder, 6)
        0.01
        >>> one = PromptQueue(5.0, 0.02, 0.1, 100.0, 10.02)  # half of the time is that of prompts
        >>> found, amid = one._replace(engines=4.0).step_remainder, 0.5 ** (sqrt(10) - 1) / 0.5
        >>> round(found, 4) == round(0.01 + amid * (one.step_remainder - 0.01), 4)
        True
        """
        mean = self.rate * self.step
        square = (
            self._square_without_prompts
            + 2 * (self.plain + self.fixed) * self.added * mean
            + self.added * self.added * self.second_moment
        )
        found = min(self.full / 2, square / (2 * self.step))
        if self.engines <= 1:
            return found
        alone, amid = min(found, self.plain / 2), 1 - self.plain / self.step
        return alone + (found - alone) * (self.share_at_all(amid) / amid if amid else 0.0)

    def share_at_all(self, share: float) -> float:
        """The share of the prompts that find all engines at a kind of step which takes a ``share`` of the time of each.

        Source: as for `left`, for as many servers as engines.

        >>> [round(PromptQueue(1.0, 0.1, 0.1, 1.0, 0.2, each).share_at_all(0.5), 3) for each in (1.0, 2.0, 8.0)]
        [0.5, 0.366, 0.106]
        """
        return power(share, sqrt(2 * (self.engines + 1)) - 1)

    @property
    def seconds_of_other_prompts(self) -> float:
        """Seconds that the mean number of prompts in a step adds to a step with one prompt, on all stages.

        >>> PromptQueue(50.0, 0.05, 0.01, 9.0, 0.14, stages=3.0).seconds_of_other_prompts  # steps of 0.1 s: 4 others
        0.12
        """
        return max(0.0, self.stages * self.added * (self.rate * self.step - 1))

    @property
    def seconds_behind(self) -> float:
        """Mean seconds by which other prompts delay a prompt, from the end of the step in which it arrived: prompts in
        its own step, full steps before it, and steps that leave a part of it for the next step.
        """
        seconds_of_other_prompts = self.stages * self.added * (self.second_moment / (self.rate * self.step) - 1)
        parted = min(1.0, self.left * self.step / self.full * 2 * (1 - self.load))
        return max(
            0.0, seconds_of_other_prompts + self.left / self.rate + parted * self.full / (2 * self.rate * self.step)
        )

    @property
    def ending_wait(self) -> float:
        """Mean seconds that other prompts add to a prompt of several steps: the step that another prompt began, and the
        prompts that fill its last step. Several engines get prompts in turn: the next one comes to the same engine
        after one to each of the others.

        >>> found = PromptQueue(1.0, 0.02, 0.1, 0.4, 0.06)  # 2.5 steps, the last half full: 0.02 + 0.02 s
        >>> round(found.ending_wait, 6) == round(0.15 * 0.03 + 0.85 * (1 - exp(-2 * 0.06)) * 0.02, 6)
        True
        >>> amid = 0.15 ** (sqrt(6) - 1)  # of two engines, and two prompts in the 0.12 s
        >>> part = (1 - amid) * (1 - exp(-0.24) * 1.24)
        >>> round(found._replace(engines=2.0).ending_wait, 6) == round(amid * 0.03 + part * 0.02, 6)
        True
        """
        whole = ceil(1 / self.per_step)
        last = self.plain + (1 / self.per_step - whole + 1) * (self.full - self.plain)
        filled = share_with_as_many(self.rate * (whole - 1) * self.full, self.engines)
        amid = self.share_at_all(self.load)
        return amid * self.full / 2 + (1 - amid) * filled * max(0.0, self.full - last)

    @property
    def decay(self) -> float:
        """The seconds in which the number of prompts that wait longer falls to 1 / e, of long waits.

        Per full step the prompts left change by A − per_step. Their tail falls with t where the mean of
        exp(t (A − per_step)) is 1: load (exp(t) − 1) = t.

        Source: Asmussen, Applied Probability and Queues, 2003, section XIII.5 (the Lundberg equation).

        >>> found = PromptQueue(8.0, 0.02, 0.1, 1.0, 0.1).decay
        >>> round(0.8 * (exp(0.1 / found) - 1) * found / 0.1, 6)
        1.0
        """
        load = max(LEAST_LOAD, self.load)
        found = 2 * log(1 / load)  # above the solution, from which the steps fall to it
        for _ in range(ROUNDS):
            before, found = found, found - (load * expm1(found) - found) / (load * exp(found) - 1)
            if abs(found - before) < CLOSE * found:
                break
        return self.full / self.per_step / found / self.engines

    def tail(self, ahead: float, varied: float) -> WaitTail:
        """The distribution of the wait. Steps formed before the prompt came add ``ahead`` seconds, and irregular
        prompts ``varied`` seconds; ``varied`` is below 0 if prompts come more evenly than at random, and then removes
        at most the whole queue.

        A prompt of several steps is a server's only one: it waits for the work before it, and for the rest of a step
        without prompts.
        """
        service = self.full / self.per_step
        if self.per_step < ONE:
            even, fixed = (1 - self.load) * self.plain / 2 + self.ending_wait, 0.0
            queued = varied + self.left / self.rate
        else:
            even, fixed = self.step_remainder, min(self.seconds_behind, self.seconds_of_other_prompts)
            queued = varied + self.seconds_behind - fixed
        queued = max(0.0, queued)
        decay = self.decay * max(LEAST_LOAD, 1 + varied * 2 * (1 - self.load) / (self.load * service))
        share = min(1.0, queued / decay)
        return WaitTail(fixed, 2 * (even + ahead), share, queued / share if share else 0.0)


def mixed_step_wait(
    pools: Pools, steps: tuple[StepTime, float], decoding: Decoding, rate: float, waits: tuple[float, float]
) -> WaitTail:
    """The wait of a prompt of an open load on engines that decode ``decoding`` in the same steps, at a ``rate`` of all.

    ``steps`` holds a decode step and the seconds that a prompt adds to the steps of its engine. ``waits`` holds the
    share of the time in which sequences decode, and the wait for steps formed ahead. While no sequence decodes, steps
    hold only prompts, and no step follows the last prompt. A pipeline starts a step with prompts each time its first
    stage has computed a batch.
    """
    (decode, added), stages, (share, ahead) = steps, float(pools.decode.layout.pp), waits
    plain = decode.total / stages * max(LEAST_LOAD, share)
    if not added or not rate:
        return WaitTail(0.0, plain + 2 * ahead, 0.0, 0.0)
    engines = float(pools.prompts.attention_ranks)
    per_step, full = _full_step(pools, decode, decoding, share)
    each = min(rate / engines, constants.MOST_LOAD * per_step / full, constants.MOST_LOAD * stages / added)
    further, fixed = _prompt_seconds_in_step(pools, (decode, added), decoding, (per_step, full))
    queue = PromptQueue(each, plain, further, per_step, full, pools.engines_of_choice, stages, fixed)
    return queue.tail(ahead, variation_seconds(pools, queue.load, full / per_step))


def _full_step(pools: Pools, decode: StepTime, decoding: Decoding, share: float) -> tuple[float, float]:
    """The prompts, fractions included, that fill the token budget of a step in which sequences also decode for a
    ``share`` of the time, and the seconds of such a step on one stage. Without a budget a step has one whole prompt.
    """
    engine, load = pools.prompts, pools.load
    fresh, length = max(1.0, load.fresh_tokens), float(load.input_tokens)
    budget = max(1.0, load.chunk_tokens - share * decoding.sequences * decoding.tokens) if load.chunk_tokens else fresh
    seen = length if budget >= fresh else length - fresh / 2 + budget / 2
    taken = decoding.sequences * decoding.tokens
    remaining = max(1.0, load.chunk_tokens - taken) if load.chunk_tokens else budget  # of a step in which all decode
    full = prompt_step(engine, min(budget, remaining), seen, float(engine.layout.attention_dp), decoding)
    return budget / fresh, (decode.total + seconds_added((decode, full), 0.0)) / engine.layout.pp


def _prompt_seconds_in_step(
    pools: Pools, steps: tuple[StepTime, float], decoding: Decoding, most: tuple[float, float]
) -> tuple[float, float]:
    """The seconds that each prompt of a step adds to it on one stage, and those that a step with prompts takes more,
    however many it has.

    ``steps`` holds a decode step and the seconds that a prompt adds to the steps of its engine, ``most`` the prompts
    of a full step and its seconds. Where the host launches a prompt for longer than the device computes it, further
    prompts of the step add what a full step takes longer.
    """
    (decode, added), engine, (per_step, full) = steps, pools.prompts, most
    stages, load = engine.layout.pp, pools.load
    if per_step <= 1:
        return added / stages, 0.0
    one = prompt_step(engine, load.fresh_tokens, float(load.input_tokens), float(engine.layout.attention_dp), decoding)
    computing = max(0.0, one.device - decode.device)
    longer = seconds_added((decode, one), 0.0)
    if longer <= computing:
        return added / stages, 0.0
    further = max(0.0, full - (decode.total + longer) / stages) / (per_step - 1)
    return further, max(0.0, longer / stages - further)
