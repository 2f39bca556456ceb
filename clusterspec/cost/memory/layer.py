"""What one layer stores of one micro-batch, piece by piece."""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import Enum

from clusterspec.cost.formulas import activations, parameters
from clusterspec.cost.memory.given import computed
from clusterspec.cost.memory.habits import Selective
from clusterspec.cost.memory.job import Job
from clusterspec.quantity import Figure

KORTHIKANTI = "Korthikanti et al., arXiv 2205.05198"
DEEPSEEK = "DeepSeek-V2, arXiv 2405.04434"
FLASH = "Dao et al., FlashAttention, arXiv 2205.14135"
LATENT_FRAMEWORKS = frozenset({"megatron-core", "nemo"})


class Layers(Enum):
    """Which layers have a piece."""

    ALL = "layers"
    DENSE = "dense layers"
    EXPERT = "expert layers"


@dataclass(frozen=True, slots=True)
class Piece:
    """Bytes that one layer stores of one micro-batch; ``off`` the factors of low and high."""

    name: str
    layers: Layers
    value: float
    formula: str
    source: str
    inputs: tuple[tuple[str, Figure], ...] = ()
    off: tuple[float, float] = (0.9, 1.1)


def whole(job: Job) -> list[Piece]:
    """Everything that a layer stores when nothing is recomputed."""
    return [*_residual(job), *_attention(job), *_dense(job), *_experts(job)]


def kept(job: Job) -> list[Piece]:
    """What it stores under the layout's recomputation."""
    if job.layout.recompute == "full":
        return [_layer_input(job)]
    if job.layout.recompute == "selective":
        return _SELECTIVE[job.habits.selective](job)
    return whole(job)


def _tokens(job: Job) -> tuple[str, Figure]:
    return computed("tokens", job.tokens, "micro_batch × sequence_length / cp")


def _layer_input(job: Job) -> Piece:
    value = job.width * job.tokens * job.model.hidden / job.residual_ranks
    inputs = (
        _tokens(job),
        job.given.model("hidden"),
        computed("ranks", job.residual_ranks, "tp if it cuts the residual"),
    )
    return Piece("layer inputs", Layers.ALL, value, "2 B × tokens × hidden / ranks", KORTHIKANTI, inputs, (1.0, 1.1))


def _residual(job: Job) -> list[Piece]:
    value = activations.residual_bytes(job.tokens, job.model.hidden, job.residual_ranks, width=job.width, kept=job.kept)
    inputs = (
        _tokens(job),
        job.given.model("hidden"),
        computed("ranks", job.residual_ranks, "tp if it cuts the residual"),
    )
    pieces = [
        Piece(
            "normalizations", Layers.ALL, 2 * value, "2 × tokens × hidden × (2 B + kept) / ranks", KORTHIKANTI, inputs
        )
    ]
    if job.workload.attention == "plain":
        masks = 2 * job.tokens * job.model.hidden / job.residual_ranks
        pieces.append(
            Piece("dropout masks", Layers.ALL, masks, "2 × tokens × hidden / ranks", KORTHIKANTI, inputs, (0.0, 1.0))
        )
    return pieces


def _attention(job: Job) -> list[Piece]:
    core = _core(job)
    if job.model.latent:
        return [_latents(job), _expanded(job), _output(job), *core]
    model, tp = job.model, job.layout.tp
    queries = model.heads * model.head_dim
    keys = parameters.share_of_heads(model.kv_heads, tp) * tp * model.head_dim
    value = activations.attention_bytes(job.tokens, queries, keys, tp, width=job.width)
    again = job.tokens * queries * job.kept / tp if job.kept != job.width else 0.0
    inputs = (
        _tokens(job),
        job.given.model("heads"),
        job.given.model("kv_heads"),
        job.given.model("head_dim"),
        job.given.layout("tp"),
    )
    formula = "2 B × tokens × head_dim × (2 heads + 2 kv_heads) / tp"
    return [Piece("attention", Layers.ALL, value + again, formula, KORTHIKANTI, inputs), *core]


