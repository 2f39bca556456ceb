from __future__ import annotations

import csv
import io
import json
import os
import signal
import sys
from pathlib import Path

import pytest

from clusterspec import studies
from clusterspec.analysis.searches.sweeps import SweepFault, read_axes
from clusterspec.cli import run
from tests.analysis.jobs import DENSE
from tests.effort import sampled, telling, thorough

AXES = """
base: spec.yaml
axes:
  cluster.nodes: [1, 2]
  workload.model: [llama-3.1-8b, llama-2-7b]
layout: {layout}
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    text = DENSE.replace("tp: 2}", "tp: 2, sharding: fsdp, recompute: full}").lstrip()
    (tmp_path / "spec.yaml").write_text("clusterspec: 1\nname: test\n" + text)
    (tmp_path / "fixed.yaml").write_text(AXES.replace("{layout}", "fixed"))
    return tmp_path


def rows(folder: Path, capsys: pytest.CaptureFixture[str], *options: str) -> list[dict[str, object]]:
    assert run(["sweep", str(folder / "fixed.yaml"), "--format", "jsonl", *options]) == 0
    return [json.loads(line) for line in capsys.readouterr().out.splitlines()]


def test_a_point_of_a_sweep_is_the_estimate_of_the_changed_spec(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    found = rows(folder, capsys, "--jobs", "1")
    assert [(row["cluster.nodes"], row["workload.model"]) for row in found] == [
        (1, "llama-3.1-8b"),
        (1, "llama-2-7b"),
        (2, "llama-3.1-8b"),
        (2, "llama-2-7b"),
    ]
    other = (folder / "spec.yaml").read_text().replace("llama-3.1-8b", "llama-2-7b").replace("nodes: 2", "nodes: 1")
    (folder / "other.yaml").write_text(other)
    plan = studies.study_file(folder / "other.yaml").plan
    assert plan.step is not None
    assert found[1]["step_time"] == pytest.approx(plan.step.seconds)
    assert found[1]["mfu"] == pytest.approx(plan.mfu)


@telling(1)
@pytest.mark.parametrize(
    ("axes", "layout", "priced"),
    [
        ("cluster.platform: [dgx-h100, dgx-h200]", "fixed", [True, False]),
        ("cluster.platform: [dgx-h200]\n  layout.tp: [8]", "best", [False]),
        ("cluster.nodes: [1, 2]", "fixed", [True, True]),
        ("cluster.platform: [dgx-h200]\n  procurement.prices.node: [330000, 350000]", "fixed", [True, True]),
    ],
)
def test_the_price_of_a_machine_is_not_that_of_another(
    folder: Path, capsys: pytest.CaptureFixture[str], axes: str, layout: str, priced: list[bool]
) -> None:
    with (folder / "spec.yaml").open("a") as spec:
        spec.write("procurement: {currency: USD, as_of: 2026-11-01, prices: {node: 300000, cable: 900}}\n")
    (folder / "fixed.yaml").write_text(f"base: spec.yaml\naxes:\n  {axes}\nlayout: {layout}\n")
    assert [row["cost"] is not None for row in rows(folder, capsys, "--jobs", "1")] == priced


@thorough
def test_several_processes_give_the_same_table(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert rows(folder, capsys, "--jobs", "2") == rows(folder, capsys, "--jobs", "1")


@thorough
def test_the_best_layout_of_a_point_is_no_slower_than_that_of_the_spec(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    fixed = rows(folder, capsys, "--jobs", "1")
    (folder / "fixed.yaml").write_text(
        AXES.replace("{layout}", "best").replace("[1, 2]", "[1]").replace(", llama-2-7b", "")
    )
    best = rows(folder, capsys, "--jobs", "1")
    assert len(best) == 1 and best[0]["layout"]
    assert float(str(best[0]["step_time"])) <= float(str(fixed[0]["step_time"]))


@thorough
def test_a_point_has_its_best_layout_where_that_of_the_spec_cannot_run(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A batch of 32 is no multiple of the 48 replicas on six nodes; on four, tp 2 leaves 16."""
    spec = (folder / "spec.yaml").read_text().replace("nodes: 2", "nodes: 6").replace("tp: 2, ", "")
    (folder / "spec.yaml").write_text(spec)
    (folder / "fixed.yaml").write_text(
        "base: spec.yaml\naxes: {workload.precision: [bf16], cluster.nodes: [4]}\nlayout: best\n"
    )
    assert run(["sweep", str(folder / "fixed.yaml"), "--format", "jsonl", "--jobs", "1"]) == 1, "the spec has an error"
    row = json.loads(capsys.readouterr().out)
    assert row["step_time"] and row["fits"] and not row["errors"]


