"""How serving software uses memory and batches requests where the spec leaves it open: part of its stack."""

from __future__ import annotations

from clusterspec.records import dataclass


@dataclass(frozen=True, slots=True)
class ServingSoftware:
    """The defaults of one generation of serving software.

    ``memory_fraction`` is a share of the whole memory, or, with ``of_free``, of the memory that remains after the
    weights. With ``whole_requests`` a request is admitted only if the cache can hold it to its end. ``chunk_tokens`` of
    prompts are processed in a step, ``max_sequences`` decoded. ``quantized_cache`` is the precision of the cache where
    weights are quantized; None where it does not follow them.
    """

    memory_fraction: float
    of_free: bool
    whole_requests: bool
    chunk_tokens: int | None
    max_sequences: int | None
    quantized_cache: str | None = None
