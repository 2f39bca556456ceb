"""The fixture of calls, for tests of reports as commands write them."""

from __future__ import annotations

from tests.cli.conftest import call

__all__ = ["call"]
