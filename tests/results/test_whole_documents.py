"""Whole JSON documents of results with a different value in each field, and the lines that provenance names."""

from __future__ import annotations

from typing import Any

import pytest

from clusterspec.cost.term import Term
from clusterspec.document import Document, parse
from clusterspec.quantity import Figure
from clusterspec.records import replace
from clusterspec.results import Input, Tool
from clusterspec.results.decision import DiffReport
from clusterspec.results.diagnosis import (
    AcceptanceOutcome,
    AcceptanceReport,
    Cause,
    ComparedCollective,
    ComparedRow,
    DiagnosisReport,
    FigureChange,
    UpdatedRange,
)
from clusterspec.results.estimate_json import Provenance, term_json
from clusterspec.results.facility import Facility
from clusterspec.results.faults import FailureRateRow, FailureRates, FaultRow, FaultsReport, YearlyGoodput
from clusterspec.results.fleet import FleetDiffReport, JobUse, PoolUse
from clusterspec.results.levers import SolveReport, seeks_most_nodes
from clusterspec.source import Computed, Source, Written

TOOL, READ = Tool("1.2", "2026.1"), Input("spec.yaml", b"clusterspec: 1\n")
HEAD = frozenset({"version", "tool", "input"})
SLOW = Cause("slow-link", "12 of 50 GB/s", "ibdiagnet", 0.8)
ENDED = Cause("peer-ended", "socket closed", "look at rank 3", 1.0)
POSSIBLE = Cause("no-gdr", "", "nvidia-smi topo -m", 0.3)
RUN = ComparedCollective("a.log", "all_reduce", 16, 2, "ring", (ComparedRow(1e9, 40e9, 50e9, 45e9, 55e9),), (SLOW,))


def body(result: Any) -> dict[str, Any]:
    """The fields of a document after its head."""
    return {key: value for key, value in result.to_json().items() if key not in HEAD}


@pytest.mark.parametrize(
    ("cause", "likely", "decisive"), [(SLOW, True, True), (ENDED, True, False), (POSSIBLE, False, False)]
)
def test_the_end_of_another_rank_decides_nothing(cause: Cause, likely: bool, decisive: bool) -> None:
    assert (cause.is_likely, cause.is_decisive) == (likely, decisive)
    assert replace(RUN, causes=(cause, POSSIBLE)).is_decided is decisive
    assert replace(RUN, rows=(), causes=(cause,)).is_decided is decisive


@pytest.mark.parametrize(
    ("measured", "causes", "verdict", "decided"),
    [
        (44e9, (), "slow", False),
        (44e9, (SLOW,), "slow", True),
        (45e9, (), "expected", True),
        (55e9, (POSSIBLE,), "expected", True),
        (56e9, (), "fast", True),
        (90e9, (Cause("above-links", "", "", 0.4),), "impossible", False),
    ],
)
def test_a_log_within_or_above_the_expected_range_needs_no_cause(
    measured: float, causes: tuple[Cause, ...], verdict: str, decided: bool
) -> None:
    run = replace(RUN, rows=(replace(RUN.rows[0], measured=measured),), causes=causes)
    assert (run.verdict, run.is_decided) == (verdict, decided)


def cause_json(cause: Cause, log: str) -> dict[str, Any]:
    shown = {"name": cause.name, "evidence": cause.evidence, "next": cause.next, "weight": cause.weight}
    return shown | {"log": log, "collective": "all_reduce"}


def test_a_diagnosis_lists_rows_causes_and_verdicts_by_log() -> None:
    failed = replace(RUN, log="b.log", rows=(), causes=(POSSIBLE,), alike=(ENDED,), error="died", left_out=7)
    named = replace(failed, other_devices="A100 in b.log")
    report = DiagnosisReport(TOOL, READ, (RUN, failed), (("c.log", "empty"),), FigureChange(2.0, 2.5), ("spec.yaml",))
    of_run = {"log": "a.log", "collective": "all_reduce", "ranks": 16}
    figures = {"size": 1e9, "measured": 40e9, "expected": 50e9, "ratio": 0.8, "low": 45e9, "high": 55e9}
    clean = {"log": "a.log", "collective": "all_reduce", "verdict": "slow", "decided": True}
    broken = {"log": "b.log", "collective": "all_reduce", "verdict": "unfinished", "decided": False}
    verdicts = [
        clean | {"error": None, "lines_left_out": 0, "deciding_check": None, "other_devices": None},
        broken | {"error": "died", "lines_left_out": 7, "deciding_check": None, "other_devices": None},
    ]
    assert body(report) == {
        "rows": [figures | of_run],
        "causes": [cause_json(SLOW, "a.log"), cause_json(POSSIBLE, "b.log")],
        "alike": [cause_json(ENDED, "b.log")],
        "verdicts": verdicts,
        "unread": [{"log": "c.log", "why": "empty"}],
        "step_time": {"before": 2.0, "after": 2.5},
        "written": ["spec.yaml"],
    }
    other = body(DiagnosisReport(TOOL, READ, (named,), ()))
    assert other["verdicts"][0]["other_devices"] == "A100 in b.log"
    assert (other["step_time"], other["written"], other["rows"]) == (None, [], [])


