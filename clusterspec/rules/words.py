"""Lists as people say them."""

from __future__ import annotations

from collections.abc import Iterable


def either(values: Iterable[object]) -> str:
    """Choices.

    >>> either([1, 2, 4]), either([8])
    ('1, 2 or 4', '8')
    """
    return _joined(values, "or")


def both(values: Iterable[object]) -> str:
    """Things together.

    >>> both(["tp 8", "cp 2"])
    'tp 8 and cp 2'
    """
    return _joined(values, "and")


def _joined(values: Iterable[object], word: str) -> str:
    *first, last = [f"{value:,}" if isinstance(value, int) else str(value) for value in values] or [""]
    return f"{', '.join(first)} {word} {last}" if first else last
