"""Logs against the acceptance plan: pass, fail, not run, and why."""

from __future__ import annotations

import csv
import hashlib
import json
import shutil
import subprocess
from pathlib import Path

import pytest
import yaml

from clusterspec.exchange.acceptance_cases import AcceptanceCase, acceptance_cases, evaluate
from clusterspec.exchange.exporters.acceptance_runs import SECONDS_A_SWEEP, repetition_count, threshold_lines
from clusterspec.exchange.exporters.registry import ExportInput, exporter_of
from clusterspec.exchange.exporters.schedulers import _leaf_groups
from clusterspec.exchange.import_result import FormatError
from clusterspec.logs.benchmarks.benchmark import Benchmark, Series, SizePoint
from clusterspec.logs.benchmarks.readers import read_benchmark
from clusterspec.quantity import bus_factor
from clusterspec.records import replace
from clusterspec.studies import study_text
from tests.analysis.test_diagnosis import DGX, log
from tests.cli.conftest import Call, call  # noqa: F401
from tests.effort import thorough
from tests.exchange.imports import counts, given, read, unknown
from tests.exchange.test_exporters import pod
from tests.settings import SETTINGS

BASE = "clusterspec: 1\ncluster: {platform: dgx-h100, nodes: 16}\n"
RACKS = "clusterspec: 1\ncluster: {platform: gb200-nvl72, nodes: 72}\n"
TEST = "  - {{collective: all-reduce, nodes: 4, size: 8 GiB, busbw: 340 GB/s{0}}}\n"


def run(
    rate: float, number: int, *, collective: str = "all-reduce", size: float = 2.0**33, ranks: int = 32
) -> SizePoint:
    """A size at a bus bandwidth in B/s; no two runs take the same time to a millionth."""
    time = bus_factor(collective, ranks) * size / rate
    return SizePoint(size, time * (1 + number * 1e-6), rate, 1)


def outcomes(
    extra: str, rates: list[float], *, size: float = 2.0**33, ranks: int = 32, wrong: int = 0
) -> list[tuple[str, float | None]]:
    design = study_text(f"{BASE}acceptance:\n{TEST.format(extra)}", SETTINGS).design
    logs = [
        (
            f"{n}.log",
            Benchmark(
                "t", (Series("all-reduce", ranks, None, (run(rate * 1e9, n, size=size, ranks=ranks),), wrong=wrong),)
            ),
        )
        for n, rate in enumerate(rates)
    ]
    found, _ = evaluate(acceptance_cases(design)[0], logs)
    return [(test.status, test.measured) for test in found]


@pytest.mark.parametrize(
    ("extra", "rates", "expected"),
    [
        ("", [350], "pass"),
        ("", [330], "fail"),
        ("", [350, 330], "fail"),
        ("", [], "not-run"),
        (", pass: 3 of 3", [350, 350], "not-run"),
        (", pass: 3 of 3", [350, 350, 341], "pass"),
        (", pass: 2 of 3", [350, 350, 330], "pass"),
        (", pass: 2 of 3", [350, 330, 330], "fail"),
        (", scope: every-4-nodes", [350], "not-run"),
        (", scope: every-4-nodes", [350] * 4, "pass"),
    ],
)
def test_the_rule_of_a_test_decides(extra: str, rates: list[float], expected: str) -> None:
    assert outcomes(extra, rates) == [(expected, min(rates) * 1e9 if rates else None)]


