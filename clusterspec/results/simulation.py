"""The result of the simulation of a serving plan, and its JSON."""

from __future__ import annotations

from collections.abc import Mapping

from clusterspec.records import NamedTuple, dataclass
from clusterspec.results import Input, Json, Result, Tool, common_fields, result_repr


class Percentiles(NamedTuple):
    """The values that half, nine tenths and 99 % of the requests, or tokens, do not exceed."""

    p50: float
    p90: float
    p99: float

    def to_json(self) -> Json:
        return self._asdict()


class SimulatedTarget(NamedTuple):
    """A target of a latency in seconds at a percentile, and the simulated value, None if no request has one.

    ``queue_grows``: requests wait in a queue that grows as long as requests arrive, and miss any such target in time.
    """

    quantity: str
    percentile: float
    target: float
    value: float | None
    queue_grows: bool = False

    @property
    def is_met(self) -> bool:
        return self.value is None or (self.value <= self.target and not self.queue_grows)


def _target_json(target: SimulatedTarget) -> Json:
    shown = {key: getattr(target, key) for key in ("quantity", "percentile", "target", "value")}
    return {**shown, "met": target.is_met}


class QueuePoint(NamedTuple):
    """Requests that wait for their prompt to be computed or for a separate decode engine, and that run, at a time in
    seconds since the first arrival.
    """

    time: float
    waiting: int
    running: int


class HitsBySize(NamedTuple):
    """Cache hits as a share of input tokens, by the size of one cache for all engines.

    The cache keeps a block while ``requests`` others arrive, ``seconds`` on average (None in a closed loop).
    """

    tokens: float
    bytes: float
    hit_rate: float
    requests: float
    seconds: float | None


class SimulatedRise(NamedTuple):
    """Requests that arrive within ``seconds`` after a rise of the load, if new engines start serving after ``late``
    seconds.
    """

    late: float
    requests: int
    seconds: float
    ttft: Percentiles
    goodput: float | None

    def to_json(self) -> Json:
        return self._asdict() | {"ttft": self.ttft.to_json()}


class SimulatedHours(NamedTuple):
    """Hours of a day with one load, from one minute to another, and the engines that they need.

    ``prefill`` is 0 if the same engines decode. Latencies are None without requests or engines. ``rise`` is the
    simulation of the start of the hours, if engines start only after the load has risen.
    """

    start: int
    end: int
    rate: float
    prefill: int
    replicas: int
    accelerators: float
    requests: int = 0
    ttft: Percentiles | None = None
    tpot: Percentiles | None = None
    end_to_end: Percentiles | None = None
    goodput: float | None = None
    rise: SimulatedRise | None = None
    targets: tuple[SimulatedTarget, ...] = ()

    def to_json(self) -> Json:
        return {
            "from": self.start,
            "to": self.end,
            "request_rate": self.rate,
            "prefill_replicas": self.prefill or None,
            "replicas": self.replicas,
            "accelerators": self.accelerators,
            "requests": self.requests,
            "ttft": self.ttft.to_json() if self.ttft else None,
            "tpot": self.tpot.to_json() if self.tpot else None,
            "end_to_end": self.end_to_end.to_json() if self.end_to_end else None,
            "goodput": self.goodput,
            "rise": self.rise.to_json() if self.rise else None,
            "targets": [_target_json(each) for each in self.targets],
        }


@dataclass(frozen=True)
class SimulationReport(Result):
    """The results of the requests of a serving plan. Times in seconds.

    ``tpot`` is a request's mean time per token after the first, ``itl`` each single gap between tokens (None if answers
    have one token). ``requests`` are simulated; the first ``warm_up`` and the last ``cool_down`` of them do not count.
    ``goodput`` is the share of requests within the targets, None without targets. ``saturation`` is the highest rate of
    requests per second that the plan sustains. ``queue_share`` is the share of the times to the first token that
    requests wait: for their prompt to be computed, and for a place in a separate decode engine.
    ``cache_sizes`` has the hit rates of a trace by the size of a cache. ``expected`` are the time to first token and
    the time per output token of the formulas. ``day`` has the hours of the day that the spec states.
    """

    tool: Tool
    input: Input
    seed: int
    requests: int
    warm_up: int
    load: str
    engines: int
    accelerators: float
    ttft: Percentiles
    tpot: Percentiles | None
    itl: Percentiles | None
    end_to_end: Percentiles
    goodput: float | None
    hit_rate: Mapping[str, float]
    request_rate: float
    output_tokens_per_second: float
    saturation: float | None
    preemptions: int
    expected: tuple[float, float]
    targets: tuple[SimulatedTarget, ...]
    queue_share: float
    queue: tuple[QueuePoint, ...]
    cache_sizes: tuple[HitsBySize, ...] = ()
    notes: tuple[str, ...] = ()
    day: tuple[SimulatedHours, ...] = ()
    cool_down: int = 0
    queue_grows: bool = False
    """Whether the load exceeds what the plan sustains."""

    __repr__ = result_repr

    def to_json(self) -> Json:
        return (
            common_fields(self.tool, self.input)
            | {
                "seed": self.seed,
                "requests": self.requests,
                "warm_up": self.warm_up,
                "cool_down": self.cool_down,
                "load": self.load,
                "engines": self.engines,
                "accelerators": self.accelerators,
                "ttft": self.ttft.to_json(),
                "tpot": self.tpot.to_json() if self.tpot else None,
                "itl": self.itl.to_json() if self.itl else None,
                "end_to_end": self.end_to_end.to_json(),
                "goodput": self.goodput,
                "hit_rate": dict(self.hit_rate),
                "request_rate": self.request_rate,
                "output_tokens_per_second": self.output_tokens_per_second,
                "saturation": self.saturation,
                "queue_grows": self.queue_grows,
                "preemptions": self.preemptions,
                "formulas": {"ttft": self.expected[0], "tpot": self.expected[1]},
                "targets": [_target_json(each) for each in self.targets],
                "queue_share": self.queue_share,
                "queue": [point._asdict() for point in self.queue],
                "cache_sizes": [each._asdict() for each in self.cache_sizes],
                "notes": list(self.notes),
            }
            | ({"day": [each.to_json() for each in self.day]} if self.day else {})
        )
