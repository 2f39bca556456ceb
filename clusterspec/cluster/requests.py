"""Records of engines and of the requests that they serve."""

from __future__ import annotations

from math import exp, log, sqrt

from clusterspec.records import NamedTuple, dataclass


@dataclass(frozen=True)
class Engines:
    """Engines of one kind. An engine has ``tp`` × ``attention_dp`` × ``pp`` ranks.

    Its experts are distributed over ``ep`` × ``expert_tp`` = ``tp`` × ``attention_dp`` ranks of each stage, with
    ``redundant_experts`` copies in addition.
    """

    replicas: int = 1
    tp: int = 1
    attention_dp: int = 1
    ep: int = 1
    expert_tp: int = 1
    pp: int = 1
    redundant_experts: int = 0
    pool: str | None = None
    """The pool of the spec whose machine they run on; None for the cluster of the job."""

    @property
    def ranks(self) -> int:
        """Ranks of one engine."""
        return self.tp * self.attention_dp * self.pp


@dataclass(frozen=True)
class Lengths:
    """A log-normal distribution of lengths in tokens: its mean and 99th percentile, cut at ``most``."""

    mean: int
    p99: int
    most: int | None

    @property
    def log_deviation(self) -> float:
        """The standard deviation of the logarithms, from the ratio of 99th percentile and mean."""
        return NORMAL_99 - sqrt(max(0.0, NORMAL_99 * NORMAL_99 - 2 * log(self.p99 / self.mean)))

    @property
    def median_over_mean(self) -> float:
        """The median over the mean, before the cut."""
        return exp(-self.log_deviation * self.log_deviation / 2)

    @property
    def variation(self) -> float:
        """The square of the coefficient of variation, before the cut."""
        return exp(self.log_deviation * self.log_deviation) - 1


NORMAL_99 = 2.3263478740408408
"""The 99th percentile of the standard normal distribution."""


class Session(NamedTuple):
    """Conversations of ``turns`` requests, with ``think_time`` seconds on average from an answer to the next one.

    A prompt has ``growth`` tokens more than the one before, its answer included. The first prompt has ``first`` tokens;
    all sessions share ``shared_prefix`` of these.
    """

    turns: int
    think_time: float
    growth: int
    shared_prefix: int
    first: float


class CacheTier(NamedTuple):
    """A memory below the accelerator's that keeps KV caches. ``capacity`` is in bytes, ``read`` and ``write`` in B/s,
    each per ``scope``: engine, node or plan.

    ``writes_per_day`` are the times a day that the medium may be overwritten; None if it does not wear out.
    """

    medium: str
    capacity: float
    read: float
    write: float
    scope: str
    writes_per_day: float | None


class Target(NamedTuple):
    """A latency in seconds that ``percentile`` of 100 requests, of ``itl`` of the gaps between tokens, do not exceed.

    ``quantity`` is ``ttft``, ``tpot``, ``itl`` or ``end_to_end``; ``key`` is its place below `targets` in a spec.
    """

    quantity: str
    percentile: float
    seconds: float
    key: str


class ExpertLoad(NamedTuple):
    """How tokens are distributed over experts: the i-th most popular expert has a load proportional to i^-``alpha``,
    unless ``counts`` states the load of each expert.

    ``ratio``, where it is stated, is the load of the fullest rank over the mean, as counted. ``balanced`` says whether
    experts are placed by load also without copies.
    """

    alpha: float = 0.0
    ratio: float | None = None
    counts: tuple[float, ...] = ()
    balanced: bool = False


class Transfer(NamedTuple):
    """How the cache of a prompt reaches its decode engine.

    The cache is sent ``whole`` after the prompt, or after each ``chunk`` or ``layer`` of the prompt, in blocks of
    ``block_tokens`` tokens (0: a prompt is contiguous in every layer). ``bandwidth`` is the link rate in B/s per
    accelerator and direction; None if the machine's own links carry the cache. ``first_token`` reaches the user from
    ``prefill`` engines before the transfer, or from ``decode`` engines after it.
    """

    send: str = "whole"
    block_tokens: int = 0
    bandwidth: float | None = None
    first_token: str = "decode"


class Hours(NamedTuple):
    """Minutes of a day, from ``start`` to before ``end``, in which ``rate`` requests arrive per second."""

    start: int
    end: int
    rate: float


class Day(NamedTuple):
    """The load of a day in successive hours, and how engines follow it.

    An engine serves ``cold_start`` seconds after its start, which is ``ahead`` seconds before the load rises. At least
    ``min_replicas`` run at any time.
    """

    hours: tuple[Hours, ...]
    cold_start: float
    ahead: float
    min_replicas: int


NARROW_CHUNK = 1024
"""Tokens of a chunk per replica below which the default chunk size is not divided among replicas: launch scripts then
state a size.
"""
WIDE_CHUNK = 8192
"""Tokens of a chunk per replica in that case. Published launch commands for wide expert parallelism use 4,096 to
16,384.
"""


def gaps_between(output_tokens: float) -> float:
    """Number of decode intervals for an output, one between each two tokens; 1 for a single token."""
    return max(1.0, output_tokens - 1.0)


