"""A collective as nccl-tests prints it, with the physical ceiling beside what is expected."""

from __future__ import annotations

from clusterspec.report import grid
from clusterspec.report.ink import PLAIN, Ink, wrapped
from clusterspec.results import CollectiveReport
from clusterspec.units import say

HEADS = ("size", "time", "algbw", "busbw", "ceiling", "reached", "algorithm", "bound by", "tier")
UNITS = ("B", "KiB", "MiB", "GiB", "TiB")
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
    tiers = list(dict.fromkeys(row.tier for row in report.rows))
    over = f"{ink.paint('bold', first.collective)} over {first.ranks:,} ranks"
    head = f"{over}, {tiers[0]}\n\n" if len(tiers) == 1 else f"{over}\n\n"
    rows = [
        (
            size_text(row.size),
            say(row.seconds, "s"),
            *(f"{rate / 1e9:,.2f}" for rate in (row.algbw, row.busbw, row.ceiling_busbw)),
            f"{100 * row.busbw / row.ceiling_busbw:.0f} %" if row.ceiling_busbw else "",
            row.algorithm,
            row.bound_by.removesuffix(" bandwidth"),
            row.tier,
        )
        for row in report.rows
    ]
    shown = len(HEADS) - 1 if len(tiers) == 1 else len(HEADS)
    table = grid.grid(HEADS[:shown], [row[:shown] for row in rows], right=range(6), ink=ink)
    note = "Sizes and bandwidths as nccl-tests counts them, bandwidths in GB/s; the ceiling is what the wires carry."
    return head + table + "\n" + "\n".join(ink.paint("dim", line) for line in wrapped(note, ink.measure)) + "\n"


def size_text(size: float) -> str:
    """Bytes as nccl-tests is asked for them: in binary units where they come out even.

    >>> size_text(2.0**30), size_text(1e9), size_text(100.0)
    ('1 GiB', '1,000,000,000 B', '100 B')
    """
    steps = next((k for k in range(4, 0, -1) if size % 1024**k == 0), 0)
    return f"{size / 1024**steps:,.0f} {UNITS[steps]}"


def csv(report: CollectiveReport) -> str:
    """The contract's fields, one row a size, in SI units."""
    return grid.separated(FIELDS, ([getattr(row, name) for name in FIELDS] for row in report.rows))
