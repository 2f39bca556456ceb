"""Options of ``clusterspec schema``."""

from __future__ import annotations

import argparse


def describe(one: argparse.ArgumentParser) -> None:
    """Adds nothing: it takes only what every command takes."""
