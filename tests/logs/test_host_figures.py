"""Figures of a host that limits a run: steps without graphs, governors, and copies to accelerators."""

from __future__ import annotations

import pytest

from clusterspec.logs.statements.host_figures import (
    far_copies,
    host_copies,
    host_governor,
    host_statements,
    lost_graphs,
    ungraphed_steps,
    unlike_copies,
)

STEP = (
    "[2025-05-01 10:00:00 TP0] Decode batch. #running-req: {}, #token: 4096, token usage: 0.10,{} cuda graph: {}, "
    "gen throughput (token/s): {}, #queue-req: 0"
)


def _step(requests: int, graph: bool, rate: float, accepted: str = "") -> str:
    return STEP.format(requests, f" accept len: {accepted}," if accepted else "", graph, rate)


@pytest.mark.parametrize(
    ("lines", "milliseconds"),
    [
        ([_step(32, False, 320.0)], "100"),  # 32 tokens / 320 tokens/s
        ([_step(32, False, 640.0, "2.00")], "100"),  # two tokens for each request
        ([_step(8, False, 100.0), _step(8, False, 80.0), _step(8, False, 50.0)], "100"),  # the median
    ],
)
def test_a_step_takes_its_tokens_over_their_rate(lines: list[str], milliseconds: str) -> None:
    found = ungraphed_steps("\n".join(lines))
    assert found is not None and f"takes {milliseconds} ms without CUDA graphs" in found[0]


@pytest.mark.parametrize(
    ("with_graphs", "without", "lost"),
    [
        (_step(16, True, 1600.0), _step(32, False, 640.0), True),  # 10 and 50 ms
        (_step(16, True, 1600.0), _step(32, False, 2900.0), False),  # 10 and 11 ms
        (_step(16, False, 1600.0), _step(32, False, 640.0), False),  # nothing to compare
        (_step(16, True, 1600.0), _step(32, True, 640.0), False),
    ],
)
def test_graphs_are_lost_where_steps_without_them_take_far_longer(with_graphs: str, without: str, lost: bool) -> None:
    assert (lost_graphs(f"{with_graphs}\n{without}") is not None) is lost


@pytest.mark.parametrize(
    "text",
    [
        "Decode batch. #running-req: 0, cuda graph: False, gen throughput (token/s): 0.00, #queue-req: 0",
        "Prefill batch. #new-seq: 1, #new-token: 12, cuda graph: False, gen throughput (token/s): 9.0",
        "Decode batch. #running-req: 4, cuda graph: False, gen throughput (token/s): 1.2.3, #queue-req: 0",
        _step(32, True, 320.0),
    ],
)
def test_other_lines_are_of_no_step_without_graphs(text: str) -> None:
    assert ungraphed_steps(text) is None


@pytest.mark.parametrize(
    ("text", "governor"),
    [
        ("/sys/devices/system/cpu/cpu7/cpufreq/scaling_governor:ondemand", "ondemand"),
        ("$ cat /sys/devices/system/cpu/cpu0/cpufreq/scaling_governor\nconservative\n", "conservative"),
        ('  The governor "powersave" may decide which speed to use\n', "powersave"),
        ("$ cat /sys/devices/system/cpu/cpu0/cpufreq/scaling_governor\nperformance\n", ""),
        ("scaling_available_governors: performance powersave", ""),
    ],
)
def test_governors_that_lower_clocks_are_read(text: str, governor: str) -> None:
    found = host_governor(text)
    assert (found[0] if found else "") == (f"scaling_governor {governor}" if governor else "")


MATRIX = """        GPU0    GPU1    NIC0    CPU Affinity    NUMA Affinity
GPU0     X      SYS     PIX     0-31,64-95      0
GPU1    SYS      X      SYS     32-63,96-127    1
"""
TEST = "$ numactl {} ./bandwidthTest\n Device {}: NVIDIA A100-PCIE-40GB\n"


@pytest.mark.parametrize(
    ("bound", "device", "far"),
    [
        ("-N1 -m1", 0, True),
        ("--cpunodebind=0 --membind=0", 1, True),
        ("-N 0 -m 0", 0, False),
        ("-m1", 1, False),
    ],
)
def test_copies_are_far_where_they_run_on_another_node_than_the_accelerator(bound: str, device: int, far: bool) -> None:
    text = MATRIX + TEST.format(bound, device)
    assert (far_copies(text) is not None) is far
    assert far_copies(TEST.format(bound, device)) is None  # without the matrix


def test_rates_of_copies_are_read_in_both_directions() -> None:
    rows = " Host to Device Bandwidth, 1 Device(s)\n PINNED\n   33554432    {}\n"
    both = rows.format("24100.5") + rows.replace("Host to Device", "Device to Host").format("25900.1")
    assert host_copies(both) == ("24.1 25.9", 3)
    inner = " Device to Device Bandwidth, 1 Device(s)\n   33554432    1200000.0\n"
    assert host_copies(both + inner) == ("24.1 25.9", 3)


@pytest.mark.parametrize(
    ("sentence", "rates"),
    [
        ("Copies from the host to the GPU vary between 6 and 24 GB/s.", ""),  # the first figure has no unit
        ("H2D copies vary, 6 to 24 GB/s.", "6 and 24 GB/s"),
        ("The D2H offload reaches 110 GB/s on some ranks but 320 GB/s on others.", "110 and 320 GB/s"),
        ("H2D copies vary, 23 to 24 GB/s.", ""),
        ("The collective reaches 110 GB/s on some ranks but 320 GB/s on others.", ""),
        ("The memcpy from host to device reaches 6 GB/s.", ""),
    ],
)
def test_unlike_rates_of_copies_are_told_in_sentences(sentence: str, rates: str) -> None:
    found = unlike_copies([(3, sentence)])
    assert (found[0] if found else "") == rates


def test_a_sound_host_has_no_statement() -> None:
    text = MATRIX + TEST.format("-N0", 0) + _step(8, True, 800.0) + "\nscaling_governor:performance"
    assert list(host_statements(text)) == []
