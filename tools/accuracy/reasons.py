"""Why a prediction is off or an error stands, in a data file beside the cases: found by hand, one by one."""

from __future__ import annotations

import tomllib
from functools import cache

from tools.accuracy.cases import DATA


@cache
def _reasons() -> dict[str, str]:
    return {str(key): str(value) for key, value in tomllib.loads((DATA / "reasons.toml").read_text("utf-8")).items()}


def reason(key: str) -> str:
    """The reason for a case; said to be unknown where nobody has found it."""
    return _reasons().get(key, "not known")
