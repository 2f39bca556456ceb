"""Causes that sentences give, remedies of training on NVIDIA's accelerators, and facts that reweigh other causes."""

from __future__ import annotations

import pytest

from clusterspec.analysis.diagnosis.collectives import diagnosis_of
from clusterspec.analysis.diagnosis.placed_runs import LogOverrides
from clusterspec.analysis.diagnosis.reason_causes import WEIGHTS, next_step
from clusterspec.analysis.diagnosis.trial_causes import HELPING
from clusterspec.logs.benchmarks.readers import read_benchmark
from clusterspec.logs.reports.stated_reasons import FACTS, GUESSED, REASONS, SEEN, SURE
from clusterspec.results.diagnosis import ComparedCollective
from tests.analysis.test_diagnosis import DGX, cluster, diagnosed, log, names
from tests.analysis.test_program_lines import PAIR, PCIE, read

HANG = "The training hangs on two nodes.\n"


def compared(machine: str, text: str) -> ComparedCollective:
    found = read(machine, text, 16 if machine == PAIR else 4)
    assert found is not None
    return found


@pytest.mark.parametrize(
    ("machine", "text", "cause"),
    [
        (PAIR, "It turned out that a cable was bad.", "unstable-link"),
        (PCIE, "It is caused by the IOMMU.", "iommu-translation"),
        (PCIE, "The workaround is num_workers=0.", "data-loading"),
        (PAIR, "Problem solved. I deleted the environment and installed it again.", "library-release"),
        (PAIR, "The solution was to use\nexport NCCL_SOCKET_IFNAME=eth0", "wrong-interface"),
        (PCIE, "I overcame that by modprobe nvidia_uvm on the host", "driver-release"),
        (PCIE, "It works with driver 570", "driver-release"),
        (PAIR, "When I take one NIC down, it works.", "nic-fault"),
        (PAIR, "NCCL picks the wrong interface.", "wrong-interface"),
        (PAIR, "It fails in 2.17.1 and 2.18.x but not in 2.16.5", "library-release"),
        (PCIE, "Both NCCL_SHM_DISABLE=1 and NCCL_P2P_DISABLE=1 individually fix the problem.", "acs"),
    ],
)
def test_a_reason_or_a_remedy_that_helped_is_first(machine: str, text: str, cause: str) -> None:
    assert names(compared(machine, HANG + text))[0] == cause


def test_a_reason_weighs_by_how_sure_it_is() -> None:
    texts = ("It is caused by the firewall.", "We cannot ping the other node.", "I think it is due to the firewall.")
    weights = [
        next(each.weight for each in compared(PAIR, HANG + text).causes if each.name == "unreachable-peer")
        for text in texts
    ]
    assert weights == sorted(weights, reverse=True)
    assert all(given >= WEIGHTS[sure] for given, sure in zip(weights, (SURE, SEEN, GUESSED), strict=True))


def test_one_node_has_no_reason_between_nodes() -> None:
    assert "unreachable-peer" not in names(compared(PCIE, "It hangs. It is caused by the firewall."))


def test_flows_that_share_paths_are_named_of_a_slow_run_alone() -> None:
    said = "Enabling NCCL_IB_ADAPTIVE_ROUTING=1 raised the bus bandwidth by 70%."
    assert names(diagnosed(DGX, log(DGX, 32, before=said, scale=0.4)))[0] == "shared-paths"
    assert not names(diagnosed(DGX, log(DGX, 32, before=said)))


def test_a_remedy_of_any_command_is_not_in_vain_where_a_run_fails_with_it() -> None:
    said = "With CUDA_VISIBLE_DEVICES=0,1 the run fails, as all ranks use GPU 0."
    assert names(compared(PCIE, said))[0] == "shared-accelerator"


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


@pytest.mark.parametrize(("reached", "verdict"), [("11792.73", "expected"), ("6011.20", "slow")])
def test_a_test_of_one_link_has_many_messages_in_flight(reached: str, verdict: str) -> None:
    head = "#bytes     #iterations    BW peak[MB/sec]    BW average[MB/sec]   MsgRate[Mpps]\n"
    benchmark = read_benchmark(f"{head} 65536      1000             {reached}            {reached}             0.09\n")
    fabric = "{technology: infiniband-edr, nics_per_node: 1, switch_ports: 36}"
    node = "accelerator: v100-sxm-32gb, accelerators_per_node: 1, scale_up: {topology: pcie, domain: 1}"
    machine = cluster(f"{{{node}, nodes: 2, scale_out: {fabric}}}")
    found = diagnosis_of(machine, [("a.log", benchmark)], LogOverrides(None, 2)).compared[0]
    assert found.verdict == verdict  # open-mpi/ompi issue 6888
    assert not {"small-messages", "socket-fall-back", "gpudirect-off"} & set(names(found))


def test_every_cause_of_a_sentence_has_its_step() -> None:
    named = {cause for cause, _ in (*REASONS, *FACTS)}
    assert all(next_step(name) for name in named)
    assert {"shared-paths", "core-binding"} <= {name for causes, _ in HELPING.values() for name, _ in causes}
