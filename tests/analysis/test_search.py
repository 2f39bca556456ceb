from __future__ import annotations

import json
from pathlib import Path

import pytest

from clusterspec import studies
from clusterspec.analysis.rewrite import text_with_layout
from clusterspec.analysis.searches.layouts import search
from clusterspec.analysis.searches.space.bounded import fastest_of_spaces
from clusterspec.analysis.searches.space.columns import ColumnEvaluation, batched_evaluation
from clusterspec.analysis.searches.space.families import families
from clusterspec.analysis.searches.space.run import Limits
from clusterspec.analysis.searches.space.run import search as run_search
from clusterspec.analysis.searches.space.searches import sequential_evaluation
from clusterspec.analysis.searches.studied import Pins, SearchOptions, Space
from clusterspec.cli import run
from clusterspec.cost.plan import TIE
from clusterspec.finding import Severity
from tests.analysis.jobs import DENSE, JOBS, design_of, job, study_of
from tests.effort import sampled, telling, thorough

PINNED = {"cp": 1, "recompute": "none", "sharding": "zero1"}


def test_the_best_is_the_least_of_all() -> None:
    searched, design = job(DENSE), design_of(DENSE)
    space = Space(list(families(searched, Pins(PINNED))))
    evaluate = sequential_evaluation(design, searched)
    every = [row for block in evaluate(space) for row in zip(block.step_time, block.memory, block.number, strict=True)]
    limits = Limits(80e9, 0.2)
    found = run_search(space, evaluate, limits, top=3)
    fitting = sorted((time, held) for time, held, _ in every if held <= 64e9)
    assert found.evaluated == len(every)
    sure = [upper for block in evaluate(space) for upper in block.upper if upper <= 80e9]
    assert (found.fitting, found.may_fit) == (len(sure), sum(held <= 80e9 for _, held, _ in every) - len(sure))
    assert [(kept.step_time, kept.memory) for kept in found.best[:3]] == fitting[:3]
    assert found.smallest is not None and found.smallest.memory == min(held for _, held, _ in every)


@pytest.mark.parametrize("name", sampled(JOBS, 3))
def test_columns_equal_single_layouts(name: str) -> None:
    searched, design = job(JOBS[name]), design_of(JOBS[name])
    space = Space(list(families(searched, Pins({"micro_batch": 1, "cp": 1, "recompute": "none"}))))
    rows = []
    for evaluate in (sequential_evaluation(design, searched), batched_evaluation(design, searched)):
        blocks = [zip(block.number, block.step_time, block.memory, strict=True) for block in evaluate(space)]
        rows.append(sorted((int(number), float(time), float(held)) for block in blocks for number, time, held in block))
    alone, together = rows
    assert [number for number, *_ in together] == list(range(space.size))
    assert [time for _, time, _ in together] == pytest.approx([time for _, time, _ in alone], rel=1e-12)
    assert [held for *_, held in together] == pytest.approx([held for *_, held in alone], rel=1e-12)


@thorough
@pytest.mark.parametrize("name", sampled(JOBS, 3))
def test_the_layouts_before_the_end_of_a_bounded_search_are_those_of_a_whole_one(name: str) -> None:
    searched, design, limits = job(JOBS[name]), design_of(JOBS[name]), Limits(80e9, None)
    spaces = [Space(list(families(searched, Pins({"cp": cp, "virtual_stages": 1})))) for cp in (1, 2)]
    evaluate = batched_evaluation(design, searched)
    assert isinstance(evaluate, ColumnEvaluation)
    found = fastest_of_spaces(evaluate, spaces, limits, top=1)
    assert any(found)
    for space, bounded in zip(spaces, found, strict=True):
        whole = run_search(space, evaluate, limits, top=1)
        if bounded is None:
            continue
        assert bounded.evaluated <= whole.evaluated
        assert bounded.complete_to >= whole.best[0].step_time * (1 + TIE) ** 2
        for some, every in ((bounded.best, whole.best), (bounded.front, whole.front)):
            assert [one for one in some if one.key <= bounded.complete_to] == [
                one for one in every if one.key <= bounded.complete_to
            ]


def test_a_search_that_ends_early_begins_with_the_spec_and_comes_near_the_best() -> None:
    searched, design = job(DENSE), design_of(DENSE)
    space, limits = Space(list(families(searched, Pins({"cp": 1})))), Limits(80e9, None)
    alone = sequential_evaluation(design, searched)
    first = space.choice(int(next(alone(space)).number[0]))
    own = searched.layout
    assert (first.family.tp, first.family.pp, first.sharding.kind) == (own.tp, own.pp, own.sharding)
    ended = run_search(space, alone, limits, top=1, progress=lambda done, _: done >= 150)
    best = run_search(space, batched_evaluation(design, searched), limits, top=1).best[0]
    assert ended.evaluated < space.size / 10
    assert ended.best[0].step_time <= 1.02 * best.step_time


