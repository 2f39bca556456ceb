"""Achieved rates of one rank in FLOP/s and B/s, and the device seconds of kernels at these rates."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import lru_cache, reduce
from itertools import chain
from math import inf, prod

from clusterspec.catalog.entries import Accelerator
from clusterspec.cluster.model import Assumption, Cluster, Workload
from clusterspec.cost import assumed_figure
from clusterspec.cost.compute import (
    DEPTH_START,
    KERNELS,
    TILES,
    USUAL,
    Kernel,
    Role,
    expert_launches,
)
from clusterspec.cost.compute.attention import (
    attention_length,
    attention_library,
    attention_year,
    fixed_shares,
    width_share,
)
from clusterspec.cost.compute.layer import SoftwareBehavior
from clusterspec.cost.formulas.compute import NUMBERS, depth_fill, kernel_time, larger, smaller, tile_fill
from clusterspec.quantity import Figure
from clusterspec.records import NamedTuple, dataclass
from clusterspec.source import Assumed
from clusterspec.standard import sum_of

TimedKernels = tuple[tuple[Kernel, float], ...]
"""Kernels with their device seconds."""
GATHER_BANDWIDTH = assumed_figure(
    KERNELS,
    "gather.bandwidth",
    0.62e12,
    "highest bandwidth of PyTorch's gathers of rows while a thread copies one 16-bit number: 4,096 rows of 5,120"
    " in 0.136 ms on H100 (pytorch/pytorch, issue 151612 of April 2025), 8,192 of 4,096 in 0.224 ms (issue 121389);"
    " later releases copy 16 bytes",
    "B/s",
)
SCATTER_BANDWIDTH = assumed_figure(
    KERNELS,
    "scatter.bandwidth",
    0.38e12,
    "highest bandwidth of PyTorch's sums into rows, with one atomic addition for each number of 16 bits: 8,192"
    " rows of 1,024 in 0.132 ms, each number read twice and written (PaddlePaddle/Paddle, pull request 48056)",
    "B/s",
)
SCAN_BANDWIDTH = assumed_figure(
    KERNELS,
    "scan.bandwidth",
    0.63,
    "share of the bandwidth of streaming kernels that a recurrence in chunks reaches in five kernels: 10.7 to 12.9"
    " million tokens a second from 4,096 to 262,144 tokens of 128 heads of Mamba-2 on H100, each of which moves 148 kB"
    " (github.com/vllm-project/vllm pull request 27299, the original kernels; geometric mean)",
)
SCAN_UNIT = assumed_figure(
    KERNELS,
    "scan.unit",
    13.1e9,
    "highest bandwidth of one compute unit in a recurrence in chunks: the same measurement, on 132 units; GB200"
    " trains Mamba-2 1.51 times as fast as H200, with 1.67 times its bandwidth and 1.15 times its units"
    " (github.com/state-spaces/mamba issue 904)",
    "B/s",
)
UNALIGNED_UNIT = assumed_figure(
    KERNELS,
    "unaligned.unit",
    0.9e12,
    "highest rate of one compute unit of NVIDIA in products whose rows of 16-bit numbers do not start at multiples of"
    " 16 bytes, which run as kernels of 2018 (cutlass_75_tensorop_s1688gemm, align1; pegainfer-project/pegainfer, pull"
    " request 1046): 22 runs of nanotron on H100, whose 50,257 words no table pads, are 19.8 % off in the mean with it,"
    " 25.3 % without, and more with 0.7 or 1.0",
    "FLOP/s",
)
CUDA = "sm_"
"""The beginning of the architectures for which CUDA kernels are built, as entries state them."""
MOST_BANDWIDTH = {Role.GATHER: GATHER_BANDWIDTH.value, Role.SCATTER: SCATTER_BANDWIDTH.value}
"""The highest bandwidth in B/s that kernels of each role reach, whatever the memory allows."""

Tile = tuple[float, float, float]
"""Rows and columns of one tile, and its rate relative to the best tile."""


@dataclass(frozen=True)
class Speed:
    """Achieved rates of one rank.

    - ``rates`` FLOP/s by kernel family for shapes that fill the device
    - ``bandwidth`` B/s of a memory-bound kernel, reads and writes together
    - ``units`` tiles that run concurrently and ``tiles`` the available sizes (empty if the device's units are not
      known)
    - ``depth_start`` and ``length_start`` the depth of a GEMM and the length of a sequence at which half the rate is
      reached
    - ``grouped`` is the rate of expert GEMMs over the rate of other GEMMs
    - ``fixed`` the share of attention's time that narrow heads do not shorten, forward and backward
    - ``unaligned`` the highest rate in FLOP/s of a product whose rows are not aligned
    """

    rates: Mapping[str, float]
    bandwidth: float
    units: int
    tiles: tuple[Tile, ...]
    depth_start: float
    length_start: float
    grouped: float = 1.0
    fixed: tuple[float, float] = (0.0, 0.0)
    unaligned: float = inf

    def timed_kernels(self, kernels: Iterable[Kernel]) -> TimedKernels:
        """Each kernel with its device seconds."""
        return tuple((kernel, self.seconds(kernel)) for kernel in kernels)

    def seconds(self, kernel: Kernel) -> float:
        """Device seconds of one kernel, by the roofline."""
        if not kernel.rate:
            return kernel.traffic / self.streaming_bandwidth(kernel)
        rate = self.rates[kernel.rate] * self.achieved_share(kernel)
        return kernel_time(kernel.flops, rate, kernel.traffic, self.streaming_bandwidth(kernel))

    def streaming_bandwidth(self, kernel: Kernel) -> float:
        """B/s that a kernel moves at most, reads and writes together."""
        if kernel.role is Role.SCAN:
            return min(self.bandwidth * SCAN_BANDWIDTH.value, self.units * SCAN_UNIT.value if self.units > 1 else inf)
        most = MOST_BANDWIDTH.get(kernel.role)
        return self.bandwidth if most is None else min(self.bandwidth, most)

    def achieved_share(self, kernel: Kernel) -> float:
        """The share of the best rate that a kernel's shape allows."""
        if kernel.shape is None or kernel.role is Role.SCAN:
            return 1.0
        m, k, n, batch, experts, unaligned = kernel.shape
        if kernel.rate.startswith("attention"):
            return depth_fill(m, self.length_start) * width_share(k, self.fixed[kernel.rate == BACKWARD]) * n / m
        plain = isinstance(m, NUMBERS) and isinstance(n, NUMBERS) and isinstance(batch, NUMBERS)
        quantized = (_recent_best_fill if plain else _best_fill)(m, n, batch, self.tiles, self.units)
        grouped = self.grouped if experts else 1.0
        share = quantized * depth_fill(k, self.depth_start) * grouped
        return share - unaligned * (share - smaller(share, self.unaligned / self.rates[kernel.rate]))


