"""Memory of serving: weights and the key-value cache of the sequences under way."""

from __future__ import annotations

from clusterspec.cost.cache import of_sequence
from clusterspec.cost.formulas import states
from clusterspec.cost.memory import other, sums
from clusterspec.cost.memory.given import computed
from clusterspec.cost.memory.job import BYTES, Job
from clusterspec.cost.parameters import Chunk, Share
from clusterspec.cost.term import Term

PAPER = "Pope et al., arXiv 2211.05102"
STATE_SOURCE = "Yang et al., arXiv 2412.06464; mamba_ssm_dtype: float32 in the configurations of Qwen3.5 and Nemotron 3"
KEPT = 2.0
"""Bytes of an element of keys and values."""
STATE = 4.0
"""Bytes of an element of recurrent state."""


def weights(job: Job, share: Share) -> Term:
    """Weights in the precision they are served in."""
    width = BYTES[job.workload.parameter_precision]
    inputs = (
        computed("weights", share.total, "model cut by tp, ep, expert_tp and pp"),
        computed("bytes each", width, "parameter_precision", "B"),
    )
    return sums.total(
        "weights", [sums.leaf("served weights", states.sharded(share.total, width, 1), "weights × bytes each", inputs)]
    )


def cache(job: Job, chunks: tuple[Chunk, ...]) -> Term:
    """What serving keeps of the batch at its full length: keys and values, and recurrent state in 32 bits."""
    layout = job.layout
    sequences = -(-job.workload.global_batch // layout.dp)
    kept = of_sequence(job.model, chunks, job.workload.sequence_length / layout.cp, layout.tp)
    common = computed("sequences", sequences, "global_batch / dp")
    grown = computed("elements", kept.keys_values + kept.index_keys, "of one sequence of sequence_length / cp tokens")
    value = KEPT * sequences * (kept.keys_values + kept.index_keys)
    parts = [sums.leaf("key-value cache", value, "2 B × sequences × elements", (common, grown), source=PAPER)]
    if kept.state:
        fixed = computed("elements", kept.state, "recurrent state and convolution of one sequence")
        value, formula = STATE * sequences * kept.state, "4 B × sequences × elements"
        parts.append(sums.leaf("recurrent state", value, formula, (common, fixed), source=STATE_SOURCE))
    return sums.total("activations", parts)


def beside(job: Job, share: Share) -> Term:
    """Context and communication buffers; serving engines allocate once, so nothing is fragmented."""
    return other.other(job, share, 0.0)
