"""Kernels of softmax attention in one layer: grouped-query and latent, from projections to output; and their rate for
narrower heads or shorter sequences than in its measurement.

`sparse_attention` and `recurrence` hold the kernels of other layers; designs without such layers do not load them.
"""

from __future__ import annotations

from collections.abc import Mapping

from clusterspec.catalog.entries import Accelerator
from clusterspec.catalog.stacks import Stack
from clusterspec.cluster.model import Workload
from clusterspec.cost import assumed_figure
from clusterspec.cost.compute import (
    KERNELS,
    LENGTH_START,
    GemmShape,
    Kernel,
    Role,
    Shard,
    Work,
    gemm_kernel,
    linear_work,
    streaming_work,
)
from clusterspec.cost.formulas import compute
from clusterspec.cost.formulas.compute import fixed_share, head_fill, is_zero, smaller
from clusterspec.cost.layers import Mixer

SPARSE = "sparse attention"
"""The group of constants of `sparse_attention`."""
RECURRENCE = "recurrence"
"""The group of constants of `recurrence`."""


SCORE_PASSES = (
    assumed_figure(
        KERNELS,
        "scores.forward",
        4.5,
        "reads and writes of scores by plain attention between the products: scale, mask and softmax read and"
        " write them; dropout reads and writes them and a mask of half their width (Megatron-LM, fused_softmax.py)",
    ).value,
    assumed_figure(
        KERNELS,
        "scores.backward",
        5.5,
        "reads and writes of scores by plain attention in the backward pass: the gradients of softmax and dropout"
        " read two tensors and write one",
    ).value,
)
COMPILED_SCORE_PASSES = (
    assumed_figure(
        KERNELS,
        "scores.compiled.forward",
        2.0,
        "reads and writes of scores by plain attention where a compiler fuses scale, mask, softmax and dropout"
        " (XLA): one read for the maximum and one for the sum; the rest is computed where the products write and"
        " read the scores",
    ).value,
    assumed_figure(
        KERNELS,
        "scores.compiled.backward",
        3.0,
        "reads and writes of scores in the backward pass where a compiler fuses these operations (XLA): the"
        " softmax and its gradient are read, and the gradient of the scores is written",
    ).value,
)
FLASH_BACKWARD = assumed_figure(
    KERNELS,
    "flash.backward",
    2.5,
    "GEMMs in the backward pass of flash attention, relative to the forward pass: five to two, since the backward "
    "pass recomputes the scores (FlashAttention-2, arXiv 2307.08691)",
).value
FLASH_BACKWARD_TRAFFIC = assumed_figure(
    KERNELS,
    "flash.backward.traffic",
    2.5,
    "reads and writes of the backward core, relative to the forward core: queries, keys, values, outputs and gradients",
).value
SOFTMAX_BATCHES = 4
"""Fused softmax kernels of Megatron-LM and Apex need a multiple of this many score matrices on a rank (sequences of the
micro-batch times heads); else PyTorch's operations run one by one (Megatron-LM, fused_softmax.py, is_kernel_available).
"""
SOFTMAX_STEPS = assumed_figure(
    KERNELS,
    "softmax.steps",
    4.0,
    "additional operations of an unfused softmax: cast, scale, mask, softmax and cast instead of one"
    " (Megatron-LM, fused_softmax.py, forward_torch_softmax)",
).value
WINDOW_BLOCK = assumed_figure(
    KERNELS,
    "attention.block",
    128.0,
    "queries of one block of sliding-window attention; a block reads its own keys and those of its window "
    "(FlashAttention at 0251105a,"
    " hopper/tile_size.h, heads of 128; 192 with heads of 64, 256 on Blackwell)",
).value
SOFTMAX_PASSES = assumed_figure(
    KERNELS,
    "softmax.passes",
    16.0,
    "additional reads and writes of the scores by an unfused softmax, which works in 32 bits, in each pass; counted "
    "in units of 16 bits",
).value


