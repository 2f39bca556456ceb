"""``python -m clusterspec`` and the ``clusterspec`` command."""

from __future__ import annotations

import sys


def main() -> None:
    """Runs the command line and exits with its status."""
    from clusterspec.cli import run

    sys.exit(run(sys.argv[1:]))


if __name__ == "__main__":
    main()
