"""Every point of sweep, solve and sensitivity is a design that check passes, or names the rules of its errors."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from clusterspec.analysis.levers.boundaries import solve
from clusterspec.analysis.levers.effects import sensitivity
from clusterspec.analysis.levers.keys import LEVERS, lever_of
from clusterspec.analysis.searches.layouts import search
from clusterspec.analysis.searches.studied import SearchOptions
from clusterspec.analysis.searches.sweeps import read_axes, row_of_point
from clusterspec.cluster.model import Cluster, Layout
from clusterspec.finding import Problem
from clusterspec.report import solve_text
from clusterspec.results.levers import SweepRow
from clusterspec.rules.index import RULES
from clusterspec.rules.pages import module
from clusterspec.studies import variation
from tests.analysis.jobs import study_of
from tests.effort import sampled, thorough

JOB = """
cluster: {platform: dgx-h100, nodes: 16, scale_out: {technology: infiniband-ndr}}
workload: {model: llama-3.1-8b, sequence_length: 8192, global_batch: 256}
layout: {framework: megatron-core, tp: 2, sharding: zero1, micro_batch: 1}
procurement:
  currency: USD
  term: 3 years
  prices: {node: 300000, nic: 1500, leaf_switch: 20000, spine_switch: 20000, core_switch: 20000, cable: 500}
