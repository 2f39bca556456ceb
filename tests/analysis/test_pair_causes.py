"""Causes that matrices of pairs of accelerators show, and tests of links with the memory of devices."""

from __future__ import annotations

import pytest

from clusterspec.analysis.diagnosis.collectives import diagnosis_of, read_log
from clusterspec.analysis.diagnosis.placed_runs import LogOverrides
from clusterspec.logs.benchmarks.pair_faults import matrices_of
from clusterspec.results.diagnosis import ComparedCollective
from tests.analysis.test_diagnosis import cluster, names

PCIE = "{accelerator: a100-pcie-80gb, accelerators_per_node: 4, nodes: 1, scale_up: {topology: pcie, domain: 4}}"
NVLINK = "{platform: hgx-a100, nodes: 1}"
EDR = (
    "{accelerator: v100-sxm-32gb, accelerators_per_node: 4, nodes: 2, scale_up: {topology: full-mesh, domain: 4}, "
    "scale_out: {technology: infiniband-edr, nics_per_node: 1, switch_ports: 36}}"
)


def matrix(title: str, figures: list[list[float]]) -> str:
    """A matrix as p2pBandwidthLatencyTest prints it."""
    heads = "".join(f"{number:7d}" for number in range(len(figures)))
    rows = "\n".join(
        f"{row:6d} " + " ".join(f"{each:6.2f}" for each in each_row) for row, each_row in enumerate(figures)
    )
    return f"{title}\n   D\\D {heads}\n{rows}\n"


def alike(rate: float, count: int = 4, own: float = 1500.0) -> list[list[float]]:
    """Figures of ``count`` accelerators whose pairs are all of one rate."""
    return [[own if row == column else rate for column in range(count)] for row in range(count)]


def p2p(without: float, with_access: float, time: float = 3.0) -> str:
    return (
        matrix("Unidirectional P2P=Disabled Bandwidth Matrix (GB/s)", alike(without))
        + matrix("Unidirectional P2P=Enabled Bandwidth (P2P Writes) Matrix (GB/s)", alike(with_access))
        + matrix("P2P=Disabled Latency Matrix (us)", alike(20.0, own=2.0))
        + matrix("P2P=Enabled Latency (P2P Writes) Matrix (us)", alike(time, own=2.0))
    )


def _compared(machine: str, text: str) -> ComparedCollective | None:
    read = read_log("a.txt", text.encode(), unfinished=True)
    found = diagnosis_of(cluster(machine), [("a.txt", read)], LogOverrides())
    return found.compared[0] if found.compared else None


@pytest.mark.parametrize(
    ("without", "with_access", "time", "causes"),
    [
        (11.6, 1.26, 3.0, ["acs", "iommu-translation"]),
        (11.6, 11.0, 49_205.0, ["iommu-translation", "acs"]),
        (11.6, 24.0, 3.0, []),
        (11.6, 9.0, 3.0, []),  # a little slower: copies of an engine against those of kernels
    ],
)
def test_peer_access_slower_than_copies_through_the_host_is_redirected(
    without: float, with_access: float, time: float, causes: list[str]
) -> None:
    found = _compared(PCIE, p2p(without, with_access, time))
    assert found is not None and names(found) == causes


def test_the_evidence_has_the_figures_of_the_worst_pair() -> None:
    figures = alike(24.0)
    figures[1][3] = 1.3
    text = p2p(11.6, 24.0).replace(matrix("", alike(24.0)).strip(), matrix("", figures).strip())
    found = _compared(PCIE, text)
    assert found is not None
    assert "1.3 GB/s with peer access between accelerators 1 and 3, 11.6 GB/s without" in found.causes[0].evidence


def test_an_accelerator_whose_pairs_are_all_slower_has_a_fault() -> None:
    figures = [[20.0 if 3 in (row, column) else 240.0 for column in range(4)] for row in range(4)]
    one = matrix("Unidirectional P2P=Enabled Bandwidth (P2P Writes) Matrix (GB/s)", figures)
    found = _compared(NVLINK, one)
    assert found is not None and names(found)[0] == "accelerator-fault"
    assert "accelerator 3" in found.causes[0].evidence


@pytest.mark.parametrize(("rate", "likely"), [(240.0, False), (20.0, True)])
def test_pairs_of_a_domain_with_links_at_the_rate_of_pcie_do_not_use_them(rate: float, likely: bool) -> None:
    found = _compared(NVLINK, matrix("Unidirectional P2P=Enabled Bandwidth (P2P Writes) Matrix (GB/s)", alike(rate, 8)))
    assert found is not None and ("fabric-manager" in names(found)) is likely


def test_a_matrix_that_is_cut_is_left_out() -> None:
    whole = matrix("Unidirectional P2P=Enabled Bandwidth (P2P Writes) Matrix (GB/s)", alike(24.0))
    assert len(list(matrices_of(whole))) == 1
    assert list(matrices_of(whole[: whole.rindex("\n", 0, -1)])) == []


def _osu(buffers: str, rate: float) -> str:
    sizes = "".join(f"{1 << power}  {min(rate, (1 << power) / 100):.2f}\n" for power in range(22))
    return (
        f"mpirun -np 2 -H a,b -map-by node ./osu_bw {' '.join(each[0] for each in buffers.split())}\n"
        "# OSU MPI-CUDA Bandwidth Test v5.6.1\n"
        f"# Send Buffer on {buffers.split(maxsplit=1)[0]} and Receive Buffer on {buffers.split()[1]}\n"
        f"# Size  Bandwidth (MB/s)\n{sizes}"
    )


@pytest.mark.parametrize(("rate", "named"), [(345.0, True), (11_000.0, False)])
def test_a_slow_link_between_memories_of_devices_is_staged_through_the_hosts(rate: float, named: bool) -> None:
    found = _compared(EDR, _osu("DEVICE DEVICE", rate))
    assert found is not None and ("gpudirect-off" in names(found)[:1]) is named
