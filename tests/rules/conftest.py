"""The whole way from a text to its findings, as `check` goes it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from clusterspec.finding import Finding
from clusterspec.studies.study import Settings, study_text
from tests.settings import SETTINGS

LOGS = Path(__file__).parent / "logs"
"""The folder of every spec of these tests."""
Check = Callable[[str], list[Finding]]


@pytest.fixture(scope="session")
def settings() -> Settings:
    return SETTINGS


@pytest.fixture(scope="session")
def check(settings: Settings) -> Check:
    return lambda text: list(study_text(text, settings, folder=LOGS).findings)
