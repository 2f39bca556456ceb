"""Published faults of releases: named where the release of the log and the run fit, and nowhere else."""

from __future__ import annotations

import pytest

from clusterspec.analysis.diagnosis.collectives import diagnosis_of, read_log
from clusterspec.analysis.diagnosis.placed_runs import LogOverrides
from clusterspec.analysis.diagnosis.release_causes import published_faults
from clusterspec.catalog.releases import ReleaseFault
from clusterspec.results.diagnosis import Cause
from tests.analysis.test_diagnosis import cluster, log, names
from tests.effort import telling
from tests.settings import SETTINGS

ROCE = (
    "{platform: hgx-h100, nodes: 2, "
    "scale_out: {technology: roce-v2, nics_per_node: 8, nic_bandwidth: 400 Gb/s, switch_ports: 64}}"
)
MI300X = ROCE.replace("hgx-h100", "mi300x-ubb8")
FOUR = ROCE.replace("nodes: 2", "nodes: 4")
A40 = "{accelerator: a40, accelerators_per_node: 8, nodes: 1, scale_up: {topology: pcie, domain: 8}}"
AMD_HOST = "NCCL INFO CPU/0 (1/2/-1)"


def causes_of(machine: str, lines: str, name: str = "all-reduce", share: float = 0.5) -> list[str]:
    host = cluster(machine)
    ranks = host.nodes * host.ranks_per_node
    benchmark = log(host, ranks, name, before=lines, scale=share)
    found = diagnosis_of(host, [("a.log", benchmark)], LogOverrides(), published_faults(host, SETTINGS.catalog))
    return names(found.compared[0])


@telling(2)
@pytest.mark.parametrize(
    ("machine", "lines", "name"),
    [
        (ROCE, "NCCL version 2.22.3+cuda12.5", "all-reduce"),  # NVIDIA/nccl issue 1403
        (ROCE, "# nccl-tests version 2.17.6 nccl-headers=22602 nccl-library=22602", "all-reduce"),
        (FOUR, "NCCL version 2.20.3+cuda12.3", "all-reduce"),  # NVIDIA/nccl issue 1222
        (A40, f"NCCL version 2.16.2+cuda11.8\n{AMD_HOST}", "all-reduce"),  # NVIDIA/nccl issue 770
        (ROCE, f"NCCL version 2.30.5+cuda13.0\n{AMD_HOST}", "all-reduce"),  # NVIDIA/nccl issue 2441
        (MI300X, "ROCm version  : 7.14.0.0-12", "all-reduce"),  # ROCm/TheRock issue 7903
        (MI300X, "ROCm version  : 7.1.1.0-9", "all-to-all"),  # ROCm/ROCm issue 5717
    ],
)
def test_a_release_with_a_published_fault_is_named(machine: str, lines: str, name: str) -> None:
    assert "release-fault" in causes_of(machine, lines, name)


@telling(2)
@pytest.mark.parametrize(
    ("machine", "lines", "name"),
    [
        (ROCE, "NCCL version 2.26.3+cuda12.8", "all-reduce"),  # mended
        (ROCE, "NCCL version 2.18.5+cuda12.2", "all-reduce"),  # before
        (ROCE.replace("nodes: 2", "nodes: 1"), "NCCL version 2.22.3+cuda12.5", "all-reduce"),  # no network
        (A40, "NCCL version 2.16.2+cuda11.8\nNCCL INFO CPU/0 (1/1/2)", "all-reduce"),  # an Intel host
        (ROCE, "NCCL version 2.28.3+cuda13.0", "all-reduce"),  # NCCL_CROSS_NIC is not set
        (MI300X, "ROCm version  : 7.2.0.0-1", "all-to-all"),  # mended
        (MI300X, "NCCL version 2.22.3+hip6.3", "all-reduce"),  # numbers of NCCL are not those of ROCm
    ],
)
def test_other_releases_and_runs_have_no_published_fault(machine: str, lines: str, name: str) -> None:
    assert "release-fault" not in causes_of(machine, lines, name)


def test_a_run_as_predicted_has_no_fault_whatever_its_release() -> None:
    assert not causes_of(ROCE, "NCCL version 2.22.3+cuda12.5", share=1.0)


def test_a_setting_of_a_fault_has_to_be_set() -> None:
    lines = "NCCL version 2.28.3+cuda13.0\nNCCL INFO NCCL_CROSS_NIC set by environment to 0."
    assert "release-fault" in causes_of(ROCE, lines)


def test_bounds_of_a_fault_are_from_and_before() -> None:
    fault = ReleaseFault("slow", since="2.19", until="2.26.3")
    held = [release for release in ("2.18.6", "2.19.0", "2.26.2", "2.26.3", "2.30.4") if fault.holds_in(release)]
    assert held == ["2.19.0", "2.26.2"]


def test_every_fault_of_the_catalog_cites_an_address() -> None:
    machines = (ROCE, MI300X)
    found = [fault for machine in machines for fault in published_faults(cluster(machine), SETTINGS.catalog)]
    assert len(found) > 10
    assert all(fault.url.startswith("https://") and (fault.since or fault.until) for fault in found)


def told(text: str) -> tuple[Cause, ...]:
    """The causes of a report on two nodes."""
    read = read_log("a.txt", text.encode(), unfinished=True)
    return diagnosis_of(cluster(ROCE), [("a.txt", read)], LogOverrides()).compared[0].causes


@pytest.mark.parametrize(
    ("text", "cause"),
    [
        ("Our job hangs at random since we pass device_id, with torch==2.7.0.", "release-fault"),
        ("The collectives hang on our GH200 nodes with NCCL 2.28.9.", "release-fault"),
        ("Our all-to-all hangs on GB200 with NCCL version 2.26.2+cuda12.8.", "release-fault"),
        ("Our dispatch of DeepEP hangs with NVSHMEM 3.5.19.", "release-fault"),
        ("Our training hangs with driver 560.35 while one GPU reads from its peer.", "driver-release"),
    ],
)
def test_a_release_is_named_whose_published_fault_a_report_tells(text: str, cause: str) -> None:
    assert told(text)[0].name == cause
    assert "have a published fault" in told(text)[0].evidence


@pytest.mark.parametrize(
    "text",
    [
        "Our job hangs at random since we pass device_id, with torch==2.8.0.",  # mended
        "Our job hangs at random since we pass device_id, with torch==2.6.0.",  # before
        "Our job is slow since we pass device_id, with torch==2.7.0.",  # another symptom
        "The collectives hang on our GH200 nodes with NCCL 2.29.3.",
        "The collectives hang on our Xeon nodes with NCCL 2.28.9.",
    ],
)
def test_other_releases_and_symptoms_have_no_published_fault(text: str) -> None:
    assert not any("have a published fault" in each.evidence for each in told(text))
