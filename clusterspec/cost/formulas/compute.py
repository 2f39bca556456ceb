"""Element-wise helpers for numbers and columns; GEMMs, kernel times, model FLOPs and utilization."""

from __future__ import annotations

from math import expm1

from clusterspec.cost.formulas import Column, array_library, formula
from clusterspec.standard import cast

Number = float
"""A number, or a column of numbers."""
NUMBERS = (float, int)  # `float | int` would be created for each question
LARGEST_EXPONENT = 700.0  # near the largest exponent of e whose power is a floating-point number


def larger(first: float, second: float) -> float:
    """The larger of two, element by element.

    >>> larger(3.0, 5.0)
    5.0
    """
    if isinstance(first, NUMBERS) and isinstance(second, NUMBERS):
        return float(first if first >= second else second)
    # NOTE: max() does not work on columns: it asks for one truth value of a comparison that has one per row.
    return cast(float, array_library(first, second).maximum(first, second))


def smaller(first: float, second: float) -> float:
    """The smaller of two, element by element.

    >>> smaller(3.0, 5.0), smaller(1e17, 1)
    (3.0, 1.0)
    """
    if isinstance(first, NUMBERS) and isinstance(second, NUMBERS):
        return float(first if first <= second else second)
    return cast(float, array_library(first, second).minimum(first, second))


def positive_part(value: float) -> float:
    """The value, at least zero: max(0, x).

    >>> positive_part(-2.0), positive_part(2.0)
    (0.0, 2.0)
    """
    return larger(value, 0.0)


