"""The latencies of a serving plan: at the median, at percentiles, their ranges, and the targets that are missed."""

from __future__ import annotations

from math import exp, floor, log, sqrt
from typing import TYPE_CHECKING

from clusterspec.cluster.requests import Serving, Target, gaps_between
from clusterspec.cost.formulas.serving import request_time, wait_above_median
from clusterspec.cost.serving.constants import RANGES, TAILS, StepTime
from clusterspec.cost.serving.handoff import Handoff
from clusterspec.cost.serving.quantiles import (
    compound_share,
    lengths_in_parts,
    poisson_quantile,
    quantile_of_sums,
    smallest_reaching,
)
from clusterspec.records import NamedTuple, dataclass, field

if TYPE_CHECKING:
    from collections.abc import Callable

    from clusterspec.cost.serving.balance import ExpertUse
    from clusterspec.cost.serving.caches import TierUse
    from clusterspec.cost.serving.pools import Pools
    from clusterspec.cost.serving.runs import FiniteRun, OpenRun


class Highest:
    """The highest concurrency of a plan at which all targets are met, found when it is first read: few readers do."""

    __slots__ = ("_found", "_pools", "_search")

    def __init__(self, search: Callable[[Pools], float | None], pools: Pools) -> None:
        self._search = search
        self._pools: Pools | None = pools
        self._found: float | None = None

    @property
    def value(self) -> float | None:
        pools = self._pools
        if pools is not None:  # kept until then; of two threads that read it both may compute it
            self._found = self._search(pools)
            self._pools = None
        return self._found


@dataclass(frozen=True)
class ServingTimes:
    """Seconds, bytes and tokens of a serving plan.

    ``decode`` and ``prefill`` are the steps of one engine behind the times, ``sequences`` those in flight on one
    attention rank. Throughput is that of the whole plan.
    """

    ttft: float
    tpot: float
    ttft_mean: float
    tpot_mean: float
    request_latency: float
    output_tokens_per_second: float
    accelerators: float
    kv_bytes_per_token: float
    kv_capacity_tokens: float
    kv_capacity_sequences: float
    prefill_share: float
    sequences: float
    decode: StepTime
    prefill: StepTime
    prompt_time: float
    prompt_service: float
    """Seconds in which each pipeline stage of an attention rank computes one prompt: the time between two prompts of an
    engine that has enough of them. ``prompt_time`` is the time of one through all stages.
    """
    wait: float
    burst: tuple[float, float]
    """Seconds of the median and of the mean time to first token beside the mean wait: of the burst at the start of a
    run, or, in an open load, what the median wait is shorter.
    """
    stages: tuple[int, int]
    """Pipeline stages of a prefill and of a decode engine."""
    prompt_floor: float
    """The least seconds to launch the prompt."""
    sent: Handoff | None
    """The transfer of a prompt's cache to the decode engine; None where the same engine decodes."""
    overhead: float
    """Seconds of a request outside the engines."""
    carried: float
    """Sequences of one attention rank in the time per output token."""
    output_tokens: float
    carried_prefill: float
    """Seconds of prompts in the steps of the same engine."""
    tokens_per_step: float
    offered: float
    """Requests in flight on the whole plan, including waiting ones."""
    started: float
    """The time per output token of separate decode engines, half of which passes before a computed prompt decodes."""
    prompt_load: float
    """Utilization of the prefill engines."""
    coupled_ranks: int = 1
    """Attention ranks of an engine whose steps wait for each other, each with prompts at times of its own."""
    loading: float = 0.0
    """Mean seconds of a request to read cached tokens from memory below the accelerators'."""
    prefix_hit: float = 0.0
    """The share of the input tokens that is in a cache, as stated or from sessions."""
    tiers: tuple[TierUse, ...] = ()
    """What each tier of memory keeps; empty without sessions."""
    experts: ExpertUse | None = None
    """How uneven the ranks are under the load of experts that the spec states."""
    typical_prompt: float = 1.0
    """The median length of the prompts over their mean, which ``prompt_time`` is of."""
    starts_together: bool = False
    """Whether all requests start and end together."""
    queued: float = 0.0
    """Seconds of the wait in which every request of a closed loop waits for another to end."""
    run: FiniteRun | OpenRun | None = None
    """The run of the requests that the spec states; None in a steady state."""
    lasting: float | None = None
    """Seconds of that run in a closed loop."""
    joining: float = 0.0
    """Seconds that the handoff adds to the first gap between tokens, where the first token is sent before it."""
    prompts_alone: bool = False
    """Whether steps with prompts hold no sequences that decode: a gap lasts as long as all steps of a prompt in it."""
    highest: Highest | None = field(default=None, repr=False, compare=False)

    @property
    def ttft_of_mean_prompt(self) -> float:
        """The time to the first token of a prompt of mean length, in seconds: the mean, in a run the median."""
        return self.ttft + (1 - self.typical_prompt) * self.prompt_time + self.shorter

    @property
    def shorter(self) -> float:
        """Seconds by which the median wait of an open load is shorter than the mean."""
        return -self.burst[0] if self.run is None else 0.0

    @property
    def max_concurrency(self) -> float | None:
        """The highest concurrency within the targets, by bisection when it is first read; None where not asked for."""
        return self.highest.value if self.highest is not None else None

    @property
    def handoff(self) -> float:
        """Seconds to transfer the cache of a prompt to its decode engine; 0 where the same engine decodes."""
        return self.sent.seconds if self.sent else 0.0

    @property
    def regime(self) -> str:
        """The conditions on which the range of the time to first token depends: alone, apart, static, or empty."""
        if self.offered <= 1.0:
            return "alone"
        return "apart" if self.sent else "static" if self.starts_together else ""

    @property
    def places(self) -> int:
        """Whole requests of mean length that the caches hold."""
        return floor(self.kv_capacity_sequences * (1 + 1e-12))

    @property
    def most_in_flight(self) -> int | None:
        """Whole requests in flight within the targets; None where there are no targets."""
        return None if self.max_concurrency is None else floor(self.max_concurrency * (1 + 1e-12))

    @property
    def queue_share(self) -> float:
        """The share of the median time to the first token in which a request waits for cache space or other prompts."""
        return (self.wait + self.burst[0]) / self.ttft if self.ttft else 0.0

    @property
    def per_accelerator(self) -> float:
        """Output tokens per second of one used accelerator."""
        return self.output_tokens_per_second / self.accelerators


