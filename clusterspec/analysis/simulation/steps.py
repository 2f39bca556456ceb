"""Seconds of the steps of a serving engine, tabulated from the functions of the cost model for a simulation."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable
from functools import partial
from math import inf

from clusterspec.cost.serving.constants import LAUNCH
from clusterspec.cost.serving.engine import Engine
from clusterspec.cost.serving.parts.compiled_sizes import compiled_rows, graph_sizes
from clusterspec.cost.serving.parts.sparse import core_bytes, indexed_layers, key_bytes, selects_keys
from clusterspec.cost.serving.parts.step import absorbed_parts, cache_reading_parts, prompt_attention_parts, step_parts
from clusterspec.cost.serving.step_times import drafting_parts
from clusterspec.records import NamedTuple, dataclass
from clusterspec.standard import sum_of

RATIO = 1.2
"""The ratio of successive points of a curve."""
REFERENCE = 4096.0
"""Tokens per sequence for which the time to read a number of cache bytes is tabulated."""
JUMP = 1e-6
"""The part of a size within which a curve jumps."""
MOST_TOKENS = float(2**24)
"""The largest number of tokens at which curves have points. Beyond it the last two points are extrapolated."""


@dataclass(frozen=True)
class Curve:
    """A function of one number, linear between points whose distances grow by `RATIO`."""

    at: tuple[float, ...]
    values: tuple[float, ...]

    @classmethod
    def of(cls, function: Callable[[float], float], low: float, high: float, jumps: tuple[float, ...] = ()) -> Curve:
        """The curve of a function from ``low`` to at least ``high``, which may jump after each of ``jumps``."""
        at = [low]
        while at[-1] < high:
            at.append(at[-1] * RATIO)
        at = at if len(at) > 1 else [low, low * RATIO]
        at = sorted({*at, *(each * part for each in jumps for part in (1.0, 1.0 + JUMP))}) if jumps else at
        return cls(tuple(at), tuple(map(function, at)))

    def __call__(self, size: float) -> float:
        """The value at a size, taken from the nearest smaller point."""
        at, values = self.at, self.values
        place = bisect_right(at, size)
        if not place:
            return values[0]
        if place == len(at):
            place -= 1
        before, low = at[place - 1], values[place - 1]
        return low + (values[place] - low) * (size - before) / (at[place] - before)


class CacheRead(NamedTuple):
    """Two curves of a cache read: ``stored`` bytes per sequence as a function of its tokens, and ``seconds`` as a
    function of the bytes read.
    """

    stored: Curve
    seconds: Curve

    def __call__(self, sequences: float, context: float) -> float:
        """Seconds to read the caches of sequences of ``context`` tokens."""
        return self.seconds(sequences * self.stored(context))


@dataclass(frozen=True)
class StepTables:
    """Seconds of one step of an engine, on the attention rank with the most work.

    A step is a sum of four parts. ``working`` depends on its tokens, with one curve for each number of attention ranks
    in ``shares``; ``ending`` on the sequences that produce a token; ``reads`` on the cache bytes that they read;
    ``seeing``, for one token, on the positions of a prompt's tokens. ``floors`` has the least seconds to launch a step
    with prompts, each up to a number of tokens. ``host`` has the seconds of the same thread for a step and for each
    sequence that produces a token. A step computes ``drafted`` tokens of each sequence, and the sequence gains
    ``gained`` tokens. ``stages`` work on different batches. The cache is read ``reread`` times, in a step with prompts
    ``repeated`` times; ``apart`` says whether such steps hold only prompts, ``pausing`` whether a rank with prompts
    does not decode in the same step while other ranks do. An index selects ``selected`` tokens. Recurrences take
    ``recurring`` seconds of each step with prompts. Drafting by heads or a layer of the model takes ``drafting``
    seconds of a step with a given number of sequences.
    """

    working: tuple[Curve, ...]
    shares: tuple[float, ...]
    ending: Curve
    reads: tuple[CacheRead, ...]
    seeing: Curve
    floors: tuple[tuple[float, float], ...]
    host: tuple[float, float]
    ranks: int
    drafted: float
    gained: float
    stages: int
    repeated: float = 1.0
    apart: bool = False
    pausing: bool = False
    selected: float = 0.0
    recurring: float = 0.0
    reread: float = 1.0
    drafting: Curve | None = None

    @classmethod
    def of(cls, engine: Engine) -> StepTables:
        """The tables of an engine."""
        load = engine.workload.serving
        assert load is not None
        drafted, ranks = 1.0 + load.draft_tokens, engine.layout.attention_dp
        least = _step_seconds(engine, 1.0, 0.0, 1.0)
        shares = *(2.0**each for each in range((ranks - 1).bit_length())), float(ranks)
        jumps = graph_sizes(engine.cluster, MOST_TOKENS)
        return cls(
            working=tuple(
                Curve.of(partial(_step_seconds, engine, sequences=0.0, busy=busy), 1.0, MOST_TOKENS, jumps)
                for busy in shares
            ),
            shares=shares,
            ending=Curve.of(lambda count: _ending_seconds(engine, count) - least, 1.0, 2.0**16),
            reads=_cache_reads(engine, drafted),
            seeing=Curve.of(lambda place: _seeing_seconds(engine, place), 1.0, MOST_TOKENS),
            floors=tuple((most, engine.launch_floor(most)) for most in (engine.most_in_graphs, inf)),
            host=(engine.habits.host, engine.habits.sequence),
            ranks=ranks,
            drafted=drafted,
            gained=load.tokens_per_step,
            stages=engine.layout.pp,
            repeated=engine.reads_in_prompt_steps,
            reread=engine.reads_of_cache,
            apart=engine.prompts_alone or (engine.has_prompt_only_replicas and load.draft_tokens > 0),
            pausing=engine.has_prompt_only_replicas,
            selected=float(engine.model.sparse.tokens) if engine.model.sparse else 0.0,
            recurring=_recurrence_floor(engine),
            drafting=_drafting_curve(engine, drafted),
        )

    def host_floor(self, tokens: float, sequences: float) -> float:
        """The minimum host seconds of a step with prompts, with ``tokens`` tokens; ``sequences`` of the sequences
        produce a token (`Engine.host_floor`).
        """
        launching = next(seconds for most, seconds in self.floors if tokens <= most)
        return launching + self.host[0] + sequences * self.host[1] if launching else 0.0

    def decode_seconds(self, sequences: float, context: float, mean: float) -> float:
        """Seconds of a decode step. The fullest rank has ``sequences`` sequences of ``context`` tokens; the average
        rank has ``mean`` sequences.
        """
        batch = max(1.0, sequences / self.stages)
        tokens = batch * self.drafted
        read = self.reread * self.read_seconds(batch, context) if context else 0.0
        busy = mean / sequences * self.ranks if sequences else 1.0
        return self.work(tokens, busy) + self.ending(tokens) + read + self.drafting_seconds(batch)

    def drafting_seconds(self, sequences: float) -> float:
        """Seconds to draft the tokens of a step for some sequences."""
        return self.drafting(sequences) if self.drafting is not None and sequences else 0.0

    def read_seconds(self, sequences: float, context: float) -> float:
        """Seconds to read the caches of sequences of ``context`` tokens."""
        seconds = 0.0
        for read in self.reads:
            seconds += read(sequences, context)
        return seconds

    def work(self, tokens: float, busy: float) -> float:
        """Seconds of the work that depends on the number of tokens on the fullest rank; all ranks together have
        ``busy`` times as many tokens.
        """
        place = bisect_right(self.shares, busy)
        if place in (0, len(self.shares)):
            return self.working[max(0, place - 1)](tokens)
        fewer, more = self.shares[place - 1], self.shares[place]
        low, high = self.working[place - 1](tokens), self.working[place](tokens)
        return low + (high - low) * (busy - fewer) / (more - fewer)

    def mixed_seconds(self, decoding: tuple[float, float], prompt: tuple[float, float, int], busy: float) -> float:
        """Seconds of a step that decodes and runs prompts.

        ``decoding`` is the number of sequences and their context in tokens; ``prompt`` the prompt tokens of the step,
        the seconds of their attention (`attention_seconds`), and the number of prompts that they complete.
        """
        (sequences, context), (tokens, attending, completed) = decoding, prompt
        batch = max(1.0, sequences / self.stages) if sequences else 0.0
        every = batch * self.drafted
        read = self.reread * self.read_seconds(batch * self.repeated / self.reread, context) if sequences else 0.0
        recurring = self.recurring if tokens else 0.0
        other = read + attending + recurring + self.drafting_seconds(batch)
        return self.work(every + tokens, busy) + self.ending(every + completed) + other

    def attention_seconds(self, before: float, tokens: float) -> float:
        """Seconds of attention for ``tokens`` of a prompt that follow ``before`` earlier tokens of the prompt.

        They grow in proportion to the place of a token, below and above the selection of an index.
        """
        below = min(tokens, max(0.0, self.selected - before))
        if not below:
            return tokens * self.seeing(before + tokens / 2) if tokens else 0.0
        parts = ((below, before), (tokens - below, before + below))
        return sum_of(part * self.seeing(start + part / 2) for part, start in parts if part)


def _recurrence_floor(engine: Engine) -> float:
    """Seconds of recurrences in a step with prompts that are independent of the number of tokens."""
    if engine.model.linear is None:
        return 0.0
    from clusterspec.cost.serving.parts.recurrent import floor_seconds  # few models

    return floor_seconds(engine)


def _drafting_curve(engine: Engine, drafted: float) -> Curve | None:
    """Seconds to draft the tokens of a step as a function of its sequences, which are halfway through their outputs;
    None if nothing drafts.
    """
    load = engine.workload.serving
    assert load is not None
    context = load.input_tokens + load.output_tokens / 2
    if not drafting_parts(engine, 1.0, context, drafted):
        return None
    return Curve.of(lambda count: drafting_parts(engine, count, context, drafted)[0].seconds, 1.0, 2.0**16)


def _step_seconds(engine: Engine, tokens: float, sequences: float, busy: float) -> float:
    """Seconds of a step without attention."""
    rows = compiled_rows(engine.cluster, tokens)
    return sum_of(part.seconds for part in step_parts(engine, tokens, sequences, (), busy, rows=rows))


def _ending_seconds(engine: Engine, sequences: float) -> float:
    """Seconds of a step that computes one token and samples ``sequences`` tokens, excluding cache reads."""
    absorbed = sum_of(part.seconds for part in absorbed_parts(engine, sequences, most=sequences))
    return float(_step_seconds(engine, 1.0, sequences, 1.0) + absorbed)


def _cache_reads(engine: Engine, drafted: float) -> tuple[CacheRead, ...]:
    """The cache reads of a decode step: usually of the whole cache. With a sparse index, it counts the selected tokens
    and the index keys; with recurrences, key-value pairs and states.
    """
    kinds: tuple[Callable[[float], float], ...] = (engine.sequence_bytes,)
    if indexed_layers(engine):
        kinds = (partial(core_bytes, engine), partial(key_bytes, engine))
    elif engine.model.linear is not None and not selects_keys(engine):
        from clusterspec.cost.serving.parts.recurrent import kept_bytes, state_bytes  # few models

        kinds = (partial(kept_bytes, engine), lambda _: state_bytes(engine))
    return tuple(_cache_read(engine, drafted, place, stored) for place, stored in enumerate(kinds))


def _cache_read(engine: Engine, drafted: float, place: int, stored: Callable[[float], float]) -> CacheRead:
    """The cache read at index ``place`` of a step; ``stored`` is the bytes of a sequence as a function of its
    tokens.
    """
    unit = stored(REFERENCE) or 1.0

    def seconds(size: float) -> float:
        sequences = size / unit
        parts = cache_reading_parts(engine, sequences, REFERENCE, drafted, most=sequences)
        return float(parts[place].seconds)

    return CacheRead(Curve.of(stored, 1.0, MOST_TOKENS), Curve.of(seconds, unit / REFERENCE, unit * 2**14))


def _seeing_seconds(engine: Engine, place: float) -> float:
    """Attention of one token of a prompt over the tokens before it."""
    load = engine.workload.serving
    longest = float(load.input_tokens) if load is not None else 0.0
    found = prompt_attention_parts(engine, 1.0, place, 0.0, longest=longest)
    return float(sum_of(part.seconds for part in found if part.name != LAUNCH))
