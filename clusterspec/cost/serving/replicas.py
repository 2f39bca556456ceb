"""Steps of attention replicas that run either prompts or decode, with a common end of each step."""

from __future__ import annotations

from math import expm1, inf

from clusterspec.cost.formulas.compute import power
from clusterspec.cost.formulas.experts import prompts_on_fullest, steps_of_fullest
from clusterspec.cost.serving.constants import StepTime
from clusterspec.cost.serving.pools import Pools, prompts_per_step
from clusterspec.cost.serving.quantiles import bisected_interval, longest_over_mean, secant_part
from clusterspec.cost.serving.waits import step_ahead
from clusterspec.records import NamedTuple

LENGTHS = 3
"""Iterations for the length of a step with prompts, which depends on the arrivals during the previous step."""
ROUNDS, CLOSE = 24, 1e-13
"""Iterations of the seconds between two steps in which a replica decodes, and their relative change at the end."""
MARGIN = 1e-3
"""Margin over the seconds in which a replica has time for nothing but prompts, a fraction of them."""
BRACKET_ROUNDS = 48
LEAST_PART = 0.2
"""The least part of the difference that a round of them goes on."""


class ReplicaSteps(NamedTuple):
    """The steps of ``ranks`` replicas, each with prompts arriving at any time at ``rate`` per second.

    A step takes ``plain`` seconds if all replicas decode, ``longer`` if any runs prompts, at most ``most`` of them. A
    replica runs prompts in a step if some arrived during the previous step.
    """

    ranks: float
    rate: float
    plain: float
    longer: float
    most: float

    @property
    def mixed(self) -> float:
        """The share of the steps in which any replica has prompts: the stationary state of two kinds of steps.

        >>> round(ReplicaSteps(16, 1.0, 0.01, 0.01, 1).mixed, 6), round(ReplicaSteps(16, 1.0, 0.01, 0.1, 1).mixed, 6)
        (0.147856, 0.422745)
        """
        short, long = (-expm1(-self.ranks * self.rate * each) for each in (self.plain, self.longer))
        return short / (1 - long + short)

    @property
    def mean(self) -> float:
        """Mean seconds of a step."""
        return self.plain + self.mixed * (self.longer - self.plain)

    @property
    def own(self) -> float:
        """The share of the steps in which a given replica runs prompts."""
        short, long = (-expm1(-self.rate * each) for each in (self.plain, self.longer))
        return max(short + self.mixed * (long - short), self.rate * self.mean / self.most)

    @property
    def fullest(self) -> float:
        """Mean number of prompts on the replica with the most prompts, over the steps that have any."""
        short, long = (prompts_on_fullest(self.rate * each, int(self.ranks)) for each in (self.plain, self.longer))
        return max(1.0, min(self.most, long + (1 / self.mixed - 1) * short))

    @property
    def between(self) -> float:
        """Mean seconds between the ends of two steps in which a replica decodes."""
        return self.mean / max(1e-9, 1 - self.own)


def _steps_of_replicas(steps: ReplicaSteps, prompts: float, start: float) -> ReplicaSteps:
    """The steps at the arrival rate at which ``prompts`` arrive per decode step of a replica, starting from ``start``
    seconds between decode steps and the steps that their prompts take at least.
    """
    least = (1 + MARGIN) * prompts / steps.most * steps.longer
    seconds, missing, taken = start + least, 0.0, 0.0
    for _ in range(ROUNDS):
        former, missing = missing, steps._replace(rate=prompts / seconds).between - seconds
        if abs(missing) < CLOSE * seconds:
            return steps._replace(rate=prompts / seconds)
        taken = missing * secant_part(taken, former - missing, (LEAST_PART, 1.0))
        seconds = max(start / 2, least, seconds + taken)
    return steps._replace(rate=prompts / _seconds_between(steps, prompts, max(start, least)))


def _seconds_between(steps: ReplicaSteps, prompts: float, least: float) -> float:
    """Seconds between decode steps of a replica with ``prompts`` in each interval, from ``least`` on, by bracketing:
    where steps are much longer with prompts, the rounds above swing.
    """

    def excess(seconds: float) -> float:
        return seconds - steps._replace(rate=prompts / seconds).between

    high = 2 * least
    while (above := excess(high)) <= 0:
        high *= 2
    return bisected_interval(excess, (least, -inf), (high, above), BRACKET_ROUNDS, CLOSE)[1]


def carried_by_replicas(pools: Pools, prompts: float, steps: tuple[StepTime, StepTime], *, follow: bool) -> float:
    """Seconds that one prompt adds to the decode steps of attention replicas that run either prompts or decode.

    ``prompts`` begin on each replica per decode step; with ``follow``, prompts also arrive during prompt steps. A
    replica does not decode in the steps that run its own prompts (with drafted tokens, in the steps that run any
    prompts). Each step lasts as long as the replica with the most prompts takes.
    """
    load, (decode, prefill) = pools.load, steps
    if follow and prefill.steps == 1 and not load.draft_tokens:
        return _carried_at_any_time(pools, prompts, steps)
    ranks, most_of_step = pools.decode.layout.attention_dp, prompts_per_step(pools)
    own = max(-expm1(-prompts), prompts / most_of_step) * prefill.steps
    any_rank = 1 - power(1 + own, -float(ranks))
    ahead = step_ahead(pools, steps, any_rank)
    longest = prefill.lasting_after(ahead) / prefill.steps
    if prefill.steps == 1:
        most = max(1.0, min(prompts_on_fullest(prompts, ranks) / -expm1(-prompts * ranks), most_of_step))
        longest = _seconds_of_step(pools, most, ranks * prompts / any_rank, ahead)
    if load.draft_tokens:
        every = steps_of_fullest(prompts, ranks, int(most_of_step)) * prefill.steps
        return every * longest / prompts
    mean = decode.total + any_rank * max(0.0, longest - decode.total)
    return ((1 + own) * mean - decode.total) / prompts


def _carried_at_any_time(pools: Pools, prompts: float, steps: tuple[StepTime, StepTime]) -> float:
    """Prefill carried by replicas, as in `carried_by_replicas`, for one-step prompts that arrive at any time."""
    (decode, prefill), ranks = steps, pools.decode.layout.attention_dp
    found = ReplicaSteps(ranks, 0.0, decode.total, max(decode.total, prefill.lasting), prompts_per_step(pools))
    for _ in range(LENGTHS):
        found = _steps_of_replicas(found, prompts, decode.total)
        whole = ranks * found.rate * found.mean / found.mixed  # prompts of a step that has any
        ahead = step_ahead(pools, steps, found.mixed)
        found = found._replace(longer=max(decode.total, _seconds_of_step(pools, found.fullest, whole, ahead)))
    return (_steps_of_replicas(found, prompts, decode.total).between - decode.total) / prompts


def _seconds_of_step(pools: Pools, fullest: float, whole: float, ahead: float) -> float:
    """Seconds of a step with ``whole`` prompts, ``fullest`` of them on the replica with the most, whose launch began
    ``ahead`` seconds before. Where lengths vary, the fullest replica has the longest prompt of the step.
    """
    engine, load = pools.decode, pools.load
    fresh = load.fresh_tokens
    if load.input_lengths is not None:
        longer = longest_over_mean(load.input_lengths, max(1.0, whole)) - 1
        fullest += min(longer, max(0.0, (load.chunk_tokens or inf) / fresh - fullest))
    busy = min(float(engine.layout.attention_dp), max(1.0, whole / fullest))
    return engine.prefill(fullest * fresh, float(load.input_tokens), busy).lasting_after(ahead)
