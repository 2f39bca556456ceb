"""``clusterspec init`` and ``clusterspec schema``."""

from __future__ import annotations

import argparse

from clusterspec import resources
from clusterspec.cli import OK
from clusterspec.cli.terminal import say


def run(asked: argparse.Namespace) -> int:
    """Prints the starting spec or the schema, byte for byte as shipped."""
    path = (
        resources.templates() / "starter.yaml" if asked.command == "init" else resources.schemas() / "spec.schema.json"
    )
    say(path.read_text("utf-8"))
    return OK
