"""Kernels of softmax attention in one layer: grouped-query, latent, compressed and sparse, from projections to
output; and their rate where heads are narrower, or sequences shorter, than those that it was measured with.
"""

from __future__ import annotations

from clusterspec.catalog.entries import Accelerator
from clusterspec.catalog.models import CompressedAttention, SparseAttention
from clusterspec.catalog.stacks import Stack
from clusterspec.cluster.model import Workload
from clusterspec.cost import assumed_figure
from clusterspec.cost.compute import (
    FLASH_BACKWARD,
    FLASH_BACKWARD_TRAFFIC,
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
    work_share,
)
from clusterspec.cost.formulas import attention as formulas
from clusterspec.cost.formulas.attention import compressed_entries, core_flops
from clusterspec.cost.formulas.compute import fixed_share, head_fill, is_zero, smaller
from clusterspec.cost.layers import Mixer
from clusterspec.cost.mixers import OVERLAPPING

SOFTMAX_BATCHES = 4
"""Fused softmax kernels of Megatron-LM and Apex need a multiple of this many score matrices on a rank (sequences of the
micro-batch times heads); else PyTorch's operations run one by one (Megatron-LM, fused_softmax.py, is_kernel_available).
"""
SOFTMAX_STEPS = assumed_figure(
    KERNELS,
    "softmax.steps",
    4.0,
    "further operations of a softmax that is not fused: cast, scale, mask, softmax and cast instead of one"
    " (Megatron-LM, fused_softmax.py, forward_torch_softmax)",
).value
WINDOW_BLOCK = assumed_figure(
    KERNELS,
    "attention.block",
    128.0,
    "queries of one block, which reads the keys of its window and its own (FlashAttention at 0251105a,"
    " hopper/tile_size.h, heads of 128; 192 with heads of 64, 256 on Blackwell)",
).value
SOFTMAX_PASSES = assumed_figure(
    KERNELS,
    "softmax.passes",
    16.0,
    "further reads and writes of the scores, in 16 bits, that these operations make in 32 bits, either way",
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


def attention_core(shard: Shard, score_passes: tuple[float, float]) -> Work:
    """Scores, softmax and the weighted sum, as flash or as plain kernels.

    ``score_passes`` counts how often plain kernels read or write the whole score matrix between
    the two products, forward and backward.
    """
    if not shard.flash:
        return _plain_attention(shard, score_passes)
    model = shard.model
    flops = formulas.core_flops(
        unmasked_pairs(shard), shard.heads, model.head_dim + model.latent_rope, model.value_width
    )
    return flash_attention(shard, flops, _blocks_of_window(shard))


def unmasked_pairs(shard: Shard) -> float:
    """Unmasked pairs of one micro-batch on one rank; context parallelism is assumed to balance them across ranks."""
    window = shard.model.window
    return windowed_pairs(shard, window.tokens if window and shard.mixer is Mixer.WINDOW else shard.length)


def windowed_pairs(shard: Shard, tokens: float) -> float:
    """Unmasked pairs where every query attends to the last ``tokens`` tokens."""
    return shard.sequences * formulas.causal_pairs(shard.length, tokens) / shard.cp


def flash_attention(shard: Shard, flops: float, blocks: tuple[float, float] | None = None) -> Work:
    """Flash kernels of ``flops`` operations: they skip masked blocks and recompute scores in the backward pass.

    ``blocks`` is the length of a sequence whose blocks read as many keys, and the part of it whose pairs count; both
    are the length where nothing is given.
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
    """The length of a causal sequence whose blocks of queries read as many keys as those of this one do, and the part
    of it whose pairs count: all of it without a window.

    Every block of queries reads the keys of its window and its own. A causal sequence of L tokens reads L / 2 and half
    a block for each query, so that one of 2 w + B tokens reads what a window of w does, and uses w of w + B / 2.
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
    passes = (once + apart * SOFTMAX_PASSES for once in score_passes)
    there, again = (formulas.score_traffic(queries, shard.length, batch, each) for each in passes)
    role = Role.COUNTED if shard.eager else Role.PLAIN
    return Work((scores, values), back) + streaming_work(
        "softmax and dropout", (there, again), 3 + apart * SOFTMAX_STEPS, role
    )


# Attention of one layer to compressed key-value entries (DeepSeek-V4, arXiv 2606.19348, section 2)


def compressed_projections(shard: Shard, part: CompressedAttention) -> Work:
    """Compressed queries, the shared vector of keys and values, its compressors, and queries of heads."""
    model, precision = shard.model, shard.precision
    down = GemmShape(shard.rows, model.hidden, part.q + model.head_dim)
    up = GemmShape(shard.tokens, part.q, shard.heads * model.head_dim)
    work = linear_work("query and key-value compression", down, precision)
    if shard.mixer is Mixer.FULL:
        work += linear_work(
            "compression of entries", GemmShape(shard.rows, model.hidden, _compressor_width(shard, part)), precision
        )
    return work + linear_work("query expansion", up, precision, Role.LIGHT)


def _compressor_width(shard: Shard, part: CompressedAttention) -> float:
    """The value and the gate that form entries, and keys of the index in light layers."""
    model = shard.model
    index = model.sparse.index_dim if model.sparse else 0
    return part.mean_over_layers(2 * OVERLAPPING * (model.head_dim + index), 2 * model.head_dim)


def compressed_core(shard: Shard, part: CompressedAttention) -> Work:
    """Scores and values of the last tokens and of compressed entries before them: all entries, or the entries that an
    index selects.
    """
    window, model = shard.model.window, shard.model
    pairs = windowed_pairs(shard, part.window or (window.tokens if window else 0))
    if shard.mixer is Mixer.FULL:
        chosen = model.sparse.tokens * part.light_ratio if model.sparse else shard.length
        light = compressed_entries(windowed_pairs(shard, chosen), part.light_ratio)
        heavy = compressed_entries(windowed_pairs(shard, shard.length), part.heavy_ratio)
        pairs += part.mean_over_layers(light, heavy)
    return flash_attention(shard, core_flops(pairs, shard.heads, model.head_dim, model.head_dim))


def compressed_output(shard: Shard, part: CompressedAttention) -> Work:
    """The output projection of each group of heads to its rank, and of all groups to the hidden width."""
    model, groups = shard.model, part.output_groups / shard.tp
    each = GemmShape(shard.tokens, model.heads * model.head_dim / part.output_groups, part.output_rank, groups)
    whole = GemmShape(shard.tokens, groups * part.output_rank, model.hidden)
    return linear_work("output of groups", each, shard.precision) + linear_work(
        "attention output", whole, shard.precision
    )


# Sparse attention of one layer: the index that ranks keys, and the core over the selected keys

SPARSE = "sparse attention"
SCORE_BYTES = assumed_figure(
    SPARSE,
    "score",
    8.0,
    "moved per score of the index: written in 32 bits, and read to select the highest",
    "B",
).value


def indexed_share(shard: Shard, part: SparseAttention) -> float:
    """The share of the layers with full attention that have an index."""
    return min(1.0, part.layers / max(1, shard.model.full_layers))


def index_projections(shard: Shard, part: SparseAttention) -> Work:
    """Queries of the index with their weights, and the index keys unless compression computes them with the entries."""
    model = shard.model
    width = model.compressed.q if model.compressed else model.latent_q or model.hidden
    keys = part.index_heads + (0 if model.compressed else part.index_dim)
    queries = GemmShape(shard.rows, width, part.index_heads * part.index_dim)
    work = linear_work("index queries", queries, shard.precision)
    return work_share(
        work + linear_work("index keys", GemmShape(shard.rows, model.hidden, keys), shard.kept),
        indexed_share(shard, part),
    )


def index_scores(shard: Shard, part: SparseAttention) -> Work:
    """Scores of all keys before a query, and the selection; gradients flow through the selected keys only."""
    ratio = shard.model.compressed.light_ratio if shard.model.compressed else 1
    own = shard.rows / shard.tokens
    every, chosen = (
        own * compressed_entries(windowed_pairs(shard, tokens), ratio) for tokens in (shard.length, part.tokens * ratio)
    )
    shape = GemmShape(shard.length, part.index_dim, shard.length, shard.sequences * part.index_heads)
    flops = (
        core_flops(every, part.index_heads, part.index_dim, 0),
        core_flops(chosen, part.index_heads, part.index_dim, 0),
    )
    there = Kernel("index scores", flops[0], 0.0, "attention_forward", shape)
    back = Kernel("index scores: gradient", 2 * flops[1], 0.0, "attention_backward", shape)
    choice = streaming_work("choice of keys", (SCORE_BYTES * every, SCORE_BYTES * chosen), 2)
    return work_share(Work((there,), (back,)) + choice, indexed_share(shard, part))


def index_core(shard: Shard, part: SparseAttention) -> Work:
    """The core over selected keys, and over all keys in layers without an index.

    Latent attention then scores and sums the latents, which all heads share.
    """
    model, some = shard.model, indexed_share(shard, part)
    chosen, every = windowed_pairs(shard, part.tokens), windowed_pairs(shard, shard.length)
    plain = model.head_dim + model.latent_rope, model.value_width
    widths = (model.latent_kv + model.latent_rope, model.latent_kv) if model.latent else plain
    flops = some * core_flops(chosen, shard.heads, *widths) + (1 - some) * core_flops(every, shard.heads, *plain)
    return flash_attention(shard, flops)


# The rate of attention where heads are narrower, or sequences shorter, than those that it was measured with

WIDTH = assumed_figure(
    KERNELS,
    "attention.width",
    128.0,
    "head dimension at which the rates of attention of the catalog hold; wider heads count as this wide",
).value
EXPONENTIALS = assumed_figure(
    KERNELS,
    "attention.exponentials",
    0.5,
    "time of the exponentials of attention over that of its products, forward, at that head dimension, for accelerators"
    " without a figure: as on H100 and Blackwell Ultra (FlashAttention-3, arXiv 2407.08608, section 3.1)",
).value
BACKWARD_EXPONENTIALS = assumed_figure(
    KERNELS,
    "attention.exponentials.backward",
    0.4,
    "exponentials for each product in the backward pass of attention over those in the forward pass: one for five"
    " products, where the forward pass has two (FlashAttention-2, arXiv 2307.08691, algorithm 2)",
).value


FLASH_2 = "flash-2"
FLASH_2_YEAR = 2024
"""The last year in which FlashAttention-2 was the newest of its kernels on the accelerators of the day."""


def attention_library(workload: Workload, stack: Stack) -> str:
    """The library whose attention kernels a stack runs; none where the workload names other kernels."""
    return stack.attention_library if workload.attention != FLASH_2 else ""


def attention_year(workload: Workload, stack: Stack, year: int) -> int:
    """The year of the attention kernels; FlashAttention-2 kernels keep their year on later accelerators."""
    newest = max(year, stack.attention_year)
    return min(newest, FLASH_2_YEAR) if workload.attention == FLASH_2 else newest


def attention_length(accelerator: Accelerator, library: str = "") -> float:
    """The sequence length in tokens at which attention kernels reach half of their long-sequence rate: as measured on
    the accelerator, with the kernels of ``library`` if there is such a figure, else the usual one.
    """
    known = accelerator.achievable
    measured = known.get(f"attention.{library}.length") or known.get("attention.length")
    return LENGTH_START if measured is None else measured.value


def fixed_shares(accelerator: Accelerator) -> tuple[float, float]:
    """The share of attention's time at the usual head dimension that narrower heads do not shorten, forward and
    backward: that of its exponentials; all of it on a systolic array, whose columns narrow heads do not fill.
    """
    if accelerator.array:
        return 1.0, 1.0
    stated = accelerator.achievable.get("attention.exponentials")
    each = EXPONENTIALS if stated is None else stated.value
    return fixed_share(each, 1.0), fixed_share(each, BACKWARD_EXPONENTIALS)


def width_share(width: float, fixed: float) -> float:
    """The rate at a head dimension over that at the usual one, of a pass with this ``fixed`` share."""
    return head_fill(smaller(1.0, width / WIDTH), fixed)