def _core(job: Job) -> list[Piece]:
    model, tp = job.model, job.layout.tp
    inputs = (_tokens(job), job.given.model("heads"), job.given.workload("sequence_length"), job.given.layout("tp"))
    if job.workload.attention == "plain":
        scores = activations.scores_bytes(job.tokens, job.workload.sequence_length, model.heads, tp)
        return [
            Piece(
                "scores",
                Layers.ALL,
                scores,
                "5 B × tokens × sequence_length × heads / tp",
                KORTHIKANTI,
                inputs,
                (0.4, 1.1),
            )
        ]
    rows = activations.softmax_bytes(job.tokens, model.heads, tp)
    return [Piece("softmax", Layers.ALL, rows, "4 B × tokens × heads / tp", FLASH, inputs)]


def _latents(job: Job) -> Piece:
    model = job.model
    value = activations.latent_bytes(
        job.tokens, (model.latent_q, model.latent_kv), model.latent_rope, job.residual_ranks, width=job.width
    )
    inputs = (_tokens(job), *(job.given.model(key) for key in ("latent_q", "latent_kv", "latent_rope")))
    return Piece(
        "latents",
        Layers.ALL,
        value,
        "2 B × tokens × (2 latent_q + 2 latent_kv + latent_rope) / ranks",
        DEEPSEEK,
        inputs,
    )


def _expanded(job: Job) -> Piece:
    model, tp = job.model, job.layout.tp
    value = activations.latent_heads_bytes(
        job.tokens, model.heads, model.head_dim, rope=model.latent_rope, ranks=tp, width=job.width
    )
    inputs = (
        _tokens(job),
        *(job.given.model(key) for key in ("heads", "head_dim", "latent_rope")),
        job.given.layout("tp"),
    )
    formula = "2 B × tokens × heads × (4 head_dim + 2 latent_rope) / tp"
    return Piece("expanded latents", Layers.ALL, value, formula, DEEPSEEK, inputs)


def _output(job: Job) -> Piece:
    model = job.model
    value = job.width * job.tokens * model.heads * model.head_dim / job.layout.tp
    inputs = (_tokens(job), job.given.model("heads"), job.given.model("head_dim"), job.given.layout("tp"))
    return Piece("attention output", Layers.ALL, value, "2 B × tokens × heads × head_dim / tp", DEEPSEEK, inputs)


def _dense(job: Job) -> list[Piece]:
    model = job.model
    value = activations.ffn_bytes(
        job.tokens, model.ffn_hidden, job.matrices, job.layout.tp, width=job.width, kept=job.kept
    )
    inputs = (
        _tokens(job),
        job.given.model("ffn_hidden"),
        computed("matrices", job.matrices, "3 where gated"),
        job.given.layout("tp"),
    )
    return [
        Piece(
            "feed-forward",
            Layers.DENSE,
            value,
            "tokens × ffn_hidden × (2 B × (matrices − 1) + kept) / tp",
            KORTHIKANTI,
            inputs,
        )
    ]


