"""Records behave as the standard data classes that they stand for."""

from __future__ import annotations

import copy
import dataclasses
import inspect
import pickle
import traceback
import typing
from functools import cached_property
from typing import Any, ClassVar  # noqa: F401 - the standard decorator looks it up in this module

import pytest
from hypothesis import given
from hypothesis import strategies as st

from clusterspec import records


def build(module: Any) -> dict[str, type]:
    """The same classes from either module."""

    @module.dataclass(frozen=True, order=True)
    class Point:
        x: int
        y: int = 2

    @module.dataclass(frozen=True)
    class Named:
        name: str
        notes: list[str] = module.field(default_factory=list)
        hidden: int = module.field(default=0, compare=False, repr=False)

        def __post_init__(self) -> None:
            if not self.name:
                raise ValueError("no name")

    @module.dataclass
    class Open:
        one: int = 1

    @module.dataclass(frozen=True)
    class Base:
        a: int

    @module.dataclass(frozen=True)
    class Derived(Base):
        b: int = 3

    @module.dataclass
    class Cached:
        text: str
        lines: list[str] = module.field(default_factory=list, init=False, repr=False, compare=False)

    @module.dataclass(eq=False)
    class Same:
        a: int = 1

    for made in (Point, Named, Open, Base, Derived, Cached, Same):
        made.__qualname__ = made.__name__
    return {one.__name__: one for one in (Point, Named, Open, Base, Derived, Cached, Same)}


OURS, THEIRS = build(records), build(dataclasses)
CALLS: list[tuple[str, tuple[Any, ...], dict[str, Any]]] = [
    ("Point", (1,), {}),
    ("Point", (1, 5), {}),
    ("Point", (), {"y": 1, "x": 0}),
    ("Point", (), {}),
    ("Point", (1, 2, 3), {}),
    ("Point", (1,), {"x": 2}),
    ("Point", (1,), {"z": 2}),
    ("Named", ("a",), {}),
    ("Named", ("a", ["b"], 3), {}),
    ("Named", ("",), {}),
    ("Open", (), {}),
    ("Derived", (1,), {}),
    ("Derived", (1, 2), {}),
    ("Derived", (), {"b": 1}),
    ("Cached", ("x",), {}),
    ("Cached", ("x", ["y"]), {}),
    ("Same", (), {}),
]


