"""Waits of a prompt on separate prefill engines: for the running step, a step formed ahead, and earlier prompts."""

from __future__ import annotations

from math import ceil, exp, expm1, inf, log, sqrt

from clusterspec.cost.formulas.compute import power
from clusterspec.cost.formulas.experts import prompts_on_fullest, steps_of_fullest
from clusterspec.cost.formulas.queues import highest_load, prompt_wait, share_formed_ahead, steps_wait, wave_load
from clusterspec.cost.serving import constants
from clusterspec.cost.serving.parts.step import unevenly_loaded_ranks
from clusterspec.cost.serving.pools import Pools, prompts_per_step
from clusterspec.cost.serving.quantiles import bisected_interval
from clusterspec.cost.serving.state import WaitTail
from clusterspec.cost.serving.step_times import prompt_step
from clusterspec.cost.serving.waits.mixed import PromptQueue
from clusterspec.cost.serving.waits.prompts import LEAST_SHARE, SHARED_ROUNDS, variation_seconds
from clusterspec.records import dataclass
from clusterspec.standard import cached_property

TYPE_CHECKING = False
if TYPE_CHECKING:
    from clusterspec.cost.serving.state import Steady

NORMAL = 2.326 / log(50)
"""The mean of an exponential distribution over the standard deviation of a normal distribution if both have the same
difference between 99th percentile and median.
"""
LEAST_RATE = 1e-9
"""The least rate of prompts for which a queue is computed."""
STEP_ROUNDS, CLOSE = 40, 1e-6
"""Rounds for the number of prompts in a step at most, and the relative width at which they end."""
MOST_COUNTED = 200
"""Number of engines up to which the idle ones are counted individually; larger numbers hardly ever have an idle engine.
"""


def wait_for_received_prompts(pools: Pools, unreceived: float, rate: float, service: float) -> float:
    """Seconds that a prompt of separate prefill engines waits for the prompts that its decode engine received with it.

    Those of twice the ``unreceived`` wait start at once, of ``rate`` requests per second on all decode engines. They
    are spread over the ranks that run prompts, for ``service`` seconds each; half of them are before it.
    """
    group = 2 * unreceived * rate / pools.decode.replicas
    return group / 2 * service / pools.prompts.attention_ranks


