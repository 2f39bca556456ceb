"""How people say that a remedy ended a fault, and how they say that a part works, which is no remedy."""

from __future__ import annotations

import pytest

from clusterspec.logs.reports.trials import trial_statements


@pytest.mark.parametrize(
    ("sentence", "remedy"),
    [
        ("It hangs unless NCCL_P2P_DISABLE=1 is set.", "no-peer-access"),
        ("The all-reduce hangs until we booted with iommu=pt.", "no-iommu"),
        ("Our job crashed until we set NCCL_IB_GID_INDEX=3.", "gid"),
        ("The job only runs if I set NCCL_IB_DISABLE=1.", "no-rdma"),
        ("Replacing the DAC cable ended that.", "cable"),
        ("Reseating the cable brought back the full bandwidth.", "cable"),
        ("Setting NCCL_SOCKET_IFNAME=eth0 makes it 5 times faster.", "interface"),
        ("Disabling ACS gave us twice the bandwidth.", "no-acs"),
        ("With --privileged it runs, without it the pod dies.", "privileges"),
        ("The only way to get it running is NCCL_IB_DISABLE=1.", "no-rdma"),
        ("export NCCL_IB_GID_INDEX=3 did the job.", "gid"),
        ("NCCL_SHM_DISABLE=1 gets rid of the error.", "no-shared-memory"),
        ("We had to set NCCL_SOCKET_IFNAME=bond0 for it to run.", "interface"),
        ("Turned out ACS was enabled.", "no-acs"),
        ("Problem was the firewall between the subnets.", "firewall"),
        ("The issue was that ulimit -l was 64 in Slurm.", "locked-memory"),
    ],
)
def test_a_remedy_that_ended_a_fault_is_one_in_any_words(sentence: str, remedy: str) -> None:
    assert f"trial helped {remedy}" in [name for name, _, _ in trial_statements(sentence)]


@pytest.mark.parametrize(
    "sentence",
    [
        "It hangs until the timeout of ten minutes.",
        "It fails unless you have four nodes.",
        "The problem was not the firewall.",
        "I installed OFED to use verbs. It works fine if the buffer is on the host.",
        "I built NCCL 2.20 from source. It works on one node.",
        "I am using PyTorch 2.1 and it works on one GPU.",
    ],
)
def test_a_part_that_works_or_a_fault_that_lasts_shows_no_remedy(sentence: str) -> None:
    assert not [name for name, _, _ in trial_statements(sentence) if name.startswith("trial helped")]


@pytest.mark.parametrize(
    ("sentence", "part"),
    [
        ("We installed the newest driver and now it works.", "driver"),
        ("After installing the latest NCCL it works.", "library"),
        ("With NCCL 2.18 it works on one node, with NCCL 2.20 it hangs.", "library"),
    ],
)
def test_a_release_that_is_new_or_compared_with_another_is_a_remedy(sentence: str, part: str) -> None:
    assert f"trial helped release of {part}" in [name for name, _, _ in trial_statements(sentence)]
