"""``clusterspec schema``."""

from __future__ import annotations

import argparse
from pathlib import Path

from clusterspec import resources
from clusterspec.cli import OK
from clusterspec.cli.terminal import print_text


def run(args: argparse.Namespace) -> int:
    """Print the JSON Schema for editors, or the one that the program reads.

    Raises `UsageFault` for a catalog folder that cannot be read.
    """
    from clusterspec.cli.choices import configured, opened

    config = configured(args, Path.cwd())
    own = args.catalog or config.catalog
    if args.annotated or not own:
        name = "spec.schema.json" if args.annotated else "editor.schema.json"
        print_text((resources.schemas() / name).read_text("utf-8"), exact=True)
        return OK
    from clusterspec.cli.editor_schema import editor_schema

    print_text(editor_schema(opened(args, config)), exact=True)
    return OK
