"""A log made by a machine with one fault is diagnosed with that fault, and a sound one with none."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import cache

import pytest

from clusterspec.analysis.acceptance_tests import accept
from clusterspec.analysis.diagnosis.collectives import calibration, diagnose, diagnosis_of
from clusterspec.analysis.diagnosis.placed_runs import LogOverrides, NotComparable, placed_run
from clusterspec.cluster.model import Cluster
from clusterspec.cost.collectives.predict import collective_table
from clusterspec.logs.benchmarks.benchmark import Benchmark
from clusterspec.logs.benchmarks.readers import read_benchmark
from clusterspec.logs.statements.unfinished import read_unfinished
from clusterspec.report.measurement_text import diagnosis_text
from clusterspec.results import Input
from clusterspec.results.diagnosis import LIKELY, ComparedCollective, DiagnosisReport
from clusterspec.studies import study_text
from tests.effort import telling, thorough
from tests.settings import SETTINGS

GIB = 2**30
SIZES = tuple(float(1 << power) for power in range(20, 34))


@cache
def cluster(text: str) -> Cluster:
    found = study_text(f"clusterspec: 1\ncluster: {text}\n", SETTINGS).design.cluster
    assert found is not None
    return found


DGX = cluster("{platform: dgx-h100, nodes: 16}")
assert DGX.scale_out is not None
QUARTER = replace(DGX.scale_out.nic_bandwidth, value=DGX.scale_out.nic_bandwidth.value / 4)
EFA = cluster("{platform: aws-p4de-24xlarge, nodes: 4}")


def log(machine: Cluster, ranks: int, name: str = "all-reduce", before: str = "", scale: float = 1.0) -> Benchmark:
    """What nccl-tests would print on a machine, with lines before the table."""
    words = {"all-reduce": ("all_reduce", "sum", "-1"), "all-to-all": ("alltoall", "none", "-1")}[name]
    lines = [
        before,
        f"./{words[0]}_perf -b 1M -e 8G -f 2",
        f"# Rank {ranks - 1} Group 0 Pid 1 on host device 7 [0x01] NVIDIA H100",
    ]
    for row in collective_table(machine, name, ranks, SIZES):
        busbw = row.busbw * scale
        algbw = busbw * row.algbw / row.busbw
        count = int(row.size / 4 / (ranks if name == "all-to-all" else 1))
        cells = f"{row.size / algbw * 1e6:.2f} {algbw / 1e9:.3f} {busbw / 1e9:.3f} 0"
        lines.append(f"{int(row.size)} {count} float {words[1]} {words[2]} {cells} {cells}")
    return read_benchmark("\n".join(lines) + "\n")


def diagnosed(machine: Cluster, benchmark: Benchmark) -> ComparedCollective:
    found = diagnosis_of(machine, [("nccl.log", benchmark)], LogOverrides())
    assert not found.unread
    return found.compared[0]


def names(compared: ComparedCollective) -> list[str]:
    return [cause.name for cause in compared.causes]


@pytest.mark.parametrize(("machine", "ranks"), [(DGX, 8), (DGX, 32), (EFA, 16)])
def test_a_machine_as_predicted_has_no_cause(machine: Cluster, ranks: int) -> None:
    compared = diagnosed(machine, log(machine, ranks))
    assert compared.verdict == "expected"
    assert not compared.causes
    assert compared.largest.ratio == pytest.approx(1, rel=0.01)


def changed_fabric(machine: Cluster, **changes: object) -> Cluster:
    assert machine.scale_out is not None
    return replace(machine, scale_out=replace(machine.scale_out, **changes))  # type: ignore[arg-type]


def sockets(machine: Cluster) -> Cluster:
    assert machine.scale_out is not None
    technology = replace(machine.scale_out.technology, proprietary=True)
    return changed_fabric(machine, technology=technology, collective_plugin="none")


FAULT_MODELS: list[tuple[Cluster, Callable[[Cluster], Cluster], int, str]] = [
    (DGX, sockets, 32, "socket-fall-back"),
    (EFA, sockets, 32, "plugin-missing"),
    (DGX, lambda one: changed_fabric(one, nics_per_node=1), 32, "one-nic"),
    (DGX, lambda one: changed_fabric(one, gpudirect_rdma=False), 32, "gpudirect-off"),
    (
        DGX,
        lambda one: changed_fabric(one, nic_bandwidth=QUARTER),
        128,
        "oversubscribed-level",
    ),
    (DGX, lambda one: replace(one, scale_up=replace(one.scale_up, in_network_reduction=False)), 8, "no-nvls"),
]


@thorough
@pytest.mark.parametrize(("machine", "fault", "ranks", "name"), FAULT_MODELS, ids=[each[-1] for each in FAULT_MODELS])
def test_a_fault_is_found_by_its_numbers_alone(
    machine: Cluster, fault: Callable[[Cluster], Cluster], ranks: int, name: str
) -> None:
    compared = diagnosed(machine, log(fault(machine), ranks, scale=0.97))
    assert compared.verdict == "slow"
    assert name in names(compared)[:2]
    cause = next(each for each in compared.causes if each.name == name)
    assert cause.next
    assert cause.evidence


STATED = [
    ("n [0] NCCL INFO NET/Socket : Using [0]eth0:10.0.0.1<0>", "socket-fall-back"),
    ("n [0] NCCL INFO NCCL_IB_DISABLE set by environment to 1.", "socket-fall-back"),
    ("n [0] NCCL INFO NET/IB : Using [0]mlx5_0:1/IB [RO]; OOB eth0", "one-nic"),
    ("n [0] NCCL INFO NET/IB : Using [0]mlx5_0:1/IB [1]mlx5_1:1/IB [2]mlx5_2:1/IB [RO]; OOB eth0", "few-nics"),
    ("n [0] NCCL INFO Channel 00/0 : 7[7] -> 8[0] [send] via NET/IB/0", "gpudirect-off"),
    ("n [0] NCCL INFO NCCL_P2P_DISABLE set by environment to 1", "peer-access-off"),
]


@telling(2)
@pytest.mark.parametrize(("line", "name"), STATED)
def test_what_the_log_states_comes_first_with_its_line(line: str, name: str) -> None:
    compared = diagnosed(DGX, log(DGX, 32, before=line, scale=0.3))
    assert names(compared)[0] == name
    assert compared.causes[0].evidence.startswith("line 1 of the log")
    assert compared.causes[0].weight == 1


def test_the_plugin_is_named_where_the_network_needs_one() -> None:
    line = "n [0] NCCL INFO NET/Plugin: Could not find: libnccl-net.so. Using internal network plugin."
    compared = diagnosed(EFA, log(EFA, 32, before=line, scale=0.1))
    assert names(compared)[0] == "plugin-missing"
    assert "aws-ofi-nccl" in compared.causes[0].next


def test_a_duplex_figure_taken_as_one_direction_is_recognized() -> None:
    """8 × A100: 235 GB/s is 39 % of 600 GB/s, which adds both directions, and 78 % of the 300 GB/s of one."""
    misread = cluster(
        "{accelerator: a100-sxm-80gb, accelerators_per_node: 8, nodes: 1, "
        "scale_up: {bandwidth: 600 GB/s unidirectional}}"
    )
    right = cluster("{accelerator: a100-sxm-80gb, accelerators_per_node: 8, nodes: 1}")
    measured = log(right, 8)
    wrong = diagnosed(misread, measured)
    assert names(wrong)[0] == "duplex-misreading"
    assert "600 GB/s duplex" in wrong.causes[0].next
    assert diagnosed(right, measured).verdict == "expected"


@thorough
def test_one_size_far_below_its_neighbors_is_a_straggler() -> None:
    sound = log(DGX, 32, scale=0.6)
    points = list(sound.series[0].points)
    points[8] = replace(points[8], busbw=points[8].busbw * 0.3)
    held = replace(sound, series=(replace(sound.series[0], points=tuple(points)),))
    assert "straggler" in names(diagnosed(DGX, held))
    assert "straggler" not in names(diagnosed(DGX, sound))


@telling(1)
@pytest.mark.parametrize("ranks", [8, 64])
def test_nodes_are_told_apart_in_a_log_of_several_nodes_alone(ranks: int) -> None:
    """One slow size and wrong values; every next step of a log of one node is about that node."""
    sound = log(DGX, ranks, scale=0.6)
    points = list(sound.series[0].points)
    points[8] = replace(points[8], busbw=points[8].busbw * 0.3)
    broken = replace(sound, series=(replace(sound.series[0], points=tuple(points), wrong=3),))
    steps = [cause.next for cause in diagnosed(DGX, broken).causes]
    assert len(steps) >= 2
    assert any("pairs of nodes" in step for step in steps) is (ranks > 8)
    assert any("each node" in step for step in steps) is (ranks > 8)


@thorough
def test_a_log_of_small_messages_says_so() -> None:
    slow = log(DGX, 32, scale=0.3)
    few = replace(slow, series=(replace(slow.series[0], points=slow.series[0].points[:4]),))
    assert "small-messages" in names(diagnosed(DGX, few))
    assert "small-messages" not in names(diagnosed(DGX, slow))


def test_wrong_results_are_a_cause_whatever_the_speed() -> None:
    sound = log(DGX, 8)
    broken = replace(sound, series=(replace(sound.series[0], wrong=3),))
    assert names(diagnosed(DGX, broken))[0] == "wrong-results"


HEADING = "# size count type redop root time algbw busbw #wrong"


def side_by_side(hosts: dict[str, list[int]], busbw: float) -> Benchmark:
    """A log whose head lists these ranks of hosts, as processes print them: mixed, each rank with its host."""
    listed = [
        f"# Rank {rank} Group 0 Pid {at} on {host} device {rank} [0x01] NVIDIA H100"
        for at in range(9)
        for host, ranks in hosts.items()
        for rank in ranks[at : at + 1]
    ]
    size, factor = 1 << 30, 2 * (len(hosts["a"]) - 1) / len(hosts["a"])
    algbw = busbw / factor if factor else 400.0
    row = f"{size} {size // 4} float sum -1 {size / algbw / 1e3:.2f} {algbw:.2f} {busbw:.2f} 0"
    return read_benchmark("\n".join(["# ./all_reduce_perf", *listed, HEADING, row, ""]))


def test_copies_of_the_benchmark_that_were_not_joined_are_named_at_any_speed() -> None:
    """Two copies each begin at rank 0; one job lists rank 0 once, on whichever host (NVIDIA/nccl-tests issue 182)."""
    eight = list(range(8))
    for speed in (100.0, 480.0):
        compared = diagnosed(DGX, side_by_side({"a": eight, "b": eight}, speed))
        assert names(compared)[0] == "separate-jobs" and (compared.ranks, compared.nodes) == (8, 1)
    joined = side_by_side({"a": eight, "b": [each + 8 for each in eight]}, 200.0)
    assert joined.series[0].jobs == 1 and joined.series[0].nodes == 2
    assert side_by_side({"a": [*eight, *eight]}, 200.0).series[0].jobs == 1, "the list of a run before it"


@pytest.mark.parametrize(("hosts", "words"), [({"a": [0]}, "one rank, which"), ({"a": [0], "b": [0]}, "2 copies")])
def test_one_rank_has_no_bandwidth_to_compare(hosts: dict[str, list[int]], words: str) -> None:
    found = diagnosis_of(DGX, [("log", side_by_side(hosts, 0.0))], LogOverrides())
    assert not found.compared and words in found.unread[0][1]


@pytest.mark.parametrize("ranks", [None, 4096])
def test_a_log_that_does_not_fit_the_machine_is_not_compared(ranks: int | None) -> None:
    benchmark = log(DGX, 8)
    series = replace(benchmark.series[0], ranks=ranks)
    with pytest.raises(NotComparable):
        placed_run(DGX, benchmark, series, "log", LogOverrides())
    if ranks is None:
        assert placed_run(DGX, benchmark, series, "log", LogOverrides(ranks=8)).group.ranks == 8


TRAINED = """clusterspec: 1
cluster: {platform: dgx-h100, nodes: 16}
workload: {model: llama-3.1-70b, sequence_length: 8192, global_batch: 256}
layout: {framework: megatron-core, tp: 8, pp: 4, recompute: full}
"""


@pytest.mark.parametrize(("scale", "moves"), [(1.0, True), (0.5, True), (4.0, False)])
def test_a_log_that_measures_nothing_moves_no_step(scale: float, moves: bool) -> None:
    """Four times the bandwidth of a sound machine is above line rate: no measurement, and so no step time with it."""
    report, _ = diagnose(study_text(TRAINED, SETTINGS), [("nccl.log", log(DGX, 32, scale=scale))])
    assert (report.moved is not None) is moves
    assert ("Step time with these measurements" in diagnosis_text(report)) is moves


def test_the_calibration_is_the_largest_size() -> None:
    found = diagnosis_of(DGX, [("a.log", log(DGX, 32, scale=0.8))], LogOverrides())
    entry = calibration(found.runs).given[0]
    assert entry.appended
    assert isinstance(entry.value, dict)
    assert (entry.value["ranks"], entry.value["nodes"], entry.value["size"]) == (32, 4, "8 GiB")
    assert str(entry.at).startswith("a.log:")


ETHERNET = cluster(
    "{accelerator: v100-sxm-32gb, accelerators_per_node: 4, nodes: 2, scale_up: {topology: full-mesh, domain: 4}, "
    "scale_out: {technology: ethernet, nics_per_node: 2, nic_bandwidth: 100 Gb/s}}"
)
INTERFACES = "NCCL INFO NET/Socket : Using [0]eth0:10.0.0.1<0> [1]eth1:10.0.1.1<0>"


@pytest.mark.parametrize(
    ("listed", "used", "cause"),
    [
        (INTERFACES, (0, 0), "one-nic"),  # NVIDIA/nccl issue 278: all channels use the first of two
        (INTERFACES, (0, 1), None),
        (INTERFACES.split(" [1]", maxsplit=1)[0], (0, 0), "one-nic"),
    ],
)
def test_interfaces_that_sockets_leave_unused_are_nics_left_unused(
    listed: str, used: tuple[int, int], cause: str | None
) -> None:
    lines = [f"NCCL INFO Ring 0{ring} : 3[b0] -> 4[20] [send] via NET/Socket/{nic}" for ring, nic in enumerate(used)]
    found = diagnosed(ETHERNET, log(ETHERNET, 8, before="\n".join([listed, *lines]), scale=0.5)).causes
    likely = [each.name for each in found if each.weight >= LIKELY]
    assert likely[:1] == ([cause] if cause else [])


# Devices of a log that are not those of the spec: an A100 has 300 GB/s of NVLink per direction, an H100 450

NAMED = "#  Rank {rank} Group  0 Pid 7 on n1 device {rank} [0x0{rank}] {name}\n"
ROW = "8589934592 2147483648 float sum -1 {us} {algbw} {busbw} 0 {us} {algbw} {busbw} 0\n"
SLOW, FAST = ROW.format(us=64500, algbw=133.18, busbw=233.06), ROW.format(us=20000, algbw=429.50, busbw=751.62)
A100, H100 = "NVIDIA A100-SXM4-80GB", "NVIDIA H100 80GB HBM3"


def printed(names: list[str], row: str) -> Benchmark:
    """A log of one rank for each name of a device."""
    head = "".join(NAMED.format(rank=rank, name=name) for rank, name in enumerate(names))
    return read_benchmark(f"./all_reduce_perf -b 8G -e 8G\n# Using devices\n{head}{row}")


def of_h100(benchmark: Benchmark, machine: str = "platform: dgx-h100, nodes: 1") -> tuple[ComparedCollective, bool]:
    """A log compared with a node of eight H100, and whether it adds a measurement to the spec."""
    spec = cluster("{" + machine + "}")
    found = diagnosis_of(spec, [("a.log", benchmark)], LogOverrides(), (), SETTINGS.catalog)
    return found.compared[0], bool(calibration(found.runs).given)


def test_other_devices_than_those_of_the_spec_are_the_first_cause_and_measure_nothing() -> None:
    compared, measured = of_h100(printed([A100] * 8, SLOW))
    assert names(compared)[0] == "other-accelerators" and not measured
    said = compared.other_devices
    assert "line 3: 8 devices of the log are NVIDIA A100-SXM4-80GB (300 GB/s of scale-up per direction)" in said
    assert "the spec has H100 SXM5 80 GB (450 GB/s of scale-up per direction)" in said


def test_other_devices_of_a_fast_run_are_a_warning_and_no_cause() -> None:
    compared, measured = of_h100(printed([A100] * 8, FAST))
    assert (compared.verdict, names(compared), measured) == ("fast", [], False)
    assert "300 GB/s" in compared.other_devices
    report = DiagnosisReport(SETTINGS.tool, Input("a.yaml", None), (compared,), ())
    assert "Warning: line 3: 8 devices of the log are NVIDIA A100" in " ".join(diagnosis_text(report).split())
    assert report.to_json()["verdicts"][0]["other_devices"] == compared.other_devices


@pytest.mark.parametrize(
    "devices",
    [
        [H100] * 8,
        [A100, *[H100] * 7],  # one of them is that of the spec
        ["Some New Device"] * 8,  # no entry of the catalog has this name
        [""] * 8,
    ],
)
def test_own_unknown_and_unnamed_devices_are_no_other_ones(devices: list[str]) -> None:
    compared, measured = of_h100(printed(devices, SLOW))
    assert compared.other_devices == "" and "other-accelerators" not in names(compared) and measured


def test_a_run_without_a_result_tells_its_devices_too() -> None:
    lines = f"GPU 0: {A100} (UUID: GPU-1)\nGPU 1: {A100} (UUID: GPU-2)\nRuntimeError: CUDA error: out of memory\n"
    wanted = (
        "Config file not found at /v/E=8,N=64,device_name=NVIDIA_H20.json\nRuntimeError: CUDA error: out of memory\n"
    )
    for text, said in ((lines, "line 1: 2 devices of the log are NVIDIA A100"), (wanted, "the devices of the log are")):
        started = read_unfinished(text)
        assert started is not None
        found = diagnosis_of(DGX, [("a.log", started)], LogOverrides(None, 8), (), SETTINGS.catalog).compared[0]
        assert said in found.other_devices and names(found) == ["memory-full"]


def test_a_measurement_of_other_devices_passes_no_acceptance_test() -> None:
    study = study_text("clusterspec: 1\ncluster: {platform: dgx-h100, nodes: 1}\n", SETTINGS)
    other = accept(study, [("a.log", printed([A100] * 8, FAST))])[0]
    own = accept(study, [("a.log", printed([H100] * 8, FAST))])[0]
    assert [each.status for each in own.tests].count("pass") == 1
    assert {each.status for each in other.tests} == {"not-run"} and "NVIDIA A100" in other.unused[0][1]
