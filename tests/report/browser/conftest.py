"""A headless Chromium, where the machine has one."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.effort import ALL_CASES

SMOKE = {"test_rendering_logs_nothing_and_requests_nothing", "test_random_positions_agree_with_the_program"}
"""What `make test` drives; `make browser` drives all."""


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    folder = Path(__file__).parent
    left = [] if ALL_CASES else [item for item in items if item.path.parent == folder and item.name not in SMOKE]
    config.hook.pytest_deselected(items=left)
    items[:] = [item for item in items if item not in left]
