"""Options of ``clusterspec init`` and ``clusterspec schema``."""

from __future__ import annotations

import argparse


def describe(one: argparse.ArgumentParser) -> None:
    """Adds nothing yet: both take only what every command takes."""
