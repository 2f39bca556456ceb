"""Options of ``clusterspec cost``."""

from __future__ import annotations

import argparse

from clusterspec.cli.options import formats, spec


def describe(one: argparse.ArgumentParser) -> None:
    """Add the options to a parser."""
    spec(one)
    formats(one, "text", "json", "csv")
