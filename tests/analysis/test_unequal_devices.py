"""Ranks on accelerators of different kinds: in lists of devices, in warnings of programs, and in reports."""

from __future__ import annotations

import pytest

from tests.analysis.test_diagnosis import names
from tests.analysis.test_program_lines import H100, PAIR, read

LIST = (
    "# nThread 1 nGpus 1\n# Using devices\n"
    "#  Rank  0 Group  0 Pid 31 on n1 device  0 [0x1b] {}\n#  Rank  1 Group  0 Pid 32 on n1 device  1 [0x1c] {}\n"
    "n1:31:40 [0] NCCL INFO Using network Socket\n"
)


def _names(machine: str, text: str, ranks: int) -> list[str]:
    found = read(machine, text, ranks)
    return [] if found is None else names(found)


def test_ranks_on_devices_of_two_names_are_unequal() -> None:
    assert "unequal-accelerators" in _names(H100, LIST.format("NVIDIA A100-PCIE-40GB", "Tesla V100-PCIE-32GB"), 2)
    assert "unequal-accelerators" not in _names(H100, LIST.format("NVIDIA H100", "NVIDIA H100"), 2)


@pytest.mark.parametrize(
    "line",
    [
        "    There is an imbalance between your GPUs. You may want to exclude GPU 1 which",
        "WARNING 03-20 23:36:27 [cuda.py:409] Detected different devices in the system: NVIDIA A100, Tesla T4. Please",
    ],
)
def test_warnings_of_unequal_devices_are_read(line: str) -> None:
    assert _names(H100, line, 2)[0] == "unequal-accelerators"


@pytest.mark.parametrize(
    "told",
    [
        "Our training is slow: the job has different GPU types, an A100 and a V100.",
        "We run on mixed GPUs, and the slower GPU holds back each step.",
    ],
)
def test_reports_of_unequal_devices_suspect_them(told: str) -> None:
    assert _names(PAIR, told, 16)[0] == "unequal-accelerators"


def test_a_check_of_memory_that_names_other_processes_tells_of_them() -> None:
    line = "ValueError: The memory capacity is unbalanced. Some GPUs may be occupied by other processes."
    assert _names(H100, line, 8)[0] == "shared-accelerator"