@pytest.mark.parametrize(
    ("extra", "rates", "measured", "why"),
    [
        ("", [340], 340e9, "1 of 1 run at or above it"),  # the threshold itself
        ("", [339.9], 339.9e9, "1 of 1 run below 340 GB/s"),
        (", pass: 2 of 3", [350, 330, 345], 330e9, "2 of 3 runs at or above it"),
        (", pass: 2 of 3", [350, 330, 325], 325e9, "2 of 3 runs below 340 GB/s"),
        (", pass: 2 of 3", [350, 345], 345e9, "2 of 3 runs found"),
        (", scope: every-4-nodes", [350, 345, 360], 345e9, "3 of 4 runs found, on 4 sets of nodes"),
        # sixteen nodes are two sets of eight, and three of five
        (", scope: every-8-nodes", [350], 350e9, "1 of 2 runs found, on 2 sets of nodes"),
        (", scope: every-5-nodes", [350], 350e9, "1 of 3 runs found, on 3 sets of nodes"),
        (", pass: 1 of 2, scope: every-8-nodes", [350, 350, 330, 330], 330e9, "2 of 4 runs at or above it"),
        (", pass: 1 of 2, scope: every-8-nodes", [350, 330, 330, 330], 330e9, "3 of 4 runs below 340 GB/s"),
    ],
)
def test_the_reason_of_an_outcome_counts_its_runs(extra: str, rates: list[float], measured: float, why: str) -> None:
    tests = acceptance_cases(study_text(f"{BASE}acceptance:\n{TEST.format(extra)}", SETTINGS).design)[0]
    series = (Series("all-reduce", 32, None, (run(rate * 1e9, n),)) for n, rate in enumerate(rates))
    (found,), unused = evaluate(tests, [(f"{n}.log", Benchmark("t", (one,))) for n, one in enumerate(series)])
    assert found.measured == pytest.approx(measured)
    assert (found.threshold, found.why) == (340e9, why)
    assert [log for log, _ in found.logs] == [f"{number}.log" for number in range(len(rates))] and not unused


@pytest.mark.parametrize(
    ("extra", "why", "checked"),
    [
        (", scope: each-4-nodes", "`scope` cannot be read", "such as `every-4-nodes`"),
        (", scope: every-0-nodes", "`scope` cannot be read", "such as `every-4-nodes`"),
        (", scope: all", "`scope` cannot be read", "such as `every-4-nodes`"),
        (", pass: all", "`pass` cannot be read", "such as `10 of 10`"),
        (", pass: 3", "`pass` cannot be read", ""),
        (", pass: 0 of 3", "`pass` cannot be read", "such as `10 of 10`"),
        (", pass: every run", "`pass` cannot be read", "such as `10 of 10`"),
        (", pass: 4 of 3", "requires more runs than there are", ""),
        (", scope: every-17-nodes", "is more than the 16 nodes", ""),
        (", scope: every-1-nodes", "has fewer nodes than the", ""),
        (", duration: long", "`duration` cannot be read", "long"),
    ],
)
def test_a_condition_that_cannot_be_read_weakens_no_contract(extra: str, why: str, checked: str) -> None:
    found = study_text(f"{BASE}acceptance:\n{TEST.format(extra)}", SETTINGS)
    tests, stated, unclear = acceptance_cases(found.design)
    assert (tests, stated, len(unclear)) == ((), True, 1)
    assert unclear[0].startswith("acceptance[0]: ") and why in unclear[0]
    assert not checked or any(checked in one.message and str(one.severity) == "error" for one in found.findings)


def test_tests_that_cannot_be_read_are_not_replaced_by_default_ones() -> None:
    for text in ("all of them", "[all of them]"):
        tests, stated, unclear = acceptance_cases(study_text(f"{BASE}acceptance: {text}\n", SETTINGS).design)
        assert (tests, stated, len(unclear)) == ((), True, 1)


def test_another_size_or_group_is_not_the_test() -> None:
    assert outcomes("", [350], size=2.0**30) == [("not-run", None)]
    assert outcomes("", [350], ranks=16) == [("not-run", None)]