"""
AXES: dict[str, list[object]] = {
    "workload.precision": ["bf16", "fp4"],
    "cluster.scale_out.nic_bandwidth": [400, "50 GB", "400 GB/s", "400 Gb/s", "800 Gb/s"],
    "cluster.platform": ["dgx-h100", "dgx-h1000"],
    "workload.model": ["llama-3.1-8b", "llama-3.1-405b"],
    "layout.tp": [2, 3, 16],
    "workload.global_batch": [256, 250],
}
REFUSED = {
    ("workload.precision", "fp4"): "precision-unsupported",
    ("cluster.scale_out.nic_bandwidth", "400"): "missing-unit",
    ("cluster.scale_out.nic_bandwidth", "50 GB"): "wrong-unit",
    ("cluster.scale_out.nic_bandwidth", "400 GB/s"): "bits-and-bytes-swapped",
    ("cluster.scale_out.nic_bandwidth", "800 Gb/s"): "nic-rate-off-technology",
    ("cluster.platform", "dgx-h1000"): "unknown-catalog-id",
    ("workload.model", "llama-3.1-405b"): "states-exceed-memory",
    ("layout.tp", "3"): "ffn-indivisible-by-tp",
    ("workload.global_batch", "250"): "global-batch-indivisible",
}


def points(folder: Path, key: str, values: list[object], layout: str) -> list[SweepRow]:
    (folder / "base.yaml").write_text("clusterspec: 1\nname: test\n" + JOB.lstrip("\n"), encoding="utf-8")
    lines = [f"base: base.yaml\nlayout: {layout}\naxes:\n  {key}:", *(f"    - {value}" for value in values)]
    (folder / "axes.yaml").write_text("\n".join(lines) + "\n", encoding="utf-8")
    axes = read_axes(folder / "axes.yaml")
    return [row_of_point(axes, each) for each in axes.points()]


@pytest.mark.parametrize("key", AXES)
def test_a_point_is_a_checked_design_or_names_its_rule(key: str, tmp_path: Path) -> None:
    one = study_of(JOB)
    for row in points(tmp_path, key, AXES[key], "fixed"):
        path, value = tuple(key.split(".")), row.axes[key]
        check = {each.rule for each in variation.rewritten_study(one, {path: value}).errors}
        assert set(row.errors) == check
        assert (row.step_time is None) is bool(check) and (row.cost is None) is bool(check)
        expected = REFUSED.get((key, str(value)))
        assert expected is None or (expected in row.errors and expected in row.why)
        assert row.to_json()["fits"] is row.fits
        assert row.fits is True or check


@thorough
@pytest.mark.parametrize(
    "key", sampled(["workload.precision", "cluster.scale_out.nic_bandwidth", "cluster.platform"], 1)
)
def test_no_layout_is_searched_for_a_machine_or_a_workload_that_check_refuses(key: str, tmp_path: Path) -> None:
    for row in points(tmp_path, key, AXES[key], "best"):
        expected = REFUSED.get((key, str(row.axes[key])))
        assert (row.layout is None) is (expected is not None)
        assert expected is None or expected in row.errors


@thorough
def test_a_lever_is_moved_to_a_checked_design_or_names_its_rule() -> None:
    one = study_of(JOB)
    report = sensitivity(one)
    steps = {(row.key, row.after): row for row in report.levers}
    assert steps["nic_bandwidth", 100e9].errors == ("nic-rate-off-technology",)
    for (key, after), row in steps.items():
        if key in LEVERS:
            assert isinstance(after, float | int)
            check = variation.varied_study(one, LEVERS[key].changes(float(after))).errors
            assert set(row.errors) == {each.rule for each in check}
        assert not row.errors or (row.step_time, row.cost, row.effect) == (None, None, None)
    ranked = [bool(row.errors) for row in report.levers]
    assert ranked == sorted(ranked) and any(ranked)


@thorough
def test_a_machine_whose_fabric_cannot_be_counted_has_no_cost_where_another_has_one() -> None:
    unnamed = JOB.replace("{technology: infiniband-ndr}", "{technology: infiniband-ndr, nic_bandwidth: 400 Gb/s}")
    for row in sensitivity(study_of(unnamed)).levers:
        if row.key == "nic_bandwidth":
            assert row.after != 100e9 or row.cost is None


def test_a_boundary_is_sold_or_names_the_rule_that_refuses_it() -> None:
    report = solve(study_of(JOB), "nic_bandwidth", "mfu>=0.3")
    assert report.value is not None and report.value < 25e9
    assert report.errors[report.value] == ("nic-rate-off-technology",)
    assert report.catalog_step == 25e9 and 25e9 not in report.errors
    named = {each["value"]: each["errors"] for each in report.to_json()["probes"]}
    assert named[report.value] == ["nic-rate-off-technology"] and named[25e9] == []


@thorough
def test_a_layout_that_check_refuses_meets_no_condition() -> None:
    report = solve(study_of(JOB), "nodes", "mfu>=0.01")
    for value, _, holds in report.probes:
        errors = variation.varied_study(study_of(JOB), LEVERS["nodes"].changes(value)).errors
        assert not (holds and errors), value


@pytest.fixture
def breaking(monkeypatch: pytest.MonkeyPatch) -> None:
    """A rule that breaks on every other design than that of the spec whose oversubscription is 2:1 or tp is 4."""

    def check(layout: Layout, cluster: Cluster) -> Iterator[Problem]:
        taper = cluster.scale_out.taper if cluster.scale_out else 1
        if layout.tp == 4 or taper == 2:
            raise ZeroDivisionError("nothing to divide by")
        yield from ()

    monkeypatch.setattr(module("unusual-value"), "check", check)
    monkeypatch.setitem(RULES, "unusual-value", ("layout", ("layout", "cluster")))
    monkeypatch.setattr("clusterspec.rules.engine._SILENT", {})


@pytest.mark.usefixtures("breaking")
def test_a_step_that_fails_leaves_the_other_steps() -> None:
    one = study_of(JOB.replace("infiniband-ndr", "infiniband-ndr, oversubscription: 1.5:1"))
    rows = {(row.key, row.after) for row in sensitivity(one).levers}
    assert ("oversubscription", 1.0) in rows and ("oversubscription", 2.0) not in rows
    assert [name for name, _ in one.failures] == ["oversubscription 2.0"]
    by_node = JOB.replace("infiniband-ndr", "infiniband-ndr, switch_ports: 16")  # one node on a leaf
    report = solve(study_of(by_node), "oversubscription", "slowdown<=0.001%")
    assert report.value == 1.0 and not {value: holds for value, _, holds in report.probes}[2.0]


@thorough
@pytest.mark.usefixtures("breaking")
def test_a_layout_and_a_point_that_fail_leave_the_others(tmp_path: Path) -> None:
    one = study_of(JOB)
    found = search(one, SearchOptions({"pp": 1, "cp": 1, "micro_batch": 1}, top=40))
    shown = {row.layout.get("tp", 1) for row in found.layouts}
    assert len(shown) > 1 and 4 not in shown
    assert one.failures and all("'tp': 4" in name for name, _ in one.failures)
    assert [(row.failed, row.step_time is None) for row in points(tmp_path, "layout.tp", [2, 4, 8], "fixed")] == [
        (False, False),
        (True, True),
        (False, False),
    ]


TIGHT = JOB.replace("llama-3.1-8b", "llama-3.1-70b").replace("nodes: 16", "nodes: 4").replace("tp: 2", "tp: 8, pp: 2")
"""80 GB of 85.5 with micro-batches of one sequence; the upper end of the range is 87.4 GB."""


def test_what_may_not_fit_is_marked_by_solve_as_by_search() -> None:
    one = study_of(TIGHT)
    assert one.plan.fits and one.plan.surely_fits is False
    report = solve(one, "nic_bandwidth", "mfu>=0.01")
    assert report.unsure and report.value is not None and "may not fit" in solve_text.solve_as_text(report)
    assert solve(one, "sequence_length", "fits").value < 8192  # type: ignore[operator]


@thorough
def test_the_best_layout_that_solve_finds_surely_fits() -> None:
    best = solve(study_of(TIGHT), "nodes", "mfu>=0.01", best_layout=True)
    assert not best.unsure and best.estimate is not None
    assert best.estimate["range"]["memory"][1] <= best.estimate["memory"]["capacity"]


PARTIAL = JOB.replace("tp: 2", "nodes: 4, tp: 2")


def test_the_nodes_of_a_job_are_those_that_it_uses() -> None:
    """4 of 16 nodes: 8 nodes are half of the time; the cluster grows only beyond its 16."""
    one = study_of(PARTIAL)
    assert one.plan.step_seconds is not None
    steps = {row.after: row for row in sensitivity(one).levers if row.key == "nodes"}
    assert {row.before for row in steps.values()} == {4.0} and set(steps) == {2.0, 8.0}
    assert steps[8.0].step_time == pytest.approx(study_of(PARTIAL.replace("nodes: 4", "nodes: 8")).plan.step_seconds)
    assert one.design.cluster is not None
    for value, there in ((2.0, 16), (16.0, 16), (32.0, 32)):
        other = variation.varied_study(one, lever_of("nodes", one.design).changes(value)).design
        assert other.cluster is not None and other.layout is not None
        assert (other.layout.nodes, other.cluster.nodes) == (value, there)


def test_hardware_is_tried_between_the_sold_values() -> None:
    for key, condition in (("nic_bandwidth", "mfu>=0.99"), ("oversubscription", "mfu>=0.01")):
        tried = [value for value, _, _ in solve(study_of(JOB), key, condition).probes]
        assert min(tried) >= LEVERS[key].steps[0] and max(tried) <= LEVERS[key].steps[-1]


def test_a_row_of_a_search_names_the_errors_of_its_design() -> None:
    """The machine of the spec has an error that no layout removes."""
    one = study_of(JOB.replace("{technology: infiniband-ndr}", "{technology: infiniband-ndr, nic_bandwidth: 800 Gb/s}"))
    assert {each.rule for each in one.errors} == {"nic-rate-off-technology"}
    found = search(one, SearchOptions({"pp": 1, "tp": 2}, top=3))
    assert {row.errors for row in found.layouts} == {("nic-rate-off-technology",)}
    assert found.to_json()["layouts"][0]["errors"] == ["nic-rate-off-technology"]
