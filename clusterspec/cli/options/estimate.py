"""Options of ``clusterspec estimate``."""

from __future__ import annotations

import argparse

from clusterspec.cli.options import formats, named, spec


def describe(one: argparse.ArgumentParser) -> None:
    """Adds them to a parser."""
    spec(one)
    formats(one, "text", "json")
    one.add_argument(
        "--explain", metavar="TERM", type=named, help="show one term with its formula, inputs, origins and parts"
    )
