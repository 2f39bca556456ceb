"""Options of ``clusterspec sweep``."""

from __future__ import annotations

import argparse

from clusterspec.cli.options import formats, named, positive


def describe(one: argparse.ArgumentParser) -> None:
    """Add the options to a parser."""
    one.add_argument("axes", metavar="AXES", type=named, help="a YAML file with `base`, `axes` and `layout`")
    one.add_argument("--jobs", metavar="N", type=positive, help="number of processes (default: one per core)")
    one.add_argument("--dask", metavar="ADDRESS", type=named, help="a Dask scheduler, such as tcp://10.0.0.1:8786")
    formats(one, "text", "csv", "jsonl")
