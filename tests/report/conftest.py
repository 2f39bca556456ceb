"""Reports are written as a person would write them."""

from __future__ import annotations

from tests.cli.conftest import call

__all__ = ["call"]