def _experts(job: Job) -> list[Piece]:
    model, layout = job.model, job.layout
    if not model.moe_layers:
        return []
    routed = activations.routed_tokens(job.tokens, model.experts_per_token, job.residual_ranks, layout.expert_tp)
    taken = routed * model.hidden * job.kept
    inside = activations.ffn_bytes(
        routed, model.expert_ffn_hidden, job.matrices, layout.expert_tp, width=job.width, kept=job.kept
    )
    scores = 2 * job.tokens * model.experts * 4 / job.residual_ranks
    inputs = (
        computed("routed", routed, "tokens × experts_per_token, evenly spread"),
        job.given.model("hidden"),
        job.given.model("expert_ffn_hidden"),
    )
    formula = "routed × (hidden × kept + expert_ffn_hidden × (2 B × (matrices − 1) + kept) / expert_tp)"
    pieces = [
        Piece("experts", Layers.EXPERT, taken + inside, formula, "Fedus et al., arXiv 2101.03961", inputs, (0.9, 1.4)),
        Piece(
            "router",
            Layers.EXPERT,
            scores,
            "2 × 4 B × tokens × experts / ranks",
            "arXiv 2101.03961",
            (_tokens(job), job.given.model("experts")),
        ),
    ]
    if model.shared_experts:
        width = model.shared_experts * model.expert_ffn_hidden
        shared = activations.ffn_bytes(job.tokens, width, job.matrices, layout.tp, width=job.width, kept=job.kept)
        said = (_tokens(job), computed("width", width, "shared_experts × expert_ffn_hidden"), layout_tp(job))
        pieces.append(
            Piece(
                "shared experts",
                Layers.EXPERT,
                shared,
                "tokens × width × (2 B × (matrices − 1) + kept) / tp",
                DEEPSEEK,
                said,
            )
        )
    return pieces


def layout_tp(job: Job) -> tuple[str, Figure]:
    return job.given.layout("tp")


def _keep_all_but_core(job: Job) -> list[Piece]:
    dropped = {"scores"}
    if job.layout.framework in LATENT_FRAMEWORKS:
        dropped.add("expanded latents")
    return [piece for piece in whole(job) if piece.name not in dropped]


def _keep_projections(job: Job) -> list[Piece]:
    """The layer's input and its queries, keys and values, as MaxText's ``save_qkv_proj`` does."""
    if job.model.latent:
        return [_layer_input(job), replace(_expanded(job), off=(0.8, 2.0))]
    model, tp = job.model, job.layout.tp
    value = job.width * job.tokens * (model.heads + 2 * model.kv_heads) * model.head_dim / tp
    inputs = (_tokens(job), *(job.given.model(key) for key in ("heads", "kv_heads", "head_dim")))
    formula = "2 B × tokens × head_dim × (heads + 2 kv_heads) / tp"
    piece = Piece("projections", Layers.ALL, value, formula, "MaxText, remat_policy", inputs, (0.8, 2.0))
    return [_layer_input(job), piece]


def _keep_matmuls(job: Job) -> list[Piece]:
    """The layer's input, attention's output, and every second product (queries, values, gate, and down):
    torchtitan's selective operator checkpointing. Grouped products of experts are computed again.
    """
    model, tp = job.model, job.layout.tp
    queries, values = model.heads * model.head_dim, model.kv_heads * model.head_dim
    attention = job.width * job.tokens * (2 * queries + values) / tp
    gate = job.width * job.tokens * model.ffn_hidden / tp
    source = "torchtitan, distributed/activation_checkpoint.py"
    inputs = (_tokens(job), job.given.model("heads"), job.given.model("kv_heads"), job.given.model("head_dim"))
    return [
        _layer_input(job),
        Piece(
            "attention", Layers.ALL, attention, "2 B × tokens × head_dim × (2 heads + kv_heads) / tp", source, inputs
        ),
        Piece("feed-forward", Layers.DENSE, gate, "2 B × tokens × ffn_hidden / tp", source, (_tokens(job),)),
        replace(_layer_input(job), name="layer outputs", source=source),
    ]


def _keep_alternate(job: Job) -> list[Piece]:
    """Whole layers and layer inputs in turn."""
    halves = [replace(piece, value=piece.value / 2, off=(0.2, 1.6)) for piece in whole(job)]
    recomputed = _layer_input(job)
    return [*halves, replace(recomputed, value=recomputed.value / 2)]


_SELECTIVE = {
    Selective.CORE: _keep_all_but_core,
    Selective.MATMULS: _keep_matmuls,
    Selective.PROJECTIONS: _keep_projections,
    Selective.ALTERNATE: _keep_alternate,
}
