"""``python -m clusterspec`` and the ``clusterspec`` command."""

from __future__ import annotations

import gc
import os
import sys

SELDOM = 100_000
"""New objects between two searches for cycles: a short run needs none, and each takes as long as reading a spec."""
UNPRINTED = 2
"""As for every call that cannot be carried out."""
INTERRUPTED = 130
"""As a shell counts a process that was ended by Ctrl-C."""


def main() -> None:
    """Runs the command line and exits with its status; Ctrl-C ends it quietly, during start-up too."""
    gc.set_threshold(SELDOM)
    if sys.argv[1:] in (["--version"], ["-V"]):
        sys.exit(version())
    try:
        from clusterspec.cli import run

        status = run(sys.argv[1:])
    except KeyboardInterrupt:
        os._exit(INTERRUPTED)
    sys.exit(status)


def version() -> int:
    """Prints the version, and returns the exit status: 2 where standard output takes nothing."""
    from clusterspec import __version__

    try:
        os.write(sys.stdout.fileno(), f"clusterspec {__version__}\n".encode())
    except (OSError, AttributeError, ValueError):
        return UNPRINTED
    return 0


if __name__ == "__main__":
    main()
