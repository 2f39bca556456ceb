"""A progress bar on standard error, if that is a terminal."""

from __future__ import annotations

import sys
from time import monotonic

WIDTH = 30
EVERY = 0.1
"""Seconds between two drawings."""


class Bar:
    """A progress bar; call it with the amount done and the total, then `close` it."""

    def __init__(self, title: str) -> None:
        self.title = title
        self._shown = sys.stderr.isatty()
        self._drawn = 0.0

    def __call__(self, done: int, total: int) -> None:
        now = monotonic()
        if not self._shown or (done < total and now - self._drawn < EVERY):
            return
        self._drawn = now
        full = WIDTH * done // max(1, total)
        sys.stderr.write(f"\r{self.title} [{'#' * full}{'.' * (WIDTH - full)}] {100 * done // max(1, total):3d} %")
        sys.stderr.flush()

    def close(self) -> None:
        """Erase the bar."""
        if self._shown and self._drawn:
            sys.stderr.write("\r" + " " * (len(self.title) + WIDTH + 10) + "\r")
            sys.stderr.flush()
