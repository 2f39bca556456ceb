"""Memory as terms: the lines of the fullest rank, each with its formula, its inputs and their origins."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from functools import cache

from clusterspec.catalog.stacks import FrameworkMemory, Spread
from clusterspec.cluster.model import Assumption, Design
from clusterspec.cost.formulas import EXPRESSIONS
from clusterspec.cost.memory import COMMUNICATOR, KEPT, ROUTING, Job, Lines, MemoryLine
from clusterspec.cost.memory.fullest import ERROR, Memory, RankMemory
from clusterspec.cost.memory.recomputation import offloads_saved
from clusterspec.cost.term import MemoryUse, Term
from clusterspec.quantity import Figure
from clusterspec.records import replace
from clusterspec.source import Assumed, Cited, Computed, Origin, Written
from clusterspec.standard import sum_of

OFFLOADED: Assumption = (
    "memory.selective",
    "host",
    "selective recomputation of the published recipes keeps saved activations in host memory; the transfers overlap",
)

PLAIN: Assumption = (
    "memory.may_be_plain",
    "yes",
    "it is unknown whether this software fuses the kernels between GEMMs, and the loss: the high end of the memory "
    "range assumes that it fuses neither (layout.fused_kernels and layout.loss state it)",
)

_KEPT: Assumption = (
    "memory.kept",
    KEPT,
    "the upper end of the memory range includes blocks that the allocator frees late, up to the capacity: reserved"
    " over allocated memory in training logs of 21 programs, 90th percentile (1.01 to 1.52, median 1.08)",
)

_ERROR: Assumption = (
    "memory.error",
    ERROR.value,
    "error of activations, as a share of them: with it, the memory range of training contains four in five"
    " published peaks",
)


def memory_assumptions(job: Job, rank: RankMemory) -> tuple[Assumption, ...]:
    """The assumed figures behind the lines of a rank."""
    names = {found.name for found in _lines_at_peak(rank) if found.value}
    framework = job.framework
    by_name: tuple[tuple[str, Spread | None], ...] = (
        ("context", framework.context),
        ("communication buffers", COMMUNICATOR),
        ("fragmentation", framework.fragmentation),
        ("logits and loss", framework.logits),
        ("experts", ROUTING),
    )
    found = tuple(_listed_assumption(spread) for name, spread in by_name if spread is not None and name in names)
    keeps = "fragmentation" in names and not framework.expandable
    possible = (
        (_KEPT, keeps),
        (_ERROR, job.workload.kind == "train"),
        (PLAIN, rank.largest > rank.total and job.layout.stack is not None and job.layout.stack.may_be_plain),
        (OFFLOADED, offloads_saved(job)),
    )
    return (*found, *(assumption for assumption, holds in possible if holds))


def _listed_assumption(spread: Spread) -> Assumption:
    origin = spread.figure.origin
    if isinstance(origin, Assumed):
        return (origin.key, spread.figure, origin.why)
    return (str(origin), spread.figure, str(origin))


def _lines_at_peak(rank: RankMemory) -> Iterator[MemoryLine]:
    peak = rank.peak
    for lines in (rank.weights, rank.gradients, rank.optimizer, rank.activations, rank.reserved):
        yield from lines
    for lines in peak:
        yield from lines


# Derivations and units of the numbers of memory, for explanations

TOKENS = "micro_batch * sequence_length / cp"
NUMBERS: dict[tuple[str, str], tuple[str, str]] = {
    ("", "tokens"): ("1", TOKENS),
    ("", "hidden"): ("1", "hidden size of the model"),
    ("", "vocab"): ("1", "vocabulary of the model"),
    ("", "heads"): ("1", "attention heads of the model"),
    ("", "head_dim"): ("1", "width of one head"),
    ("", "rope"): ("1", "width of the rotary part"),
    ("", "query_rank"): ("1", "width of compressed queries"),
    ("", "key_rank"): ("1", "width of compressed keys and values"),
    ("", "queries"): ("1", "heads * head_dim"),
    ("", "keys"): ("1", "kv_heads * head_dim, kv_heads at least tp"),
    ("scores", "keys"): ("1", "sequence_length"),
    ("", "elements"): ("1", "elements of the tensor for each token"),
    ("", "values"): ("1", "value_heads * value_head_dim of linear attention"),
    ("linear attention", "keys"): ("1", "key_heads * key_head_dim of linear attention"),
    ("sparse index", "queries"): ("1", "index_heads * index_dim"),
    ("", "chosen"): ("1", "tokens that a query attends to"),
    ("", "ffn"): ("1", "width of the feed-forward network"),
    ("", "matrices"): ("1", "matrices of a feed-forward network: 3 where it is gated, else 2"),
    ("", "routed"): ("1", "tokens * experts_per_token * expert_tp / ranks of the residual stream"),
    ("", "ranks"): ("1", "ranks that divide it: tp, expert_tp, or tp where it divides the residual stream"),
    ("", "cut"): ("1", "tp where it divides the residual stream, else 1"),
    ("", "width"): ("B", "bytes of one number in its precision"),
    ("", "kept"): ("B", "bytes per number of the stored input of a GEMM; 0 where it is recomputed"),
    ("", "weights"): ("1", "model over tp, ep, expert_tp and pp"),
    ("adapters", "weights"): ("1", "weights of the adapters on the rank"),
    ("dequantized matrix", "count"): ("1", "weights of the widest matrix of a layer, over tp"),
    ("moments of the tables", "weights"): ("1", "weights of embedding and head"),
    ("buckets", "weights"): ("1", "weights of the rank"),
    ("", "unit"): ("1", "weights of the largest layer"),
    ("", "units"): ("1", "layers of the rank"),
    ("", "at_once"): ("1", "the current layer and those prefetched"),
    ("", "live"): ("1", "maximum of weights gathered at a time, at most those of all layers"),
    ("", "reduced"): ("B", "bytes of one gradient in the reduction"),
    ("", "recomputed"): ("B", "activations of one layer that are not stored"),
    ("", "widest"): ("1", "elements of the widest tensor for each token"),
    ("", "heads_width"): ("1", "keys and values of all heads; queries and outputs too in all-to-all"),
    ("", "copies"): ("1", "copies in transit in context parallelism"),
    ("", "buckets"): ("1", "numbers in the buffers of the framework"),
    ("", "each"): ("B", "bytes of one"),
    ("", "group"): ("1", "gradients that are widened at a time"),
    ("", "dense"): ("1", "weights outside experts, over tp and pp"),
    ("", "expert"): ("1", "weights of experts, over ep, expert_tp and pp"),
    ("", "dense_ranks"): ("1", "ranks that shard weights outside experts"),
    ("", "expert_ranks"): ("1", "ranks that shard experts"),
    ("", "count"): ("1", "how many"),
    ("widened gradient", "count"): ("1", "weights of the largest table, or of half a layer"),
    ("placeholders", "count"): ("1", "weights of one matrix of each shape"),
    ("pipeline buffers", "count"): ("1", "hidden states received and sent, for each micro-batch in flight"),
    ("outputs kept", "count"): ("1", "copies of the logits of every micro-batch"),
    ("gathered tables", "count"): ("1", "weights of embedding and head that are gathered"),
    ("communication buffers", "count"): ("1", "axes that communicate, all ranks, and the framework's own"),
    ("fragmentation", "count"): ("B", "weights, states and activations"),
    ("key-value cache", "count"): ("1", "requests in flight on one replica of attention"),
    ("recurrent state", "count"): ("1", "requests in flight on one replica of attention"),
    ("key-value cache", "each"): (
        "B",
        "keys and values of one request of mean length; at its end if it is the only one",
    ),
    ("recurrent state", "each"): ("B", "state and convolution of one request"),
    ("step activations", "tokens"): ("1", "tokens of one step of chunked prefill"),
    ("received copies", "tokens"): ("1", "tokens of the other attention replicas in such a step"),
    ("received copies", "chosen"): ("1", "experts that a token selects"),
    ("received copies", "widest"): ("1", "outputs of the first GEMM of an expert on the rank"),
}
"""The unit and the derivation of each number of a line, by line name (empty: any line) and number."""
FACTORS = {
    "ranks_per_accelerator": "ranks of one accelerator",
    "passes": "layers of the rank times micro-batches in flight",
    "indexed_layers": "share of the layers with full attention that have an index",
    "norms": "normalizations of a layer",
    "on_device": "share that is not offloaded to host memory",
    "every_second": "every second layer",
    "of_layers": "share of the layers that store it",
    "kept_gathered": "1 where weights stay gathered from the forward to the backward pass",
    "beyond_activations": "share of the gradients that does not replace activations",
    "pipelined": "1 with several pipeline stages",
    "head": "logits of the stage: 1 with the output head, and 1 for each layer of multi-token prediction",
    "gathers": "1 where weights are gathered layer by layer",
    "exchanges": "1 with context parallelism",
}
"""The meaning of each factor of a line."""


UNIT = "B"
OF_MODEL = {"hidden": "hidden", "vocab": "vocab", "heads": "heads", "head_dim": "head_dim", "rope": "latent_rope"}
"""Numbers that are sizes of the model, by the name of the size."""


def explained_memory(design: Design, found: Memory) -> MemoryUse:
    """The terms of the fullest accelerator; all its ranks are assumed to use equal memory."""
    rank, peak, explanation = found.rank, found.rank.peak, _MemoryExplanation(design, found.ranks)
    parts = {
        "weights": explanation.section_term("weights", (*rank.weights, *peak.weights)),
        "gradients": explanation.section_term("gradients", (*rank.gradients, *peak.gradients)),
        "optimizer": explanation.section_term("optimizer", rank.optimizer),
        "activations": explanation.section_term(_activations_name(design), (*rank.activations, *peak.activations)),
        "other": explanation.section_term("other", rank.reserved),
    }
    total = summed_term("memory", parts.values())
    if rank.largest:
        total = replace(total, high=found.upper_bytes)
    return MemoryUse(
        total=total, **parts, capacity=found.capacity, elsewhere=found.elsewhere, kept=found.kept, error=found.error
    )


def _activations_name(design: Design) -> str:
    """The name of the contents of activation memory: activations in training, the cache in serving."""
    return "cache" if design.workload is not None and design.workload.kind == "serve" else "activations"


def summed_term(name: str, parts: Iterable[Term]) -> Term:
    """The sum of its parts. Their errors are assumed to be independent and add in quadrature."""
    kept = tuple(part for part in parts if part.value)
    added = Term.total(name, kept, UNIT)
    below = sum_of((part.value - part.ends[0]) ** 2 for part in kept) ** 0.5
    above = sum_of((part.ends[1] - part.value) ** 2 for part in kept) ** 0.5
    return replace(added, low=added.value - below, high=added.value + above)


@cache
def _identifier(text: str) -> str:
    if all(word.isalnum() for word in text.split(" ")):
        return text.replace(" ", "_")
    return re.sub(r"\W+", "_", text)


class _MemoryExplanation:
    """Creates the terms of the lines of one design."""

    def __init__(self, design: Design, ranks: int) -> None:
        self.design, self.ranks = design, ranks
        layout = design.layout
        self.framework = layout.stack.memory_of(layout.sharding) if layout and layout.stack else FrameworkMemory()

    def section_term(self, name: str, lines: Lines) -> Term:
        """The sum of the nonzero lines, each for all ranks of an accelerator."""
        several = (
            (each.with_factor("ranks_per_accelerator", self.ranks) if self.ranks > 1 else each) for each in lines
        )
        return summed_term(name, (self._line_term(each) for each in several if each.value))

    def _line_term(self, line: MemoryLine) -> Term:
        factors = [(name, factor) for name, factor in line.factors if factor != 1 or name in {"passes"}]
        expression = EXPRESSIONS[line.formula]
        text = " * ".join([*(name for name, _ in factors), f"({expression})"]) if factors else expression
        numbers = [(name, self._number_figure(line, name, number)) for name, number in line.numbers.items()]
        inputs = [(name, Figure(factor, "1", Computed(FACTORS[name]))) for name, factor in factors]
        low, high = line.ends
        value = line.value
        name = _identifier(line.name)
        return Term(
            name, value, UNIT, text, (*inputs, *numbers), source=line.source, low=value * low, high=value * high
        )

    def _number_figure(self, found: MemoryLine, name: str, number: float) -> Figure:
        """One number of a line with its unit and origin."""
        assumed = self._assumed_figure(found, name)
        if assumed is not None:
            return assumed
        line = found.name.removeprefix("window ")
        unit, why = NUMBERS[line, name] if (line, name) in NUMBERS else NUMBERS["", name]
        return Figure(float(number), unit, self._number_origin(name, why))

    def _assumed_figure(self, line: MemoryLine, name: str) -> Figure | None:
        """The framework's assumed figure behind a number of a line; None if the number is not assumed."""
        spreads = {
            ("context", "each"): self.framework.context,
            ("logits and loss", "width"): self.framework.logits,
            ("fragmentation", "each"): self.framework.fragmentation,
            ("communication buffers", "each"): COMMUNICATOR,
        }
        spread = spreads.get((line.name, name))
        return None if spread is None else spread.figure

    def _number_origin(self, name: str, why: str) -> Origin:
        """The origin of a size of the model, else the derivation of the number."""
        workload = self.design.workload
        if name not in OF_MODEL or workload is None:
            return Computed(why)
        key = OF_MODEL[name]
        written = self.design.spec.workload.model if self.design.spec.workload else None
        if written is not None and not isinstance(written, str) and getattr(written, key, None) is not None:
            return Written(f"workload.model.{key}")
        model = workload.model
        return Cited(f"model/{model.id}", key, model.name) if model.id else Computed(why)
