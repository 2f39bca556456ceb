"""The library: what its page shows is what it does, and designs are values."""

from __future__ import annotations

import doctest
import importlib
import inspect
import json
import pkgutil
from datetime import date
from pathlib import Path

import pytest

import clusterspec
from clusterspec import analysis
from clusterspec.library import LoadedDesign
from clusterspec.units import display
from tests.effort import thorough

ROOT = Path(__file__).resolve().parents[1]
TEXT = """
clusterspec: 1
name: small
cluster: {platform: dgx-h100, nodes: 4}
workload: {model: llama-3.1-8b, sequence_length: 8192, global_batch: 128}
layout: {tp: 2, dp: 16}
"""


@pytest.fixture
def design() -> LoadedDesign:
    return clusterspec.load(TEXT, today="2026-11-20")


def test_the_examples_of_the_page_are_what_the_library_does() -> None:
    result = doctest.testfile(str(ROOT / "docs" / "library.md"), module_relative=False)
    assert result.attempted > 15
    assert result.failed == 0


def test_text_a_mapping_and_a_file_are_the_same_design(design: LoadedDesign, tmp_path: Path) -> None:
    file = tmp_path / "spec.yaml"
    file.write_text(TEXT)
    of_file, of_mapping = (clusterspec.load(each, today=date(2026, 11, 20)) for each in (file, design.to_mapping()))
    assert of_file == design == of_mapping
    assert len({of_file, design, of_mapping}) == 1
    assert of_file.estimate().plan.step_time == design.plan.step_time


def test_a_file_that_is_not_there_raises() -> None:
    with pytest.raises(FileNotFoundError):
        clusterspec.load("nowhere.yaml")


def test_a_changed_design_leaves_the_first_as_it_was(design: LoadedDesign) -> None:
    other = design.with_layout(tp=4)
    assert design.layout and other.layout
    assert (design.layout.tp, design.layout.dp) == (2, 16)
    assert (other.layout.tp, other.layout.dp) == (4, 8)  # a written dp follows the degrees
    assert other != design
    assert other.with_layout(tp=2, dp=16) == design


def test_none_deletes_a_key_and_mappings_are_merged(design: LoadedDesign) -> None:
    changed = design.with_cluster(scale_out={"oversubscription": "2:1"}).with_cluster(scale_out={"sharing": "shared"})
    assert changed.cluster and changed.cluster.scale_out and design.cluster and design.cluster.scale_out
    assert changed.cluster.scale_out.oversubscription == (2.0,)
    assert changed.cluster.scale_out.sharing == "shared"
    back = changed.with_cluster(scale_out=None)
    assert back.cluster and back.cluster.scale_out == design.cluster.scale_out


def test_a_change_that_is_wrong_is_a_finding(design: LoadedDesign) -> None:
    wrong = design.with_workload(model="no-such-model")
    assert wrong.workload is None
    assert [finding.rule for finding in wrong.findings] == ["unknown-catalog-id"]
    assert repr(wrong) == "<LoadedDesign small: 4 × dgx-h100, tp 2 cp 1 ep 1 pp 1 dp 16>"


def test_a_day_decides_about_waivers() -> None:
    text = TEXT.replace("nodes: 4}", "nodes: 4}  # clusterspec: ignore[shared-nic] until 2026-01-31: by design")
    before, after = (clusterspec.load(text, today=day) for day in ("2026-01-01", "2026-11-20"))
    assert "expired-waiver" in {finding.rule for finding in after.findings}
    assert "expired-waiver" not in {finding.rule for finding in before.findings}


def test_equal_layouts_are_one_key(design: LoadedDesign) -> None:
    assert design.layout is not None
    assert {design.layout: 1}[clusterspec.load(TEXT).layout] == 1  # type: ignore[index]


def test_each_verb_is_a_function_whatever_module_was_imported() -> None:
    for module in pkgutil.iter_modules(analysis.__path__):
        importlib.import_module(f"{analysis.__name__}.{module.name}")
    assert set(analysis.__all__) == analysis.HOMES.keys() | {"check"}
    assert all(inspect.isfunction(getattr(analysis, name)) for name in analysis.__all__)
    assert all(inspect.isfunction(getattr(clusterspec, name)) for name in clusterspec.__all__)
    with pytest.raises(AttributeError, match="has no attribute 'guess'"):
        analysis.guess  # noqa: B018


