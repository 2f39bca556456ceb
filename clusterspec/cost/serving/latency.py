"""The record of the times of a serving plan, and the ranges of its latencies and of its throughput."""

from __future__ import annotations

from math import floor, sqrt

from clusterspec.cost.serving.constants import LOSSES, MOST_LOAD, RANGES, StepTime
from clusterspec.cost.serving.handoff import Handoff
from clusterspec.cost.serving.loads import PlaceWait, serves_rate
from clusterspec.quantity import Figure
from clusterspec.records import dataclass, field

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from clusterspec.cluster.measured_shares import MeasuredShare
    from clusterspec.cluster.requests import Serving
    from clusterspec.cost.serving.caches import TierUse
    from clusterspec.cost.serving.parts.balance import ExpertUse
    from clusterspec.cost.serving.pools import Pools
    from clusterspec.cost.serving.runs import FiniteRun, OpenRun
    from clusterspec.cost.serving.state import Steady
    from clusterspec.cost.serving.waits.shares import PromptShares

LIMIT_WIDTH = 0.005
"""Relative width at which the bisection for the limit of an open load ends."""


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


class Stretched:
    """The plan of an open load if each of its times were longer by a factor. This equals the same plan at a request
    rate higher by the factor, with all resulting times multiplied by the factor. The times of both ends of a range are
    kept.
    """

    __slots__ = ("_found", "_limits", "_pools", "_times")

    def __init__(self, times: Callable[[Pools, float], ServingTimes], pools: Pools) -> None:
        self._times = times
        self._pools = pools
        self._found: dict[float, ServingTimes] = {}
        self._limits: dict[float, float | None] = {}

    @property
    def load(self) -> Serving:
        """The open load."""
        return self._pools.load

    def seconds(self, name: str, factor: float) -> float:
        """A latency of the plan whose times are longer by ``factor``."""
        value: float = getattr(self.times_with(factor), name)
        return factor * value

    def factor_of_limit(self, most: float) -> float | None:
        """The smallest factor on step times at which the plan no longer serves its request rate, found by bisection. It
        is None if the plan serves the rate even with ``most``, or does not serve it as predicted.
        """
        if most not in self._limits:
            self._limits[most] = self._concurrency_limit(most)
        return self._limits[most]

    def _concurrency_limit(self, most: float) -> float | None:
        low, high = 1.0, most
        if self._keeps_up(high) or not self._keeps_up(low):
            return None
        while high / low > 1 + LIMIT_WIDTH:
            middle = sqrt(low * high)
            low, high = (middle, high) if self._keeps_up(middle) else (low, middle)
        return low

    def _keeps_up(self, factor: float) -> bool:
        found, load = self.times_with(factor), self._pools.load
        if self._pools.has_prefill_engines and found.prompt_load >= MOST_LOAD:
            return False
        rate = 0.0 if load.requests else factor * (load.request_rate or 0.0)
        return serves_rate(self._pools, found.state, rate)

    def times_with(self, factor: float) -> ServingTimes:
        """The plan at a request rate higher by ``factor``, whose latencies are shorter by it."""
        if factor not in self._found:
            self._found[factor] = self._times(self._pools, factor)
        return self._found[factor]


