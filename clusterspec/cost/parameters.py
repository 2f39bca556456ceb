"""Weights of a model by component, and the weights of one rank before data-parallel sharding."""

from __future__ import annotations

from functools import reduce

from clusterspec.catalog.models import Model
from clusterspec.catalog.stacks import FULLY, Stack
from clusterspec.cluster.model import Layout, Workload
from clusterspec.cost import assumed_figure, mixers
from clusterspec.cost.formulas import compute, memory
from clusterspec.cost.formulas.compute import larger
from clusterspec.cost.layers import Chunk, LayerWeights
from clusterspec.cost.mixers import attention_flops
from clusterspec.quantity import NARROW, activation_width, precision_width, table_width
from clusterspec.records import NamedTuple, dataclass
from clusterspec.standard import cached_property, recent, sum_of

MOMENTS = {"adam": 2, "adamw": 2, "lion": 1, "momentum": 1, "muon": 1, "sgd": 0, "adafactor": 0}
"""Moments per weight of a matrix. Adafactor stores one row and one column per matrix, which is negligible (arXiv
1804.04235).
"""
UPDATE_PASSES = {
    name: assumed_figure("update", name, passes, f"{why}, where Adam runs operation by operation (torch.optim.adamw)")
    for name, passes, why in (
        ("moments", 14.0, "reads and writes of both moments, 8, and of the denominators, 6"),
        ("weights", 4.0, "reads and writes of a weight: its decay and its update"),
        ("gradients", 5.0, "reads and writes of a gradient: its norm, its clipping and both moments"),
    )
}
"""The number of reads and writes per weight in one Adam update: of moments, of weights and of gradients."""
ORTHOGONAL = frozenset({"muon"})
"""Optimizers that make the update of each matrix orthogonal by matrix products (`cost.orthogonal`)."""
TABLE_MOMENTS = {**MOMENTS, "muon": 2}
"""Moments per weight of embedding and head, which Muon leaves to Adam (Jordan, "Muon", 2024)."""


def updates_operation_by_operation(optimizer: str, stack: Stack | None) -> bool:
    """Whether the optimizer step runs one operation at a time over all weights of a rank."""
    return stack is not None and not stack.fused_update and MOMENTS[optimizer] == MOMENTS["adam"]


# Parameters of a model, and the number of them on one rank


@dataclass(frozen=True)
class Parameters:
    """Weights of a model by component.

    ``full``, ``window`` and ``linear`` count the token mixing of one layer of that kind, sharded and replicated
    weights. ``norm`` is one norm of the hidden width; a layer has one before its mixing and one before its network.
    ``latent_norm`` are the norms of compressed queries, keys and values in one attention layer. ``dense_ffn`` is one
    dense layer; ``expert`` one expert; ``shared``, ``router`` and ``latent`` (the projections to and from the latent
    width of experts) one expert layer. ``head`` is 0 if it shares the embedding table. ``prediction`` counts all
    modules of multi-token prediction, which no other sum includes.
    """

    held: Chunk
    experts: int
    experts_per_token: int
    embedding: float
    positions: float
    head: float
    full: LayerWeights
    window: LayerWeights
    linear: LayerWeights
    norm: float
    latent_norm: float
    dense_ffn: float
    expert: float
    shared: float
    router: float
    latent: float
    prediction: float

    @property
    def moe_layers(self) -> int:
        """Number of layers with experts."""
        return self.held.moe_layers

    @property
    def mixing_weights(self) -> float:
        """Weights that mix tokens, in all layers, without norms."""
        held = self.held
        full, window = held.full_layers * self.full.total, held.window_layers * self.window.total
        return full + window + held.linear_layers * self.linear.total

    @cached_property
    def norms(self) -> float:
        """Weights of all norms, including the final one."""
        attention = self.held.full_layers + self.held.window_layers
        return self.norm * (block_count(self.held) + 1) + self.latent_norm * attention

    @property
    def network(self) -> float:
        """Weights of all feed-forward networks, every expert counted."""
        experts = self.shared + self.router + self.latent + self.experts * self.expert
        return self.held.dense_layers * self.dense_ffn + self.held.moe_layers * experts

    @cached_property
    def total(self) -> float:
        """All weights of the model except multi-token prediction."""
        return self.embedding + self.positions + self.head + self.norms + self.mixing_weights + self.network

    @cached_property
    def active_weights(self) -> float:
        """Weights that one token uses: all weights except the experts that the token is not routed to."""
        return self.total - self.moe_layers * (self.experts - self.experts_per_token) * self.expert

    @cached_property
    def multiplied_weights(self) -> float:
        """Weights of matrices that one token is multiplied with, including a tied output head."""
        head = 0.0 if self.head else self.embedding
        return self.active_weights - self.embedding - self.positions - self.norms + head


