"""``python -m clusterspec`` and the ``clusterspec`` command."""

from __future__ import annotations

import os
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import NoReturn

SELDOM = 100_000
"""Number of new objects between two runs of the garbage collector. A short run needs none, and each takes as long as
reading a spec.
"""
UNPRINTED = 2
"""Exit status if the version cannot be printed; the same as for any call that cannot be carried out."""
NEED_AN_ORDERLY_END = frozenset({"atexit", "threading"})
"""Modules that register work for the end of the interpreter."""


def main() -> NoReturn:
    """Runs the command line and exits with its status; Ctrl-C ends it quietly, during start-up too."""
    from clusterspec.cli import INTERRUPTED, exit_on_interrupt

    exit_on_interrupt()
    try:
        import gc

        gc.set_threshold(SELDOM)
        if sys.argv[1:] in (["--version"], ["-V"]):
            end_process(version())
        from clusterspec.cli import run

        status = run(sys.argv[1:])
        exit_on_interrupt()
        end_process(status)
    except KeyboardInterrupt:
        os._exit(INTERRUPTED)


def end_process(status: int) -> NoReturn:
    """End the process, without a shutdown of the interpreter if nothing depends on it.

    Freeing all modules and objects takes a seventh of the time of a check. With a profiler, a thread, a function
    registered with `atexit` or a closed output stream, the interpreter shuts down normally.
    """
    if NEED_AN_ORDERLY_END.isdisjoint(sys.modules) and sys.getprofile() is None and has_flushed_output():
        os._exit(status)
    sys.exit(status)


def has_flushed_output() -> bool:
    """Whether standard output and standard error, if open, were flushed without error."""
    try:
        for stream in (sys.stdout, sys.stderr):
            if stream is not None:
                stream.flush()
    except (OSError, ValueError):
        return False
    return True


def version() -> int:
    """Print the version and return the exit status: 2 if standard output cannot be written."""
    from clusterspec import __version__

    try:
        os.write(sys.stdout.fileno(), f"clusterspec {__version__}\n".encode())
    except (OSError, AttributeError, ValueError):
        return UNPRINTED
    return 0


if __name__ == "__main__":
    main()
