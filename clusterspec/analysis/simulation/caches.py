"""An exact replay of the caches of a serving plan: the contents of each tier when a request arrives.

Every request stores its blocks in all tiers, and each tier evicts the least recently used blocks. A prompt is read from
the first tier that has a block, up to the first block that none has.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Hashable, Iterator, Sequence
from math import ceil, inf
from random import Random

from clusterspec.cluster.requests import Session
from clusterspec.cost.serving.caches import TierUse
from clusterspec.logs.traces import Arrival
from clusterspec.records import NamedTuple

Block = tuple[Hashable, int]
"""The name of a part of a prompt, which no other prefix has, and its tokens."""
LEAST_MATCH = 0.5
"""A request goes to the engine that has at least this share of its prompt cached, otherwise to the engine that was
given the fewest tokens of such other prompts. Tokens that an engine computed do not decide: they show late how many
conversations it has, because these follow their caches, and the numbers would swing ever wider.
"""


class LruCache:
    """Blocks in the order of their last use, up to a number of tokens."""

    __slots__ = ("blocks", "capacity", "tokens")

    def __init__(self, capacity: float) -> None:
        self.capacity, self.tokens = capacity, 0
        self.blocks: OrderedDict[Hashable, int] = OrderedDict()

    def keep(self, blocks: Sequence[Block]) -> None:
        """Keep the blocks of a prompt, the first as the most recently used, because later blocks are useless without
        it.
        """
        held, tokens = self.blocks, self.tokens
        for name, size in reversed(blocks):
            tokens += size - held.pop(name, 0)
            held[name] = size
        while tokens > self.capacity and held:
            tokens -= held.popitem(last=False)[1]
        self.tokens = tokens


class ReplayTier(NamedTuple):
    """One tier: its caches, each for some of the engines, and the seconds to read one token."""

    name: str
    caches: tuple[LruCache, ...]
    seconds: float


class CacheReplay:
    """The tiers of a plan, and the engine on which each block was used last."""

    def __init__(self, engines: int, tiers: Sequence[tuple[str, int, float, float]]) -> None:
        """``tiers`` has for each tier its name, the number of caches, the tokens per cache, and the seconds to read one
        token.
        """
        self.engines = engines
        self.tiers = [
            ReplayTier(name, tuple(LruCache(tokens) for _ in range(units)), seconds)
            for name, units, tokens, seconds in tiers
        ]
        self.homes: dict[Hashable, int] = {}
        self.given = [0] * engines
        self.free: dict[tuple[int, int], float] = {}

    def request(self, blocks: Sequence[Block], prompt: int, left: Sequence[Block] = ()) -> tuple[list[int], int]:
        """Tokens of a prompt that each tier has, and the engine; ``left`` are the blocks of its answer."""
        engine = self._engine_index(blocks, prompt)
        caches = [tier.caches[engine * len(tier.caches) // self.engines] for tier in self.tiers]
        hits = [0] * len(caches)
        for name, size in blocks:
            for number, cache in enumerate(caches):
                if name in cache.blocks:
                    hits[number] += size
                    break
            else:
                break
        spare = sum(hits) - (prompt - 1)  # at least the last token is computed
        for number in range(len(hits) - 1, -1, -1):
            if spare > 0 and hits[number]:
                taken = min(spare, hits[number])
                hits[number], spare = hits[number] - taken, spare - taken
        used = (*blocks, *left)
        for cache in caches:
            cache.keep(used)
        if self.engines > 1:
            self.homes.update((name, engine) for name, _ in used)
        return hits, engine

    def read_seconds(self, hits: Sequence[int], engine: int, now: float | None) -> float:
        """Seconds to read the cached tokens of a request; with ``now``, including the wait for earlier reads."""
        ready = now or 0.0
        for number, (tier, hit) in enumerate(zip(self.tiers, hits, strict=True)):
            if not hit or not tier.seconds:
                continue
            cache = number, engine * len(tier.caches) // self.engines
            start = max(ready, self.free.get(cache, 0.0)) if now is not None else ready
            ready = self.free[cache] = start + tier.seconds * hit
        return ready - (now or 0.0)

    def _engine_index(self, blocks: Sequence[Block], prompt: int) -> int:
        """The engine that holds the longest part of a prompt, if at least half of it; else the engine that was given
        the fewest tokens of prompts that none held, which is now given this one.
        """
        if self.engines == 1:
            return 0
        matched, engine = 0, -1
        for name, size in blocks:
            if name not in self.homes:
                break
            matched, engine = matched + size, self.homes[name]
        if matched < LEAST_MATCH * prompt:
            engine = min(range(self.engines), key=self.given.__getitem__)
            self.given[engine] += prompt
        return engine


def replay_of(uses: Sequence[TierUse], engines: int, cached_tokens: float) -> CacheReplay:
    """The replay of the tiers of a plan. An accelerator's cache holds ``cached_tokens``, including running
    requests.
    """
    return CacheReplay(
        max(1, engines),
        [
            (use.medium, max(1, round(use.units)), cached_tokens, 0.0)
            if use.tier is None
            else (use.medium, max(1, round(use.units)), use.tokens, use.token_bytes / use.tier.read)
            for use in uses
        ],
    )


def with_hits(
    arrivals: Sequence[Arrival], replay: CacheReplay, *, queued: bool = False
) -> tuple[list[Arrival], dict[str, float]]:
    """The requests with their cached tokens and the seconds to read them, and the share of tokens from each tier.

    If requests are ``queued`` (they arrive at different times), each cache reads for one request at a time.
    """
    found: list[Arrival] = []
    total = [0] * len(replay.tiers)
    for each in arrivals:
        hits, engine = replay.request(each.blocks, each.prompt, each.left)
        seconds = replay.read_seconds(hits, engine, each.time if queued else None)
        found.append(each._replace(cached=float(sum(hits)), loading=seconds, rank=engine))
        total = [so_far + hit for so_far, hit in zip(total, hits, strict=True)]
    prompts = max(1, sum(each.prompt for each in arrivals))
    return found, {tier.name: hit / prompts for tier, hit in zip(replay.tiers, total, strict=True)}


# The size of a cache over its hit rate, by the times after which blocks are used again

PARTS_OF_HITS = (0.25, 0.5, 0.75, 0.9, 0.95, 0.99, 1.0)
"""Shares of the hits of an unlimited cache for which cache sizes are computed."""


class CacheSize(NamedTuple):
    """The size in tokens of one cache for all engines that holds the share ``hit_rate`` of the input tokens.

    The cache keeps a block while ``requests`` others arrive.
    """

    tokens: float
    hit_rate: float
    requests: float


def cache_sizes(arrivals: Sequence[Arrival]) -> tuple[CacheSize, ...]:
    """The cache size in tokens, shared by all engines, that reaches each share of the possible hits; empty if no block
    is reused.

    An LRU cache retains every block for the same number of requests. Its size is the working set over a window of that
    many requests, averaged over all windows.

    Source: Denning, "The working set model for program behavior", CACM 11(5), 1968; Che et al., IEEE JSAC 20(7), 2002.
    """
    import numpy

    last: dict[Hashable, int] = {}
    sizes: list[int] = []
    starts: list[int] = []
    gaps: list[float] = []
    prompts: list[bool] = []
    for number, each in enumerate(arrivals):
        for place, (name, size) in enumerate((*each.blocks, *each.left)):
            before = last.get(name)
            if before is not None:
                gaps[before] = number - starts[before]
                prompts[before] = place < len(each.blocks)
            last[name] = len(sizes)
            sizes.append(size)
            starts.append(number)
            gaps.append(inf)
            prompts.append(False)
    amount, start, gap, read = (numpy.array(each) for each in (sizes, starts, gaps, prompts))
    if not read.any():
        return ()
    order = numpy.argsort(gap[read], kind="stable")
    after, hits = gap[read][order], numpy.cumsum(amount[read][order])
    total, count = sum(each.prompt for each in arrivals), len(arrivals)
    found = []
    for part in PARTS_OF_HITS:
        kept = float(after[numpy.searchsorted(hits, part * hits[-1])])
        until = numpy.minimum(start + numpy.minimum(gap, kept), count)
        held = float((amount * numpy.maximum(0.0, until - numpy.maximum(start, kept))).sum()) / (count - kept)
        found.append(CacheSize(held, float(hits[numpy.searchsorted(after, kept, "right") - 1]) / total, kept))
    return tuple(dict.fromkeys(found))


# The blocks of conversations


def session_arrivals(
    seed: int, count: int, session: Session, output: int, *, rate: float, running: float
) -> list[Arrival]:
    """Requests of conversations that start as a Poisson process. The next turn starts after the answer and the user's
    thinking time.

    ``running`` seconds pass from a request to the end of its answer. Requests count from the time on at which the
    conversations of the first moment have ended.
    """
    random, start = Random(f"sessions {seed}"), 0.0
    length = session.turns * (session.think_time + running)
    conversations = ceil(count / session.turns * 1.5 + rate * length / session.turns) + 1
    begun: list[tuple[float, int, int]] = []
    for number in range(conversations):
        start += random.expovariate(rate / session.turns)
        now = start
        for turn in range(session.turns):
            begun.append((now, number, turn))
            now += running + (random.expovariate(1 / session.think_time) if session.think_time else 0.0)
    begun.sort()
    kept = [each for each in begun if length <= each[0] <= start][:count]
    first, kept = (kept[0][0], kept) if kept else (0.0, begun[:count])
    turns = {number: [*conversation_blocks(number, session, output)] for number in {number for _, number, _ in kept}}
    found = ((time - first, *turns[number][turn]) for time, number, turn in kept)
    return [
        Arrival(time, sum(size for _, size in blocks), output, blocks=blocks, left=left) for time, blocks, left in found
    ]


def conversation_blocks(
    number: int, session: Session, output: int
) -> Iterator[tuple[tuple[Block, ...], tuple[Block, ...]]]:
    """For each turn of a conversation, the blocks of its prompt and the blocks of its answer. The next turn repeats the
    whole prompt but only the first block of the answer.
    """
    repeated = min(output, session.growth)
    blocks = _filled_blocks(
        ("shared", session.shared_prefix), ((number, "first"), round(session.first) - session.shared_prefix)
    )
    for turn in range(session.turns):
        answer = (number, turn, "answer"), repeated
        yield blocks, _filled_blocks(answer, ((number, turn, "dropped"), output - repeated))
        blocks += _filled_blocks(answer, ((number, turn, "user"), session.growth - repeated))


def _filled_blocks(*blocks: Block) -> tuple[Block, ...]:
    """The blocks that have tokens."""
    return tuple(each for each in blocks if each[1] > 0)


def with_session_blocks(arrivals: Sequence[Arrival]) -> list[Arrival]:
    """The requests of a trace with sessions: each prompt repeats the previous prompt of its session and the answer."""
    known: dict[str, tuple[Block, ...]] = {}
    found: list[Arrival] = []
    for number, each in enumerate(arrivals):
        if not each.session:
            found.append(each)
            continue
        blocks: list[Block] = []
        left = each.prompt
        for name, size in known.get(each.session, ()):
            if size > left:
                break
            blocks.append((name, size))
            left -= size
        if left:
            blocks.append(((number, "prompt"), left))
        answer = ((number, "answer"), each.output)
        known[each.session] = (*blocks, answer)
        found.append(each._replace(blocks=tuple(blocks), left=(answer,)))
    return found
