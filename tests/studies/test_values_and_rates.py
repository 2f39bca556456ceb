"""A value at a path replaces that one alone, and a rate is found where a time asks for it."""

from __future__ import annotations

from typing import Any

import pytest

from clusterspec.quantity import Quantity
from clusterspec.source import Path
from clusterspec.studies.measured_times import CLOSE, LEAST, MOST, rate_of_time
from clusterspec.studies.variation import plain_value, with_value_at

SPEC: dict[str, Any] = {"cluster": {"nodes": 4}, "measured": [{"a": 1}, {"b": 2}, {"c": 3}]}


@pytest.mark.parametrize(
    ("path", "new", "changed"),
    [
        (("cluster", "nodes"), 8, {"cluster": {"nodes": 8}}),
        (("cluster", "power"), {"pue": 1.2}, {"cluster": {"nodes": 4, "power": {"pue": 1.2}}}),
        (("layout", "tp"), 2, {"layout": {"tp": 2}}),  # the mapping around a new key
        (("cluster", "nodes"), None, {"cluster": {}}),
        (("measured",), None, {"measured": None}),
        (("cluster", "none"), None, {}),
        (("layout", "tp"), None, {}),  # nothing to remove
        (("measured", 0), {"z": 0}, {"measured": [{"z": 0}, {"b": 2}, {"c": 3}]}),
        (("measured", 1, "b"), 9, {"measured": [{"a": 1}, {"b": 9}, {"c": 3}]}),
        (("measured", 2, "d"), 9, {"measured": [{"a": 1}, {"b": 2}, {"c": 3, "d": 9}]}),
    ],
)
def test_a_value_at_a_path_leaves_all_others(path: Path, new: object, changed: dict[str, Any]) -> None:
    before = repr(SPEC)
    wanted = {key: value for key, value in (SPEC | changed).items() if value is not None}
    assert with_value_at(SPEC, path, new) == wanted
    assert repr(SPEC) == before
    assert with_value_at(SPEC, (), new) == new


def test_a_new_value_is_a_copy() -> None:
    given = {"nodes": [1]}
    made = with_value_at(SPEC, ("cluster",), given)
    given["nodes"].append(2)
    assert made["cluster"] == {"nodes": [1]}


def test_a_quantity_is_written_as_it_was() -> None:
    value = {"rate": Quantity(5e10, "B/s", "400 Gb/s"), "list": (1, [Quantity(2.0, "1", "2:1")]), "text": "a"}
    assert plain_value(value) == {"rate": "400 Gb/s", "list": [1, ["2:1"]], "text": "a"}


def linear(rate: float) -> float:
    """1 s that no rate changes, and 2 s at the rate of the catalog."""
    return 1.0 + 2.0 / rate


def bounded(rate: float) -> float:
    """2 s of kernels, and a network that takes at least 3 s."""
    return max(3.0, 2.0 / rate)


@pytest.mark.parametrize(
    ("seconds", "rate"),
    [(3.0, 1.0), (2.0, 2.0), (9.0, 0.25), (5.0, 0.5), (2.5, 4 / 3), (1.999, None), (9.001, None)],
)
def test_the_rate_of_a_time_gives_that_time(seconds: float, rate: float | None) -> None:
    """A quarter of the rate takes 9 s, twice the rate 2 s: other times are refused with these bounds."""
    assert (LEAST, MOST) == (0.25, 2.0)
    calls: list[float] = []

    def time(rate: float) -> float:
        calls.append(rate)
        return linear(rate)

    found, bounds = rate_of_time(time, seconds)
    assert bounds == "2 s to 9 s"
    assert found == (None if rate is None else pytest.approx(rate, rel=1e-5))
    assert len(calls) <= 3, "a linear time is found at once"


@pytest.mark.parametrize("seconds", [3.0, 3.5, 6.0, 8.0])
def test_a_time_that_something_else_bounds_is_found_too(seconds: float) -> None:
    found, bounds = rate_of_time(bounded, seconds)
    assert found is not None and bounds == "3 s to 8 s"
    assert abs(bounded(found) - seconds) <= CLOSE * seconds


@pytest.mark.parametrize("missing", [LEAST, MOST])
def test_a_job_without_a_time_at_a_bound_has_no_rate(missing: float) -> None:
    assert rate_of_time(lambda rate: None if rate == missing else linear(rate), 3.0) == (None, None)
