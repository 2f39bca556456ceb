"""`typing.NamedTuple` without compiling code, functions made of templates, and what running code needs of `typing`.

The standard class compiles ``__new__`` and the annotations of each class, a sixth of a millisecond (measured with
Python 3.11): for the named tuples of a check 6 % of its time. Here ``__new__`` is a template of this file with the
names of the fields. A type checker sees the standard class.

Importing `typing` takes 4 % of a check, so that modules which a check loads import it for the type checker only; the
names of it that run are here.
"""

from __future__ import annotations

__all__ = ["Generic", "NamedTuple", "Protocol", "cast"]

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Generic, NamedTuple, Protocol, cast
else:
    from collections import _tuplegetter
    from types import FunctionType

    _new_tuple = tuple.__new__

    def function_with_names(template, name, arguments, defaults, space=None):
        """The function of a template with its own name, names of arguments and defaults, and those names in place of
        the keywords that the template passes on; ``space`` holds the globals of a template of another module.
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
        """A named tuple of its arguments, after that of its class."""
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
        """The methods that all named tuples share, those of `collections.namedtuple`."""

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
        """Stands for the base of generic classes, which have no parameters when they run."""

        def __class_getitem__(cls, _):
            return cls

    Protocol = Generic

    def cast(_, value):
        """The value; only a type checker reads its type."""
        return value
