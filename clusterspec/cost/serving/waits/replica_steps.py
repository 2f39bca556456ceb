"""Steps of attention replicas that run either prompts or decode, where prompts come at any time."""

from __future__ import annotations

from math import ceil, exp, expm1, inf

from clusterspec.cost.formulas.compute import power
from clusterspec.cost.formulas.experts import MOST_COUNTED, prompts_on_fullest
from clusterspec.cost.formulas.queues import share_of_fuller_steps
from clusterspec.cost.serving.constants import StepTime
from clusterspec.cost.serving.pools import Pools, prompts_of_step
from clusterspec.cost.serving.quantiles import bisected_interval, longest_over_mean, secant_part
from clusterspec.cost.serving.step_times import prompt_step
from clusterspec.records import NamedTuple

LENGTHS = 3
"""Iterations for the length of a step with prompts, which depends on the arrivals during the previous step."""
ROUNDS, CLOSE = 24, 1e-13
"""Iterations of the seconds between two steps in which a replica decodes, and their relative change at the end."""
MARGIN = 1e-3
"""Margin over the seconds in which a replica has time for nothing but prompts, a fraction of them."""
BRACKET_ROUNDS = 48
LEAST_PART = 0.2
"""The smallest part of the difference by which a round of replicas proceeds."""
MOST_EXPONENT = 50.0
"""Largest exponent of the length of a row of steps with prompts: from there on, all steps hold prompts."""
LEAST = 1e-9
"""The least prompts of a step."""


def row_of_steps(chunks: float, arrivals: float) -> float:
    """Mean number of steps with prompts in a row. It ends after as many steps without arrivals as a prompt takes
    (``chunks``, c): (1 - q^c) / ((1 - q) q^c), where q = e^-a is the probability that none of ``arrivals`` (a) prompts
    per step comes in one.

    Source: the mean wait for c successes in succession (Feller, An Introduction to Probability Theory, volume 1,
    XIII.7).

    >>> half = 0.69314718056  # q = 1/2: two heads in succession take six throws
    >>> round(row_of_steps(2, half), 6), round(row_of_steps(1, half), 6)
    (6.0, 2.0)
    """
    return expm1(min(MOST_EXPONENT, chunks * arrivals)) / -expm1(-arrivals) if arrivals else chunks


class ReplicaSteps(NamedTuple):
    """The steps of ``ranks`` replicas, each with prompts arriving at any time at ``rate`` per second.

    A step takes ``plain`` seconds if all replicas decode, ``longer`` if any runs prompts, at most ``most`` of them
    (the last one may be a part). A prompt alone takes ``chunks`` steps. A replica runs prompts in the step after their
    arrival. If each step is formed while the one before it runs, those with prompts are formed ``lead`` seconds before
    they start on average, those without at the start of the step before (None: each when the one before has ended).
    """

    ranks: float
    rate: float
    plain: float
    longer: float
    most: float
    chunks: float = 1.0
    lead: float | None = None
    device: float = 0.0
    """Seconds that the device takes for a step with prompts, however long the host takes to launch it."""

    @property
    def row(self) -> float:
        """Mean number of steps with prompts in a row."""
        return row_of_steps(self.chunks, self.ranks * self.rate * self.longer)

    @property
    def decode_row(self) -> float:
        """Mean number of steps in a row in which all replicas decode: until one has an arrival. The first was formed
        before prompts came if steps are formed ahead; the next has prompts if some came before the first began.
        """
        some = -expm1(-self.ranks * self.rate * self.plain)
        if self.lead is None:
            return 1 / some
        return 1 + exp(-self.ranks * self.rate * self.lead) / some

    @property
    def prompt_step_share(self) -> float:
        """The share of the steps in which any replica has prompts.

        >>> [round(ReplicaSteps(16, 1.0, 0.01, longer, 1).prompt_step_share, 6) for longer in (0.01, 0.1)]
        [0.147856, 0.422745]
        """
        return self.row / (self.row + self.decode_row)

    @property
    def mean(self) -> float:
        """Mean seconds of a step."""
        return self.plain + self.prompt_step_share * (self.longer - self.plain)

    @property
    def prompt_share(self) -> float:
        """The share of the steps in which a given replica runs prompts. Where a prompt takes several, the last one is
        filled by the next prompt as often as the replica has one.
        """
        arrived = self.rate * self.mean
        if self.chunks > 1:
            return arrived * self.chunks / (1 + arrived * max(0.0, self.chunks - 1 / self.most))
        short, long = (-expm1(-self.rate * each) for each in (self.plain, self.longer))
        none = 1 - short - self.prompt_step_share * (long - short)
        return max(1 - none * (1 - self.prompt_step_share * self.left_over), arrived / self.most)

    @property
    def left_over(self) -> float:
        """The probability that a replica has more prompts than fit in a step that any replica runs prompts in: those
        that came in the step before, and half of a prompt on average where one was left over from an earlier step.

        >>> round(ReplicaSteps(8, 7.2, 0.02, 0.1, 1.4).left_over, 4)  # 0.1628 / (e^-0.72 + 0.1628)
        0.2506
        """
        arrived = self.rate * self.longer
        fuller, behind = (probability_of_more(arrived, most) for most in (self.most, self.most - 0.5))
        return fuller / (1 - behind + fuller)

    @property
    def fullest_prompts(self) -> float:
        """Mean number of prompts on the replica with the most prompts, over the steps that have any."""
        short, long = (prompts_on_fullest(self.rate * each, int(self.ranks)) for each in (self.plain, self.longer))
        return max(1.0, min(self.most, long + (1 / self.prompt_step_share - 1) * short))

    @property
    def decode_interval(self) -> float:
        """Mean seconds between the ends of two steps in which a replica decodes."""
        return self.mean / max(1e-9, 1 - self.prompt_share)


