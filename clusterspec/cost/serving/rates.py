"""Rates of measured kernels on one rank."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Iterator, Mapping
from math import exp, inf, log

from clusterspec.catalog.entries import Accelerator, Kernels
from clusterspec.cost.formulas.compute import larger
from clusterspec.cost.formulas.serving import rate_beyond_floor
from clusterspec.cost.serving import constants
from clusterspec.quantity import NARROW, precision_width
from clusterspec.records import dataclass
from clusterspec.standard import cached_property

Curve = tuple[tuple[float, ...], tuple[float, ...]]
"""Logarithms of sizes in order, and of the values at them."""
MOST_TABLES = 64
"""Limit of entries whose curves are cached."""
DECODE = "attention.decode"
"""The table of attention over a cache."""
SMALL = "kernel.small"
"""The time of one kernel between GEMMs in a captured graph."""
ALL_REDUCE = "all_reduce."
"""The tables of all-reduces within a domain, by number of ranks."""
LONG = 16384.0
"""Tokens of a context over which attention has its best rate."""
WIDEST_HEAD = 256.0
"""Elements of the widest heads that FlashAttention 2 and 3 support (Dao-AILab/flash-attention, issue 2427)."""
INTEGERS = frozenset({"int4", "int8"})
WIDENED = {"mxfp4": "fp4"}
"""Precisions of weights whose kernels were measured under another name."""
FIRST, LATEST = 2025, 2026
"""The first year of software with separately measured expert kernels, and the year of tables without one."""
CHECKED_DATA = 15 / 16
"""Share of the transfers of a memory that is data where error correction keeps its check bits in the same memory: GDDR
with correction on loses 6.25 % of its capacity and fetches the check bits with each access; HBM has its own for them
(NVIDIA, CUDA C++ Best Practices Guide, theoretical bandwidth, which gives 20 % as the loss of small accesses).
"""
SUFFIXES = {"kb": 1024.0, "mb": 1024.0**2, "m": 1e6}
"""Units of the sizes in names of figures: bytes, and millions of weights."""


def size_curves(entry: Kernels) -> dict[str, Curve]:
    """The tables of an entry by name: the points whose last part is a size, in ascending order."""
    found: dict[str, list[tuple[float, float]]] = {}
    for name, figure in entry.achievable.items():
        table, _, point = name.rpartition(".")
        digits, _, suffix = point.partition("_")
        if digits.isdigit():
            size = float(digits) * SUFFIXES.get(suffix, 1.0)
            found.setdefault(table, []).append((log(size), log(figure.value)))
    return {name: _sorted_curve(points) for name, points in found.items()}


def _sorted_curve(points: list[tuple[float, float]]) -> Curve:
    sizes, values = zip(*sorted(points), strict=True)
    return sizes, values


def interpolated_value(curve: Curve, size: float) -> float:
    """The value at a size: log-log interpolation between two points, the nearest point outside."""
    sizes, values = curve
    at = log(size) if size > 0 else sizes[0]
    place = bisect_left(sizes, at)
    if place == 0:
        return exp(values[0])
    if place == len(sizes):
        return exp(values[-1])
    part = (at - sizes[place - 1]) / (sizes[place] - sizes[place - 1])
    return exp(values[place - 1] + part * (values[place] - values[place - 1]))


@dataclass(frozen=True)
class KernelRates:
    """The achieved rates of kernels on one rank of an accelerator.

    ``peaks`` are the dense FLOP/s by precision, ``bandwidth`` the B/s of one rank. ``single`` has the size-independent
    figures of the kernel table, ``all_reduces`` the all-reduce curves by number of ranks. ``scale`` is the best GEMM
    rate of this accelerator relative to the measured one, ``reading`` the ratio of their memory rates. A measured GEMM
    with ``alike`` rows is as memory-bound as a GEMM of one row here. ``clock`` is the GEMM rate under the power cap
    relative to uncapped, ``tile`` the minimum number of rows that a GEMM computes. ``measured`` is the factor of all
    rates that a measurement of the engine gives; ``peaks`` and ``bandwidth`` contain it. ``own`` says whether the
    kernels were measured on accelerators of the same vendor, whose software chooses them by its release.
    """

    table: str
    peaks: Mapping[str, float]
    bandwidth: float
    curves: Mapping[str, Curve]
    single: Mapping[str, float]
    all_reduces: tuple[tuple[int, Curve], ...]
    scale: float
    reading: float = 1.0
    alike: float = 1.0
    clock: float = 1.0
    tile: float = 1.0
    measured: float = 1.0
    own: bool = True

    @classmethod
    def of(
        cls,
        chip: Accelerator,
        entry: Kernels | None,
        part: Accelerator | None = None,
        clock: float = 1.0,
        measured: float = 1.0,
    ) -> KernelRates | None:
        """The rates of an accelerator; None if it has no memory bandwidth or no peak of 16 bits. ``part`` is the other
        accelerator on which the kernels were measured.
        """
        ranks = chip.ranks_per_accelerator / measured
        peaks = {name: peak.value / ranks for name, peak in chip.peaks.items()}
        if chip.memory_bandwidth is None or entry is None or not {"bf16", "fp16"} & set(peaks):
            return None
        tables, single, reduces = _cached_tables(entry)
        own, table = chip.achievable.get("matmul.bf16"), single.get("matmul.bf16")
        scale = own.value / table if own is not None and table and chip.kernels is None else 1.0
        tile = constants.TILE_ROWS.get(chip.architecture or "", 1.0)
        bandwidth = chip.memory_bandwidth.value / ranks
        alike = chip.architecture is not None and entry.stands_in_for == chip.architecture
        reading = (1.0 if alike else min(1.0, scale)) * _data_share(chip) / _data_share(part or chip)
        here, there = (_flops_per_byte(each) if each is not None else None for each in (chip, part))
        rows = there / here if here and there else 1.0
        same = part is None or part.vendor == chip.vendor
        return cls(
            entry.id, peaks, bandwidth, tables, single, reduces, scale, reading, rows, clock, tile, measured, same
        )

    @property
    def rate_of_16_bits(self) -> float:
        """Dense FLOP/s at 16 bits."""
        return self.peaks.get("bf16") or self.peaks["fp16"]

    def table_value(self, table: str, size: float) -> float:
        """The value of a table at a size."""
        return interpolated_value(self.curves[table], size)

    def gemm_rate(self, precision: str, rows: float, peak: float, software: str = "", blocks: bool = False) -> float:
        """FLOP/s of a GEMM with ``rows`` rows by the kernels of ``software``, where they were measured apart;
        ``blocks`` of weights may have scales.

        The share of the peak comes from a measured GEMM whose FLOPs per byte have the same ratio to the ridge point;
        with few rows, the measured GEMM was bound by reading weights. Unless it is scaled by the best product, it is at
        most the share of GEMMs in a row, which run at the clock that the limit of power leaves.
        """
        table = self.gemm_table(precision, software, blocks)
        share = interpolated_value(self.curves[table], rows * self.alike) * self.scale
        most = self.single.get(f"{table}.sustained", 1.0) if self.scale == 1.0 else 1.0
        return peak * min(most, share) * self.clock

    def dense_gemm_rate(
        self, precision: str, rows: float, peak: float, software: str = "", blocks: bool = False
    ) -> float:
        """FLOP/s of a GEMM with ``rows`` rows beyond its floor, which the launches of a step count.

        A table has the FLOPs of whole kernels over their time, floor included, in the median over shapes of weights.
        """
        counted = larger(rows, exp(self.curves[self.gemm_table(precision, software, blocks)][0][0]))
        whole = self.gemm_rate(precision, counted, peak, software, blocks)
        work = 2 * counted * constants.MEASURED_WEIGHTS
        return rate_beyond_floor(work, whole, self.gemm_floor("bf16"), peak * self.clock)

    def padded_gemm_rate(
        self, precision: str, rows: float, peak: float, software: str = "", *, blocks: bool = False
    ) -> float:
        """FLOP/s beyond the floor of a dense GEMM whose ``rows`` are filled up to a tile."""
        padded = larger(rows, self.tile)
        return self.dense_gemm_rate(precision, padded, peak, software, blocks) * (rows / padded if rows else 1.0)

    def weights_share(self, precision: str, weights: float, software: str = "") -> float:
        """The rate of a GEMM with ``weights`` weights relative to the median shape, for the kernels of ``software`` if
        they were measured separately; 1 if it was not measured.

        A GEMM reads and converts its inputs and writes its outputs in 16 bits, which takes long compared with products
        in 4 bits the smaller its weights are.
        """
        own = self.curves.get(f"gemm.{software.replace('-', '_')}.{precision}.by_weights")
        curve = own or self.curves.get(f"gemm.{precision}.by_weights")
        return interpolated_value(curve, weights * precision_width(precision)) if curve is not None else 1.0

    def experts_share(
        self, precision: str, rows: float, software: str, blocks: bool = False, *, year: float = inf, size: float = inf
    ) -> float:
        """The rate of fused expert kernels with ``rows`` rows each, relative to GEMMs with as many rows, for the
        kernels of ``software`` of a ``year`` if they were measured separately; 1 if none were. ``blocks`` of weights
        may have scales; ``size`` is the number of weights of an expert on a rank.

        It excludes routing, which counts as passes over activations and launches. Tiles of an expert are filled up, and
        blocks of weights have scales of their own. Some kernels are slower with small experts.
        """
        own = software.replace("-", "_")
        kinds, owners = ([f"{precision}_block"] if blocks else []) + [precision], (*self._releases(own, year), own)
        names = (*(f"experts.{each}.{kind}" for kind in kinds for each in owners), f"experts.{precision}")
        name = next((each for each in names if each in self.curves), None)
        if name is None:
            return 1.0
        share, sizes = interpolated_value(self.curves[name], rows), self.curves.get(f"{name}.by_weights")
        return share if sizes is None else min(max(1.0, share), share * interpolated_value(sizes, size))

    def _releases(self, software: str, year: float) -> Iterator[str]:
        """The measured releases of ``software`` from a ``year`` on, the oldest first."""
        if self.own and year < LATEST:
            yield from (f"{software}_{each}" for each in range(int(max(year, FIRST)), LATEST))

    def widened_experts_share(self, kept: str, rows: float, *software: str) -> float | None:
        """The rate of expert kernels that convert 4-bit weights on load, relative to 16-bit GEMMs with as many
        ``rows``, for the kernels of the first ``software`` that was measured separately; None if none were measured.
        """
        table = f"{WIDENED.get(kept, kept)}_weights"
        own = (f"experts.{name.replace('-', '_')}.{table}" for name in software)
        return self._first_share((*own, f"experts.{table}"), rows)

    def _first_share(self, names: Iterable[str], rows: float) -> float | None:
        """The share at ``rows`` by the first of the given tables that was measured; None if none was."""
        curve = next((self.curves[name] for name in names if name in self.curves), None)
        return interpolated_value(curve, rows) if curve is not None else None

    def weight_read_rate(self, precision: str, rows: float = 1.0) -> float:
        """B/s at which a GEMM of few ``rows`` reads its weights."""
        table = self._measured_table(precision)
        curve = self.curves.get(f"{table}.by_rows")
        share = interpolated_value(curve, rows * self.alike) if curve is not None else 1.0
        return self.bandwidth * min(1.0, self.single[f"{table}.stream"] * share * self.reading)

    def gemm_floor(self, precision: str) -> float:
        """Seconds of the smallest GEMM."""
        return self.single.get(f"{self._measured_table(precision)}.floor", constants.FLOOR.value)

    def depth_seconds(self, precision: str, software: str, *, blocks: bool = False, year: float = inf) -> float:
        """Seconds for each element along which a product of few tiles sums, by the kernels of ``software`` of a
        ``year`` if they were measured apart; 0 if none were. ``blocks`` of weights may have scales.
        """
        kind, own = f"{precision}_block" if blocks else precision, software.replace("-", "_")
        owners = (*(f"{each}." for each in (*self._releases(own, year), own)), "")
        names = (*(f"gemm.{each}{kind}.along" for each in owners), f"gemm.{precision}.along")
        found = next((self.single[name] for name in names if name in self.single), 0.0)
        return found / self.measured

    def decode_table(self, software: str, precision: str) -> str:
        """The table of attention over a cache in a precision: the software's table, else the general one."""
        own = f"{DECODE}.{software.replace('-', '_')}.{precision}"
        return own if own in self.curves else DECODE

    def cache_read_rate(self, size: float, table: str = DECODE) -> float:
        """B/s at which attention reads a cache of ``size`` bytes in one call.

        The share of the bandwidth was measured for a call of equal duration.
        """
        alike = size * self.single[f"{table}.memory"] / (self.bandwidth / self.measured)
        return self.bandwidth * min(1.0, interpolated_value(self.curves[table], alike) * self.reading)

    def attention_floor(self, table: str = DECODE) -> float:
        """Seconds of the smallest call of attention over a cache."""
        return self.single[f"{table}.floor"]

    def attention_rate(self, tokens: float, width: float = constants.HEAD_WIDTH) -> float:
        """FLOP/s of attention over prompts of ``tokens`` tokens with heads of ``width`` elements."""
        reached = min(1.0, interpolated_value(self.curves["attention.prefill"], tokens) * self.scale)
        return self.rate_of_16_bits * reached * self.head_width_share(width) * self.clock

    def head_width_share(self, width: float) -> float:
        """The rate of prompt attention with heads of ``width`` elements, relative to the rate with wide heads.

        Each query-key pair costs one exponential whatever the head width: the time per pair is a constant plus a part
        proportional to the width. Heads wider than `WIDEST_HEAD` run other kernels.
        """
        if width > WIDEST_HEAD:
            return self.single.get("attention.prefill.heads_512", 1.0)
        part = min(1.0, width / constants.HEAD_WIDTH)
        pairs = 1 / self.single.get("attention.prefill.heads_64", 1.0) - 1
        return part / (part + pairs * (1 - part))

    @property
    def latent_rows(self) -> float:
        """Rows to which the latent-attention kernel pads the heads of one sequence: the height of its tile."""
        return self.single.get("attention.latent.rows", 1.0)

    def latent_rate(self, precision: str) -> tuple[float, str]:
        """FLOP/s of latent attention over a cache in a precision, and the figure of the table that contains it."""
        own = f"attention.latent.{precision}"
        if own in self.single and precision in self.peaks:
            return self.peaks[precision] * self.single[own] * self.clock, own
        return self.attention_rate(LONG), "attention.prefill"

    def sparse_rate(self, precision: str) -> tuple[float, str]:
        """FLOP/s of latent attention to selected tokens of a cache in a precision, and the figure that contains it."""
        name = next((n for n in (f"attention.sparse.{precision}", "attention.sparse") if n in self.single), None)
        if name is None:
            return self.attention_rate(LONG), "attention.prefill"
        return self.rate_of_16_bits * self.single[name] * self.clock, name

    @property
    def index_rate(self) -> tuple[float, str]:
        """FLOP/s of the scores of a sparse index, whose queries and keys have 8 bits, and the figure that gives it."""
        precision = "fp8" if "fp8" in self.peaks else "bf16"
        peak = self.peaks.get(precision, self.rate_of_16_bits)
        if precision == "fp8" and "attention.index" in self.single:
            return peak * self.single["attention.index"] * self.clock, "attention.index"
        return self.gemm_rate(precision, LONG, peak), self.gemm_table(precision, "")

    def all_reduce_seconds(self, ranks: int, size: float, line: float, software: str = "") -> float | None:
        """Seconds of an all-reduce within a domain by the kernels of an engine, or by the kernels of ``software`` if
        they were measured separately; None for large ones.

        ``line`` is B/s per rank and direction. The curves are of other links, so the size is scaled by
        the rate of those links over ``line``.
        """
        scaled = size * self.single["all_reduce.links"] / line
        own = ((number, self.curves.get(f"{ALL_REDUCE}{software}.{number}")) for number, _ in self.all_reduces)
        found = own if software and self.own else ()
        curves = (*((number, each) for number, each in found if each is not None), *self.all_reduces)
        curve = next((curve for number, curve in curves if number >= ranks), None)
        return interpolated_value(curve, scaled) if curve is not None and scaled <= exp(curve[0][-1]) else None

    @cached_property
    def _gemm_tables(self) -> dict[tuple[str, str, bool], str]:
        """Cached GEMM tables by precision, software and block scales: each step asks for the same tables."""
        return {}

    def gemm_table(self, precision: str, software: str, blocks: bool = False) -> str:
        """The GEMM table of a precision for the kernels of ``software``, for weights with scales per block (``blocks``)
        or per tensor; the general table if there is none.
        """
        found = self._gemm_tables.get((precision, software, blocks))
        if found is None:
            kinds = (f"{precision}_block", precision) if blocks else (precision,)
            names = (f"gemm.{software.replace('-', '_')}.{kinds[0]}", *(f"gemm.{kind}" for kind in kinds))
            found = next((name for name in names if name in self.curves), "gemm.bf16")
            self._gemm_tables[precision, software, blocks] = found
        return found

    def _measured_table(self, precision: str) -> str:
        """The GEMM table of a precision; the 16-bit table if this precision was not measured."""
        name = f"gemm.{precision}"
        return name if name in self.curves else "gemm.bf16"


