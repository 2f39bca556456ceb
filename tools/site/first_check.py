"""``python -m tools.site.first_check SITE``: how long a visitor of a built site waits for the first check.

Each of three visits starts with empty caches, in headless Chromium on two cores, from the request for the playground to
the verdict on its first example. The median counts.
"""

from __future__ import annotations

import functools
import http.server
import os
import sys
import threading
from pathlib import Path
from statistics import median
from time import monotonic

from tests.chromium import chromium

LONGEST = 10.0
"""Seconds."""
VISITS = 3
CORES = 2


class Quiet(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *_: object) -> None:
        pass


def seconds_to_verdict(address: str, program: str) -> list[float]:
    """Seconds until the first verdict, of each visit."""
    from playwright.sync_api import sync_playwright

    found = []
    with sync_playwright() as started:
        for _ in range(VISITS):
            browser = started.chromium.launch(executable_path=program, args=["--no-sandbox"])
            page = browser.new_page()
            began = monotonic()
            page.goto(address)
            page.locator(".verdict").first.wait_for(timeout=120_000)
            found.append(monotonic() - began)
            browser.close()
    return found


def main(site: Path) -> int:
    """Print the times; 1 where the median is above the limit."""
    program = chromium()
    if program is None:
        sys.exit("first check: no Chromium on the path; install one, or name its program in CHROMIUM")
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[:CORES])
    handler = functools.partial(Quiet, directory=str(site))
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    found = seconds_to_verdict(f"http://127.0.0.1:{server.server_port}/playground/", program)
    times = ", ".join(f"{one:.1f}" for one in found)
    print(f"first check after {times} s on {CORES} cores; limit: {LONGEST:.0f} s for the median")
    return 1 if median(found) > LONGEST else 0


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1]).resolve()))