def _best_fill(m: float, n: float, batch: float, tiles: tuple[Tile, ...], units: float) -> float:
    """The highest rate of a product over all tile shapes, relative to the rate of the fastest tile."""
    fills = [tile_fill(m, n, rows, columns, batch=batch, units=units) * rate for rows, columns, rate in tiles]
    return reduce(larger, fills) if fills else 1.0


_recent_best_fill = lru_cache(maxsize=512)(_best_fill)
"""`_best_fill` with a cache for numbers, since varied designs share most GEMMs. Columns cannot be hashed."""


# The achieved rates of one rank, from its accelerator and software

NARROWER = ("fp8", "fp4")
FORWARD, BACKWARD = "attention_forward", "attention_backward"
"""The rates of the core of attention."""
MEMORY = "memory"
"""The rate of memory-bound kernels, in B/s."""
Factors = tuple[tuple[str, Figure], ...]
"""The named factors of a rate."""


@dataclass(frozen=True)
class Rates:
    """The speed of one rank, the figures behind it, and the assumptions made.

    ``factors`` belong to each rate of an accelerator, which its ``ranks`` share.
    """

    speed: Speed
    factors: dict[str, Factors]
    ranks: int
    figures: dict[str, Figure]
    assumptions: tuple[Assumption, ...]


class _Reached:
    """The achievable figures of one accelerator. A missing figure gets a usual value, recorded as an assumption."""

    def __init__(self, accelerator: Accelerator) -> None:
        self.accelerator = accelerator
        self.figures: dict[str, Figure] = {}
        self.assumptions: list[Assumption] = []

    def achieved_figure(self, name: str, usual: str) -> Figure:
        found = self.accelerator.achievable.get(name)
        if found is None:
            why = f"{self.accelerator.id} has no figure: the median of the accelerators that have one"
            found = Figure(USUAL[usual], "1", Assumed(f"{self.accelerator.id} {name}", why))
            self.assumptions.append((f"accelerator.{name}", found.value, why))
        self.figures[name] = found
        return found

    def kernel_bandwidth_figure(self) -> Figure:
        """The share of the memory bandwidth that memory-bound kernels of training reach, or else streaming ones."""
        own = "memory.kernels"
        return self.achieved_figure(own if own in self.accelerator.achievable else "memory", "memory")

    def attention_figure(self, year: int, library: str = "") -> Figure | None:
        """The share that attention reaches in a year: the latest figure up to that year, else the earliest. With
        ``library``, only its figures count, and the result is None if it has none by that year.
        """
        start = f"attention.{library}.y" if library else "attention.y"
        names = sorted(name for name in self.accelerator.achievable if name.startswith(start))
        earlier = [name for name in names if int(name.removeprefix(start)) <= year]
        if library and not earlier:
            return None
        return self.achieved_figure((earlier or names or ["attention"])[-1 if earlier else 0], "attention")


