"""Options of ``clusterspec accept``."""

from __future__ import annotations

import argparse

from clusterspec.cli.options import formats, path, spec


def describe(parser: argparse.ArgumentParser) -> None:
    """Add the options to a parser."""
    spec(parser)
    parser.add_argument("logs", metavar="LOG", type=path, nargs="*", help="the logs of the tests")
    formats(parser, "text", "json")
