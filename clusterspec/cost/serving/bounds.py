"""Lower bounds of latency in a serving plan: bytes that a token reads, and the arithmetic of a prompt."""

from __future__ import annotations

from clusterspec.cluster.model import Cluster, Layout, Serving, Workload
from clusterspec.cost import parameters
from clusterspec.cost.cache import of_sequence
from clusterspec.cost.formulas.serving import compute_time, stream_time
from clusterspec.cost.layers import Chunk, layers
from clusterspec.precision import rate, table_width, width

HANDOFF_SHARE = 0.8
"""Share of the line rate at which one cache is sent (DistServe, arXiv 2401.09670; DeepSeek-V3, arXiv 2412.19437)."""


def token_floor(cluster: Cluster, workload: Workload, layout: Layout, load: Serving) -> float | None:
    """The least time of one output token in seconds: reading its weights and the cache of one request at full
    bandwidth.

    With one request in flight, a layer reads only the experts of one token, distributed evenly over the ranks. Accepted
    draft tokens divide the time. None where the memory bandwidth is not known.

    Source: Pope et al., arXiv 2211.05102, section 2.
    """
    if cluster.accelerator.memory_bandwidth is None:
        return None
    bandwidth = cluster.accelerator.memory_bandwidth.value / cluster.ranks_per_accelerator
    context = load.input_tokens + load.output_tokens / 2
    read = token_weight_bytes(workload, layout) + request_bytes(workload, layout, context)
    return stream_time(read, bandwidth) / (1 + load.draft_tokens * load.draft_acceptance)


def token_weight_bytes(workload: Workload, layout: Layout) -> float:
    """Bytes of weights on one rank, over all stages, that one token is multiplied with."""
    share = parameters.share(workload.model, layout, (_whole(workload),))
    dense = (share.dense + share.replicated) * width(workload.parameter_precision)
    head = share.output * table_width(workload.parameter_precision)
    return dense + head + _chosen(workload, layout) * width(workload.expert_parameter_precision)


def request_bytes(workload: Workload, layout: Layout, tokens: float) -> float:
    """Bytes of cache of one request with ``tokens`` tokens on one rank, over all stages."""
    kept = of_sequence(workload.model, (_whole(workload),), tokens, layout.tp)
    return kept.stored(workload.kv_precision).total


def prompt_floor(cluster: Cluster, workload: Workload, layout: Layout, load: Serving) -> float | None:
    """The least time of one prompt in seconds: the GEMMs of its weights at the dense peak of all ranks of an engine.

    Tokens in the prefix cache and attention are not counted. None where the accelerator has no peak.

    Source: Kaplan et al., arXiv 2001.08361, section 2.1: two operations a weight and token.
    """
    peak = _peak(cluster, workload)
    if peak is None:
        return None
    share = parameters.share(workload.model, layout, (_whole(workload),))
    weights = share.dense + share.replicated + _chosen(workload, layout)
    fresh = load.input_tokens * (1 - load.prefix_hit)
    return compute_time(2 * weights * fresh / layout.pp, peak / cluster.ranks_per_accelerator)


def compute_bound_tokens(cluster: Cluster, workload: Workload) -> float | None:
    """Tokens of one step from which the GEMMs of dense weights take longer than reading them.

    Source: Williams et al., "Roofline", CACM 52(4), 2009: the ridge, at the dense peak and the full bandwidth.
    """
    peak, memory = _peak(cluster, workload), cluster.accelerator.memory_bandwidth
    if peak is None or memory is None:
        return None
    return peak / memory.value * width(workload.parameter_precision) / 2


def _peak(cluster: Cluster, workload: Workload) -> float | None:
    """Dense FLOP/s of one accelerator at the precision of the workload, else at 16 bits."""
    if workload.peak is not None:
        return workload.peak.value
    peaks = {name: peak.value for name, peak in cluster.accelerator.peaks.items()}
    name = rate(workload.precision, peaks)
    return peaks.get(name) if name else peaks.get("bf16") or peaks.get("fp16")


def _chosen(workload: Workload, layout: Layout) -> float:
    """Weights of the experts of one token, on one of the ranks of an engine, over all its layers."""
    model = workload.model
    if not model.experts:
        return 0.0
    whole = parameters.count(model)
    return whole.expert * model.experts_per_token * whole.moe_layers / (layout.tp * layout.attention_dp)


def _whole(workload: Workload) -> Chunk:
    return Chunk.of(layers(workload.model), first=True, last=True)


def handoff_time(cluster: Cluster, workload: Workload, pools: tuple[Layout, Layout], tokens: float) -> float | None:
    """Seconds to send the cache of a prompt of ``tokens`` from its prefill engine to a decode engine.

    None where no fabric connects them.
    """
    sent = handoff(cluster, workload, pools, tokens)
    return stream_time(*sent) if sent else None


def handoff(
    cluster: Cluster, workload: Workload, pools: tuple[Layout, Layout], tokens: float
) -> tuple[float, float] | None:
    """Bytes of the cache of a prompt that one rank sends or receives, and B/s of its link.

    Each rank sends its own part: over the scale-up interconnect where all engines are in one domain, else over its
    share of the NICs. None where no fabric connects them.
    """
    inside = cluster.accelerators <= cluster.scale_up.domain
    link = cluster.scale_up.peer_bandwidth.value if inside else cluster.nic_share
    if not link:
        return None
    most = max(request_bytes(workload, layout, tokens) / layout.pp for layout in pools)
    return most, link / cluster.ranks_per_accelerator * HANDOFF_SHARE
