"""Options of ``clusterspec schema``."""

from __future__ import annotations

import argparse


def describe(parser: argparse.ArgumentParser) -> None:
    """Add the options to a parser."""
    parser.add_argument(
        "--editor",
        action="store_true",
        help="the schema for editors: draft 7, with the ids of the catalog and of company folders as suggestions",
    )