def outcome(classes: dict[str, type], name: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    try:
        made = classes[name](*args, **kwargs)
    except (TypeError, ValueError) as fault:
        return type(fault)
    hashed = None
    if getattr(type(made), "__hash__", None) is not None and name not in {"Named", "Same"}:
        hashed = hash(made)
    return (
        repr(made) if name != "Same" else "",
        hashed,
        dataclasses.asdict(made),
        [f.name for f in dataclasses.fields(made)],
    )


@pytest.mark.parametrize("times", [1, 3])
@pytest.mark.parametrize(("name", "args", "kwargs"), CALLS)
def test_a_record_is_made_as_a_data_class_is(name: str, args: tuple[Any, ...], kwargs: Any, times: int) -> None:
    """The first instance and those by the ``__init__`` that it made."""
    for _ in range(times):
        assert outcome(OURS, name, args, dict(kwargs)) == outcome(THEIRS, name, args, dict(kwargs))


def test_records_are_equal_by_their_compared_fields_whatever_else_they_hold() -> None:
    @records.dataclass(frozen=True)
    class Pair:
        first: int
        second: object

        @cached_property
        def whole(self) -> int:
            return 10 * self.first

    @records.dataclass(frozen=True)
    class Noted(Pair):
        note: str = records.field(default="", compare=False)

    nan = float("nan")
    for one, same in ((Pair(1, [2]), Pair(1, [2])), (Noted(1, nan, "a"), Noted(1, nan, "b"))):
        others = records.replace(one, first=2), records.replace(one, second=float("nan"))
        for computed in ([], [one], [same, *others]):  # a cached property is no field
            assert [each.whole for each in computed] == [10 * each.first for each in computed]
            assert one == same and same == one
            assert all(one != other and other != one for other in others)


def test_records_compare_order_and_hash() -> None:
    for classes in (OURS, THEIRS):
        point, named, same = classes["Point"], classes["Named"], classes["Same"]
        assert point(1) == point(1, 2) != point(2)
        assert sorted([point(2), point(1, 9), point(1)]) == [point(1), point(1, 9), point(2)]
        assert len({point(1), point(1), point(2)}) == 2
        assert named("a", [], 1) == named("a", [], 2)
        assert same() != same()
        assert point(1) != (1, 2)
        with pytest.raises(TypeError):
            hash(classes["Open"]())


def test_a_frozen_record_takes_no_change() -> None:
    for classes in (OURS, THEIRS):
        with pytest.raises(dataclasses.FrozenInstanceError):
            setattr(classes["Point"](1), "x", 2)  # noqa: B010
        opened = classes["Open"]()
        opened.one = 5
        assert opened == classes["Open"](5)


def test_the_standard_functions_work_on_records() -> None:
    point: Any = OURS["Point"](1)
    for one in (dataclasses, records):
        assert one.is_dataclass(OURS["Point"]) and one.is_dataclass(OURS["Point"](1)) and not one.is_dataclass(3)
    assert dataclasses.replace(point, y=7) == records.replace(point, y=7) == OURS["Point"](1, 7)
    assert [one.name for one in records.fields(point)] == ["x", "y"]
    assert copy.copy(point) == point

    fields = [("c", int, dataclasses.field(default=5))]
    standard: Any = dataclasses.make_dataclass("Standard", fields, bases=(OURS["Base"],), frozen=True)
    assert (standard(1).a, standard(1).c) == (1, 5)


def test_a_record_is_pickled() -> None:
    from clusterspec.source import Position, Span

    span = Span("a", Position(1, 2), Position(1, 3))
    assert pickle.loads(pickle.dumps(span)) == span


def test_each_instance_has_its_own_default() -> None:
    for _ in range(20):
        one, other = OURS["Named"]("a"), OURS["Named"]("a")
        one.notes.append("x")
        assert other.notes == []


def test_the_program_defines_no_class_with_the_standard_decorator() -> None:
    from tests.cli.conftest import ROOT

    found = [
        str(path) for path in (ROOT / "clusterspec").rglob("*.py") if "from dataclasses import" in path.read_text()
    ]
    assert [name for name in found if not name.endswith("records.py")] == []


HEAD = "from __future__ import annotations\nimport typing\nfrom typing import ClassVar\n"
DEFAULTS = ["", " = 1", " = None", " = []", " = field(default=2)", " = field(default_factory=list)"]
DEFAULTS += [" = field(default=3, repr=False)", " = field(default=4, compare=False)", " = field(default=5, init=False)"]
TYPES = ["int", "list[int]", "ClassVar[int]", "typing.ClassVar", "int | None"]
FIELDS = st.tuples(st.sampled_from("abcd"), st.sampled_from(TYPES), st.sampled_from(DEFAULTS)).filter(
    lambda field: not ("ClassVar" in field[1] and "field" in field[2])
)
OPTIONS = st.fixed_dictionaries({name: st.booleans() for name in ("frozen", "order", "eq")})
EXTRAS = st.sampled_from(["", "    def __lt__(self, other): return False\n", "    def __repr__(self): return 'own'\n"])
VALUES = st.sampled_from([0, 1, None, "x"])


def text_of(name: str, base: str, fields: list[tuple[str, str, str]], options: dict[str, bool], extra: str) -> str:
    given = ", ".join(f"{key}={value}" for key, value in options.items())
    body = "".join(f"    {field}: {kind}{default}\n" for field, kind, default in fields)
    return f"@dataclass({given})\nclass {name}{base}:\n{body}{extra}    pass\n"


def defined(module: Any, text: str) -> Any:
    """The last class of a text, or the kind of exception that its definition raises."""
    space: dict[str, Any] = {"dataclass": module.dataclass, "field": module.field, "__name__": __name__}
    try:
        exec(HEAD + text, space)
    except (TypeError, ValueError) as fault:
        return type(fault)
    return space.get("Derived") or space["Base"]


def behavior(cls: Any, args: list[Any], other: list[Any]) -> list[Any]:
    """What instances do that are made with some arguments, or the exceptions that they raise."""
    found: list[Any] = [str(inspect.signature(cls)), cls.__match_args__, cls.__hash__ is None]
    try:
        one, two, three = cls(*args), cls(*args), cls(*other)
        found += [
            repr(one),
            one == two,
            one == three,
            dataclasses.asdict(one),
            [f.name for f in dataclasses.fields(cls)],
        ]
        found.append(hash(one) == hash(two))
        found.append(one < three)
    except (TypeError, ValueError) as fault:
        found.append(type(fault))
    return found


@given(
    st.lists(FIELDS, max_size=4, unique_by=lambda field: field[0]),
    st.none() | st.lists(FIELDS, max_size=3, unique_by=lambda field: field[0]),
    OPTIONS,
    OPTIONS,
    EXTRAS,
    st.lists(VALUES, max_size=5),
    st.lists(VALUES, max_size=5),
)
def test_a_class_is_defined_and_behaves_as_with_the_standard_decorator(
    base: list[tuple[str, str, str]],
    derived: list[tuple[str, str, str]] | None,
    options: dict[str, bool],
    others: dict[str, bool],
    extra: str,
    args: list[Any],
    other: list[Any],
) -> None:
    text = text_of("Base", "", base, options, extra)
    if derived is not None:
        text += text_of("Derived", "(Base)", derived, others, "")
    ours, theirs = defined(records, text), defined(dataclasses, text)
    if type(theirs) is not type or issubclass(theirs, Exception):
        assert issubclass(ours, TypeError | ValueError), text
        return
    assert not issubclass(ours, Exception), text
    expected = behavior(theirs, args, other)
    assert behavior(ours, args, other) == expected, text
    assert behavior(ours, args, other) == expected, f"with the __init__ of the fields:\n{text}"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("class X:\n    a: int = 1\n    b: int\n", "b has no default and follows a"),
        ("class X:\n    a: list = []\n", "all instances would share one"),
        ("class X:\n    a: int = field(init=False)\n", "needs a default or a factory"),
        ("class X:\n    a: int = field(kw_only=True, default=1)\n", "kw_only"),
        ("class X:\n    a = field(default=1)\n", "a is a field without an annotation"),
        ("class X:\n    a: InitVar[int]\n", "records do not support InitVar"),
        ("class X:\n    a: dataclasses.KW_ONLY\n", "records do not support KW_ONLY"),
        ("class X:\n    a: int = field(default=1, default_factory=int)\n", "both default and default_factory"),
    ],
)
def test_an_unsound_class_is_refused_where_it_is_defined(text: str, said: str) -> None:
    space: dict[str, Any] = {"dataclass": records.dataclass, "field": records.field}
    with pytest.raises((TypeError, ValueError), match=said):
        exec(f"{HEAD}@dataclass\n{text}", space)


