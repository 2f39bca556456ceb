"""Options of ``clusterspec accept``."""

from __future__ import annotations

import argparse

from clusterspec.cli.options import formats, named, spec


def describe(one: argparse.ArgumentParser) -> None:
    """Adds them to a parser."""
    spec(one)
    one.add_argument("logs", metavar="LOG", type=named, nargs="*", help="the logs that came back")
    formats(one, "text", "json")
