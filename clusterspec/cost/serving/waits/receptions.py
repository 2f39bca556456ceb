"""Prompts of attention replicas whose engine receives requests after every few decode steps."""

from __future__ import annotations

from math import expm1, inf

from clusterspec.cost.formulas.experts import prompts_on_fullest, steps_of_fullest
from clusterspec.cost.serving.constants import StepTime
from clusterspec.cost.serving.pools import Pools, prompts_of_step, prompts_per_step
from clusterspec.cost.serving.quantiles import bisected_interval
from clusterspec.cost.serving.waits.prompts import step_ahead
from clusterspec.cost.serving.waits.replica_steps import row_of_steps, seconds_of_step
from clusterspec.records import NamedTuple

ROUNDS, CLOSE = 40, 1e-6
"""Bisections of the seconds between decode steps in an open load, whose prompts depend on them, and relative width."""
LEAST = 1e-12
"""The least prompts of a reception."""


def time_after_receptions(pools: Pools, prompts: float, steps: tuple[StepTime, StepTime], *, follow: bool) -> float:
    """Seconds that one prompt adds to the decode steps of a replica whose engine receives requests at intervals.

    ``prompts`` begin on each replica per decode step. All that come in the decode steps of an interval are received
    together and share the next step, in which replicas without prompts decode (with drafted tokens, none does). After a
    step with prompts the engine receives again. Further steps have the prompts that arrived during that step: at the
    rate of arrivals with ``follow``, else one for each request that ended on a decoding replica. Then the next interval
    begins.

    Source: SGLang, python/sglang/srt/managers/scheduler_recv_skipper.py: with attention replicas, a step counts as one
    with prompts if any replica has some, so that all replicas receive together.
    """
    decode = steps[0].total
    if not follow:
        return max(0.0, _reception(pools, (prompts, decode), steps, follow=False).interval_seconds - decode) / prompts

    def excess(seconds: float) -> float:
        return seconds - _reception(pools, (prompts, seconds), steps, follow=True).interval_seconds

    high = decode
    while (above := excess(high)) < 0:  # more seconds between steps are fewer prompts per second
        high *= 2
    found = bisected_interval(excess, (high / 2, -inf), (high, above), ROUNDS, CLOSE)[1] if high > decode else decode
    return max(0.0, found - decode) / prompts


class Reception(NamedTuple):
    """Seconds and steps from one interval of decode steps to the next, with the steps of the prompts that it receives.

    ``waiting`` seconds pass until requests are received; with the probability ``some`` prompts then take ``number``
    steps of ``longer`` seconds, and ``after`` steps of ``later`` seconds follow, each of which receives again. A
    replica decodes in ``decoded`` of all these steps on average.
    """

    waiting: float
    some: float
    number: float
    longer: float
    after: float
    later: float
    decoded: float

    @property
    def cycle(self) -> float:
        """Mean seconds from the beginning of one interval to that of the next."""
        return self.waiting + self.some * (self.number * self.longer + self.after * self.later)

    @property
    def interval_seconds(self) -> float:
        """Mean seconds between the ends of two steps in which a replica decodes."""
        return self.cycle / self.decoded

    @property
    def wait(self) -> float:
        """Mean seconds from the arrival of a request at any time to its reception, at the end of the interval or of the
        step with prompts in which it arrives.

        >>> round(Reception(0.2, 1.0, 1.0, 0.1, 1.0, 0.1, 10.0).wait, 6)  # (0.04 + 2 0.01) / (2 0.4)
        0.075
        """
        later = self.some * (self.number * self.longer * self.longer + self.after * self.later * self.later)
        return (self.waiting * self.waiting + later) / (2 * self.cycle)


def reception_at(pools: Pools, rate: float, steps: tuple[StepTime, StepTime]) -> Reception:
    """The steps between receptions where ``rate`` prompts come to each replica per second, at any time."""
    return _reception(pools, (rate, 1.0), steps, follow=True)


def _reception(
    pools: Pools, arriving: tuple[float, float], steps: tuple[StepTime, StepTime], *, follow: bool
) -> Reception:
    """The steps between two receptions; ``arriving`` prompts reach a replica in so many seconds, which without
    ``follow`` are those between two of its decode steps.
    """
    (prompts, seconds), decode = arriving, steps[0]
    ranks, interval = float(pools.decode.layout.attention_dp), pools.load.receive_interval
    received = prompts * interval * (decode.total / seconds if follow else 1.0)
    some = -expm1(-ranks * max(LEAST, received))
    count, own, longer = _steps_of(pools, received, steps)
    others = 0.0 if pools.load.draft_tokens else 1.0 - own
    meanwhile = prompts * (longer / seconds if follow else others)
    _, own_further, later = _steps_of(pools, meanwhile, steps)
    others_further = 0.0 if pools.load.draft_tokens else 1.0 - own_further
    pending = -expm1(-ranks * meanwhile)
    after = pending * row_of_steps(steps[1].steps, ranks * meanwhile) if meanwhile > LEAST else 0.0
    decoded = interval + some * (count * others + after * others_further)
    return Reception(interval * decode.total, some, count, longer, after, later, decoded)


def _steps_of(pools: Pools, each: float, steps: tuple[StepTime, StepTime]) -> tuple[float, float, float]:
    """The steps that run the prompts of a reception with any, ``each`` on a replica on average: their number, the share
    of replicas with prompts in one of them, and its seconds.
    """
    ranks, prefill = pools.decode.layout.attention_dp, steps[1]
    most = prompts_of_step(pools, 0.0) if prefill.steps == 1 else prompts_per_step(pools)
    each = max(LEAST, each)
    some = -expm1(-each * ranks)
    count = max(1.0, steps_of_fullest(each, ranks, most) / some) * prefill.steps
    own = min(1.0, max(-expm1(-each) / some, each / some / most) * prefill.steps / count)
    ahead = step_ahead(pools, steps, 0.0)
    if prefill.steps > 1:
        return count, own, prefill.lasting_after(ahead) / prefill.steps
    fullest = max(1.0, min(prompts_on_fullest(each, ranks) / some / count, most))
    return count, own, seconds_of_step(pools, fullest, ranks * each / some / count, ahead)
