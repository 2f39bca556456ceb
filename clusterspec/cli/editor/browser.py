"""The engine in a web worker: requests and answers as JSON, and searches with a time limit.

NumPy is absent in the browser, so a search evaluates layouts one by one.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from time import monotonic

from clusterspec.cli.editor.verbs import Session

NAME = "cluster.yaml"
MOST_LAYOUTS = 5_000
MOST_SECONDS = 20.0
"""The limit of a search in a browser in seconds: a person waits for it, and other pages share the machine."""
EVERY = 0.2
"""Seconds between two messages about progress."""


class LimitedProgress:
    """The progress of a search, which ends it at `MOST_LAYOUTS` layouts or after `MOST_SECONDS` seconds."""

    def __init__(self, tell: Callable[[int, int], object]) -> None:
        self._tell = tell
        self._began = self._told = monotonic()

    def __call__(self, done: int, total: int) -> bool:
        now = monotonic()
        ends = done >= MOST_LAYOUTS or now - self._began > MOST_SECONDS
        if ends or now - self._told > EVERY:
            self._told = now
            self._tell(done, total)
        return ends


def session_of_folder(folder: Path) -> Session:
    """The session of a page whose files are in memory; the commands find the spec in ``folder``."""
    (folder / NAME).touch()
    return Session(NAME)


def answer_json(session: Session, request: str, tell: Callable[[int, int], object]) -> str:
    """The answer to a request, both as JSON. ``tell`` is called with the number of evaluated layouts and of all
    layouts.
    """
    session.progress = LimitedProgress(tell)
    return json.dumps(session.answer(json.loads(request)))
