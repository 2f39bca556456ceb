"""Releases that texts name, and published faults whose symptoms they tell."""

from __future__ import annotations

import pytest

from clusterspec.logs.told_releases import NAMES, fault_statements, known_faults, told_releases


@pytest.mark.parametrize(
    ("line", "software", "release"),
    [
        ("node:1:1 [0] NCCL INFO NCCL version 2.27.5+cuda12.9", "nccl", "2.27.5"),
        ("nvidia-nccl-cu12==2.26.2", "nccl", "2.26.2"),
        ("[pip3] torch==2.3.1+cu118", "pytorch", "2.3.1"),
        ("| PyTorch | 2.10.0+cu128 |", "pytorch", "2.10.0"),
        ("PyTorch version: 2.6.0+cu124", "pytorch", "2.6.0"),
        ("| NVIDIA-SMI 550.54.14    Driver Version: 550.54.14   CUDA Version: 12.4 |", "nvidia-driver", "550.54.14"),
        ("It hangs with driver 560.", "nvidia-driver", "560"),
        ("jaxlib==0.3.5", "jax", "0.3.5"),
        ("the GPU operator v1.5.0", "gpu-operator", "1.5.0"),
        ("EFA device plugin versions prior to 0.5.10", "efa-device-plugin", "<0.5.10"),
    ],
)
def test_a_release_is_read_with_its_software(line: str, software: str, release: str) -> None:
    assert (software, release) in {each[:2] for each in told_releases(line)}


@pytest.mark.parametrize("line", ["NCCL at 2.5 GB/s", "the driver of node 12.4", "torch uses 2.5 GiB", "UCX 1.9 %"])
def test_a_value_is_no_release(line: str) -> None:
    assert list(told_releases(line)) == []


def test_every_published_fault_is_of_known_software_and_has_an_address_and_a_bound() -> None:
    for each in known_faults():
        assert each.software in NAMES
        assert each.since or each.until
        assert each.source.startswith("https://github.com/")
        assert all(words for part in each.symptoms for words in part)


def test_a_published_fault_needs_all_of_its_symptoms() -> None:
    whole = "Our ranks hang with NCCL 2.28.9 on hosts with Grace."
    assert [release for _, release, _ in fault_statements(whole)] == ["2.28.9"]
    assert list(fault_statements(whole.replace("Grace", "Xeon"))) == []
    assert list(fault_statements(whole.replace("hang", "end"))) == []
