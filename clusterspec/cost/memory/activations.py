"""Activations that one layer stores for the backward pass of one micro-batch, tensor by tensor, in bytes."""

from __future__ import annotations

from clusterspec.cost.formulas import memory
from clusterspec.cost.formulas.memory import tensor_bytes
from clusterspec.cost.layers import LayerSet
from clusterspec.cost.memory import Job, MemoryLine, memory_line
from clusterspec.cost.parameters import copies_weights, has_native_norms
from clusterspec.quantity import precision_width
from clusterspec.records import NamedTuple

KORTHIKANTI = "Korthikanti et al., arXiv 2205.05198"
DEEPSEEK = "DeepSeek-V2, arXiv 2405.04434"


class Tensor(NamedTuple):
    """A tensor that a layer of some kind stores for one micro-batch."""

    line: MemoryLine
    layers: LayerSet = LayerSet.ALL

    @property
    def name(self) -> str:
        return self.line.name

    @property
    def value(self) -> float:
        return self.line.value


# Activations that one layer stores for token mixing: attention with or without a window, latents, or a recurrence

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


def mixing_tensors(job: Job, modules: Modules) -> list[Tensor]:
    """The stored tensors of token mixing for each kind of layer in the model, except those that recomputation of
    ``modules`` avoids.
    """
    model = job.model
    full = [*_attention_lines(job, modules), *_index_lines(job)] if model.full_layers else []
    tensors = [Tensor(each, LayerSet.FULL) for each in full]
    if model.window_layers:
        prefix = "window " if model.full_layers else ""
        found = _window_lines(job, modules)
        tensors += [Tensor(each._replace(name=prefix + each.name), LayerSet.WINDOW) for each in found]
    return [*tensors, *_recurrence_tensors(job)]


def _attention_lines(job: Job, modules: Modules) -> list[MemoryLine]:
    """Queries, keys, values, the attention output, and the softmax."""
    model = job.model
    softmax = [] if "attention" in modules else [_softmax_line(job, model.heads)]
    if model.compressed:
        return [*_compressed_attention_lines(job), *softmax]
    if model.latent:
        expanded = [] if "latent" in modules else [_expanded_latent_line(job)]
        gate = _gate_lines(job, model.heads, model.value_width)
        return [latent_line(job), *expanded, _attention_output_line(job), *gate, *softmax]
    return [*_grouped_query_lines(job, Heads(model.heads, model.kv_heads, model.head_dim, model.value_width)), *softmax]


def _window_lines(job: Job, modules: Modules) -> list[MemoryLine]:
    """The stored tensors of a window-attention layer, which may have other heads."""
    model, window = job.model, job.model.window
    if window is None or model.compressed or model.latent:
        return _attention_lines(job, modules)
    key = window.head_dim or model.head_dim
    value = window.value_head_dim or window.head_dim or model.value_width
    heads = Heads(window.heads or model.heads, window.kv_heads or model.kv_heads, key, value)
    softmax = [] if "attention" in modules else [_softmax_line(job, heads.heads)]
    return [*_grouped_query_lines(job, heads), *softmax]


def _grouped_query_lines(job: Job, heads: Heads) -> list[MemoryLine]:
    tp = job.layout.tp
    held = memory.share_of_heads(heads.kv_heads, tp) * tp
    sizes = {"queries": heads.heads * (heads.key + heads.value) / 2, "keys": held * (heads.key + heads.value) / 2}
    found = [
        memory_line(
            "attention",
            memory.attention_bytes,
            KORTHIKANTI,
            tokens=job.tokens,
            **sizes,
            ranks=tp,
            width=job.width,
        )
    ]
    if job.quantized_bytes:
        found.append(
            _sharded_tensor_line(job, "quantized attention output", heads.heads * heads.value, job.quantized_bytes)
        )
    if job.model.block is not None and job.model.block.qk_norm:
        found.append(_sharded_tensor_line(job, "head norms", (heads.heads + held) * heads.key, _extra_norm_bytes(job)))
    return [*found, *_gate_lines(job, heads.heads, heads.value)]


def _extra_norm_bytes(job: Job) -> float:
    """Bytes of one number that the norms of queries and keys keep in addition to those that attention keeps: their
    input, or without fusion a copy in fp32 and the number that they multiply with their weights.
    """
    return precision_width("fp32") + job.width if job.framework.unfused else job.width


def _sharded_tensor_line(job: Job, name: str, elements: float, width: float, source: str = KORTHIKANTI) -> MemoryLine:
    """A tensor that tensor parallelism shards."""
    sizes = {"tokens": job.tokens, "elements": elements, "ranks": job.layout.tp, "width": width}
    return memory_line(name, tensor_bytes, source, **sizes)


