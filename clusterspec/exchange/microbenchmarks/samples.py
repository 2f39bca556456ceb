"""Samples of micro-benchmarks: reading them, their medians and spread, and the points of a kernel table."""

from __future__ import annotations

import json
import math
import statistics
from collections.abc import Iterator, Mapping, Sequence
from datetime import date
from typing import Any

from clusterspec.catalog.entries import Accelerator
from clusterspec.exchange.import_result import FormatError
from clusterspec.records import dataclass

VERSION = 1
FEWEST = 5
"""Minimum number of calls of one kind for a meaningful median."""
WIDEST = 0.2
"""A kind with a larger spread is reported. The spread is the range from the 10th to the 90th percentile divided by the
median.
"""
FEW_ROWS, MANY_ROWS = 64, 256
"""Up to ``FEW_ROWS`` rows a GEMM is memory-bound; tables of rates start at ``MANY_ROWS`` rows."""
FASTER = 1.05
"""Maximum ratio of a measured rate to the catalog's peak, which allows for clocks and rounding. A higher ratio means
another accelerator.
"""
SIZES = {"gemm": ("m", "n", "k"), "attention": ("tokens", "heads", "width"), "copy": ("bytes",), "launch": ()}
GEMM_BYTES = {"bf16": 2, "fp16": 2, "fp8": 1}


@dataclass(frozen=True)
class Kind:
    """Calls of one kernel and size: the median time in seconds, and the spread relative to the median."""

    kernel: str
    precision: str
    sizes: Mapping[str, int]
    seconds: float
    spread: float
    calls: int

    def __str__(self) -> str:
        sizes = " × ".join(f"{value:,}" for value in self.sizes.values())
        return " ".join(part for part in (self.kernel, self.precision, sizes) if part)


@dataclass(frozen=True)
class Samples:
    """The calls that ran on one device: the device's name, the software, the date, and the kinds of calls."""

    device: str
    software: str
    day: date
    kinds: Sequence[Kind]

    @property
    def uneven(self) -> list[Kind]:
        """Kinds of calls with a larger spread than `WIDEST`."""
        return [each for each in self.kinds if each.spread > WIDEST]


@dataclass(frozen=True)
class Point:
    """One figure of a kernel table: its name, value with unit or share, the base of a share, and the method."""

    name: str
    value: str
    of: str
    note: str


def read_samples(text: str) -> Samples:
    """The samples of a file that ``clusterspec measure --samples`` wrote. Raises `FormatError`."""
    try:
        found = json.loads(text)
    except ValueError as why:
        raise FormatError(f"is not JSON: {why}") from None
    if not isinstance(found, dict) or found.get("clusterspec_samples") != VERSION:
        raise FormatError(f"has no `clusterspec_samples: {VERSION}`: no file of `clusterspec measure --samples`")
    software = found.get("software")
    if not isinstance(software, dict) or not isinstance(found.get("samples"), list):
        raise FormatError("lacks `software` or `samples`")
    try:
        day = date.fromisoformat(str(found.get("date")))
    except ValueError:
        raise FormatError(f"has the date `{found.get('date')}`, not one such as 2026-11-21") from None
    kinds = [_kind_of_calls(number, each) for number, each in enumerate(found["samples"], 1)]
    named = ", ".join(f"{name} {version}" for name, version in software.items() if version)
    return Samples(str(found.get("device") or "an unnamed device"), named, day, kinds)


def _kind_of_calls(number: int, sample: Any) -> Kind:
    if not isinstance(sample, dict) or sample.get("kernel") not in SIZES:
        raise FormatError(f"sample {number}: the kernel is not one of {', '.join(SIZES)}")
    kernel = str(sample["kernel"])
    sizes = {name: sample.get(name) for name in SIZES[kernel]}
    for name, value in sizes.items():
        if not isinstance(value, int) or isinstance(value, bool) or value < 1:
            raise FormatError(f"sample {number}: `{name}` is `{value}`, not a whole number from 1")
    seconds = sample.get("seconds")
    if not isinstance(seconds, list) or len(seconds) < FEWEST:
        raise FormatError(f"sample {number}: fewer than {FEWEST} `seconds`")
    if not all(isinstance(each, int | float) and math.isfinite(each) and each > 0 for each in seconds):
        raise FormatError(f"sample {number}: `seconds` is not a time above zero")
    precision = str(sample.get("precision") or ("bf16" if kernel == "attention" else ""))
    if kernel == "gemm" and precision not in GEMM_BYTES:
        raise FormatError(f"sample {number}: the precision `{precision}` is not one of {', '.join(GEMM_BYTES)}")
    middle = statistics.median(seconds)
    tenths = statistics.quantiles(seconds, n=10, method="inclusive")
    whole = {name: int(value) for name, value in sizes.items() if value is not None}
    return Kind(kernel, precision, whole, middle, (tenths[-1] - tenths[0]) / middle, len(seconds))


