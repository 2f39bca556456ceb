"""Degrees, answers and best plans of searches at their limits."""

from __future__ import annotations

import pytest

from clusterspec.analysis.levers.conditions import parse
from clusterspec.analysis.levers.influence import ranked_influences
from clusterspec.analysis.levers.keys import LEVERS
from clusterspec.analysis.levers.reasons import nearest_text
from clusterspec.analysis.levers.solutions import Probe
from clusterspec.analysis.searches.space.families import _expert_degrees
from clusterspec.analysis.searches.studied import Pins
from clusterspec.analysis.simulation.arrivals import drawn_lengths, with_partial_outputs
from clusterspec.cluster.demands import demands_of
from clusterspec.cluster.requests import Lengths
from clusterspec.logs.traces import Arrival
from clusterspec.records import replace
from clusterspec.results.verdict import LEAST, Influence
from tests.analysis.jobs import DENSE, EXPERT, design_of, job, study_of


def influence(name: str, seconds: float, memory: float) -> Influence:
    return Influence((name, 1, "assumed"), 2, seconds, memory)


def test_influences_of_more_than_a_hundredth_are_ranked_by_their_larger_change() -> None:
    found = [
        influence("small", LEAST, -LEAST),
        influence("time", -0.2, 0.05),
        influence("memory", 0.01, -0.3),
        influence("both", 0.25, 0.0),
        None,
        influence("just", 0.0101, 0.0),
    ]
    assert LEAST == 0.01
    assert [one.assumption[0] for one in ranked_influences(found)] == ["memory", "both", "time", "just"]


NONE = "no value that was tried gives a layout that divides"


def probe(value: float, metric: float | None, *errors: str) -> Probe:
    return Probe(value, metric, False, errors)


def test_a_condition_that_no_value_meets_says_the_nearest() -> None:
    study = study_of(DENSE)
    lever = LEVERS["nodes"]

    def told(text: str, *probes: Probe) -> str:
        return nearest_text(probes, parse(text), study, lever)

    assert told("mfu>=0.9") == NONE == told("mfu>=0.9", probe(2.0, None))
    assert told("fits", probe(2.0, 0.0)) == "no value that was tried meets it"
    assert told("mfu>=0.9", probe(2.0, 0.3), probe(4.0, 0.5), probe(8.0, 0.4)).startswith(
        "not reachable: the best value is 50 %"
    )
    assert "2 s" in told("step_time<=1 s", probe(2.0, 3.0), probe(4.0, 2.0))
    refused = told("mfu>=0.4", probe(2.0, 0.3), probe(4.0, 0.5, "over-budget"), probe(8.0, 0.7, "rack-limit"))
    assert "over-budget" in refused and "rack-limit" not in refused
    assert "not reachable" in told("mfu>=0.9", probe(4.0, 0.5, "over-budget"))
    assert told("ttft<=1 s", probe(2.0, None)) == "the plan of the spec has no `ttft`"


def test_experts_are_divided_by_degrees_that_their_ranks_and_their_number_allow() -> None:
    """Eight experts on 16 ranks: ep of 1 to 8; without expert parallelism tp shards experts like all weights."""
    one = job(EXPERT)
    demands = demands_of(design_of(EXPERT))
    assert demands.ranks == 16
    found = set(_expert_degrees(one, demands, Pins({}), (2, 1, 1)))
    assert found == {(1, 2), *((ep, tp) for ep in (2, 4, 8) for tp in (1, 2))}
    assert set(_expert_degrees(one, demands, Pins({"expert_tp": 1}), (2, 1, 1))) == {(ep, 1) for ep in (1, 2, 4, 8)}
    stage = set(_expert_degrees(one, demands, Pins({}), (2, 1, 4)))  # four ranks of a stage
    assert stage == {(1, 2), (2, 1), (2, 2), (4, 1)}
    assert list(_expert_degrees(job(DENSE), demands_of(design_of(DENSE)), Pins({}), (4, 1, 1))) == [(1, 4)]


def test_drawn_lengths_are_between_one_token_and_the_cut() -> None:
    wide = Lengths(2, 20, None)
    drawn = drawn_lengths("x", 4000, 2, wide)
    assert min(drawn) == 1 and max(drawn) > 20
    assert max(drawn_lengths("x", 4000, 2, replace(wide, most=5))) == 5
    assert drawn_lengths("x", 3, 7, None) == [7, 7, 7]
    assert sum(drawn_lengths("y", 20_000, 1000, Lengths(1000, 4000, None))) / 20_000 == pytest.approx(1000, rel=0.05)


def test_a_loop_starts_with_parts_of_its_outputs() -> None:
    """The first requests have a part of their output left, and their prompts but for a token are there."""
    arrivals = [Arrival(time=0.0, prompt=10, output=1000, cached=0) for _ in range(400)]
    found = with_partial_outputs(arrivals, 300, 1)
    assert found[300:] == arrivals[300:] and len(found) == 400
    assert all(1 <= each.output <= 1000 and each.cached == 9 for each in found[:300])
    assert sum(each.output for each in found[:300]) / 300 == pytest.approx(500, rel=0.1)
    short = with_partial_outputs([each._replace(output=1) for each in arrivals], 300, 1)
    assert {each.output for each in short} == {1}
