"""The two points of a step at which memory peaks, and the transient memory at each.

At the *loss*, the last stage holds the logits and the intermediate results of the loss. In the *backward pass* of a
layer, it holds that layer's recomputed activations and gradients, and the weights and gradients that full sharding
gathers and reduces.
"""

from __future__ import annotations

from clusterspec.cost.formulas import activations
from clusterspec.cost.formulas.elementwise import chosen, larger, smaller
from clusterspec.cost.formulas.rank_memory import backward_bytes, gathered_bytes, reduced_bytes, several
from clusterspec.cost.memory.job import GATHERED, Job
from clusterspec.cost.memory.line import Lines, MemoryLine, added, line, squared_excess
from clusterspec.cost.memory.rank import Layers, Rank
from clusterspec.cost.memory.recomputation import recomputed
from clusterspec.cost.memory.tensor import KORTHIKANTI
from clusterspec.cost.parameters import Share
from clusterspec.records import NamedTuple
from clusterspec.summation import sum_of

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
        return added((*self.weights, *self.gradients, *self.activations))

    @property
    def squared_excess(self) -> float:
        """`squared_excess` of all lines."""
        return squared_excess((*self.weights, *self.gradients, *self.activations))


def at_loss(job: Job, rank: Rank, logits: Lines) -> PeakPoint:
    """The logits and the gathered tables; nothing on a stage without the head."""
    tables = tuple(each.times("head", rank.head) for each in _tables(job, rank.share, ("head",)))
    return PeakPoint(tables, (), tuple(each.times("head", rank.head) for each in logits))


def in_backward(job: Job, rank: Rank, working: Lines) -> PeakPoint:
    """The current layer, and the weights and gradients that full sharding gathers and reduces."""
    if not job.sharded_fully:
        return PeakPoint((), (), working)
    gathers, share = job.gathers_layers, rank.share
    weights = (_layers(job, share).times("gathers", gathers), *_tables(job, share, ()))
    return PeakPoint(weights, (_reduced(job, share).times("gathers", gathers),), working)


def _tables(job: Job, share: Share, at_work: tuple[str, ...]) -> Lines:
    """Gathered weights of embedding and head, in use or stored until the backward pass."""
    there = {*job.framework.tables_kept, *at_work}
    if not job.sharded_fully or not there:
        return ()
    weights = sum_of((getattr(share, name) for name in sorted(there)), 0.0)
    return (line("gathered tables", several, FSDP, count=weights, each=GATHERED).times("gathers", job.gathers_layers),)


def _live(job: Job, share: Share) -> float:
    """The highest number of gathered weights: the framework's limit, at most all layers of the rank."""
    return smaller(job.framework.live, share.unit * larger(share.units, 1.0))


def _layers(job: Job, share: Share) -> MemoryLine:
    return line(
        "gathered layers",
        gathered_bytes,
        FSDP,
        unit=share.unit,
        units=share.units,
        at_once=job.framework.layers_at_once,
        live=_live(job, share),
        width=GATHERED,
    )


def _reduced(job: Job, share: Share) -> MemoryLine:
    """The full gradient of one layer, and its copy in the reduction."""
    sizes = {"unit": share.unit, "live": _live(job, share), "reduced": job.framework.reduced, "width": GATHERED}
    return line("layer being reduced", reduced_bytes, FSDP, **sizes)


def working(job: Job, kinds: frozenset[Layers]) -> MemoryLine:
    """The recomputed activations of one layer in the backward pass, and the gradients of its widest tensors."""
    again, widest = 0.0, 0.0
    for kind in sorted(kinds, key=str):
        again, widest = larger(again, recomputed(job, kind)), larger(widest, _widest(job, kind))
    return line(
        "working space",
        backward_bytes,
        KORTHIKANTI,
        recomputed=again,
        tokens=job.tokens,
        widest=widest,
        hidden=job.model.hidden,
        matrices=job.matrices,
        ranks=job.hidden_ranks,
        width=job.width,
    )


def _widest(job: Job, kind: Layers) -> float:
    """Width of a layer's feed-forward network per token of the rank, including tokens dispatched to experts."""
    layout, model = job.layout, job.model
    if kind is not Layers.EXPERT:
        return model.ffn_hidden / layout.tp
    routed = activations.routed_tokens(1.0, model.experts_per_token, job.residual_ranks, layout.expert_tp)
    sent = chosen(layout.ep > 1, 2 * model.expert_width / job.matrices, 0.0)
    return routed * (model.expert_ffn_hidden / layout.expert_tp + sent)


def exchanged(job: Job) -> Lines:
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
    found = line("context exchange", activations.exchanged_bytes, RING, **sizes)
    return (found.times("exchanges", chosen(layout.cp > 1, 1.0, 0.0)),)


def logits(job: Job) -> Lines:
    """Logits and the intermediate results of the loss."""
    spread = job.framework.logits
    if spread is None:
        return ()
    ranks = 1 if job.framework.whole_logits else job.layout.tp
    sizes = {"tokens": job.tokens, "vocab": job.model.vocab, "ranks": ranks, "width": spread.value}
    found = line("logits and loss", activations.logits_bytes, KORTHIKANTI, **sizes)
    return (found._replace(low=spread.low / spread.value, high=spread.high / spread.value),)
