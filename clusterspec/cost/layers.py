"""The layers of a model in order, and the layers of each pipeline stage.

A layer mixes tokens (full attention, window attention or linear attention) and has a feed-forward network (dense or of
experts), or only one of the two. Where an entry gives the number of layers of a kind without their positions, they are
spread evenly, the rarer kind last in its period, as in Gemma 3, Qwen3-Next and Kimi Linear. Dense layers precede layers
with experts, as in DeepSeek's models, unless there are at least as many of them: then they alternate, as in Llama 4
Maverick.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from enum import Enum
from itertools import accumulate

from clusterspec.catalog.entries import Model
from clusterspec.cluster.model import Layout
from clusterspec.recent import recent
from clusterspec.records import NamedTuple, dataclass


class Mixer(Enum):
    """The kind of token mixing of a layer."""

    FULL = "full attention"
    WINDOW = "attention with a window"
    LINEAR = "linear attention"
    NONE = "none"


class FeedForward(Enum):
    """The feed-forward network of a layer."""

    DENSE = "dense"
    EXPERTS = "experts"
    NONE = "none"


class Layer(NamedTuple):
    """The token mixing and the feed-forward network of one layer."""

    mixer: Mixer
    network: FeedForward


@recent(8)  # asked several times for each of many layouts
def layers(model: Model) -> tuple[Layer, ...]:
    """Every layer of ``model`` in order."""
    mixing = min(model.layers, model.attention_layers + model.linear_layers)
    single = mixing < model.layers and model.ffn_layers < model.layers
    mixes = _spread(mixing, model.layers) if single else (True,) * model.layers
    fed = tuple(not mixed for mixed in mixes) if single else _spread(model.ffn_layers, model.layers)
    mixers, networks = _mixers(model), _networks(model)
    return tuple(
        Layer(
            next(mixers, Mixer.NONE) if mixed else Mixer.NONE,
            next(networks, FeedForward.NONE) if has else FeedForward.NONE,
        )
        for mixed, has in zip(mixes, fed, strict=True)
    )


def _spread(some: int, every: int) -> tuple[bool, ...]:
    """For each of ``every`` positions, whether it has one of ``some``; the last position of each period is first to
    have one.
    """
    turns = [(place + 1) * some // every for place in range(every)]
    return tuple(now > before for before, now in zip([0, *turns], turns, strict=False))


def _mixers(model: Model) -> Iterator[Mixer]:
    mixing = model.attention_layers + model.linear_layers
    whole = _spread(model.full_layers, model.attention_layers)
    attention = iter([Mixer.FULL if full else Mixer.WINDOW for full in whole])
    for attends in _spread(model.attention_layers, mixing):
        yield next(attention) if attends else Mixer.LINEAR


def _networks(model: Model) -> Iterator[FeedForward]:
    with_experts = min(model.moe_layers, model.ffn_layers) if model.experts else 0
    dense = model.ffn_layers - with_experts
    if with_experts == 0 or dense < with_experts:
        yield from (FeedForward.DENSE,) * dense
        yield from (FeedForward.EXPERTS,) * with_experts
        return
    for expert in _spread(with_experts, model.ffn_layers):
        yield FeedForward.EXPERTS if expert else FeedForward.DENSE


def expert_layers(model: Model) -> tuple[bool, ...]:
    """For each layer in model order, whether it has experts."""
    return tuple(layer.network is FeedForward.EXPERTS for layer in layers(model))


@dataclass(frozen=True, slots=True)
class Chunk:
    """Consecutive layers on one rank: one virtual stage.

    ``kinds`` is the number of layers of each kind, in the order of their first; ``first`` where it holds the embedding,
    ``last`` where it holds the head.
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

    @classmethod
    def of(cls, held: tuple[Layer, ...], first: bool, last: bool) -> Chunk:
        """The chunk of the layers ``held``."""
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
        )


def stages(model: Model, layout: Layout) -> tuple[tuple[Chunk, ...], ...]:
    """The chunks on the rank of each pipeline stage, in model order.

    One chunk each; ``virtual_stages`` with an interleaved schedule; in DualPipe also the chunk of the mirrored stage.
    Empty where the layout has no `stage_layers`.
    """
    held: list[list[Chunk]] = [[] for _ in range(layout.pp if layout.stage_layers else 0)]
    for index, chunk in enumerate(_chunks(model, layout.stage_layers)):
        held[index % layout.pp].append(chunk)
    if layout.schedule == "dualpipe":
        held = [here + there for here, there in zip(held, reversed(held), strict=True)]
    return tuple(tuple(chunks) for chunks in held)


def _chunks(model: Model, counts: tuple[int, ...]) -> list[Chunk]:
    order = layers(model)
    ends = [min(end, model.layers) for end in accumulate(counts)]
    starts = [0, *ends][: len(ends)]
    final = len(ends) - 1
    return [Chunk.of(order[a:b], i == 0, i == final) for i, (a, b) in enumerate(zip(starts, ends, strict=True))]
