"""Facts that a text has for several hosts, or for runs of unlike outcome, and that differ."""

from __future__ import annotations

import pytest

from clusterspec.logs.reports.unlike_hosts import FACTS, unlike_statements

SHOWN = {
    "nccl": ("NCCL version 2.18.5+cuda12.1", "NCCL version 2.21.5+cuda12.4"),
    "driver": ("Driver Version: 535.104.05", "Driver Version: 550.54.14"),
    "cuda-driver": ("cudaDriverVersion 12020", "cudaDriverVersion 12040"),
    "cuda": ("CUDA Version: 12.2", "CUDA Version: 12.4"),
    "rocm": ("ROCm version: 6.2.0", "ROCm version: 6.3.1"),
    "kernel": ("Linux h1 5.15.0-25-generic", "Linux h2 5.14.0-427.el9"),
    "ofed": ("MLNX_OFED_LINUX-5.8-1.1.2.1:", "MLNX_OFED_LINUX-24.10-3.2.5.0:"),
    "firmware": ("fw_ver:                         28.43.1014", "fw_ver:                         28.39.1002"),
    "torch": ("torch==2.2.2", "torch==2.4.0"),
    "python": ("Python 3.10.12", "Python 3.11.4"),
    "ray": ("ray: 2.40.0", "ray: 2.42.0"),
    "mpi": ("mpirun (Open MPI) 4.1.5", "mpirun (Open MPI) 5.0.3"),
    "ucx": ("UCX version 1.15.0", "UCX version 1.17.0"),
    "engine": ("vllm==0.6.4", "vllm==0.7.0"),
    "image": ("image: registry/train:24.06", "image: registry/train:24.09"),
    "size": ("export WORLD_SIZE=16", "export WORLD_SIZE=8"),
    "meeting": ("--dist-init-addr 10.0.0.1:5000", "--dist-init-addr 10.0.0.2:5000"),
}


def _names(text: str) -> list[str]:
    return [name for name, _, _ in unlike_statements(text)]


@pytest.mark.parametrize("heads", [("node 1:", "node 2:"), ("## Node1", "## Node2"), ("host A:", "host B:")])
def test_a_fact_that_two_hosts_do_not_share_is_stated_and_one_that_they_share_is_not(heads: tuple[str, str]) -> None:
    assert SHOWN.keys() == FACTS.keys()
    for fact, (one, other) in SHOWN.items():
        assert _names(f"{heads[0]}\n{one}\n{heads[1]}\n{other}") == [f"unlike {fact}"], fact
        assert not _names(f"{heads[0]}\n{one}\n{heads[1]}\n{one}"), fact


def test_the_host_of_a_line_is_its_prefix() -> None:
    line = "{}:12:34 [0] NCCL INFO NCCL version {}+cuda12.4"
    unlike = "\n".join([line.format("a", "2.18.5"), line.format("a", "2.18.5"), line.format("b", "2.21.5")])
    assert list(unlike_statements(unlike)) == [("unlike nccl", "2.18.5 on a, 2.21.5 on b", 3)]
    assert not _names("\n".join([line.format("a", "2.18.5"), line.format("b", "2.18.5")]))


def test_a_fact_of_runs_of_unlike_outcome_is_a_trial_of_its_release() -> None:
    found = list(unlike_statements("Working:\nDriver Version: 535.104.05\n\nNot working:\nDriver Version: 550.54.14"))
    assert found == [
        ("trial helped release of driver", "with driver 535.104.05 it works, with 550.54.14 it does not", 5)
    ]
    kernels = "Was working with:\n- kernel.x86_64 6.17.8-300.fc43\nbut not with:\n- kernel.x86_64 6.17.9-300.fc43"
    assert _names(kernels) == ["trial helped release of kernel"]
    assert not _names("Working:\nexport WORLD_SIZE=8\nFailing:\nexport WORLD_SIZE=16")


def test_ranks_must_differ_between_hosts() -> None:
    assert _names("node1:\nexport RANK=0\nnode2:\nexport RANK=0") == ["alike rank"]
    assert not _names("node1:\nexport RANK=0\nnode2:\nexport RANK=1")


def test_processes_that_are_each_alone_are_of_separate_jobs() -> None:
    assert _names("Hello from rank 0 of 1\nHello from rank 0 of 1") == ["alike world"]
    assert not _names("Hello from rank 0 of 1")
    assert not _names("Hello from rank 0 of 16\nHello from rank 0 of 16")


def test_values_without_a_host_and_distant_ones_are_of_no_host() -> None:
    assert not _names("Driver Version: 535.104.05\nDriver Version: 550.54.14")
    far = "\n".join(["node 1:", "Driver Version: 535.104.05", "node 2:", *["."] * 100, "Driver Version: 550.54.14"])
    assert not _names(far)
