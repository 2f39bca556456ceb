"""Options of ``clusterspec convert``."""

from __future__ import annotations

import argparse

from clusterspec.cli.options import formats


def describe(one: argparse.ArgumentParser) -> None:
    """Add the options to a parser."""
    one.add_argument("quantity", metavar="QUANTITY", help='such as "900 GB/s duplex"')
    formats(one, "text", "json")