def rank_rates(cluster: Cluster, workload: Workload, software: SoftwareBehavior, year: int) -> Rates | None:
    """The rates of one rank; None if the accelerator has no peak or memory bandwidth."""
    accelerator = cluster.accelerator
    if workload.peak is None or accelerator.memory_bandwidth is None:
        return None
    reached = _Reached(accelerator)
    factors = _rate_factors(cluster, workload, software, year, reached)
    ranks = cluster.ranks_per_accelerator
    reached_rates = {name: prod(figure.value for _, figure in each) / ranks for name, each in factors.items()}
    memory = reached_rates.pop(MEMORY)
    nominal = {"memory_bandwidth": accelerator.memory_bandwidth, "peak": workload.peak}
    return Rates(
        speed=_rank_speed(cluster, workload, software, reached_rates, memory),
        factors=factors,
        ranks=ranks,
        figures={**reached.figures, **nominal},
        assumptions=tuple(reached.assumptions),
    )


def _rate_factors(
    cluster: Cluster, workload: Workload, software: SoftwareBehavior, year: int, reached: _Reached
) -> dict[str, Factors]:
    """For each rate, the figures whose product is the rate on one accelerator."""
    accelerator = cluster.accelerator
    assert workload.peak is not None
    assert accelerator.memory_bandwidth is not None
    peaks: dict[str, Figure] = {**accelerator.peaks, workload.precision: workload.peak}
    wide = peaks.get("bf16") or peaks.get("fp16") or peaks[workload.precision]
    peaks.setdefault("bf16", wide)
    limits, steps = _clock_factors(cluster), _measured_factor(cluster)
    products = () if software.products == 1.0 else (("products", software.stack.achievable["products"]),)
    factors: dict[str, Factors] = {
        f"matmul_{name}": (("peak", peaks[name]), *_product_factors(name, cluster, limits, steps, reached), *products)
        for name in sorted({workload.precision, "bf16"})
    }
    attention = (
        ("peak", wide),
        *limits,
        *steps,
        ("attention", _attention_figure(workload, software, year, reached)),
    )
    backward = ("backward_over_forward", _backward_figure(workload, software, reached))
    streaming = (
        ("memory_bandwidth", accelerator.memory_bandwidth),
        ("memory", reached.kernel_bandwidth_figure()),
    )
    return {**factors, FORWARD: attention, BACKWARD: (*attention, backward), MEMORY: streaming}


def _attention_figure(workload: Workload, software: SoftwareBehavior, year: int, reached: _Reached) -> Figure:
    """The share of the peak that attention achieves: the figure for the stack's attention library if there is one, else
    the figure for the year.
    """
    library = attention_library(workload, software.stack)
    own = reached.attention_figure(year, library) if library else None
    found = own or reached.attention_figure(attention_year(workload, software.stack, year))
    assert found is not None
    return found


def _backward_figure(workload: Workload, software: SoftwareBehavior, reached: _Reached) -> Figure:
    """The ratio of the backward rate of attention to its forward rate: for the stack's attention library if known, else
    for all.
    """
    own = f"attention.{attention_library(workload, software.stack)}.backward"
    name = own if own in reached.accelerator.achievable else "attention.backward"
    return reached.achieved_figure(name, "attention.backward")


