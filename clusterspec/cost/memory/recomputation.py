"""Activations that a rank stores under recomputation, and transient memory at the two peaks of a step, in bytes."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from clusterspec.cost.formulas import memory
from clusterspec.cost.formulas.compute import larger, positive_part, smaller, value_where
from clusterspec.cost.formulas.memory import backward_bytes, buffer_bytes, gathered_bytes, reduced_bytes, tensor_bytes
from clusterspec.cost.layers import MIXING_SETS, LayerSet
from clusterspec.cost.memory import GATHERED, Job, Lines, MemoryLine, Rank, memory_line, squared_excess, summed_bytes
from clusterspec.cost.memory.activations import (
    KORTHIKANTI,
    Tensor,
    latent_line,
    layer_input_tensor,
    layer_tensors,
    residual_line,
)
from clusterspec.cost.parameters import Share, frozen_precision
from clusterspec.quantity import precision_width
from clusterspec.records import NamedTuple
from clusterspec.standard import sum_of

MODULES = ("norm", "activation", "attention", "latent", "mlp", "shared_experts", "expert")
"""Modules that a layout may list: normalizations, activation functions, the attention core, the expansions of latent
attention, the dense feed-forward network, the shared experts, and the routed experts with their router.
"""
SELECTIVE_MODULES = {"core-attention": frozenset({"attention"}), "light": frozenset({"norm", "activation", "latent"})}
"""The modules that selective recomputation recomputes, by its name in the software entry: the attention core (arXiv
2205.05198, section 5), or modules that are cheap to compute and large to store.
"""
TORCHTITAN = "torchtitan, distributed/activation_checkpoint.py"
EXCHANGES = 2
"""The two exchanges of expert rows: dispatch and combine."""
MAXTEXT = "MaxText, remat_policy"
LAYERS_IN_TRANSIT = 2
"""Layers whose saved tensors are on the device while they are copied to or from host memory."""


def kept_tensors(job: Job) -> list[Tensor]:
    """The tensors that a layer stores under the layout's recomputation."""
    chosen = job.layout.recompute
    if isinstance(chosen, tuple):
        return layer_tensors(job, frozenset(chosen))
    if chosen == "full":
        return _fully_recomputed_tensors(job)
    return _selective_tensors(job) if chosen == "selective" else layer_tensors(job)


def recomputed_bytes(job: Job, tensors: StoredTensors, kind: LayerSet) -> float:
    """Bytes of one layer of ``kind`` that are recomputed before its backward pass."""
    if job.layout.recompute == "none":
        return 0.0
    stored = tensors.kept if job.layout.recomputed_share == 1 else [layer_input_tensor(job)]
    if job.layout.recompute == "selective" and job.selective == "alternate-layers":
        stored = [layer_input_tensor(job)]
    return positive_part(_layer_bytes(tensors.every, kind) - _layer_bytes(stored, kind))


class StoredTensors(NamedTuple):
    """The tensors that a layer stores: ``every`` without recomputation, ``kept`` with the layout's recomputation."""

    every: list[Tensor]
    kept: list[Tensor]

    @classmethod
    def of(cls, job: Job) -> StoredTensors:
        """The tensors of all kinds of layers."""
        return cls(layer_tensors(job), kept_tensors(job))


def _layer_bytes(tensors: list[Tensor], kind: LayerSet) -> float:
    """Bytes of one layer of ``kind``, with the token mixing that stores most."""
    stored = {each: summed_bytes(tensor.line for tensor in tensors if tensor.layers is each) for each in LayerSet}
    most = 0.0
    for each in MIXING_SETS:
        most = larger(most, stored[each])
    return stored[LayerSet.ALL] + stored[kind] + most


def offloads_saved(job: Job) -> bool:
    """Whether the tensors that selective recomputation stores are moved to host memory."""
    return job.layout.recompute == "selective" and job.vendor in job.framework.offloads_selective


def share_on_device(job: Job) -> float:
    """The share of offloaded tensors that is on the accelerator because their layers are being copied."""
    return min(1.0, LAYERS_IN_TRANSIT / job.model.layers)


def _selective_tensors(job: Job) -> list[Tensor]:
    if offloads_saved(job):
        return _offloaded_tensors(job)
    if job.selective in SELECTIVE_MODULES:
        return layer_tensors(job, SELECTIVE_MODULES[job.selective])
    return _KEPT.get(job.selective, layer_tensors)(job)


