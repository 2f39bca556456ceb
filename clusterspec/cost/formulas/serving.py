"""Serving steps and latency of requests. Seconds, bytes, rates per second; per rank unless stated otherwise."""

from __future__ import annotations

from clusterspec.cost.formulas import formula
from clusterspec.cost.formulas.compute import larger, power


@formula("max(bytes_read / bandwidth, flops / rate)")
def roofline_time(bytes_read: float, bandwidth: float, flops: float, rate: float) -> float:
    """The time of work that streams ``bytes_read`` and computes ``flops``: the slower of the two.

    Source: Williams et al., "Roofline", CACM 52(4), 2009; for decoding, Pope et al., arXiv 2211.05102, section 2.

    Range: bandwidth > 0, rate > 0.

    >>> roofline_time(8e9, 2e12, 1e12, 1e15)
    0.004
    """
    return larger(bytes_read / bandwidth, flops / rate)


@formula("bytes_read / bandwidth")
def stream_time(bytes_read: float, bandwidth: float) -> float:
    """The time to read ``bytes_read`` bytes.

    Source: Pope et al., arXiv 2211.05102, section 2.1.

    Range: bandwidth > 0.

    >>> stream_time(3.2e9, 1.6e12)
    0.002
    """
    return bytes_read / bandwidth


@formula("flops / rate")
def compute_time(flops: float, rate: float) -> float:
    """The time of ``flops`` operations at a rate.

    Source: arithmetic.

    Range: rate > 0.

    >>> compute_time(3e12, 6e14)
    0.005
    """
    return flops / rate


@formula("flops / max(flops / rate - floor, flops / peak)")
def rate_beyond_floor(flops: float, rate: float, floor: float, peak: float) -> float:
    """The rate at which a kernel computes beyond its ``floor`` seconds, no more than ``peak``.

    ``rate`` applies to the whole kernel, as measured: ``flops`` over its time.

    Source: measured kernels (NVIDIA's AIConfigurator): the time of a GEMM is a floor, whatever its weights, and a time
    in proportion to them.

    Range: flops > 0, rate > 0, peak > 0.

    >>> round(rate_beyond_floor(1e10, 5e14, 4e-6, 1e15) / 1e12, 6)
    625.0
    """
    return flops / larger(flops / rate - floor, flops / peak)


@formula("calls * max(floor, bytes_read / bandwidth)")
def cache_time(calls: float, floor: float, bytes_read: float, bandwidth: float) -> float:
    """The time of calls that each read ``bytes_read`` bytes of the cache, at least ``floor`` seconds.

    Source: measured kernels of attention; their tables are in the catalog.

    Range: bandwidth > 0.

    >>> cache_time(80, 1e-5, 64e6, 1.6e12)
    0.0032
    """
    return calls * larger(floor, bytes_read / bandwidth)


@formula("calls * max(floor, bytes_read / bandwidth, flops / rate)")
def latent_time(calls: float, floor: float, bytes_read: float, bandwidth: float, *, flops: float, rate: float) -> float:
    """The time of calls of latent attention that each read ``bytes_read`` bytes of the cache and compute ``flops``.

    One kernel does both at once: it is bound by the memory, or by arithmetic where many heads share each byte.

    Source: FlashMLA (github.com/deepseek-ai/FlashMLA): 3,000 GB/s bound by memory or 660 TFLOP/s by arithmetic on H800.

    Range: bandwidth > 0, rate > 0.

    >>> round(latent_time(61, 1e-5, 64e6, 1.6e12, flops=3e10, rate=6e14), 6)
    0.00305
    """
    return calls * larger(larger(floor, bytes_read / bandwidth), flops / rate)


@formula("flops / rate + bytes_read / bandwidth")
def index_time(flops: float, rate: float, bytes_read: float, bandwidth: float) -> float:
    """The time to score keys with a sparse index: products of queries and keys, then passes over the scores that select
    the highest. The two kernels run one after the other.

    Source: vLLM, vllm/model_executor/models/deepseek_v2.py (sparse_attn_indexer): fp8_mqa_logits, top_k_per_row.

    Range: bandwidth > 0, rate > 0.

    >>> round(index_time(1e12, 1e15, 4e8, 4e12), 9)
    0.0011
    """
    return flops / rate + bytes_read / bandwidth


