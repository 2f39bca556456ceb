"""What a layer still stores when part of it is computed again in the backward pass."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from clusterspec.cost.memory import layer, mixing
from clusterspec.cost.memory.habits import Selective
from clusterspec.cost.memory.job import Job
from clusterspec.cost.memory.piece import MIXING, Layers, Piece, sizes

RECOMPUTED = frozenset({"scores", "expanded latents", "window scores", "window expanded latents"})
"""What selective recomputation drops: the score matrices, and what latent attention expands to (``mla_up_proj``)."""


def kept(job: Job) -> list[Piece]:
    """What a layer stores under the layout's recomputation."""
    if job.layout.recompute == "full":
        return [layer.layer_input(job)]
    if job.layout.recompute == "selective":
        return _SELECTIVE[job.habits.selective](job)
    return layer.whole(job)


def again(job: Job, kind: Layers) -> float:
    """Bytes of one layer of ``kind`` that its backward pass has to compute again first."""
    chosen = kept(job)
    if job.layout.recompute == "selective" and job.habits.selective is Selective.ALTERNATE:
        chosen = [layer.layer_input(job)]
    return max(0.0, _bytes(layer.whole(job), kind) - _bytes(chosen, kind))


def _bytes(pieces: list[Piece], kind: Layers) -> float:
    """Of one layer of ``kind``, with the mixing that stores most."""
    stored = {each: sum(piece.value for piece in pieces if piece.layers is each) for each in Layers}
    return stored[Layers.ALL] + stored[kind] + max(stored[each] for each in MIXING)


def _keep_all_but_attention(job: Job) -> list[Piece]:
    return [piece for piece in layer.whole(job) if piece.name not in RECOMPUTED]


def _keep_projections(job: Job) -> list[Piece]:
    """The layer's input and its queries, keys and values, as MaxText's ``save_qkv_proj`` does."""
    if job.model.latent:
        return [layer.layer_input(job), replace(mixing.latents(job), off=(0.8, 2.0))]
    model = job.model
    value = job.width * job.tokens * (model.heads + 2 * model.kv_heads) * model.head_dim / job.layout.tp
    formula = "2 B × tokens × head_dim × (heads + 2 kv_heads) / tp"
    inputs = sizes(job, "heads", "kv_heads", "head_dim")
    return [
        layer.layer_input(job),
        Piece("projections", value, formula, inputs, "MaxText, remat_policy", off=(0.8, 2.0)),
    ]


def _keep_matmuls(job: Job) -> list[Piece]:
    """The layer's input, attention's output, and every second product (queries, values, gate, and down):
    torchtitan's selective operator checkpointing. Grouped products of experts are computed again.
    """
    model, tp = job.model, job.layout.tp
    width = (2 * model.heads + model.kv_heads) * model.head_dim
    attention = job.width * job.tokens * width / tp
    gate = job.width * job.tokens * model.ffn_hidden / tp
    source = "torchtitan, distributed/activation_checkpoint.py"
    formula = "2 B × tokens × head_dim × (2 heads + kv_heads) / tp"
    inputs = sizes(job, "heads", "kv_heads", "head_dim")
    ffn = Piece("feed-forward", gate, "2 B × tokens × ffn_hidden / tp", sizes(job, "ffn_hidden"), source, Layers.DENSE)
    return [
        layer.layer_input(job),
        Piece("attention", attention, formula, inputs, source),
        ffn,
        replace(layer.layer_input(job), name="layer outputs", source=source),
    ]


def _keep_alternate(job: Job) -> list[Piece]:
    """Whole layers and layer inputs in turn."""
    halves = [replace(piece, value=piece.value / 2, off=(0.2, 1.6)) for piece in layer.whole(job)]
    recomputed = layer.layer_input(job)
    return [*halves, replace(recomputed, value=recomputed.value / 2)]


def _keep_offloaded(job: Job) -> list[Piece]:
    """What two layers save, on its way to host memory and back; all of it where nothing is offloaded."""
    layers = max(1, job.model.layers)
    there = min(1.0, 2 / layers)
    return [replace(piece, value=piece.value * there, off=(0.0, 1 / there)) for piece in _keep_projections(job)]


_SELECTIVE: dict[Selective, Callable[[Job], list[Piece]]] = {
    Selective.EXCEPT_ATTENTION: _keep_all_but_attention,
    Selective.MATMULS: _keep_matmuls,
    Selective.PROJECTIONS: _keep_projections,
    Selective.ALTERNATE: _keep_alternate,
    Selective.OFFLOADED: _keep_offloaded,
}