@dataclass(frozen=True)
class PrefillQueue:
    """Prompts that arrive at random times, ``rate`` per second, at an engine that runs only prompts and is idle without
    one. Seconds: a step with one prompt takes ``first``, each further one adds ``added``. A step holds at most
    ``per_step`` prompts, fractions included, and takes ``full`` with so many. A prompt goes to the one of ``engines``
    with the fewest prompts.

    A step takes the prompts that arrived during the step before it, at least the prompt that ends an idle time. Routing
    distributes prompts evenly: during a step of t seconds, a Poisson number N comes to all engines, N / engines to
    each.
    """

    rate: float
    first: float
    added: float
    per_step: float
    full: float
    engines: float = 1.0

    @property
    def load(self) -> float:
        """The prompts that arrive while a full step runs, divided by the prompts that the step computes.

        >>> PrefillQueue(2.5, 0.2, 0.1, 3.0, 0.4).load
        0.3333333333333333
        """
        return self.queue_behind_full_steps.load

    @property
    def queue_behind_full_steps(self) -> PromptQueue:
        """The queue of the prompts that find full steps before them."""
        return PromptQueue(self.rate, self.first - self.added, self.added, self.per_step, self.full, self.engines)

    @cached_property
    def prompts(self) -> float:
        """Mean number of prompts in a step: those that arrived during the previous step, or one prompt after idle time.

        >>> PrefillQueue(1e-9, 0.2, 0.1, 3.0, 0.4).prompts, PrefillQueue(1e9, 0.2, 0.1, 3.0, 0.4).prompts
        (1.0, 3.0)
        """

        def excess(prompts: float) -> float:
            met = self.rate * (self.first + self.added * (prompts - 1))
            return prompts - met - idle_share(met, self.engines)

        above = excess(self.per_step)
        if above <= 0 or self.per_step == 1:
            return self.per_step
        found = bisected_interval(excess, (1.0, -inf), (self.per_step, above), STEP_ROUNDS, CLOSE)
        return 1.0 if found[1] < 1 + 2 * CLOSE * self.per_step else found[1]

    @cached_property
    def steps(self) -> tuple[float, float]:
        """Seconds of a step: the mean over steps, and the mean of the step that a prompt meets.

        The squared number of prompts in a step is that of the arrivals, less what full steps leave.

        >>> [round(each, 9) for each in PrefillQueue(1e-9, 0.2, 0.1, 3.0, 0.4).steps]  # a prompt is alone
        [0.2, 0.2]
        """
        prompts, fixed, each = self.prompts, self.first - self.added, self.rate * self.added
        mean = fixed + self.added * prompts
        known, met = fixed * fixed + 2 * fixed * self.added * prompts, self.rate * mean
        left = self.queue_behind_full_steps.left * mean / self.full  # at the start of steps, not over the time
        came = met / self.engines + self.rate * self.rate * known + idle_share(met, self.engines)
        squares = (came - 2 * left * self.per_step * (1 - self.load)) / max(LEAST_SHARE, 1 - each * each)
        squares = min(self.per_step * prompts, max(prompts * prompts, squares))
        return mean, min(self.full, (known + self.added * self.added * squares) / mean)

    @property
    def waiting_share(self) -> float:
        """The share of the prompts that find every engine amid a step.

        Source: Sakasegawa, "An approximation formula L_q = α ρ^β / (1 − ρ)", Ann. Inst. Statist. Math. 29, 1977, where
        ρ^(β − 1) is the share that waits.

        >>> PrefillQueue(1.0, 0.5, 0.5, 1.0, 0.5).waiting_share
        0.5
        >>> round(PrefillQueue(1.0, 0.5, 0.5, 1.0, 0.5, 3.0).waiting_share, 6)  # 0.5 to the power of √8 − 1
        0.281571
        """
        busy = min(1.0, self.rate * self.steps[0] / self.prompts)
        return power(busy, sqrt(2 * (self.engines + 1)) - 1)

    @property
    def even_wait(self) -> float:
        """Mean seconds that a waiting prompt spends on the rest of a step and on other prompts of its own step; 0 if a
        step has one prompt, since its queue then includes the rest of the running step.

        >>> round(PrefillQueue(1e-9, 0.2, 0.1, 3.0, 0.4).even_wait, 9)
        0.1
        """
        if self.per_step == 1:
            return 0.0
        met = self.steps[1]
        others = mean_up_to(max(0.0, self.rate * met + 1 / self.engines - 1), self.per_step - 1)
        return met / 2 + others * self.added

    def tail(self, ahead: float, varied: float) -> WaitTail:
        """The distribution of the wait. Steps formed before the prompt came add ``ahead`` seconds, irregular prompts
        ``varied``. The rest are steps that are full of prompts before it.

        >>> PrefillQueue(1.0, 0.5, 0.5, 1.0, 0.5).tail(0.0, 0.0).of_all  # one server: 0.5² / 2 (1 − 0.5)
        0.25
        """
        service, queue = self.full / self.per_step, self.queue_behind_full_steps
        queued = queue.left / self.rate * (self.steps[1] / self.full) + varied  # steps with fewer prompts are shorter
        decay = queue.decay * (1 + varied * 2 * (1 - self.load) / (self.load * service))
        share = min(1.0, queued / decay)
        return WaitTail(0.0, 2 * (self.even_wait + ahead), share, queued / share if share else 0.0, self.waiting_share)


def idle_share(mean: float, engines: float) -> float:
    """The share of engines without a prompt, of ``engines`` over which a Poisson number of prompts, ``mean`` for each,
    is spread evenly.

    >>> round(idle_share(0.5, 1.0), 6), round(idle_share(0.5, 2.0), 6)  # exp(-0.5); exp(-1) (1 + 1 / 2)
    (0.606531, 0.551819)
    """
    term = found = exp(-mean * engines)
    for number in range(1, min(MOST_COUNTED, ceil(engines))):
        term *= mean * engines / number
        found += term * max(0.0, 1 - number / engines)
    return found