def serving_range(times: ServingTimes, name: str) -> list[float]:
    """The low and the high end of a field: a latency, its mean, or the output tokens per second."""
    low, high = range_factors(times, name.removesuffix("_mean"))
    value: float = getattr(times, name)
    return [value * low, value * high]


def range_factors(times: ServingTimes, quantity: str) -> tuple[float, float]:
    """The ends of the range of a quantity over its prediction.

    The time to first token is least certain with separate prefill engines, which queue, with experts, and in a batch
    that starts together; throughput with experts.
    """
    kind = quantity
    routed = any(part.name == "experts" for part in times.prefill.parts)
    if quantity == "output_tokens_per_second" and routed:
        kind = "output_tokens_per_second experts"
    elif quantity == "ttft":
        kind = f"ttft {times.regime or ('experts' if routed else '')}".strip()
    return RANGES[kind]


def tail_factors(times: ServingTimes, quantity: str, share: float) -> tuple[float, float]:
    """The ends of the range of ``ttft`` or ``tpot`` at a percentile (``share`` from 0.5 to 1) over its prediction.

    Those of the median and of the 99th percentile were measured. Between them the ends follow the exponential tail of
    waits; above, they are those of the 99th.
    """
    kind = "ttft apart" if quantity == "ttft" and times.regime == "apart" else quantity
    part = min(1.0, log(0.5 / (1 - share)) / log(0.5 / 0.01))
    low, high = (
        middle ** (1 - part) * end**part
        for middle, end in zip(range_factors(times, quantity), TAILS[kind], strict=True)
    )
    return low, high


# Latencies at a percentile. TTFT is the time from a request to its first token, TPOT the mean time between the tokens
# of one request, ITL each single gap between two tokens, end to end the time from a request to its last token

