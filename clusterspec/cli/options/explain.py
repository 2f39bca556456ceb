"""Options of ``clusterspec explain``."""

from __future__ import annotations

import argparse

from clusterspec.cli.options import formats


def describe(parser: argparse.ArgumentParser) -> None:
    """Add the options to a parser."""
    parser.add_argument("rule", metavar="RULE", nargs="?", help="the rule's name; without it, all rules are listed")
    formats(parser, "text", "json")
