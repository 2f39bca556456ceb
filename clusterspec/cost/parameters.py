"""Parameters of a model, and how many of them one rank holds.

Counts are of weights as built, without biases (see `formulas.parameters`). An expert layer's
dense neighbours come first, as in DeepSeek's models, unless there are at least as many dense
layers as expert layers: then they alternate, as in Llama 4 Maverick.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import accumulate

from clusterspec.catalog.entries import Model
from clusterspec.cluster.model import Layout
from clusterspec.cost.formulas import flops, parameters


@dataclass(frozen=True, slots=True)
class Parameters:
    """Weights of a model by component.

    ``attention`` (what tensor parallelism cuts), ``latent_down`` (what it does not) and
    ``norms`` count one layer; ``dense_ffn`` one dense layer; ``expert`` one expert; ``shared``
    and ``router`` one expert layer. ``head`` is 0 where it is the embedding table again.
    """

    layers: int
    moe_layers: int
    experts: int
    experts_per_token: int
    embedding: float
    positions: float
    head: float
    final_norm: float
    attention: float
    latent_down: float
    norms: float
    dense_ffn: float
    expert: float
    shared: float
    router: float

    @property
    def dense_layer(self) -> float:
        """Weights of one layer with a dense feed-forward network."""
        return self.attention + self.latent_down + self.norms + self.dense_ffn

    @property
    def moe_layer(self) -> float:
        """Weights of one layer with experts, all of them counted."""
        return self.attention + self.latent_down + self.norms + self.shared + self.router + self.experts * self.expert

    @property
    def total(self) -> float:
        """All weights of the model."""
        layers = (self.layers - self.moe_layers) * self.dense_layer + self.moe_layers * self.moe_layer
        return self.embedding + self.positions + self.head + self.final_norm + layers

    @property
    def active(self) -> float:
        """Weights that one token uses: all but the experts it does not visit."""
        return self.total - self.moe_layers * (self.experts - self.experts_per_token) * self.expert

    @property
    def multiplied(self) -> float:
        """Weights of matrices that one token is multiplied with; the output head even where tied."""
        norms = self.final_norm + self.layers * self.norms
        head = 0.0 if self.head else self.embedding
        return self.active - self.embedding - self.positions - norms + head


def count(model: Model) -> Parameters:
    """The weights of ``model`` by component."""
    hidden, moe = model.hidden, model.moe_layers
    matrices = model.ffn_matrices
    expert = parameters.ffn_weights(hidden, model.expert_ffn_hidden, matrices) if moe else 0
    embedding = parameters.embedding_weights(model.vocab, hidden)
    positions = (model.max_sequence_length or 0) if model.learned_positions else 0
    attention, latent_down = _attention(model)
    return Parameters(
        layers=model.layers,
        moe_layers=moe,
        experts=model.experts,
        experts_per_token=model.experts_per_token,
        embedding=embedding,
        positions=parameters.embedding_weights(positions, hidden),
        head=0.0 if model.tied_embeddings else embedding,
        final_norm=hidden,
        attention=attention,
        latent_down=latent_down,
        norms=2 * hidden + model.latent_q + model.latent_kv,
        dense_ffn=parameters.ffn_weights(hidden, model.ffn_hidden, matrices),
        expert=expert,
        shared=model.shared_experts * expert,
        router=hidden * model.experts if moe else 0,
    )


def _attention(model: Model) -> tuple[float, float]:
    """Weights of one layer's attention: what tensor parallelism cuts, and what it does not."""
    if not model.latent:
        return parameters.attention_weights(model.hidden, model.heads, model.kv_heads, model.head_dim), 0.0
    down = parameters.latent_down_weights(model.hidden, model.latent_q, model.latent_kv, model.latent_rope)
    up = parameters.latent_up_weights(
        model.hidden,
        model.heads,
        model.head_dim,
        q_width=model.latent_q or model.hidden,
        kv_rank=model.latent_kv,
        rope=model.latent_rope,
    )
    return up, down


def model_flops_per_token(model: Model, sequence: int) -> float:
    """FLOPs per token, forward and backward, by the convention of `formulas.flops`.

    No recomputation; attention as if unmasked, over ``sequence`` tokens.
    """
    qk_dim = model.head_dim + model.latent_rope
    attention = flops.unmasked_attention_flops(model.layers, model.heads, qk_dim, model.head_dim, sequence)
    return float(flops.model_flops_per_token(count(model).multiplied, attention))


