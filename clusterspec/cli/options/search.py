"""Options of ``clusterspec search``."""

from __future__ import annotations

import argparse

from clusterspec.cli.options import formats, positive, spec


def describe(one: argparse.ArgumentParser) -> None:
    """Adds them to a parser."""
    spec(one)
    one.add_argument("--top", metavar="N", type=positive, default=10, help="how many to show (default: 10)")
    one.add_argument(
        "--objective",
        choices=("step_time", "memory", "cost"),
        default="step_time",
        help="what is best (default: step_time)",
    )
    one.add_argument(
        "--set", metavar="KEY=VALUE", action="append", default=[], help="fix a key of the layout, such as tp=8"
    )
    formats(one, "text", "json", "csv")