def points(samples: Samples, chip: Accelerator) -> list[Point]:
    """The figures of a kernel table that the samples give, as shares of the peaks of the catalog's entry.

    Raises `FormatError` where the entry has no peak or bandwidth to compare with, or is slower than what was measured.
    """
    return [*_gemm_points(samples, chip), *_prompt_points(samples, chip)]


def _gemm_points(samples: Samples, chip: Accelerator) -> Iterator[Point]:
    for precision in dict.fromkeys(each.precision for each in samples.kinds if each.kernel == "gemm"):
        found = [each for each in samples.kinds if (each.kernel, each.precision) == ("gemm", precision)]
        peak = _peak_rate(chip, precision)
        shares = [2 * math.prod(each.sizes.values()) / each.seconds / peak for each in found]
        best, fastest = max(zip(shares, found, strict=True), key=lambda pair: pair[0])
        _refuse_faster(fastest, best, chip)
        few = [each for each in found if each.sizes["m"] <= FEW_ROWS]
        if len({_gemm_bytes(each) for each in few}) > 1:
            yield from _floor_and_stream(precision, few, chip)
        yield Point(f"matmul.{precision}", f"{best:.3g}", f"peak.{precision}", f"best shape found: {fastest}")
        for rows in sorted({each.sizes["m"] for each in found if each.sizes["m"] >= MANY_ROWS}):
            some = [share for share, each in zip(shares, found, strict=True) if each.sizes["m"] == rows]
            note = f"median over {len(some)} shapes of n and k"
            yield Point(f"gemm.{precision}.{rows}", f"{statistics.median(some):.3g}", f"peak.{precision}", note)


def _floor_and_stream(precision: str, few: Sequence[Kind], chip: Accelerator) -> Iterator[Point]:
    """From a linear fit of time over bytes: the time of the smallest product, and the rate at which products read their
    weights.
    """
    if chip.memory_bandwidth is None:
        raise FormatError(f"the entry of {chip.id} has no memory bandwidth to compare with")
    slope, floor = statistics.linear_regression([_gemm_bytes(each) for each in few], [each.seconds for each in few])
    if slope <= 0:
        raise FormatError(f"{precision} products of at most {FEW_ROWS} rows do not take longer for more bytes")
    share = 1 / slope / chip.memory_bandwidth.value
    _refuse_faster(few[0], share, chip)
    note = f"line of time over bytes of {len(few)} products of at most {FEW_ROWS} rows"
    if floor > 0:
        yield Point(f"gemm.{precision}.floor", f"{1e6 * floor:.3g} us", "", note)
    yield Point(f"gemm.{precision}.stream", f"{share:.3g}", "memory_bandwidth", note)


def _gemm_bytes(each: Kind) -> float:
    """Bytes that a product reads and writes: both factors in their precision, the result in 16 bits."""
    m, n, k = (each.sizes[name] for name in ("m", "n", "k"))
    return GEMM_BYTES[each.precision] * (m * k + k * n) + 2 * m * n


def _prompt_points(samples: Samples, chip: Accelerator) -> Iterator[Point]:
    for each in sorted(
        (each for each in samples.kinds if each.kernel == "attention"), key=lambda each: each.sizes["tokens"]
    ):
        tokens, heads, width = (each.sizes[name] for name in ("tokens", "heads", "width"))
        share = 2 * tokens**2 * heads * width / each.seconds / _peak_rate(chip, "bf16")
        _refuse_faster(each, share, chip)
        note = "half of the products, since a causal mask leaves only these"
        yield Point(f"attention.prefill.{tokens}", f"{share:.3g}", "peak.bf16", note)


def _peak_rate(chip: Accelerator, precision: str) -> float:
    peak = chip.peaks.get(precision)
    if peak is None:
        raise FormatError(f"the entry of {chip.id} has no peak in {precision} to compare with")
    return peak.value


def _refuse_faster(each: Kind, share: float, chip: Accelerator) -> None:
    if share > FASTER:
        raise FormatError(f"{each} is {share:.2f} times as fast as {chip.id} can be: name the accelerator at hand")


def table_text(shipped: str, samples: Samples, found: Sequence[Point]) -> str:
    """The text of a kernel table in which measured figures replace the shipped ones, each with its source."""
    title = f"clusterspec measure on {samples.device}, {samples.software}"
    source = ["  here:", f"    title: {json.dumps(title, ensure_ascii=False)}", f"    read: {samples.day}"]
    by_name = {each.name: each for each in found}
    lines: list[str] = []
    for line in shipped.splitlines():
        name = line.strip().partition(": {")[0]
        point = by_name.pop(name, None) if line.startswith("  ") and not line.startswith("   ") else None
        lines += [_point_line(point)] if point else [line]
        if line == "sources:":
            lines += source
    return "\n".join([*lines, *map(_point_line, by_name.values())]) + "\n"


def _point_line(point: Point) -> str:
    of = f", of: {point.of}" if point.of else ""
    return (
        f"  {point.name}: {{is: {point.value}{of}, source: here, note: {json.dumps(point.note, ensure_ascii=False)}}}"
    )
