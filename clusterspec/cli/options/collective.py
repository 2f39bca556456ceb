"""Options of ``clusterspec collective``."""

from __future__ import annotations

import argparse

from clusterspec.cli.options import formats, named, positive, spec

COLLECTIVES = ("all-reduce", "all-gather", "reduce-scatter", "all-to-all", "broadcast", "send-recv")


def describe(one: argparse.ArgumentParser) -> None:
    """Add the options to a parser."""
    spec(one)
    one.add_argument("collective", choices=COLLECTIVES, help="the collective")
    one.add_argument("--ranks", metavar="N", type=positive, required=True, help="number of ranks")
    one.add_argument(
        "--size",
        metavar="SIZE",
        action="append",
        default=[],
        help="bytes as nccl-tests counts them, such as 1 GiB (repeatable)",
    )
    one.add_argument(
        "--algorithm",
        metavar="NAME",
        type=named,
        help="ring, tree, nvls, nvls-tree, collnet or direct (default: the fastest)",
    )
    formats(one, "text", "json", "csv")