@dataclass(frozen=True)
class ServingTimes:
    """Seconds, bytes and tokens of a serving plan.

    ``state`` is the steady state behind the times. Throughput is the whole plan's.
    """

    ttft: float
    tpot: float
    ttft_mean: float
    tpot_mean: float
    request_latency: float
    output_tokens_per_second: float
    state: Steady
    accelerators: float
    kv_bytes_per_token: float
    kv_capacity_tokens: float
    kv_capacity_sequences: float
    prompt_service: float
    """Seconds per prompt of each pipeline stage of an attention rank, when prompts always queue. ``prompt_time`` is the
    time of one prompt through all stages.
    """
    wait: float
    burst: tuple[float, float]
    """Seconds by which the median and the mean time to first token exceed the time at the mean wait: positive for the
    burst at the start of a run; in a steady state the median is negative.
    """
    stages: tuple[int, int]
    """Pipeline stages of a prefill and of a decode engine."""
    prompt_floor: float
    """The least seconds to launch the prompt."""
    sent: Handoff | None
    """The transfer of a prompt's cache to the decode engine; None where the same engine decodes."""
    overhead: float
    """Seconds of a request outside the engines."""
    output_tokens: float
    offered: float
    """Requests in flight on the whole plan, including waiting ones."""
    started: float
    """The time per output token of separate decode engines; a received prompt waits half of that time on average before
    it decodes.
    """
    prompt_load: float
    """Utilization of the prefill engines, or of the links that carry their KV caches if those are busier."""
    coupled_ranks: int = 1
    """Number of attention ranks of an engine whose steps wait for each other, and which start prompts at different
    times.
    """
    loading: float = 0.0
    """Mean seconds of a request to read cached tokens from memory below the accelerators'."""
    prefix_hit: float = 0.0
    """The share of the input tokens that is in a cache, as stated or from sessions."""
    tiers: tuple[TierUse, ...] = ()
    """What each tier of memory keeps; empty without sessions."""
    experts: ExpertUse | None = None
    """How uneven the ranks are under the load of experts that the spec states."""
    typical_prompt: float = 1.0
    """The median prompt time relative to the mean (``prompt_time``)."""
    growing: float = 1.0
    """The share of the time of a mean prompt that is in proportion to its length."""
    turns: tuple[tuple[float, float], ...] = ()
    """Conversations only: prompt times relative to the mean, each with its share of the requests; otherwise empty."""
    longer: tuple[tuple[float, float], ...] = ()
    """Only for drawn lengths: lengths above the mean, divided by the mean, and their prompt times, divided by that of
    the mean length.
    """
    starts_together: bool = False
    """Whether all requests start and end together."""
    most_met: float | None = None
    """The most sequences whose prompts delay a request of a run that starts together and in which none replaces another
    one; None of other loads.
    """
    always_full: bool = False
    """Whether requests always wait, as in an offline load."""
    own_kernels: bool = False
    """Whether kernels of the accelerator, or of its generation, were measured."""
    one_domain: bool = True
    """Whether the ranks of an engine that decodes share a scale-up domain."""
    varied: float | None = None
    """The part of the wait for separate prefill engines that varies among the requests of a closed loop, as the mean of
    an exponential wait; None in other loads.
    """
    queued: float = 0.0
    """Seconds of the wait in which every request of a closed loop waits for another to end."""
    place: PlaceWait = PlaceWait()
    """The wait for a place under an open load whose mean number of requests leaves places free."""
    run: FiniteRun | OpenRun | None = None
    """The run of the requests that the spec states; None in a steady state."""
    lasting: float | None = None
    """Seconds of that run in a closed loop."""
    preempted: float = 0.0
    """Mean seconds of a request after its first token in which others have its place in the cache, as its median time
    per output token contains them: none where fewer than half of the requests lose their place.
    """
    joining: float = 0.0
    """Seconds that the handoff adds to the first gap between tokens, where the first token is sent before it."""
    compiled_first: Figure | None = None
    """Seconds that requests which start together wait for kernels to compile; None if for none."""
    early: bool = False
    """Whether the generation of the software is `constants.EARLY` or older."""
    recent: bool = False
    """Whether the software is from `constants.RECENT` or later; false without an entry."""
    prompts_alone: bool = False
    """Whether steps with prompts hold no sequences that decode: a gap lasts as long as all steps of a prompt in it."""
    shares: PromptShares | None = None
    """The shares of the steps of requests that hold prompts, in an open load; None in others."""
    highest: Highest | None = field(default=None, repr=False, compare=False)
    stretched: Stretched | None = field(default=None, repr=False, compare=False)
    """The plan with other times in an open load; None for other loads, in which latencies grow in proportion to the
    times.
    """
    measured: MeasuredShare | None = None
    """The measured mean time per output token that sets the rate of kernels."""

    @property
    def decode(self) -> StepTime:
        """A step of one engine that decodes."""
        return self.state.decode

    @property
    def prefill(self) -> StepTime:
        """The steps of a prompt."""
        return self.state.prefill

    @property
    def prompt_time(self) -> float:
        """Seconds of a prompt of mean length, or of all prompts if they start together."""
        return self.state.prompt

    @property
    def prefill_share(self) -> float:
        """The share of an engine's time for prompts."""
        return self.state.prompt / self.request_latency if self.starts_together else self.state.share

    @property
    def links_limit_prefill(self) -> bool:
        """Whether the cache of a prompt occupies its links for longer than the prompt takes on separate engines."""
        return self.sent is not None and self.state.service > self.prompt_service

    @property
    def prefill_busy(self) -> float:
        """The share of the time in which separate prefill engines compute prompts."""
        return self.prompt_load * self.prompt_service / self.state.service if self.state.service else 0.0

    @property
    def sequences(self) -> float:
        """Sequences in flight on one attention rank."""
        return self.state.sequences

    @property
    def decoding_sequences(self) -> float:
        """Sequences of one attention rank in the time per output token."""
        return self.state.typical

    @property
    def carried_prefill(self) -> float:
        """Seconds of prompts in the steps of the same engine."""
        return self.state.carried

    @property
    def tokens_per_step(self) -> float:
        """Tokens that a sequence gains in a step."""
        return self.state.tokens_per_step

    @property
    def ttft_of_mean_prompt(self) -> float:
        """Seconds to the first token of a prompt of mean length: the mean over requests, in a finite run the median."""
        return self.ttft + (1 - self.typical_prompt) * self.prompt_time + self.median_gap

    @property
    def median_gap(self) -> float:
        """Seconds by which the median wait of a steady state is shorter than the mean."""
        return -self.burst[0] if self.run is None else 0.0

    @property
    def max_concurrency(self) -> float | None:
        """The highest concurrency within the targets, by bisection when it is first read; None if not asked for."""
        return self.highest.value if self.highest is not None else None

    @property
    def handoff(self) -> float:
        """Seconds to transfer the cache of a prompt to its decode engine; 0 if the same engine decodes."""
        return self.sent.seconds if self.sent else 0.0

    @property
    def regime(self) -> str:
        """The conditions on which the range of the time to first token depends: alone, apart, static, or empty."""
        if self.offered <= 1.0:
            return "alone"
        return "apart" if self.sent else "static" if self.starts_together else ""

    @property
    def placed_requests(self) -> float:
        """Requests in flight, except open-load requests that wait for a place: these have no cache yet."""
        return self.offered - self.state.rate * self.place.of_all

    @property
    def places(self) -> int:
        """Whole requests of mean length that the caches hold."""
        return floor(self.kv_capacity_sequences * (1 + 1e-12))

    @property
    def most_in_flight(self) -> int | None:
        """Whole requests in flight within the targets; None if there are no targets."""
        return None if self.max_concurrency is None else floor(self.max_concurrency * (1 + 1e-12))

    @property
    def queue_share(self) -> float:
        """The share of the median time to the first token in which a request waits for cache space or other prompts."""
        return (self.wait + self.burst[0] + self.place.median) / self.ttft if self.ttft else 0.0

    @property
    def per_accelerator(self) -> float:
        """Output tokens per second of one used accelerator."""
        return self.output_tokens_per_second / self.accelerators

    @property
    def queue_grows(self) -> bool:
        """Whether the load of the plan exceeds its capacity: the latencies are then those of full engines."""
        return self.stretched is not None and exceeds_capacity(self, self.stretched.load)


