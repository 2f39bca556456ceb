"""Memory of serving on one rank: weights, the cache of the requests in flight, and what engines reserve."""

from __future__ import annotations

from dataclasses import dataclass

from clusterspec.cost.cache import of_sequence
from clusterspec.cost.memory import other, sums
from clusterspec.cost.memory.given import computed
from clusterspec.cost.memory.job import Job
from clusterspec.cost.parameters import Chunk, Share
from clusterspec.cost.term import Term
from clusterspec.precision import width

PAPER = "Pope et al., arXiv 2211.05102"
STATE_SOURCE = "Yang et al., arXiv 2412.06464; mamba_ssm_dtype: float32 in the configurations of Qwen3.5 and Nemotron 3"
CHUNKED = "Agrawal et al., Sarathi-Serve, arXiv 2403.02310"
STATE = width("fp32")
"""Bytes of an element of recurrent state."""


def weight_bytes(job: Job, share: Share) -> tuple[float, float]:
    """Bytes of the weights outside experts, and of the experts, each in its own precision."""
    work = job.workload
    return share.not_expert * width(work.parameter_precision), share.expert * width(work.expert_parameter_precision)


def weights(job: Job, share: Share) -> Term:
    """Weights in the precision that they are served in."""
    dense, expert = weight_bytes(job, share)
    work = job.workload
    parts = [_weights("served weights", share.not_expert, work.parameter_precision, dense)]
    if share.expert:
        parts.append(_weights("served experts", share.expert, work.expert_parameter_precision, expert))
    return sums.total("weights", parts)


def _weights(name: str, count: float, precision: str, value: float) -> Term:
    inputs = (
        computed("weights", count, "model over tp, ep, expert_tp and pp"),
        computed("bytes each", width(precision), f"{precision} with its scales", "B"),
    )
    return sums.leaf(name, value, "weights × bytes each", inputs)


@dataclass(frozen=True, slots=True)
class SequenceBytes:
    """Bytes that one rank keeps of one sequence: its keys and values, and recurrent state of constant size."""

    keys_values: float
    state: float

    @property
    def total(self) -> float:
        return self.keys_values + self.state


def sequence_bytes(job: Job, chunks: tuple[Chunk, ...], context: float) -> SequenceBytes:
    """What the layers of a rank keep of one sequence of ``context`` tokens, in the precision of the cache."""
    kept = of_sequence(job.model, chunks, context / job.layout.cp, job.layout.tp)
    each = width(job.workload.kv_precision)
    return SequenceBytes(each * (kept.keys_values + kept.index_keys), STATE * kept.state)


@dataclass(frozen=True, slots=True)
class InFlight:
    """The requests whose cache one replica of attention holds: how many, and their mean length in tokens."""

    sequences: float
    context: float


def mean_context(job: Job) -> float:
    """Mean tokens of a request in flight: with all its input and half of its output, unless all end together."""
    serving = job.workload.serving
    if serving is None:
        return float(job.workload.sequence_length)
    return serving.tokens if serving.load == "static" else serving.input_tokens + serving.output_tokens / 2


def in_flight(job: Job, free: float, mean: float, whole: float) -> InFlight:
    """The requests in flight on one replica of attention, where ``free`` bytes are left for the cache.

    ``mean`` and ``whole`` are the bytes of a request of mean and of full length. Requests that the cache
    has no space for wait. At least one of full length is counted: an engine that cannot hold it cannot serve.
    """
    serving, layout, context = job.workload.serving, job.layout, mean_context(job)
    if serving is None:
        return InFlight(-(-job.workload.global_batch // layout.data_ranks), context)
    held = free / mean if mean else 0.0
    offered = held if serving.concurrency is None else -(-serving.concurrency // layout.data_ranks)
    most = min(offered, serving.max_sequences or offered, held)
    return InFlight(max(whole / mean if mean else 1.0, most), context)


def cache(job: Job, chunks: tuple[Chunk, ...], free: float) -> Term:
    """The cache of the requests in flight; ``free`` bytes are left for it on the rank."""
    mean = sequence_bytes(job, chunks, mean_context(job))
    whole = sequence_bytes(job, chunks, job.workload.sequence_length)
    held = in_flight(job, free, mean.total, whole.total)
    requests = computed("sequences", held.sequences, "requests in flight on one replica of attention")
    grown = computed("bytes each", mean.keys_values, f"of one sequence of {held.context:g} tokens", "B")
    value, formula = held.sequences * mean.keys_values, "sequences × bytes each"
    parts = [sums.leaf("key-value cache", value, formula, (requests, grown), source=PAPER)]
    if mean.state:
        fixed = computed("bytes each", mean.state, "recurrent state and convolution of one sequence", "B")
        parts.append(
            sums.leaf("recurrent state", held.sequences * mean.state, formula, (requests, fixed), source=STATE_SOURCE)
        )
    return sums.total("activations", parts)


def beside(job: Job, share: Share) -> Term:
    """Context, communication buffers, and the activations of one step; serving engines allocate once."""
    found = other.other(job, share, 0.0)
    serving = job.workload.serving
    if serving is None or not serving.chunk_tokens:
        return found
    return sums.total("other", (*found.parts, _step(job, float(serving.chunk_tokens))))


def _step(job: Job, tokens: float) -> Term:
    """Activations of one layer for the tokens of one step: its inputs, and its widest tensor."""
    model, tp = job.model, job.layout.tp
    widest = max((job.matrices - 1) * model.ffn_hidden, (model.heads + 2 * model.kv_heads) * model.head_dim) / tp
    value = job.width * tokens * (2 * model.hidden + widest)
    inputs = (
        computed("tokens", tokens, "tokens of one step of chunked prefill"),
        computed("hidden", model.hidden, "of the model"),
        computed("widest", widest, "elements of the widest tensor for each token"),
    )
    formula = "2 B × tokens × (2 hidden + widest)"
    return sums.leaf("step activations", value, formula, inputs, source=CHUNKED, off=(0.5, 1.5))