def remaining_rate_share(kept: str, name: str, architecture: str | None) -> float:
    """The share of the 16-bit GEMM rate that remains where weights of experts are stored in a narrower precision."""
    if not converts_weights(kept, name):
        return 1.0
    peak = 1.0 if architecture in constants.WARP_LEVEL else constants.WARP_PRODUCTS
    return min(1.0, constants.WEIGHT_ONLY.value * peak / constants.WARP_PRODUCTS)


def converts_weights(kept: str, name: str) -> bool:
    """Whether GEMMs convert their weights on load to the wider precision in which they multiply."""
    return name not in NARROW and precision_width(kept) < precision_width(name)


def dense_rate_share(kept: str, architecture: str | None, tokens: float, balance: float) -> float:
    """The share of the 16-bit GEMM rate that remains where dense weights are converted on load.

    ``balance`` is that rate over the bandwidth of the memory, in FLOP/B. Without a measured kernel, the share is that
    of expert kernels, or that of GEMMs after a separate conversion of the weights, whichever is faster.
    """
    if architecture in constants.WARP_LEVEL:
        return constants.WIDENED_BY_WARPS
    if architecture == "sm_90" and kept in INTEGERS:
        sizes, shares = constants.WIDENED_ON_HOPPER
        return interpolated_value((tuple(map(log, sizes)), tuple(map(log, shares))), tokens)
    if architecture == "sm_90":
        return constants.WIDENED_BY_WARPS * constants.WARP_PRODUCTS  # Marlin, as no other kernel reads these weights
    if architecture in constants.MARLIN_ALONE:
        return constants.WEIGHT_ONLY.value
    return max(constants.WEIGHT_ONLY.value, converted_first_share(tokens, balance))


