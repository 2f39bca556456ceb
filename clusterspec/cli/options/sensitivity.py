"""Options of ``clusterspec sensitivity``."""

from __future__ import annotations

import argparse

from clusterspec.cli.options import formats, spec


def describe(parser: argparse.ArgumentParser) -> None:
    """Add the options to a parser."""
    spec(parser)
    formats(parser, "text", "json", "csv")
