"""Memory of serving: weights and the key-value cache of the sequences under way."""

from __future__ import annotations

from clusterspec.cost.formulas import activations, states
from clusterspec.cost.memory import other, sums
from clusterspec.cost.memory.given import computed
from clusterspec.cost.memory.job import BYTES, Job
from clusterspec.cost.parameters import Chunk, Share
from clusterspec.cost.term import Term

PAPER = "Pope et al., arXiv 2211.05102"


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
    """The key-value cache of the batch at its full length."""
    model, layout = job.model, job.layout
    latent = model.latent_kv + model.latent_rope
    width = latent if model.latent else 2 * model.kv_heads * model.head_dim
    ranks = 1 if model.latent else min(layout.tp, model.kv_heads)
    sequences = -(-job.workload.global_batch // layout.dp)
    tokens = sequences * job.workload.sequence_length / layout.cp
    layers = sum(chunk.layers for chunk in chunks)
    value = activations.cache_bytes(tokens, layers, width, ranks)
    inputs = (
        computed("tokens", tokens, "global_batch / dp × sequence_length / cp"),
        computed("layers", layers, "layers of this stage"),
        computed("width", width, "2 kv_heads × head_dim, or latent_kv + latent_rope"),
        computed("ranks", ranks, "tp, at most kv_heads; latents are not cut"),
    )
    return sums.total(
        "activations",
        [sums.leaf("key-value cache", value, "2 B × tokens × layers × width / ranks", inputs, source=PAPER)],
    )


def beside(job: Job, share: Share) -> Term:
    """Context and communication buffers; serving engines allocate once, so nothing is fragmented."""
    return other.other(job, share, 0.0)