def converted_first_share(tokens: float, balance: float) -> float:
    """The share of the GEMM rate where a pass before writes each weight in 16 bits, which the GEMM reads.

    The pass takes 4 B for each weight, the GEMM 2 FLOP for each weight and token.
    """
    return tokens / (tokens + 2 * balance) if tokens > 0 else 0.0


def _data_share(chip: Accelerator) -> float:
    """The share of data in what the memory transfers; the rest are check bits in the same memory."""
    return CHECKED_DATA if chip.check_bits_in_memory else 1.0


def _flops_per_byte(chip: Accelerator) -> float | None:
    """The dense peak at 16 bits over the memory bandwidth, in FLOP/B; None if either is unknown."""
    peak = chip.peaks.get("bf16") or chip.peaks.get("fp16")
    return peak.value / chip.memory_bandwidth.value if peak and chip.memory_bandwidth else None


Tables = tuple[dict[str, Curve], dict[str, float], tuple[tuple[int, Curve], ...]]
_KNOWN: dict[int, tuple[Kernels, Tables]] = {}
"""The tables of entries that were used, by identity: an entry is read once."""


def _cached_tables(entry: Kernels) -> Tables:
    """The curves of an entry, its figures without a size, and the curves of all-reduces by number of ranks."""
    if id(entry) not in _KNOWN:
        if len(_KNOWN) > MOST_TABLES:
            _KNOWN.clear()
        curves = size_curves(entry)
        ranks = (name.removeprefix(ALL_REDUCE) for name in curves if name.startswith(ALL_REDUCE))
        numbers = sorted(int(each) for each in ranks if each.isdigit())
        reduces = tuple((number, curves[f"{ALL_REDUCE}{number}"]) for number in numbers)
        single = {name: each.value for name, each in entry.achievable.items()}
        _KNOWN[id(entry)] = entry, (curves, single, reduces)
    return _KNOWN[id(entry)][1]