def _gate_lines(job: Job, heads: int, value: int) -> list[MemoryLine]:
    """The gate on the attention output: one number per head, or per element."""
    outputs = {"none": 0, "head-wise": heads, "element-wise": heads * value}[job.model.attention_gate]
    return [_sharded_tensor_line(job, "attention gate", outputs, job.width)] if outputs else []


def _softmax_line(job: Job, heads: int) -> MemoryLine:
    tp = job.layout.tp
    if job.workload.attention == "plain":
        keys, width = job.workload.sequence_length, _score_width(job)
        sizes = {"tokens": job.tokens, "keys": keys, "heads": heads, "ranks": tp, "width": width}
        return memory_line("scores", memory.scores_bytes, KORTHIKANTI, **sizes)
    return memory_line("softmax", memory.softmax_bytes, FLASH, tokens=job.tokens, heads=heads, ranks=tp)


def _score_width(job: Job) -> float:
    """Mean bytes of one number of the softmax and of its dropout: automatic casting runs an unfused softmax in fp32."""
    casts = job.framework.unfused and copies_weights(job.workload, job.layout.sharding)
    return (precision_width("fp32") + job.width) / 2 if casts else job.width


def latent_line(job: Job) -> MemoryLine:
    """The compressed queries, keys and values of latent attention."""
    from clusterspec.cost.formulas.attention import latent_bytes

    model = job.model
    return memory_line(
        "latents",
        latent_bytes,
        DEEPSEEK,
        tokens=job.tokens,
        query_rank=model.latent_q,
        key_rank=model.latent_kv,
        rope=model.latent_rope,
        cut=job.residual_ranks,
        width=job.width,
    )


def _expanded_latent_line(job: Job) -> MemoryLine:
    from clusterspec.cost.formulas.attention import latent_heads_bytes

    model = job.model
    return memory_line(
        "expanded latents",
        latent_heads_bytes,
        DEEPSEEK,
        tokens=job.tokens,
        heads=model.heads,
        head_dim=model.head_dim,
        rope=model.latent_rope,
        ranks=job.layout.tp,
        width=job.width,
    )


def _attention_output_line(job: Job) -> MemoryLine:
    return _sharded_tensor_line(job, "attention output", job.model.heads * job.model.value_width, job.width, DEEPSEEK)


def _compressed_attention_lines(job: Job) -> list[MemoryLine]:
    """Queries and outputs of heads that share one key-value vector, and the latents on both sides."""
    model, part = job.model, job.model.compressed
    if part is None:
        return []
    around = 2 * part.q + model.head_dim + part.output_groups * part.output_rank / job.layout.tp
    sizes = {"tokens": job.tokens, "elements": around, "ranks": 1.0, "width": job.width}
    return [
        _sharded_tensor_line(job, "attention", 2 * model.heads * model.head_dim, job.width, DEEPSEEK),
        memory_line("compressed latents", tensor_bytes, DEEPSEEK, **sizes),
    ]


def _index_lines(job: Job) -> list[MemoryLine]:
    """Queries of the sparse index and the selected tokens, on the share of layers that have an index."""
    model, sparse = job.model, job.model.sparse
    if sparse is None:
        return []
    from clusterspec.cost.formulas.attention import index_bytes

    share = min(1.0, sparse.layers / model.full_layers)
    queries = sparse.index_heads * sparse.index_dim
    sizes = {"tokens": job.tokens, "queries": queries, "chosen": sparse.tokens, "width": job.width}
    return [memory_line("sparse index", index_bytes, SPARSE, **sizes).with_factor("indexed_layers", share)]


def _recurrence_tensors(job: Job) -> list[Tensor]:
    """Inputs and outputs of the convolution, the recurrence, its gate and its norm; states are recomputed."""
    linear, tp = job.model.linear, job.layout.tp
    if linear is None:
        return []
    from clusterspec.cost.formulas.attention import recurrence_bytes

    keys = memory.share_of_heads(linear.key_heads, tp) * tp * linear.key_head_dim
    sizes = {"tokens": job.tokens, "keys": keys, "values": linear.value_width, "ranks": tp, "width": job.width}
    return [Tensor(memory_line("linear attention", recurrence_bytes, DELTA, **sizes), LayerSet.LINEAR)]


SWITCH = "Fedus et al., Switch Transformers, arXiv 2101.03961"
ROUTER_COPIES = 2
"""Logits and probabilities of the router, in fp32."""


def layer_tensors(job: Job, modules: frozenset[str] = frozenset()) -> list[Tensor]:
    """All stored tensors of a layer, except those that recomputation of the given modules avoids
    (`recomputation.MODULES`).
    """
    return [
        *_residual_tensors(job, modules),
        *mixing_tensors(job, modules),
        *_dense_tensors(job, modules),
        *_expert_tensors(job, modules),
    ]


