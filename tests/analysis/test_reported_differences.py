"""Causes that a difference in a report shows: another release under a plugin, a container without an adapter."""

from __future__ import annotations

import pytest

from clusterspec.analysis.diagnosis.collectives import diagnosis_of, read_log
from clusterspec.analysis.diagnosis.placed_runs import LogOverrides
from clusterspec.logs.reports.outcomes import outcome_of
from clusterspec.logs.reports.report_sentences import reported_fault
from tests.analysis.test_diagnosis import cluster, names

TWO = "{platform: dgx-h100, nodes: 2}"
ONE = "{platform: dgx-h100, nodes: 1}"
PLUGIN = "Last error:\nNET/FastPath failed to connect its sockets"
"""The last error of a network plugin of any name."""


def causes_of(text: str, machine: str) -> list[str]:
    """The causes of a text on a machine, the likeliest first."""
    read = read_log("a.log", text.encode(), unfinished=True)
    (found,) = diagnosis_of(cluster(machine), [("a.log", read)], LogOverrides(None, 8)).compared
    return names(found)


def test_a_plugin_that_fails_after_another_release_of_the_library_does_not_fit_it() -> None:
    found = causes_of(f"With PyTorch 2.1 it works between our nodes, with PyTorch 2.5 it fails.\n{PLUGIN}", TWO)
    assert found[0] == "plugin-mismatch" and "library-release" in found


@pytest.mark.parametrize("last", ["", "Last error:\nNET/IB failed to connect", "Last error:\nNET/Socket error"])
def test_a_built_in_network_is_no_plugin(last: str) -> None:
    found = causes_of(f"With PyTorch 2.1 it works between our nodes, with PyTorch 2.5 it fails.\n{last}", TWO)
    assert found[0] == "library-release" and "plugin-mismatch" not in found[:1]


@pytest.mark.parametrize(
    "sentence",
    [
        "We see EFA on the instance, but our jobs do not find it in the container: no provider.",
        "ibv_devinfo on the host lists four ports, nothing in our pod, and the job fails.",
        "The test fails: nothing is listed in the container, while we have four HCAs on the host.",
    ],
)
def test_an_adapter_that_only_the_host_has_is_not_given_to_the_container(sentence: str) -> None:
    assert causes_of(sentence, TWO)[0] == "container-permission"


def test_an_adapter_that_the_container_has_too_is_given_to_it() -> None:
    found = causes_of("The HCAs of the host are all in our container, and yet the job fails with two nodes.", TWO)
    assert "container-permission" not in found


@pytest.mark.parametrize(
    ("transports", "named"),
    [
        ("tcp,cuda_copy,cuda_ipc", True),
        ("cuda_copy,tcp", True),
        ("rc,tcp,cuda_copy", False),
        ("tcp,rc_x,cuda_ipc", False),
        ("all", False),
    ],
)
def test_transports_without_rdma_leave_sockets(transports: str, named: bool) -> None:
    text = f"Our two nodes are slow with UCX.\nexport UCX_TLS={transports}"
    read = read_log("a.log", text.encode(), unfinished=True)
    assert ("tcp-transports" in [each.name for each in read.evidence]) is named


@pytest.mark.parametrize(
    ("clause", "outcome"),
    [
        ("we are working on an upgrade to PyTorch 2.5", ""),
        ("I was working through the release notes of NCCL 2.21", ""),
        ("with PyTorch 2.1 it is working", "helped"),
        ("we have a working setup with NCCL 2.18", "helped"),
    ],
)
def test_work_in_progress_is_no_success(clause: str, outcome: str) -> None:
    assert outcome_of(clause) == outcome


@pytest.mark.parametrize(
    "sentence",
    [
        "The machine switches off as soon as both cards are under load.",
        "Two cards are no faster than one of them.",
        "The training is suspended for a minute at each save.",
        "The GPUs of our job starve.",
        "[Bug]: Error on start of the executor",
    ],
)
def test_a_machine_that_turns_off_and_a_run_that_pauses_are_faults(sentence: str) -> None:
    assert reported_fault(sentence) is not None


@pytest.mark.parametrize(
    ("report", "cause"),
    [
        ("Our PC turns off when we train on both GPUs, its power supply has 750 W.", "power-supply"),
        ("Our job pauses every 200 steps, when it saves the checkpoint, and is slow.", "periodic-pauses"),
        ("We use a riser, its link is Gen1 x1, and our copies from the host are slow.", "wrong-pcie-generation"),
    ],
)
def test_words_name_supplies_pauses_and_slots(report: str, cause: str) -> None:
    assert causes_of(report, ONE)[0] == cause


@pytest.mark.parametrize("card", ["InfiniBand card", "HCA card", "network card", "RDMA device"])
def test_a_card_of_a_network_is_no_accelerator(card: str) -> None:
    found = causes_of(f"On some of our nodes the {card} is broken, and jobs of several nodes fail.", TWO)
    assert "nic-fault" in found and "accelerator-fault" not in found[:1]
