"""Replacements for parts of the standard library that are too slow for a check, or differ between versions of Python:
patterns, sums, medians, digests, caches, named tuples, functions made of templates, and the parts of `typing` that
running code needs.

Patterns are compiled on first use: compiling those of all modules takes as long as checking a spec, and most checks use
few of them. Sums add floats from left to right, as columns are added: from Python 3.12 on the built-in `sum`
compensates their rounding, which changes the last digit.

The named tuple of `typing` compiles ``__new__`` and the annotations of each class, a sixth of a millisecond (measured
with Python 3.11): for the named tuples of a check 6 % of its time. Here ``__new__`` is a template of this file with the
names of the fields. A type checker sees the standard class. Importing `typing` takes 4 % of a check, so that modules
which a check loads import it for the type checker only; the names of it that run are here.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Iterable, Iterator
from functools import wraps
from importlib import import_module
from operator import is_

__all__ = [
    "DECIMAL",
    "Generic",
    "NamedTuple",
    "Protocol",
    "Recent",
    "cached_property",
    "cast",
    "median",
    "pattern",
    "recent",
    "sha256_text",
    "sum_of",
]

TYPE_CHECKING = False
if TYPE_CHECKING:
    from functools import cached_property
    from typing import Any, AnyStr, Generic, NamedTuple, ParamSpec, Protocol, TypeVar, cast

    P = ParamSpec("P")
    T = TypeVar("T")
else:
    T = None

    from collections import _tuplegetter
    from types import FunctionType

    _new_tuple = tuple.__new__

    def function_with_names(template, name, arguments, defaults, space=None):
        """A copy of a template function with its own name, argument names and defaults. The argument names also replace
        the keywords that the template passes on. ``space`` has the globals of a template from another module.
        """
        code, keywords = template.__code__, arguments[1:]
        passed = code.co_varnames[1:]
        code = code.replace(
            co_name=name,
            co_argcount=len(arguments),
            co_nlocals=len(arguments),
            co_varnames=arguments,
            co_consts=tuple([keywords if each and each == passed else each for each in code.co_consts]),
        )
        return FunctionType(code, template.__globals__ if space is None else space, name, defaults)

    _JOINING = (
        lambda cls: _new_tuple(cls, ()),
        lambda cls, a: _new_tuple(cls, (a,)),
        lambda cls, a, b: _new_tuple(cls, (a, b)),
        lambda cls, a, b, c: _new_tuple(cls, (a, b, c)),
        lambda cls, a, b, c, d: _new_tuple(cls, (a, b, c, d)),
        lambda cls, a, b, c, d, e: _new_tuple(cls, (a, b, c, d, e)),
        lambda cls, a, b, c, d, e, f: _new_tuple(cls, (a, b, c, d, e, f)),
        lambda cls, a, b, c, d, e, f, g: _new_tuple(cls, (a, b, c, d, e, f, g)),
        lambda cls, a, b, c, d, e, f, g, h: _new_tuple(cls, (a, b, c, d, e, f, g, h)),
        lambda cls, a, b, c, d, e, f, g, h, i: _new_tuple(cls, (a, b, c, d, e, f, g, h, i)),
        lambda cls, a, b, c, d, e, f, g, h, i, j: _new_tuple(cls, (a, b, c, d, e, f, g, h, i, j)),
        lambda cls, a, b, c, d, e, f, g, h, i, j, k: _new_tuple(cls, (a, b, c, d, e, f, g, h, i, j, k)),
        lambda cls, a, b, c, d, e, f, g, h, i, j, k, m: _new_tuple(cls, (a, b, c, d, e, f, g, h, i, j, k, m)),
    )
    """``__new__`` of a named tuple by its number of fields."""

    def _tuple_of(given):
        """A named tuple. ``given`` has its class and then its values, as arguments of ``__new__``."""
        cls, *values = given.values()
        return _new_tuple(cls, values)

    class _Named(type):
        """Creates a named tuple from the annotations of a class."""

        def __new__(cls, name, _, space):
            names = tuple(space["__annotations__"])
            given = [each in space for each in names]
            if given != sorted(given):
                raise TypeError(f"{name}: a field without a default follows one with a default")
            defaults = {each: space.pop(each) for each in names if each in space}
            template = _JOINING[len(names)] if len(names) < len(_JOINING) else lambda cls: _tuple_of(locals())
            made = function_with_names(template, "__new__", ("cls", *names), tuple(defaults.values()))
            made.__qualname__, made.__module__ = f"{space['__qualname__']}.__new__", space["__module__"]
            space |= {each: _tuplegetter(index, f"Alias for field number {index}") for index, each in enumerate(names)}
            space |= {"__new__": made, "__slots__": (), "__match_args__": names}
            space |= {"_fields": names, "_field_defaults": defaults}
            return type(name, (_Tuple,), space)

    class _Tuple(tuple):
        """The methods that all named tuples share, as in `collections.namedtuple`."""

        __slots__ = ()

        @classmethod
        def _make(cls, values):
            made = _new_tuple(cls, values)
            if len(made) != len(cls._fields):
                raise TypeError(f"Expected {len(cls._fields)} arguments, got {len(made)}")
            return made

        def _replace(self, /, **changes):
            made = self._make(map(changes.pop, self._fields, self))
            if changes:
                raise ValueError(f"Got unexpected field names: {list(changes)!r}")
            return made

        def _asdict(self):
            return dict(zip(self._fields, self, strict=True))

        def __getnewargs__(self):
            return tuple(self)

        def __repr__(self):
            shown = ", ".join([f"{name}={value!r}" for name, value in zip(self._fields, self, strict=True)])
            return f"{self.__class__.__name__}({shown})"

    NamedTuple = type.__new__(_Named, "NamedTuple", (), {})

    class Generic:
        """A base class for generic classes, whose type parameters have no effect at run time."""

        def __class_getitem__(cls, _):
            return cls

    Protocol = Generic

    def cast(_, value):
        """The value; only a type checker reads its type."""
        return value

    class cached_property:  # noqa: N801 - the name of the standard library
        """`functools.cached_property` as of Python 3.12. Earlier versions take a lock, which costs more than computing
        a short property. Threads that access it at the same moment compute the value twice.
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