def test_a_test_is_found_under_the_size_that_its_benchmark_prints() -> None:
    """288 ranks have equal parts of 16 B units: nccl-tests prints 8,589,934,080 B for the all-gather of 8 GiB."""
    tests, _, _ = acceptance_cases(study_text(RACKS, SETTINGS).design)
    gather = next(test for test in tests if test.collective == "all-gather")
    for size, status in ((gather.size - 512, "pass"), (gather.size, "pass"), (gather.size - 1024, "not-run")):
        points = (run(2 * gather.threshold, 0, collective="all-gather", size=size, ranks=288),)
        log_of_size = Benchmark("t", (Series("all-gather", 288, None, points),))
        assert evaluate([gather], [("a.log", log_of_size)])[0][0].status == status
    design = ExportInput(study_text(RACKS, SETTINGS).design)
    for kind, text in (("mpijob", "-v size=8589934080 "), ("superbench", r"allgather_(\d+_\d+:)?8589934080_busbw")):
        assert text in str(exporter_of(kind).write(design).content)


def test_a_run_counts_once() -> None:
    """Copies of a log, whatever their names, are one run of the three that are demanded."""
    tests = acceptance_cases(study_text(f"{BASE}acceptance:\n{TEST.format(', pass: 3 of 3')}", SETTINGS).design)[0]
    same = Benchmark("t", (Series("all-reduce", 32, 4, (run(350e9, 0),)),))
    other = Benchmark("t", (Series("all-reduce", 32, 4, (run(350e9, 1),)),))
    (found,), unused = evaluate(tests, [("a.log", same), ("a.log", same), ("b.log", same), ("c.log", other)])
    assert (found.status, found.why) == ("not-run", "2 of 3 runs found")
    why = "it repeats the figures of a.log, and one run counts once"
    assert unused == (("a.log", why), ("b.log", why))


@pytest.mark.parametrize(
    ("busbw", "status"), [(350e9, "pass"), (356e9, "pass"), (364e9, "not-run"), (700e9, "not-run")]
)
def test_a_bus_bandwidth_follows_from_the_time(busbw: float, status: str) -> None:
    """8 GiB in 47.55 ms on 32 ranks are 180.6 GB/s, and 350 GB/s on the bus; 2 % is rounding."""
    tests = acceptance_cases(study_text(f"{BASE}acceptance:\n{TEST.format('')}", SETTINGS).design)[0]
    point = replace(run(350e9, 0), busbw=busbw)
    (found,), unused = evaluate(tests, [("a.log", Benchmark("t", (Series("all-reduce", 32, 4, (point,)),)))])
    assert found.status == status
    why = "line 1: the bus bandwidth does not follow from the size and the time"
    assert [said for _, said in unused] == ([] if status == "pass" else [why])


def test_the_nodes_of_a_log_that_are_not_those_of_its_test_are_named() -> None:
    tests = acceptance_cases(study_text(f"{BASE}acceptance:\n{TEST.format('')}", SETTINGS).design)[0]
    _, unused = evaluate(tests, [("a.log", Benchmark("t", (Series("all-reduce", 32, 3, (run(350e9, 0),)),)))])
    assert unused == (("a.log", "all-reduce on 32 ranks of 3 nodes, and the test is of 4"),)


def test_a_test_that_is_passed_says_what_its_logs_leave_open() -> None:
    """Without a check of the results a wrong sum is as fast; ranks that no list names may be on other nodes."""
    tests = acceptance_cases(study_text(f"{BASE}acceptance:\n{TEST.format('')}", SETTINGS).design)[0]
    for series, why in (
        ({}, "1 of 1 run at or above it"),
        ({"unchecked": True}, "1 of 1 run at or above it; the results of 1 were not checked (`#wrong` is N/A)"),
        ({"listed": 1}, "1 of 1 run at or above it; the list of 1 log has 1 rank: their nodes are not proven"),
    ):
        log = Benchmark("t", (Series("all-reduce", 32, 4, (run(350e9, 0),), **series),))
        (found,), _ = evaluate(tests, [("a.log", log)])
        assert (found.status, found.why) == ("pass", why)


def test_wrong_results_fail_whatever_their_speed() -> None:
    assert outcomes("", [350], wrong=1) == [("fail", 350e9)]