MEDIAN = 50.0
LONG_WAITS = 0.9
"""The share of waits from which on those of an open load have the tail of their mean."""
HIGHEST = 99.9
"""The percentile up to which the exponential tail of the waits is used."""
QUANTITIES = {
    "ttft": "time to first token",
    "tpot": "time per output token",
    "itl": "gap between tokens",
    "end_to_end": "end to end",
}
"""The latencies that targets may limit, by their key, as printed."""


@dataclass(frozen=True)
class Tail:
    """The latencies that ``percentile`` of 100 requests do not exceed, in seconds, each with its range."""

    percentile: float
    ttft: float
    tpot: float
    ttft_range: tuple[float, float]
    tpot_range: tuple[float, float]


class TargetResult(NamedTuple):
    """A target, the predicted latency at its percentile and the ends of its range, in seconds.

    ``queue_grows``: requests arrive faster than the engines serve them. The latency is then that of the steady state of
    full engines, without the queue before them.
    """

    target: Target
    seconds: float
    range: tuple[float, float]
    queue_grows: bool = False

    @property
    def missed(self) -> bool:
        """Whether the latency is above the target, or includes the wait in a queue that grows without end."""
        return self.seconds > self.target.seconds or self.missed_in_queue

    @property
    def missed_in_queue(self) -> bool:
        """Whether full engines meet the target, and requests miss it in the queue before them."""
        waits = self.queue_grows and self.target.quantity in OF_QUEUE
        return waits and self.seconds <= self.target.seconds


def latency_tail(times: ServingTimes, load: Serving) -> Tail | None:
    """The latencies at the highest percentile of their targets; None at the median, which the plan itself has."""
    at = max([load.percentile, *(each.percentile for each in load.targets if each.quantity in {"ttft", "tpot"})])
    if at <= MEDIAN:
        return None
    first, each = latency_at(times, load, "ttft", at), latency_at(times, load, "tpot", at)
    return Tail(at, first, each, latency_range(times, load, "ttft", at), latency_range(times, load, "tpot", at))


def target_results(times: ServingTimes, load: Serving) -> tuple[TargetResult, ...]:
    """Every target with the predicted latency at its percentile."""
    return tuple(target_result(times, load, each) for each in load.targets)


def target_result(times: ServingTimes, load: Serving, target: Target) -> TargetResult:
    """A target with the predicted latency at its percentile."""
    return TargetResult(
        target,
        latency_at(times, load, target.quantity, target.percentile),
        latency_range(times, load, target.quantity, target.percentile),
        exceeds_capacity(times, load),
    )


def meets_targets(times: ServingTimes, load: Serving) -> bool:
    """Whether a plan meets all targets at its load, and no queue grows without end where one counts."""
    return not any(each.missed for each in target_results(times, load))


def missed_targets(times: ServingTimes, load: Serving) -> tuple[Target, ...]:
    """The targets that the latencies of a plan exceed at its load, apart from a queue that grows without end."""
    return tuple(
        each for each in load.targets if latency_at(times, load, each.quantity, each.percentile) > each.seconds
    )


OF_QUEUE = ("ttft", "end_to_end")
"""Latencies that include the wait of a request for a place."""
ABOVE = 1.02
"""Offered over predicted throughput of a load that is served: what iteration to a steady state leaves open."""
MOST_WAIT = 0.5
"""The share of the mean time to the first token that requests of an engine with spare capacity wait."""


def exceeds_capacity(times: ServingTimes, load: Serving) -> bool:
    """Whether requests of an open load arrive faster than the engines serve them, without end."""
    if times.lasting is not None:
        return False
    return (load.request_rate or 0.0) * load.output_tokens > ABOVE * times.output_tokens_per_second


def mostly_waits(times: ServingTimes) -> bool:
    """Whether requests wait for prefill in most of the mean time to the first token."""
    return times.wait > MOST_WAIT * times.ttft_mean


def keeps_up(times: ServingTimes, load: Serving) -> bool:
    """Whether the engines serve an open load within its targets; without any, whether they have spare capacity."""
    if exceeds_capacity(times, load):
        return False
    return not missed_targets(times, load) if load.targets else not mostly_waits(times)


