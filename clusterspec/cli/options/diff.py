"""Options of ``clusterspec diff``."""

from __future__ import annotations

import argparse

from clusterspec.cli.options import formats, named


def describe(one: argparse.ArgumentParser) -> None:
    """Adds them to a parser."""
    one.add_argument("old", metavar="OLD", type=named)
    one.add_argument("new", metavar="NEW", type=named)
    formats(one, "text", "json")