def _steps_of_replicas(steps: ReplicaSteps, prompts: float, start: float) -> ReplicaSteps:
    """The steps at the arrival rate at which ``prompts`` arrive per decode step of a replica, starting from ``start``
    seconds between decode steps and the steps that their prompts take at least.
    """
    least = (1 + MARGIN) * prompts / steps.most * steps.longer
    seconds, missing, taken = start + least, 0.0, 0.0
    for _ in range(ROUNDS):
        former, missing = missing, steps._replace(rate=prompts / seconds).decode_interval - seconds
        if abs(missing) < CLOSE * seconds:
            return steps._replace(rate=prompts / seconds)
        taken = missing * secant_part(taken, former - missing, (LEAST_PART, 1.0))
        seconds = max(start / 2, least, seconds + taken)
    return steps._replace(rate=prompts / _seconds_between_decode_steps(steps, prompts, max(start, least)))


def _seconds_between_decode_steps(steps: ReplicaSteps, prompts: float, least: float) -> float:
    """Seconds between decode steps of a replica with ``prompts`` in each interval, from ``least`` on, by bracketing: if
    prompts lengthen steps much, the iteration above oscillates.
    """

    def excess(seconds: float) -> float:
        return seconds - steps._replace(rate=prompts / seconds).decode_interval

    high = 2 * least
    while (above := excess(high)) <= 0:
        high *= 2
    return bisected_interval(excess, (least, -inf), (high, above), BRACKET_ROUNDS, CLOSE)[1]


def steps_of_replicas(pools: Pools, prompts: float, steps: tuple[StepTime, StepTime]) -> ReplicaSteps:
    """The steps of replicas without drafts, where prompts come at any time: ``prompts`` to each replica in each of its
    decode steps. ``steps`` holds a decode step and the steps of one prompt.
    """
    found = _steps_without_prompts(pools, steps)
    for _ in range(LENGTHS):
        found = _with_longer_steps(pools, _steps_of_replicas(found, prompts, found.plain), steps[1])
    return _steps_of_replicas(found, prompts, found.plain)


def steps_at_rate(pools: Pools, rate: float, steps: tuple[StepTime, StepTime]) -> ReplicaSteps:
    """`steps_of_replicas` where ``rate`` prompts come to each replica per second."""
    found = _steps_without_prompts(pools, steps)._replace(rate=max(LEAST, rate))
    for _ in range(LENGTHS):
        found = _with_longer_steps(pools, found, steps[1])
    return found


def _steps_without_prompts(pools: Pools, steps: tuple[StepTime, StepTime]) -> ReplicaSteps:
    """The steps of replicas to which no prompts come; ``longer`` is the step of one prompt alone."""
    (decode, prefill), fresh = steps, max(1.0, pools.load.fresh_tokens)
    most = prompts_of_step(pools, 0.0) if prefill.steps == 1 else float(pools.load.chunk_tokens or fresh) / fresh
    longer, lead = (
        max(decode.total, prefill.lasting_seconds / prefill.steps),
        decode.total if pools.decode.runs_ahead else None,
    )
    return ReplicaSteps(pools.decode.layout.attention_dp, 0.0, decode.total, longer, most, prefill.steps, lead)


