"""Options of ``clusterspec diff``."""

from __future__ import annotations

import argparse

from clusterspec.cli.options import formats, named, path


def revision(text: str) -> str:
    """A file, or ``REVISION:PATH`` as given."""
    return path(text) if ":" not in text else named(text)


def describe(parser: argparse.ArgumentParser) -> None:
    """Add the options to a parser."""
    for name in ("old", "new"):
        parser.add_argument(
            name,
            metavar=name.upper(),
            type=revision,
            help=f"the {name} spec: a file, or REVISION:PATH of the git repository here",
        )
    formats(parser, "text", "markdown", "json")