@formula("calls * (floor + sqrt(moved / bandwidth * moved / bandwidth + length * chained * length * chained))")
def recurrence_time(
    calls: float, floor: float, moved: float, bandwidth: float, *, length: float, chained: float
) -> float:
    """The time of a recurrence over prompts in ``calls`` layers; each layer moves ``moved`` bytes.

    Chunks of all sequences and heads run side by side, but the states of one sequence follow each other: ``chained``
    seconds for each of the ``length`` tokens of the longest. One overlaps with the other in part: the root of the sum
    of their squares, within 15 % of measured kernels of both kinds. A layer takes ``floor`` seconds at least.

    Source: arXiv 2412.06464, section 3.3; tables of measured kernels are in the catalog.

    Range: bandwidth > 0.

    >>> round(recurrence_time(48, 4e-5, 3e8, 1e12, length=8000, chained=5e-8), 6)
    0.02592
    """
    transfer_time, chain_time = moved / bandwidth, length * chained
    return calls * (floor + power(transfer_time * transfer_time + chain_time * chain_time, 0.5))


@formula("calls * each")
def all_reduce_time(calls: float, each: float) -> float:
    """All-reduces of ``each`` seconds, as measured at their size and number of ranks.

    Source: arithmetic; the tables of measured kernels are in the catalog.

    >>> all_reduce_time(160, 1e-5)
    0.0016
    """
    return calls * each


@formula("calls * (each - covered)")
def exposed_all_reduce_time(calls: float, each: float, covered: float) -> float:
    """All-reduces of ``each`` seconds; ``covered`` seconds of each run inside the GEMM before it.

    Source: arithmetic. One kernel that multiplies and reduces takes no less than the longer of both (TensorRT-LLM,
    cpp/tensorrt_llm/kernels/cutlass_kernels/allreduce_gemm).

    Range: each >= covered.

    >>> round(exposed_all_reduce_time(252, 2e-4, 1.5e-4), 9)
    0.0126
    """
    return calls * (each - covered)


@formula("layers * (latency + tokens * copies * hidden * bytes_each / bandwidth)")
def expert_exchange_time(
    layers: float, latency: float, tokens: float, copies: float, *, hidden: float, bytes_each: float, bandwidth: float
) -> float:
    """Dispatch and combine in every layer with experts; ``bytes_each`` per element for both directions.

    ``latency`` covers both ways, in seconds; each token is sent in ``copies`` copies.

    Source: DeepSeek-V3 technical report, arXiv 2412.19437, section 3.2: 8 bits out and 16 bits back.

    Range: bandwidth > 0.

    >>> expert_exchange_time(58, 24e-6, 128, 8, hidden=7168, bytes_each=3, bandwidth=1e11)
    0.01416365568
    """
    return layers * (latency + tokens * copies * hidden * bytes_each / bandwidth)


@formula("max(0, layers * (latency + tokens * copies * hidden * bytes_each / bandwidth) - computing)")
def exposed_exchange_time(
    layers: float,
    latency: float,
    tokens: float,
    copies: float,
    *,
    hidden: float,
    bytes_each: float,
    bandwidth: float,
    computing: float,
) -> float:
    """The time by which an exchange exceeds the computation of the other micro-batch, which overlaps with the exchange.

    Source: DeepSeek-V3 technical report, arXiv 2412.19437, section 3.4: two micro-batches in turn.

    Range: bandwidth > 0.

    >>> round(exposed_exchange_time(58, 24e-6, 128, 8, hidden=7168, bytes_each=3, bandwidth=1e11, computing=0.01), 11)
    0.00416365568
    """
    return larger(0.0, layers * (latency + tokens * copies * hidden * bytes_each / bandwidth) - computing)


@formula("launches * each + fused * routed_layer + small * small_kernel + host + sequences * sequence")
def launch_time(
    launches: float,
    each: float,
    host: float,
    sequences: float,
    *,
    sequence: float,
    fused: float = 0.0,
    routed_layer: float = 0.0,
    small: float = 0.0,
    small_kernel: float = 0.0,
) -> float:
    """Launch, sampling and scheduling overhead of a step: per kernel, per layer of ``fused`` experts, per ``small``
    kernel between GEMMs, per step and per sequence.

    Source: the floors of measured kernels and steps; see the constants of serving in docs/constants.md.

    >>> round(launch_time(320, 5e-6, 1e-3, 32, sequence=3e-6), 6)
    0.002696
    >>> round(launch_time(320, 5e-6, 1e-3, 32, sequence=3e-6, fused=60, routed_layer=30e-6), 6)
    0.004496
    """
    return launches * each + fused * routed_layer + small * small_kernel + host + sequences * sequence