def rounded_up(value: float, multiple: float = 1) -> float:
    """The next whole multiple at or above a value: ⌈x / m⌉ m.

    Range: multiple > 0.

    >>> rounded_up(130, 128), rounded_up(128, 128)
    (256, 128)
    """
    return -(-value // multiple) * multiple


def value_where(condition: bool, yes: float, no: float) -> float:
    """``yes`` where the condition holds, else ``no``; the condition may be a column.

    >>> value_where(2.0 > 1.0, 3.0, 4.0)
    3.0
    """
    if isinstance(condition, bool):
        return yes if condition else no
    return cast(float, array_library(condition).where(condition, yes, no))


def is_zero(size: float) -> bool:
    """Whether a size is zero. A column is zero in all rows or in none.

    >>> is_zero(0.0), is_zero(2.0)
    (True, False)
    """
    return size == 0 if isinstance(size, NUMBERS) else not cast(Column, size).any()


def unaligned_rows(width: float) -> float:
    """1 where rows of ``width`` numbers of 16 bits do not start at multiples of 16 bytes, else 0. A part of a number is
    a whole one, as ranks divide padded rows.

    >>> unaligned_rows(50257), unaligned_rows(50304), unaligned_rows(50257 / 4)
    (1.0, 0.0, 1.0)
    """
    return value_where(-(-width // 1) % 8 == 0, 0.0, 1.0)


def is_divided(degree: float) -> bool:
    """Whether a degree divides anything, that is, exceeds one. A column exceeds one in all rows or in none.

    >>> is_divided(1), is_divided(8)
    (False, True)
    """
    return degree > 1 if isinstance(degree, NUMBERS) else (cast(Column, degree) > 1).any()


def power(base: float, exponent: float) -> float:
    """A number at or above zero to a power.

    >>> power(9.0, 0.5)
    3.0
    """
    return cast(float, base**exponent)


def exponential_less_one(value: float) -> float:
    """exp(x) - 1 of a number or a column, exact near 0; for x above 700 it returns the value at 700, near the largest
    number.

    >>> exponential_less_one(1e-12), round(exponential_less_one(1.0), 6)
    (1.0000000000005e-12, 1.718282)
    """
    within = smaller(value, LARGEST_EXPONENT)
    return expm1(within) if isinstance(within, NUMBERS) else cast(float, array_library(within).expm1(within))


# Operations and traffic of one GEMM, and the loss to tile quantization


@formula("2 * m * k * n")
def gemm_flops(m: float, k: float, n: float) -> float:
    """Operations of an (m × k)(k × n) product, a multiplication and an addition each: F = 2 m k n.

    >>> gemm_flops(2, 3, 4)
    48
    """
    return 2 * m * k * n


@formula("width_in * (m * k + k * n) + width_out * m * n")
def gemm_traffic(m: float, k: float, n: float, width_in: float = 2, width_out: float = 2) -> float:
    """Bytes read and written when each operand crosses the memory once.

    B = w_in (m k + k n) + w_out m n, ``width_in`` and ``width_out`` in bytes per element.

    >>> gemm_traffic(2, 3, 4)
    52
    """
    return width_in * (m * k + k * n) + width_out * m * n


@formula("batch * m * n / (ceil(batch * ceil(m / tile_m) * ceil(n / tile_n) / units) * units * tile_m * tile_n)")
def tile_fill(m: float, n: float, tile_m: float, tile_n: float, *, batch: float = 1, units: float = 1) -> float:
    """The share of the compute units' time that is useful: tile and wave quantization.

    The product is cut into ⌈m / tile_m⌉ ⌈n / tile_n⌉ tiles of each of ``batch`` products, which
    run ``units`` at a time; the last wave and the edge tiles are paid in full.

    Source: NVIDIA, "Matrix Multiplication Background User's Guide", sections on tile and wave
    quantization, docs.nvidia.com/deeplearning/performance.

    Range: tile_m >= 1, tile_n >= 1, units >= 1, m >= 1, n >= 1, batch >= 1.

    >>> tile_fill(256, 256, 128, 128, units=4)
    1.0
    >>> tile_fill(256, 256, 128, 128, units=3)
    0.6666666666666666
    """
    tiles = batch * (rounded_up(m, tile_m) // tile_m) * (rounded_up(n, tile_n) // tile_n)
    return (batch * m * n) / (rounded_up(tiles, units) * tile_m * tile_n)


@formula("k / (k + start)")
def depth_fill(k: float, start: float) -> float:
    """The share of a tile's time spent multiplying: e = k / (k + k₀).

    ``start`` (k₀) is the depth whose multiplication takes as long as loading the first operands
    and storing the result.

    Range: k > 0.

    >>> depth_fill(1024, 64)
    0.9411764705882353
    """
    return k / (k + start)


@formula("width / ((1 - fixed) * width + fixed)")
def head_fill(width: float, fixed: float) -> float:
    """The rate of attention at narrow heads, relative to the usual width: e = w / ((1 − f)·w + f).

    ``width`` (w) is the head dimension over the usual one. ``fixed`` (f) is the share of the time at the usual width
    that does not shrink with the width: exponentials, one for each score at any width, or the columns of a systolic
    array, which a narrow head occupies in full.

    Source: Shah et al., *FlashAttention-3*, 2024 (arXiv 2407.08608), section 3.1.

    Range: width > 0, fixed >= 0, fixed <= 1.

    >>> head_fill(1.0, 0.5), head_fill(0.25, 0.5), head_fill(0.5, 1.0)
    (1.0, 0.4, 0.5)
    """
    return width / ((1 - fixed) * width + fixed)


@formula("exponentials * share / (1 + exponentials * share)")
def fixed_share(exponentials: float, share: float) -> float:
    """The share of an attention kernel's time that exponentials take: f = x·s / (1 + x·s).

    ``exponentials`` (x) is the time of the exponentials divided by the time of the products in a forward pass;
    ``share`` (s) is the number of exponentials per product, relative to a forward pass. Exponentials run after the
    products whose results they take.

    Range: exponentials >= 0, share > 0.

    >>> fixed_share(1.0, 1.0), fixed_share(2.5, 0.4)
    (0.5, 0.5)
    """
    return exponentials * share / (1 + exponentials * share)


# Time of a kernel on one device. All functions take floats or arrays


@formula("max(flops / rate, traffic / bandwidth)")
def kernel_time(flops: float, rate: float, traffic: float, bandwidth: float) -> float:
    """Seconds of a kernel bound by arithmetic or by memory: t = max(F / R, B / β).

    ``flops`` operations at ``rate`` FLOP/s, ``traffic`` bytes at ``bandwidth`` B/s (reads and
    writes together).

    Source: Williams, Waterman, Patterson, "Roofline: an insightful visual performance model for
    multicore architectures", CACM 52(4), 2009.

    Range: rate > 0, bandwidth > 0.

    >>> kernel_time(2e12, 1e12, 1e12, 2e12)
    2.0
    """
    return larger(flops / rate, traffic / bandwidth)


@formula("max(0, host - device)")
def launch_idle_time(device: float, host: float) -> float:
    """Seconds that a device waits for kernel launches of the host: t = max(0, t_host − t_device).

    Launches are asynchronous: over a run of kernels the host either stays ahead of the device, or
    the device waits until it has launched them all.

    >>> launch_idle_time(100e-6, 50e-6), launch_idle_time(1.0, 3.0)
    (0.0, 2.0)
    """
    return positive_part(host - device)


@formula("traffic / bandwidth")
def streaming_time(traffic: float, bandwidth: float) -> float:
    """Seconds of a memory-bound kernel: t = B / β.

    Source: Williams, Waterman, Patterson, CACM 52(4), 2009.

    Range: bandwidth > 0.

    >>> streaming_time(1e12, 2e12)
    0.5
    """
    return traffic / bandwidth


@formula(
    "(launches - collectives) * interval + collectives * collective_interval + expert_launches * expert_interval"
    " + shards * shard_interval"
)
def host_launch_time(
    launches: float,
    interval: float,
    *,
    collectives: float,
    collective_interval: float,
    expert_launches: float,
    expert_interval: float,
    shards: float,
    shard_interval: float,
) -> float:
    """Seconds that the host takes for the launches of a pass.

    ``collectives`` of the launches take ``collective_interval`` seconds each, all others ``interval`` seconds. Experts
    with a launch of their own take another ``expert_interval`` seconds each. The ``shards``, gathers of sharded weights
    and reductions of their gradients, take ``shard_interval`` seconds each; they are no launches.

    Range: collectives <= launches.

    >>> several = {"collectives": 4, "collective_interval": 2.0, "expert_launches": 8, "expert_interval": 0.25}
    >>> host_launch_time(10, 0.5, **several, shards=2, shard_interval=1.0)
    15.0
    """
    kernels = launches - collectives
    launched = kernels * interval + collectives * collective_interval + expert_launches * expert_interval
    return launched + shards * shard_interval


@formula("launches * gap + max(0, host - device - launches * gap)")
def launch_overhead(launches: float, device: float, host: float, gap: float) -> float:
    """Seconds that launch overhead adds to ``device`` seconds of kernels and exposed communication.

    The host takes ``host`` seconds for all launches; each leaves the device idle for ``gap`` seconds.

    >>> launch_overhead(10, 2.0, 5.0, 0.1), launch_overhead(10, 9.0, 5.0, 0.1)
    (3.0, 1.0)
    """
    gaps = launches * gap
    return gaps + launch_idle_time(device + gaps, host)


# The FLOPs of a model by the field's convention: what MFU divides by the peak


@formula("6 * layers * heads * (qk_dim + v_dim) * sequence")
def unmasked_attention_flops(layers: float, heads: float, qk_dim: float, v_dim: float, sequence: float) -> float:
    """FLOPs per token of all attention scores and values, forward and backward, as if unmasked.

    ``F = 6·L·a·(d_qk + d_v)·s``, which is ``12·L·h·s`` if the combined width of the heads equals the hidden width and
    queries are as wide as values. Causal masks do not lower F: it is a convention for comparing machines, not the work
    done. With a window or an index, s is the highest number of tokens that one token attends to.

    Source: PaLM, 2022 (arXiv 2204.02311), appendix B.

    >>> unmasked_attention_flops(80, 64, 128, 128, 8192) == 12 * 80 * 8192 * 8192
    True
    """
    return 6 * layers * heads * (qk_dim + v_dim) * sequence


@formula("6 * weights + attention")
def model_flops_per_token(weights: float, attention: float) -> float:
    """FLOPs of the model per token, forward and backward: ``F = 6·P + A``.

    P counts the weights that multiply a token: the output head and the experts that the token visits are included, the
    embedding table is not. A is the token's unmasked attention. Recomputation does not count.

    Source: PaLM, 2022 (arXiv 2204.02311), appendix B; Narayanan et al., 2021 (arXiv 2104.04473).

    >>> model_flops_per_token(7.5e9, 0)
    45000000000.0
    """
    return 6 * weights + attention


@formula("4 * weights + attention")
def frozen_flops_per_token(weights: float, attention: float) -> float:
    """FLOPs per token of a model with frozen weights, forward and backward: ``F = 4·P + A``.

    The backward pass computes the gradients of activations, which adapters need, and none of weights.

    Source: Hu et al., *LoRA*, 2021 (arXiv 2106.09685), section 4.2; Narayanan et al., 2021 (arXiv 2104.04473).

    >>> frozen_flops_per_token(7.5e9, 0)
    30000000000.0
    """
    return 4 * weights + attention


# Utilization: the share of the machine's peak that a computation achieves


@formula("flops / (devices * peak * utilization)")
def compute_time(flops: float, devices: float, peak: float, utilization: float = 1.0) -> float:
    """Seconds of an amount of work at utilization u: t = F / (n P u).

    Source: Narayanan et al., SC21, arXiv 2104.04473, section 5.1 (solved for the time).

    Range: devices >= 1, peak > 0, utilization > 0.

    >>> compute_time(1e18, 8, 1e15, 0.5)
    250.0
    """
    return flops / (devices * peak * utilization)


@formula("flops / (devices * seconds * peak)")
def utilization(flops: float, seconds: float, devices: float, peak: float) -> float:
    """The achieved share of the peak: u = F / (n t P).

    With model FLOPs, u is the MFU. With hardware FLOPs, which include recomputation, u is the HFU.

    Source: PaLM, 2022, arXiv 2204.02311, appendix B.

    Range: devices >= 1, seconds > 0, peak > 0.

    >>> utilization(1e18, 250.0, 8, 1e15)
    0.5
    """
    return flops / (devices * seconds * peak)


@formula("1 + recomputed / 3")
def recomputation_factor(recomputed: float) -> float:
    """Hardware FLOPs per FLOP of the model, HFU over MFU: 1 + r / 3.

    ``recomputed`` (r) is the share of the forward pass that is done again; the forward pass is a
    third of the model's FLOPs.

    Source: Korthikanti et al., arXiv 2205.05198, section 5 (full recomputation: 4/3).

    >>> round(recomputation_factor(1), 4), recomputation_factor(0)
    (1.3333, 1.0)
    """
    return 1 + recomputed / 3


@formula("length * min(window, length) - min(window, length) * min(window, length) / 2")
def causal_pairs(length: float, window: float) -> float:
    """Query-key pairs under a causal mask in one sequence: s²/2, or s w − w²/2 with a window w.

    The diagonal counts half, as for long sequences in a kernel that skips masked blocks. With full attention ``window``
    equals the sequence length.

    >>> causal_pairs(8.0, 8.0), causal_pairs(8.0, 2.0)
    (32.0, 14.0)
    """
    span = smaller(window, length)
    return length * span - span * span / 2


@formula("2 * pairs * heads * (width_qk + width_v)")
def core_flops(pairs: float, heads: float, width_qk: float, width_v: float) -> float:
    """Forward operations of the two products over ``pairs``: F = 2 p a (d_qk + d_v).

    The backward pass of plain attention takes twice that, of flash attention 2.5 times: it computes the scores again
    (Dao, "FlashAttention-2", arXiv 2307.08691).

    >>> core_flops(16, 1, 4, 4)
    256
    """
    return 2 * pairs * heads * (width_qk + width_v)


@formula("width * passes * heads * queries * keys")
def score_traffic(queries: float, keys: float, heads: float, passes: float, width: float = 2) -> float:
    """Bytes that plain attention moves for its score matrices: B = w n a s_q s_k.

    ``passes`` (n) counts reads and writes of the whole matrix.

    >>> score_traffic(4, 4, 2, 3)
    192
    """
    return width * passes * heads * queries * keys
