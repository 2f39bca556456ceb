"""The sum of numbers, the same on every version of Python.

From Python 3.12 on the built-in `sum` compensates the rounding of floats, which changes the last digit. Here floats are
added from left to right everywhere, as columns are.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

sum_of = sum
"""The sum of numbers or columns, taken from left to right."""

if sys.version_info >= (3, 12):

    def sum_of(values: Iterable[Any], /, start: Any = 0) -> Any:
        """The sum of numbers or columns, taken from left to right."""
        for value in values:
            start = start + value
        return start