def mean_up_to(mean: float, most: float) -> float:
    """The mean of a Poisson number with mean ``mean`` that is capped at ``most``.

    >>> round(mean_up_to(0.5, 1.0), 6), mean_up_to(2.0, 1e9)  # 1 - exp(-0.5)
    (0.393469, 2.0)
    >>> round(mean_up_to(0.5, 1.5), 6)  # and half of 1 - 1.5 exp(-0.5)
    0.438571
    """
    if most > MOST_COUNTED:
        return min(mean, most)
    term = within = exp(-mean)
    found = 0.0
    for number in range(ceil(most)):
        found += min(1.0, most - number) * (1 - within)
        term *= mean / (number + 1)
        within += term
    return found


def separate_prompt_tail(
    pools: Pools, rate: float, each: tuple[float, float], most: float = constants.MOST_LOAD
) -> WaitTail:
    """The wait of a prompt on separate prefill engines whose ranks step by themselves, of ``rate`` prompts a second
    that come at any time and use ``most`` of the engines. ``each`` has the seconds of a single prompt, and of one in a
    full step.
    """
    engine, load = pools.prompts, pools.load
    (prompt, service), stages, engines = each, float(engine.layout.pp), float(engine.attention_ranks)
    per_step = max(1.0, (load.chunk_tokens or 0.0) / max(1.0, load.fresh_tokens))
    several = per_step > 1 and service <= prompt
    added = max(0.0, (per_step * service - prompt) / (per_step - 1)) if several else service
    first = max(prompt, added) if several else service
    per_step = per_step if several else 1.0
    each_rate = min(max(rate, LEAST_RATE) / engines, most / service)
    most_full = max(first, per_step * service)
    queue = PrefillQueue(each_rate, first, added, per_step, most_full, pools.engines_of_choice)
    met = queue.steps[1]
    launched = min(1.0, engine.launch_floor(max(1.0, load.fresh_tokens)) / met)  # steps are launched one after another
    ahead = (1 - launched) * _step_ahead_seconds(pools, rate, met) if stages == 1 else 0.0
    return queue.tail(ahead, variation_seconds(pools, queue.load, service))


def varied_loop_wait(pools: Pools, now: Steady) -> float:
    """The part of the mean wait on separate prefill engines that varies among the requests of a closed loop, in
    seconds: as the mean of an exponential wait.

    A request finds all others before it but those that decode or are on their way, a number that varies by the square
    root of its mean; each takes the time of a prompt. The rest of the wait is the same for all.
    """
    elsewhere = now.sequences * pools.decode.attention_ranks + now.rate * now.outside
    return min(now.wait, NORMAL * sqrt(max(1.0, elsewhere)) * now.service / pools.prompts.attention_ranks)


def separate_prompt_wait(pools: Pools, rate: float, each: tuple[float, float]) -> float:
    """Queueing time of a prompt on separate prefill engines, in seconds: the running step, a step formed ahead, and
    earlier prompts.

    ``rate`` prompts a second arrive; ``each`` has the seconds of a single prompt, and of one in a batched step. In a
    closed loop a request waits only for the other requests (the arrival theorem of Reiser and Lavenberg, J. ACM 27(2),
    1980), and in a finite run its prompts arrive in waves, at a higher rate.
    """
    prompt, service = each
    load, requests, ranks = pools.load, pools.load.concurrency, pools.prompts.attention_ranks
    used = rate * service / ranks
    if load.requests and 0 < used < 1:
        rate *= wave_load(used, constants.WAVE.value) / used
        used = wave_load(used, constants.WAVE.value)
    others, most = 1.0, constants.MOST_LOAD
    if requests is not None:
        others, most = (requests - 1) / requests, highest_load(max(1.0, requests / ranks))
    if unevenly_loaded_ranks(pools.prompts) == 1:
        return separate_prompt_tail(pools, rate * others, each, most).of_all
    step, busy = _coupled_step(pools, rate, (prompt, service), used)
    if pools.shares_prompts_by_step:
        places = max(1.0, prompts_per_step(pools) * pools.prompts.layout.attention_dp)
        queued = busy * step / 2 * others + steps_wait(min(used * others, most), places, step)
        return (step - prompt) * others + queued + variation_seconds(pools, min(used, most), service)
    longer = step - prompt + busy * _step_ahead_seconds(pools, rate, step)
    queued = prompt_wait(min(used * others, most), service, busy * others, step)
    return longer * others + queued + variation_seconds(pools, min(used, most), service)


