"""Options of ``clusterspec convert``."""

from __future__ import annotations

import argparse

from clusterspec.cli.options import formats


def describe(parser: argparse.ArgumentParser) -> None:
    """Add the options to a parser."""
    parser.add_argument("quantity", metavar="QUANTITY", help='such as "900 GB/s duplex"')
    formats(parser, "text", "json")