@formula("max(0, launches * each - device)")
def exposed_launch_time(launches: float, each: float, device: float) -> float:
    """The time by which the host takes longer to launch the kernels of a step than the ``device`` to run them.

    Source: CUDA C++ Programming Guide, section 3.2.8 (asynchronous concurrent execution): control returns to the host
    before a kernel has run.

    >>> round(exposed_launch_time(256, 160e-6, 0.03), 6), exposed_launch_time(256, 160e-6, 0.05)
    (0.01096, 0.0)
    """
    return larger(0.0, launches * each - device)


@formula("step / tokens_per_step + sequences / gaps * prefill / stages")
def time_per_output_token(
    step: float,
    sequences: float,
    gaps: float,
    prefill: float,
    *,
    tokens_per_step: float = 1,
    stages: float = 1,
) -> float:
    """The time per output token in seconds: one decode step, plus the time for prompts that replace finished sequences,
    spread over the decode steps.

    ``tokens_per_step`` is the number of tokens that a sequence gains in a step, above one if drafted tokens are
    accepted; sequences then end, and new prompts arrive, sooner by the same factor. Pipeline ``stages`` work on
    different batches, so a prompt delays each batch only by one stage. A request decodes in ``gaps`` between its
    tokens; the prompt gives the first token.

    Source: continuous batching in the steady state; Agrawal et al., Sarathi-Serve, arXiv 2403.02310, section 3.

    Range: gaps > 0, tokens_per_step > 0, stages >= 1.

    >>> time_per_output_token(0.02, 32, 1024, 0.32)
    0.03
    """
    return step / tokens_per_step + sequences / gaps * prefill / stages


@formula("wait + prefill + handoff + request + 0.5 * tpot")
def time_to_first_token(wait: float, prefill: float, handoff: float, request: float, *, tpot: float) -> float:
    """The time to first token: wait, prefill, transfer of the cache to a separate decode engine, and on average half a
    decode step there until decoding starts.

    ``request`` is the time of a request outside the engines, ``tpot`` 0 if the same engine decodes, for whose
    running step a prompt waits before it starts.

    Source: Agrawal et al., Sarathi-Serve, arXiv 2403.02310, section 2.

    >>> time_to_first_token(0.0, 0.2, 0.01, 0.01, tpot=0.02)
    0.23000000000000004
    """
    return wait + prefill + handoff + request + 0.5 * tpot


@formula("typical * mean_prompt")
def typical_prompt_time(mean_prompt: float, typical: float) -> float:
    """The time of a prompt of median length: the time at mean length times the ratio of the two. Only the time for
    launches and for reading weights does not shrink with the length.

    >>> typical_prompt_time(0.2, 0.5)
    0.1
    """
    return typical * mean_prompt


@formula("passing + size / bandwidth")
def handoff_time(passing: float, size: float, bandwidth: float) -> float:
    """The time to transfer the cache of a prompt, ``size`` bytes per rank, to a decode engine.

    ``passing`` is the fixed time of the transfer of a request.

    Source: Patel et al., Splitwise, arXiv 2311.18677, section 4.2.

    Range: bandwidth > 0.

    >>> handoff_time(0.05, 4e8, 4e10)
    0.060000000000000005
    """
    return passing + size / bandwidth


@formula("max(size / bandwidth, descriptors * each)")
def transfer_time(size: float, bandwidth: float, descriptors: float, each: float) -> float:
    """The time of a transfer of ``size`` bytes in ``descriptors`` messages of ``each`` seconds: the larger of both.

    Source: vllm-project/vllm pull request 53825: 4,563 descriptors take 5.2 ms, the same bytes in 70 of them 2.1 ms.

    Range: bandwidth > 0.

    >>> transfer_time(8e8, 4e10, 10_000, 1.4e-6), transfer_time(8e8, 4e10, 32_000, 1e-6)
    (0.02, 0.032)
    """
    return larger(size / bandwidth, descriptors * each)


