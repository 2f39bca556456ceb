"""The speed of one rank: every rate that kernels are timed with."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import reduce
from itertools import chain

from clusterspec.cost.compute.kernels import Kernel, expert_launches
from clusterspec.cost.formulas.elementwise import larger
from clusterspec.cost.formulas.matmul import depth_fill, tile_fill
from clusterspec.cost.formulas.roofline import roofline
from clusterspec.records import NamedTuple, dataclass
from clusterspec.summation import sum_of

Tile = tuple[float, float, float]
"""Rows and columns of one tile, and its rate relative to the best tile."""
TimedKernels = tuple[tuple[Kernel, float], ...]
"""Kernels with their device seconds."""


class PassKernels(NamedTuple):
    """The kernels of one pass: seconds of all of them, of the GEMMs and of the token-mixing core one after another.

    ``launches`` counts the launches of the host, ``expert_launches`` those of grouped GEMMs. ``timed`` lists the
    kernels; it is empty where the sums are columns.
    """

    timed: TimedKernels
    device: float
    gemms: float
    core: float
    launches: float
    expert_launches: float
    flops: float

    @classmethod
    def of(cls, parts: Mapping[str, TimedKernels]) -> PassKernels:
        """The kernels of the parts of a layer."""
        timed = tuple(chain.from_iterable(parts.values()))
        return cls(
            timed=timed,
            device=sum_of(seconds for _, seconds in timed),
            gemms=sum_of(seconds for kernel, seconds in timed if kernel.rate.startswith("matmul")),
            core=sum_of(seconds for _, seconds in parts.get("core", ())),
            launches=sum_of(kernel.launches for kernel, _ in timed),
            expert_launches=sum_of(expert_launches(kernel) for kernel, _ in timed),
            flops=sum_of(kernel.flops for kernel, _ in timed),
        )


NO_KERNELS = PassKernels.of({})


@dataclass(frozen=True, slots=True)
class Speed:
    """Achieved rates of one rank.

    ``rates`` FLOP/s by kernel family for shapes that fill the device; ``bandwidth`` B/s of a memory-bound kernel, reads
    and writes together; ``units`` tiles that run concurrently and ``tiles`` the available sizes (empty where the
    device's units are not known); ``depth_start`` and ``length_start`` the depth of a GEMM and the length of a sequence
    at which half the rate is reached; ``grouped`` the rate of the experts' GEMMs over that of others.
    """

    rates: Mapping[str, float]
    bandwidth: float
    units: int
    tiles: tuple[Tile, ...]
    depth_start: float
    length_start: float
    grouped: float = 1.0

    def timed(self, kernels: Iterable[Kernel]) -> TimedKernels:
        """Each kernel with its device seconds."""
        return tuple((kernel, self.seconds(kernel)) for kernel in kernels)

    def seconds(self, kernel: Kernel) -> float:
        """Device seconds of one kernel, by the roofline."""
        if not kernel.rate:
            return kernel.traffic / self.bandwidth
        rate = self.rates[kernel.rate] * self.fill(kernel)
        return roofline(kernel.flops, rate, kernel.traffic, self.bandwidth)

    def fill(self, kernel: Kernel) -> float:
        """The share of the best rate that a kernel's shape allows."""
        if kernel.shape is None:
            return 1.0
        m, k, n, batch, experts = kernel.shape
        if kernel.rate.startswith("attention"):
            return depth_fill(m, self.length_start)
        fills = [self._quantized(m, n, batch, tile) for tile in self.tiles]
        quantized = reduce(larger, fills) if fills else 1.0
        grouped = self.grouped if experts else 1.0
        return quantized * depth_fill(k, self.depth_start) * grouped

    def _quantized(self, m: float, n: float, batch: float, tile: Tile) -> float:
        rows, columns, rate = tile
        return tile_fill(m, n, rows, columns, batch=batch, units=self.units) * rate