def _coupled_step(pools: Pools, rate: float, each: tuple[float, float], used: float) -> tuple[float, float]:
    """Seconds of a step that ends on all ranks of a prefill engine at once, and the probability that one runs when a
    prompt arrives.
    """
    prompt, service = each
    step = _shared_step_seconds(pools, rate, prompt)
    if pools.shares_prompts_by_step:  # a step follows each one during which a prompt came
        return step, -expm1(-rate / pools.prompts.replicas * step)
    busy = min(1.0, used * prompt / service) if service else 0.0
    return step, 1 - (1 - min(1.0, busy * step / prompt)) ** unevenly_loaded_ranks(pools.prompts)


def median_above_mean_of_coupled_ranks(pools: Pools, now: Steady) -> float:
    """Seconds by which the median wait exceeds the mean, of an open load on separate prefill engines whose ranks step
    together: below zero. A prompt that finds a step running waits for an even part of steps, others for nothing.
    """
    each = now.prompt / pools.prompts.layout.pp, now.service
    _, busy = _coupled_step(pools, now.rate, each, now.rate * now.service / pools.prompts.attention_ranks)
    return now.wait * (max(0.0, 2 * busy - 1) / (busy * busy) - 1) if busy else 0.0


def _step_ahead_seconds(pools: Pools, rate: float, step: float) -> float:
    """Seconds that a prompt waits for the step after the running one, of ``step`` seconds, if that step was formed
    before the prompt arrived. ``rate`` prompts per second arrive at all engines.

    Source: SGLang, python/sglang/srt/disaggregation/prefill.py at 000c2b942308 (event_loop_overlap_disagg_prefill):
    the scheduler forms and launches a step before it waits for the result of the one before it.
    """
    engine = pools.prompts
    alone = prompts_per_step(pools) == 1 and unevenly_loaded_ranks(engine) == 1  # a formed step has no place left
    if alone or not engine.forms_steps_ahead:
        return 0.0
    return _share_of_steps_formed_ahead(pools, rate, step) * step


def _share_of_steps_formed_ahead(pools: Pools, rate: float, step: float) -> float:
    """The share of the steps of a prefill engine that are formed while the one before them runs."""
    engine = pools.prompts
    if not engine.forms_steps_ahead:
        return 0.0
    launching = engine.launch_floor(max(1.0, pools.load.fresh_tokens))
    return share_formed_ahead(rate / engine.replicas, min(step, launching), step)


def _shared_step_seconds(pools: Pools, rate: float, alone: float) -> float:
    """Seconds of a step of a prefill engine whose attention ranks wait for the rank with the most prompts.

    ``rate`` prompts per second arrive at all engines, and one prompt takes ``alone`` seconds. Prompts that arrive
    during a step run in the next step. The router counts the requests of each rank, running ones included, and sends
    new requests to the ranks with the fewest, so that none has two until all have one. A rank then has in one step up
    to as many as all have on average in the running step, in one formed ahead and in the next; every other one that has
    more than this mean, rounded up, has them in the same step.
    """
    engine, load = pools.prompts, pools.load
    ranks = engine.layout.attention_dp
    fresh, length = load.fresh_tokens, float(load.input_tokens)
    if fresh > (load.chunk_tokens or fresh):
        return alone
    found = prompt_step(engine, prompts_per_step(pools) * fresh, length, float(ranks)).total
    for _ in range(SHARED_ROUNDS):  # from full steps: where both full and short ones last, fluctuations fill them
        mean = max(LEAST_SHARE, rate / engine.attention_ranks * found)
        if pools.shares_prompts_by_step:  # evenly, in steps that have any
            drawn = routed = steps_of_fullest(mean * ranks, 1, ranks) / -expm1(-mean * ranks)
        else:
            drawn = prompts_on_fullest(mean, ranks) / -expm1(-mean * ranks)
            present = (2 + _share_of_steps_formed_ahead(pools, rate, found)) * mean
            routed = (present + steps_of_fullest(present * ranks, 1, ranks)) / 2
        most = max(1.0, mean, min(prompts_per_step(pools), drawn, routed))
        before, found = (
            found,
            prompt_step(engine, most * fresh, length, min(ranks, max(1.0, ranks * mean / most))).total,
        )
        if abs(found - before) < 1e-2 * before:
            break
    return max(alone, found)
