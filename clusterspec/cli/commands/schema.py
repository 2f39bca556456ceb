"""``clusterspec schema``."""

from __future__ import annotations

import argparse

from clusterspec import resources
from clusterspec.cli import OK
from clusterspec.cli.terminal import say


def run(asked: argparse.Namespace) -> int:
    """Prints the JSON Schema of the spec, byte for byte as shipped."""
    say((resources.schemas() / "spec.schema.json").read_text("utf-8"), exact=True)
    return OK