def test_an_acceptance_compares_each_test_with_the_earlier_one() -> None:
    """45 after 50 GB/s are 10 % less, which two runs of one machine do not differ by."""
    tests = (
        AcceptanceOutcome("a", 40e9, 45e9, "pass", "", (("a.log", "ab12"),)),
        AcceptanceOutcome("b", 40e9, None, "not-run", "no log"),
    )
    ranges = (UpdatedRange("a", (1.0, 4.0), (2.0, 3.0), 2.5),)
    report = AcceptanceReport(
        TOOL, READ, tests, (("c.log", "no test"),), earlier={"a": 50e9, "b": 20e9}, ranges=ranges, written=("x",)
    )
    done, missing = body(report)["tests"]
    assert done.pop("drift") == pytest.approx(-0.1)
    logs = [{"log": "a.log", "sha256": "ab12"}]
    shown = {"name": "a", "threshold": 40e9, "measured": 45e9, "status": "pass", "why": "", "unmeasured": None}
    assert done == shown | {"earlier": 50e9, "beyond_repeats": True, "logs": logs}
    assert (missing["drift"], missing["beyond_repeats"], missing["earlier"]) == (None, None, 20e9)
    assert {key: value for key, value in body(report).items() if key != "tests"} == {
        "unused": [{"log": "c.log", "why": "no test"}],
        "plan": "spec",
        "ranges": [{"name": "a", "before": (1.0, 4.0), "after": (2.0, 3.0), "measured": 2.5}],
        "written": ["x"],
    }
    first = body(replace(report, earlier=None, stated=False))
    assert first["plan"] == "computed" and first["tests"][0]["earlier"] is first["tests"][0]["drift"] is None


def test_the_hours_of_slowed_steps_add_up_where_a_job_runs() -> None:
    """A year has 8,766 hours: with a goodput of 1 alone the 3 + 0.5 slowed hours cost, 10 each."""
    row = FaultRow("node", 8, 4.0, "slows", 0.5, 2.5, 12.0, None, "why", slowed=3.0)
    rows = (row, replace(row, slowed=None), replace(row, slowed=0.5))
    report = FaultsReport(TOOL, READ, rows, 2.0, 10.0, "USD", YearlyGoodput(1.0, 1.0, 1.0, 1.0), {}, ())
    assert (report.slowed_hours, report.to_json()["hours_slowed_per_year"]) == (3.5, 3.5)
    assert report.cost_of_lost_hours == (35.0, 35.0, 35.0)
    idle = replace(report, goodput=None)
    assert idle.slowed_hours is None and idle.cost_of_lost_hours is None
    assert idle.to_json()["hours_slowed_per_year"] is None


def test_measured_rates_of_failures_keep_their_intervals_and_their_effect() -> None:
    row = FailureRateRow("node", 3, 8, 16.0, 0.1875, 0.05, 0.5)
    report = FailureRates(
        TOOL, READ, (row,), 6.3e7, (("a.log:3", "no part"),), ("n",), FigureChange(0.95, 0.9), ("w",), ("k",)
    )
    found = body(report)
    assert found.pop("method").startswith("failures over part-years; interval of 90 %")
    figures = {"parts": 8, "years": 16.0, "rate": 0.1875, "low": 0.05, "high": 0.5}
    assert found == {
        "rates": [{"part": "node", "failures": 3} | figures],
        "observed": 6.3e7,
        "undecided": [{"at": "a.log:3", "why": "no part"}],
        "notes": ["n"],
        "goodput": {"before": 0.95, "after": 0.9},
        "written": ["w"],
        "kept": ["k"],
    }
    assert body(replace(report, goodput=None))["goodput"] is None


@pytest.mark.parametrize(
    ("added", "removed", "pools", "caution"),
    [
        ((), (), ("p",), "other model"),  # one job on one pool: its fields are those of the file
        (("b",), (), ("p",), None),
        ((), ("b",), ("p",), None),
        (("b",), ("c",), ("p",), None),
        ((), (), ("p", "q"), None),
    ],
)
def test_the_difference_of_one_job_on_one_pool_is_that_of_the_file(
    added: tuple[str, ...], removed: tuple[str, ...], pools: tuple[str, ...], caution: str | None
) -> None:
    one = DiffReport(TOOL, READ, READ, (), (), (), (), caution="other model")
    uses = {name: PoolUse(4, 4, 0, 1.0, 4e4, None, "") for name in pools}
    found = FleetDiffReport(TOOL, READ, READ, {"a": one}, added, removed, uses, uses).to_json()
    assert found["caution"] == caution
    assert (found["added"], found["removed"], found["jobs"]["a"]["caution"]) == ([*added], [*removed], "other model")


def test_what_no_plan_states_counts_in_full() -> None:
    """A hall whose work is not planned is in use at all times; a job alone has its store and its link to itself."""
    job = JobUse("p", 4, 1.0, None, None)
    assert (Facility(None, None, None, 0, None).utilization, job.store_wait, job.link_share) == (1.0, 1.0, 1.0)


