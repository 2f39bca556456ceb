"""Activations of one rank: what its layers store, the working room of one layer, and the loss."""

from __future__ import annotations

from clusterspec.cost.formulas import activations as formulas
from clusterspec.cost.memory import layer, sums
from clusterspec.cost.memory.given import computed
from clusterspec.cost.memory.job import ACTIVATION, Job
from clusterspec.cost.memory.layer import KORTHIKANTI, Layers, Piece
from clusterspec.cost.parameters import Chunk
from clusterspec.cost.term import Term

PIPELINING = "torch.distributed.pipelining, merge_chunks"


def passes(chunks: tuple[Chunk, ...], flights: tuple[float, ...]) -> dict[Layers, float]:
    """How many times a layer of each kind is held: layers times micro-batches in flight."""
    pairs = list(zip(chunks, flights, strict=True))
    dense = sum(chunk.dense_layers * flying for chunk, flying in pairs)
    moe = sum(chunk.moe_layers * flying for chunk, flying in pairs)
    return {Layers.ALL: dense + moe, Layers.DENSE: dense, Layers.EXPERT: moe}


def activations(job: Job, chunks: tuple[Chunk, ...], flights: tuple[float, ...]) -> Term:
    """All of it, at the moment that the fullest micro-batch begins its backward pass."""
    held = passes(chunks, flights)
    offloaded = 1.0 - job.layout.offload_activations
    parts = [sums.scaled(_held(piece, held), offloaded, "1 − offload") for piece in layer.kept(job)]
    if job.habits.pipeline_copies and job.layout.pp > 1:
        parts.append(_copies(job, max(flights)))
    last = any(chunk.last for chunk in chunks)
    if last and job.habits.outputs_kept and job.layout.pp > 1:
        parts.append(_outputs(job))
    moments = [_working(job, held), *([_loss(job)] if last else [])]
    parts.append(max(moments, key=lambda term: term.value))
    return sums.total("activations", parts)


def _held(piece: Piece, held: dict[Layers, float]) -> Term:
    times = held[piece.layers]
    inputs = (*piece.inputs, computed("passes", times, f"{piece.layers.value} × micro-batches in flight"))
    formula = f"passes × {piece.formula}"
    return sums.leaf(piece.name, times * piece.value, formula, inputs, source=piece.source, off=piece.off)


def _copies(job: Job, flying: float) -> Term:
    """Inputs and outputs of the stage that the pipeline engine keeps for each micro-batch in flight."""
    each = job.width * job.tokens * job.model.hidden
    inputs = (
        computed("in flight", flying, "micro-batches in flight"),
        computed("hidden state", each, "2 B × tokens × hidden", "B"),
    )
    value = job.habits.pipeline_copies * flying * each
    return sums.leaf(
        "pipeline buffers",
        value,
        f"{job.habits.pipeline_copies} × in flight × hidden state",
        inputs,
        source="DeepSpeed, runtime/pipe/engine.py",
        off=(0.5, 1.1),
    )


def _outputs(job: Job) -> Term:
    """Logits of every micro-batch, which the last stage keeps and joins at the end of a step."""
    each = formulas.logits_bytes(job.tokens, job.model.vocab, job.layout.tp, ACTIVATION)
    inputs = (
        computed("micro-batches", job.micro_batches, "global_batch / (dp × micro_batch)"),
        computed("logits", each, "2 B × tokens × vocab / tp", "B"),
    )
    value = job.habits.outputs_kept * job.micro_batches * each
    return sums.leaf(
        "outputs kept",
        value,
        f"{job.habits.outputs_kept} × micro-batches × logits",
        inputs,
        source=PIPELINING,
        off=(0.5, 1.0),
    )


def _working(job: Job, held: dict[Layers, float]) -> Term:
    """One layer as the backward pass computes it again, with the gradients of its widest tensors."""
    kinds = [kind for kind in (Layers.DENSE, Layers.EXPERT) if held[kind]] or [Layers.ALL]
    room = max(_layer_bytes(layer.whole(job), kind) - _layer_bytes(layer.kept(job), kind) for kind in kinds)
    model, tp = job.model, job.layout.tp
    width = max(
        model.ffn_hidden / tp if held[Layers.DENSE] else 0.0, _routed_width(job) if held[Layers.EXPERT] else 0.0
    )
    backward = job.width * job.tokens * (job.matrices * width + 2 * model.hidden)
    inputs = (
        computed("recomputed", max(0.0, room), "what one layer stores beyond what is kept", "B"),
        computed("gradients", backward, "2 B × tokens × (matrices × widest + 2 hidden)", "B"),
    )
    return sums.leaf(
        "working room", max(0.0, room) + backward, "recomputed + gradients", inputs, source=KORTHIKANTI, off=(0.6, 1.4)
    )


def _layer_bytes(pieces: list[Piece], kind: Layers) -> float:
    return sum(piece.value for piece in pieces if piece.layers in {Layers.ALL, kind})


def _routed_width(job: Job) -> float:
    """Width for each token of the rank that its experts have."""
    layout, model = job.layout, job.model
    routed = formulas.routed_tokens(1.0, model.experts_per_token, job.residual_ranks, layout.expert_tp)
    return float(routed * model.expert_ffn_hidden / layout.expert_tp)


def _loss(job: Job) -> Term:
    """Logits and what the loss makes of them."""
    width = job.habits.loss
    value = formulas.logits_bytes(job.tokens, job.model.vocab, job.layout.tp, width.value)
    inputs = (
        computed("tokens", job.tokens, "micro_batch × sequence_length / cp"),
        job.given.model("vocab"),
        ("bytes each", width.figure),
        job.given.layout("tp"),
    )
    off = (width.low / width.value, width.high / width.value)
    return sums.leaf("logits and loss", value, "bytes each × tokens × vocab / tp", inputs, source=KORTHIKANTI, off=off)