def test_a_point_whose_machine_has_an_error_has_no_best_layout(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Four nodes of 10 kW are 40 kW in a rack, whatever the layout."""
    text = (folder / "spec.yaml").read_text()
    power = "power: {node: 10 kW, nodes_per_rack: 4, rack_limit: 50 kW}"
    (folder / "spec.yaml").write_text(text.replace("dgx-h100, nodes: 2", f"dgx-h100, nodes: 2, {power}"))
    (folder / "fixed.yaml").write_text("base: spec.yaml\naxes: {cluster.power.rack_limit: [5 kW]}\nlayout: best\n")
    assert run(["sweep", str(folder / "fixed.yaml"), "--format", "jsonl", "--jobs", "1"]) == 1, "no point is sound"
    row = json.loads(capsys.readouterr().out)
    assert row["errors"] == ["rack-over-power-limit"] and row["step_time"] is None


ROWS = [  # the axis, and for each value the rule in its row, whether the plan fits, and whether it has times
    # a batch of 33 divides by no dp; dp of 16 divides 32
    ("workload.global_batch: [32, 33]", [(None, True, True), ("global-batch-indivisible", None, False)]),
    # 14 bytes of 70e9 parameters and gradients, 980 GB, over 16 accelerators of 80 GB are 61 GB before activations
    ("workload.model: [llama-3.1-8b, llama-3.1-405b]", [(None, True, True), ("states-exceed-memory", False, False)]),
]


@telling(2)
@pytest.mark.parametrize(("axis", "expected"), ROWS)
def test_a_row_with_an_error_does_not_say_that_its_plan_fits(
    axis: str, expected: list[tuple[str | None, bool | None, bool]], folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (folder / "fixed.yaml").write_text(f"base: spec.yaml\naxes:\n  {axis}\nlayout: fixed\n")
    for row, (rule, fits, timed) in zip(rows(folder, capsys, "--jobs", "1"), expected, strict=True):
        named = row["errors"]
        assert isinstance(named, list) and (rule in named if rule else not named), row
        assert (row["fits"], row["step_time"] is not None) == (fits, timed), row
        assert (row["memory"] is not None) is (fits is not None), row


def test_each_point_is_judged_by_the_targets_of_the_spec(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A varied design is described by no text, and its keys are judged all the same: 15 T tokens of 8e9 parameters take
    256 H100 of 989 TFLOP/s 33 days at their peak; 1 T tokens take 2.
    """
    (folder / "spec.yaml").write_text(
        "clusterspec: 1\ndescription: The run takes a week.\ncluster: {platform: dgx-h100, nodes: 32}\n"
        "workload: {model: llama-3.1-8b, sequence_length: 8192, global_batch: 512, tokens: 2T}\n"
        "layout: {framework: megatron-core, tp: 1, recompute: full}\n"
        "operations: {burn_in: 72 h, targets: {run_time: 20 days}}\n"
    )
    (folder / "fixed.yaml").write_text("base: spec.yaml\naxes: {workload.tokens: [1T, 15T]}\nlayout: fixed\n")
    short, long = rows(folder, capsys, "--jobs", "1")
    assert (short["errors"], long["errors"]) == ([], ["run-longer-than-target"])


SERVED = """clusterspec: 1
name: served
cluster: {platform: dgx-h100, nodes: 1}
workload:
  kind: serve
  model: llama-3.1-8b
  serving: {input_tokens: 1000, output_tokens: 200, request_rate: 1, targets: {tpot: 15 ms}}
layout: {framework: vllm, tp: 1, dp: 8}
"""


def test_a_load_that_is_served_too_slowly_has_its_figures_in_a_sweep(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The engines run at each load; above their capacity the queue grows, and both overloads are one plan."""
    (folder / "spec.yaml").write_text(SERVED)
    axis = "workload.serving.request_rate: [1, 1000, 2000]"
    (folder / "fixed.yaml").write_text(f"base: spec.yaml\naxes: {{{axis}}}\nlayout: fixed\n")
    light, heavy, heavier = rows(folder, capsys, "--jobs", "1")
    assert light["errors"] == [] and light["serving"]["meets_targets"] is True  # type: ignore[index]
    for row in (heavy, heavier):
        assert "requests-queue" in row["errors"] and row["fits"] is True  # type: ignore[operator]
        assert row["serving"]["queue_grows"] and not row["serving"]["meets_targets"]  # type: ignore[index]
    run(["sweep", str(folder / "fixed.yaml"), "--jobs", "1"])
    head, *lines = capsys.readouterr().out.splitlines()
    assert "targets" in head and [line.split()[1] for line in lines[1:3]] == ["unbounded"] * 2
    assert "layout" not in head and lines[3:5] == [
        "",
        "At every point: accelerators 8, layout tp 1, dp 8.",
    ]
    assert [("met" in line.split(), "missed" in line.split()) for line in lines[:3]] == [
        (True, False), (False, True), (False, True)
    ]  # fmt: skip


def test_a_sweep_is_a_spreadsheet(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["sweep", str(folder / "fixed.yaml"), "--format", "csv", "--jobs", "1"]) == 0
    table = list(csv.DictReader(io.StringIO(capsys.readouterr().out)))
    assert [row["cluster.nodes"] for row in table] == ["1", "1", "2", "2"]
    assert all(float(row["step_time"]) > 0 for row in table)


BROKEN = {
    "no axes": "base: spec.yaml\n",
    "an unknown key": "base: spec.yaml\naxes: {cluster.nodes: [1]}\nmore: 1\n",
    "no list": "base: spec.yaml\naxes: {cluster.nodes: 1}\n",
    "an empty list": "base: spec.yaml\naxes: {cluster.nodes: []}\n",
    "no such base": "base: other.yaml\naxes: {cluster.nodes: [1]}\n",
    "too many points": "base: spec.yaml\naxes: {cluster.nodes: ["
    + "1, " * 400
    + "1], layout.tp: ["
    + "1, " * 400
    + "1]}\n",
    "no YAML": "base: [\n",
    "a key that the spec lacks": "base: spec.yaml\naxes: {cluster.nodez: [1]}\n",
    "an infinite number": "base: spec.yaml\naxes: {cluster.nodes: [1, {a: [.inf]}]}\n",
}


@pytest.mark.parametrize("what", BROKEN)
def test_what_is_no_file_of_axes_is_one_clear_line(what: str, folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "axes.yaml").write_text(BROKEN[what])
    assert run(["sweep", str(folder / "axes.yaml")]) == 2
    assert capsys.readouterr().err.count("\n") == 1


@thorough
@pytest.mark.skipif(sys.platform == "win32", reason="workers are killed by signal")
def test_a_dask_cluster_gives_the_same_table_though_a_worker_dies(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    distributed = pytest.importorskip("distributed", reason="the extra `dask` is not installed")
    alone = rows(folder, capsys, "--jobs", "1")
    with distributed.LocalCluster(
        n_workers=2, threads_per_worker=1, dashboard_address=None, silence_logs=50
    ) as cluster:
        workers = list(cluster.workers.values())
        os.kill(workers[0].pid, signal.SIGKILL)
        together = rows(folder, capsys, "--dask", cluster.scheduler_address)
    assert together == alone


@pytest.mark.parametrize("layout", sampled(["fixed", "best"], 4))
def test_a_point_of_a_serving_plan_has_its_latencies(
    layout: str, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (folder / "spec.yaml").write_text(
        "clusterspec: 1\ncluster: {platform: dgx-h100, nodes: 1}\nlayout: {framework: vllm, tp: 8}\n"
        "workload: {kind: serve, model: llama-3.1-70b, "
        "serving: {input_tokens: 2000, output_tokens: 500, concurrency: 8}}\n"
    )
    axes = "base: spec.yaml\naxes: {workload.serving.concurrency: [8, 16]}\n"
    (folder / "fixed.yaml").write_text(f"{axes}layout: {layout}\n")
    few, many = rows(folder, capsys, "--jobs", "1")
    assert few["step_time"] is None and few["layout"]
    assert isinstance(few["serving"], dict) and isinstance(many["serving"], dict)
    assert many["serving"]["output_tokens_per_second"] > few["serving"]["output_tokens_per_second"]
    if layout == "fixed":
        plan = studies.study_file(folder / "spec.yaml").plan
        assert plan.serving is not None and few["serving"]["tpot"] == pytest.approx(plan.serving.tpot)
    assert run(["sweep", str(folder / "fixed.yaml"), "--format", "csv", "--jobs", "1"]) == 0
    table = list(csv.DictReader(io.StringIO(capsys.readouterr().out)))
    assert float(table[1]["ttft"]) == many["serving"]["ttft"] and table[0]["step_time"] == ""


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        (
            "base: b.yaml\naxes:\n  cluster.nods: [2]\n",
            ":3:3: the spec has no key 'cluster.nods'; did you mean",
        ),
        ("base: b.yaml\naxes:\n  nodez: [2]\n", ":3:3: the spec has no key 'nodez'; did you mean `nodes`?"),
        ("base: b.yaml\naxis: {nodes: [2]}\n", ":2:1: `axis` is not a key of the top level; did you mean `axes`?"),
        ("base: b.yaml\naxes: {nodes: 3}\n", ":2:15: `nodes` takes a list, but `3` is a number"),
        ("base: b.yaml\naxes: {nodes: []}\n", ":2:15: `nodes` is empty"),
        ("base: b.yaml\naxes: {}\n", ":2:7: `axes` names no key"),
        (
            "base: b.yaml\nlayout: bst\naxes: {nodes: [1]}\n",
            ":2:9: `bst` is not one of the choices of `layout`",
        ),
        ("[1]\n", ":1:1: the top level is a list"),
        ("", ":1:1: the file is empty"),
        ("base: b.yaml\naxes: {nodes: [.inf]}\n", ":2:15: nodes has a value that is not finite"),
        ("base: b.yaml\naxes:\n  nodes: [16, 3x]\n", ":3:15: nodes does not take the value '3x'"),
        (
            "base: b.yaml\naxes:\n  workload.precision: [bf16, fp7]\n",
            ":3:30: workload.precision does not take the value 'fp7'",
        ),
    ],
)
def test_a_fault_of_a_sweep_file_has_its_place(text: str, fault: str, tmp_path: Path) -> None:
    (tmp_path / "sweep.yaml").write_text(text)
    with pytest.raises(SweepFault) as caught:
        read_axes(tmp_path / "sweep.yaml")
    assert str(caught.value).startswith(f"{tmp_path / 'sweep.yaml'}{fault}")


def test_an_axis_is_a_key_that_solve_takes_or_a_dotted_path(tmp_path: Path) -> None:
    (tmp_path / "sweep.yaml").write_text("base: b.yaml\naxes: {nodes: [2], workload.precision: [fp8]}\n")
    assert read_axes(tmp_path / "sweep.yaml").names == ("cluster.nodes", "workload.precision")


PART = """clusterspec: 1
cluster: {platform: dgx-h100, nodes: 4}
workload: {model: llama-3.1-8b, sequence_length: 4096, global_batch: 128}
layout: {framework: megatron-core, tp: 2, nodes: 2}
"""


def test_nodes_of_a_sweep_are_those_that_solve_varies(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Of a job on two of four nodes: its own, and with more than four those of the cluster; `cluster.nodes` are the
    machine alone, on which the job keeps its two.
    """
    (tmp_path / "spec.yaml").write_text(PART)
    for key, wanted in (
        ("nodes", [(4, 1), (4, 2), (4, 4), (8, 8)]),
        ("layout.nodes", [(4, 1), (4, 2), (4, 4), None]),
        ("cluster.nodes", [None, (2, 2), (4, 2), (8, 2)]),
    ):
        (tmp_path / "fixed.yaml").write_text(f"base: spec.yaml\naxes: {{{key}: [1, 2, 4, 8]}}\nlayout: fixed\n")
        found = rows(tmp_path, capsys, "--jobs", "1")
        for nodes, row, machine in zip((1, 2, 4, 8), found, wanted, strict=True):
            assert row[key] == nodes
            if machine is None:
                assert row["errors"] == ["world-size-mismatch"], (key, nodes)
                continue
            other = PART.replace("nodes: 4", f"nodes: {machine[0]}").replace("nodes: 2}", f"nodes: {machine[1]}}}")
            (tmp_path / "other.yaml").write_text(other)
            assert row["step_time"] == pytest.approx(studies.study_file(tmp_path / "other.yaml").plan.step_seconds)
