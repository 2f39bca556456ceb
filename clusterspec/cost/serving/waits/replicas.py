"""Steps of attention replicas that run either prompts or decode, with a common end of each step."""

from __future__ import annotations

from math import exp, expm1, inf, log1p, sqrt

from clusterspec.cost.formulas.compute import power
from clusterspec.cost.formulas.experts import MOST_COUNTED, prompts_on_fullest, steps_of_fullest
from clusterspec.cost.serving.constants import StepTime
from clusterspec.cost.serving.pools import Pools, prompts_per_step
from clusterspec.cost.serving.quantiles import bisected_interval
from clusterspec.cost.serving.waits.prompts import step_ahead
from clusterspec.cost.serving.waits.replica_steps import (
    BRACKET_ROUNDS,
    CLOSE,
    LEAST,
    LENGTHS,
    probability_of_more,
    seconds_of_step,
    steps_of_replicas,
)
from clusterspec.records import dataclass, replace
from clusterspec.standard import cached_property


@dataclass(frozen=True)
class PromptCycle:
    """A cycle of the steps of ``ranks`` replicas in a closed loop whose engine prepares each step during the one before
    it: steps of ``plain`` seconds in which all replicas decode, then steps of ``longer`` seconds in which some run
    prompts.

    ``ended`` requests end in a step in which all replicas decode; others come ``late`` seconds after it. ``drawn`` is
    the mean of the Poisson count that, given that it is not 0, is the number of prompts of a step; a replica runs at
    most ``most`` of its own. The host launches a step with prompts for ``floor`` seconds.

    The engine prepares the step after a step without prompts when that step begins, before the successors of requests
    that ended in the previous step arrive. It prepares the step after a step with prompts once that step is launched,
    when the successors have arrived. A request that ends in step k is thus replaced in step k + 3, or in k + 2 if step
    k + 1 has prompts. Steps with prompts therefore follow each other, then two or more have none. Where the device
    takes longer than the launch, each launch begins earlier than the last, until the next step is formed too early for
    the prompts that come meanwhile.
    """

    ranks: float
    ended: float
    most: float
    plain: float
    longer: float
    floor: float
    late: float
    drawn: float
    met: float = 0.0
    """Mean seconds of the step of a prompt: more prompts are in the longer steps."""

    @cached_property
    def prompts(self) -> float:
        """Mean number of prompts in the steps that contain prompts.

        >>> round(PromptCycle(8, 1.0, 1, 0.03, 0.1, 0.12, 0.01, 1.0).prompts, 3)
        1.582
        """
        return self.drawn / -expm1(-self.drawn)

    @cached_property
    def prompt_share(self) -> float:
        """The share of the replicas that run prompts in such a step."""
        some = expm1(-self.drawn / self.ranks) / expm1(-self.drawn)
        return min(1.0, max(some, self.prompts / self.ranks / self.most))

    @cached_property
    def ended_amid_prompts(self) -> float:
        """Mean number of requests that end in a step with prompts, on the replicas that decode."""
        return self.ended * (1 - self.prompt_share)

    @cached_property
    def probability_of_no_prompts_left(self) -> float:
        """The probability that no replica has more prompts than one step takes, so that no further step must follow."""
        fuller = self._probability_above(self.most)
        return max(LEAST, 1 - expm1(self.ranks * log1p(-fuller)) / expm1(-self.drawn))

    @cached_property
    def row(self) -> float:
        """The number of consecutive steps with prompts; the step after them is formed before further prompts arrive."""
        earlier = self.longer - self.floor
        return inf if earlier <= 0 else max(2.0, 2.0 + (self.floor - self.late - self.plain) / earlier)

    @cached_property
    def continue_probability(self) -> float:
        """The probability that prompts of a step with prompts make one after the next one follow."""
        return 1 - max(LEAST, exp(-self.ended_amid_prompts) * self.probability_of_no_prompts_left)

    @cached_property
    def cut(self) -> float:
        """The probability that a row of steps with prompts ends although prompts have come."""
        if self.row == inf:
            return 0.0
        arrived = 1 - exp(-2 * self.ended) * self.probability_of_no_prompts_left
        return arrived * power(self.continue_probability, self.row - 1)

    @cached_property
    def decode_steps(self) -> float:
        """Mean number of steps in which all replicas decode: one where a row of others was cut. Otherwise, after two
        such steps, the next step has prompts if requests ended in the last step with prompts; each later one has
        prompts if requests ended three steps before.
        """
        return self.cut + (1 - self.cut) * (2 + exp(-self.ended_amid_prompts) / -expm1(-self.ended))

    @cached_property
    def prompt_steps(self) -> float:
        """Mean number of steps with prompts in a row. The second step has the prompts that arrived in the two steps
        before the first; each further step has the prompts of one step in which some replicas decode.
        """
        both = (1 - self.cut) * exp(-2 * self.ended) + self.cut * exp(-self.ended - self.ended_amid_prompts)
        longest = power(self.continue_probability, self.row - 1) if self.row < inf else 0.0
        second = 1 - both * self.probability_of_no_prompts_left
        return 1 + second * (1 - longest) / (1 - self.continue_probability)

    @property
    def missing_prompts(self) -> float:
        """Prompts of the steps of a cycle less the requests that end in it, per step with prompts."""
        return self.prompts - self.ended * self.decode_steps / self.prompt_steps - self.ended_amid_prompts

    @property
    def decode_interval(self) -> float:
        """Mean seconds between the ends of two steps in which a replica decodes."""
        seconds = self.decode_steps * self.plain + self.prompt_steps * self.longer
        return seconds / (self.decode_steps + self.prompt_steps * (1 - self.prompt_share))

    @property
    def wait(self) -> float:
        """Mean seconds from the arrival of a prompt to the step that runs it.

        A request that ends in the last step with prompts, or three steps before the next one, leaves a successor that
        waits for the rest of a decode step and for another one. After an end in the following step, the successor waits
        for one step of each kind; otherwise it waits for the rest of a step with prompts. A row that was cut makes some
        wait for a step more. Prompts beyond those of a step wait for the next.
        """
        decode, prompts = (max(each / 2, each - self.late) for each in (self.plain, self.longer))
        cut, kept = self.cut, 1 - self.cut
        first = self.decode_steps - cut - 2 * kept  # steps whose ends bring the next prompts
        found = self.ended_amid_prompts * (
            (self.prompt_steps - 1) * prompts + cut * (self.plain + decode + self.longer)
        )
        found += (kept * self.ended_amid_prompts + self.ended * first) * (decode + self.plain)
        found += self.ended * (kept * (decode + self.longer) + prompts)
        each = self.drawn / self.ranks
        behind = self._probability_above(self.most - 1) - self.most / each * self._probability_above(self.most)
        return (
            found / (self.ended_amid_prompts * self.prompt_steps + self.ended * self.decode_steps)
            + behind * self.longer
        )

    def _probability_above(self, count: float) -> float:
        """The probability that more than ``count`` prompts of a step are those of a given replica."""
        each = self.drawn / self.ranks
        return probability_of_more(each, count) * (1 - LEAST if each > MOST_COUNTED else 1)