def _projection_tensors(job: Job) -> list[Tensor]:
    """The layer's input and its queries, keys and values (``save_qkv_proj``)."""
    if job.model.latent:
        return [layer_input_tensor(job), Tensor(latent_line(job))]
    model = job.model
    elements = (model.heads + 2 * model.kv_heads) * model.head_dim
    sizes = {"tokens": job.tokens, "elements": elements, "ranks": job.layout.tp, "width": job.width}
    return [layer_input_tensor(job), Tensor(memory_line("projections", tensor_bytes, MAXTEXT, **sizes))]


def _alternate_product_tensors(job: Job) -> list[Tensor]:
    """The layer's input, attention's output, and every second GEMM (queries, values, gate, and down projection):
    selective operator checkpointing. Grouped GEMMs of experts are recomputed.
    """
    model = job.model
    sizes = {"tokens": job.tokens, "ranks": job.layout.tp, "width": job.width}
    width = (2 * model.heads + model.kv_heads) * model.head_dim
    return [
        layer_input_tensor(job),
        Tensor(memory_line("attention", tensor_bytes, TORCHTITAN, **sizes, elements=width)),
        Tensor(
            memory_line("feed-forward", tensor_bytes, TORCHTITAN, **sizes, elements=model.ffn_hidden), LayerSet.DENSE
        ),
        Tensor(residual_line(job, "layer outputs", TORCHTITAN, job.width)),
        *_saved_transfer_tensors(job),
    ]


def _saved_transfer_tensors(job: Job) -> list[Tensor]:
    """The results of transfers that selective operator checkpointing saves: the sums that tensor parallelism scatters
    after attention, and the rows of experts, once dispatched and once combined.
    """
    layout, cut = job.layout, value_where(job.layout.tp > 1, 1.0, 0.0)
    found = [Tensor(residual_line(job, "scattered sums", TORCHTITAN, job.width).with_factor("cut", cut))]
    shared = job.model.shared_experts > 0
    if not job.model.moe_layers or layout.stack is None or not layout.stack.saves_exchange(shared):
        return found
    rows = memory.routed_tokens(job.tokens, job.model.experts_per_token, job.residual_ranks, 1.0)
    sizes = {"tokens": rows, "elements": EXCHANGES * job.model.expert_width, "ranks": 1.0, "width": job.width}
    exchanged = memory_line("exchanged rows", tensor_bytes, TORCHTITAN, **sizes)
    apart = value_where(layout.ep > 1, 1.0, 0.0)
    return [*found, Tensor(exchanged.with_factor("exchanged", apart), LayerSet.EXPERT)]


def _fully_recomputed_tensors(job: Job) -> list[Tensor]:
    """The inputs of layers that are recomputed, and all tensors of the other layers."""
    share, inputs = job.layout.recomputed_share, layer_input_tensor(job)
    if share == 1:
        return [inputs]
    stored = ((1.0 - share, tensor) for tensor in layer_tensors(job))
    shares = (*stored, (share, inputs))
    return [tensor._replace(line=tensor.line.with_factor("of_layers", part)) for part, tensor in shares]


def _alternate_layer_tensors(job: Job) -> list[Tensor]:
    """Full layers and layer inputs in alternation."""
    every = [*layer_tensors(job), layer_input_tensor(job)]
    return [tensor._replace(line=tensor.line.with_factor("every_second", 0.5)) for tensor in every]


def _offloaded_tensors(job: Job) -> list[Tensor]:
    """Saved tensors of the layers that are being copied; all other layers are in host memory."""
    there = share_on_device(job)
    return [tensor._replace(line=tensor.line.with_factor("on_device", there)) for tensor in _projection_tensors(job)]


_KEPT: dict[str, Callable[[Job], list[Tensor]]] = {
    "alternate-products": _alternate_product_tensors,
    "alternate-layers": _alternate_layer_tensors,
    "all-but-projections": _projection_tensors,
}


# Activations that the layers of one rank store until their backward pass

PIPELINE_ENGINE = "DeepSpeed, runtime/pipe/engine.py"
PIPELINING = "torch.distributed.pipelining, merge_chunks"


