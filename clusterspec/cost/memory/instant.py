"""The two instants of a step at which memory is fullest, and what is there beside what is kept.

At the *loss*, the last stage has the logits and what the loss makes of them; in the *backward* of
a layer, that layer's recomputed activations and gradients, and what full sharding gathers and
reduces. Either comes on top of everything that is stored.
"""

from __future__ import annotations

from dataclasses import dataclass

from clusterspec.cost.formulas import activations as formulas
from clusterspec.cost.formulas import states
from clusterspec.cost.memory import recompute, sums
from clusterspec.cost.memory.given import computed
from clusterspec.cost.memory.job import ACTIVATION, Job
from clusterspec.cost.memory.piece import KORTHIKANTI, Layers
from clusterspec.cost.parameters import Share
from clusterspec.cost.term import Term

RING = "Liu et al., Ring Attention, arXiv 2310.01889"
FSDP = "Zhao et al., PyTorch FSDP, arXiv 2304.11277"


@dataclass(frozen=True, slots=True)
class Instant:
    """What is there at one instant only, by the part of memory that it counts to."""

    weights: tuple[Term, ...]
    gradients: tuple[Term, ...]
    activations: tuple[Term, ...]

    @property
    def value(self) -> float:
        return sum(term.value for part in (self.weights, self.gradients, self.activations) for term in part)


def fullest(job: Job, share: Share, kinds: frozenset[Layers], last: bool) -> Instant:
    """The fuller of the two; ``kinds`` are the kinds of layers on the rank, ``last`` whether it has the head."""
    instants = [_backward(job, share, kinds)]
    if last:
        instants.append(_loss(job, share))
    return max(instants, key=lambda instant: instant.value)


def _loss(job: Job, share: Share) -> Instant:
    gathered = _tables(job, share, {"head"}) if job.gathers_units else ()
    return Instant(gathered, (), (_logits(job),))


def _backward(job: Job, share: Share, kinds: frozenset[Layers]) -> Instant:
    activations = (_working(job, kinds), *_exchanged(job))
    if not job.gathers_units:
        return Instant((), (), activations)
    return Instant((_units(job, share), *_tables(job, share, set())), (_reduced(job, share),), activations)


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
    again = max((recompute.again(job, kind) for kind in kinds), default=0.0)
    width = max((_widest(job, kind) for kind in kinds), default=0.0)
    backward = job.width * job.tokens * (job.matrices * width + 2 * job.model.hidden / job.hidden_ranks)
    inputs = (
        computed("recomputed", again, "what one layer stores beyond what is kept", "B"),
        computed("gradients", backward, "2 B × tokens × (matrices × widest + 2 hidden)", "B"),
    )
    value, formula = again + backward, "recomputed + gradients"
    return sums.leaf("working room", value, formula, inputs, source=KORTHIKANTI, off=(0.6, 1.4))


def _exchanged(job: Job) -> tuple[Term, ...]:
    """Keys and values that context parallelism has under way, with their gradients; all-to-all moves queries too."""
    layout, model = job.layout, job.model
    if layout.cp == 1:
        return ()
    heads = model.heads if model.latent else model.kv_heads
    width = 2 * heads * model.head_dim
    copies = {"ring": 4, "all-gather": 2 * layout.cp, "all-to-all": 2}.get(layout.cp_method, 4)
    if layout.cp_method == "all-to-all":
        width += 2 * model.heads * model.head_dim
    inputs = (
        computed("tokens", job.tokens, "micro_batch × sequence_length / cp"),
        computed("width", width, "keys and values of all heads; queries and outputs too in all-to-all"),
        computed("copies", copies, f"of {layout.cp_method}"),
        job.given.layout("tp"),
    )
    value = formulas.exchanged_bytes(job.tokens, width, copies, layout.tp, width=job.width)
    formula = "2 B × copies × tokens × width / tp"
    return (sums.leaf("context exchange", value, formula, inputs, source=RING, off=(0.5, 1.0)),)


def _widest(job: Job, kind: Layers) -> float:
    """Width of a layer's feed-forward network for each token of the rank; tokens sent to experts and back count too."""
    layout, model = job.layout, job.model
    if kind is not Layers.EXPERT:
        return model.ffn_hidden / layout.tp
    routed = formulas.routed_tokens(1.0, model.experts_per_token, job.residual_ranks, layout.expert_tp)
    sent = 2 * model.expert_width / job.matrices if layout.ep > 1 else 0.0
    return float(routed * (model.expert_ffn_hidden / layout.expert_tp + sent))


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
