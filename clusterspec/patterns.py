"""Regular expressions that are compiled when they are first used.

Compiling those of all modules takes as long as checking a spec, and most checks use few of them.
"""

from __future__ import annotations

import re

DECIMAL = r"([0-9]{1,16}(?:\.[0-9]{1,16})?)"
"""A group with a decimal number without a sign, as programs print measured values."""
TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, AnyStr


def pattern(text: AnyStr, flags: int = 0) -> re.Pattern[AnyStr]:
    """A pattern that is compiled on first use. An invalid one raises `re.error` only then.

    >>> pattern("[0-9]+").findall("8 nodes, 64 GPUs")
    ['8', '64']
    """
    return _Pattern(text, flags)  # type: ignore[return-value]


class _Pattern:
    """Stands for a pattern compiled on first use, with the attributes of the compiled pattern."""

    def __init__(self, text: str | bytes, flags: int) -> None:
        self._given: tuple[Any, int] = text, flags

    def __getattr__(self, name: str) -> Any:
        """An attribute that was not used before."""
        self.__dict__[name] = found = getattr(re.compile(*self._given), name)
        return found