@formula("passing + max(transfer / pieces, transfer - computing * (pieces - 1) / pieces)")
def overlapped_handoff_time(passing: float, transfer: float, pieces: float, computing: float) -> float:
    """The time from the end of a prompt to the arrival of its cache on a decode engine; ``pieces`` of the cache are
    sent as soon as they are computed.

    The last piece leaves when the prompt of ``computing`` seconds is done, together with the pieces that the link has
    not sent by then.

    Source: Patel et al., Splitwise, arXiv 2311.18677, section 4.2 (layer-wise transfer).

    Range: pieces >= 1.

    >>> overlapped_handoff_time(0.05, 0.4, 1, 1.0), round(overlapped_handoff_time(0.05, 0.4, 80, 1.0), 9)
    (0.45, 0.055)
    >>> round(overlapped_handoff_time(0.0, 1.0, 10, 0.5), 9)
    0.55
    """
    return passing + larger(transfer / pieces, transfer - computing * (pieces - 1) / pieces)


@formula("token + joining / max(1, output_tokens - 1)")
def time_per_token_after_transfer(token: float, joining: float, output_tokens: float) -> float:
    """The mean time between tokens, in seconds, if the first token is sent before the KV cache is transferred.

    Only the gap between the first two tokens includes ``joining``, the seconds to transfer the cache and to start
    decoding.

    Source: arithmetic.

    >>> round(time_per_token_after_transfer(0.02, 0.1, 101), 9)
    0.021
    """
    return token + joining / larger(1.0, output_tokens - 1)


@formula("token + preempted / max(1, output_tokens - 1)")
def time_per_token_with_preemption(token: float, preempted: float, output_tokens: float) -> float:
    """The mean time between tokens, in seconds, of a request that loses its place in the cache. ``preempted`` seconds
    pass while other requests have the place and while lost tokens are recomputed.

    Source: arithmetic.

    >>> round(time_per_token_with_preemption(0.02, 5.0, 501), 9)
    0.03
    """
    return token + preempted / larger(1.0, output_tokens - 1)


@formula("max((steps + stages - 1) * step / stages, floor)")
def prompt_time(steps: float, step: float, floor: float, stages: float = 1) -> float:
    """The time of a prompt in ``steps`` steps of ``step`` seconds, pipelined over ``stages``; at least ``floor``, the
    time in which the host launches the kernels.

    Source: Agrawal et al., Sarathi-Serve, arXiv 2403.02310, section 3.

    Range: stages >= 1.

    >>> prompt_time(2, 0.1, 0.15), prompt_time(8, 0.1, 0.0, 2)
    (0.2, 0.45)
    """
    return larger((steps + stages - 1) * step / stages, floor)


@formula("max((steps + (stages - 1) * longest) * step / stages, floor)")
def unequal_prompt_time(steps: float, step: float, longest: float, floor: float, stages: float) -> float:
    """The time of a prompt whose ``steps`` of ``step`` seconds in the mean are unequal, pipelined over ``stages``. The
    longest takes ``longest`` times the mean, and the others follow it on each stage.

    Source: as `prompt_time`.

    Range: longest >= 1, stages >= 1.

    >>> unequal_prompt_time(2, 0.1, 1.5, 0.0, 4)  # 0.15 and 0.05 s: 0.05 on the last stage after 0.15 on all four
    0.1625
    """
    return larger((steps + (stages - 1) * longest) * step / stages, floor)


@formula("ttft + (output_tokens - 1) * tpot")
def request_time(ttft: float, output_tokens: float, tpot: float) -> float:
    """The time from a request to its last token.

    Range: output_tokens >= 1.

    >>> request_time(0.5, 101, 0.02)
    2.5
    """
    return ttft + (output_tokens - 1) * tpot


@formula("concurrency * output_tokens / latency")
def output_rate(concurrency: float, output_tokens: float, latency: float) -> float:
    """Output tokens per second with ``concurrency`` requests in flight.

    Source: Little, Operations Research 9(3), 1961.

    Range: latency > 0.

    >>> output_rate(64, 1000, 20.0)
    3200.0
    """
    return concurrency * output_tokens / latency