def test_an_algorithm_bandwidth_becomes_a_bus_bandwidth() -> None:
    text = f"{BASE}acceptance:\n  - {{collective: all-reduce, nodes: 1, size: 1 GiB, algbw: 200 GB/s}}\n"
    tests, stated, _ = acceptance_cases(study_text(text, SETTINGS).design)
    assert stated
    assert tests[0].threshold == pytest.approx(200e9 * 2 * 7 / 8)


@thorough
def test_a_spec_without_tests_gets_those_of_its_tiers() -> None:
    tests, stated, _ = acceptance_cases(study_text(BASE, SETTINGS).design)
    assert not stated
    assert {(test.collective, test.nodes) for test in tests} >= {
        ("all-reduce", 1),
        ("all-reduce", 4),
        ("all-to-all", 4),
    }
    found, _ = evaluate(tests, [("a", log(DGX, 8)), ("b", log(DGX, 32))])
    status = {test.name: test.status for test in found}
    assert status["all-reduce-1-node-8GiB"] == status["all-reduce-4-nodes-8GiB"] == "pass"
    assert status["all-to-all-4-nodes-8GiB"] == "not-run"


def test_an_incomplete_test_is_named() -> None:
    text = f"{BASE}acceptance:\n  - {{collective: all-reduce, busbw: 100 GB/s}}\n"
    assert acceptance_cases(study_text(text, SETTINGS).design)[2] == ("acceptance[0]: nodes or ranks, size missing",)


LOG = "8589934592 2147483648 float sum -1 {0:.1f} {1:.2f} {2:.2f} 0\n"
HEAD = "all_reduce_perf\n# Rank 31 Group 0 Pid 1 on h3 device 7 [0x01] NVIDIA H100\n"


def written(busbw: float) -> str:
    algbw = busbw / (2 * 31 / 32)
    return HEAD + LOG.format(2**33 / algbw / 1e3, algbw, busbw)


def test_the_command_exits_with_what_it_found(call: Call) -> None:  # noqa: F811
    Path("spec.yaml").write_text(f"{BASE}acceptance:\n{TEST.format('')}")
    for busbw, status, expected in ((350.0, "pass", 0), (300.0, "fail", 1)):
        Path("nccl.log").write_text(written(busbw))
        done = call("accept", "spec.yaml", "nccl.log", "--format", "json")
        assert done.status == expected, done.error
        document = json.loads(done.out)
        assert list(document)[:3] == ["version", "tool", "input"]
        assert [test["status"] for test in document["tests"]] == [status]
        assert document["tests"][0]["threshold"] == 340e9
        assert document["tests"][0]["measured"] == pytest.approx(busbw * 1e9)
    assert call("accept", "spec.yaml").status == 1
    assert "not run" in call("accept", "spec.yaml").out


@pytest.mark.parametrize(("busbw", "status"), [(690, "pass"), (765, "pass"), (780, "impossible"), (2880, "impossible")])
def test_more_than_the_links_carry_is_no_measurement_of_them(busbw: float, status: str) -> None:
    """4 nodes of 8 H100: NVLink with reduction in its switches carries 450 × 2 × 7 / 9 = 700 GB/s of bus bandwidth, the
    8 NICs of a node with it 400 × 2 × 31 / 32 = 775; the rounding of logs and rates is a tenth."""
    assert outcomes("", [busbw]) == [(status, busbw * 1e9)]


def test_one_impossible_run_of_several_is_impossible() -> None:
    assert outcomes(", pass: 1 of 2", [350.0, 900.0]) == [("impossible", 900e9)]


def test_an_impossible_measurement_is_not_stored_and_has_a_cause(call: Call) -> None:  # noqa: F811
    Path("spec.yaml").write_text(f"{BASE}acceptance:\n{TEST.format('')}")
    Path("nccl.log").write_text(written(900.0))
    for command in ("accept", "diagnose"):
        done = call(command, "spec.yaml", "nccl.log")
        assert done.status == 1
        assert "most 700 GB/s" in " ".join(done.out.split())
        call(command, "spec.yaml", "nccl.log", "--write")
        assert "measured" not in Path("spec.yaml").read_text()
    document = json.loads(call("diagnose", "spec.yaml", "nccl.log", "--format", "json").out)
    assert [cause["name"] for cause in document["causes"]] == ["above-links"]
    assert [each["verdict"] for each in document["verdicts"]] == ["impossible"]


