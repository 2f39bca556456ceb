"""What one layer stores of one micro-batch, piece by piece."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

from clusterspec.cost.formulas import activations, parameters
from clusterspec.cost.memory.given import computed
from clusterspec.cost.memory.job import Job
from clusterspec.quantity import Figure

KORTHIKANTI = "Korthikanti et al., arXiv 2205.05198"
DEEPSEEK = "DeepSeek-V2, arXiv 2405.04434"
FLASH = "Dao et al., FlashAttention, arXiv 2205.14135"
SWITCH = "Fedus et al., Switch Transformers, arXiv 2101.03961"
ROUTER_COPIES = 2
"""Logits and probabilities of the router, in fp32."""


class Layers(Enum):
    """Which layers have a piece."""

    ALL = "layers"
    DENSE = "dense layers"
    EXPERT = "expert layers"


@dataclass(frozen=True, slots=True)
class Piece:
    """Bytes that one layer stores of one micro-batch; ``off`` the factors of low and high."""

    name: str
    value: float
    formula: str
    inputs: tuple[tuple[str, Figure], ...]
    source: str = KORTHIKANTI
    layers: Layers = Layers.ALL
    off: tuple[float, float] = (0.9, 1.1)


def whole(job: Job) -> list[Piece]:
    """Everything that a layer stores when nothing is recomputed."""
    return [*_residual(job), *attention(job), *_dense(job), *_experts(job)]


def sizes(job: Job, *keys: str) -> tuple[tuple[str, Figure], ...]:
    """The tokens of a rank, sizes of the model by their keys, and the tensor-parallel degree."""
    tokens = computed("tokens", job.tokens, "micro_batch × sequence_length / cp")
    return (tokens, *(job.given.model(key) for key in keys), job.given.layout("tp"))


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
    value = 2 * activations.residual_bytes(job.tokens, hidden, ranks, width=job.width, kept=job.kept)
    inputs = _of_residual(job)
    pieces = [Piece("normalizations", value, "2 × tokens × hidden × (2 B + kept) / ranks", inputs)]
    if job.workload.attention == "plain":
        masks = 2 * job.tokens * hidden / ranks
        pieces.append(Piece("dropout masks", masks, "2 × tokens × hidden / ranks", inputs, off=(0.0, 1.0)))
    return pieces


def attention(job: Job) -> list[Piece]:
    """Queries, keys, values, what attention yields, and what its softmax needs."""
    if job.model.latent:
        return [latents(job), _expanded(job), _output(job), _softmax(job)]
    model, tp = job.model, job.layout.tp
    queries = model.heads * model.head_dim
    keys = parameters.share_of_heads(model.kv_heads, tp) * tp * model.head_dim
    value = activations.attention_bytes(job.tokens, queries, keys, tp, width=job.width)
    quantized = job.tokens * queries * job.kept / tp if job.kept != job.width else 0.0
    formula = "2 B × tokens × head_dim × (2 heads + 2 kv_heads) / tp"
    inputs = sizes(job, "heads", "kv_heads", "head_dim")
    return [Piece("attention", value + quantized, formula, inputs), _softmax(job)]


def _softmax(job: Job) -> Piece:
    model, tp = job.model, job.layout.tp
    inputs = (*sizes(job, "heads"), job.given.workload("sequence_length"))
    if job.workload.attention == "plain":
        scores = activations.scores_bytes(job.tokens, job.workload.sequence_length, model.heads, tp)
        return Piece("scores", scores, "5 B × tokens × sequence_length × heads / tp", inputs, off=(0.4, 1.1))
    rows = activations.softmax_bytes(job.tokens, model.heads, tp)
    return Piece("softmax", rows, "4 B × tokens × heads / tp", inputs, FLASH)


def latents(job: Job) -> Piece:
    """The compressed queries, keys and values of latent attention."""
    model = job.model
    ranks = (model.latent_q, model.latent_kv)
    value = activations.latent_bytes(job.tokens, ranks, model.latent_rope, job.residual_ranks, width=job.width)
    formula = "2 B × tokens × (2 latent_q + 2 latent_kv + latent_rope) / ranks"
    return Piece("latents", value, formula, sizes(job, "latent_q", "latent_kv", "latent_rope"), DEEPSEEK)


def _expanded(job: Job) -> Piece:
    model, tp = job.model, job.layout.tp
    value = activations.latent_heads_bytes(
        job.tokens, model.heads, model.head_dim, rope=model.latent_rope, ranks=tp, width=job.width
    )
    formula = "2 B × tokens × heads × (4 head_dim + 2 latent_rope) / tp"
    return Piece("expanded latents", value, formula, sizes(job, "heads", "head_dim", "latent_rope"), DEEPSEEK)


def _output(job: Job) -> Piece:
    value = job.width * job.tokens * job.model.heads * job.model.head_dim / job.layout.tp
    inputs = sizes(job, "heads", "head_dim")
    return Piece("attention output", value, "2 B × tokens × heads × head_dim / tp", inputs, DEEPSEEK)


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
        pieces.append(_ffn(job, "shared experts", model.shared_experts * model.expert_ffn_hidden, Layers.EXPERT))
    return pieces


def _routed(job: Job) -> Piece:
    """What the experts of the rank take in and yield inside."""
    model, ranks = job.model, job.layout.expert_tp
    routed = activations.routed_tokens(job.tokens, model.experts_per_token, job.residual_ranks, ranks)
    inside = activations.ffn_bytes(routed, model.expert_ffn_hidden, job.matrices, ranks, width=job.width, kept=job.kept)
    value = routed * model.hidden * job.kept + inside
    formula = "routed × (hidden × kept + expert_ffn_hidden × (2 B × (matrices − 1) + kept) / expert_tp)"
    inputs = (computed("routed", routed, "tokens × experts_per_token"), *sizes(job, "hidden", "expert_ffn_hidden"))
    return Piece("experts", value, formula, inputs, SWITCH, Layers.EXPERT, (0.9, 1.4))