def runs_in_cycles(pools: Pools, prefill: StepTime) -> bool:
    """Whether the steps of attention replicas form a `PromptCycle`: in a closed loop, without drafts or a receive
    interval, if launching the step of a prompt takes the host longer than the next request takes to arrive.
    """
    engine, load = pools.decode, pools.load
    ahead = engine.has_prompt_only_replicas and engine.runs_ahead and load.receive_interval == load.hold_steps == 1
    looped = load.load == "closed" and not pools.has_prefill_engines and load.output_tokens > 1
    return ahead and looped and prefill.steps == 1 and prefill.floor > pools.outside


def prompt_cycle(pools: Pools, prompts: float, steps: tuple[StepTime, StepTime]) -> PromptCycle:
    """The cycle in which as many prompts run as requests end; ``prompts`` begin on each replica per decode step."""
    (decode, prefill), ranks, late = steps, float(pools.decode.layout.attention_dp), pools.outside
    most, floor = prompts_per_step(pools), prefill.floor
    found = PromptCycle(ranks, ranks * prompts, most, decode.total, floor, floor, late, LEAST)

    for _ in range(LENGTHS):
        found = _balanced_cycle(found)
        longer, met = _seconds_in_row(pools, found)
        found = replace(found, longer=max(decode.total, longer), met=max(decode.total, met))
    return _balanced_cycle(found)