def target_excess(times: ServingTimes, load: Serving) -> float:
    """The largest excess of a latency over its target, as a share of it; at most 0 where all targets are met."""
    return max(
        (latency_at(times, load, each.quantity, each.percentile) - each.seconds) / each.seconds for each in load.targets
    )


def latency_at(times: ServingTimes, load: Serving, quantity: str, percentile: float) -> float:
    """The seconds that this percentage of the requests, or of the gaps, does not exceed; up to 50 the median."""
    share = max(MEDIAN, min(percentile, HIGHEST)) / 100
    if quantity == "ttft":
        return times.ttft if percentile <= MEDIAN else _first_token(times, load, share)
    if quantity == "tpot":
        return times.tpot if percentile <= MEDIAN else max(times.tpot, times.tpot_mean, _mean_gap(times, load, share))
    return single_gap(times, load, share) if quantity == "itl" else _end_to_end(times, load, share)


def latency_range(times: ServingTimes, load: Serving, quantity: str, percentile: float) -> tuple[float, float]:
    """The ends of the range of a latency at a percentile, in seconds.

    Gaps are as uncertain as their mean; the ends of the whole request are those of its first token and of the others.
    """
    value = latency_at(times, load, quantity, percentile)
    if quantity == "end_to_end":
        first = min(value, latency_at(times, load, "ttft", percentile))
        (low, high), (least, most) = (latency_factors(times, name, percentile) for name in ("ttft", "tpot"))
        return first * low + (value - first) * least, first * high + (value - first) * most
    low, high = latency_factors(times, "ttft" if quantity == "ttft" else "tpot", percentile)
    return value * low, value * high


def latency_factors(times: ServingTimes, quantity: str, percentile: float) -> tuple[float, float]:
    """The ends of the range of ``ttft`` or ``tpot`` over its prediction, at a percentile."""
    if percentile <= MEDIAN:
        return range_factors(times, quantity)
    return tail_factors(times, quantity, min(percentile, HIGHEST) / 100)


def is_caused_by_chunks(times: ServingTimes, target: Target) -> bool:
    """Whether a missed target of the gaps between tokens is met by steps without prompts."""
    return target.quantity == "itl" and times.decode.total <= target.seconds


def _first_token(times: ServingTimes, load: Serving, share: float) -> float:
    """The time to the first token at a share of the requests above a half.

    Waits in a steady state have an exponential tail. In a finite run the requests of the burst at its start are the
    slowest: each waits for those before it, so that the place in the burst is the percentile. Prompts of varied lengths
    take times in proportion.
    """
    burst, varied = _burst_wait(times, share), _varied_wait(times, load)
    burst -= times.shorter * max(0.0, 1 - wait_above_median(1.0, share) / wait_above_median(1.0, LONG_WAITS))
    if load.input_lengths is None:
        return times.ttft + times.shorter + wait_above_median(varied, share) + burst
    return max(times.ttft, quantile_of_sums(_prompt_times(times, load), varied, share) + burst)


def _varied_wait(times: ServingTimes, load: Serving) -> float:
    """The part of the mean wait that differs among requests of a steady state.

    In a closed loop all wait as long for another to end, and the number that waits for prompts differs by the root of
    those that do not wait, since that is a Poisson number (the machine-repair model).
    """
    if times.run is not None:
        return 0.0
    if load.concurrency is None:
        return times.wait
    return min(times.wait - times.queued, times.prompt_time * sqrt(max(1.0, times.sequences)))


def _prompt_times(times: ServingTimes, load: Serving) -> list[tuple[float, float]]:
    """The times to the first token of prompts of varied lengths after a mean wait, each with its share of the
    requests.
    """
    if load.input_lengths is None:
        return [(times.ttft + times.shorter, 1.0)]
    return [
        (times.ttft + times.shorter + times.prompt_time * (length / load.input_tokens - times.typical_prompt), part)
        for length, part in lengths_in_parts(load.input_lengths)
    ]


def _burst_wait(times: ServingTimes, share: float) -> float:
    """Seconds that the request at percentile ``share`` of a run waits more than the median one."""
    return times.run.wait_at(share) - times.wait - times.burst[0] if times.run is not None else 0.0


