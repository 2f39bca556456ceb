"""The fixture of calls, for tests of what commands do with a design."""

from __future__ import annotations

from tests.cli.conftest import call

__all__ = ["call"]