def attention_projections(shard: Shard) -> Work:
    """The weight matrices before the core."""
    model = shard.model
    if model.latent:
        return _latent_compressions(shard) + _latent_expansions(shard) + output_gate(shard)
    values = 0.0 if model.shared_kv else shard.kv_heads * model.value_width
    width = (shard.heads + shard.kv_heads) * model.head_dim + values
    return linear_work(
        "query, key, value", GemmShape(shard.tokens, model.hidden, width), shard.precision
    ) + output_gate(shard)


def output_gate(shard: Shard) -> Work:
    """The gate on the output of attention: one number per head, or per element."""
    model = shard.model
    outputs = {"none": 0.0, "head-wise": shard.heads, "element-wise": shard.heads * model.value_width}
    shape = GemmShape(shard.tokens, model.hidden, outputs[model.attention_gate])
    if is_zero(shape.n):
        return Work()
    moved = shard.width * shard.tokens * (shape.n + 2 * shard.heads * model.value_width)
    applied = streaming_work("attention gate", (moved, 2 * moved), role=Role.LIGHT)
    return linear_work("attention gate", shape, shard.precision) + applied


def _latent_compressions(shard: Shard) -> Work:
    """The compressions of multi-head latent attention (DeepSeek-V2, arXiv 2405.04434).

    Tensor parallelism does not shard them: each rank applies them to its own rows. Without compressed queries, the
    queries are projected from the hidden state.
    """
    model, precision = shard.model, shard.precision
    keys = GemmShape(shard.rows, model.hidden, model.latent_kv + model.latent_rope)
    queries = GemmShape(shard.rows, model.hidden, model.latent_q)
    if not model.latent_q:
        queries = GemmShape(shard.tokens, model.hidden, _query_width(shard))
    return linear_work("key-value compression", keys, precision) + linear_work("query compression", queries, precision)


def _latent_expansions(shard: Shard) -> Work:
    """The projections from the latents to heads."""
    model, precision = shard.model, shard.precision
    wide = GemmShape(shard.tokens, model.latent_kv, shard.heads * (model.head_dim + model.value_width))
    keys = linear_work("key-value expansion", wide, precision, Role.LIGHT)
    if not model.latent_q:
        return keys
    shape = GemmShape(shard.tokens, model.latent_q, _query_width(shard))
    return keys + linear_work("query expansion", shape, precision, Role.LIGHT)


def _query_width(shard: Shard) -> float:
    return shard.heads * (shard.model.head_dim + shard.model.latent_rope)


def output_projection(shard: Shard) -> Work:
    """The weight matrix after the core."""
    shape = GemmShape(shard.tokens, shard.heads * shard.model.value_width, shard.model.hidden)
    return linear_work("attention output", shape, shard.precision)


def rotary_embedding(shard: Shard) -> Work:
    """Rotary embedding of queries and keys: each is read and written once in each pass."""
    elements = shard.tokens * (shard.heads + shard.kv_heads) * shard.model.head_dim
    moved = 2 * shard.width * elements
    return streaming_work("rotary embedding", (moved, moved))


def position_work(shard: Shard) -> Work:
    """What runs between the projections of queries and keys and the core: rotary embedding, and norms of heads where
    operations run one by one. The fitted traffic of other programs includes these norms, as models with them are among
    the runs of the fit.
    """
    block = shard.model.block
    rotates = not shard.model.learned_positions and (block is None or block.positions in ("", "rope"))
    found = head_norms(shard) if shard.eager and block is not None and block.qk_norm else Work()
    return found + rotary_embedding(shard) if rotates else found


def head_norms(shard: Shard) -> Work:
    """Norms of queries and keys: one read and one write forward; two reads and one write backward."""
    moved = shard.width * shard.tokens * (shard.heads + shard.kv_heads) * shard.model.head_dim
    return streaming_work("norms of queries and keys", (2 * moved, 3 * moved), 2, Role.LIGHT)


def attention_core(shard: Shard, score_passes: tuple[float, float]) -> Work:
    """Scores, softmax and the weighted sum, as flash or as plain kernels.

    ``score_passes`` counts how often plain kernels read or write the whole score matrix between
    the two products, forward and backward.
    """
    if not shard.flash:
        return _plain_attention(shard, score_passes)
    model = shard.model
    flops = compute.core_flops(
        unmasked_pairs(shard), shard.heads, model.head_dim + model.latent_rope, model.value_width
    )
    return flash_attention(shard, flops, _blocks_of_window(shard))


