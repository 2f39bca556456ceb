"""Releases that texts name, and published faults whose symptoms they tell."""

from __future__ import annotations

import pytest

from clusterspec import resources
from clusterspec.logs.reports.told_releases import (
    FILE,
    KNOWN,
    NAMES,
    KnownFault,
    fault_statements,
    known_faults,
    told_releases,
)


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
        ("torch 2.4.0+rocm6.3.1", "rocm", "6.3.1"),
        ("slurm-wlm 23.11.4-1.2ubuntu5", "slurm", "23.11.4"),
        ("flashinfer-python==0.6.14", "flashinfer", "0.6.14"),
        ("nvcr.io/nvidia/nemo:25.11", "nemo", "25.11"),
        ("mpirun (Open MPI) 4.1.2", "open-mpi", "4.1.2"),
        ("vLLM API server version 0.5.3", "vllm", "0.5.3"),
        ("TensorRT-LLM version: 0.14.0", "tensorrt-llm", "0.14.0"),
        ("core_v0.19.0", "megatron-core", "0.19.0"),
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
        assert each.source.startswith(("https://github.com/", "https://docs.nvidia.com/"))
        assert all(words for part in each.symptoms for words in part)


def test_a_published_fault_needs_all_of_its_symptoms() -> None:
    whole = "Our ranks hang with NCCL 2.28.9 on hosts with Grace."
    assert [release for _, release, _ in fault_statements(whole)] == ["2.28.9"]
    assert list(fault_statements(whole.replace("Grace", "Xeon"))) == []
    assert list(fault_statements(whole.replace("hang", "end"))) == []


def _told(fault: KnownFault, symptoms: str) -> str:
    """A report of a release at a bound of a fault, with one form of each of its symptoms."""
    release = f"{fault.software} {fault.since}" if fault.since else f"{fault.software} before {fault.until}"
    clauses = ". ".join(f"We see {part.split('|')[0].strip()}" for part in symptoms.split(";"))
    return f"We run {release}\n{clauses}"


def test_every_published_fault_is_found_in_a_report_of_its_symptoms_and_in_none_without_one() -> None:
    rows = [row["symptoms"] for row in resources.catalog_table(FILE)]
    for place, (fault, symptoms) in enumerate(zip(known_faults(), rows, strict=True)):
        whole = _told(fault, symptoms)
        assert f"{KNOWN}{place}" in {name for name, _, _ in fault_statements(whole)}, whole
        assert list(fault_statements(whole.splitlines()[0])) == []
