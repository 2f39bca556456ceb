"""A collective as nccl-tests prints it, with the physical ceiling beside what is expected."""

from __future__ import annotations

from clusterspec.report import grid
from clusterspec.report.ink import PLAIN, Ink
from clusterspec.report.results import CollectiveReport
from clusterspec.units import say

HEADS = ("size", "time", "algbw", "busbw", "ceiling", "of ceiling", "algorithm", "tier", "bound by")
FIELDS = (
    "collective",
    "ranks",
    "size",
    "seconds",
    "low",
    "high",
    "algbw",
    "busbw",
    "ceiling_busbw",
    "bound_by",
    "tier",
    "algorithm",
)


def text(report: CollectiveReport, ink: Ink = PLAIN) -> str:
    """One row a size; bandwidths in GB/s as nccl-tests counts them."""
    if not report.rows:
        return f"Nothing can be predicted: {report.why}\n"
    first = report.rows[0]
    head = f"{ink.paint('bold', first.collective)} over {first.ranks:,} ranks, sizes as nccl-tests counts them\n\n"
    rows = [
        (
            f"{row.size:,.0f} B",
            say(row.seconds, "s"),
            *(f"{rate / 1e9:,.2f}" for rate in (row.algbw, row.busbw, row.ceiling_busbw)),
            f"{100 * row.busbw / row.ceiling_busbw:.0f} %" if row.ceiling_busbw else "",
            row.algorithm,
            row.tier,
            row.bound_by,
        )
        for row in report.rows
    ]
    note = ink.paint("dim", "algbw, busbw and ceiling in GB/s; the ceiling is what the wires carry")
    return head + grid.grid(HEADS, rows, right=range(6), ink=ink) + "\n" + note + "\n"


def csv(report: CollectiveReport) -> str:
    """The contract's fields, one row a size, in SI units."""
    return grid.separated(FIELDS, ([getattr(row, name) for name in FIELDS] for row in report.rows))
