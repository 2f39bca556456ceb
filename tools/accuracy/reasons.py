"""Reasons for wrong predictions and accepted errors, from a data file written by hand."""

from __future__ import annotations

import tomllib
from functools import cache

from tools.accuracy.cases import DATA


@cache
def _reasons() -> dict[str, str]:
    return {str(key): str(value) for key, value in tomllib.loads((DATA / "reasons.toml").read_text("utf-8")).items()}


def reason(key: str) -> str:
    """The reason for a case; ``unknown`` if none was found."""
    return _reasons().get(key, "not known")
