"""Operations and traffic of one GEMM, and the loss to tile quantization.

All functions take floats or arrays.
"""

from __future__ import annotations

from clusterspec.cost.expressions import formula
from clusterspec.cost.formulas.elementwise import rounded_up


@formula("2 * m * k * n")
def flops(m: float, k: float, n: float) -> float:
    """Operations of an (m × k)(k × n) product, a multiplication and an addition each: F = 2 m k n.

    >>> flops(2, 3, 4)
    48
    """
    return 2 * m * k * n


@formula("width_in * (m * k + k * n) + width_out * m * n")
def traffic(m: float, k: float, n: float, width_in: float = 2, width_out: float = 2) -> float:
    """Bytes read and written when each operand crosses the memory once.

    B = w_in (m k + k n) + w_out m n, ``width_in`` and ``width_out`` in bytes per element.

    >>> traffic(2, 3, 4)
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

    >>> depth_fill(1024, 64)
    0.9411764705882353
    """
    return k / (k + start)