@thorough
def test_a_diagnosis_is_written_and_moves_the_estimate(call: Call) -> None:  # noqa: F811
    work = "workload: {model: llama-3.1-8b, sequence_length: 8192, global_batch: 128}\nlayout: {tp: 8}\n"
    Path("spec.yaml").write_text(f"# ours\n{BASE}{work}")
    Path("nccl.log").write_text(written(60.0))
    done = call("diagnose", "spec.yaml", "nccl.log", "--format", "json")
    assert done.status == 1
    document = json.loads(done.out)
    assert set(document) >= {"rows", "causes"}
    row = document["rows"][0]
    assert row["ratio"] == pytest.approx(row["measured"] / row["expected"])
    assert all(set(cause) >= {"name", "evidence", "next"} for cause in document["causes"])
    assert document["step_time"]["after"] > document["step_time"]["before"]
    assert "measured" not in Path("spec.yaml").read_text()
    again = call("diagnose", "spec.yaml", "nccl.log", "--write")
    assert "Step time with these measurements" in again.out
    text = Path("spec.yaml").read_text()
    assert text.startswith("# ours\n")
    assert "- {collective: all-reduce, nodes: 4, ranks: 32, size: 8 GiB, busbw: 60 GB/s}  # nccl.log:3" in text
    after = json.loads(call("estimate", "spec.yaml", "--format", "json").out)["step_time"]
    assert after == pytest.approx(document["step_time"]["after"])


def test_logs_that_cannot_be_read_are_one_line(call: Call) -> None:  # noqa: F811
    Path("spec.yaml").write_text(BASE)
    Path("bad.log").write_bytes(b"\x00\x01")
    for command in ("diagnose", "accept"):
        for name in ("bad.log", "none.log"):
            done = call(command, "spec.yaml", name)
            assert (done.status, done.out, len(done.error.splitlines())) == (2, "", 1)


def test_the_library_returns_what_the_commands_print(call: Call) -> None:  # noqa: F811
    import clusterspec

    Path("spec.yaml").write_text(f"{BASE}acceptance:\n{TEST.format('')}")
    Path("nccl.log").write_text(written(350.0))
    for name, function in (("diagnose", clusterspec.diagnose), ("accept", clusterspec.accept)):
        printed = json.loads(call(name, "spec.yaml", "nccl.log", "--format", "json").out)
        assert json.loads(json.dumps(function("spec.yaml", ["nccl.log"]).to_json())) == printed


def test_the_form_is_filled_in_from_the_logs(call: Call) -> None:  # noqa: F811
    both = TEST.format("") + "  - {collective: all-gather, nodes: 2, size: 512 MiB, busbw: 300 GB/s}\n"
    Path("spec.yaml").write_text(f"{BASE}acceptance:\n{both}")
    data = written(300.0).encode()
    Path("nccl.log").write_bytes(data)
    done = call("accept", "spec.yaml", "nccl.log", "--format", "csv")
    failed, missing = csv.DictReader(done.out.splitlines())
    assert (failed["status"], failed["log"], failed["sha256"]) == ("fail", "nccl.log", hashlib.sha256(data).hexdigest())
    assert float(failed["demanded"]) == 340e9 <= float(failed["predicted"]) <= float(failed["ceiling"])
    assert "repair" in failed["remedy"] and failed["witness"] == ""
    assert (missing["status"], missing["sha256"]) == ("not-run", "")
    assert "all_gather_perf -b 512M -e 512M" in missing["command"]
    Path("nccl.log").write_text(written(350.0))
    passed, _ = csv.DictReader(call("accept", "spec.yaml", "nccl.log", "--format", "csv").out.splitlines())
    assert (passed["status"], passed["remedy"]) == ("pass", "")