def dense_attention_core(shard: Shard) -> Work:
    """The work of the attention core over all keys, with the usual passes of plain kernels over the scores."""
    return attention_core(shard, COMPILED_SCORE_PASSES if shard.compiled else SCORE_PASSES)


def unmasked_pairs(shard: Shard) -> float:
    """Unmasked query-key pairs of one micro-batch on one rank. Context parallelism is assumed to balance them over its
    ranks.
    """
    window = shard.model.window
    return windowed_pairs(shard, window.tokens if window and shard.mixer is Mixer.WINDOW else shard.length)


def windowed_pairs(shard: Shard, tokens: float) -> float:
    """Unmasked pairs where every query attends to the last ``tokens`` tokens."""
    return shard.sequences * compute.causal_pairs(shard.length, tokens) / shard.cp


def flash_attention(shard: Shard, flops: float, blocks: tuple[float, float] | None = None) -> Work:
    """Flash kernels of ``flops`` operations: they skip masked blocks and recompute scores in the backward pass.

    ``blocks`` is the length of a sequence whose blocks read as many keys, and the part of that length whose pairs
    count; without ``blocks``, both equal the length.
    """
    model = shard.model
    width_qk, width_v = model.head_dim + model.latent_rope, model.value_width
    elements = shard.tokens * (shard.heads * (width_qk + 2 * width_v) + 2 * shard.kv_heads * width_qk)
    moved = shard.width * elements
    reach, used = blocks or (shard.length, shard.length)
    shape = GemmShape(reach, (width_qk + width_v) / 2, used, shard.sequences * shard.heads)
    there = Kernel("flash attention", flops, moved, "attention_forward", shape)
    back = Kernel(
        "flash attention: gradient",
        FLASH_BACKWARD * flops,
        FLASH_BACKWARD_TRAFFIC * moved,
        "attention_backward",
        shape,
        launches=2,
    )
    return Work((there,), (back,))


def _blocks_of_window(shard: Shard) -> tuple[float, float]:
    """The length of a causal sequence that reads the same number of keys per query block as this windowed one, and the
    part of that length that counts as useful pairs. Without a window, both are the length of this sequence.

    Every block of queries reads the keys of its window and its own. A causal sequence of L tokens reads L / 2 plus half
    a block of keys for each query. A sequence of 2 w + B tokens therefore reads as much as a window of w, and uses w of
    the w + B / 2 keys.
    """
    window = shard.model.window
    if window is None or shard.mixer is not Mixer.WINDOW:
        return shard.length, shard.length
    reach = smaller(shard.length, 2 * window.tokens + WINDOW_BLOCK)
    return reach, smaller(reach, 2 * window.tokens)


def _plain_attention(shard: Shard, score_passes: tuple[float, float]) -> Work:
    """Plain kernels compute every pair, masked or not; the softmax is one kernel, or runs operation by operation."""
    queries, batch, model = shard.length / shard.cp, shard.sequences * shard.heads, shard.model
    scores = gemm_kernel("scores", GemmShape(queries, model.head_dim, shard.length, batch), shard.kept)
    values = gemm_kernel("weighted values", GemmShape(queries, shard.length, model.value_width, batch), shard.kept)
    back = tuple(kernel._replace(name=f"{kernel.name}: gradient") for kernel in (scores, scores, values, values))
    apart = 1.0 if shard.eager else 0.0 if shard.compiled else 1.0 * (batch % SOFTMAX_BATCHES != 0)
    passes = tuple(once + apart * SOFTMAX_PASSES for once in score_passes)
    if shard.eager:
        from clusterspec.cost.compute.eager import eager_score_passes  # few designs need it

        passes = eager_score_passes(shard)
    there, again = (compute.score_traffic(queries, shard.length, batch, each) for each in passes)
    role = Role.COUNTED if shard.eager else Role.PLAIN
    return Work((scores, values), back) + streaming_work(
        "softmax and dropout", (there, again), 3 + apart * SOFTMAX_STEPS, role
    )


