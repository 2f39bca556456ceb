"""Data classes that cost little to define: the interface of `dataclasses`, without code compiled at import.

The standard decorator compiles six or more functions for each class, 0.4 to 1.4 ms (measured with Python 3.11), which
for the classes of this program takes longer than checking a spec. Here the methods are shared, and ``__init__`` is
compiled only for a class of which many instances are made. `dataclasses.replace`, `fields` and `asdict` work on these
classes, too; a type checker sees the standard decorator.
"""

from __future__ import annotations

from operator import attrgetter

__all__ = ["MISSING", "asdict", "dataclass", "field", "fields", "is_dataclass", "replace"]

TYPE_CHECKING = False
if TYPE_CHECKING:
    from dataclasses import MISSING, asdict, dataclass, field, fields, is_dataclass, replace
else:
    MISSING = object()
    _MARK = "_record_fields_"
    _MANY = 8
    """Instances from which on compiling ``__init__`` pays."""

    class _Field:
        """One field: its name and annotation, its default, and whether it takes part in comparing and in ``repr``."""

        __slots__ = ("compare", "default", "default_factory", "name", "repr", "type")

        def __init__(self, default=MISSING, default_factory=MISSING, compare=True, repr=True):  # noqa: A002
            self.name = self.type = ""
            self.default, self.default_factory = default, default_factory
            self.compare, self.repr = compare, repr

    def field(*, default=MISSING, default_factory=MISSING, compare=True, repr=True, init=True, **_):  # noqa: A002
        """A field with more to say of it than a default; one with ``init=False`` needs a default or a factory."""
        made = _Field(default, default_factory, compare, repr)
        made.type = "" if init else "no init"
        return made

    def dataclass(cls=None, /, *, frozen=False, slots=False, order=False, eq=True):
        """The decorator, with the options that this program uses."""

        def decorate(given):
            return _made(given, frozen=frozen, slots=slots, order=order, eq=eq)

        return decorate if cls is None else decorate(cls)

    def _made(cls, *, frozen, slots, order, eq):
        described = {name: one for base in reversed(cls.__mro__[1:]) for name, one in _described(base).items()}
        own = {}
        for name, annotation in cls.__annotations__.items():
            if not annotation.startswith("ClassVar"):
                given = cls.__dict__.get(name, MISSING)
                one = given if isinstance(given, _Field) else _Field(given)
                one.name, one.type = name, ("no init" if one.type == "no init" else annotation)
                own[name] = one
        described |= own
        if slots:
            cls = _slotted(cls, own)
        else:
            for name, one in own.items():
                if one.default is not MISSING:
                    setattr(cls, name, one.default)
                elif name in cls.__dict__:
                    delattr(cls, name)
        _equip(cls, described, frozen=frozen, order=order, eq=eq)
        return cls

    def _described(base):
        """The fields of a base, a record or a standard data class."""
        if _MARK in base.__dict__:
            return base.__dict__[_MARK]
        standard = base.__dict__.get("__dataclass_fields__", {})
        return standard if isinstance(standard, dict) else {}

    def _slotted(cls, own):
        """The class made anew with slots for its own fields."""
        space = {key: value for key, value in cls.__dict__.items() if key not in ("__dict__", "__weakref__", *own)}
        taken = {name for base in cls.__mro__[1:] for name in getattr(base, "__slots__", ())}
        space["__slots__"] = tuple(name for name in own if name not in taken)
        made = type(cls)(cls.__name__, cls.__bases__, space)
        made.__qualname__ = cls.__qualname__
        return made

    def _equip(cls, described, *, frozen, order, eq):
        """Gives a class the methods of a data class that it does not define itself."""
        values = _getter([name for name, one in described.items() if one.compare])
        methods = {"__init__": _generic_init(cls, described), "__repr__": _repr}
        if eq:
            methods["__eq__"] = lambda self, other: (
                values(self) == values(other) if other.__class__ is self.__class__ else NotImplemented
            )
        if eq and frozen and "__hash__" not in cls.__dict__:
            cls.__hash__ = lambda self: hash(values(self))
        elif eq and not frozen and "__hash__" not in cls.__dict__:
            cls.__hash__ = None
        if frozen:
            methods |= {"__setattr__": _refuse, "__delattr__": _refuse}
            methods |= {"__getstate__": _state, "__setstate__": _restore} if "__slots__" in cls.__dict__ else {}
        if order:
            methods |= _ordering(values)
        for name, method in methods.items():
            if name not in cls.__dict__:
                setattr(cls, name, method)
        setattr(cls, _MARK, described)
        cls.__dataclass_fields__ = _Standard()
        cls.__dataclass_params__ = _Parameters(frozen)
        cls.__match_args__ = tuple(described)

    def _getter(names):
        if len(names) > 1:
            return attrgetter(*names)
        return (lambda self, get=attrgetter(names[0]): (get(self),)) if names else (lambda _: ())

    def _generic_init(cls, described):
        """An ``__init__`` without compiled code, which compiles one in its place once many instances were made."""
        wanted = [one for one in described.values() if one.type != "no init"]
        names = [one.name for one in wanted]
        put, count, post = object.__setattr__, [0], hasattr(cls, "__post_init__")

        def __init__(self, *args, **kwargs):  # noqa: N807 - it becomes a method
            count[0] += 1
            if count[0] == _MANY and self.__class__ is cls:
                cls.__init__ = _compiled(cls, described)
            if len(args) > len(names):
                raise TypeError(f"{cls.__name__}() takes {len(names)} arguments, not {len(args)}")
            for name, value in zip(names, args, strict=False):
                if name in kwargs:
                    raise TypeError(f"{cls.__name__}() got two values for {name!r}")
                put(self, name, value)
            taken = len(args)
            for place, one in enumerate(described.values()):
                name = one.name
                if place < taken and one.type != "no init":
                    continue
                if name in kwargs:
                    put(self, name, kwargs.pop(name))
                else:
                    put(self, name, _default(cls, one))
            if kwargs:
                raise TypeError(f"{cls.__name__}() got unexpected arguments {sorted(kwargs)}")
            if post:
                self.__post_init__()

        return __init__

    def _default(cls, one):
        if one.default_factory is not MISSING:
            return one.default_factory()
        if one.default is MISSING:
            raise TypeError(f"{cls.__name__}() lacks {one.name!r}")
        return one.default

    def _compiled(cls, described):
        """An ``__init__`` as the standard decorator makes it."""
        space = {"_put": object.__setattr__, "_missing": MISSING}
        parameters, lines = [], []
        for one in described.values():
            name, value = one.name, one.name
            space[f"_default_{name}"] = one.default if one.default is not MISSING else one.default_factory
            if one.type == "no init":
                value = f"_default_{name}" + "()" * (one.default_factory is not MISSING)
            elif one.default_factory is not MISSING:
                parameters.append(f"{name}=_missing")
                value = f"_default_{name}() if {name} is _missing else {name}"
            else:
                parameters.append(name if one.default is MISSING else f"{name}=_default_{name}")
            lines.append(f"    _put(self, {name!r}, {value})\n")
        if hasattr(cls, "__post_init__"):
            lines.append("    self.__post_init__()\n")
        exec(f"def __init__({', '.join(['self', *parameters])}):\n{''.join(lines) or '    pass'}", space)
        return space["__init__"]

    def _repr(self):
        described = getattr(type(self), _MARK)
        shown = ", ".join(f"{name}={getattr(self, name)!r}" for name, one in described.items() if one.repr)
        return f"{type(self).__qualname__}({shown})"

    def _refuse(self, name, *_):
        from dataclasses import FrozenInstanceError

        raise FrozenInstanceError(f"cannot change field {name!r}")

    def _state(self):
        return [getattr(self, name) for name in getattr(type(self), _MARK)]

    def _restore(self, state):
        for name, value in zip(getattr(type(self), _MARK), state, strict=True):
            object.__setattr__(self, name, value)

    def _ordering(values):
        def compared(name):
            def method(self, other):
                if other.__class__ is not self.__class__:
                    return NotImplemented
                return getattr(values(self), name)(values(other))

            return method

        return {name: compared(name) for name in ("__lt__", "__le__", "__gt__", "__ge__")}

    class _Parameters:
        """What the standard module asks of a base: whether it is frozen."""

        def __init__(self, frozen):
            self.frozen, self.order, self.eq, self.init, self.repr = frozen, False, True, True, True

    class _Standard:
        """The fields as the standard module knows them, made when it asks."""

        def __get__(self, _, owner):
            import dataclasses

            made = {}
            for name, one in getattr(owner, _MARK).items():
                options = {"compare": one.compare, "repr": one.repr, "init": one.type != "no init", "kw_only": False}
                if one.default is not MISSING:
                    options["default"] = one.default
                elif one.default_factory is not MISSING:
                    options["default_factory"] = one.default_factory
                standard = dataclasses.field(**options)
                standard.name, standard.type, standard._field_type = name, one.type, dataclasses._FIELD
                made[name] = standard
            return made

    def is_dataclass(thing):
        """Whether something is a record or a data class, or an instance of one."""
        return hasattr(thing if isinstance(thing, type) else type(thing), "__dataclass_params__")

    def fields(thing):
        """The fields of a record or a data class, or of an instance."""
        described = getattr(thing if isinstance(thing, type) else type(thing), _MARK, None)
        if described is not None:
            return tuple(described.values())
        import dataclasses

        return dataclasses.fields(thing)

    def replace(thing, /, **changes):
        """A copy of a record with some fields changed."""
        described = getattr(type(thing), _MARK, None)
        if described is None:
            import dataclasses

            return dataclasses.replace(thing, **changes)
        for name, one in described.items():
            if name not in changes and one.type != "no init":
                changes[name] = getattr(thing, name)
        return thing.__class__(**changes)

    def asdict(thing, **options):
        """A record as nested mappings."""
        import dataclasses

        return dataclasses.asdict(thing, **options)
