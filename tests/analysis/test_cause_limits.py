"""Every check of a slow run together with the run for which it says nothing: its lines, its machine and its limits."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import cache
from itertools import groupby

import pytest

from clusterspec.analysis.diagnosis.causes import ALWAYS, CHECKS
from clusterspec.analysis.diagnosis.collectives import read_log
from clusterspec.analysis.diagnosis.placed_runs import LogOverrides, PlacedRun, placed_run
from clusterspec.cluster.model import Cluster
from clusterspec.exchange.import_result import FormatError
from clusterspec.logs import text_lines
from clusterspec.logs.benchmarks.benchmark import Benchmark, Evidence, Series
from clusterspec.logs.text_lines import searched_part
from clusterspec.results.diagnosis import ComparedRow
from tests.analysis.test_diagnosis import cluster, names
from tests.analysis.test_program_lines import PAIR, read
from tests.effort import each, thorough

MIB = 1 << 20
DGX, H200 = "{platform: dgx-h100, nodes: 16}", "{platform: dgx-h200, nodes: 16}"
ROCE = "{platform: dgx-h100, nodes: 16, scale_out: {technology: roce-v2, nic_bandwidth: 400 Gb/s}}"
EFA = "{platform: aws-p4de-24xlarge, nodes: 4}"
PCIE = "{accelerator: l40s, accelerators_per_node: 8, nodes: 1, scale_up: {topology: pcie}}"
SOCKETS = (
    "{accelerator: v100-sxm-32gb, accelerators_per_node: 4, nodes: 2, scale_up: {topology: full-mesh, domain: 4}, "
    "scale_out: {technology: ethernet, nics_per_node: 2, nic_bandwidth: 100 Gb/s}}"
)
DOUBLED = (
    "{accelerator: a100-sxm-80gb, accelerators_per_node: 8, nodes: 1, "
    "scale_up: {bandwidth: STATED GB/s unidirectional}}"
)
NICS = "NET/IB : Using " + " ".join(f"[{n}]mlx5_{n}:1/IB" for n in range(8))

Line = tuple[str, str]
Case = tuple[str, int, Sequence[Line], Sequence[tuple[float, float]], str]
"""Machine, ranks, names and texts of lines, MiB with shares of the expected bandwidth, and the causes with weights."""


@cache
def machine(text: str) -> Cluster:
    return cluster(text)


def run_of(case: Case) -> PlacedRun:
    """The run of a case: each size is expected at 100 GB/s, within 10 %."""
    text, ranks, lines, shares, _ = case
    evidence = tuple(Evidence(name, line, number) for number, (name, line) in enumerate(lines, 1))
    series = Series("all-reduce", ranks, None, ())
    run = placed_run(
        machine(text), Benchmark("nccl-tests", (series,), evidence=evidence), series, "log", LogOverrides()
    )
    rows = [ComparedRow(size * MIB, share * 1e11, 1e11, 0.9e11, 1.1e11) for size, share in shares]
    return replace(run, rows=tuple(rows))


LARGE = [(1024.0, 0.5)]
EIGHTH = [(1, 0.5), (8, 0.5), (64, 0.5), (512, 0.5)]
SLOW = (ROCE, 32, [("hcas", NICS)])
CASES: dict[str, list[Case]] = {
    "plugin_causes": [
        (EFA, 16, [("no-plugin", "not found")], LARGE, "plugin-missing 1.0"),
        (EFA, 16, [("socket", "eth0")], LARGE, "plugin-missing 1.0"),
        (EFA, 16, [("no-plugin", "not found"), ("ofi", "efa")], LARGE, ""),
        (EFA, 16, [("socket", "eth0"), ("gdr", "via NET")], LARGE, ""),
        (EFA, 16, [("no-plugin", "not found"), ("provider", "libfabric:1:2::efa:")], LARGE, ""),
        (EFA, 8, [("no-plugin", "not found")], LARGE, ""),  # one node
        (DGX, 32, [("no-plugin", "not found"), ("socket", "eth0")], LARGE, ""),  # InfiniBand needs none
    ],
    "_nic_distance": [
        (DGX, 32, [("other-socket", "SYS")], LARGE, "nic-distance 0.7"),
        (DGX, 32, [("other-socket", "SYS"), ("no-gdr", "via NET")], LARGE, "nic-distance 1.0"),
        (DGX, 8, [("other-socket", "SYS"), ("host-bridge", "PHB"), ("gdr", ""), ("far-nic", "5 4")], LARGE, ""),
        (DGX, 32, [("host-bridge", "PHB"), ("gdr", "via NET")], LARGE, "nic-distance 0.7"),
        (DGX, 32, [("host-bridge", "PHB")], LARGE, ""),
        (DGX, 32, [("host-bridge", "PHB"), ("gdr", "via NET"), ("no-gdr", "via NET")], LARGE, ""),
        (DGX, 32, [("far-nic", "5 4")], LARGE, "nic-distance 1.0"),
        (DGX, 32, [("far-nic", "5 4"), ("environment", "NCCL_NET_GDR_LEVEL 3")], LARGE, ""),
    ],
    "socket_causes": [
        (DGX, 32, [("ofi", "tcp;ofi_rxm provider")], LARGE, "socket-fall-back 1.0"),
        (DGX, 32, [("ofi", "efa provider")], LARGE, ""),
        (DGX, 32, [("socket", "eth0")], LARGE, "socket-fall-back 1.0"),
        (DGX, 32, [("no-ib", "no device")], LARGE, "socket-fall-back 1.0"),
        (DGX, 32, [("socket", "eth0"), ("hcas", NICS)], LARGE, ""),
        (DGX, 32, [("environment", "NCCL_IB_DISABLE 1")], LARGE, "socket-fall-back 1.0"),
        (DGX, 32, [("environment", "NCCL_NET Socket")], LARGE, "socket-fall-back 1.0"),
        (DGX, 32, [("environment", "NCCL_IB_DISABLE 0")], LARGE, ""),
        (DGX, 8, [("environment", "NCCL_IB_DISABLE 1")], LARGE, ""),
        (SOCKETS, 8, [("socket", "eth0")], LARGE, ""),
        (DGX, 8, [("socket", "eth0")], LARGE, "socket-fall-back 0.4"),  # no host is listed
        (DGX, 8, [("socket", "eth0"), ("hcas", NICS)], LARGE, ""),
        (SOCKETS, 4, [("socket", "eth0")], LARGE, ""),
        (DGX, 32, [("socket", "eth0"), ("no-network", "refused")], LARGE, ""),
    ],
    "_too_few_nics": [
        (DGX, 32, [("hcas", NICS.rpartition(" ")[0])], LARGE, "few-nics 1.0"),
        (DGX, 32, [("hcas", NICS)], LARGE, ""),
        (DGX, 32, [("hcas", NICS), ("only-adapter", "0")], LARGE, "one-nic 0.7"),
        (DGX, 32, [("hcas", "NET/IB : Using [0]mlx5_0:1/IB")], LARGE, "one-nic 1.0"),
        (DGX, 8, [("hcas", "NET/IB : Using [0]mlx5_0:1/IB")], LARGE, ""),
    ],
    "_gpudirect_causes": [
        (DGX, 32, [("environment", "NCCL_NET_GDR_LEVEL LOC")], LARGE, "gpudirect-off 1.0"),
        (DGX, 32, [("environment", "NCCL_NET_GDR_LEVEL 0")], LARGE, "gpudirect-off 1.0"),
        (DGX, 32, [("environment", "NCCL_NET_GDR_LEVEL 5")], LARGE, ""),
        (DGX, 32, [("no-gdr", "via NET/IB/0")], LARGE, "gpudirect-off 1.0"),
        (DGX, 32, [("no-gdr", "via NET/IB/0"), ("gdr", "via NET/IB/1")], LARGE, "gpudirect-off 0.7"),
        (DGX, 32, [("no-gdr", "via NET/IB/0"), ("other-socket", "SYS")], LARGE, "gpudirect-off 0.7"),
        (DGX, 8, [("no-gdr", "via NET/IB/0")], LARGE, ""),
        (SOCKETS, 8, [("no-gdr", "via NET/Socket/0")], LARGE, ""),
    ],
    "_disabled_nvls": [
        (DGX, 8, [("no-nvls", "multicast support is not available")], LARGE, "no-nvls 1.0"),
        (DGX, 8, [("nvls", "0")], LARGE, "no-nvls 1.0"),
        (DGX, 8, [("nvls", "16")], LARGE, ""),
        (DGX, 8, [("environment", "NCCL_NVLS_ENABLE 0")], LARGE, "no-nvls 1.0"),
        (DGX, 8, [("environment", "NCCL_NVLS_ENABLE 1")], LARGE, ""),
        (EFA, 8, [("no-nvls", "multicast support is not available"), ("nvls", "0")], LARGE, ""),  # A100: no reduction
    ],
    "access_control_causes": [
        (PCIE, 8, [], LARGE, "acs 0.3"),
        (PCIE, 8, [("p2p-host", "via SHM")], LARGE, "acs 1.0"),
        (PCIE, 8, [("p2p-host", "via SHM")], [(1 << 30, 0.0)], ""),  # a run without a result
        (PCIE, 8, [("p2p-host", "via SHM"), ("environment", "NCCL_P2P_DISABLE 1")], LARGE, "acs 0.3"),
        (PCIE, 8, [("acs-on", "ACS is enabled")], LARGE, "acs 1.0"),
        (DGX, 32, [("acs-on", "ACS is enabled")], LARGE, "acs 1.0"),
        (DGX, 32, [("acs-on", "ACS is enabled"), ("no-gdr", "via NET")], LARGE, ""),
        (DGX, 8, [("acs-on", "ACS is enabled")], LARGE, ""),
        (DGX, 8, [("protection", "local protection error")], LARGE, "acs 1.0"),
        (DGX, 32, [("gdr", "via NET")], LARGE, "acs 0.3"),
        (DGX, 32, [], LARGE, ""),
    ],
    "peer_access_causes": [
        (DGX, 8, [("environment", "NCCL_P2P_DISABLE 1")], LARGE, "peer-access-off 1.0"),
        (DGX, 8, [("environment", "NCCL_P2P_LEVEL LOC")], LARGE, "peer-access-off 1.0"),
        (DGX, 8, [("environment", "NCCL_P2P_LEVEL 0")], LARGE, "peer-access-off 1.0"),
        (DGX, 8, [("environment", "NCCL_P2P_LEVEL NVL"), ("p2p-host", "via SHM")], LARGE, ""),
    ],
    "_channels_and_protocol": [
        (DGX, 32, [("environment", "NCCL_MAX_NCHANNELS 8")], LARGE, "few-channels 0.7"),
        (DGX, 32, [("environment", "NCCL_MAX_NCHANNELS 9")], LARGE, ""),
        (DGX, 32, [("environment", "NCCL_PROTO ll128")], [(256, 0.5)], "latency-protocol 0.7"),
        (DGX, 32, [("environment", "NCCL_PROTO LL")], [(255, 0.5)], ""),
        (DGX, 32, [("environment", "NCCL_PROTO Simple")], LARGE, ""),
    ],
    "_channels_of_nics": [
        (DGX, 32, [("channels", "15")], LARGE, "few-channels 0.7"),
        (DGX, 32, [("channels", "16")], LARGE, ""),
        (DGX, 8, [("channels", "15")], LARGE, ""),
        (DGX, 32, [("channels", "15"), ("environment", "NCCL_MAX_NCHANNELS 15")], LARGE, ""),
        (DGX, 32, [("channels", "15"), ("hcas", NICS.rpartition(" ")[0])], LARGE, ""),
        (SOCKETS, 8, [("channels", "3")], LARGE, "few-channels 0.7"),
        (SOCKETS.replace("nics_per_node: 2", "nics_per_node: 1"), 8, [("channels", "1")], LARGE, ""),
    ],
    "_bonded_port_causes": [
        (DGX, 32, [("hcas", "Using [0]mlx5_bond_0:1/RoCE")], [(1024, 0.75)], "bonded-ports 0.7"),
        (DGX, 32, [("hcas", "Using [0]mlx5_bond_0:1/RoCE")], [(1024, 0.751)], ""),
        (DGX, 32, [("hcas", "Using [0]mlx5_0:1/IB; OOB bond0")], LARGE, ""),
        (DGX, 8, [("hcas", "Using [0]mlx5_bond_0:1/RoCE")], LARGE, ""),
        (SOCKETS, 8, [("hcas", "Using [0]mlx5_bond_0:1/RoCE")], LARGE, ""),
    ],
    "_network_inside_domain": [
        (DGX, 8, [("gdr", "/GDRDMA")], LARGE, "network-inside-domain 1.0"),
        (DGX, 8, [("no-gdr", "NET/IB/0")], LARGE, "network-inside-domain 1.0"),
        (DGX, 8, [("gdr", "enabled")], LARGE, ""),
        (DGX, 8, [("socket", "0")], LARGE, "network-inside-domain 1.0"),
        (DGX, 8, [("socket", "eth0")], LARGE, ""),
        (DGX, 32, [("gdr", "/GDRDMA")], LARGE, ""),
    ],
    "_packet_loss": [
        (*SLOW, [(1, 0.5), (1024, 0.249)], "packet-loss 0.7"),
        (*SLOW, [(1, 0.5), (1024, 0.251)], ""),
        (*SLOW, [(0.5, 0.5), (1024, 0.249)], ""),  # below 1 MiB latency decides
        (*SLOW, [(1024, 0.099)], "packet-loss 0.7"),
        (*SLOW, [(1024, 0.1)], ""),
        (ROCE, 32, [("gdr", "via NET")], [(1024, 0.099)], "packet-loss 0.7"),
        (ROCE, 32, [], [(1024, 0.099)], ""),
        (DGX, 32, [("hcas", NICS)], [(1024, 0.099)], ""),  # InfiniBand has credits
    ],
    "unstable_links": [(DGX, 32, [("port-error", "mlx5_0: port down")], LARGE, "unstable-link 1.0")],
    "host_setting_causes": [
        (DGX, 8, [("numa-balancing", "enabled")], LARGE, "numa-balancing 0.7"),
        (DGX, 8, [("fine-grain", "HSA_FORCE_FINE_GRAIN_PCIE")], LARGE, "fine-grain-off 0.7"),
        (DGX, 8, [("iommu", "iommu=pt")], LARGE, "iommu-translation 0.3"),
        (PCIE, 8, [("iommu", "iommu=pt")], LARGE, "iommu-translation 0.7"),
        (DGX, 8, [], LARGE, ""),
    ],
    "memory_interleaving_causes": [
        (PCIE, 8, [("amd-host", "2"), ("numa-node", "0"), ("numa-node", "1")], LARGE, "numa-per-socket 0.7"),
        (PCIE, 8, [("amd-host", "2"), *(("numa-node", f"{n}") for n in range(3))], LARGE, ""),
        (PCIE, 8, [("numa-node", "0")], LARGE, ""),
        (DGX, 8, [("amd-host", "2")], LARGE, ""),
        (DGX, 32, [("amd-host", "2")], LARGE, ""),
        (DGX, 32, [("amd-host", "2"), ("no-gdr", "via NET")], LARGE, "numa-per-socket 0.7"),
    ],
    "absent_links": [
        (DGX, 8, [("pcie-paths", "PHB, SYS")], LARGE, "no-direct-links 0.7"),
        (PCIE, 8, [("pcie-paths", "PHB, SYS")], LARGE, ""),  # whose design has none
        (DGX, 8, [], LARGE, ""),
    ],
    "topology_causes": [
        (DGX, 8, [("slow-pcie", "0.3")], LARGE, "wrong-topology 1.0"),
        (DGX, 8, [("environment", "NCCL_TOPO_FILE /topo.xml")], [(1024, 0.249)], "wrong-topology 0.7"),
        (DGX, 8, [("environment", "NCCL_GRAPH_FILE /graph.xml")], [(1024, 0.25)], "wrong-topology 0.4"),
        (DGX, 8, [("environment", "NCCL_DEBUG INFO")], LARGE, ""),
    ],
    "_slow_size": [
        (DGX, 32, [], [(1, 0.5), (2, 0.349), (4, 0.5)], "straggler 0.7"),
        (DGX, 32, [], [(1, 0.5), (2, 0.351), (4, 0.5)], ""),
        (DGX, 32, [], [(0.5, 0.5), (1, 0.1), (4, 0.5)], ""),  # the first of them is below 1 MiB
        (DGX, 32, [], [(1, 0.3), (2, 0.3), (4, 0.9)], ""),  # below their mean, and not below the smaller one
        (DGX, 32, [], EIGHTH, ""),
    ],
    "_small_messages": [
        (DGX, 32, [], [(255, 0.5)], "small-messages 0.7"),
        (DGX, 32, [], [(256, 0.5)], ""),
    ],
    "pair_causes": [  # links of 450 GB/s, of which 30 % are 135 GB/s
        (DGX, 8, [("slow-device", "GPU 3")], LARGE, "accelerator-fault 0.7"),
        (DGX, 8, [("slowest-pair", "135 GB/s")], LARGE, ""),
    ],
    "direction_error": [
        (DOUBLED.replace("STATED", "451"), 8, [], LARGE, "duplex-misreading 1.0"),  # more than 1.5 × 300 GB/s
        (DOUBLED.replace("STATED", "450"), 8, [], LARGE, ""),
        (DOUBLED.replace("STATED", "451"), 8, [], [(255, 0.5)], ""),
        (DOUBLED.replace("STATED", "100"), 8, [], [(1024, 0.66)], "duplex-misreading 0.3"),
        (DOUBLED.replace("STATED", "100"), 8, [], [(1024, 0.659)], ""),
        (DOUBLED.replace("STATED", "97"), 8, [], [(1024, 0.89)], "duplex-misreading 0.3"),
        (DOUBLED.replace("STATED", "96"), 8, [], [(1024, 0.89)], ""),
        (DOUBLED.replace("STATED", "100"), 8, [], [(1024, 0.91)], ""),  # as fast as expected
        (PCIE, 8, [], [(1024, 0.2)], ""),
    ],
}  # fmt: skip
ELSEWHERE = {"unequal_devices", "_wrong_results", "_separate_jobs", "messages_of_a_slow_run", "unreachable_peers"}
"""Checks with examples in `test_diagnosis`, `test_hangs`, `test_fresh_threads` and `test_unequal_devices`."""


def found_causes(name: str, case: Case) -> list[str]:
    check = next(each for each in (*ALWAYS, *CHECKS) if each.__name__ == name)
    return [f"{cause.name} {cause.weight}" for cause in check(run_of(case))]


NUMBERED = [(name, number) for name, cases in CASES.items() for number in range(len(cases))]


def test_every_check_has_a_run_that_it_names_and_one_that_it_does_not() -> None:
    assert {check.__name__ for check in (*ALWAYS, *CHECKS)} == {*CASES, *ELSEWHERE}
    for name, cases in CASES.items():
        assert any(case[-1] for case in cases), name
        assert name == "unstable_links" or not all(case[-1] for case in cases), name


@each(("name", "number"), NUMBERED)
def test_a_check_names_the_causes_of_a_run_with_their_weights(name: str, number: int) -> None:
    case = CASES[name][number]
    found = [key for key, _ in groupby(found_causes(name, case))]
    assert found == ([case[-1]] if case[-1] else [])


def test_the_evidence_of_a_duplex_figure_has_shares_of_both_figures() -> None:
    """90 GB/s of 600 GB/s are 15 %, of the 300 GB/s of the catalog 30 %; of twice 100 GB/s, 70 GB/s are 35 %."""
    stated = next(ALWAYS[2](run_of((DOUBLED.replace("STATED", "600"), 8, [], [(1024, 0.9)], ""))))
    assert "90 GB/s is 15 % of the first, 30 % of the second" in stated.evidence.replace("\xa0", " ")
    assert stated.next == "write `bandwidth: 600 GB/s duplex` under cluster.scale_up"
    summed = next(ALWAYS[2](run_of((DOUBLED.replace("STATED", "100"), 8, [], [(1024, 0.7)], ""))))
    told = summed.evidence.replace("\xa0", " ")
    assert told == "35 % of 200 GB/s, the sum of both directions, is 70 % of the 100 GB/s of one direction"
    assert summed.next == "clusterspec convert '200 GB/s duplex'"


# The part of a log that is searched


def _distinct_lines(count: int) -> list[str]:
    """Lines of 100 characters, each of other letters: neither digits nor a to f tell them apart."""
    letters = "ghijklmnopqrstuvwxyz"
    return ["".join(letters[n // 20**place % 20] for place in range(5)) * 20 for n in range(count)]


def test_a_log_with_many_different_lines_is_searched_at_its_ends_and_for_errors() -> None:
    lines = _distinct_lines(30_000)  # 3 MB: 5,000 lines at each end, 5,000 different ones, and errors
    lines[20_000] = "ValueError: a bad shape"
    text, left_out = searched_part("\n".join(lines))
    found = text.split("\n")
    assert len(found) == len(lines)
    assert all(line in ("", lines[number]) for number, line in enumerate(found))
    assert found[0] == lines[0] and found[-1] == lines[-1] and found[20_000] == "ValueError: a bad shape"
    assert found[15_000] == "" and left_out == found.count("") and 14_000 < left_out < 16_000


def test_lines_that_repeat_are_not_left_out() -> None:
    text = "\n".join(f"step {n} loss {n * 7}" for n in range(100_000))
    assert searched_part(text) == (text, 0)


@thorough
def test_repeated_lines_are_searched_up_to_a_limit() -> None:
    line = "[rank0]: CUDA error: no device " + "x" * 69
    text, left_out = searched_part("\n".join([line] * 80_000))
    kept = text.count("CUDA error")
    assert left_out == 0 and 38_000 < kept < 42_000  # 1 MB at the ends, 3 MB between them


@pytest.fixture
def short_limits(monkeypatch: pytest.MonkeyPatch) -> None:
    """A fifteenth of the characters is searched, so that a log of 2,000 lines exceeds it as one of 30,000 does."""
    for limit in ("AT_EACH_END", "MOST_DIFFERENT", "MOST_ALIKE", "MOST_OF_ERRORS"):
        monkeypatch.setattr(text_lines, limit, getattr(text_lines, limit) // 15)


@thorough
@pytest.mark.usefixtures("short_limits")
def test_a_cause_between_many_different_lines_is_named_with_its_line() -> None:
    lines = _distinct_lines(2_000)
    lines[1_333] = "[rank3]: RuntimeError: CUDA error: uncorrectable ECC error encountered"
    compared = read(PAIR, "\n".join(lines), 16)
    assert compared is not None
    assert names(compared)[:1] == ["accelerator-fault"] and compared.left_out > 930
    assert compared.causes[0].evidence.startswith("line 1334 of the log")


@pytest.mark.usefixtures("short_limits")
def test_a_refusal_says_how_many_lines_were_not_searched() -> None:
    with pytest.raises(FormatError, match=r"no line that was searched reports an error, and 1,0\d{2} were not"):
        read_log("log", "\n".join(_distinct_lines(2_000)).encode(), unfinished=True)
