"""Options of ``clusterspec estimate``."""

from __future__ import annotations

import argparse

from clusterspec.cli.options import formats, named, spec


def describe(parser: argparse.ArgumentParser) -> None:
    """Add the options to a parser."""
    spec(parser)
    formats(parser, "text", "json")
    parser.add_argument(
        "--explain",
        metavar="NAME",
        type=named,
        help="show one printed name, such as 'step time' or MFU, with its formula, inputs, origins and parts",
    )
    parser.add_argument("--assumptions", action="store_true", help="list the assumptions for absent keys of the spec")
    parser.add_argument("--constants", action="store_true", help="list the constants that no data sheet states")
