"""Options of ``clusterspec schema``."""

from __future__ import annotations

import argparse


def describe(parser: argparse.ArgumentParser) -> None:
    """Add the options to a parser."""
    what = parser.add_mutually_exclusive_group()
    what.add_argument(
        "--editor",
        action="store_true",
        help="draft 7 with the units of quantities and the ids of the catalog and of company folders (default)",
    )
    what.add_argument(
        "--annotated",
        action="store_true",
        help="the schema that the program reads: draft 2020-12 with the kinds of quantities as annotations",
    )