def layer_input_tensor(job: Job) -> Tensor:
    """The layer input, from which full recomputation starts."""
    return Tensor(residual_line(job, "layer inputs", KORTHIKANTI, job.residual_width))


def residual_line(job: Job, name: str, source: str, width: float) -> MemoryLine:
    """A tensor with one number of ``width`` bytes for each element of the residual stream."""
    sizes = {"tokens": job.tokens, "elements": job.model.hidden, "ranks": job.residual_ranks, "width": width}
    return memory_line(name, tensor_bytes, source, **sizes)


def _residual_tensors(job: Job, modules: frozenset[str]) -> list[Tensor]:
    """The input and output of each normalization. The output is not stored if module ``norm`` is recomputed.

    An unfused norm keeps its input in fp32, and the normalized input that it multiplies with its weights, unless the
    framework has one operation for it.
    """
    apart = job.framework.unfused and not has_native_norms(job.model)
    width = precision_width("fp32") + job.width if apart else job.residual_width
    whole = job.residual_ranks if job.framework.gathered_inputs else 1.0
    kept = 0.0 if "norm" in modules else job.kept * _stored_norms(job) * whole
    sizes = {"tokens": job.tokens, "hidden": job.model.hidden, "ranks": job.residual_ranks}
    norms = memory_line(
        "normalizations", memory.residual_bytes, KORTHIKANTI, **sizes, width=width, kept=kept
    ).with_factor("norms", _norms_per_layer(job))
    if job.workload.attention != "plain":
        return [Tensor(norms)]
    masks = memory_line(
        "dropout masks",
        tensor_bytes,
        KORTHIKANTI,
        tokens=job.tokens,
        elements=2 * job.model.hidden,
        ranks=job.residual_ranks,
        width=1.0,
    )
    return [Tensor(norms), Tensor(masks)]


def _norms_per_layer(job: Job) -> float:
    """Mean number of norms per layer: one before token mixing and one before the network, where the layer has both."""
    model = job.model
    return (model.attention_layers + model.linear_layers + model.ffn_layers) / model.layers


def _stored_norms(job: Job) -> float:
    """The fraction of a layer's two norms whose output is stored, since the matrices after it have trained weights."""
    network = any(job.stores_inputs_of(module) for module in ("ffn", "experts"))
    return (job.stores_inputs_of("attention") + network) / 2


def _feed_forward_line(job: Job, name: str, ffn: float, modules: frozenset[str]) -> MemoryLine:
    return memory_line(
        name,
        memory.ffn_bytes,
        KORTHIKANTI,
        tokens=job.tokens,
        ffn=ffn,
        matrices=job.ffn_matrices + _separate_gates(job),
        ranks=job.layout.tp,
        width=job.width,
        kept=0.0 if "activation" in modules or not job.stores_inputs_of("ffn") else job.kept,
    )


def _separate_gates(job: Job) -> int:
    """Additional tensors of a gated network with an unfused activation: the activation's output is stored too."""
    return int(job.framework.unfused and job.model.gated_ffn)


def _dense_tensors(job: Job, modules: frozenset[str]) -> list[Tensor]:
    if "mlp" in modules:
        return []
    return [Tensor(_feed_forward_line(job, "feed-forward", job.model.ffn_hidden, modules), LayerSet.DENSE)]


def _expert_tensors(job: Job, modules: frozenset[str]) -> list[Tensor]:
    model = job.model
    found: list[Tensor] = []
    if model.moe_layers and "expert" not in modules:
        found = [Tensor(_routed_expert_line(job, modules), LayerSet.EXPERT), Tensor(_router_line(job), LayerSet.EXPERT)]
    if model.moe_layers and model.shared_experts and "shared_experts" not in modules:
        found.append(Tensor(_feed_forward_line(job, "shared experts", model.shared_width, modules), LayerSet.EXPERT))
    return found


def _router_line(job: Job) -> MemoryLine:
    elements = ROUTER_COPIES * job.model.experts
    sizes = {"tokens": job.tokens, "elements": elements, "ranks": job.residual_ranks, "width": precision_width("fp32")}
    return memory_line("router", tensor_bytes, SWITCH, **sizes)


def _routed_expert_line(job: Job, modules: frozenset[str]) -> MemoryLine:
    """Inputs and intermediate results of the experts on the rank."""
    from clusterspec.cost.formulas.experts import expert_bytes

    model, ranks = job.model, job.layout.expert_tp
    return memory_line(
        "experts",
        expert_bytes,
        SWITCH,
        routed=memory.routed_tokens(job.tokens, model.experts_per_token, job.residual_ranks, ranks),
        hidden=model.expert_width,
        ffn=model.expert_ffn_hidden,
        matrices=job.ffn_matrices,
        ranks=ranks,
        width=job.width,
        kept=0.0 if "activation" in modules or not job.stores_inputs_of("experts") else job.kept,
    )