def stored_lines(job: Job, rank: Rank, tensors: Sequence[Tensor]) -> Lines:
    """All stored activations, with the highest number of micro-batches in flight. ``tensors`` are those of one layer
    and micro-batch.
    """
    layers = tuple(tensor.line.with_factor("passes", rank.passes[tensor.layers]) for tensor in tensors)
    offloaded = job.layout.offload_activations
    found = layers if offloaded == 0 else tuple(each.with_factor("on_device", 1.0 - offloaded) for each in layers)
    if job.framework.pipeline_copies:
        found += (_pipeline_buffer_line(job, rank),)
    if job.framework.outputs_kept:
        found += (_stored_logits_line(job, rank),)
    return found


def _pipeline_indicator(job: Job) -> float:
    """1 with several pipeline stages, else 0."""
    return value_where(job.layout.pp > 1, 1.0, 0.0)


def _pipeline_buffer_line(job: Job, rank: Rank) -> MemoryLine:
    """Input and output hidden states that the pipeline engine stores for each micro-batch in flight.

    The input of the first stage is tokens, the output of the last stage a loss.
    """
    each = tensor_bytes(job.tokens, job.model.hidden, 1.0, job.residual_width)
    copies = (rank.inputs + rank.outputs) * rank.in_flight
    return memory_line("pipeline buffers", buffer_bytes, PIPELINE_ENGINE, count=copies, each=each).with_factor(
        "pipelined", _pipeline_indicator(job)
    )


def _stored_logits_line(job: Job, rank: Rank) -> MemoryLine:
    """Logits of every micro-batch, which the last stage stores and concatenates at the end of a step."""
    each = memory.logits_bytes(job.tokens, job.model.vocab, job.layout.tp, GATHERED)
    count = job.framework.outputs_kept * job.micro_batches * rank.head
    return memory_line("outputs kept", buffer_bytes, PIPELINING, count=count, each=each).with_factor(
        "pipelined", _pipeline_indicator(job)
    )


QLORA = "Dettmers et al., QLoRA, arXiv 2305.14314, section 3"
RING = "Liu et al., Ring Attention, arXiv 2310.01889"
FSDP = "Zhao et al., PyTorch FSDP, arXiv 2304.11277"
RING_COPIES = 4
"""Keys and values that a ring receives ahead, and their gradients."""
ALL_TO_ALL_COPIES = 2
"""A tensor and its gradient."""


class PeakPoint(NamedTuple):
    """Transient memory at one point of the step, by category."""

    weights: Lines
    gradients: Lines
    activations: Lines

    @property
    def value(self) -> float:
        return summed_bytes((*self.weights, *self.gradients, *self.activations))

    @property
    def squared_excess(self) -> float:
        """The `squared_excess` of weights, gradients and activations together."""
        return squared_excess((*self.weights, *self.gradients, *self.activations))


def peak_at_loss(job: Job, rank: Rank, logits: Lines) -> PeakPoint:
    """Transient memory at the loss: logits and gathered tables; nothing on a stage without the head."""
    tables = tuple(each.with_factor("head", rank.head) for each in _gathered_table_lines(job, rank.share, ("head",)))
    return PeakPoint(tables, (), tuple(each.with_factor("head", rank.head) for each in logits))


def peak_in_backward(job: Job, rank: Rank, working: Lines) -> PeakPoint:
    """The current layer, and the weights and gradients that full sharding gathers and reduces."""
    widened = _dequantized_lines(job)
    if not job.is_fully_sharded:
        return PeakPoint(widened, (), working)
    gathers, share = job.gathers_layers, rank.share
    layer = _gathered_layer_line(job, share).with_factor("gathers", gathers)
    weights = (layer, *_gathered_table_lines(job, share, ()), *widened)
    reduced = _reduced_layer_line(job, share.trained_share(job.workload)).with_factor("gathers", gathers)
    return PeakPoint(weights, (reduced,), working)


def _gathered_table_lines(job: Job, share: Share, at_work: tuple[str, ...]) -> Lines:
    """Gathered weights of embedding and head, in use or stored until the backward pass."""
    there = {*job.framework.tables_kept, *at_work}
    if not job.is_fully_sharded or not there:
        return ()
    weights = sum_of((getattr(share, name) for name in sorted(there)), 0.0)
    return (
        memory_line("gathered tables", buffer_bytes, FSDP, count=weights, each=GATHERED).with_factor(
            "gathers", job.gathers_layers
        ),
    )


