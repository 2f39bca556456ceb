"""Options of ``clusterspec export``."""

from __future__ import annotations

import argparse


def describe(one: argparse.ArgumentParser) -> None:
    """Adds them to a parser."""
    one.add_argument("kind", metavar="KIND", help="the format")
    one.add_argument("file", metavar="FILE", help="the file to read")
