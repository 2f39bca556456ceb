"""Requests, attention ranks and limits of a simulated serving engine."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from operator import attrgetter

from clusterspec.cost.serving.admission import MOST_OUTPUT, KeptShare
from clusterspec.standard import sum_of

TINY = 1e-9
REQUESTS = attrgetter("requests")
FULLNESS = attrgetter("count", "context")


class Request:
    """One request: its lengths, its progress, and the times of its arrival, admission, first token and end.

    ``todo`` prompt tokens are still to be computed, ``left`` decode steps remain from step ``joined`` on, ``held``
    tokens are in the cache. ``began`` is the start of its prompt, ``launched`` the launch seconds of the prompt's steps
    so far. ``cached`` prompt tokens need no computation (below zero: the share given by the limits) and take
    ``loading`` seconds to read. ``received`` is the time at which an engine got it, ``passed`` the time at which its
    chunks have left the last pipeline stage. A separate decode engine got it at ``handed`` and has given it a place at
    ``placed``, below zero before that. ``rank`` is the attention rank that holds the cached tokens, counted over all
    engines; -1 for any.
    """

    __slots__ = (
        *("admitted", "arrival", "began", "cached", "ended", "first", "handed", "held", "index", "joined", "lag"),
        *("launched", "left", "loading", "output", "passed", "placed", "prompt", "rank", "received", "todo"),
    )

    def __init__(self, index: int, arrival: float, prompt: int, output: int) -> None:
        self.index, self.arrival, self.prompt, self.output = index, arrival, prompt, output
        self.admitted = self.began = self.first = self.ended = self.handed = self.placed = -1.0
        self.todo = self.held = self.lag = self.loading = self.passed = self.launched = self.received = 0.0
        self.cached, self.rank = -1.0, -1
        self.left = self.joined = 0


class AttentionRank:
    """The requests of one attention rank: sent but not yet received, waiting, in prefill, and decoding (by their last
    step).

    ``ends`` is the sum of the steps after which its sequences end. ``share`` of their remaining output was kept free at
    step ``shared``. ``step`` counts the rank's decode steps; ``stalled`` is the seconds since the last one, ``recent``
    those of the last round of a pipeline. ``requests`` counts waiting and running requests; ``expected`` also those
    still on their way from prefill engines.
    """

    __slots__ = (
        *("context", "count", "decoding", "ends", "expected", "order", "prompts", "recent", "requests", "sent"),
        *("share", "shared", "stalled", "step", "used", "waiting"),
    )

    def __init__(self, share: float = 0.0) -> None:
        self.sent: list[Request] = []
        self.waiting: deque[Request] = deque()
        self.prompts: deque[Request] = deque()
        self.decoding: list[tuple[int, int, Request]] = []
        self.order: dict[int, Request] = {}
        self.recent: list[float] = []
        self.count = self.step = self.requests = self.expected = 0
        self.context = self.used = self.stalled = 0.0
        self.share, self.shared, self.ends = share, 0, 0


def put_in_shortest_queues(fetched: list[Request], ranks: list[AttentionRank]) -> None:
    """Put each of the fetched requests into the queue of the rank that has the fewest then."""
    for request in fetched:
        rank = min(ranks, key=REQUESTS)
        rank.waiting.append(request)
        rank.requests += 1
        rank.expected += 1
    fetched.clear()


def gaps_of_rounds(rank: AttentionRank, step_seconds: float, steps: int, stages: int) -> Iterator[tuple[float, float]]:
    """The gaps between tokens that end in ``steps`` steps of ``step_seconds`` on the first stage of a pipeline, each
    with the number of gaps for each sequence.

    A step ends the gaps of one in ``stages`` sequences, which last as long as the last ``stages`` steps.
    """
    recent = rank.recent
    for place in range(min(steps, stages)):
        recent.append(step_seconds + (0.0 if place else rank.stalled))
        last = recent[-stages:]
        ended = 1 if place < stages - 1 else steps - place
        yield sum_of(last) + (stages - len(last)) * step_seconds, ended / stages
    del recent[:-stages]


def subtract_ended_request(rank: AttentionRank) -> None:
    """Subtracts an ended request from the counts of its rank."""
    rank.requests -= 1
    rank.expected -= 1


def kept_space(rank: AttentionRank, kept_share: KeptShare | None, gained: float) -> float:
    """Tokens of cache that are kept free for output to come: a share of that of sequences, which gain ``gained`` tokens
    in a step, and all of that of prompts.
    """
    if kept_share is None:
        return 0.0
    left = min(MOST_OUTPUT * rank.count, (rank.ends - rank.count * rank.step) * gained)
    share = max(kept_share.least, rank.share - kept_share.fall * (rank.step - rank.shared))
    return share * left + sum_of(min(MOST_OUTPUT, each.left or each.output) for each in rank.prompts)


def note_retraction(rank: AttentionRank, share: KeptShare | None, gained: float) -> None:
    """Set the share of the output that is kept free after a request was retracted."""
    if share is not None:
        outputs = sum_of(each.output for each in rank.order.values())
        decoded = outputs - (rank.ends - rank.count * rank.step) * gained
        rank.share, rank.shared = share.after_retraction(decoded, rank.count, outputs), rank.step


def fullest_ranks(pairs: list[tuple[AttentionRank, list[tuple[Request, float]]]]) -> list[AttentionRank]:
    """The ranks without prompt parts that no other such rank exceeds in both sequences and tokens."""
    found: list[AttentionRank] = []
    for rank in sorted((rank for rank, taken in pairs if not taken), key=FULLNESS, reverse=True):
        if not found or rank.context > found[-1].context:
            found.append(rank)
    return found


class Limits:
    """Limits of one attention rank: sequences, tokens of cache, and tokens of a step (none: one whole prompt).

    ``whole`` says whether a request is admitted only if the cache holds all of its output. ``own`` is the share of the
    output of others for which the cache must have space in addition; None if it needs none for output. ``hit`` is the
    share of a prompt that the cache already has. ``apart`` is ``prefill`` or ``decode`` on separate engines; ``early``
    says whether the first token is sent before the handoff. Requests are received every ``interval`` decode steps; a
    decode engine takes the cache of a computed prompt after any step. Prompts start once each rank has one, or after
    ``hold`` steps. With ``ahead``, a step is prepared while the one before it runs. The first step with prompts takes
    ``cold`` seconds more. With ``shared``, the prompts that came during a step are divided among the ranks together at
    its end.
    """

    __slots__ = (
        *("ahead", "apart", "chunk", "cold", "early", "hit", "hold", "interval", "own", "sequences", "shared"),
        *("tokens", "whole"),
    )

    def __init__(
        self,
        sequences: float,
        tokens: float,
        chunk: int | None,
        *,
        whole: bool,
        hit: float,
        apart: str = "",
        early: bool = False,
        interval: int = 1,
        ahead: bool = False,
        cold: float = 0.0,
        kept_share: KeptShare | None = None,
        hold: int = 1,
        shared: bool = False,
    ) -> None:
        self.sequences, self.tokens, self.chunk = max(1, int(sequences + TINY)), tokens, chunk
        self.whole, self.hit, self.apart, self.early, self.interval, self.ahead = (
            whole,
            hit,
            apart,
            early,
            interval,
            ahead,
        )
        self.cold, self.own, self.hold, self.shared = cold, kept_share, hold, shared


def chunk_sums(parts: list[tuple[Request, float]]) -> tuple[float, int]:
    """The tokens of the parts of prompts in a step, and the number of prompts that they complete."""
    computed, completed = 0.0, 0
    for request, part in parts:
        computed += part
        completed += part > request.todo - TINY
    return computed, completed