def _mean_gap(times: ServingTimes, load: Serving, share: float) -> float:
    """The mean gap of one request at a share of the requests.

    All requests of a batch share its steps, so that equal requests have equal means. Of varied or of irregular ones,
    the prompts that start during a request's output vary as a Poisson count, most over short outputs.
    """
    varied = load.input_lengths or load.output_lengths or load.load == "open"
    prompts = times.sequences / load.gaps * times.coupled_ranks
    if not varied or not times.carried_prefill or times.output_tokens < 2:
        return times.tpot
    each = times.carried_prefill / times.stages[1] / times.coupled_ranks
    spread = 1.0 + (load.input_lengths.variation if load.input_lengths else 0.0)
    base = times.tpot - prompts * each
    parts = [
        (prompts * (length - 1), length - 1, part) for length, part in _output_parts(load) if length >= 2
    ]  # prompts during an output, and its gaps

    def within(seconds: float) -> float:
        return sum(
            part * compound_share((seconds - base) * gaps / each, count, spread) for count, gaps, part in parts
        ) / sum(part for _, _, part in parts)

    return smallest_reaching(within, share, base, base + each)


def single_gap(times: ServingTimes, load: Serving, share: float) -> float:
    """The gap between two tokens at a share of all gaps: a decode step, longer by the chunks of prompts in it."""
    step = times.decode.total
    if times.joining and 1 / gaps_between(times.output_tokens) > 1 - share:
        return step + times.joining
    if load.prefill is not None or load.load == "static" or not times.carried_prefill:
        return step
    ended = times.sequences * times.tokens_per_step / load.gaps
    chunks, stages = times.prefill.steps, times.stages[1]
    if chunks > 1 and not times.prompts_alone:
        longer = max(0.0, times.prefill.total / chunks - step) / stages
        return step + longer if min(1.0, ended * chunks * times.coupled_ranks) > 1 - share else step
    fresh = max(1.0, load.input_tokens * (1 - load.prefix_hit))
    most = max(1.0, (load.chunk_tokens or fresh) // fresh)
    prompts, each = ended * times.coupled_ranks, times.carried_prefill / stages / times.coupled_ranks
    if load.input_lengths is None:
        return step + min(most, poisson_quantile(prompts, share)) * each
    return step + min(most, _prompts_in_step(load, prompts, share)) * each


def _prompts_in_step(load: Serving, prompts: float, share: float) -> float:
    """The work of prompts of varied lengths at a share of the steps, in prompts of mean length.

    A step has a Poisson count of them, ``prompts`` on average: none, one of a drawn length, or a sum.
    """
    assert load.input_lengths is not None
    none, one = exp(-prompts), prompts * exp(-prompts)
    parts = [(length / load.input_tokens, part) for length, part in lengths_in_parts(load.input_lengths)]
    spread = 1.0 + load.input_lengths.variation

    def within(work: float) -> float:
        single = sum(part for length, part in parts if length <= work)
        return none + one * single + (1 - none - one) * compound_share(work, max(2.0, prompts), spread)

    return 0.0 if none >= share else smallest_reaching(within, share, 0.0, 1.0)


def _end_to_end(times: ServingTimes, load: Serving, share: float) -> float:
    """The time of a whole request at a share of the requests: its first token, and its outputs at the mean gap."""
    firsts = _prompt_times(times, load)
    burst, varied = _burst_wait(times, share), _varied_wait(times, load)
    if load.output_lengths is None and load.input_lengths is None:
        return request_time(latency_at(times, load, "ttft", 100 * share), load.output_tokens, times.tpot)
    sums = [
        (first + max(0.0, length - 1) * times.tpot, here * part)
        for first, here in firsts
        for length, part in _output_parts(load)
    ]
    return quantile_of_sums(sums, varied, share) + burst


def _output_parts(load: Serving) -> list[tuple[float, float]]:
    """Lengths of outputs, each with its share of the requests."""
    return lengths_in_parts(load.output_lengths) if load.output_lengths else [(float(load.output_tokens), 1.0)]
