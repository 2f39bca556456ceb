"""Writes what nccl-tests would print, so that logs of any group can be read back."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

PARTED = {"all-gather", "reduce-scatter", "all-to-all"}
TESTS = {
    "all-reduce": "all_reduce_perf",
    "all-gather": "all_gather_perf",
    "reduce-scatter": "reduce_scatter_perf",
    "all-to-all": "alltoall_perf",
}
HEAD = """\
# {test} -b {low} -e {high} -f 4 -g {each}
# nThread 1 nGpus {each} minBytes {low} maxBytes {high} step: 4(factor) warmup iters: 1 iters: 20
#
# Using devices
{devices}
#
#                                                              out-of-place                       in-place
"""
COLUMNS = """\
#       size         count      type   redop    root     time   algbw   busbw #wrong     time   algbw   busbw #wrong
#        (B)    (elements)                               (us)  (GB/s)  (GB/s)            (us)  (GB/s)  (GB/s)
"""
TAIL = "# Out of bounds values : 0 OK\n# Avg bus bandwidth    : 123.456\n#\n"


@dataclass(frozen=True)
class Run:
    """A test of a collective on some ranks, each size in bytes with its bus bandwidth in GB/s."""

    collective: str
    ranks: int
    points: tuple[tuple[int, float], ...]
    each: int = 8

    @property
    def factor(self) -> float:
        whole = (self.ranks - 1) / self.ranks
        return 2 * whole if self.collective == "all-reduce" else whole

    def text(self, *, head: bool = True, columns: bool = True) -> str:
        low, high = self.points[0][0], self.points[-1][0]
        told = {"test": TESTS[self.collective], "each": self.each, "low": low, "high": high}
        top = HEAD.format(**told, devices=self._devices()) if head else ""
        return top + (COLUMNS if columns else "") + "".join(self.rows()) + TAIL

    def rows(self) -> Iterable[str]:
        return (self._row(size, busbw) for size, busbw in self.points)

    def _devices(self) -> str:
        lines = (
            f"#  Rank {rank:2d} Group  0 Pid  {4000 + rank} on  node-{rank // self.each:02d} device  {rank % self.each}"
            f" [0x{16 + rank % self.each:02x}] NVIDIA H100 80GB HBM3"
            for rank in range(self.ranks)
        )
        return "\n".join(lines)

    def _row(self, size: int, busbw: float) -> str:
        algbw = busbw / self.factor
        time = size / algbw / 1e3
        parts = self.ranks if self.collective in PARTED else 1
        redop = "sum" if "reduce" in self.collective else "none"
        half = f"{_digits(time)} {algbw:7.2f} {busbw:7.2f}"
        in_place = "N/A" if self.collective == "all-to-all" else "0"
        return f"{size:13d} {size // 4 // parts:13d}  float {redop:>7}      -1 {half}      0 {half} {in_place:>6}\n"


def _digits(microseconds: float) -> str:
    """Times as nccl-tests prints them: four or five digits."""
    return f"{microseconds:8.0f}" if microseconds >= 10_000 else f"{microseconds:8.1f}"


GIB = 1 << 30
POINTS = ((GIB, 320.5), (4 * GIB, 351.25), (16 * GIB, 360.0))


def run(collective: str = "all-reduce", ranks: int = 8) -> Run:
    """A run with bus bandwidths of 320 to 360 GB/s."""
    return Run(collective, ranks, POINTS)