@dataclass(frozen=True)
class Serving:
    """The requests of a serving plan and their engines. Lengths in tokens, times in seconds, shares from 0 to 1.

    ``load`` is ``closed`` (``concurrency`` requests in flight over all engines), ``open`` (``request_rate`` arrive per
    second), ``static`` (one batch that starts and ends together) or ``offline`` (as many as the cache holds).
    ``requests`` is the length of a finite run, None for steady state. ``max_sequences`` and ``chunk_tokens`` are limits
    of one engine, None if there is none. ``memory_fraction`` is the share of the memory available to weights and cache,
    or, with ``of_free``, the share for the cache of the memory left by the weights. With ``whole_requests`` a request
    starts only if the cache can hold it to its end. A fraction that the spec omits rises from the default,
    ``raised_from``, if the requests need it. ``prefill`` and ``decode`` are set where they run on separate engines.
    Requests of an open load arrive with the coefficient of variation ``arrival_cv`` of the times between them, or as in
    the file ``trace``. Varying lengths are ``input_lengths`` and ``output_lengths``; ``input_tokens`` and
    ``output_tokens`` are their means.
    """

    input_tokens: int
    output_tokens: int
    load: str
    concurrency: int | None
    request_rate: float | None
    requests: int | None
    prefix_hit: float
    draft_tokens: int
    draft_acceptance: float
    targets: tuple[Target, ...]
    percentile: float
    chunk_tokens: int | None
    max_sequences: int | None
    memory_fraction: float
    captured_graphs: bool
    of_free: bool = False
    chunk_of_engine: bool = False
    """The attention replicas of an engine share ``chunk_tokens``."""
    whole_requests: bool = False
    own_output: bool = False
    """A request starts only if its prompt and its output fit in the free part of the cache."""
    raised_from: float | None = None
    """The default of ``memory_fraction`` if the software may raise the fraction above it; else None."""
    kept: int = 0
    """Number of concurrent requests for which the memory fraction is raised under a stated request rate; 0 until the
    engines are known.
    """
    prefill: Engines | None = None
    decode: Engines | None = None
    draft_method: str | None = None
    """The method that drafts tokens; None where the spec does not say."""
    drafter: str | None = None
    """The method whose time and memory count: as stated, else as assumed; None where no tokens are drafted."""
    arrival_cv: float = 1.0
    trace: str | None = None
    input_lengths: Lengths | None = None
    output_lengths: Lengths | None = None
    equal_outputs: bool = False
    """The spec states that all outputs have the same length: a 99th percentile that is the mean."""
    session: Session | None = None
    tiers: tuple[CacheTier, ...] = ()
    transfer: Transfer = Transfer()
    day: Day | None = None
    """None where the load is the same at all hours."""
    expert_load: ExpertLoad | None = None
    """None where the spec does not say; `cost.serving.parts.experts` then assumes a spread."""
    receive_interval: int = 1
    """Decode steps between two looks for new requests. An engine also looks after each step that computes prompts."""
    hold_steps: int = 1
    """Maximum steps for which an engine delays prompts until each of its attention replicas has one."""
    sampled_sequences: int = 0
    """Number of sequences for whose sampling an engine reserves memory: ``max_sequences``, or the default of its
    software.
    """
    sampling_bytes: float = 0.0
    """Bytes of that memory for each sequence and entry of the vocabulary."""
    expert_tiles: tuple[int, int] | None = None
    """Multiples to which the software pads the hidden width and a rank's expert width, for 4-bit expert weights
    multiplied in 16 bits; None if unknown.
    """

    @property
    def raised(self) -> bool:
        """Whether the fraction of the memory rises where the requests need it."""
        return self.raised_from is not None

    @property
    def tokens(self) -> int:
        """Tokens of one request at its end."""
        return self.input_tokens + self.output_tokens

    @property
    def fresh_tokens(self) -> float:
        """Tokens of a prompt that no cache holds, and that are computed."""
        return self.input_tokens * (1 - self.prefix_hit)

    @property
    def tokens_per_step(self) -> float:
        """Tokens that a sequence gains in a decode step: one, plus the accepted draft tokens."""
        return 1 + self.draft_tokens * self.draft_acceptance

    @property
    def gaps(self) -> float:
        """Number of decode intervals of a request, one between each two output tokens; 1 for a single token."""
        return gaps_between(self.output_tokens)

    def chunk_of_replica(self, replicas: int) -> int | None:
        """Tokens of a chunk on one of the ``replicas`` of attention that share an engine's default; None without a
        limit.

        If the share is below `NARROW_CHUNK`, the result is `WIDE_CHUNK`, because such engines do not run with the
        default.
        """
        if not self.chunk_tokens or not self.chunk_of_engine or replicas == 1:
            return self.chunk_tokens
        each = self.chunk_tokens // replicas
        return each if each >= NARROW_CHUNK else WIDE_CHUNK

    @property
    def typical_prompt(self) -> float:
        """The median of the prompts over their mean: below 1 if they vary."""
        return self.input_lengths.median_over_mean if self.input_lengths else 1.0

    @property
    def longest_request(self) -> int | None:
        """Tokens of the longest request at its end; None if the spec states only a mean, not a maximum."""
        prompt = self.input_lengths.most if self.input_lengths else None
        answer = self.output_lengths.most if self.output_lengths else None
        return prompt + answer if prompt and answer else None

    def tightest_target(self, quantity: str) -> Target | None:
        """The shortest target of a latency; None if there is none."""
        return min(
            (each for each in self.targets if each.quantity == quantity), key=lambda each: each.seconds, default=None
        )
