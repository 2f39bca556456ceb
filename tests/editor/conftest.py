"""The pages in a headless Chromium: `make test` drives the page of ``clusterspec edit``, `make browser` all."""

from __future__ import annotations

import functools
import http.server
import threading
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from tests.effort import ALL_CASES
from tools.site.playground import write_playground

SLOW = 120_000
"""Milliseconds that a start may take on a machine that does other things, too."""


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    folder = Path(__file__).parent
    left = [] if ALL_CASES else [item for item in items if item.path.match(f"{folder}/test_playground*.py")]
    config.hook.pytest_deselected(items=left)
    items[:] = [item for item in items if item not in left]


@dataclass
class Visited:
    """A page with what it logged and what it asked for."""

    context: Any
    page: Any
    logged: list[str] = field(default_factory=list)
    asked: list[str] = field(default_factory=list)

    def typed(self, text: str) -> None:
        """Replace the text of the editor, as a person would."""
        self.page.locator("#editor .cm-content").click()
        self.page.keyboard.press("Control+a")
        self.page.keyboard.insert_text(text)

    def elsewhere(self, address: str) -> list[str]:
        """The requests to other places than the page."""
        return [url for url in self.asked if not url.startswith((address, "blob:", "data:", "about:"))]


@pytest.fixture
def visited(browser: Any) -> Iterator[Visited]:
    context = browser.new_context(viewport={"width": 1400, "height": 900})
    made = Visited(context, context.new_page())
    made.page.on("console", lambda message: made.logged.append(message.text))
    made.page.on("pageerror", lambda fault: made.logged.append(str(fault)))
    context.on("request", lambda request: made.asked.append(request.url))
    yield made
    context.close()


class Quiet(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *_: object) -> None:
        pass


@pytest.fixture(scope="session")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("playground")
    write_playground(made)
    return made


@pytest.fixture
def site(folder: Path) -> Iterator[http.server.ThreadingHTTPServer]:
    made = http.server.ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Quiet, directory=str(folder)))
    threading.Thread(target=made.serve_forever, daemon=True).start()
    yield made
    made.shutdown()
    made.server_close()


@pytest.fixture
def opened(site: http.server.ThreadingHTTPServer, visited: Visited) -> Visited:
    visited.page.set_default_timeout(SLOW)
    visited.page.goto(f"http://127.0.0.1:{site.server_port}/")
    visited.page.locator(".verdict").first.wait_for()
    return visited
