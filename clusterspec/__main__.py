"""``python -m clusterspec`` and the ``clusterspec`` command."""

from __future__ import annotations

import os
import sys

INTERRUPTED = 130
"""As a shell counts a process that was ended by Ctrl-C."""


def main() -> None:
    """Runs the command line and exits with its status; Ctrl-C ends it quietly, during start-up too."""
    try:
        from clusterspec.cli import run

        status = run(sys.argv[1:])
    except KeyboardInterrupt:
        os._exit(INTERRUPTED)
    sys.exit(status)


if __name__ == "__main__":
    main()
