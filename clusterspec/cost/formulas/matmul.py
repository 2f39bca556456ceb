"""Work of one matrix multiplication, and what its tiles leave idle.

All functions take floats or arrays.
"""

from __future__ import annotations

from clusterspec.cost.formulas.elementwise import Number, rounded_up


def flops(m: Number, k: Number, n: Number) -> Number:
    """Operations of an (m × k)(k × n) product, a multiplication and an addition each: F = 2 m k n.

    >>> flops(2, 3, 4)
    48
    """
    return 2 * m * k * n


def traffic(m: Number, k: Number, n: Number, width_in: Number = 2, width_out: Number = 2) -> Number:
    """Bytes read and written when each operand crosses the memory once.

    B = w_in (m k + k n) + w_out m n, ``width_in`` and ``width_out`` in bytes an element.

    >>> traffic(2, 3, 4)
    52
    """
    return width_in * (m * k + k * n) + width_out * m * n


def tile_fill(m: Number, n: Number, tile_m: Number, tile_n: Number, *, batch: Number = 1, units: Number = 1) -> Number:
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


def depth_fill(k: Number, start: Number) -> Number:
    """The share of a tile's time spent multiplying: e = k / (k + k₀).

    ``start`` (k₀) is the depth whose multiplication takes as long as loading the first operands
    and storing the result.

    >>> depth_fill(1024, 64)
    0.9411764705882353
    """
    return k / (k + start)
