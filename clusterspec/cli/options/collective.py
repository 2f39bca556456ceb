"""Options of ``clusterspec collective``."""

from __future__ import annotations

import argparse

from clusterspec.cli.options import formats, named, positive, spec

COLLECTIVES = ("all-reduce", "all-gather", "reduce-scatter", "all-to-all", "broadcast", "send-recv")


def describe(parser: argparse.ArgumentParser) -> None:
    """Add the options to a parser."""
    spec(parser)
    parser.add_argument("collective", choices=COLLECTIVES, help="the collective")
    parser.add_argument("--ranks", metavar="N", type=positive, required=True, help="number of ranks")
    parser.add_argument(
        "--size",
        metavar="SIZE",
        action="append",
        default=[],
        help="bytes as nccl-tests counts them, such as 1 GiB (repeatable)",
    )
    parser.add_argument(
        "--algorithm",
        metavar="NAME",
        type=named,
        help="ring, tree, nvls, nvls-tree, collnet or direct (default: the fastest)",
    )
    formats(parser, "text", "json", "csv")
