"""The two moments of a step at which memory is fullest, and what is there beside what is kept.

At the *loss*, the last stage has the logits and what the loss makes of them; in the *backward* of
a layer, that layer's recomputed activations and gradients, and what full sharding gathers and
reduces. Either comes on top of everything that is stored.
"""

from __future__ import annotations

from dataclasses import dataclass

from clusterspec.cost.formulas import activations as formulas
from clusterspec.cost.formulas import states
from clusterspec.cost.memory import layer, sums
from clusterspec.cost.memory.given import computed
from clusterspec.cost.memory.job import ACTIVATION, Job
from clusterspec.cost.memory.layer import KORTHIKANTI, Layers, Piece
from clusterspec.cost.parameters import Share
from clusterspec.cost.term import Term

FSDP = "Zhao et al., PyTorch FSDP, arXiv 2304.11277"


@dataclass(frozen=True, slots=True)
class Moment:
    """What is there at one moment only, by the part of memory that it counts to."""

    weights: tuple[Term, ...]
    gradients: tuple[Term, ...]
    activations: tuple[Term, ...]

    @property
    def value(self) -> float:
        return sum(term.value for part in (self.weights, self.gradients, self.activations) for term in part)


def fullest(job: Job, share: Share, kinds: frozenset[Layers], last: bool) -> Moment:
    """The fuller of the two; ``kinds`` are the kinds of layers on the rank, ``last`` whether it has the head."""
    moments = [_backward(job, share, kinds)]
    if last:
        moments.append(_loss(job, share))
    return max(moments, key=lambda moment: moment.value)


def _loss(job: Job, share: Share) -> Moment:
    gathered = _tables(job, share, {"head"}) if job.gathers_units else ()
    return Moment(gathered, (), (_logits(job),))


def _backward(job: Job, share: Share, kinds: frozenset[Layers]) -> Moment:
    if not job.gathers_units:
        return Moment((), (), (_working(job, kinds),))
    return Moment((_units(job, share), *_tables(job, share, set())), (_reduced(job, share),), (_working(job, kinds),))


def _tables(job: Job, share: Share, at_work: set[str]) -> tuple[Term, ...]:
    """Embedding and head where they are gathered: at work, or left so."""
    there = job.habits.tables_kept | at_work
    weights = sum(getattr(share, name) for name in sorted(there))
    if not weights:
        return ()
    inputs = (computed("tables", weights, "weights of " + " and ".join(sorted(there))),)
    return (sums.leaf("gathered tables", ACTIVATION * weights, "2 B × tables", inputs, source=FSDP, off=(0.5, 1.0)),)


def _units(job: Job, share: Share) -> Term:
    value = states.gathered_units(share.unit, share.units, job.habits.units_at_once, ACTIVATION)
    inputs = (
        computed("layer", share.unit, "weights of the largest layer"),
        computed("at once", job.habits.units_at_once, "the layer at work and those fetched ahead"),
    )
    bounded = min(value, ACTIVATION * job.habits.live)
    return sums.leaf("gathered layers", bounded, "2 B × at once × layer", inputs, source=FSDP, off=(0.5, 1.5))


def _reduced(job: Job, share: Share) -> Term:
    """The gradient of one layer, whole, and as it is reduced."""
    width = ACTIVATION + job.habits.reduced
    value = min(share.unit, job.habits.live) * width
    inputs = (
        computed("layer", share.unit, "weights of the largest layer"),
        computed("reduced", job.habits.reduced, "bytes of a gradient on its way", "B"),
    )
    return sums.leaf("layer being reduced", value, "(2 B + reduced) × layer", inputs, source=FSDP, off=(0.3, 1.5))


def _working(job: Job, kinds: frozenset[Layers]) -> Term:
    """One layer as the backward pass computes it again, with the gradients of its widest tensors."""
    whole, kept = layer.whole(job), layer.kept(job)
    again = max((_bytes(whole, kind) - _bytes(kept, kind) for kind in kinds), default=0.0)
    again = max(0.0, again)
    width = max((_widest(job, kind) for kind in kinds), default=0.0)
    backward = job.width * job.tokens * (job.matrices * width + 2 * job.model.hidden / job.hidden_ranks)
    inputs = (
        computed("recomputed", again, "what one layer stores beyond what is kept", "B"),
        computed("gradients", backward, "2 B × tokens × (matrices × widest + 2 hidden)", "B"),
    )
    formula = "recomputed + gradients"
    return sums.leaf("working room", again + backward, formula, inputs, source=KORTHIKANTI, off=(0.6, 1.4))


def _bytes(pieces: list[Piece], kind: Layers) -> float:
    return sum(piece.value for piece in pieces if piece.layers in {Layers.ALL, kind})


def _widest(job: Job, kind: Layers) -> float:
    """Width of a layer's feed-forward network for each token of the rank."""
    layout, model = job.layout, job.model
    if kind is not Layers.EXPERT:
        return model.ffn_hidden / layout.tp
    routed = formulas.routed_tokens(1.0, model.experts_per_token, job.residual_ranks, layout.expert_tp)
    return float(routed * model.expert_ffn_hidden / layout.expert_tp)


def _logits(job: Job) -> Term:
    """Logits and what the loss makes of them."""
    width = job.habits.loss
    ranks = 1 if job.habits.whole_logits else job.layout.tp
    value = formulas.logits_bytes(job.tokens, job.model.vocab, ranks, width.value)
    inputs = (
        computed("tokens", job.tokens, "micro_batch × sequence_length / cp"),
        job.given.model("vocab"),
        ("bytes each", width.figure),
        computed("ranks", ranks, "tp, or 1 where the logits are gathered"),
    )
    off = (width.low / width.value, width.high / width.value)
    formula = "bytes each × tokens × vocab / ranks"
    return sums.leaf("logits and loss", value, formula, inputs, source=KORTHIKANTI, off=off)
