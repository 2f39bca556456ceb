"""``clusterspec init``."""

from __future__ import annotations

import argparse
from pathlib import Path

from clusterspec import resources
from clusterspec.cli import OK
from clusterspec.cli.terminal import print_error, print_text


def run(args: argparse.Namespace) -> int:
    """Print a starting spec: the shipped one, or one for a platform and a model."""
    if not (args.platform or args.model or args.kind):
        print_text((resources.templates() / "starter.yaml").read_text("utf-8"))
        return OK
    from clusterspec.cli.inputs import StudyReader
    from clusterspec.cli.starting import starting_spec

    settings = StudyReader(args).settings(Path.cwd())
    platform, model, kind = args.platform or "dgx-h100", args.model or "llama-3.1-8b", args.kind or "train"
    text, sound = starting_spec(settings, platform, model, kind)
    print_text(text)
    if not sound:
        print_error(
            f"clusterspec: no usual layout of {model} is without errors on {platform}, and this one is the nearest"
        )
    return OK