def test_a_class_whose_annotations_are_evaluated_is_refused() -> None:
    space: dict[str, Any] = {"dataclass": records.dataclass, "__name__": "some.module"}
    with pytest.raises(TypeError, match=r"some\.module lacks `from __future__ import annotations`"):
        exec(compile("@dataclass\nclass X:\n    a: int\n", "x", "exec", dont_inherit=True), space)


def test_a_traceback_names_the_init_of_a_record_and_shows_its_lines() -> None:
    @records.dataclass
    class Checked:
        a: int

        def __post_init__(self) -> None:
            if self.a == 50:
                raise ValueError("fifty")

    with pytest.raises(ValueError, match="fifty") as caught:
        for number in range(60):
            Checked(number)
    lines = {each.name: each.line for each in traceback.extract_tb(caught.tb)}
    assert "completed(locals())" in (lines["__init__"] or "")
    assert lines["complete"] == "self.__post_init__()"


@pytest.mark.parametrize("count", range(30))
def test_every_number_of_fields_is_stored_by_name(count: int) -> None:
    names = [f"field_{index}" for index in range(count)]
    text = f"{HEAD}@dataclass(frozen=True)\nclass X:\n" + "".join(f"    {name}: int\n" for name in names) + "    pass\n"
    space: dict[str, Any] = {"dataclass": records.dataclass, "__name__": __name__}
    exec(text, space)
    for _ in range(2):  # the first instance, and one by the ``__init__`` that it made
        by_place, by_name = space["X"](*range(count)), space["X"](**dict(zip(names, range(count), strict=True)))
        assert vars(by_place) == vars(by_name) == dict(zip(names, range(count), strict=True))
        with pytest.raises(TypeError, match=rf"X\.__init__\(\) takes .* but {count + 2} were given"):
            space["X"](*range(count + 1))


