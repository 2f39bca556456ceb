"""How long property tests look: briefly in `make test`, long in `make fuzz` (HYPOTHESIS_PROFILE=fuzz)."""

from __future__ import annotations

import os

FUZZING = os.environ.get("HYPOTHESIS_PROFILE") == "fuzz"
LONGER = 50


def examples(number: int) -> int:
    """How many examples to try where a quick run tries ``number``."""
    return number * LONGER if FUZZING else number
