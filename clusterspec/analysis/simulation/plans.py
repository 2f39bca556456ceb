"""The simulation of a serving plan: its engines, the routing of its requests, and their latencies."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from heapq import heappop, heappush

from clusterspec.analysis.simulation.engines import SimulatedEngine
from clusterspec.analysis.simulation.ranks import REQUESTS, Limits, Request
from clusterspec.analysis.simulation.steps import StepTables
from clusterspec.cost.serving.admission import kept_share
from clusterspec.cost.serving.cold import compilation_seconds
from clusterspec.cost.serving.handoff import Handoff
from clusterspec.cost.serving.pools import Pools
from clusterspec.logs.traces import Arrival
from clusterspec.records import NamedTuple, dataclass

ARRIVAL, STEP_END, HANDED_OVER, LOADED = 0, 1, 2, 3
"""Kinds of events."""
TOLD = 250
"""Number of ended requests between two progress reports."""
Progress = Callable[[int, int], object]
"""A function that is called with the number of ended requests and the number of all requests."""


def no_progress(_done: int, _total: int) -> None:
    """Show no progress."""


class Links(NamedTuple):
    """The transfer of a prompt's cache, in seconds: ``sending`` on the link of the sending rank, ``receiving`` on the
    link of the receiving rank, ``hidden`` of it overlapped with the prompt, and ``passing`` as additional latency.
    """

    sending: float = 0.0
    receiving: float = 0.0
    hidden: float = 0.0
    passing: float = 0.0

    @classmethod
    def of(cls, pools: Pools, handoff: Handoff | None) -> Links:
        """The transfers between the engines of a plan."""
        if handoff is None:
            return cls()
        sending, receiving = pools.transfer
        return cls(sending, receiving, handoff.hidden_seconds, handoff.passing)


@dataclass(frozen=True)
class Timing:
    """Inputs of a simulation from a plan: the tables and limits of its engines, their number, and fixed times.

    ``prefill`` is None if the same engines decode. ``links`` describes the transfer of caches from prefill to decode
    engines. ``request`` is the seconds before a request reaches an engine.
    """

    decode: tuple[StepTables, Limits, int]
    prefill: tuple[StepTables, Limits, int] | None
    links: Links
    request: float


class LateEngines(NamedTuple):
    """The numbers of prefill and decode engines that serve requests at first; all engines do from ``until``
    seconds on.
    """

    prefill: int
    decode: int
    until: float


def plan_timing(pools: Pools, tokens: float, handoff: Handoff | None) -> Timing:
    """The tables and limits of a plan's engines. The cache of one attention rank has space for ``tokens`` tokens."""
    load, apart = pools.load, pools.has_prefill_engines

    def rank_limits(kind: str) -> Limits:
        most = pools.sequences
        held = tokens if kind != "prefill" else float("inf")
        early = load.transfer.first_token == "prefill"
        chunk, whole, hit = load.chunk_tokens, load.whole_requests, load.prefix_hit
        interval = 1 if kind == "prefill" else load.receive_interval
        ahead = (
            pools.prompts.forms_steps_ahead
            if kind == "prefill"
            else not kind and interval == 1 and pools.decode.runs_ahead
        )
        cold = 0.0 if kind == "decode" else compilation_seconds(pools)
        own = kept_share(pools.decode.layout.attention_dp) if load.own_output else None
        limits = partial(Limits, most, held, chunk, whole=whole, hit=hit, apart=kind, kept_share=own)
        hold = load.hold_steps if not kind and pools.decode.layout.attention_dp > 1 else 1
        shared = kind == "prefill" and pools.shares_prompts_by_step
        return limits(early=early, interval=interval, ahead=ahead, cold=cold, hold=hold, shared=shared)

    engine, prompts = pools.decode, pools.prompts
    return Timing(
        decode=(StepTables.of(engine), rank_limits("decode" if apart else ""), engine.replicas),
        prefill=(StepTables.of(prompts), rank_limits("prefill"), prompts.replicas) if apart else None,
        links=Links.of(pools, handoff),
        request=pools.outside,
    )


