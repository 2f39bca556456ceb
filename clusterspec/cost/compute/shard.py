"""What one rank holds of one micro-batch: the shapes that kernels are built from."""

from __future__ import annotations

from dataclasses import dataclass

from clusterspec.catalog.entries import Model
from clusterspec.cluster.model import Layout, Workload


@dataclass(frozen=True, slots=True)
class Shard:
    """One micro-batch on one rank.

    ``tokens`` enter the matrix products of a tensor-parallel group; ``rows`` of them are this
    rank's between those products (fewer with sequence parallelism). ``heads`` and ``kv_heads``
    are this rank's own; ``precision`` is that of the linear layers, ``kept`` that of what stays
    in 16 bits when they are narrower (attention, logits, router).
    """

    model: Model
    sequences: float
    length: int
    cp: int
    tp: int
    ep: int
    expert_tp: int
    tokens: float
    rows: float
    heads: float
    kv_heads: float
    precision: str
    kept: str
    flash: bool

    @classmethod
    def of(cls, workload: Workload, layout: Layout) -> Shard:
        """The share of each rank, by the degrees of the layout."""
        model, tp = workload.model, layout.tp
        tokens = layout.micro_batch * workload.sequence_length / layout.cp
        narrow = workload.precision in ("fp8", "fp4")
        return cls(
            model=model,
            sequences=layout.micro_batch,
            length=workload.sequence_length,
            cp=layout.cp,
            tp=tp,
            ep=layout.ep,
            expert_tp=layout.expert_tp,
            tokens=tokens,
            rows=tokens / tp if layout.sequence_parallel else tokens,
            heads=model.heads / tp,
            kv_heads=max(model.kv_heads / tp, 1.0),
            precision=workload.precision,
            kept="bf16" if narrow else workload.precision,
            flash=workload.attention == "flash",
        )
