"""Activations that the layers of one rank store until their backward pass."""

from __future__ import annotations

from clusterspec.cost.formulas import activations as formulas
from clusterspec.cost.memory import recompute, sums
from clusterspec.cost.memory.given import computed
from clusterspec.cost.memory.job import ACTIVATION, Job
from clusterspec.cost.memory.piece import Layers, Piece
from clusterspec.cost.parameters import Chunk
from clusterspec.cost.term import Term

PIPELINE_ENGINE = "DeepSpeed, runtime/pipe/engine.py"
PIPELINING = "torch.distributed.pipelining, merge_chunks"


COUNTS = {
    Layers.ALL: "layers",
    Layers.FULL: "full_layers",
    Layers.WINDOW: "window_layers",
    Layers.LINEAR: "linear_layers",
    Layers.DENSE: "dense_layers",
    Layers.EXPERT: "moe_layers",
}
"""The count of a chunk for each kind of layer."""


def passes(chunks: tuple[Chunk, ...], flights: tuple[float, ...]) -> dict[Layers, float]:
    """How many times a layer of each kind is held: layers times micro-batches in flight."""
    pairs = list(zip(chunks, flights, strict=True))
    return {kind: sum(getattr(chunk, name) * flying for chunk, flying in pairs) for kind, name in COUNTS.items()}


def stored(job: Job, chunks: tuple[Chunk, ...], flights: tuple[float, ...]) -> list[Term]:
    """All of it, when the pipeline is fullest."""
    held = passes(chunks, flights)
    there = 1.0 - job.layout.offload_activations
    parts = [sums.scaled(_held(piece, held), there, "(1 − offload)") for piece in recompute.kept(job)]
    if job.layout.pp > 1 and job.habits.pipeline_copies:
        parts.append(_copies(job, chunks, max(flights)))
    if job.layout.pp > 1 and job.habits.outputs_kept and any(chunk.last for chunk in chunks):
        parts.append(_outputs(job))
    return parts


def _held(piece: Piece, held: dict[Layers, float]) -> Term:
    times = held[piece.layers]
    inputs = (*piece.inputs, computed("passes", times, f"{piece.layers.value} × micro-batches in flight"))
    formula = f"passes × {piece.formula}"
    return sums.leaf(piece.name, times * piece.value, formula, inputs, source=piece.source, off=piece.off)


def _copies(job: Job, chunks: tuple[Chunk, ...], flying: float) -> Term:
    """Hidden states that come in and go out, which the pipeline engine keeps for each micro-batch in flight.

    The first stage takes in tokens, and the last gives out a loss.
    """
    each = job.width * job.tokens * job.model.hidden
    copies = 2 - any(chunk.first for chunk in chunks) - any(chunk.last for chunk in chunks)
    inputs = (
        computed("in flight", flying, "micro-batches in flight"),
        computed("hidden state", each, "2 B × tokens × hidden", "B"),
    )
    value = copies * flying * each
    formula = f"{copies} × in flight × hidden state"
    return sums.leaf("pipeline buffers", value, formula, inputs, source=PIPELINE_ENGINE, off=(0.5, 1.1))


def _outputs(job: Job) -> Term:
    """Logits of every micro-batch, which the last stage keeps and joins at the end of a step."""
    each = formulas.logits_bytes(job.tokens, job.model.vocab, job.layout.tp, ACTIVATION)
    inputs = (
        computed("micro-batches", job.micro_batches, "global_batch / (dp × micro_batch)"),
        computed("logits", each, "2 B × tokens × vocab / tp", "B"),
    )
    value = job.habits.outputs_kept * job.micro_batches * each
    formula = f"{job.habits.outputs_kept} × micro-batches × logits"
    return sums.leaf("outputs kept", value, formula, inputs, source=PIPELINING, off=(0.5, 1.0))
