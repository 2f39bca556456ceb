"""Activations that one layer stores for token mixing: attention with or without a window, latent attention, or a
recurrence.
"""

from __future__ import annotations

from clusterspec.cost.formulas import activations, parameters
from clusterspec.cost.formulas.rank_memory import index_bytes, recurrence_bytes, tensor_bytes
from clusterspec.cost.memory.job import Job
from clusterspec.cost.memory.line import MemoryLine, line
from clusterspec.cost.memory.rank import Layers
from clusterspec.cost.memory.tensor import DEEPSEEK, KORTHIKANTI, Tensor
from clusterspec.records import NamedTuple

FLASH = "Dao et al., FlashAttention, arXiv 2205.14135"
SPARSE = "DeepSeek-V3.2, arXiv 2512.02556"
DELTA = "Yang et al., Gated Delta Networks, arXiv 2412.06464"
Modules = frozenset[str]


class Heads(NamedTuple):
    """The heads of one kind of attention, and the widths of a key and of a value."""

    heads: int
    kv_heads: int
    key: int
    value: int


def mixing(job: Job, modules: Modules) -> list[Tensor]:
    """Stored tensors of every kind of layer in the model, without those that ``modules`` recompute."""
    model = job.model
    full = [*_attention(job, modules), *_index(job)] if model.full_layers else []
    tensors = [Tensor(each, Layers.FULL) for each in full]
    if model.window_layers:
        prefix = "window " if model.full_layers else ""
        found = _window(job, modules)
        tensors += [Tensor(each._replace(name=prefix + each.name), Layers.WINDOW) for each in found]
    return [*tensors, *_recurrence(job)]


def _attention(job: Job, modules: Modules) -> list[MemoryLine]:
    """Queries, keys, values, the attention output, and the softmax."""
    model = job.model
    softmax = [] if "attention" in modules else [_softmax(job, model.heads)]
    if model.compressed:
        return [*_compressed(job), *softmax]
    if model.latent:
        expanded = [] if "latent" in modules else [_expanded(job)]
        gate = _gate(job, model.heads, model.value_width)
        return [latents(job), *expanded, _output(job), *gate, *softmax]
    return [*_grouped(job, Heads(model.heads, model.kv_heads, model.head_dim, model.value_width)), *softmax]


def _window(job: Job, modules: Modules) -> list[MemoryLine]:
    """The stored tensors of a window-attention layer, which may have other heads."""
    model, window = job.model, job.model.window
    if window is None or model.compressed or model.latent:
        return _attention(job, modules)
    key = window.head_dim or model.head_dim
    value = window.value_head_dim or window.head_dim or model.value_width
    heads = Heads(window.heads or model.heads, window.kv_heads or model.kv_heads, key, value)
    softmax = [] if "attention" in modules else [_softmax(job, heads.heads)]
    return [*_grouped(job, heads), *softmax]


def _grouped(job: Job, heads: Heads) -> list[MemoryLine]:
    tp = job.layout.tp
    held = parameters.share_of_heads(heads.kv_heads, tp) * tp
    sizes = {"queries": heads.heads * (heads.key + heads.value) / 2, "keys": held * (heads.key + heads.value) / 2}
    found = [
        line(
            "attention",
            activations.attention_bytes,
            KORTHIKANTI,
            tokens=job.tokens,
            **sizes,
            ranks=tp,
            width=job.width,
        )
    ]
    if job.kept != job.width:
        found.append(_tensor(job, "quantized attention output", heads.heads * heads.value, job.kept))
    return [*found, *_gate(job, heads.heads, heads.value)]


def _tensor(job: Job, name: str, elements: float, width: float, source: str = KORTHIKANTI) -> MemoryLine:
    """A tensor that tensor parallelism shards."""
    sizes = {"tokens": job.tokens, "elements": elements, "ranks": job.layout.tp, "width": width}
    return line(name, tensor_bytes, source, **sizes)


def _gate(job: Job, heads: int, value: int) -> list[MemoryLine]:
    """The gate on the attention output: one number per head, or per element."""
    outputs = {"none": 0, "head-wise": heads, "element-wise": heads * value}[job.model.attention_gate]
    return [_tensor(job, "attention gate", outputs, job.width)] if outputs else []


def _softmax(job: Job, heads: int) -> MemoryLine:
    tp = job.layout.tp
    if job.workload.attention == "plain":
        keys = job.workload.sequence_length
        sizes = {"tokens": job.tokens, "keys": keys, "heads": heads, "ranks": tp}
        return line("scores", activations.scores_bytes, KORTHIKANTI, **sizes)
    return line("softmax", activations.softmax_bytes, FLASH, tokens=job.tokens, heads=heads, ranks=tp)


def latents(job: Job) -> MemoryLine:
    """The compressed queries, keys and values of latent attention."""
    model = job.model
    return line(
        "latents",
        activations.latent_bytes,
        DEEPSEEK,
        tokens=job.tokens,
        query_rank=model.latent_q,
        key_rank=model.latent_kv,
        rope=model.latent_rope,
        cut=job.residual_ranks,
        width=job.width,
    )


def _expanded(job: Job) -> MemoryLine:
    model = job.model
    return line(
        "expanded latents",
        activations.latent_heads_bytes,
        DEEPSEEK,
        tokens=job.tokens,
        heads=model.heads,
        head_dim=model.head_dim,
        rope=model.latent_rope,
        ranks=job.layout.tp,
        width=job.width,
    )


def _output(job: Job) -> MemoryLine:
    return _tensor(job, "attention output", job.model.heads * job.model.value_width, job.width, DEEPSEEK)


def _compressed(job: Job) -> list[MemoryLine]:
    """Queries and outputs of heads that share one key-value vector, and the latents on both sides."""
    model, part = job.model, job.model.compressed
    if part is None:
        return []
    around = 2 * part.q + model.head_dim + part.output_groups * part.output_rank / job.layout.tp
    sizes = {"tokens": job.tokens, "elements": around, "ranks": 1.0, "width": job.width}
    return [
        _tensor(job, "attention", 2 * model.heads * model.head_dim, job.width, DEEPSEEK),
        line("compressed latents", tensor_bytes, DEEPSEEK, **sizes),
    ]


def _index(job: Job) -> list[MemoryLine]:
    """Queries of the sparse index and the selected tokens, on the share of layers that have an index."""
    model, sparse = job.model, job.model.sparse
    if sparse is None:
        return []
    share = min(1.0, sparse.layers / model.full_layers)
    queries = sparse.index_heads * sparse.index_dim
    sizes = {"tokens": job.tokens, "queries": queries, "chosen": sparse.tokens, "width": job.width}
    return [line("sparse index", index_bytes, SPARSE, **sizes).times("indexed_layers", share)]


def _recurrence(job: Job) -> list[Tensor]:
    """Inputs and outputs of the convolution, the recurrence, its gate and its norm; states are recomputed."""
    linear, tp = job.model.linear, job.layout.tp
    if linear is None:
        return []
    keys = parameters.share_of_heads(linear.key_heads, tp) * tp * linear.key_head_dim
    sizes = {"tokens": job.tokens, "keys": keys, "values": linear.value_width, "ranks": tp, "width": job.width}
    return [Tensor(line("linear attention", recurrence_bytes, DELTA, **sizes), Layers.LINEAR)]
