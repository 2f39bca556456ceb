"""``clusterspec completion SHELL``."""

from __future__ import annotations

import argparse

from clusterspec.cli import OK
from clusterspec.cli.completions import script
from clusterspec.cli.terminal import say


def run(asked: argparse.Namespace) -> int:
    """Print the completion script of a shell."""
    say(script(asked.shell), exact=True)
    return OK
