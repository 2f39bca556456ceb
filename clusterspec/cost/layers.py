"""The layers of a model in order, and the layers that each pipeline stage holds."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from enum import StrEnum
from functools import lru_cache
from itertools import accumulate, groupby, pairwise

from clusterspec.catalog.models import Model
from clusterspec.cluster.model import Layout
from clusterspec.cost.formulas import pipeline
from clusterspec.records import NamedTuple, dataclass, replace
from clusterspec.standard import recent, sum_of


class Mixer(StrEnum):
    """The kind of token mixing of a layer."""

    FULL = "full attention"
    WINDOW = "attention with a window"
    LINEAR = "linear attention"
    NONE = "none"


class FeedForward(StrEnum):
    """The feed-forward network of a layer."""

    DENSE = "dense"
    EXPERTS = "experts"
    NONE = "none"


class Layer(NamedTuple):
    """The token mixing and the feed-forward network of one layer. ``wide`` is true if it multiplies in 16 bits while
    other layers use fewer.
    """

    mixer: Mixer
    network: FeedForward
    wide: bool = False


def model_of_mixer(model: Model, mixer: Mixer) -> Model:
    """The model with the attention heads of layers of this mixer; unchanged except for windows."""
    window = model.window
    if mixer is not Mixer.WINDOW or window is None:
        return model
    if model.latent or model.compressed:
        return replace(model, sparse=None)
    return replace(
        model,
        heads=window.heads or model.heads,
        kv_heads=window.kv_heads or model.kv_heads,
        head_dim=window.head_dim or model.head_dim,
        value_head_dim=window.value_head_dim or window.head_dim or model.value_width,
        shared_kv=False,
        sparse=None,
    )


@recent(8)  # asked several times for each of many layouts
def model_layers(model: Model) -> tuple[Layer, ...]:
    """Every layer of ``model`` in order."""
    mixing = min(model.layers, model.attention_layers + model.linear_layers)
    single = mixing < model.layers and model.ffn_layers < model.layers
    mixes = _evenly_spread(mixing, model.layers) if single else (True,) * model.layers
    fed = tuple(not mixed for mixed in mixes) if single else _evenly_spread(model.ffn_layers, model.layers)
    mixers, networks = _mixers_in_order(model), _networks_in_order(model)
    first, last = model.wide_layers
    return tuple(
        Layer(
            next(mixers, Mixer.NONE) if mixed else Mixer.NONE,
            next(networks, FeedForward.NONE) if has else FeedForward.NONE,
            place < first or place >= model.layers - last,
        )
        for place, (mixed, has) in enumerate(zip(mixes, fed, strict=True))
    )


def _evenly_spread(some: int, every: int) -> tuple[bool, ...]:
    """For each of ``every`` positions: whether one of ``some`` evenly spread items is there. Items are at the ends of
    periods.
    """
    turns = [(place + 1) * some // every for place in range(every)]
    return tuple(now > before for before, now in zip([0, *turns], turns, strict=False))


def _mixers_in_order(model: Model) -> Iterator[Mixer]:
    mixing = model.attention_layers + model.linear_layers
    whole = _evenly_spread(model.full_layers, model.attention_layers)
    attention = iter([Mixer.FULL if full else Mixer.WINDOW for full in whole])
    for attends in _evenly_spread(model.attention_layers, mixing):
        yield next(attention) if attends else Mixer.LINEAR


def _networks_in_order(model: Model) -> Iterator[FeedForward]:
    with_experts = min(model.moe_layers, model.ffn_layers) if model.experts else 0
    dense = model.ffn_layers - with_experts
    if with_experts == 0 or dense < with_experts:
        yield from (FeedForward.DENSE,) * dense
        yield from (FeedForward.EXPERTS,) * with_experts
        return
    for expert in _evenly_spread(with_experts, model.ffn_layers):
        yield FeedForward.EXPERTS if expert else FeedForward.DENSE


def further_layers(model: Model) -> tuple[Layer, ...]:
    """The multi-token prediction layers that are trained with ``model``; they follow its own layers."""
    if model.prediction is None:
        return ()
    mixer = Mixer.FULL if model.full_layers else Mixer.WINDOW
    network = FeedForward.EXPERTS if model.prediction.ffn == "experts" else FeedForward.DENSE
    return (Layer(mixer, network),) * model.predicted


def expert_layers(model: Model) -> tuple[bool, ...]:
    """For each layer in model order, whether it has experts."""
    return tuple(layer.network is FeedForward.EXPERTS for layer in model_layers(model))


@dataclass(frozen=True)
class Chunk:
    """Consecutive layers on one rank: one virtual stage.

    ``kinds`` is the number of layers of each kind, in the order in which the kinds first occur. The ``first`` chunk
    holds the embedding, the ``last`` one the head. ``predicted`` of its layers belong to multi-token prediction.
    """

    layers: int
    full_layers: int
    window_layers: int
    linear_layers: int
    dense_layers: int
    moe_layers: int
    first: bool
    last: bool
    kinds: tuple[tuple[Layer, int], ...] = ()
    predicted: int = 0

    def __hash__(self) -> int:
        """A hash of a few fields, since hashing all of them is slow (as for `clusterspec.catalog.models.Model`)."""
        return hash((self.layers, self.first, self.last, self.moe_layers))

    @classmethod
    def of(cls, own: tuple[Layer, ...], first: bool, last: bool, further: tuple[Layer, ...] = ()) -> Chunk:
        """The chunk of the layers ``own``; the last chunk also has the ``further`` layers."""
        held = own + further if last else own
        mixers, networks = [layer.mixer for layer in held], [layer.network for layer in held]
        return cls(
            layers=len(held),
            full_layers=mixers.count(Mixer.FULL),
            window_layers=mixers.count(Mixer.WINDOW),
            linear_layers=mixers.count(Mixer.LINEAR),
            dense_layers=networks.count(FeedForward.DENSE),
            moe_layers=networks.count(FeedForward.EXPERTS),
            first=first,
            last=last,
            kinds=tuple(Counter(held).items()),
            predicted=len(held) - len(own),
        )


def stage_chunks(model: Model, layout: Layout) -> tuple[tuple[Chunk, ...], ...]:
    """The chunks on the rank of each pipeline stage, in model order.

    One chunk each; ``virtual_stages`` with an interleaved schedule; in DualPipe also the chunk of the mirrored stage.
    Empty if the layout has no `stage_layers`.
    """
    held: list[list[Chunk]] = [[] for _ in range(layout.pp if layout.stage_layers else 0)]
    for index, chunk in enumerate(_chunks_in_order(model, layout.stage_layers)):
        held[index % layout.pp].append(chunk)
    if layout.schedule == "dualpipe":
        held = [here + there for here, there in zip(held, reversed(held), strict=True)]
    return tuple(tuple(chunks) for chunks in held)


def _chunks_in_order(model: Model, counts: tuple[int, ...]) -> list[Chunk]:
    order, further = model_layers(model), further_layers(model)
    ends = [min(end, model.layers) for end in accumulate(counts)]
    starts = [0, *ends][: len(ends)]
    final = len(ends) - 1
    return [
        Chunk.of(order[a:b], i == 0, i == final, further) for i, (a, b) in enumerate(zip(starts, ends, strict=True))
    ]


# The pipeline stages of a layout, grouped by equal contents


@dataclass(frozen=True)
class StageGroup:
    """``count`` consecutive stages from ``first`` on that hold the same ``chunks``."""

    first: int
    count: int
    chunks: tuple[Chunk, ...]


def stage_groups(model: Model, layout: Layout) -> tuple[StageGroup, ...]:
    """All stages in order; consecutive stages with equal contents form one group.

    A rank holds one chunk; ``virtual_stages`` chunks with an interleaved schedule; in DualPipe also the chunk of the
    mirrored stage. Empty if the layout has no `stage_layers`.
    """
    return _cached_stage_groups(model, layout.stage_layers, layout.pp, layout.schedule == "dualpipe")


@lru_cache(maxsize=512)
def _cached_stage_groups(model: Model, counts: tuple[int, ...], stages: int, mirrored: bool) -> tuple[StageGroup, ...]:
    """The groups by the values they depend on, cached: time and memory of a plan both request them."""
    if not counts:
        return ()
    runs = tuple(_equal_spans(model_layers(model), further_layers(model), counts))
    turns = [_round_spans(runs, turn * stages, stages) for turn in range(len(counts) // stages)]
    if mirrored:
        turns += [_mirrored_spans(spans, stages) for spans in turns]
    return tuple(_joined_stage_groups(stages, turns))


Span = tuple[int, int, Chunk]
"""Chunks from one index up to another with equal contents."""


def _equal_spans(order: tuple[Layer, ...], further: tuple[Layer, ...], counts: tuple[int, ...]) -> Iterator[Span]:
    """Spans of equal chunks over the whole pipeline. The last chunk also has the ``further`` layers."""
    start, index, final = 0, 0, len(counts) - 1
    for each, same in groupby(counts):
        number = len(list(same))
        uniform = len(set(order[start : start + each * number])) <= 1
        for first, last in _span_ends(index, index + number, final, uniform):
            at = start + each * (first - index)
            yield first, last, Chunk.of(order[at : at + each], first == 0, first == final, further)
        start, index = start + each * number, index + number


def _span_ends(first: int, last: int, final: int, uniform: bool) -> Iterator[tuple[int, int]]:
    """A run of chunks of equal length, split where their contents differ: everywhere unless ``uniform``, else only at
    both ends of the pipeline.
    """
    if not uniform:
        yield from ((index, index + 1) for index in range(first, last))
        return
    cuts = sorted({first, last, *(cut for cut in (1, final) if first < cut < last)})
    yield from pairwise(cuts)


def _round_spans(runs: tuple[Span, ...], start: int, length: int) -> list[Span]:
    """The spans of one round of virtual stages, counted from its first stage."""
    found = ((max(first, start) - start, min(last, start + length) - start, chunk) for first, last, chunk in runs)
    return [(first, last, chunk) for first, last, chunk in found if first < last]


def _mirrored_spans(spans: list[Span], stages: int) -> list[Span]:
    """The contents of the opposite stages."""
    return [(stages - last, stages - first, chunk) for first, last, chunk in reversed(spans)]


def _joined_stage_groups(stages: int, turns: list[list[Span]]) -> Iterator[StageGroup]:
    """Stages split wherever one of their chunks changes."""
    cuts = sorted({0, stages, *(first for turn in turns for first, _, _ in turn)})
    places = [0] * len(turns)
    for first, last in pairwise(cuts):
        for index, turn in enumerate(turns):
            while turn[places[index]][1] <= first:
                places[index] += 1
        yield StageGroup(first, last - first, tuple(turn[places[i]][2] for i, turn in enumerate(turns)))


def micro_batches_in_flight(
    layout: Layout, stage: int, chunks: tuple[Chunk, ...], micro_batches: float
) -> tuple[float, ...]:
    """The highest number of micro-batches whose activations pipeline stage ``stage`` holds, for each chunk.

    1F1B holds as many as the number of stages from this one to the last; GPipe holds all; zero-bubble holds as many as
    the first stage of 1F1B (ZB-H1, arXiv 2401.10241); DualPipe holds the micro-batches of both directions (arXiv
    2412.19437, table 2).
    """
    if layout.pp == 1:
        return (1.0,) * len(chunks)
    if layout.schedule == "gpipe":
        return (float(micro_batches),) * len(chunks)
    if layout.schedule == "zero-bubble":
        return (float(min(layout.pp, micro_batches)),) * len(chunks)
    if layout.schedule == "dualpipe":
        own, mirrored = (
            pipeline.stored_micro_batches(layout.pp, side, micro_batches) for side in (stage, layout.pp - 1 - stage)
        )
        half = len(chunks) // 2
        return (float(own),) * half + (float(mirrored),) * half
    if len(chunks) > 1:
        passes = pipeline.stored_interleaved_passes(layout.pp, stage, len(chunks), micro_batches)
        return _passes_by_chunk(passes, layout.pp, len(chunks))
    return (float(pipeline.stored_micro_batches(layout.pp, stage, micro_batches)),) * len(chunks)


def _passes_by_chunk(passes: float, stages: int, chunks: int) -> tuple[float, ...]:
    """Passes by chunk: the chunks process p micro-batches each in a round, starting with the first chunk.

    >>> _passes_by_chunk(23.0, 4, 5)
    (7.0, 4.0, 4.0, 4.0, 4.0)
    """
    rounds, rest = divmod(passes, stages * chunks)
    return tuple(rounds * stages + min(float(stages), max(0.0, rest - chunk * stages)) for chunk in range(chunks))


# Sets of layers that have a tensor, and the activations that the chunks of a stage store of them


class LayerSet(StrEnum):
    """The layers that have a tensor: all, or those with one kind of token mixing or of feed-forward network."""

    ALL = "layers"
    FULL = "layers with full attention"
    WINDOW = "layers with a window"
    LINEAR = "layers with linear attention"
    DENSE = "dense layers"
    EXPERT = "expert layers"


MIXING_SETS = (LayerSet.FULL, LayerSet.WINDOW, LayerSet.LINEAR)
"""The sets of layers by token mixing; a layer is in at most one of them."""
CHUNK_COUNTS = {
    LayerSet.ALL: "layers",
    LayerSet.FULL: "full_layers",
    LayerSet.WINDOW: "window_layers",
    LayerSet.LINEAR: "linear_layers",
    LayerSet.DENSE: "dense_layers",
    LayerSet.EXPERT: "moe_layers",
}
"""The count of a chunk for each set of layers."""


def logits_count(chunks: tuple[Chunk, ...]) -> float:
    """How many times a stage with these chunks computes logits: once for the output head, and once for each layer of
    multi-token prediction.
    """
    return float(any(chunk.last for chunk in chunks) + sum(chunk.predicted for chunk in chunks))


def stored_passes(chunks: tuple[Chunk, ...], counts: tuple[float, ...]) -> dict[LayerSet, float]:
    """The stored activations of each kind of layer: layers times micro-batches in flight."""
    pairs = list(zip(chunks, counts, strict=True))
    return {kind: sum_of(getattr(chunk, name) * count for chunk, count in pairs) for kind, name in CHUNK_COUNTS.items()}


class LayerWeights(NamedTuple):
    """Weights of one layer on one rank: the rank's shard of the tensor-parallel weights, and the replicated weights."""

    cut: float
    copied: float

    @property
    def total(self) -> float:
        """Sharded and replicated weights together."""
        return self.cut + self.copied

    def __add__(self, other: object) -> LayerWeights:
        """Weights of both."""
        if not isinstance(other, LayerWeights):
            return NotImplemented
        return LayerWeights(self.cut + other.cut, self.copied + other.copied)
