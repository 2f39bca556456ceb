"""Memory of serving on one rank: weights, the cache of the requests in flight, and the activations of a step."""

from __future__ import annotations

from clusterspec.cost.cache import SequenceBytes, of_sequence
from clusterspec.cost.formulas import states
from clusterspec.cost.formulas.rank_memory import several, tensor_bytes
from clusterspec.cost.layers import Chunk
from clusterspec.cost.memory.job import Job
from clusterspec.cost.memory.line import Lines, line
from clusterspec.cost.parameters import Share, served

PAPER = "Pope et al., arXiv 2211.05102"
STATE_SOURCE = "Yang et al., arXiv 2412.06464; mamba_ssm_dtype: float32 in the configurations of Qwen3.5 and Nemotron 3"
CHUNKED = "Agrawal et al., Sarathi-Serve, arXiv 2403.02310"
ROUNDED = 1 - 1e-9
"""So that the sum of what fills the memory is not above it by an error of rounding."""


def weights(job: Job, share: Share) -> Lines:
    """Weights in the precision that they are served in: experts in their own, the tables in 16 bits at least."""
    return tuple(
        line(kind.name, states.sharded, weights=kind.weights, width=kind.width, ranks=1.0)
        for kind in served(share, job.workload)
    )


def sequence_bytes(job: Job, chunks: tuple[Chunk, ...], context: float) -> SequenceBytes:
    """The cache of one sequence in the layers of a rank, for a sequence of ``context`` tokens, in the precision of the
    cache.
    """
    kept = of_sequence(job.model, chunks, context / job.layout.cp, job.layout.tp)
    return kept.stored(job.workload.kv_precision)


def mean_context(job: Job) -> float:
    """Mean tokens of a request in flight: with all its input and half of its output, unless all end together."""
    serving = job.workload.serving
    if serving is None:
        return float(job.workload.sequence_length)
    return serving.tokens if serving.load == "static" else serving.input_tokens + serving.output_tokens / 2


def in_flight(job: Job, free: float, mean: float, whole: float) -> float:
    """The requests in flight on one replica of attention, where ``free`` bytes are left for the cache.

    ``mean`` and ``whole`` are the bytes of a request of mean and of full length. Requests that the cache
    has no space for wait. At least one of full length is counted: an engine that cannot hold it cannot serve.
    """
    serving, layout = job.workload.serving, job.layout
    if serving is None:
        return float(-(-job.workload.global_batch // layout.data_ranks))
    held = free / mean * ROUNDED if mean else 0.0
    offered = held if serving.concurrency is None else -(-serving.concurrency // layout.data_ranks)
    most = min(offered, serving.max_sequences or offered, held)
    return max(whole / mean if mean else 1.0, most)


def free_for_cache(job: Job, left: float) -> float:
    """Bytes for the cache of the ``left`` that weights and framework memory leave."""
    load = job.workload.serving
    share = load.memory_fraction if load is not None and load.of_free else 1.0
    return max(0.0, left) * share


def cache(job: Job, chunks: tuple[Chunk, ...], free: float) -> Lines:
    """The cache of the requests in flight; ``free`` bytes are left for it on the rank."""
    mean = sequence_bytes(job, chunks, mean_context(job))
    whole = sequence_bytes(job, chunks, job.workload.sequence_length)
    requests = in_flight(job, free, mean.total, whole.total)
    found = (line("key-value cache", several, PAPER, count=requests, each=mean.keys_values),)
    if not mean.state:
        return found
    return (*found, line("recurrent state", several, STATE_SOURCE, count=requests, each=mean.state))


def step_activations(job: Job) -> Lines:
    """Activations of one layer for the tokens of one step: its input and output, and its widest tensor."""
    serving = job.workload.serving
    if serving is None or not serving.chunk_tokens:
        return ()
    model, tp = job.model, job.layout.tp
    widest = max((job.matrices - 1) * model.ffn_hidden, (model.heads + 2 * model.kv_heads) * model.head_dim) / tp
    sizes = {"tokens": serving.chunk_tokens, "elements": 2 * model.hidden + widest, "ranks": 1.0, "width": job.width}
    return (line("step activations", tensor_bytes, CHUNKED, **sizes),)