def _with_longer_steps(pools: Pools, found: ReplicaSteps, prefill: StepTime) -> ReplicaSteps:
    """The same steps with the seconds that those with prompts take at this rate: on the device, and at least those for
    which the host launches one after the device is free.
    """
    if found.chunks > 1:
        device = _seconds_with_chunks(pools, found, prefill)
    else:
        device = seconds_of_step(
            pools, found.fullest_prompts, found.ranks * found.rate * found.mean / found.prompt_step_share, inf
        )
    launching, device = prefill.floor / prefill.steps, max(found.plain, device)
    if found.lead is None:
        return found._replace(device=device, longer=max(device, launching))
    lead, longer = lead_in_row(found.plain, device, launching, found.row)
    return found._replace(device=device, lead=lead, longer=longer)


def lead_in_row(plain: float, device: float, launching: float, row: float) -> tuple[float, float]:
    """Mean seconds for which the launch of a step with prompts precedes its start, and mean seconds of such a step, in
    a row of ``row`` of them on average.

    The first one is launched when the step before it begins, which takes ``plain`` seconds. The device takes ``device``
    seconds for each, and the host ``launching`` seconds, after which it launches the next: the lead shrinks by the
    difference, down to 0, or grows up to ``device``. A row ends after any step with the same probability, and the
    seconds of its steps are those of its launches, less the lead that is lost.

    Source: SGLang, python/sglang/srt/managers/scheduler.py (event_loop_overlap).

    >>> [round(each, 6) for each in lead_in_row(0.06, 0.1, 0.16, 1.0)]  # a step alone
    [0.06, 0.1]
    >>> [round(each, 6) for each in lead_in_row(0.06, 0.1, 0.13, 2.0)]  # 0.06, 0.03, 0 with 1/2, 1/4, 1/4
    [0.0375, 0.1075]
    >>> [round(each, 6) for each in lead_in_row(0.06, 0.1, 0.08, 2.0)]  # 0.06, 0.08, 0.1
    [0.075, 0.1]
    """
    shrinking, ends, goes_on = launching - device, 1 / row, 1 - 1 / row
    if not shrinking:
        return plain, device
    limit = 0.0 if shrinking > 0 else max(plain, device)
    steps = ceil(abs(limit - plain) / abs(shrinking) - LEAST)
    kept = power(goes_on, steps)  # the steps before which the lead has reached its limit
    earlier = (goes_on - steps * kept + (steps - 1) * kept * goes_on) / ends  # steps before the others, on average
    lead = (1 - kept) * plain + kept * limit - shrinking * earlier
    if shrinking < 0:
        return lead, device
    last = (lead - ends * plain) / goes_on if goes_on else max(limit, plain - shrinking)
    return lead, launching - (plain - last) * ends


def probability_of_more(mean: float, most: float) -> float:
    """The probability that more than ``most`` prompts come where the mean is ``mean``, of a Poisson distribution.

    >>> round(probability_of_more(0.72, 1.46), 6)  # 1 - 1.72 e^-0.72
    0.162786
    """
    if mean > MOST_COUNTED or not mean:
        return float(mean > most)
    return -expm1(-mean) * share_of_fuller_steps(mean, max(0.0, most))


def _seconds_with_chunks(pools: Pools, found: ReplicaSteps, prefill: StepTime) -> float:
    """Device seconds of a step with parts of prompts: all parts of a prompt but the last fill a step, and a step lasts
    as long as the longest part of any replica.
    """
    load, engine, chunks = pools.load, pools.decode, found.chunks
    each, running = prefill.total / chunks, found.ranks * found.prompt_share / found.prompt_step_share
    budget, fresh = float(load.chunk_tokens or load.fresh_tokens), load.fresh_tokens
    seen = load.input_tokens - fresh / 2 + budget / 2
    full = prompt_step(engine, budget, seen, min(found.ranks, max(1.0, running))).total
    some = 1 - power(1 / chunks, max(1.0, running))
    return each + (some - (chunks - 1) / chunks) * chunks * max(0.0, full - each)


def seconds_of_step(pools: Pools, fullest: float, whole: float, ahead: float) -> float:
    """Seconds of a step with ``whole`` prompts. The fullest replica has ``fullest`` of them, and the launch of the step
    began ``ahead`` seconds before the device was free. Where lengths vary, the fullest replica has the longest prompt
    of the step.
    """
    engine, load = pools.decode, pools.load
    fresh = load.fresh_tokens
    if load.input_lengths is not None:
        longer = longest_over_mean(load.input_lengths, max(1.0, whole)) - 1
        fullest += min(longer, max(0.0, (load.chunk_tokens or inf) / fresh - fullest))
    busy = min(float(engine.layout.attention_dp), max(1.0, whole / fullest))
    return prompt_step(engine, fullest * fresh, float(load.input_tokens), busy).lasting_after(ahead)
