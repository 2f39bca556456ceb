"""The latest results of a function, kept by its arguments."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from functools import wraps
from typing import ParamSpec, TypeVar

P = ParamSpec("P")
T = TypeVar("T")


def recent(most: int) -> Callable[[Callable[P, T]], Callable[P, T]]:
    """The decorator of a pure function whose last ``most`` results are kept.

    Unlike with `functools.lru_cache`, arguments are compared, not hashed: they may hold mappings, and equal arguments
    are usually one object. Arguments that most often differ should come first.

    >>> calls = []
    >>> @recent(2)
    ... def length(names):
    ...     calls.append(names)
    ...     return len(names)
    >>> length({"a": 1}), length({"a": 1}), len(calls)
    (1, 1, 1)
    """

    def decorate(function: Callable[P, T]) -> Callable[P, T]:
        kept: deque[tuple[tuple[object, ...], T]] = deque(maxlen=most)

        @wraps(function)
        def remembered(*args: P.args, **kwargs: P.kwargs) -> T:
            given = (*args, *kwargs.items())
            for known, result in reversed(tuple(kept)):
                if known == given:
                    return result
            result = function(*args, **kwargs)
            kept.append((given, result))
            return result

        return remembered

    return decorate
