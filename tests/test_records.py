"""Records behave as the standard data classes that they stand for."""

from __future__ import annotations

import copy
import dataclasses
import pickle
from typing import Any

import pytest

from clusterspec import records


def build(module: Any) -> dict[str, type]:
    """The same classes from either module."""

    @module.dataclass(frozen=True, slots=True, order=True)
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

    @module.dataclass(frozen=True, slots=True)
    class Base:
        a: int

    @module.dataclass(frozen=True, slots=True)
    class Derived(Base):
        b: int = 3

    @module.dataclass(slots=True)
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


@pytest.mark.parametrize("times", [1, 20])
@pytest.mark.parametrize(("name", "args", "kwargs"), CALLS)
def test_a_record_is_made_as_a_data_class_is(name: str, args: tuple[Any, ...], kwargs: Any, times: int) -> None:
    """Often enough that the compiled ``__init__`` is tried as well."""
    for _ in range(times):
        assert outcome(OURS, name, args, dict(kwargs)) == outcome(THEIRS, name, args, dict(kwargs))


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


def test_a_frozen_record_takes_no_change_and_a_slotted_one_no_other_name() -> None:
    for classes in (OURS, THEIRS):
        with pytest.raises(dataclasses.FrozenInstanceError):
            setattr(classes["Point"](1), "x", 2)  # noqa: B010
        with pytest.raises((dataclasses.FrozenInstanceError, AttributeError)):
            setattr(classes["Cached"]("x"), "other", 2)  # noqa: B010
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
