"""``clusterspec schema``."""

from __future__ import annotations

import argparse
from pathlib import Path

from clusterspec import resources
from clusterspec.cli import OK
from clusterspec.cli.terminal import print_text


def run(args: argparse.Namespace) -> int:
    """Print the JSON Schema of the spec as shipped, or the one for editors.

    Raises `UsageFault` for a catalog folder that cannot be read.
    """
    if args.editor:
        from clusterspec.cli.choices import configured, opened
        from clusterspec.cli.editor_schema import editor_schema

        print_text(editor_schema(opened(args, configured(args, Path.cwd()))), exact=True)
        return OK
    print_text((resources.schemas() / "spec.schema.json").read_text("utf-8"), exact=True)
    return OK