class Simulation:
    """A simulation of requests that arrive at given times. With ``in_flight``, a request instead arrives whenever
    another one ends, so that this number is always in flight.

    ``late`` engines get requests from a time on. ``progress`` is called from time to time with the number of ended
    requests and the total.
    """

    def __init__(
        self,
        timing: Timing,
        arrivals: Sequence[Arrival],
        in_flight: int | None = None,
        late: LateEngines | None = None,
        progress: Progress = no_progress,
    ) -> None:
        self.timing, self.late, self.progress = timing, late, progress
        self.gaps: dict[float, float] = {}
        self.requests = [Request(index, each.time, each.prompt, each.output) for index, each in enumerate(arrivals)]
        for request, each in zip(self.requests, arrivals, strict=True):
            request.cached, request.loading, request.rank = each.cached, each.loading, each.rank
        self.decode = self._engines(timing.decode)
        self.prefill = self._engines(timing.prefill) if timing.prefill else []
        self.events: list[tuple[float, int, int, Request | SimulatedEngine, int]] = []
        self.order = 0
        self.next = 0
        self.closed = in_flight is not None
        self.ended = 0.0
        self.finished = 0
        for _ in range(min(in_flight, len(self.requests)) if in_flight is not None else 1):
            self._arrive(0.0)

    def _engines(self, kind: tuple[StepTables, Limits, int]) -> list[SimulatedEngine]:
        tables, limits, count = kind
        return [SimulatedEngine(tables, limits, self.gaps) for _ in range(count)]

    def _push(self, time: float, kind: int, subject: Request | SimulatedEngine, version: int = 0) -> None:
        self.order += 1
        heappush(self.events, (time, self.order, kind, subject, version))

    def _arrive(self, now: float) -> None:
        """Schedule the next request; in a closed loop it arrives now."""
        if self.next < len(self.requests):
            request = self.requests[self.next]
            self.next += 1
            if self.closed:
                request.arrival = now
            self._push(request.arrival + self.timing.request, ARRIVAL, request)

    def run(self) -> None:
        """Process all events."""
        while self.events:
            now, _, kind, what, version = heappop(self.events)
            if isinstance(what, SimulatedEngine):
                if what.version == version:
                    self._end_steps(what, now)
                continue
            if kind == ARRIVAL and not self.closed:
                self._arrive(now)
            if kind == ARRIVAL and what.loading:
                self._push(now + what.loading, LOADED, what)
                continue
            if kind == HANDED_OVER:
                self.decode[what.rank // len(self.decode[0].ranks)].note_arrival(what.rank)
            if kind == HANDED_OVER or not self.prefill:
                self._route(what, self._serving_engines(self.decode, now), now)
            elif self.decode[0].limits.interval == 1:
                self._route(what, self._serving_engines(self.prefill, now), now)
            else:
                self._announce(what, now)

    def _serving_engines(self, pool: list[SimulatedEngine], now: float) -> list[SimulatedEngine]:
        """The engines of a pool that serve requests at time ``now``, at least one."""
        if self.late is None or now >= self.late.until:
            return pool
        return pool[: max(1, self.late.decode if pool is self.decode else self.late.prefill)]

    def _route(self, request: Request, pool: list[SimulatedEngine], now: float) -> None:
        """Send a request to the engine with its cache, or to the engine with the fewest requests."""
        if request.rank >= 0:
            engine = pool[request.rank // len(pool[0].ranks) % len(pool)]
        else:
            engine = min(pool, key=REQUESTS) if len(pool) > 1 else pool[0]
        engine.receive(request, now)
        self._begin(engine, now, 1 if engine.limits.apart else engine.limits.interval)

    def _announce(self, request: Request, now: float) -> None:
        """Send a request to the decode engine with the fewest. Its prompt starts once that engine has received it."""
        engine = min(self._serving_engines(self.decode, now), key=lambda each: each.expected + len(each.announced))
        engine.announced.append(request)
        self._begin(engine, now, engine.limits.interval)

    def _begin(self, engine: SimulatedEngine, now: float, interval: int) -> None:
        """Starts an idle engine, or shortens the run of steps of a busy engine so that it looks for requests at the
        next interval.
        """
        end = engine.shortened_end(now, interval) if engine.running else engine.next_step_end(now)
        if end is not None:
            self._push(end, STEP_END, engine, engine.version)
        self._send_accepted(engine, now)

    def _send_accepted(self, engine: SimulatedEngine, now: float) -> None:
        """Send the prompts that a decode engine has received to prefill engines."""
        accepted, engine.accepted = engine.accepted, []
        for request in accepted:
            self._route(request, self._serving_engines(self.prefill, now), now)

    def _end_steps(self, engine: SimulatedEngine, now: float) -> None:
        """Finish the steps of an engine, hand over its completed requests, and start the next steps."""
        for request in engine.end(now):
            if engine.limits.apart == "prefill":
                self._push(self._receipt_time(request, engine, max(now, request.first)), HANDED_OVER, request)
                if request.output <= 1:
                    request.ended = request.first
            else:
                self.ended = max(self.ended, request.ended)
                self.finished += 1
                if not self.finished % TOLD:
                    self.progress(self.finished, len(self.requests))
                if self.closed:
                    self._arrive(max(now, request.ended))
        end = engine.next_step_end(now)
        if end is not None:
            self._push(end, STEP_END, engine, engine.version)
        self._send_accepted(engine, now)

    def _receipt_time(self, request: Request, sender: SimulatedEngine, now: float) -> float:
        """The time at which a decode engine has received the cache of a computed prompt, on its rank with the fewest
        requests.

        The links of sender and receiver carry one cache after the other.
        """
        running = len(self._serving_engines(self.decode, now))
        number = min(range(running), key=lambda each: self.decode[each].expected)
        engine, links = self.decode[number], self.timing.links
        place, source = engine.next_rank(), request.rank
        begin = max(now - links.hidden, sender.free_links[source], engine.free_links[place])
        sender.free_links[source] = begin + links.sending
        engine.free_links[place] = begin + links.receiving
        request.rank = number * len(engine.ranks) + place
        return max(now, begin + max(links.sending, links.receiving)) + links.passing

    @property
    def preemption_count(self) -> int:
        """The number of times that a request lost its cache to others."""
        return sum(each.preempted for each in self.decode)
