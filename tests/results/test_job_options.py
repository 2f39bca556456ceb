"""Options of a job in a search of a fleet: what is usable, where they are, and their JSON."""

from __future__ import annotations

from clusterspec.records import replace
from clusterspec.results.fleet_search import JobOption

FOUND = JobOption("train", "big", 8, layout={"tp": 4}, step_time=2.0, elapsed=7200.0, cost=100.0)


def test_an_option_is_usable_with_a_layout_that_misses_no_target() -> None:
    assert FOUND.is_usable
    assert not replace(FOUND, missed=("ttft 1.2 s > 1 s",)).is_usable
    assert not replace(FOUND, layout=None, why="does not fit").is_usable


def test_an_option_is_where_its_job_pool_and_nodes_are_the_same() -> None:
    assert FOUND.has_same_nodes(replace(FOUND, layout=None))
    for other in (replace(FOUND, nodes=4), replace(FOUND, pool="small"), replace(FOUND, job="serve"), None):
        assert not FOUND.has_same_nodes(other)


def test_the_json_of_an_option_has_a_layout_or_the_reason_why_not() -> None:
    body = FOUND.to_json()
    assert (body["layout"], body["missed"], body["why"], body["step_time"]) == ({"tp": 4}, [], None, 2.0)
    without = replace(FOUND, layout=None, why="does not fit", missed=("a",)).to_json()
    assert (without["layout"], without["missed"], without["why"]) == (None, ["a"], "does not fit")
