"""What the range of each first prediction needs, as a file: the ranges of software are drawn from it."""

from __future__ import annotations

import csv
from collections.abc import Iterable
from dataclasses import asdict, fields
from functools import cache
from pathlib import Path

from tools.accuracy.split import is_held_out
from tools.fit.evidence import Evidence
from tools.fit.runs import runs, unfitted_runs
from tools.fit.spread import Need, first_errors, needs

FILE = Path(__file__).resolve().parents[2] / "tests" / "accuracy" / "first_widths.csv"


def counted() -> list[Need]:
    """The needs of all first predictions: of the runs that may be fitted to, and of those held out. Both rest on the
    evidence of the former.
    """
    evidence = Evidence.of(runs())
    return [one for some in (runs(), unfitted_runs()) for one in needs(first_errors(some), evidence)]


def write(needs: Iterable[Need]) -> None:
    """Writes the needs, rounded to a thousandth."""
    with FILE.open("w", encoding="utf-8", newline="") as file:
        rows = csv.DictWriter(file, [field.name for field in fields(Need)], lineterminator="\n")
        rows.writeheader()
        rows.writerows(asdict(one) | {"evidence": f"{one.evidence:.2f}", "width": f"{one.width:.3f}"} for one in needs)


@cache
def read() -> tuple[Need, ...]:
    """The needs as last written."""
    rows = csv.DictReader(FILE.read_text("utf-8").splitlines())
    return tuple(
        Need(
            row["id"],
            row["source"],
            row["stack"],
            row["experts"] == "True",
            row["seen"] == "True",
            float(row["evidence"]),
            float(row["width"]),
        )
        for row in rows
    )


def needs_of_side(held_out: bool) -> list[Need]:
    """The needs of the sources of one side."""
    return [one for one in read() if is_held_out(one.source) is held_out]
