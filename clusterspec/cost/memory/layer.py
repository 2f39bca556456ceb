"""What one layer stores of one micro-batch, piece by piece."""

from __future__ import annotations

from clusterspec.cost.formulas import activations
from clusterspec.cost.memory.given import computed
from clusterspec.cost.memory.job import Job
from clusterspec.cost.memory.mixing import mixing
from clusterspec.cost.memory.piece import Layers, Piece, sizes
from clusterspec.quantity import Figure

SWITCH = "Fedus et al., Switch Transformers, arXiv 2101.03961"
ROUTER_COPIES = 2
"""Logits and probabilities of the router, in fp32."""


def whole(job: Job) -> list[Piece]:
    """Everything that a layer stores when nothing is recomputed."""
    return [*_residual(job), *mixing(job), *_dense(job), *_experts(job)]


def _of_residual(job: Job) -> tuple[tuple[str, Figure], ...]:
    return (
        *sizes(job, "hidden"),
        computed("ranks", job.residual_ranks, "tp where it cuts the residual stream, else 1"),
    )


def layer_input(job: Job) -> Piece:
    """What recomputation starts from."""
    value = job.width * job.tokens * job.model.hidden / job.residual_ranks
    return Piece("layer inputs", value, "2 B × tokens × hidden / ranks", _of_residual(job), off=(1.0, 1.1))


def _residual(job: Job) -> list[Piece]:
    hidden, ranks = job.model.hidden, job.residual_ranks
    norms = _norms(job)
    value = norms * activations.residual_bytes(job.tokens, hidden, ranks, width=job.width, kept=job.kept)
    inputs = _of_residual(job)
    pieces = [Piece("normalizations", value, f"{norms:g} × tokens × hidden × (2 B + kept) / ranks", inputs)]
    if job.workload.attention == "plain":
        masks = 2 * job.tokens * hidden / ranks
        pieces.append(Piece("dropout masks", masks, "2 × tokens × hidden / ranks", inputs, off=(0.0, 1.0)))
    return pieces


def _norms(job: Job) -> float:
    """Norms of a layer: one before its mixing and one before its network, the mean where layers have one of them."""
    model = job.model
    return (model.attention_layers + model.linear_layers + model.ffn_layers) / max(1, model.layers)


def _ffn(job: Job, name: str, width: float, layers: Layers) -> Piece:
    value = activations.ffn_bytes(job.tokens, width, job.matrices, job.layout.tp, width=job.width, kept=job.kept)
    inputs = (*sizes(job), computed("width", width, "of the network"), computed("matrices", job.matrices, "3 if gated"))
    return Piece(name, value, "tokens × width × (2 B × (matrices − 1) + kept) / tp", inputs, layers=layers)


def _dense(job: Job) -> list[Piece]:
    return [_ffn(job, "feed-forward", job.model.ffn_hidden, Layers.DENSE)]


def _experts(job: Job) -> list[Piece]:
    model = job.model
    if not model.moe_layers:
        return []
    scores = ROUTER_COPIES * 4 * job.tokens * model.experts / job.residual_ranks
    said = sizes(job, "experts")
    pieces = [
        _routed(job),
        Piece("router", scores, "2 × 4 B × tokens × experts / ranks", said, SWITCH, Layers.EXPERT),
    ]
    if model.shared_experts:
        pieces.append(_ffn(job, "shared experts", model.shared_width, Layers.EXPERT))
    return pieces


def _routed(job: Job) -> Piece:
    """What the experts of the rank take in and yield inside."""
    model, ranks = job.model, job.layout.expert_tp
    routed = activations.routed_tokens(job.tokens, model.experts_per_token, job.residual_ranks, ranks)
    inside = activations.ffn_bytes(routed, model.expert_ffn_hidden, job.matrices, ranks, width=job.width, kept=job.kept)
    value = routed * model.expert_width * job.kept + inside
    taken = "expert_latent" if model.expert_latent else "hidden"
    formula = f"routed × ({taken} × kept + expert_ffn_hidden × (2 B × (matrices − 1) + kept) / expert_tp)"
    inputs = (
        computed("routed", routed, "tokens × experts_per_token"),
        *sizes(job, taken, "expert_ffn_hidden"),
    )
    return Piece("experts", value, formula, inputs, SWITCH, Layers.EXPERT, (0.9, 1.4))
