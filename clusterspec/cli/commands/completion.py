"""``clusterspec completion SHELL``."""

from __future__ import annotations

import argparse

from clusterspec.cli import OK
from clusterspec.cli.completions import script
from clusterspec.cli.terminal import print_text


def run(args: argparse.Namespace) -> int:
    """Print the completion script of a shell."""
    print_text(script(args.shell), exact=True)
    return OK