def test_the_functions_of_the_package_and_the_methods_of_a_design_agree(design: LoadedDesign, tmp_path: Path) -> None:
    file, other, axes = tmp_path / "spec.yaml", tmp_path / "other.yaml", tmp_path / "axes.yaml"
    file.write_text(TEXT)
    other.write_text(TEXT.replace("nodes: 4", "nodes: 8").replace("dp: 16", "dp: 32"))
    axes.write_text("base: spec.yaml\naxes: {cluster.nodes: [4, 8]}\n")
    changes = {one.path: (one.old, one.new) for one in clusterspec.diff(file, other).changes}
    assert changes == {("cluster", "nodes"): (4, 8), ("layout", "dp"): (16, 32)}
    assert (
        clusterspec.solve(file, "nic_bandwidth", "mfu>=0.01").value == design.solve("nic_bandwidth", "mfu>=0.01").value
    )
    assert [dict(row.axes) for row in clusterspec.sweep(axes)] == [{"cluster.nodes": 4}, {"cluster.nodes": 8}]
    assert design.diff(design).changes == ()
    assert design.cost().cost is not None
    for result in (design.diff(design), design.cost(), design.bill(), design.faults(), design.check()):
        assert "<" in result._repr_html_() and not repr(result).endswith(": >")
    steps = design.sensitivity()._repr_html_()
    assert "<td>nic_bandwidth</td><td>50 GB/s</td><td>25 GB/s</td>" in steps, "figures have the unit of their row"
    for pins in ({"tpp": 2}, {"tp": 0}, {"tp": "2"}, {"sharding": "zero9"}, {"pools": "aggregated"}):
        with pytest.raises(ValueError, match=f"pins: .*{next(iter(pins))}"):
            design.search(pins=pins)
    file.write_text(small := TEXT.replace("nodes: 4", "nodes: 1").replace("dp: 16", "dp: 4"))
    assert clusterspec.search(file).layouts[0].layout == clusterspec.load(small).search().layouts[0].layout


@pytest.mark.parametrize("letter", ["\ud83d", "\udc12", "\udc80", "\ud83d\ude80"])
def test_a_lone_surrogate_in_a_text_is_a_finding(letter: str) -> None:
    found = clusterspec.load(f"clusterspec: 1\nname: a{letter}\n").findings
    assert [(one.rule, one.span.start.line, one.span.start.column) for one in found] == [("unreadable-yaml", 2, 8)]


@thorough
def test_a_result_is_short_in_a_session_and_complete_in_its_document(design: LoadedDesign) -> None:
    results = (design.estimate(), design.check(), design.bill(), design.faults(), design.cost(), design.report())
    for result in (*results, design.diff(design.with_layout(tp=4))):
        assert repr(result).startswith(f"<{type(result).__name__}")
        assert len(repr(result)) < 300, repr(result)
    assert f"step_time {display(results[0].to_json()['step_time'], 's', 4)}" in repr(results[0])


def test_the_notebook_shows_a_line_and_a_page_of_every_result() -> None:
    """Its cells run when `tools.generate` makes it, which tests/test_generated.py does."""
    cells = json.loads((ROOT / "docs" / "notebook.ipynb").read_text("utf-8"))["cells"]
    shown = [output["data"] for cell in cells for output in cell.get("outputs", [])]
    assert [one["text/plain"][0].partition(" ")[0] for one in shown if "text/html" in one] == [
        "<LoadedDesign",
        "<EstimateReport",
        "<Figures:",
        "<DiffReport",
    ]
    assert all(len(one["text/plain"]) == 1 and len(one["text/plain"][0]) < 200 for one in shown)


@thorough
def test_a_page_of_a_notebook_has_the_figures_and_the_findings_and_runs_nothing() -> None:
    spec = TEXT.replace("name: small", 'name: "<script>alert(1)</script>"').replace("tp: 2", "tp: 3")
    design = clusterspec.load(spec, today="2026-11-20")
    page = design._repr_html_()
    assert "<script" not in page
    for finding in design.findings:
        assert finding.rule in page
    sound = clusterspec.load(TEXT, today="2026-11-20")
    estimate = sound.estimate()
    for part in (">MFU</th>", f"communication ({len(estimate.to_json()['communication'])})"):
        assert part in estimate._repr_html_()
        assert part in sound._repr_html_()
    changed = sound.diff(sound.with_layout(tp=1))._repr_html_()
    assert "<details open><summary>changes (2)" in changed and "<details open>" not in estimate._repr_html_()


def test_figures_are_the_drawings_of_the_named_sections() -> None:
    small = clusterspec.load({"clusterspec": 1, "cluster": {"platform": "dgx-h100", "nodes": 2}})
    every, one = small.figures(), small.figures("bandwidth")
    assert repr(every) == "<Figures: machine, bandwidth>" and repr(one) == "<Figures: bandwidth>"
    assert one.figures == tuple(figure for figure in every.figures if figure.section == "bandwidth")
    assert one._repr_html_().count("<svg") == len(one.figures) and "<script" not in every._repr_html_()
    with pytest.raises(ValueError, match=r"no section is called 'memory'; the report has .*bandwidth"):
        small.figures("memory")


def test_a_fleet_names_its_pools_and_shows_its_jobs() -> None:
    fleet = clusterspec.load(ROOT / "examples" / "lab-fleet.yaml")
    assert repr(fleet).startswith("<LoadedDesign lab-fleet: 3 pools (train 8 × dgx-b200, ")
    page = fleet._repr_html_()
    assert "not resolved" not in page and all(f"<summary>{name}: " in page for name in fleet.jobs)
    with pytest.raises(ValueError, match="pretrain"):
        fleet.figures()


def test_tables_are_data_frames(design: LoadedDesign) -> None:
    pytest.importorskip("pandas")
    frames = design.bill().frames()
    items = design.bill().to_json()["items"]
    assert list(frames["items"]["part"]) == [item["part"] for item in items]
    assert frames["items"]["quantity"].sum() == sum(item["quantity"] for item in items)


def test_an_unknown_key_to_solve_for_is_refused_by_name(design: LoadedDesign) -> None:
    with pytest.raises(ValueError, match=r"solve cannot vary 'layout.nodes'.*nodes"):
        design.solve("layout.nodes", "mfu>=0.3")