def _rank_speed(
    cluster: Cluster, workload: Workload, software: SoftwareBehavior, reached: dict[str, float], memory: float
) -> Speed:
    accelerator = cluster.accelerator
    systolic = accelerator.array
    counted = accelerator.compute_units if accelerator.tile_rounds else None
    units = max(1, (counted or 1) // cluster.ranks_per_accelerator)
    return Speed(
        rates=reached,
        bandwidth=memory,
        units=1 if systolic else units,
        tiles=((systolic, systolic, 1.0),) if systolic else TILES if counted else (),
        depth_start=0.0 if systolic else DEPTH_START,
        length_start=attention_length(accelerator, attention_library(workload, software.stack)),
        fixed=fixed_shares(accelerator),
        grouped=software.grouped,
        unaligned=units * UNALIGNED_UNIT.value if counted and accelerator.architecture.startswith(CUDA) else inf,
    )


def share_precision(precision: str) -> str:
    """The precision under which an entry lists the achieved shares of ``precision``; 16 bits and above share one."""
    return precision if precision in NARROWER else "bf16"


def _clock_factors(cluster: Cluster) -> Factors:
    """The factors of the rate under limits of power: none for most designs."""
    limit, board = cluster.accelerator.power, cluster.accelerator.achievable.get("sustained.power")
    lowered = (limit.value, board.value) if limit and board and 0 < limit.value < board.value else None
    if cluster.accelerator_cap is None and lowered is None:
        return ()
    from clusterspec.cost.compute.power_cap import clock_factors  # few designs have a limit

    return clock_factors(cluster, lowered)


def _product_factors(name: str, cluster: Cluster, limits: Factors, steps: Factors, reached: _Reached) -> Factors:
    """The factors that turn a precision's peak into the rate of products. A GEMM rate measured on the machine replaces
    the catalog's share and the power limits.
    """
    kinds = {each.collective: each.share for each in cluster.measured if each.is_of_gemms}
    own = kinds.get(share_precision(name))
    return (("gemms", own), *steps) if own else (*limits, *steps, *_achieved_share(name, reached))


def _achieved_share(precision: str, reached: _Reached) -> Factors:
    """The achieved share of a precision's peak; precisions above 16 bits achieve the share of 16 bits.

    Where no best GEMM was measured in 8 or 4 bits, products achieve the share of 16 bits. Where none was measured at
    all, ``sustained`` is a share of the peak itself.
    """
    name = share_precision(precision)
    known = reached.accelerator.achievable
    if f"sustained.{name}" in known and f"matmul.{name}" not in known:
        return (("sustained", reached.achieved_figure(f"sustained.{name}", "sustained")),)
    measured = next((each for each in (f"matmul.{name}", "matmul.bf16") if each in known), f"matmul.{name}")
    matmul = ("matmul", reached.achieved_figure(measured, "matmul"))
    return matmul, ("sustained", reached.achieved_figure(f"sustained.{name}", "sustained"))


def sustained_product_share(accelerator: Accelerator, precision: str) -> float:
    """The share of the dense peak of a precision that matrix products of training sustain on large shapes."""
    return prod(figure.value for _, figure in _achieved_share(precision, _Reached(accelerator)))


def streaming_share(accelerator: Accelerator) -> float:
    """The share of the memory bandwidth that streaming kernels reach."""
    return _Reached(accelerator).achieved_figure("memory", "memory").value


def _measured_factor(cluster: Cluster) -> Factors:
    """The rate of products and attention relative to the catalog's, if a step of the machine was measured."""
    return tuple(("measured", each.share) for each in cluster.measured if each.is_of_step)


# The kernels of a pass

MIXING_PARTS = ("projections", "output")
"""Parts of a layer whose GEMMs tensor parallelism cuts around the core."""


def cut_network_kernels(parts: Mapping[str, TimedKernels]) -> TimedKernels:
    """Kernels of the feed-forward network that tensor parallelism shards: those of a dense network and of shared
    experts.
    """
    shared = tuple(each for each in parts.get("experts", ()) if each[0].name.startswith("shared experts"))
    return parts.get("feed-forward", ()) + shared


def _gemm_seconds(kernels: TimedKernels) -> float:
    return sum_of(seconds for kernel, seconds in kernels if kernel.rate.startswith("matmul"))


class PassKernels(NamedTuple):
    """The kernels of one pass: seconds of all kernels, and of the token-mixing core, run sequentially.

    ``mixing_gemms`` and ``network_gemms`` are seconds of the GEMMs that tensor parallelism splits: the GEMMs around the
    core, and the GEMMs of a dense network or of shared experts. ``launches`` counts the launches of the host,
    ``expert_launches`` those of grouped GEMMs. ``timed`` lists the kernels; it is empty if the sums are columns.
    """

    timed: TimedKernels
    device: float
    mixing_gemms: float
    network_gemms: float
    core: float
    launches: float
    expert_launches: float
    flops: float

    @classmethod
    def of(cls, parts: Mapping[str, TimedKernels]) -> PassKernels:
        """The kernels of the parts of a layer."""
        timed = tuple(chain.from_iterable(parts.values()))
        device: float = 0
        launches: float = 0
        of_experts: float = 0
        flops: float = 0
        for kernel, seconds in timed:  # NOTE: `+=` would change the column of the first kernel
            device, launches = device + seconds, launches + kernel.launches
            of_experts, flops = of_experts + expert_launches(kernel), flops + kernel.flops
        return cls(
            timed=timed,
            device=device,
            mixing_gemms=sum_of(_gemm_seconds(kernels) for name, kernels in parts.items() if name in MIXING_PARTS),
            network_gemms=_gemm_seconds(cut_network_kernels(parts)),
            core=sum_of(seconds for _, seconds in parts.get("core", ())),
            launches=launches,
            expert_launches=of_experts,
            flops=flops,
        )


NO_KERNELS = PassKernels.of({})
