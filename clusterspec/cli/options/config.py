"""Options of ``clusterspec config``."""

from __future__ import annotations

import argparse

from clusterspec.cli.options import formats, path


def describe(parser: argparse.ArgumentParser) -> None:
    """Add the options to a parser."""
    parser.add_argument(
        "path",
        metavar="PATH",
        type=path,
        nargs="?",
        default=".",
        help="a file or folder (default: the current folder)",
    )
    formats(parser, "text", "json")