def test_a_test_is_compared_with_an_earlier_acceptance(call: Call) -> None:  # noqa: F811
    """342 GB/s pass at 340, and are 5 % less than the 360 of the year before: a machine that wears out."""
    Path("spec.yaml").write_text(f"{BASE}acceptance:\n{TEST.format('')}")
    for name, rate in (("new.log", 342.0), ("old.log", 360.0)):
        Path(name).write_text(written(rate))
    done = call("accept", "spec.yaml", "new.log", "--against", "old.log", "--format", "json")
    (test,) = json.loads(done.out)["tests"]
    assert (done.status, test["status"]) == (0, "pass")
    assert test["earlier"] == pytest.approx(360e9) and test["drift"] == pytest.approx(342 / 360 - 1)
    assert "-5.0 % of 360.0" in call("accept", "spec.yaml", "new.log", "--against", "old.log").out
    alone = json.loads(call("accept", "spec.yaml", "new.log", "--format", "json").out)["tests"][0]
    assert alone["earlier"] is None and alone["drift"] is None


def test_inputs_of_a_simulator_are_counts_by_axis_and_no_measurement() -> None:
    text = "TP:\n  allreduce,: 300\n  busbw,: null\nDP:\n  allgather,: 48.5\n  allreduce,: 40\n"
    reading = read(text)
    assert (reading.kind, given(reading)) == ("simai-busbw", {})
    assert counts(reading) == {"tp allreduce": "300 GB/s", "dp allgather": "48.5 GB/s", "dp allreduce": "40 GB/s"}
    assert [each.at.line for each in reading.counts] == [2, 5, 6]
    assert "inputs of a simulator" in unknown(reading)
    with pytest.raises(FormatError, match="no bandwidth by axis"):
        read("TP:\n  allreduce,: null\n", "simai-busbw")


TABLE = """\
# nThread 1 nGpus 8 minBytes 8388608 maxBytes 8589934592 step: 2(factor) warmup iters: 5 iters: 20 agg iters: 1
#  Rank  0 Group  0 Pid  1 on  n1 device  0 [0x1b] NVIDIA H100 80GB HBM3
#  Rank  7 Group  0 Pid  1 on  n1 device  7 [0xdb] NVIDIA H100 80GB HBM3
#       size         count      type   redop    root     time   algbw   busbw #wrong     time   algbw   busbw #wrong
  8589934592    2147483648     float     sum      -1  {0:.1f} {1:.2f} {2:.2f}  {3}  {0:.1f} {1:.2f} 999.00  0
"""


def table(rate: float, wrong: int) -> str:
    """The log of an all-reduce of eight ranks with a bus bandwidth in GB/s."""
    algbw = rate * 8 / 14
    return TABLE.format(2**33 / algbw / 1e3, algbw, rate, wrong)


