"""Standard output and standard error: what is printed, and whether in colour."""

from __future__ import annotations

import argparse
import os
import sys

from clusterspec.report.ink import Ink


def say(text: str) -> None:
    """Writes to standard output as it is; what its encoding cannot hold becomes an escape."""
    encoding = sys.stdout.encoding or "utf-8"
    sys.stdout.write(text.encode(encoding, "backslashreplace").decode(encoding))
    sys.stdout.flush()


def say_error(text: str) -> None:
    """One line on standard error."""
    encoding = sys.stderr.encoding or "utf-8"
    print(text.encode(encoding, "backslashreplace").decode(encoding), file=sys.stderr)


def ink(asked: argparse.Namespace) -> Ink:
    """Colour by ``--color``, ``NO_COLOR``, ``FORCE_COLOR`` and whether a terminal listens."""
    if asked.color != "auto":
        return Ink(asked.color == "always")
    if os.environ.get("NO_COLOR"):
        return Ink(False)
    return Ink(bool(os.environ.get("FORCE_COLOR")) or (sys.stdout.isatty() and os.environ.get("TERM") != "dumb"))


class Progress:
    """Says on a terminal what is being done; silent in a pipe."""

    def __init__(self) -> None:
        self.on = sys.stderr.isatty()

    def __call__(self, text: str) -> None:
        if self.on:
            sys.stderr.write(f"\r\x1b[2K{text}")
            sys.stderr.flush()

    def done(self) -> None:
        """Wipes the line."""
        self("")