def block_count(chunk: Chunk) -> int:
    """Number of blocks, each with its own norm: token mixing and feed-forward networks count separately."""
    return chunk.full_layers + chunk.window_layers + chunk.linear_layers + chunk.dense_layers + chunk.moe_layers


@recent(8)
def model_weights(model: Model) -> Parameters:
    """The weights of ``model`` by component."""
    hidden = model.hidden
    embedding = memory.embedding_weights(model.vocab, hidden)
    positions = (model.max_sequence_length or 0) if model.learned_positions else 0
    expert = _expert_weights(model)
    return Parameters(
        held=_chunk_of_all_layers(model),
        experts=model.experts,
        experts_per_token=model.experts_per_token,
        embedding=embedding,
        positions=memory.embedding_weights(positions, hidden),
        head=0.0 if model.tied_embeddings else embedding,
        full=mixers.full_attention_weights(model),
        window=mixers.window_attention_weights(model),
        linear=mixers.recurrence_weights(model),
        norm=hidden,
        latent_norm=mixers.latent_norm_weights(model),
        dense_ffn=_dense_weights(model),
        expert=expert,
        shared=_shared_expert_weights(model),
        router=hidden * model.experts if model.moe_layers else 0,
        latent=memory.latent_expert_weights(hidden, model.expert_latent),
        prediction=_prediction_weights(model),
    )


def _chunk_of_all_layers(model: Model) -> Chunk:
    """All layers as one chunk."""
    return Chunk(
        layers=model.layers,
        full_layers=model.full_layers,
        window_layers=model.window_layers,
        linear_layers=model.linear_layers,
        dense_layers=model.dense_layers,
        moe_layers=min(model.moe_layers, model.ffn_layers),
        first=True,
        last=True,
    )


def _dense_weights(model: Model) -> float:
    return float(memory.ffn_weights(model.hidden, model.ffn_hidden, model.ffn_matrices))


def _expert_weights(model: Model) -> float:
    """Weights of one routed expert, at the latent width of experts if the model has one."""
    if not model.moe_layers:
        return 0.0
    return float(memory.ffn_weights(model.expert_width, model.expert_ffn_hidden, model.ffn_matrices))


def _shared_expert_weights(model: Model) -> float:
    """Weights of the shared experts, at the hidden width."""
    return float(memory.ffn_weights(model.hidden, model.shared_width, model.ffn_matrices))


def _prediction_weights(model: Model) -> float:
    """Weights of all modules of multi-token prediction: one projection of two inputs and one layer each."""
    part = model.prediction
    if part is None:
        return 0.0
    experts = model.experts * (_expert_weights(model) + model.hidden) + _shared_expert_weights(model)
    latent = memory.latent_expert_weights(model.hidden, model.expert_latent)
    network = experts + latent if part.ffn == "experts" else _dense_weights(model)
    mixing = mixers.full_attention_weights if model.full_layers else mixers.window_attention_weights
    return float(
        part.layers * (memory.prediction_weights(model.hidden) + 5 * model.hidden + mixing(model).total + network)
    )


def model_flops_per_token(model: Model, sequence: float) -> float:
    """FLOPs per token, forward and backward, by the convention of `formulas.flops`.

    Without recomputation; attention counts as unmasked, over ``sequence`` tokens or the window of a layer. Layers of
    multi-token prediction count where they are trained, each with its head.
    """
    own = model_weights(model).multiplied_weights, attention_flops(model, sequence)
    if not model.predicted:
        return float(compute.model_flops_per_token(*own))
    weights, attention = own[0] + model.predicted * _predicted_multiplied(model), own[1]
    attention *= 1 + model.predicted / max(1, model.attention_layers)
    return float(compute.model_flops_per_token(weights, attention))


def _predicted_multiplied(model: Model) -> float:
    """Weights of matrices that a token is multiplied with in one layer of multi-token prediction and its head."""
    whole = model_weights(model)
    routed = whole.shared + whole.router + whole.latent + whole.experts_per_token * whole.expert
    network = routed if model.prediction and model.prediction.ffn == "experts" else whole.dense_ffn
    mixing = whole.full if model.full_layers else whole.window
    return memory.prediction_weights(model.hidden) + mixing.total + network + (whole.head or whole.embedding)


