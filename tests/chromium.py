"""Which Chromium the tests of live figures drive, and what a machine lacks for `make browser`."""

from __future__ import annotations

import os
import shutil
import sys
from importlib.util import find_spec

NAMES = ("chromium", "chromium-browser", "google-chrome", "chrome")
NO_BROWSER = "NO BROWSER: the live figures of reports are not tested; install Chromium, or name it in CHROMIUM"


def chromium() -> str | None:
    """The path of a Chromium: `CHROMIUM`, else one on the path; None where there is none, or nothing to drive it."""
    if find_spec("playwright") is None:
        return None
    return os.environ.get("CHROMIUM") or next(filter(None, map(shutil.which, NAMES)), None)


def missing() -> str | None:
    """What `make browser` needs and this machine lacks, with what to do; None where nothing is missing."""
    if find_spec("playwright") is None:
        return "the Python package playwright is missing: `make test` installs it with the other packages for tests"
    path = chromium()
    if path is None:
        return f"no Chromium on the path ({', '.join(NAMES)}): install one, or name its program in CHROMIUM"
    if shutil.which(path) is None:
        return f"CHROMIUM={path} is not a program that can be started"
    programs = [name for name in ("node", "npm") if shutil.which(name) is None]
    if programs:
        return f"{' and '.join(programs)} not on the path: Node 20 or later builds the playground from web/"
    return None


if __name__ == "__main__":
    sys.exit(f"make browser: {lack}" if (lack := missing()) else 0)