# The rate of attention where heads are narrower, or sequences shorter, than those that it was measured with

WIDTH = assumed_figure(
    KERNELS,
    "attention.width",
    128.0,
    "head dimension at which the attention rates of the catalog were measured; wider heads count as this width",
).value
EXPONENTIALS = assumed_figure(
    KERNELS,
    "attention.exponentials",
    0.5,
    "time of the exponentials divided by the time of the GEMMs of attention in the forward pass, at that head "
    "dimension, for accelerators without a figure: as on H100 and Blackwell Ultra (FlashAttention-3, "
    "arXiv 2407.08608, section 3.1)",
).value
BACKWARD_EXPONENTIALS = assumed_figure(
    KERNELS,
    "attention.exponentials.backward",
    0.4,
    "exponentials per GEMM in the backward pass of attention, relative to the forward pass: one for five GEMMs "
    "instead of one for two (FlashAttention-2, arXiv 2307.08691, algorithm 2)",
).value


FLASH_2, PYTORCH = "flash-2", "pytorch"
FLASH_2_YEAR = 2024
"""The last year in which FlashAttention-2 was the newest FlashAttention for current accelerators."""


def attention_library(workload: Workload, stack: Stack) -> str:
    """The library whose attention kernels a stack runs; none where the workload names other kernels."""
    return stack.attention_library if workload.attention != FLASH_2 else ""


def attention_year(workload: Workload, stack: Stack, year: int) -> int:
    """The year of the attention kernels; those without the instructions of later accelerators keep their year."""
    newest = max(year, stack.attention_year)
    return min(newest, FLASH_2_YEAR) if runs_older_kernels(workload, stack) else newest


def runs_older_kernels(workload: Workload, stack: Stack) -> bool:
    """Whether attention runs without the instructions of Hopper and Blackwell: FlashAttention-2, or FlexAttention in
    Triton, which PyTorch runs for models with sinks, as its other kernels have none (torchtitan, models/gpt_oss).
    """
    block = workload.model.block
    sinks = block is not None and bool(block.sinks)
    return workload.attention == FLASH_2 or (sinks and stack.attention_library == PYTORCH)


def attention_length(accelerator: Accelerator, library: str = "") -> float:
    """The sequence length in tokens at which attention kernels reach half of their long-sequence rate: measured for the
    kernels of ``library`` or for any kernels on the accelerator, else an assumed length.
    """
    known = accelerator.achievable
    measured = known.get(f"attention.{library}.length") or known.get("attention.length")
    return LENGTH_START if measured is None else measured.value


def fixed_shares(accelerator: Accelerator) -> tuple[float, float]:
    """The shares of attention time, forward and backward, that do not shrink with narrower heads. This is the time of
    exponentials; on a systolic array it is all of the time, since narrow heads leave columns idle.
    """
    if accelerator.array:
        return 1.0, 1.0
    stated = accelerator.achievable.get("attention.exponentials")
    each = EXPONENTIALS if stated is None else stated.value
    return fixed_share(each, 1.0), fixed_share(each, BACKWARD_EXPONENTIALS)


def width_share(width: float, fixed: float) -> float:
    """The ratio of a pass's rate at a head dimension ``width`` to its rate at the usual one; ``fixed`` is from
    `fixed_shares`.
    """
    return head_fill(smaller(1.0, width / WIDTH), fixed)


# Token mixing of one layer by part: softmax attention, attention to selected keys, a recurrence, or none


def mixing_parts(shard: Shard) -> Mapping[str, Work]:
    """The parts of a layer before its feed-forward network, in the order of the forward pass."""
    if shard.mixer is Mixer.NONE:
        return {}
    model = shard.model
    if shard.mixer is Mixer.LINEAR and model.linear:
        from clusterspec.cost.compute.recurrence import recurrence_parts

        return recurrence_parts(shard, model.linear)
    if model.compressed or model.sparse:
        from clusterspec.cost.compute.sparse_attention import sparse_parts

        return sparse_parts(shard)
    return {
        "projections": attention_projections(shard),
        "rotary": position_work(shard),
        "core": dense_attention_core(shard),
        "output": output_projection(shard),
    }
