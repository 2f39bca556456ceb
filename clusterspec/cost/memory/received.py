"""Buffers of a serving rank for the tokens that other attention replicas send to its experts."""

from __future__ import annotations

from clusterspec.cluster.model import Layout, Workload


def received_copies(workload: Workload, layout: Layout, chunk: int | None) -> dict[str, float]:
    """The inputs of `received_bytes` for a step with ``chunk`` tokens on every attention replica; empty if a rank
    receives no tokens, or its software leaves room for them beside the memory that it fills.

    Separate engines reserve less: those that decode run no prompts, and the cache does not limit those that prefill.
    """
    model, software = workload.model, layout.stack.serving if layout.stack is not None else None
    if software is None or workload.serving is None or workload.serving.prefill is not None:
        return {}
    own, most = float(chunk or 0), software.expert_tokens
    tokens = min(most, own * layout.attention_dp) - min(most, own)
    if not tokens or not model.experts:
        return {}
    shards = layout.tp * layout.attention_dp / layout.ep
    sizes = {"tokens": tokens, "chosen": float(model.experts_per_token), "hidden": float(model.hidden)}
    return sizes | {"widest": (2 if model.gated_ffn else 1) * model.expert_ffn_hidden / shards}