@pytest.mark.parametrize(("unit", "seconds"), [("s", 2.0), ("B", None), ("1", None)])
def test_a_term_has_seconds_where_its_unit_is_the_second(unit: str, seconds: float | None) -> None:
    share = Figure(0.5, "1", Computed("by hand"))
    part = Term("part", 1.5, unit, "p", low=1.0, high=2.0)
    term = Term("step", 2.0, unit, "p / share", (("share", share),), (part,), "a paper")
    none: dict[str, object] = {"inputs": [], "parts": []}
    assert term_json(term) == {
        **{"name": "step", "seconds": seconds, "value": 2.0, "unit": unit, "formula": "p / share"},
        **{"source": "a paper", "low": None, "high": None},
        "inputs": [{"name": "share", "value": 0.5, "unit": "1", "origin": str(share.origin)}],
        "parts": [
            {"name": "part", "seconds": 1.5 if seconds else None, "value": 1.5, "unit": unit, "formula": "p"}
            | {"source": "", "low": 1.0, "high": 2.0}
            | none
        ],
    }


def document_of(text: str) -> Document:
    found, problems = parse(Source("folder/spec.yaml", text))
    assert found is not None and not problems
    return found


PADDED = "tp: 8  # " + "x" * 51
"""A line of 60 characters."""
ON_ONE_LINE = "layout: {tp: 8, pp: 2, dp: [1, 2], nodes: 16, microbatch: 4, schedule: 1f1b}\n"
BEGINS_A_LIST = "rates: [1000, 2000, 3000, 4000, 5000, 6000, 7000, 8000, 9000, 10000,\n  11000]\n"


@pytest.mark.parametrize(
    ("text", "key", "told"),
    [
        (f"{PADDED}\n", "tp", PADDED),
        (f"{PADDED}x\n", "tp", "tp: 8"),  # of a longer line, the key and its value
        (f"a:\n    {PADDED}\n", "a.tp", PADDED),
        (ON_ONE_LINE, "layout.tp", "tp: 8"),
        (ON_ONE_LINE, "layout.dp", "dp: [1, 2]"),
        (ON_ONE_LINE, "layout.dp[1]", ON_ONE_LINE.strip()),  # an item has no key
        (ON_ONE_LINE, "layout.cp", ON_ONE_LINE.strip()),  # of an absent key, the mapping around it
        (BEGINS_A_LIST, "rates", BEGINS_A_LIST.partition("\n")[0]),  # its value ends on another line
    ],
)
def test_a_long_line_is_shortened_to_the_key_and_its_value(text: str, key: str, told: str) -> None:
    document = document_of(text)
    line = 2 if key.startswith("a.") else 1
    assert Provenance(document).text(Written(key)) == f"folder/spec.yaml:{line}: {told}"
    assert Provenance(document, folders=False).text(Written(key)) == f"spec.yaml:{line}: {told}"


def test_a_solution_has_the_roles_and_faults_of_each_value_tried() -> None:
    report = SolveReport(
        *(TOOL, READ, "nodes", "1", "step_time<=2", 4.0),
        value=8.0,
        probes=((4.0, float("inf"), False), (8.0, 1.5, True), (6.0, None, False)),
        errors={6.0: ("odd-nodes",)},
        misfits={4.0: "does not fit"},
        roles={8.0: {"trainer": 6, "rollout": 2}},
        path=("jobs", "a", "layout", "nodes"),
    )
    clean: dict[str, object] = {"errors": [], "misfit": None}
    found = body(report)
    roles = {"trainer": 6, "rollout": 2}
    assert found["probes"] == [
        {"value": 4.0, "metric": None, "holds": False} | clean | {"misfit": "does not fit"},
        {"value": 8.0, "metric": 1.5, "holds": True} | clean | {"roles": roles},
        {"value": 6.0, "metric": None, "holds": False} | clean | {"errors": ["odd-nodes"]},
    ]
    assert (found["roles"], found["path"]) == (roles, "jobs.a.layout.nodes")
    without = body(replace(report, value=None, path=()))
    assert without["roles"] is without["path"] is without["why"] is without["other_load"] is None


@pytest.mark.parametrize(
    ("metric", "side", "most"),
    [
        *((metric, "<=", True) for metric in ("power", "power_peak", "fleet_power", "fleet_cost", "exposed")),
        *((metric, ">=", False) for metric in ("power", "fleet_cost", "exposed", "step_time")),
        *((metric, ">=", True) for metric in ("mfu", "tokens_per_second_per_accelerator", "goodput")),
        *((metric, "<=", False) for metric in ("mfu", "goodput", "step_time", "memory")),
        (None, "<=", False),
        (None, ">=", False),
    ],
)
def test_the_most_nodes_are_sought_where_fewer_meet_a_limit(metric: str | None, side: str, most: bool) -> None:
    """Of a smaller machine the power is less, and each accelerator does more of the same work."""
    assert seeks_most_nodes(metric, side) is most
