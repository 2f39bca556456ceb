"""Property tests have no deadline, since machines differ and are shared.

`make test` looks at the same examples every time, so that what is green stays green; `make fuzz` looks at new ones.
"""

from __future__ import annotations

import os

import pytest
from hypothesis import HealthCheck, settings

from tests.chromium import NO_BROWSER, chromium
from tests.effort import FUZZING, examples

settings.register_profile(
    "ours",
    deadline=None,
    derandomize=not FUZZING,
    max_examples=examples(100),
    suppress_health_check=[HealthCheck.too_slow],
)
settings.load_profile("ours")
os.environ.pop("COLUMNS", None)  # which pytest-xdist sets, and every command obeys


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Names what was not tested for want of a browser."""
    if chromium() is None:
        terminalreporter.write_line(NO_BROWSER, red=True, bold=True)