def _balanced_cycle(cycle: PromptCycle) -> PromptCycle:
    """A cycle with the prompts of a step at which none are missing."""

    def missing_prompts(drawn: float) -> float:
        return replace(cycle, drawn=drawn).missing_prompts

    high = 1.0 + 2.0 * cycle.ended
    while (above := missing_prompts(high)) <= 0:
        high *= 2
    return replace(
        cycle, drawn=bisected_interval(missing_prompts, (LEAST, -inf), (high, above), BRACKET_ROUNDS, CLOSE)[1]
    )


def _seconds_in_row(pools: Pools, cycle: PromptCycle) -> tuple[float, float]:
    """Seconds of a step with prompts of a cycle: the mean of such steps, and of the steps of its prompts.

    They are the seconds of two steps: one has a standard deviation more prompts than the mean, the other a standard
    deviation fewer. The host is ahead in the first step of a row.
    """
    deviation = sqrt(max(0.0, cycle.prompts * (1 + cycle.drawn - cycle.prompts)))
    counts = max(1.0, cycle.prompts - deviation), cycle.prompts + deviation
    few, many = (
        seconds_of_step(
            pools,
            max(1.0, min(prompts_on_fullest(count / cycle.ranks, int(cycle.ranks)), cycle.most)),
            count,
            cycle.plain / cycle.prompt_steps,
        )
        for count in counts
    )
    return (few + many) / 2, (counts[0] * few + counts[1] * many) / (counts[0] + counts[1])


def wait_in_cycle(pools: Pools, prompts: float, steps: tuple[StepTime, StepTime], prompt: float) -> float:
    """Seconds by which a prompt of a `PromptCycle` takes longer than the ``prompt`` seconds that it takes alone."""
    cycle = prompt_cycle(pools, prompts, steps)
    return pools.share_with_others * (cycle.wait + cycle.met - prompt)


def prefill_time_of_replicas(pools: Pools, prompts: float, steps: tuple[StepTime, StepTime], *, follow: bool) -> float:
    """Seconds that one prompt adds to the decode steps of attention replicas that run either prompts or decode.

    ``prompts`` begin on each replica per decode step; with ``follow``, prompts also arrive during prompt steps. A
    replica does not decode in the steps that run its own prompts (with drafted tokens, in the steps that run any
    prompts). Each step lasts as long as the replica with the most prompts takes.
    """
    load, (decode, prefill) = pools.load, steps
    if runs_in_cycles(pools, prefill):
        return (prompt_cycle(pools, prompts, steps).decode_interval - decode.total) / prompts
    if follow and not load.draft_tokens:
        return (steps_of_replicas(pools, prompts, steps).decode_interval - decode.total) / prompts
    ranks, most_of_step = pools.decode.layout.attention_dp, prompts_per_step(pools)
    own = max(-expm1(-prompts), prompts / most_of_step) * prefill.steps
    any_rank = 1 - power(1 + own, -float(ranks))
    ahead = step_ahead(pools, steps, any_rank)
    longest = prefill.lasting_after(ahead) / prefill.steps
    if prefill.steps == 1:
        most = max(1.0, min(prompts_on_fullest(prompts, ranks) / -expm1(-prompts * ranks), most_of_step))
        longest = seconds_of_step(pools, most, ranks * prompts / any_rank, ahead)
    if load.draft_tokens:
        every = steps_of_fullest(prompts, ranks, int(most_of_step)) * prefill.steps
        return every * longest / prompts
    mean = decode.total + any_rank * max(0.0, longest - decode.total)
    return ((1 + own) * mean - decode.total) / prompts
