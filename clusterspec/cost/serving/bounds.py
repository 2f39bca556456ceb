"""Lower bounds of latency in a serving plan: the bytes that a token reads, and the arithmetic of a prompt."""

from __future__ import annotations

from clusterspec.cluster.model import Cluster, Layout, Workload
from clusterspec.cluster.requests import Serving
from clusterspec.cost import parameters
from clusterspec.cost.formulas.serving import compute_time, stream_time
from clusterspec.cost.serving.handoff import request_bytes, whole_model
from clusterspec.quantity import peak_name, precision_width, table_width


def least_token_time(cluster: Cluster, workload: Workload, layout: Layout, load: Serving) -> float | None:
    """Lower bound of the time per output token in seconds: the weights and one request's cache, read at full bandwidth.

    With one request in flight, a layer reads only the experts of one token, distributed evenly over the ranks. Accepted
    draft tokens divide the time. None if the memory bandwidth is not known.

    Source: Pope et al., arXiv 2211.05102, section 2.
    """
    if cluster.accelerator.memory_bandwidth is None:
        return None
    bandwidth = cluster.accelerator.memory_bandwidth.value / cluster.ranks_per_accelerator
    context = load.input_tokens + load.output_tokens / 2
    read = token_weight_bytes(workload, layout) + request_bytes(workload, layout, context)
    return stream_time(read, bandwidth) / load.tokens_per_step


def token_weight_bytes(workload: Workload, layout: Layout) -> float:
    """Bytes of weights on one rank, over all stages, that take part in the products of one token."""
    share = parameters.rank_share(workload.model, layout, (whole_model(workload),))
    dense = (share.dense + share.replicated) * precision_width(workload.parameter_precision)
    head = share.output * table_width(workload.parameter_precision)
    return (
        dense + head + _active_expert_weights(workload, layout) * precision_width(workload.expert_parameter_precision)
    )


def least_prompt_time(cluster: Cluster, workload: Workload, layout: Layout, load: Serving) -> float | None:
    """Lower bound of the time of one prompt in seconds: its GEMMs at the dense peak of all ranks of an engine.

    Tokens in the prefix cache and attention are not counted. None if the accelerator has no peak.

    Source: Kaplan et al., arXiv 2001.08361, section 2.1: two operations a weight and token.
    """
    peak = _accelerator_peak(cluster, workload)
    if peak is None:
        return None
    share = parameters.rank_share(workload.model, layout, (whole_model(workload),))
    weights = share.dense + share.replicated + _active_expert_weights(workload, layout)
    fresh = load.fresh_tokens
    return compute_time(2 * weights * fresh / layout.pp, peak / cluster.ranks_per_accelerator)


def compute_bound_tokens(cluster: Cluster, workload: Workload) -> float | None:
    """Tokens per step above which the GEMMs of dense weights are compute-bound, not bound by reading the weights.

    Source: Williams et al., "Roofline", CACM 52(4), 2009: the ridge, at the dense peak and the full bandwidth.
    """
    peak, memory = _accelerator_peak(cluster, workload), cluster.accelerator.memory_bandwidth
    if peak is None or memory is None:
        return None
    return peak / memory.value * precision_width(workload.parameter_precision) / 2


def _accelerator_peak(cluster: Cluster, workload: Workload) -> float | None:
    """Dense FLOP/s of one accelerator at the precision of the workload, else at 16 bits."""
    if workload.peak is not None:
        return workload.peak.value
    peaks = {name: peak.value for name, peak in cluster.accelerator.peaks.items()}
    name = peak_name(workload.precision, peaks)
    return peaks.get(name) if name else peaks.get("bf16") or peaks.get("fp16")


def _active_expert_weights(workload: Workload, layout: Layout) -> float:
    """Weights of one token's experts on one rank of an engine, summed over all layers."""
    model = workload.model
    if not model.experts:
        return 0.0
    whole = parameters.model_weights(model)
    return whole.expert * model.experts_per_token * whole.moe_layers / (layout.tp * layout.attention_dp)
