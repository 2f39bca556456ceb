"""Activations that the layers of one rank store until their backward pass."""

from __future__ import annotations

from collections.abc import Sequence

from clusterspec.cost.formulas import activations
from clusterspec.cost.formulas.elementwise import chosen
from clusterspec.cost.formulas.rank_memory import several, tensor_bytes
from clusterspec.cost.memory.job import GATHERED, Job
from clusterspec.cost.memory.line import Lines, MemoryLine, line
from clusterspec.cost.memory.rank import Rank
from clusterspec.cost.memory.tensor import Tensor

PIPELINE_ENGINE = "DeepSpeed, runtime/pipe/engine.py"
PIPELINING = "torch.distributed.pipelining, merge_chunks"


def stored(job: Job, rank: Rank, tensors: Sequence[Tensor]) -> Lines:
    """All stored activations at the highest number of micro-batches in flight; ``tensors`` are those of one layer and
    micro-batch.
    """
    layers = tuple(tensor.line.times("passes", rank.passes[tensor.layers]) for tensor in tensors)
    offloaded = job.layout.offload_activations
    found = layers if offloaded == 0 else tuple(each.times("on_device", 1.0 - offloaded) for each in layers)
    if job.framework.pipeline_copies:
        found += (_copies(job, rank),)
    if job.framework.outputs_kept:
        found += (_outputs(job, rank),)
    return found


def _pipelined(job: Job) -> float:
    """1 with several pipeline stages, else 0."""
    return chosen(job.layout.pp > 1, 1.0, 0.0)


def _copies(job: Job, rank: Rank) -> MemoryLine:
    """Input and output hidden states that the pipeline engine stores for each micro-batch in flight.

    The input of the first stage is tokens, the output of the last stage a loss.
    """
    each = tensor_bytes(job.tokens, job.model.hidden, 1.0, job.width)
    copies = (rank.inputs + rank.outputs) * rank.in_flight
    return line("pipeline buffers", several, PIPELINE_ENGINE, count=copies, each=each).times(
        "pipelined", _pipelined(job)
    )


def _outputs(job: Job, rank: Rank) -> MemoryLine:
    """Logits of every micro-batch, which the last stage stores and concatenates at the end of a step."""
    each = activations.logits_bytes(job.tokens, job.model.vocab, job.layout.tp, GATHERED)
    count = job.framework.outputs_kept * job.micro_batches * rank.head
    return line("outputs kept", several, PIPELINING, count=count, each=each).times("pipelined", _pipelined(job))
