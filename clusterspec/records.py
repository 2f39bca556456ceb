"""Data classes that are cheap to define: the interface of `dataclasses`, without compiling code.

The standard decorator compiles six or more functions for each class, 0.4 to 1.4 ms (measured with Python 3.11), which
for the classes of this program takes longer than checking a spec. Here the methods are shared, and ``__init__`` is a
template of this file with the names of the fields. `dataclasses.replace`, `fields` and `asdict`, `inspect.signature`
and debuggers work on these classes, too; a type checker sees the standard decorator. Options that the standard
decorator refuses, or that this one does not support, are refused at the definition of the class. Records have no slots,
for which every class would be created twice, with 5 % of the instructions of a check.
"""

from __future__ import annotations

from functools import cache
from operator import attrgetter
from types import SimpleNamespace

__all__ = ["MISSING", "NamedTuple", "asdict", "dataclass", "field", "fields", "is_dataclass", "replace"]

TYPE_CHECKING = False
if TYPE_CHECKING:
    from dataclasses import MISSING, asdict, dataclass, field, fields, is_dataclass, replace
    from typing import NamedTuple
else:
    from clusterspec.standard import NamedTuple, function_with_names

    MISSING = object()
    _MARK = "_record_fields_"
    _VALUES = "_record_values_"
    _ALL = "_record_compared_"
    _set_values = object.__setattr__

    class _Field:
        """One field: its name, annotation and default, and whether comparisons and ``repr`` include it."""

        default_factory, compare, repr = MISSING, True, True

        def __init__(self, name="", annotation="", default=MISSING):
            self.name, self.type, self.default = name, annotation, default

    def field(*, default=MISSING, default_factory=MISSING, compare=True, repr=True, init=True):  # noqa: A002
        """A field with options other than a default; with ``init=False`` it needs a default or a factory."""
        if default is not MISSING and default_factory is not MISSING:
            raise ValueError("cannot specify both default and default_factory")
        if not init and default is MISSING and default_factory is MISSING:
            raise TypeError("a field without an argument needs a default or a factory")
        made = _Field("", "" if init else "no init", default)
        made.default_factory, made.compare, made.repr = default_factory, compare, repr
        return made

    def dataclass(cls=None, /, *, frozen=False, order=False, eq=True):
        """The decorator, with the options that this program uses."""

        def decorate(given):
            return _completed_class(given, frozen=frozen, order=order, eq=eq)

        return decorate if cls is None else decorate(cls)

    def _completed_class(cls, *, frozen, order, eq):
        described = {}
        for base in cls.__mro__[-2:0:-1]:
            described |= _fields_of(base)
        explicit = [name for name, one in cls.__dict__.items() if one.__class__ is _Field]
        own = _own_fields(cls, explicit)
        described |= own
        _refuse_what_is_unsound(cls, described, frozen=frozen, order=order, eq=eq)
        for name in explicit:
            if own[name].default is not MISSING:
                setattr(cls, name, own[name].default)
            else:
                delattr(cls, name)
        for name, value in _methods(cls, described, frozen=frozen, order=order, eq=eq).items():
            setattr(cls, name, value)
        if "__init__" not in cls.__dict__:
            cls.__init__ = _named_init(_first_init(cls, described), cls)
        return cls

    def _own_fields(cls, explicit):
        """The fields that a class itself annotates or creates with `field`. Raises TypeError or ValueError for
        unsupported ones.
        """
        own, given, annotations = {}, cls.__dict__, cls.__annotations__
        try:
            text = " ".join(annotations.values())
        except TypeError:
            lacking = f"{cls.__module__} lacks `from __future__ import annotations`, which records need"
            raise TypeError(lacking) from None
        may_have_others = "Var" in text or "KW_ONLY" in text
        for name, annotation in annotations.items():
            if may_have_others and _is_class_variable(cls, name, annotation):
                continue
            if name not in given:
                own[name] = _Field(name, annotation)
                continue
            one = given[name]
            if one.__class__ is _Field:
                one.name, one.type = name, one.type or annotation
            else:
                one = _Field(name, annotation, one)
            if type(one.default).__hash__ is None:
                raise ValueError(f"{cls.__name__}.{name}: all instances would share one {type(one.default)}")
            own[name] = one
        for name in explicit:
            if name not in own:
                raise TypeError(f"{cls.__name__}.{name} is a field without an annotation")
        return own

    def _is_class_variable(cls, name, annotation):
        """Whether an annotation denotes a class variable. Raises TypeError for an unsupported kind of annotation."""
        kind = annotation.partition("[")[0].rpartition(".")[2].strip()
        if kind in {"InitVar", "KW_ONLY"}:
            raise TypeError(f"{cls.__name__}.{name}: records do not support {kind}")
        return kind == "ClassVar"

    def _refuse_what_is_unsound(cls, described, *, frozen, order, eq):
        """Raises TypeError or ValueError for definitions that the standard decorator also rejects."""
        defaulted = ""
        for one in described.values():
            if _is_optional(one):
                defaulted = defaulted if one.type == "no init" else one.name
            elif defaulted:
                raise TypeError(f"{cls.__name__}.{one.name} has no default and follows {defaulted}, which has one")
        for base in cls.__mro__[1:-1]:
            known = base.__dict__.get("__dataclass_params__")
            if known is not None and known.frozen != frozen:
                raise TypeError(f"{cls.__name__}: frozen and other records cannot inherit from each other")
        if order and not eq:
            raise ValueError(f"{cls.__name__}: an order needs a comparison for equality")
        for name in (*(_ORDERING if order else ()), *(("__setattr__", "__delattr__") if frozen else ())):
            if name in cls.__dict__:
                raise TypeError(f"{cls.__name__} defines {name}, which the decorator adds")

    def _fields_of(base):
        """The fields of a base, a record or a standard data class."""
        if _MARK in base.__dict__:
            return base.__dict__[_MARK]
        standard = base.__dict__.get("__dataclass_fields__", {})
        return standard if isinstance(standard, dict) else {}

    def _methods(cls, described, *, frozen, order, eq):
        """The members that the decorator adds to a class: methods that the class does not define, and their data."""
        methods = _shared_methods(frozen, order, eq).copy()
        for name in methods.keys() & cls.__dict__.keys():
            if cls.__dict__[name] is not None or name != "__hash__":  # Python sets None for a class with __eq__
                del methods[name]
        return methods | {_MARK: described}

    @cache
    def _shared_methods(frozen, order, eq):
        """The methods that all records with the same options share."""
        methods = {"__repr__": _repr, "__dataclass_fields__": _STANDARD, "__signature__": _SIGNATURE}
        methods |= {_VALUES: _GETTER, _ALL: _COMPARED, "__match_args__": _MATCHED}
        methods["__dataclass_params__"] = _PARAMETERS[frozen]
        if eq:
            methods |= {"__eq__": _eq, "__hash__": _hash if frozen else None}
        if frozen:
            methods |= {"__setattr__": _refuse, "__delattr__": _refuse}
        return methods | _ORDERING if order else methods

    def _eq(self, other):
        if other.__class__ is not self.__class__:
            return NotImplemented
        if other is self:  # parts of varied designs are mostly the same objects
            return True
        own, others = self.__dict__, other.__dict__
        if len(own) == len(others) == getattr(type(self), _ALL):  # nothing but compared values
            return own == others
        values = getattr(type(self), _VALUES)
        return values(self) == values(other)

    def _hash(self):
        if len(self.__dict__) == getattr(type(self), _ALL) > 1:  # the values of the fields in their order
            return hash(tuple(self.__dict__.values()))
        return hash(getattr(type(self), _VALUES)(self))

    class _Getter:
        """A descriptor that creates, on first access, the function that returns the compared values of a record."""

        def __get__(self, _, owner):
            compared = [name for name, one in getattr(owner, _MARK).items() if one.compare]
            if len(compared) == 1:
                compared *= 2  # so that the function returns a tuple
            getter = attrgetter(*compared) if compared else lambda _: ()
            setattr(owner, _VALUES, getter)
            return getter

    _GETTER = _Getter()

    class _Compared:
        """The number of fields, computed on first access; -1 unless all fields are compared and are arguments."""

        def __get__(self, _, owner):
            described = getattr(owner, _MARK)
            plain = [one for one in described.values() if one.compare and one.type != "no init"]
            number = len(plain) if len(plain) == len(described) else -1
            setattr(owner, _ALL, number)
            return number

    _COMPARED = _Compared()

    class _Matched:
        """A descriptor of the names by which patterns match positional arguments."""

        def __get__(self, _, owner):
            return tuple([name for name, one in getattr(owner, _MARK).items() if one.type != "no init"])

    _MATCHED = _Matched()

    _STORING = (
        lambda self: None,
        lambda self, a: self.__dict__.update(a=a),
        lambda self, a, b: self.__dict__.update(a=a, b=b),
        lambda self, a, b, c: self.__dict__.update(a=a, b=b, c=c),
        lambda self, a, b, c, d: self.__dict__.update(a=a, b=b, c=c, d=d),
        lambda self, a, b, c, d, e: self.__dict__.update(a=a, b=b, c=c, d=d, e=e),
        lambda self, a, b, c, d, e, f: self.__dict__.update(a=a, b=b, c=c, d=d, e=e, f=f),
        lambda self, a, b, c, d, e, f, g: self.__dict__.update(a=a, b=b, c=c, d=d, e=e, f=f, g=g),
        lambda self, a, b, c, d, e, f, g, h: self.__dict__.update(a=a, b=b, c=c, d=d, e=e, f=f, g=g, h=h),
        lambda self, a, b, c, d, e, f, g, h, i: self.__dict__.update(a=a, b=b, c=c, d=d, e=e, f=f, g=g, h=h, i=i),
    )
    """``__init__`` of a record by its number of fields."""
    _COMPLETING = lambda self: completed(locals())  # noqa: E731, F821
    """``__init__`` of other records: those with more fields, factories, or a ``__post_init__``."""

    def _first_init(cls, described):
        """A provisional ``__init__``: the real one is created with the first instance, as many classes have none."""

        def __init__(self, *args, **kwargs):  # noqa: N807 - it becomes a method
            made = cls.__init__ = _named_init(_init_of_fields(cls, described), cls)
            made(self, *args, **kwargs)

        return __init__

    def _init_of_fields(cls, described):
        """The ``__init__`` of a class. It is made from a template and the field names, a hundred times faster than
        compilation.
        """
        given = [one for one in described.values() if one.type != "no init"]
        names, optional = tuple([one.name for one in given]), [one for one in given if _is_optional(one)]
        defaults = tuple([one.default for one in optional])
        only_stores = len(given) == len(described) and MISSING not in defaults and not hasattr(cls, "__post_init__")
        if only_stores and len(names) < len(_STORING):
            return function_with_names(_STORING[len(names)], "__init__", ("self", *names), defaults)
        space = {"completed": _setter_with_completion(cls, described), "locals": locals, "__name__": cls.__module__}
        return function_with_names(_COMPLETING, "__init__", ("self", *names), defaults, space)

    def _is_optional(one):
        """Whether a field has a default or a factory."""
        return one.default is not MISSING or one.default_factory is not MISSING

    def _store_values(given):
        """Sets the attributes of a new instance: ``given`` has the instance as ``self`` and its field values."""
        # NOTE: read in half the time of values added one by one (CPython 3.11). A copy: tracing writes to `locals`.
        _set_values(given.pop("self"), "__dict__", given.copy())

    def _setter_with_completion(cls, described):
        """The function that sets the attributes of a new instance, like `_store_values`, including those with defaults
        and factories.
        """
        factories = [
            (one.name, one.default_factory) for one in described.values() if one.default_factory is not MISSING
        ]
        fixed = {one.name: one.default for one in described.values() if one.type == "no init"}
        completes = hasattr(cls, "__post_init__")
        if not (factories or fixed or completes):
            return _store_values

        def complete(given):
            self, values = given.pop("self"), fixed | given
            _set_values(self, "__dict__", values)
            for name, made in factories:
                if values[name] is MISSING:
                    values[name] = made()
            if completes:
                self.__post_init__()

        return complete

    def _named_init(function, cls):
        """The ``__init__`` of a record with the name that errors and profiles show."""
        function.__qualname__, function.__module__ = f"{cls.__qualname__}.__init__", cls.__module__
        function.made_for = cls
        return function

    class _Signature:
        """A descriptor of the signature of a record, created on access."""

        def __get__(self, instance, owner):
            cls = getattr(owner.__init__, "made_for", None)
            if instance is not None or cls is None:
                raise AttributeError("__signature__")
            import dataclasses
            from inspect import Parameter, Signature

            parameters = []
            for one in cls.__dataclass_fields__.values():
                if one.init:
                    default = Parameter.empty if one.default is dataclasses.MISSING else one.default
                    if one.default_factory is not dataclasses.MISSING:
                        default = dataclasses._HAS_DEFAULT_FACTORY
                    kind = Parameter.POSITIONAL_OR_KEYWORD
                    parameters.append(Parameter(one.name, kind, default=default, annotation=one.type))
            return Signature(parameters, return_annotation=None)

    _SIGNATURE = _Signature()

    def _repr(self):
        described = getattr(type(self), _MARK)
        shown = ", ".join(f"{name}={getattr(self, name)!r}" for name, one in described.items() if one.repr)
        return f"{type(self).__qualname__}({shown})"

    def _refuse(self, name, *_):
        from dataclasses import FrozenInstanceError

        raise FrozenInstanceError(f"cannot change field {name!r}")

    def _comparison_method(name):
        """A method that compares by the values of the fields, in order."""

        def method(self, other):
            if other.__class__ is not self.__class__:
                return NotImplemented
            values = getattr(type(self), _VALUES)
            return getattr(values(self), name)(values(other))

        return method

    _ORDERING = {name: _comparison_method(name) for name in ("__lt__", "__le__", "__gt__", "__ge__")}

    _PARAMETERS = {
        frozen: SimpleNamespace(frozen=frozen, order=False, eq=True, init=True, repr=True) for frozen in (False, True)
    }
    """The parameters that the standard module reads from a base class."""

    class _Standard:
        """A descriptor of the fields for the standard module, created on first access."""

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

    _STANDARD = _Standard()

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

    @cache
    def _only_sets_fields(cls):
        """Whether ``__init__`` of a class is the decorator's, and takes a value for each field."""
        if getattr(cls.__init__, "made_for", None) is not cls or hasattr(cls, "__post_init__"):
            return False
        return all(one.type != "no init" for one in getattr(cls, _MARK).values())

    def replace(thing, /, **changes):
        """A copy of a record with some fields changed."""
        described = getattr(type(thing), _MARK, None)
        if described is None:
            import dataclasses

            return dataclasses.replace(thing, **changes)
        cls = thing.__class__
        if not _only_sets_fields(cls):
            for name, one in described.items():
                if name not in changes and one.type != "no init":
                    changes[name] = getattr(thing, name)
            return cls(**changes)
        made, own = cls.__new__(cls), thing.__dict__
        if len(own) != len(described):  # without what cached properties hold
            own = {name: own[name] for name in described}
        values = own | changes
        if len(values) != len(described):
            raise TypeError(f"{cls.__name__} does not have some of {sorted(changes)}")
        _set_values(made, "__dict__", values)
        return made

    def asdict(thing, **options):
        """A record as nested mappings."""
        import dataclasses

        return dataclasses.asdict(thing, **options)
