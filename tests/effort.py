"""How long property tests look: briefly in `make test`, long in `make fuzz` (HYPOTHESIS_PROFILE=fuzz)."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable

FUZZING = os.environ.get("HYPOTHESIS_PROFILE") == "fuzz"
LONGER = 50


def examples(number: int) -> int:
    """How many examples to try where a quick run tries ``number``."""
    return number * LONGER if FUZZING else number


class TooMany(AssertionError):
    """An action made more calls than it may."""


def steps(action: Callable[[], object], most: int | None = None) -> int:
    """How many functions an action calls, those of C among them: a measure of work that a busy machine does not change.

    Raises `TooMany` beyond ``most``, so that what would never end does.
    """
    count = 0

    def counted(_: object, event: str, __: object) -> None:
        nonlocal count
        if event in {"call", "c_call"}:
            count += 1
            if most is not None and count > most:
                sys.setprofile(None)
                raise TooMany(f"more than {most:,} calls")

    before = sys.getprofile()
    sys.setprofile(counted)
    try:
        action()
    finally:
        sys.setprofile(before)
    return count
