"""Property tests have no deadline, since machines differ and are shared.

`make test` looks at the same examples every time, so that what is green stays green; `make test-all` looks at more, and
`make fuzz` at new ones.
"""

from __future__ import annotations

import gc
import os
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from clusterspec.__main__ import SELDOM
from tests.chromium import NO_BROWSER, chromium
from tests.effort import ALL_CASES, FUZZING, examples
from tests.tables import table_as_test

FLAGS = [
    *("--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run"),
    *("--disable-background-networking", "--disable-component-update", "--disable-sync"),
]
"""What Chromium needs as root on a machine without a network."""

settings.register_profile(
    "ours",
    deadline=None,
    derandomize=not FUZZING,
    max_examples=examples(25),
    suppress_health_check=[HealthCheck.too_slow],
)
settings.load_profile("ours")
NEVER = 1_000_000
"""Collections of younger objects between two of all objects."""
gc.set_threshold(SELDOM, 10, NEVER)
os.environ.pop("COLUMNS", None)  # which pytest-xdist sets, and every command obeys


@pytest.hookimpl(tryfirst=True)
def pytest_pycollect_makeitem(collector: pytest.Collector, name: str, obj: object) -> pytest.Function | None:
    return table_as_test(collector, name, obj)


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    left_out = [] if ALL_CASES else [item for item in items if item.get_closest_marker("thorough") is not None]
    if left_out:
        config.hook.pytest_deselected(items=left_out)
        items[:] = [item for item in items if item.get_closest_marker("thorough") is None]


def pytest_collection_finish() -> None:
    """Modules and collected tests live to the end, and so do most results that survive two collections, since tests
    share them: each search among all of them takes seconds and finds little. Hypothesis makes one before its first
    example, which thus comes here, where nothing is left to look at.
    """
    gc.freeze()
    first_example()


@given(st.none())
def first_example(_: None) -> None:
    """An example of nothing."""


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Names what was not tested for want of a browser."""
    if chromium() is None:
        terminalreporter.write_line(NO_BROWSER, red=True, bold=True)


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
