"""Which Chromium the tests of live figures drive."""

from __future__ import annotations

import os
import shutil
from importlib.util import find_spec

NAMES = ("chromium", "chromium-browser", "google-chrome", "chrome")
NO_BROWSER = "NO BROWSER: the live figures of reports are not tested; install Chromium, or name it in CHROMIUM"


def chromium() -> str | None:
    """The path of a Chromium: `CHROMIUM`, else one on the path; None where there is none, or nothing to drive it."""
    if find_spec("playwright") is None:
        return None
    return os.environ.get("CHROMIUM") or next(filter(None, map(shutil.which, NAMES)), None)
