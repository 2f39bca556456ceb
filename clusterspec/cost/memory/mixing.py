"""What one layer stores to mix tokens: attention with or without a window, its latent form, or a recurrence."""

from __future__ import annotations

from dataclasses import replace

from clusterspec.cost.formulas import activations, parameters
from clusterspec.cost.memory.given import computed
from clusterspec.cost.memory.job import Job
from clusterspec.cost.memory.piece import Layers, Piece, sizes
from clusterspec.quantity import Figure

DEEPSEEK = "DeepSeek-V2, arXiv 2405.04434"
FLASH = "Dao et al., FlashAttention, arXiv 2205.14135"
SPARSE = "DeepSeek-V3.2, arXiv 2512.02556"
DELTA = "Yang et al., Gated Delta Networks, arXiv 2412.06464"


def mixing(job: Job) -> list[Piece]:
    """What layers of every kind that the model has store to mix tokens."""
    model = job.model
    pieces = attention(job) if model.full_layers else []
    if model.window_layers:
        pieces += _window(job)
    return [*pieces, *_recurrence(job)]


def attention(job: Job) -> list[Piece]:
    """Queries, keys, values, what attention yields, and what its softmax needs, of a layer with full attention."""
    return [replace(piece, layers=Layers.FULL) for piece in (*_attention(job), *_index(job))]


def _attention(job: Job) -> list[Piece]:
    model = job.model
    if model.compressed:
        return [*_compressed(job), _softmax(job, model.heads)]
    if model.latent:
        gate = _gate(job, model.heads, model.value_width)
        return [latents(job), _expanded(job), _output(job), *gate, _softmax(job, model.heads)]
    dims = (model.heads, model.kv_heads, model.head_dim, model.value_width)
    return [*_grouped(job, dims), _softmax(job, model.heads)]


def _window(job: Job) -> list[Piece]:
    """The same of a layer with a window, whose heads may be others."""
    model, window = job.model, job.model.window
    prefix = "window " if model.full_layers else ""
    if window is None or model.compressed or model.latent:
        return [replace(piece, layers=Layers.WINDOW, name=prefix + piece.name) for piece in _attention(job)]
    heads, head_dim = window.heads or model.heads, window.head_dim or model.head_dim
    value = window.value_head_dim or window.head_dim or model.value_width
    dims = (heads, window.kv_heads or model.kv_heads, head_dim, value)
    pieces = [*_grouped(job, dims), _softmax(job, heads)]
    return [replace(piece, layers=Layers.WINDOW, name=prefix + piece.name) for piece in pieces]


def _grouped(job: Job, dims: tuple[int, int, int, int]) -> list[Piece]:
    heads, kv_heads, head_dim, value_dim = dims
    tp = job.layout.tp
    queries, outputs = heads * head_dim, heads * value_dim
    held = parameters.share_of_heads(kv_heads, tp) * tp
    value = activations.attention_bytes(
        job.tokens, (queries + outputs) / 2, held * (head_dim + value_dim) / 2, tp, width=job.width
    )
    quantized = job.tokens * outputs * job.kept / tp if job.kept != job.width else 0.0
    formula = "2 B × tokens × head_dim × (2 heads + 2 kv_heads) / tp"
    pieces = [Piece("attention", value + quantized, formula, _inputs(job, dims))]
    return pieces + _gate(job, heads, value_dim)


def _inputs(job: Job, dims: tuple[int, int, int, int]) -> tuple[tuple[str, Figure], ...]:
    """Sizes of the model where the layer has those, else what the layer has."""
    model = job.model
    if dims[:3] == (model.heads, model.kv_heads, model.head_dim):
        return sizes(job, "heads", "kv_heads", "head_dim")
    named = zip(("heads", "kv_heads", "head_dim"), dims[:3], strict=True)
    return (*sizes(job), *(computed(name, value, "of layers with a window") for name, value in named))


def _gate(job: Job, heads: int, value_dim: int) -> list[Piece]:
    """The gate on what attention yields: one number per head, or per element."""
    outputs = {"none": 0, "head-wise": heads, "element-wise": heads * value_dim}[job.model.attention_gate]
    if not outputs:
        return []
    value = job.width * job.tokens * outputs / job.layout.tp
    inputs = (*sizes(job), computed("gates", outputs, "heads, or elements of them"))
    return [Piece("attention gate", value, "2 B × tokens × gates / tp", inputs)]


def _softmax(job: Job, heads: int) -> Piece:
    tp = job.layout.tp
    inputs = (*sizes(job, "heads"), job.given.workload("sequence_length"))
    if job.workload.attention == "plain":
        scores = activations.scores_bytes(job.tokens, job.workload.sequence_length, heads, tp)
        return Piece("scores", scores, "5 B × tokens × sequence_length × heads / tp", inputs, off=(0.4, 1.1))
    rows = activations.softmax_bytes(job.tokens, heads, tp)
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
    value = job.width * job.tokens * job.model.heads * job.model.value_width / job.layout.tp
    inputs = sizes(job, "heads", "head_dim")
    return Piece("attention output", value, "2 B × tokens × heads × head_dim / tp", inputs, DEEPSEEK)


def _compressed(job: Job) -> list[Piece]:
    """Queries and outputs of heads that share one key-value vector, and the latents on both sides."""
    model, part, tp = job.model, job.model.compressed, job.layout.tp
    if part is None:
        return []
    heads = 2 * model.heads * model.head_dim / tp
    around = 2 * part.q + model.head_dim + part.output_groups * part.output_rank / tp
    value = job.width * job.tokens * (heads + around)
    inputs = (*sizes(job, "heads", "head_dim"), computed("latents", around, "2 q + head_dim + outputs of groups / tp"))
    return [Piece("attention", value, "2 B × tokens × (2 heads × head_dim / tp + latents)", inputs, DEEPSEEK)]


def _index(job: Job) -> list[Piece]:
    """Queries of the sparse index and the tokens that it chooses, on the share of layers that have one."""
    model, sparse = job.model, job.model.sparse
    if sparse is None:
        return []
    share = min(1.0, sparse.layers / model.full_layers)
    queries = sparse.index_heads * sparse.index_dim
    value = share * job.tokens * (job.width * queries + 4 * sparse.tokens)
    inputs = (
        computed("share", share, "of the layers with full attention"),
        *sizes(job),
        computed("queries", queries, "index_heads × index_dim"),
        computed("chosen", sparse.tokens, "tokens that a query attends to"),
    )
    formula = "share × tokens × (2 B × queries + 4 B × chosen)"
    return [Piece("sparse index", value, formula, inputs, SPARSE, off=(0.5, 1.5))]


def _recurrence(job: Job) -> list[Piece]:
    """Inputs and outputs of the convolution, the recurrence, its gate and its norm; states are computed again."""
    linear, tp = job.model.linear, job.layout.tp
    if linear is None:
        return []
    keys = parameters.share_of_heads(linear.key_heads, tp) * tp * linear.key_head_dim
    value = job.width * job.tokens * (4 * keys + 5 * linear.value_width) / tp
    inputs = (
        *sizes(job),
        computed("keys", keys, "key_heads × key_head_dim of linear attention"),
        computed("values", linear.value_width, "value_heads × value_head_dim of linear attention"),
    )
    formula = "2 B × tokens × (4 keys + 5 values) / tp"
    return [Piece("linear attention", value, formula, inputs, DELTA, Layers.LINEAR, (0.7, 1.4))]