def test_every_layout_shown_passes_the_check_and_its_estimate_is_that_of_the_spec(tmp_path: Path) -> None:
    one = study_of(DENSE)
    report = search(one, SearchOptions(PINNED, top=4))
    assert len(report.layouts) == 4
    for row in report.layouts:
        pasted = studies.study_text(text_with_layout(one, row.layout), one.settings)
        assert not [found for found in pasted.findings if found.severity is Severity.ERROR]
        assert pasted.plan.step_time is not None and pasted.plan.memory is not None
        assert row.step_time == pytest.approx(pasted.plan.step_time.value, rel=1e-12)
        assert row.memory == pytest.approx(pasted.plan.memory.total.value, rel=1e-12)


@telling(1)
@pytest.mark.parametrize("nodes", [8, 9])
def test_a_power_of_two_of_nodes_is_tried_where_the_nodes_are_none(nodes: int) -> None:
    """With 72 ranks, dp or pp has a factor of 9, which divides neither the batch of 32 nor the 32 layers."""
    text = DENSE.replace("nodes: 2", f"nodes: {nodes}").replace("tp: 2", "virtual_stages: 1")
    few = SearchOptions({"cp": 1, "recompute": "none", "micro_batch": 1, "sharding": "zero1"}, top=1)
    found = search(study_of(text), few)
    on_eight = search(study_of(text.replace("{framework", "{nodes: 8, framework")), few)
    if nodes == 8:
        assert found.fewer_nodes is None
    else:
        assert found.fewer_nodes is not None and found.fewer_nodes.layout["nodes"] == 8
        assert found.fewer_nodes.step_time == on_eight.layouts[0].step_time
    assert on_eight.fewer_nodes is None


@telling(2)
@pytest.mark.parametrize(
    ("layout", "pins", "degrees", "unsearched"),
    [
        ("{framework: fsdp}", {}, {1}, ("pp",)),
        ("{framework: llm-foundry}", {}, {1}, ("pp",)),
        ("{framework: fsdp}", {"pp": 2}, {2}, ()),
        ("{framework: fsdp, pp: 2}", {}, {1, 2, 4}, ()),
        ("{framework: torchtitan}", {}, {1, 2, 4}, ()),
    ],
)
def test_pipelines_are_searched_where_the_framework_runs_them_or_the_spec_has_one(
    layout: str, pins: dict[str, object], degrees: set[int], unsearched: tuple[str, ...]
) -> None:
    text = DENSE.replace("nodes: 2", "nodes: 1").replace("{framework: megatron-core, tp: 2}", layout)
    few = {"tp": 1, "cp": 1, "recompute": "full", "micro_batch": 1} | pins
    found = search(study_of(text), SearchOptions(few, best_only=True))
    assert found.unsearched == unsearched
    assert {row.layout.get("pp", 1) for row in found.layouts} <= degrees
    assert {each.pp for each in families(job(text), Pins(few))} == degrees


@pytest.mark.parametrize(
    ("nodes", "batch", "why"),
    [
        (3, 1024, "no dp of 24 ranks divides a global batch of 1,024; 1,008 and 1,032 are multiples of dp 24"),
        (33, 8, "no dp of 264 ranks divides a global batch of 8; 33 is a multiple of dp 33"),
    ],
)
def test_a_batch_that_no_layout_divides_is_told_with_the_nearest_that_one_does(
    nodes: int, batch: int, why: str
) -> None:
    text = DENSE.replace("nodes: 2", f"nodes: {nodes}").replace("global_batch: 32", f"global_batch: {batch}")
    found = search(study_of(text.replace("megatron-core, tp: 2", "fsdp")), SearchOptions({}, best_only=True))
    assert (found.why, found.layouts, found.evaluated) == (why, (), 0)


SLOW_LINKS = """
clusterspec: 1
cluster:
  accelerator: l40s
  accelerators_per_node: 1
  nodes: 16
  scale_out: {technology: ethernet, nics_per_node: 1, nic_bandwidth: 10 Gb/s}
workload: {model: gemma-2-2b, sequence_length: 4096, global_batch: 16, precision: bf16}
layout: {framework: fsdp}
"""


@thorough
def test_where_rules_refuse_every_layout_the_first_is_told_with_its_rules() -> None:
    found = search(study_of(SLOW_LINKS), SearchOptions({"tp": 1, "cp": 1}, top=1, best_only=True))
    first = found.first_refused
    assert found.fitting and not found.layouts and first is not None and first.step_time
    assert set(first.errors) & set(found.refused_by)
    assert found.to_json()["first_refused"] == first.to_json()
    faster = study_of(SLOW_LINKS.replace("10 Gb/s", "400 Gb/s"))
    shown = search(faster, SearchOptions({"tp": 1, "cp": 1}, top=1, best_only=True))
    assert shown.layouts and shown.first_refused is None
    assert (shown.layouts[0].step_time or 0) < first.step_time


def test_a_key_that_cannot_be_read_and_is_kept_drops_no_layout() -> None:
    unread = study_of(DENSE.replace("layout: {", "layout: {cp_method: rign, "))
    report = search(unread, SearchOptions(PINNED, top=2, best_only=True))
    assert len(report.layouts) == 2 and not report.refused_by
    assert "unknown-choice" in {found.rule for found in unread.errors}


