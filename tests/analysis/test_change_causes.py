"""Causes that reported changes support or contradict, and facts of the machine that reweigh others."""

from __future__ import annotations

import pytest

from clusterspec.analysis.change_causes import CONTRADICTED, FAILS_SINCE, HELPS, next_step
from clusterspec.analysis.stated_causes import STATED
from clusterspec.logs.change_words import CHANGES, RELEASES
from clusterspec.logs.stated_reasons import REASONS
from clusterspec.results.diagnosis import Compared
from tests.analysis.test_diagnosis import DGX, diagnosed, log, names
from tests.analysis.test_program_lines import PAIR, PCIE, read

HANG = "The training hangs on two nodes.\n"


def compared(machine: str, text: str) -> Compared:
    found = read(machine, text, 16 if machine == PAIR else 4)
    assert found is not None
    return found


@pytest.mark.parametrize(
    ("machine", "text", "cause"),
    [
        (PCIE, "With NCCL_P2P_DISABLE=1 it works.", "acs"),
        (
            PCIE,
            "It hangs since I updated the driver to 545.23.08.\nWith NCCL_P2P_DISABLE=1 it works.",
            "driver-release",
        ),
        (PAIR, "With NCCL_IB_DISABLE=1 it works.", "unreachable-peer"),
        (PAIR, "Setting NCCL_SOCKET_IFNAME=eth0 fixed it.", "wrong-interface"),
        (PAIR, "Disabling the firewall solved it.", "unreachable-peer"),
        (PAIR, "It turned out that a cable was bad.", "unstable-link"),
        (PAIR, "With --ipc=host it works.", "shared-memory"),
        (PAIR, "It works without NCCL_TOPO_FILE.", "invalid-setting"),
        (PAIR, "After unsetting NCCL_ALGO=Tree it works", "invalid-setting"),
    ],
)
def test_a_change_that_helps_points_at_what_it_mends(machine: str, text: str, cause: str) -> None:
    assert names(compared(machine, HANG + text))[0] == cause


def test_a_reported_change_precedes_what_a_line_states() -> None:
    line = "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB. GPU 3 has a total"
    assert names(compared(PCIE, line)) == ["memory-full"]
    assert names(compared(PCIE, f"{line}\nCalling torch.cuda.set_device fixed it.")) == [
        "shared-accelerator",
        "memory-full",
    ]


def test_a_change_that_alters_nothing_contradicts_what_it_would_mend() -> None:
    """Access control precedes with nothing tried; without peer access the run would not hang on it."""
    before = compared(PCIE, "The run hangs on four GPUs.")
    after = compared(PCIE, "The run hangs on four GPUs.\nNCCL_P2P_DISABLE=1 did not help.")
    assert names(before)[:2] == ["acs", "iommu-translation"]
    assert "acs" not in names(after)[:2] and names(after)[0] == "ranks-diverge"


def test_one_node_has_no_cause_between_nodes() -> None:
    assert "unreachable-peer" not in names(compared(PCIE, "It hangs, and with NCCL_IB_DISABLE=1 it works."))


def test_a_change_matters_to_a_slow_run_alone() -> None:
    said = "With NCCL_IB_QPS_PER_CONNECTION=4 the bandwidth doubled."
    assert names(diagnosed(DGX, log(DGX, 32, before=said, scale=0.4)))[0] == "shared-paths"
    assert not names(diagnosed(DGX, log(DGX, 32, before=said)))


def test_a_hang_in_words_is_a_run_with_open_causes() -> None:
    found = compared(PAIR, HANG)
    assert "unreachable-peer" in names(found) and not found.is_decided
    assert read(PAIR, "The training is fast on two nodes.", 16) is None


def test_a_system_that_is_not_ready_is_the_drivers_where_no_switch_exists() -> None:
    line = "CUDA error 802: system not yet initialized"
    assert names(compared(PAIR, line)) == ["fabric-manager"]
    assert names(compared(PCIE, line)) == ["driver-release", "fabric-manager"]


def test_memory_that_others_hold_is_of_a_shared_accelerator() -> None:
    error = "CUDA out of memory. Tried to allocate 250.00 MiB. GPU 0 has a total capacity of 23.52 GiB. "
    others = "Process 12 has 7.12 GiB memory in use. Process 13 has 7.12 GiB memory in use. "
    assert names(compared(PCIE, error)) == ["memory-full"]
    assert names(compared(PCIE, error + others)) == ["shared-accelerator", "memory-full"]
    assert names(compared(PCIE, error + others[:40])) == ["memory-full"]  # one, which may be its own


def test_every_change_has_its_causes_and_every_cause_its_step() -> None:
    assert {name for name, _ in CHANGES} == set(HELPS) >= set(CONTRADICTED) and set(FAILS_SINCE) == RELEASES
    named = {name for causes in (*HELPS.values(), *FAILS_SINCE.values()) for name, _ in causes}
    assert all(next_step(name) for name in named | {cause for cause, _ in REASONS})
    assert all(weight <= STATED for causes in HELPS.values() for _, weight in causes)
