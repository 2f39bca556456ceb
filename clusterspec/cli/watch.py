"""``clusterspec check --watch``: the check again whenever a file that it read changes."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Collection, Iterator
from pathlib import Path
from time import sleep

from clusterspec.cli import UsageFault
from clusterspec.cli.terminal import print_error

PAUSE = 0.25
"""Seconds between two checks for changed files, a tenth of the time in which a person saves a file and looks up."""
CLEAR = "\x1b[2J\x1b[3J\x1b[H"
Check = Callable[[], tuple[int, Collection[str]]]
"""A check; it returns its exit status and the files and folders read."""


def watch(check: Check, paths: Collection[str]) -> int:
    """Checks until the user interrupts, and returns the exit status of the last check.

    A fault of a call, such as a configuration that is being edited, is printed; the next change is waited for. The
    paths of the call are watched even if the check could not read them.
    """
    status = 0
    try:
        while True:
            before = file_states(paths)
            if sys.stdout.isatty():
                sys.stdout.write(CLEAR)
            try:
                status, read = check()
            except UsageFault as fault:
                status, read = 2, ()
                print_error(f"clusterspec: {fault}")
            print_error("watching; Ctrl+C ends")
            sys.stdout.flush()
            watched = {*paths, *read}
            # NOTE: a file may change while it is checked, so the states of the call's paths are those before the check.
            seen = file_states(watched) | before
            while file_states(watched) == seen:
                sleep(PAUSE)
    except KeyboardInterrupt:
        return status


def file_states(paths: Collection[str]) -> dict[str, tuple[int, int] | None]:
    """Time of change and size of the files, and of all files in the folders; None for a file that cannot be read.

    Hidden folders are left out, as a check leaves them out.
    """
    return {name: _file_state(name) for path in paths for name in _files_below(path)}


def _files_below(path: str) -> Iterator[str]:
    yield path
    for folder, folders, files in os.walk(path):
        folders[:] = [name for name in folders if not name.startswith(".")]
        yield from (f"{folder}/{name}" for name in files)


def _file_state(name: str) -> tuple[int, int] | None:
    try:
        status = Path(name).stat()
    except OSError:
        return None
    return status.st_mtime_ns, status.st_size