def workload_flops_per_token(workload: Workload) -> float:
    """FLOPs per token of training a workload; frozen weights need no weight gradients. The few weights of adapters are
    neglected.
    """
    if workload.trainable is None:
        return model_flops_per_token(workload.model, workload.attended_length)
    attention = attention_flops(workload.model, workload.attended_length)
    return float(compute.frozen_flops_per_token(model_weights(workload.model).multiplied_weights, attention))


def causal_share(model: Model, sequence: float) -> float:
    """The share of model FLOPs that remains under a causal mask, which halves attention unless a window limits it.

    Kernels skip masked pairs. Utilization by the usual convention, which counts them, therefore grows with the sequence
    length.
    """
    return 1 - mixers.full_attention_flops(model, sequence) / 2 / model_flops_per_token(model, sequence)


@dataclass(frozen=True)
class Share:
    """Weights of one rank before data-parallel sharding, by parallelism.

    - ``dense``: attention and feed-forward matrices over tensor parallelism
    - ``replicated``: norms, routers and latent compression, which every tensor-parallel rank holds
    - ``expert``: over expert and expert-tensor parallelism
    - ``embedding`` and ``head`` over tensor parallelism
    - ``unit`` is the largest layer, ``units`` the number of layers
    - ``shapes`` one matrix of every shape, including the head
    - ``adapters`` and ``expert_adapters`` are weights of low-rank adapters, ``adapter_unit`` the adapter weights of one
      layer
    """

    dense: float
    replicated: float
    expert: float
    embedding: float
    head: float
    unit: float
    units: int
    shapes: float
    adapters: float = 0.0
    expert_adapters: float = 0.0
    adapter_unit: float = 0.0

    def trained_share(self, workload: Workload) -> Share:
        """The weights that training changes: all weights, or only the adapters."""
        if workload.trainable is None:
            return self
        return Share(
            self.adapters, 0.0, self.expert_adapters, 0.0, 0.0, unit=self.adapter_unit, units=self.units, shapes=0.0
        )

    @property
    def sharded_non_expert_weights(self) -> float:
        """Weights sharded over data and context parallelism."""
        return self.dense + self.replicated + self.embedding + self.head

    @property
    def total(self) -> float:
        return self.sharded_non_expert_weights + self.expert

    @property
    def output(self) -> float:
        """Weights that the output head multiplies by: the embedding's if the two are tied and on the same rank."""
        return self.head or self.embedding


REPLICATED = ("none", "zero1")
"""Shardings with whole weights and gradients on each rank, which no policy of full sharding narrows."""


def residual_width(workload: Workload, layout: Layout) -> float:
    """Bytes of one number of the residual stream: as stated, else of one weight where automatic casting leaves it in
    the precision of the embedding, else of one activation.
    """
    if workload.residual_precision is not None:
        return precision_width(workload.residual_precision)
    narrow, wide = activation_width(workload.precision), precision_width(workload.parameter_precision)
    casts = layout.stack is not None and layout.stack.memory.autocast and layout.sharding in REPLICATED
    return max(narrow, wide) if casts else narrow


def has_native_norms(model: Model) -> bool:
    """Whether a framework has one operation for each norm and each activation: layer norms without a gate, which are
    assumed of models without a gate, as GPT-2 has them.
    """
    return not model.gated_ffn and (model.block is None or model.block.norm == "layer")


def copies_weights(workload: Workload, sharding: str) -> bool:
    """Whether each rank stores whole fp32 weights and copies them to a narrower precision for products (automatic
    casting). Full sharding narrows each shard before the gather instead.
    """
    wide = precision_width(workload.parameter_precision) > activation_width(workload.precision)
    return wide and sharding not in FULLY


def frozen_precision(workload: Workload) -> str:
    """The precision in which the frozen matrices of layers are stored: NF4 in QLoRA (arXiv 2305.14314, section 3)."""
    quantized = workload.trainable is not None and workload.trainable.method == "qlora"
    return "nf4" if quantized else workload.parameter_precision


ADAPTERS = ("adapters", "expert_adapters", "adapter_unit")
"""The fields of `Share` that count adapters."""