@pytest.mark.skipif(not shutil.which("awk") or not shutil.which("bash"), reason="needs bash and awk")
@pytest.mark.parametrize(
    ("extra", "rates", "wrong"),
    [
        ("", (450.0,), 0),
        ("", (430.0,), 0),
        ("", (450.0,), 3),
        ("", (), 0),
        (", pass: 2 of 3", (450.0, 430.0, 450.0), 0),
        (", pass: 2 of 3", (430.0, 430.0, 450.0), 0),
    ],
)
def test_a_job_of_kubernetes_passes_where_accept_passes_its_log(
    tmp_path: Path, extra: str, rates: tuple[float, ...], wrong: int
) -> None:
    """Limits written, the log of the tool, and the verdict: the check in the pod and `accept` agree."""
    plan = f"acceptance:\n  - {{collective: all-reduce, nodes: 1, size: 8 GiB, busbw: 441.3 GB/s{extra}}}\n"
    design = study_text(BASE + plan, SETTINGS).design
    job = yaml.safe_load(str(exporter_of("kubernetes-job").write(ExportInput(design)).content))
    pod = job["spec"]["template"]["spec"]["containers"][0]
    assert (job["spec"]["completions"], pod["resources"]["limits"]) == (16, {"nvidia.com/gpu": 8})
    for number, rate in enumerate(rates, 1):
        (tmp_path / f"table{number}").write_text(table(rate, wrong))
    benchmark = tmp_path / "all_reduce_perf"
    benchmark.write_text("#!/bin/sh\necho >> count; cat table$(wc -l < count)\n")
    benchmark.chmod(0o755)
    path = {"PATH": f"{tmp_path}:/usr/bin:/bin"}
    done = subprocess.run([*pod["command"], *pod["args"]], capture_output=True, cwd=tmp_path, env=path, check=False)
    logs = [("pod.log", read_benchmark(done.stdout.decode()))] if rates else []
    found, _ = evaluate(acceptance_cases(design)[0], logs)
    assert (done.returncode == 0) is (found[0].status == "pass"), done.stdout.decode()


def test_the_threshold_of_a_test_names_runs_and_sets_only_where_there_are_several() -> None:
    once = AcceptanceCase("a", "all-reduce", 4, 32, 8 * 2**30, 340e9, "nccl-tests")
    head = "passes where busbw at 8 GiB is at least 340 GB/s and #wrong is 0"
    assert list(threshold_lines(once)) == ["a: all-reduce on 4 nodes (32 ranks)", head]
    often = replace(once, nodes=1, ranks=1, passes=2, runs=2, groups=2)
    assert list(threshold_lines(often)) == [
        *("a: all-reduce on 1 node (1 rank)", head, "in 2 of 2 runs", "on each of 2 sets of 1 node")
    ]
    assert repetition_count(once) == 1 and repetition_count(often) == 2
    lasting = replace(often, duration=10 * SECONDS_A_SWEEP)
    assert repetition_count(lasting) == 10
    assert list(threshold_lines(lasting))[-1] == "for 5 min: 10 runs, each of which is assumed to take 30 s"


@pytest.mark.parametrize(
    ("ranks", "nodes", "algorithm", "wanted", "is_test"),
    [
        (32, 4, "ring", "ring", True),
        (32, 4, "ring", "tree", False),
        (32, 4, "ring", None, True),  # the test leaves the algorithm open
        (32, 4, None, "ring", True),  # the log does not tell it
        (32, None, None, None, True),
        (None, 4, None, None, True),  # all accelerators of the nodes
        (None, None, None, None, False),
        (16, 4, None, None, False),
        (32, 2, None, None, False),
    ],
)
def test_a_series_measures_a_test_on_as_many_ranks_by_its_algorithm(
    ranks: int | None, nodes: int | None, algorithm: str | None, wanted: str | None, is_test: bool
) -> None:
    one = AcceptanceCase("all-reduce", "all-reduce", 4, 32, 2.0**33, 100.0, "nccl-tests", wanted)
    points = (SizePoint(2.0**33, 1.0, 200.0, 1),)
    found = evaluate([one], [("a.log", Benchmark("t", (Series("all-reduce", ranks, nodes, points, algorithm),)))])
    assert found[0][0].status == ("pass" if is_test else "not-run")


@pytest.mark.parametrize(
    ("nodes", "groups"),
    [
        (1, [(1, 1)]),
        (31, [(1, 31)]),
        (32, [(1, 32)]),  # a leaf of 64 ports has one NIC of each of 32 nodes
        (33, [(1, 32), (33, 33)]),
        (34, [(1, 32), (33, 34)]),
        (64, [(1, 32), (33, 64)]),
        (65, [(1, 32), (33, 64), (65, 65)]),
    ],
)
def test_every_node_is_in_the_group_of_its_leaf(nodes: int, groups: list[tuple[int, int]]) -> None:
    assert _leaf_groups(pod(nodes))[0] == groups
