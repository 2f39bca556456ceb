"""Bytes of one rank in serving: weights, the cache of the requests in flight, and the activations of a step."""

from __future__ import annotations

from clusterspec.cluster.model import Layout, Workload
from clusterspec.cost.drafters import drafter_cache_bytes, drafter_weights
from clusterspec.cost.formulas import memory
from clusterspec.cost.formulas.memory import buffer_bytes, tensor_bytes
from clusterspec.cost.layers import Chunk
from clusterspec.cost.memory import Job, Lines, memory_line
from clusterspec.cost.mixers import SequenceBytes, sequence_cache
from clusterspec.cost.parameters import Share, served_weights

PAPER = "Pope et al., arXiv 2211.05102"
STATE_SOURCE = "Yang et al., arXiv 2412.06464; mamba_ssm_dtype: float32 in the configurations of Qwen3.5 and Nemotron 3"
CHUNKED = "Agrawal et al., Sarathi-Serve, arXiv 2403.02310"
DRAFTED = "DeepSeek-V3, arXiv 2412.19437, section 2.2; EAGLE, arXiv 2401.15077; Medusa, arXiv 2401.10774"
SAMPLED = "vLLM, vllm/v1/worker/gpu_model_runner.py (_dummy_sampler_run)"
BUFFERS = "TensorRT-LLM, moe_kernels.cu (getWorkspaceDeviceBufferSizes)"
ROUNDED = 1 - 1e-9
"""Tolerance by which the rounded sum may exceed the memory."""


def served_weight_lines(job: Job, share: Share) -> Lines:
    """Served weights in their precisions: experts in the experts' precision, embedding and head in at least 16 bits."""
    return tuple(
        memory_line(kind.name, memory.sharded_bytes, weights=kind.weights, width=kind.width, ranks=1.0)
        for kind in served_weights(share, job.workload, job.layout.expert_tp)
    )


def draft_weight_lines(job: Job) -> Lines:
    """The weights for drafting tokens, on the last stage."""
    return tuple(
        memory_line(kind.name, memory.sharded_bytes, DRAFTED, weights=kind.weights, width=kind.width, ranks=1.0)
        for kind in drafter_weights(job.workload, job.layout)
    )


def sequence_bytes(job: Job, chunks: tuple[Chunk, ...], context: float) -> SequenceBytes:
    """Bytes that one rank stores for a sequence of ``context`` tokens: the KV cache of its layers, and on the last
    stage also the cache of the drafting layers.
    """
    reserved = job.layout.stack.window_tokens if job.layout.stack is not None else 0.0
    kept = sequence_cache(job.model, chunks, context / job.layout.cp, job.layout.tp, reserved)
    found = kept.stored_bytes(job.workload.kv_precision)
    if not any(chunk.last for chunk in chunks):
        return found
    drafted = drafter_cache_bytes(job.workload, context / job.layout.cp, job.layout.tp)
    return found._replace(keys_values=found.keys_values + drafted)


def mean_context(job: Job) -> float:
    """Mean number of tokens of a request in flight: its input and half of its output, or all tokens if requests end
    together.
    """
    serving = job.workload.serving
    if serving is None:
        return float(job.workload.sequence_length)
    return serving.tokens if serving.load == "static" else serving.input_tokens + serving.output_tokens / 2


def requests_in_flight(job: Job, free: float, mean: float) -> float:
    """The number of requests in flight on one attention replica. ``free`` is the bytes available for the cache,
    ``mean`` the bytes per request.

    Requests without cache space wait.
    """
    serving, layout = job.workload.serving, job.layout
    if serving is None:
        return float(-(-job.workload.global_batch // layout.data_ranks))
    held = free / mean * ROUNDED if mean else 0.0
    offered = held if serving.concurrency is None else -(-serving.concurrency // layout.data_ranks)
    return min(offered, serving.max_sequences or offered, held)


def cache_budget(job: Job, left: float) -> float:
    """Bytes available for the KV cache; ``left`` is the memory that weights and framework leave free."""
    load = job.workload.serving
    share = load.memory_fraction if load is not None and load.of_free else 1.0
    return max(0.0, left) * share


def cache_lines(job: Job, chunks: tuple[Chunk, ...], free: float) -> Lines:
    """The cache of the requests in flight; ``free`` bytes are left for it on the rank.

    It holds at least one request at its end, because an engine without space for one cannot serve.
    """
    each = sequence_bytes(job, chunks, mean_context(job))
    whole = sequence_bytes(job, chunks, job.workload.sequence_length)
    requests = requests_in_flight(job, free, each.total)
    if requests * each.total <= whole.total:
        requests, each = 1.0, whole
    found = (memory_line("key-value cache", buffer_bytes, PAPER, count=requests, each=each.keys_values),)
    if not each.state:
        return found
    return (*found, memory_line("recurrent state", buffer_bytes, STATE_SOURCE, count=requests, each=each.state))


def step_activation_lines(job: Job) -> Lines:
    """Activations of one layer for the tokens of one step: the input, the output, and the layer's widest tensor."""
    serving = job.workload.serving
    if serving is None or not serving.chunk_tokens:
        return ()
    model, tp = job.model, job.layout.tp
    widest = max((job.ffn_matrices - 1) * model.ffn_hidden, (model.heads + 2 * model.kv_heads) * model.head_dim) / tp
    sizes = {"tokens": serving.chunk_tokens, "elements": 2 * model.hidden + widest, "ranks": 1.0, "width": job.width}
    steps = memory_line("step activations", tensor_bytes, CHUNKED, **sizes)
    sampled = sampled_logits_sizes(job.workload)
    if sampled:  # after the layers, whose activations are free by then
        sampling = memory_line("sampling", tensor_bytes, SAMPLED, **sampled)
        steps = max(steps, sampling, key=lambda line: line.value)
    received = received_copies(job.workload, job.layout, serving.chunk_of_replica(job.layout.attention_dp))
    if not received:
        return (steps,)
    from clusterspec.cost.formulas.experts import received_bytes

    return (steps, memory_line("received copies", received_bytes, BUFFERS, **received))


def sampled_logits_sizes(workload: Workload) -> dict[str, float]:
    """The arguments of `tensor_bytes` for the logits of all sequences that an engine may run, with their sorted copies.
    Empty if the software reserves no memory for them.
    """
    serving = workload.serving
    if serving is None or not serving.sampling_bytes:
        return {}
    sizes = {"tokens": float(serving.sampled_sequences), "elements": float(workload.model.vocab)}
    return sizes | {"ranks": 1.0, "width": serving.sampling_bytes}


def received_copies(workload: Workload, layout: Layout, chunk: int | None) -> dict[str, float]:
    """The arguments of `received_bytes` for a step with ``chunk`` tokens on every attention replica. Empty if a rank
    receives no tokens, or if its software reserves memory for them in another way.

    Separate engines reserve less: decode engines run no prompts, and the cache does not limit prefill engines.
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
