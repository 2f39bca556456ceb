"""The requests of a serving plan, and the engines that serve them."""

from __future__ import annotations

from clusterspec.records import dataclass


@dataclass(frozen=True, slots=True)
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

    @property
    def ranks(self) -> int:
        """Ranks of one engine."""
        return self.tp * self.attention_dp * self.pp


@dataclass(frozen=True, slots=True)
class Serving:
    """The requests of a serving plan and their engines. Lengths in tokens, times in seconds, shares from 0 to 1.

    ``load`` is ``closed`` (``concurrency`` requests in flight over all engines), ``open`` (``request_rate`` arrive per
    second), ``static`` (one batch that starts and ends together) or ``offline`` (as many as the cache holds).
    ``requests`` is the length of a finite run, None for steady state. ``max_sequences`` and ``chunk_tokens`` are limits
    of one engine, None where there is none. ``memory_fraction`` is the share of the memory available to weights and
    cache, or, with ``of_free``, the share for the cache of the memory left by the weights. With ``whole_requests`` a
    request starts only if the cache can hold it to its end; with ``raised`` the fraction rises where the requests need
    it. ``prefill`` and ``decode`` are set where they run on separate engines.
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
    ttft_target: float | None
    tpot_target: float | None
    percentile: float
    chunk_tokens: int | None
    max_sequences: int | None
    memory_fraction: float
    captured_graphs: bool
    of_free: bool = False
    whole_requests: bool = False
    raised: bool = False
    prefill: Engines | None = None
    decode: Engines | None = None

    @property
    def tokens(self) -> int:
        """Tokens of one request at its end."""
        return self.input_tokens + self.output_tokens
