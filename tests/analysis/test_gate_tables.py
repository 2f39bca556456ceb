"""Areas, gates and bills of a job at their limits, each from figures that are given."""

from __future__ import annotations

import pytest

from clusterspec.analysis.areas import ALL_EQUIPMENT, _limited_area
from clusterspec.analysis.outputs import cost
from clusterspec.analysis.purchase.gates import _power_gate
from clusterspec.analysis.searches.serving import _comparisons, _rate_comparison
from clusterspec.records import replace
from clusterspec.results.search import LayoutRow
from clusterspec.results.verdict import Area, GateStatus
from tests.analysis.jobs import study_of

AREAS = (  # value, limit, headroom and state
    (89.9, 100.0, 0.101, "good"),
    (90.1, 100.0, 0.099, "tight"),
    (100.0, 100.0, 0.0, "tight"),
    (100.1, 100.0, -0.001, "bad"),
    (0.0, 100.0, 1.0, "good"),
    (5.0, 0.0, None, "open"),
)


@pytest.mark.parametrize(("value", "limit", "headroom", "state"), AREAS)
def test_an_area_is_tight_within_a_tenth_of_its_limit(
    value: float, limit: float, headroom: float | None, state: str
) -> None:
    found = _limited_area("power", "all", value, limit, unit="W", note="told")
    assert (found.area, found.constraint, found.value, found.limit, found.unit, found.note) == (
        *("power", "all", value, limit, "W", "told"),
    )
    assert found.state == state
    assert found.headroom is None if headroom is None else found.headroom == pytest.approx(headroom)


PRICED = """
cluster: {platform: dgx-h100, nodes: 2, power: {node: 10 kW, switch: 1 kW, feeds: 2N}}
procurement: {currency: EUR, term: 4 years, electricity: 0.1, prices: {node: 1000}}
"""


def area(constraint: str, value: float, limit: float | None, state: str) -> Area:
    return Area("power", constraint, value, limit, "W", None, state, "as assumed")


def test_the_gate_of_power_fails_is_open_or_met_by_what_is_judged() -> None:
    study = study_of(PRICED)
    found, cluster = cost(study).cost, study.design.cluster
    assert found is not None and cluster is not None
    rack, whole = "one rack of 4 nodes", ALL_EQUIPMENT
    cases = (
        ((), GateStatus.OPEN, "no limit is stated"),
        ((area(rack, 9e3, None, "open"),), GateStatus.OPEN, "no limit is stated"),
        ((area(rack, 9e3, 1e4, "good"),), GateStatus.MET, "within the limit of a rack;"),
        ((area(whole, 9e3, 1e4, "tight"),), GateStatus.MET, "within its budget;"),
        (
            (area(rack, 9e3, 1e4, "good"), area(whole, 9e3, 1e4, "good")),
            GateStatus.MET,
            "its budget and the limit of a",
        ),
        ((area(rack, 1e4, 1e4, "tight"),), GateStatus.MET, "within the limit of a rack"),
        ((area(rack, 1.1e4, 1e4, "tight"),), GateStatus.OPEN, "needs 11 kW (as assumed); the limit is 10 kW"),
        ((area(whole, 9e3, 1e4, "good"), area(rack, 1.1e4, 1e4, "bad")), GateStatus.FAILED, "above the limit of 10 kW"),
    )
    for areas, status, words in cases:
        gate = _power_gate(areas, found, cluster)
        assert (gate.status, words in gate.text) == (status, True), (areas, gate)
    assert (
        _power_gate((area(rack, 1.1e4, 1e4, "bad"),), found, replace(cluster, cloud=True)).status
        is GateStatus.NOT_NEEDED
    )
    other = Area("memory", "all", 2.0, 1.0, "B", -1.0, "bad")
    assert _power_gate((other,), found, cluster).status is GateStatus.OPEN


def served(latency: float, memory: float | None) -> LayoutRow:
    times = {"ttft": latency / 10, "tpot": latency / 100, "request_latency": latency}
    return LayoutRow(layout={}, step_time=None, low=None, high=None, mfu=None, memory=memory, fits=None, serving=times)


def test_a_comparison_is_the_best_plan_less_the_other() -> None:
    found = _rate_comparison("next", served(2.0, 7.0), served(5.0, 9.0))
    assert (found.other, found.seconds, found.memory) == ("next", -3.0, -2.0)
    assert [seconds for _, seconds in found.parts][:2] == pytest.approx([-0.3, -0.03])
    assert _rate_comparison("next", served(2.0, None), served(5.0, 9.0)).memory == -9.0
    rows = [served(2.0, 7.0), served(5.0, 9.0), served(6.0, 9.0)]
    assert [each.other for each in _comparisons(rows, None)] == ["next"]
    assert [each.other for each in _comparisons(rows, rows[2])] == ["next", "spec"]
    assert [each.other for each in _comparisons(rows[:1], None)] == [] == _comparisons([], rows[0])