# Named tuples


def named_tuples(count: int, defaults: int) -> tuple[Any, Any]:
    """A named tuple of ``count`` fields, the last ``defaults`` of them with defaults, of ours and of the standard."""
    fields = "".join(
        f"    field_{index}: int{f' = {index}' if index >= count - defaults else ''}\n" for index in range(count)
    )
    text = f"class X(NamedTuple):\n    'Values.'\n{fields}    def total(self): return sum(self)\n"
    made = []
    for standard in (records.NamedTuple, typing.NamedTuple):
        space: dict[str, Any] = {"NamedTuple": standard, "__name__": __name__}
        exec(compile(HEAD + text, "x", "exec"), space)
        made.append(space["X"])
    return made[0], made[1]


def outcome_of_call(function: Any, *args: Any, **kwargs: Any) -> Any:
    """The plain values of a result, or the kind of exception."""
    try:
        found = function(*args, **kwargs)
    except (TypeError, ValueError) as fault:
        return type(fault)
    return (tuple(found), repr(found), sum(found)) if isinstance(found, tuple) else found


@pytest.mark.parametrize("defaults", [0, 1, 3])
@pytest.mark.parametrize("count", [1, 2, 5, 12, 13, 14, 40])
def test_a_named_tuple_is_made_as_the_standard_one_is(count: int, defaults: int) -> None:
    ours, theirs = named_tuples(count, min(count, defaults))
    names = list(theirs._fields)
    for args in (range(count), range(count - 1), range(count + 1), ()):
        assert outcome_of_call(ours, *args) == outcome_of_call(theirs, *args)
        assert outcome_of_call(ours._make, args) == outcome_of_call(theirs._make, args)
    by_name = dict.fromkeys(names, 7)
    for changes in (by_name, by_name | {"other": 1}, {names[0]: 1}):
        assert outcome_of_call(ours, **changes) == outcome_of_call(theirs, **changes)
        assert outcome_of_call(ours(**by_name)._replace, **changes) == outcome_of_call(
            theirs(**by_name)._replace, **changes
        )
    one, other = ours(*range(count)), theirs(*range(count))
    assert one.total() == other.total() == count * (count - 1) // 2
    assert one == other == tuple(range(count)) and hash(one) == hash(other)
    assert one._asdict() == other._asdict() and copy.copy(one) == one and type(copy.copy(one)) is ours
    assert [getattr(one, name) for name in names] == list(range(count))
    for name in ("_fields", "_field_defaults", "__match_args__", "__doc__", "__qualname__", "__module__"):
        assert getattr(ours, name) == getattr(theirs, name)
    mine, standard = (inspect.signature(each).parameters.values() for each in (ours, theirs))
    assert [(one.name, one.default) for one in mine] == [(one.name, one.default) for one in standard]
    with pytest.raises(AttributeError):
        one.other = 1


def test_a_named_tuple_is_pickled_and_refuses_a_default_before_none() -> None:
    from clusterspec.cost.serving.parts.balance import Placed

    placed = Placed._make(range(len(Placed._fields)))
    again = pickle.loads(pickle.dumps(placed))
    assert again == placed and type(again) is Placed
    space: dict[str, Any] = {"NamedTuple": records.NamedTuple, "__name__": __name__}
    with pytest.raises(TypeError, match="X: a field without a default follows one with a default"):
        exec(f"{HEAD}class X(NamedTuple):\n    a: int = 1\n    b: int\n", space)
