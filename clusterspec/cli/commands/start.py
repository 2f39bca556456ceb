"""``clusterspec init``."""

from __future__ import annotations

import argparse
from pathlib import Path

from clusterspec import resources
from clusterspec.cli import OK
from clusterspec.cli.terminal import print_text


def run(asked: argparse.Namespace) -> int:
    """Print a starting spec: the shipped one, or one for a platform and a model."""
    if not (asked.platform or asked.model or asked.kind):
        print_text((resources.templates() / "starter.yaml").read_text("utf-8"))
        return OK
    from clusterspec.cli.inputs import StudyReader
    from clusterspec.cli.starting import starting_spec

    settings = StudyReader(asked).settings(Path.cwd())
    print_text(
        starting_spec(settings, asked.platform or "dgx-h100", asked.model or "llama-3.1-8b", asked.kind or "train")
    )
    return OK