def _dequantized_lines(job: Job) -> Lines:
    """The widest matrix of a layer, which QLoRA widens to 16 bits for its product."""
    trainable, model = job.workload.trainable, job.model
    if trainable is None or trainable.method != "qlora":
        return ()
    widest = model.hidden * max(model.ffn_hidden, model.heads * model.head_dim) / job.layout.tp
    return (memory_line("dequantized matrix", buffer_bytes, QLORA, count=widest, each=GATHERED),)


def _maximum_gathered_weights(job: Job, share: Share) -> float:
    """The highest number of gathered weights: the framework's limit, at most all layers of the rank."""
    return smaller(job.framework.live, share.unit * larger(share.units, 1.0))


def _gathered_layer_line(job: Job, share: Share) -> MemoryLine:
    return memory_line(
        "gathered layers",
        gathered_bytes,
        FSDP,
        unit=share.unit,
        units=share.units,
        at_once=job.framework.layers_at_once,
        live=_maximum_gathered_weights(job, share),
        width=min(GATHERED, precision_width(frozen_precision(job.workload))) if job.workload.trainable else GATHERED,
    )


def _reduced_layer_line(job: Job, share: Share) -> MemoryLine:
    """The full gradient of one layer, and its copy in the reduction."""
    sizes = {
        "unit": share.unit,
        "live": _maximum_gathered_weights(job, share),
        "reduced": job.framework.reduced,
        "width": GATHERED,
    }
    return memory_line("layer being reduced", reduced_bytes, FSDP, **sizes)


def working_line(job: Job, tensors: StoredTensors, kinds: frozenset[LayerSet]) -> MemoryLine:
    """The recomputed activations of one layer in the backward pass, and the gradients of its widest tensors."""
    again, widest = 0.0, 0.0
    for kind in sorted(kinds, key=str):
        again, widest = larger(again, recomputed_bytes(job, tensors, kind)), larger(widest, _widest_network(job, kind))
    return memory_line(
        "working space",
        backward_bytes,
        KORTHIKANTI,
        recomputed=again,
        tokens=job.tokens,
        widest=widest,
        hidden=job.model.hidden,
        matrices=job.ffn_matrices,
        ranks=job.hidden_ranks,
        width=job.width,
    )


def _widest_network(job: Job, kind: LayerSet) -> float:
    """Width of a layer's feed-forward network per token of the rank, including tokens dispatched to experts."""
    layout, model = job.layout, job.model
    if kind is not LayerSet.EXPERT:
        return model.ffn_hidden / layout.tp
    routed = memory.routed_tokens(1.0, model.experts_per_token, job.residual_ranks, layout.expert_tp)
    sent = value_where(layout.ep > 1, 2 * model.expert_width / job.ffn_matrices, 0.0)
    return routed * (model.expert_ffn_hidden / layout.expert_tp + sent)


def exchange_lines(job: Job) -> Lines:
    """Keys and values in transit in context parallelism, with their gradients; all-to-all also moves queries."""
    layout, model = job.layout, job.model
    heads = model.heads if model.latent else model.kv_heads
    width = 2 * heads * model.head_dim
    copies: float = RING_COPIES
    if layout.cp_method == "all-to-all":
        width += 2 * model.heads * model.head_dim
        copies = ALL_TO_ALL_COPIES
    if layout.cp_method == "all-gather":
        copies = 2 * layout.cp
    sizes = {"tokens": job.tokens, "heads_width": width, "copies": copies, "ranks": layout.tp, "width": job.width}
    found = memory_line("context exchange", memory.exchanged_bytes, RING, **sizes)
    return (found.with_factor("exchanges", value_where(layout.cp > 1, 1.0, 0.0)),)


def logits_lines(job: Job) -> Lines:
    """Logits and the intermediate results of the loss."""
    spread = job.framework.logits
    if spread is None:
        return ()
    ranks = 1 if job.framework.whole_logits else job.layout.tp
    sizes = {"tokens": job.tokens, "vocab": job.model.vocab, "ranks": ranks, "width": spread.value}
    found = memory_line("logits and loss", memory.logits_bytes, KORTHIKANTI, **sizes)
    return (found._replace(low=spread.low / spread.value, high=spread.high / spread.value),)