# Regular expressions that are compiled when they are first used

DECIMAL = r"([0-9]{1,16}(?:\.[0-9]{1,16})?)"
"""A group with a decimal number without a sign, as programs print measured values."""


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


# Sums

sum_of = sum
"""The sum of numbers or columns, taken from left to right."""

if sys.version_info >= (3, 12):

    def sum_of(values: Iterable[Any], /, start: Any = 0) -> Any:
        """The sum of numbers or columns, taken from left to right."""
        for value in values:
            start = start + value
        return start


# Medians


def median(values: Iterable[float]) -> float:
    """The middle value, or the mean of the two in the middle. `statistics` loads the modules of fractions and decimal
    numbers, which takes as long as a tenth of a check.

    >>> median([3.0, 1.0, 2.0]), median([1.0, 2.0])
    (2.0, 1.5)
    """
    ordered = sorted(values)
    half = len(ordered) // 2
    return ordered[half] if len(ordered) % 2 else (ordered[half - 1] + ordered[half]) / 2


# Digests


def sha256_text(data: bytes) -> str:
    """The SHA-256 of some bytes in 64 hexadecimal digits.

    `hashlib` loads OpenSSL, which takes longer than hashing a spec. Like `random`, this asks Python's own module.

    >>> sha256_text(b"")[:16]
    'e3b0c44298fc1c14'
    """
    try:
        found = import_module("_sha2" if sys.version_info >= (3, 12) else "_sha256").sha256(data)
    except ImportError:  # a Python that was built without it
        from hashlib import sha256 as found_by_openssl

        found = found_by_openssl(data)
    return str(found.hexdigest())


# Recent results, kept by their inputs: the cache of values that have no hash


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
        """Store a value, in place of the oldest if there are too many, and return it."""
        self.kept = (*self.kept, value)[-self._most :]
        return value

    def exchange(self, old: T, value: T) -> T:
        """Keep a value at the place of an equal one, and return it."""
        self.kept = tuple([value if each is old else each for each in self.kept])
        return value


def _holds_others(known: tuple[object, ...], given: tuple[object, ...]) -> bool:
    """Whether a given argument is a different object than the known one and has attributes, such as a record."""
    return any(one is not other and hasattr(one, "__dict__") for one, other in zip(known, given, strict=True))


def recent(most: int) -> Callable[[Callable[P, T]], Callable[P, T]]:
    """The decorator of a pure function whose last ``most`` results are kept.

    Unlike with `functools.lru_cache`, arguments are compared, not hashed: they may hold mappings, and equal arguments
    are usually one object. Equal arguments that are other objects replace them, so the next call with these objects
    need not compare contents. Arguments that most often differ should come first.

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
            for known in results:
                if known[0] == given:
                    if not all(map(is_, known[0], given)) and _holds_others(known[0], given):
                        results.exchange(known, (given, known[1]))
                    return known[1]
            return results.keep((given, function(*args, **kwargs)))[1]

        return remembered

    return decorate
