"""A collective as printed by nccl-tests, with the ceiling and the expected bandwidth."""

from __future__ import annotations

from clusterspec.report import grid
from clusterspec.report.failing import failing
from clusterspec.report.ink import PLAIN, Ink, plain, wrapped
from clusterspec.results import CollectiveReport
from clusterspec.units import display, portion

HEADS = ("size", "time", "algbw", "busbw", "ceiling", "reached", "algorithm", "bound by", "tier")
UNITS = ("B", "KiB", "MiB", "GiB", "TiB")
DECIMAL = ("B", "kB", "MB", "GB", "TB")
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
    """One row per size; bandwidths in GB/s as nccl-tests counts them."""
    if not report.rows:
        return f"Nothing can be predicted: {report.why}\n" + failing(report.findings, report.input.name, ink)
    first = report.rows[0]
    tiers = list(dict.fromkeys(row.tier for row in report.rows))
    over = f"{ink.paint('bold', first.collective)} over {first.ranks:,} ranks"
    where = f", {tiers[0]}" if len(tiers) == 1 else ""
    head = f"{over}{where}; bandwidths in GB/s\n\n"
    rows = [
        (
            size,
            display(row.seconds, "s"),
            *(f"{rate / 1e9:,.2f}" for rate in (row.algbw, row.busbw, row.ceiling_busbw)),
            portion(row.busbw / row.ceiling_busbw) if row.ceiling_busbw else "",
            row.algorithm,
            row.bound_by.removesuffix(" bandwidth"),
            row.tier,
        )
        for row, size in zip(report.rows, sizes(report), strict=True)
    ]
    shown = len(HEADS) - 1 if len(tiers) == 1 else len(HEADS)
    table = grid.grid(HEADS[:shown], [row[:shown] for row in rows], right=range(6), ink=ink)
    note = "Sizes and bandwidths as nccl-tests counts them; the ceiling is the links at line rate."
    note_lines = [ink.paint("dim", line) for line in wrapped(note, ink.measure)]
    return head + table + "\n" + "\n".join(note_lines) + "\n" + failing(report.findings, report.input.name, ink)


def sizes(report: CollectiveReport) -> list[str]:
    """The sizes of the rows as given by the user; a bare number gets a unit."""
    asked = report.asked if len(report.asked) == len(report.rows) else ("",) * len(report.rows)
    return [
        " ".join(plain(text).split()) if any(c.isalpha() for c in text) else size_text(row.size)
        for row, text in zip(report.rows, asked, strict=True)
    ]


def size_text(size: float) -> str:
    """A size in the largest binary or decimal unit in which it is an integer, whichever is shorter.

    >>> size_text(2.0**30), size_text(16e6), size_text(1e9), size_text(100.0)
    ('1 GiB', '16 MB', '1 GB', '100 B')
    """
    found = []
    for base, names in ((1024, UNITS), (1000, DECIMAL)):
        steps = next((k for k in range(4, 0, -1) if size % base**k == 0), 0)
        found.append(f"{size / base**steps:,.0f} {names[steps]}")
    return min(found, key=len)


def csv(report: CollectiveReport) -> str:
    """The fields as CSV, one row per size, in SI units."""
    return grid.separated(FIELDS, ([getattr(row, name) for name in FIELDS] for row in report.rows))