def rank_share(model: Model, layout: Layout, held: tuple[Chunk, ...]) -> Share:
    """The weights of a rank whose pipeline stage has the chunks ``held`` (see `stages`)."""
    whole, tp = model_weights(model), layout.tp
    dense, moe = sum(chunk.dense_layers for chunk in held), sum(chunk.moe_layers for chunk in held)
    kinds = _mixing_layers(model, held, tp)
    expert = (whole.experts + layout.redundant_experts) * whole.expert / (layout.ep * layout.expert_tp)
    loose = whole.router + whole.latent
    first, last = any(chunk.first for chunk in held), any(chunk.last for chunk in held)
    joins = sum(chunk.predicted for chunk in held)
    table = (whole.embedding + whole.positions) / tp
    copied = last and not first and whole.head == 0.0
    head = (whole.embedding if copied else whole.head) / tp if last else 0.0
    networks = [whole.dense_ffn / tp] * bool(dense) + [whole.shared / tp + loose + expert] * bool(moe)
    mixing = reduce(larger, (kind.total for _, kind in kinds), 0.0)
    attention = sum(chunk.full_layers + chunk.window_layers for chunk in held)
    norms = whole.norm * (sum(block_count(chunk) for chunk in held) + last + 3 * joins) + whole.latent_norm * attention
    ffn = (whole.dense_ffn if dense else 0.0) + (whole.shared if moe else 0.0)
    one_expert = whole.expert / layout.expert_tp if moe else 0.0
    return Share(
        dense=sum_of(n * kind.cut for n, kind in kinds)
        + (dense * whole.dense_ffn + moe * whole.shared + joins * memory.prediction_weights(model.hidden)) / tp,
        replicated=sum_of(n * kind.copied for n, kind in kinds) + moe * loose + norms,
        expert=moe * expert,
        embedding=table if first else 0.0,
        head=head,
        unit=mixing + 2 * whole.norm + whole.latent_norm + reduce(larger, networks, 0.0),
        units=sum(chunk.layers for chunk in held),
        shapes=sum_of(kind.cut for _, kind in kinds) + ffn / tp + one_expert + head,
    )


class StoredWeights(NamedTuple):
    """Weights of one kind on a rank that serves: how many, and the bytes of each."""

    name: str
    weights: float
    width: float


def served_weights(held: Share, work: Workload, expert_tp: int) -> tuple[StoredWeights, StoredWeights, StoredWeights]:
    """The weights of a rank as served. Experts have their own precision and are padded to the tiles of their kernels
    after sharding over ``expert_tp`` ranks. Embedding and head have at least 16 bits.
    """
    return (
        StoredWeights("served weights", held.dense + held.replicated, precision_width(work.parameter_precision)),
        StoredWeights("served tables", held.embedding + held.head, table_width(work.parameter_precision)),
        StoredWeights(
            "served experts",
            held.expert * filled_experts(work, expert_tp),
            precision_width(work.expert_parameter_precision),
        ),
    )


def served_bytes(held: Share, work: Workload, expert_tp: int) -> float:
    """Bytes of `served_weights`."""
    return sum_of(kind.weights * kind.width for kind in served_weights(held, work, expert_tp))


def filled_experts(work: Workload, expert_tp: int) -> float:
    """The ratio of padded to original expert weights. Kernels that multiply 4-bit weights in 16 bits need matrices of
    whole tiles, so the engine pads both widths when it loads the weights.
    """
    tiles = work.serving.expert_tiles if work.serving is not None else None
    kept, network = work.expert_parameter_precision, work.model.expert_ffn_hidden / expert_tp
    if tiles is None or not network or work.precision in NARROW or precision_width(kept) >= precision_width("fp8"):
        return 1.0
    return memory.filled_share(work.model.hidden, tiles[0]) * memory.filled_share(network, tiles[1])


def _mixing_layers(model: Model, held: tuple[Chunk, ...], tp: int) -> list[tuple[int, LayerWeights]]:
    """For each kind of token mixing in the chunks: the number of layers of this kind, and one such layer on a rank."""
    kinds = [
        (sum(chunk.full_layers for chunk in held), mixers.full_attention_weights),
        (sum(chunk.window_layers for chunk in held), mixers.window_attention_weights),
        (sum(chunk.linear_layers for chunk in held), mixers.recurrence_weights),
    ]
    return [(layers, weights(model, tp)) for layers, weights in kinds if layers]
