"""The numbers of nodes of a pool that a search over a fleet tries."""

from __future__ import annotations

from collections.abc import Iterable

FEW = 16
"""Sizes, in whole domains, up to which every size of a pool is tried."""


def pool_sizes_to_try(nodes: int, domain: int, stated_sizes: Iterable[int] = ()) -> list[int]:
    """The sizes to try on a pool, in whole domains. A small pool is tried at all sizes. For larger pools, the sizes are
    powers of two, three times powers of two, and the pool's size minus each of these.

    >>> pool_sizes_to_try(4, 1), pool_sizes_to_try(54, 18)
    ([1, 2, 3, 4], [18, 36, 54])
    >>> pool_sizes_to_try(64, 1)
    [1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 40, 48, 52, 56, 58, 60, 61, 62, 63, 64]
    """
    unit = max(1, min(domain, nodes))
    whole = nodes // unit
    steps = {factor << power for power in range(whole.bit_length()) for factor in (1, 3)}
    tried = range(1, whole + 1) if whole <= FEW else {size for step in steps for size in (step, whole - step)} | {whole}
    written = {size for size in stated_sizes if size <= nodes and size % unit == 0}
    return sorted({size * unit for size in tried if 0 < size <= whole} | written)