def exceeds_capacity(times: ServingTimes, load: Serving) -> bool:
    """Whether requests of an open load arrive faster than the engines serve them, without end."""
    return not load.requests and times.state.capacity < (load.request_rate or 0.0)


def serving_range(times: ServingTimes, name: str) -> list[float]:
    """The low and the high end of a field: a latency, its mean, or the output tokens per second."""
    low, high = range_factors(times, name)
    value: float = getattr(times, name)
    return [value * low, value * high]


def range_factors(times: ServingTimes, name: str) -> tuple[float, float]:
    """The low and high ends of a field's range as factors of its prediction.

    The time to first token is least certain with separate prefill engines, with experts, and for a batch that starts
    together; throughput and the time per output token with experts and with early software. The throughput of full
    engines, which no latency limits, is more certain where kernels were measured. If requests arrive at a rate, slower
    steps bring the plan closer to saturation. The range then also reaches to the times of plans in which every time is
    shorter or longer by the ends of the range of a step. The time per output token at
    the measured load is as certain as the measurement.
    """
    measured = times.measured
    if measured is not None and name in {"tpot", "tpot_mean"} and measured.matches_measured_time(times.tpot_mean):
        return 1 / (1 + measured.spread), 1 + measured.spread
    low, high = RANGES[range_kind(times, name.removesuffix("_mean"), times.regime)]
    value: float = getattr(times, name)
    if times.stretched is None or name == "output_tokens_per_second" or not value:
        return low, high
    least, most = (times.stretched.seconds(name, end) / value for end in stretched_ends(times, times.stretched))
    return min(low, least), max(high, most)


def stretched_ends(times: ServingTimes, stretched: Stretched) -> tuple[float, float]:
    """The factors of all times of an open load at the ends of the range of a step."""
    return ends_within_limit(stretched, *RANGES[range_kind(times, "tpot", "")])


def ends_within_limit(stretched: Stretched, low: float, high: float) -> tuple[float, float]:
    """The factors of all times at the ends of a range, of the plans that serve the request rate.

    A plan slower than its limit falls behind without end, so it has no latency at this load.
    """
    return low, stretched.factor_of_limit(high) or high


def loss_factors(times: ServingTimes) -> tuple[float, float]:
    """The low and high ends of a predicted difference in throughput between two plans of one engine, as factors."""
    return LOSSES["experts" if _is_routed(times) else ""]


def _is_routed(times: ServingTimes) -> bool:
    return any(part.name == "experts" for part in times.prefill.parts)


def range_kind(times: ServingTimes, quantity: str, regime: str) -> str:
    """The name of the range of a quantity in a regime."""
    routed = _is_routed(times)
    experts = ("experts recent" if times.recent else "experts") if routed else ""
    if quantity == "ttft":
        return f"ttft {regime or experts}".strip()
    kind = "early" if times.early else experts
    batches = times.always_full or (times.early and times.starts_together)
    if quantity == "output_tokens_per_second" and batches and times.own_kernels:
        kind = "offline experts" if kind == "experts recent" else f"offline {kind}".strip()
    elif quantity == "tpot" and not (times.early or times.recent) and not (times.own_kernels and times.one_domain):
        kind = "unmeasured"
    elif quantity == "tpot" and not kind and times.stretched is not None:
        kind = "open"
    return f"{quantity} {kind}".strip()
