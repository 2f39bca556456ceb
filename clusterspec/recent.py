"""Recent results, kept by their inputs: the cache of values that have no hash."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import wraps

from clusterspec.named_tuples import Generic

__all__ = ["Recent", "cached_property", "recent"]

TYPE_CHECKING = False
if TYPE_CHECKING:
    from functools import cached_property
    from typing import ParamSpec, TypeVar

    P = ParamSpec("P")
    T = TypeVar("T")
else:
    T = None

    class cached_property:  # noqa: N801 - the name of the standard library
        """`functools.cached_property` as of Python 3.12, without a lock, which takes most of the time of a short
        function before. Threads that ask at the same moment compute the value twice.
        """

        def __init__(self, function):
            self.function, self.__doc__ = function, function.__doc__

        def __set_name__(self, owner, name):
            self.name = name

        def __get__(self, instance, owner=None):
            if instance is None:
                return self
            value = instance.__dict__[self.name] = self.function(instance)
            return value


class Recent(Generic[T]):
    """The latest values, ``most`` of them.

    Several threads may use it: the values are a tuple that is replaced as a whole. If two values are kept at the same
    moment, one may be lost; it is computed again.
    """

    def __init__(self, most: int) -> None:
        self._most = most
        self.kept: tuple[T, ...] = ()

    def __iter__(self) -> Iterator[T]:
        """The values, latest first."""
        return reversed(self.kept)

    def keep(self, value: T) -> T:
        """Keep a value, instead of the oldest where there are too many, and return it."""
        self.kept = (*self.kept, value)[-self._most :]
        return value


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
        results: Recent[tuple[tuple[object, ...], T]] = Recent(most)

        @wraps(function)
        def remembered(*args: P.args, **kwargs: P.kwargs) -> T:
            given = (*args, *kwargs.items())
            # NOTE: a dictionary does not work here: arguments may hold mappings, which have no hash.
            for arguments, result in results:
                if arguments == given:
                    return result
            return results.keep((given, function(*args, **kwargs)))[1]

        return remembered

    return decorate