def test_a_target_that_no_layout_meets_drops_none_and_is_told_with_each() -> None:
    """A checkpoint of 14 bytes for each of 8.03 billion parameters takes 112 s of each 300 s at 1 GB/s."""
    failing = "operations: {checkpoint: {interval: 5 min, mode: synchronous}, targets: {goodput: 0.95}}\n"
    text = DENSE.replace("nodes: 2", "nodes: 2, networks: {storage: {bandwidth: 1 GB/s}}", 1) + failing
    report = search(study_of(text), SearchOptions(PINNED, top=2, best_only=True))
    assert len(report.layouts) == 2 and not report.refused_by
    assert all("low-goodput" in row.errors for row in report.layouts)


@thorough
def test_ties_are_ordered_by_memory_then_by_the_keys_they_need() -> None:
    report = search(study_of(DENSE), SearchOptions({"recompute": "none", "pp": 1}, top=8))
    tied = [row for row in report.layouts if row.tied]
    assert report.layouts[0].tied and len(tied) > 1
    keys = [(row.memory or 0.0, len(row.layout)) for row in tied]
    assert keys == sorted(keys)
    times = [row.step_time or 0.0 for row in tied]
    assert max(times) <= min(times) * (1 + TIE)


@thorough
def test_more_headroom_never_finds_a_faster_layout() -> None:
    times = []
    for headroom in (0.0, 0.4, 0.7):
        rows = search(study_of(DENSE), SearchOptions(PINNED, top=1, min_headroom=headroom)).layouts
        times.append(rows[0].step_time if rows else float("inf"))
    assert times == sorted(times)  # type: ignore[type-var]


@thorough
def test_where_nothing_fits_the_smallest_is_named() -> None:
    large = DENSE.replace("llama-3.1-8b", "llama-3.1-405b").replace("nodes: 2", "nodes: 1")
    report = search(study_of(large), SearchOptions({"cp": 1, "recompute": "full", "micro_batch": 1}, top=2))
    assert not report.layouts and "fits" in report.why
    assert report.smallest is not None and report.smallest.memory is not None and report.smallest.memory > 80e9


def test_a_grid_has_the_best_of_every_pair() -> None:
    report = search(study_of(DENSE), SearchOptions(PINNED, top=1, grid=("tp", "pp")))
    assert report.grid is not None
    times = [cell.step_time for cell in report.grid.cells if cell.fits and cell.step_time is not None]
    best = report.layouts[0]
    assert best.low is not None and best.step_time is not None and best.low <= min(times) <= best.step_time
    assert [(cell.row, cell.column) for cell in report.grid.cells if cell.present] == [(2, 1)]


def test_a_serving_spec_is_told_what_a_search_needs() -> None:
    text = "cluster: {platform: dgx-h100, nodes: 1}\nworkload: {kind: serve, model: llama-3.1-8b}\nlayout: {tp: 8}\n"
    assert "workload.serving" in search(study_of(text), SearchOptions({})).why


def test_a_precision_without_a_peak_has_no_layouts() -> None:
    work = "workload: {model: llama-3.1-8b, sequence_length: 4096, global_batch: 64, precision: fp8}"
    report = search(study_of(f"cluster: {{platform: tpu-v5e, nodes: 8}}\n{work}\nlayout: {{framework: maxtext}}"))
    assert not report.layouts and "tpu-v5e has no peak at fp8" in report.why


@thorough
def test_the_command_writes_a_copy_and_keeps_what_is_around_the_layout(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    spec, copy = tmp_path / "spec.yaml", tmp_path / "best.yaml"
    spec.write_text("clusterspec: 1\nname: test\n# the machine\n" + DENSE.lstrip() + "# the end\n")
    pinned = [word for key, value in PINNED.items() for word in ("--set", f"{key}={value}")]
    status = run(["search", str(spec), "--format", "json", "--top", "2", "--write", str(copy), *pinned])
    found = json.loads(capsys.readouterr().out)
    assert status == 0 and len(found["layouts"]) == 2 and found["evaluated"] > 10
    text = copy.read_text()
    assert "# the machine" in text and text.endswith("# the end\n")
    assert f"tp: {found['layouts'][0]['layout']['tp']}, " in text
    assert spec.read_text().count("tp: 2") == 1


@pytest.mark.parametrize("bad", ["tp", "tp=0", "tp=two", "sharding=zero9", "colour=red"])
def test_a_pin_that_is_none_is_refused_in_one_line(
    bad: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    spec = tmp_path / "spec.yaml"
    spec.write_text("clusterspec: 1\nname: test\n" + DENSE)
    assert run(["search", str(spec), "--set", bad]) == 2
    assert capsys.readouterr().err.count("\n") == 1


@thorough
@pytest.mark.parametrize("name", sampled(JOBS, 3))
def test_the_same_search_gives_the_same_rows(name: str) -> None:
    pinned = {"recompute": "none", "micro_batch": 1, "cp": 1, "pp": 1}
    first, second = (search(study_of(JOBS[name]), SearchOptions(pinned, top=3)) for _ in range(2))
    assert first.to_json() == second.to_json()
    assert first.layouts
