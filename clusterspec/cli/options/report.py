"""Options of ``clusterspec report``."""

from __future__ import annotations

import argparse

from clusterspec.cli.options import path, spec


def describe(parser: argparse.ArgumentParser) -> None:
    """Add the options to a parser."""
    spec(parser)
    parser.add_argument(
        "-o", "--output", metavar="FILE", type=path, required=True, help="the file to write: .html, .pdf or .json"
    )
    parser.add_argument(
        "--kind",
        choices=("design", "procurement"),
        default="design",
        help="for engineers, or for buyers (default: design)",
    )
    parser.add_argument(
        "--audience",
        choices=("tender", "internal"),
        help="tender omits prices and internal notes (default: the spec's document.audience, else internal)",
    )
    parser.add_argument(
        "--against",
        metavar="SPEC",
        type=path,
        nargs="+",
        default=[],
        help="compare with up to three more specs",
    )