def expert_layers(model: Model) -> tuple[bool, ...]:
    """For each layer in model order, whether it has experts."""
    dense = model.dense_layers
    if model.moe_layers == 0 or dense < model.moe_layers:
        return (False,) * dense + (True,) * model.moe_layers
    turns = [(layer + 1) * model.moe_layers // model.layers for layer in range(model.layers)]
    return tuple(now > before for before, now in zip([0, *turns], turns, strict=False))


@dataclass(frozen=True, slots=True)
class Chunk:
    """Layers that one rank runs without a break: one virtual stage.

    ``first`` where it holds the embedding, ``last`` where it holds the head.
    """

    dense_layers: int
    moe_layers: int
    first: bool
    last: bool

    @property
    def layers(self) -> int:
        return self.dense_layers + self.moe_layers


def stages(model: Model, layout: Layout) -> tuple[tuple[Chunk, ...], ...]:
    """For each pipeline stage the chunks that its rank holds, in model order.

    One each, ``virtual_stages`` of them where the schedule interleaves; in DualPipe also the
    chunk of the mirrored stage. Empty where the layout says no layers of stages.
    """
    held: list[list[Chunk]] = [[] for _ in range(layout.pp if layout.stage_layers else 0)]
    for index, chunk in enumerate(_chunks(model, layout.stage_layers)):
        held[index % layout.pp].append(chunk)
    if layout.schedule == "dualpipe":
        held = [here + there for here, there in zip(held, reversed(held), strict=True)]
    return tuple(tuple(chunks) for chunks in held)


def _chunks(model: Model, layers: tuple[int, ...]) -> list[Chunk]:
    before = [0, *accumulate(int(has) for has in expert_layers(model))]
    ends = [min(end, model.layers) for end in accumulate(layers)]
    starts = [0, *ends][: len(ends)]
    counts = [(end - start, before[end] - before[start]) for start, end in zip(starts, ends, strict=True)]
    final = len(counts) - 1
    return [Chunk(every - moe, moe, i == 0, i == final) for i, (every, moe) in enumerate(counts)]


@dataclass(frozen=True, slots=True)
class Share:
    """Weights of one rank before data-parallel sharding, by how they are cut.

    ``dense``: attention and feed-forward matrices over tensor parallelism; ``replicated``:
    norms, routers and latent compression, which every tensor-parallel rank holds;
    ``expert``: over expert and expert-tensor parallelism; ``embedding`` and ``head`` over
    tensor parallelism. ``unit`` the largest layer, ``units`` how many layers; ``shapes`` one
    matrix of every shape, the head among them.
    """

    dense: float
    replicated: float
    expert: float
    embedding: float
    head: float
    unit: float
    units: int
    shapes: float

    @property
    def not_expert(self) -> float:
        """What is sharded over data and context parallelism."""
        return self.dense + self.replicated + self.embedding + self.head

    @property
    def total(self) -> float:
        return self.not_expert + self.expert


def share(model: Model, layout: Layout, held: tuple[Chunk, ...]) -> Share:
    """What a rank holds that runs the chunks ``held``, one of `stages`."""
    whole = count(model)
    dense, moe = sum(chunk.dense_layers for chunk in held), sum(chunk.moe_layers for chunk in held)
    attention = _attention_of_rank(model, whole, layout.tp)
    always = whole.latent_down + whole.norms
    expert = whole.experts * whole.expert / (layout.ep * layout.expert_tp)
    dense_unit = attention + always + whole.dense_ffn / layout.tp
    moe_unit = attention + always + whole.router + whole.shared / layout.tp + expert
    first, last = any(chunk.first for chunk in held), any(chunk.last for chunk in held)
    table = (whole.embedding + whole.positions) / layout.tp
    copied = last and not first and whole.head == 0.0
    head = (whole.embedding if copied else whole.head) / layout.tp if last else 0.0
    ffn = (whole.dense_ffn if dense else 0.0) + (whole.shared if moe else 0.0)
    one_expert = whole.expert / layout.expert_tp if moe else 0.0
    return Share(
        dense=(dense + moe) * attention + (dense * whole.dense_ffn + moe * whole.shared) / layout.tp,
        replicated=(dense + moe) * always + moe * whole.router + (whole.final_norm if last else 0),
        expert=moe * expert,
        embedding=table if first else 0.0,
        head=head,
        unit=max(dense_unit if dense else 0.0, moe_unit if moe else 0.0),
        units=dense + moe,
        shapes=attention + ffn / layout.tp + one_expert + head,
    )


def _attention_of_rank(model: Model, whole: Parameters, ranks: int) -> float:
    """One layer's attention over tensor-parallel ranks; key-value heads are never cut."""
    if model.latent:
        return whole.attention / ranks
    held = parameters.share_of_heads(model.kv_heads, ranks)
    return float(parameters.attention_weights(model.hidden, model.heads / ranks, held, model.head_dim))
