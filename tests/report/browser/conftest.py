"""A headless Chromium, where the machine has one."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.chromium import NO_BROWSER, chromium
from tests.effort import ALL_CASES

FLAGS = [
    *("--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run"),
    *("--disable-background-networking", "--disable-component-update", "--disable-sync"),
]


SMOKE = {"test_rendering_logs_nothing_and_requests_nothing", "test_random_positions_agree_with_the_program"}
"""What `make test` drives; `make browser` drives all."""


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    folder = Path(__file__).parent
    left = [] if ALL_CASES else [item for item in items if item.path.parent == folder and item.name not in SMOKE]
    config.hook.pytest_deselected(items=left)
    items[:] = [item for item in items if item not in left]


@pytest.fixture(scope="session")
def browser() -> Iterator[Any]:
    """A browser; the tests are skipped where none can be started, and the summary says so."""
    path = chromium()
    if path is None:
        pytest.skip(NO_BROWSER)
    from playwright.sync_api import sync_playwright

    with sync_playwright() as play:
        started = play.chromium.launch(executable_path=path, args=FLAGS)
        yield started
        started.close()
