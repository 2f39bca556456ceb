"""Sentences with a reason: the cause they name, and those that deny one or ask for it."""

from __future__ import annotations

import pytest

from clusterspec.logs.reports.stated_reasons import MOST, REASONS, reason_statements


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("The problem originates from a hostname that the others cannot resolve.", "name-resolution sure"),
        ("It was a firewall issue.", "unreachable-peer sure"),
        ("Root cause: IOMMU enabled in BIOS", "iommu-translation sure"),
        ("It turned out that one node had a broken GPU.", "accelerator-fault sure"),
        ("I think it is due to a mismatch of versions between the nodes.", "mixed-releases guessed"),
        ("This is because the dataset has a different number of batches on each rank.", "ranks-diverge sure"),
        ("Turned out the PCIe link was degraded to x8.", "wrong-pcie-generation sure"),
        ("The low bandwidth was caused by ECMP hash collisions.", "shared-paths sure"),
    ],
)
def test_a_sentence_names_the_cause_after_the_words_of_a_reason(text: str, reason: str) -> None:
    assert [name.removeprefix("reason ") for name, _, _ in reason_statements(text)] == [reason]


@pytest.mark.parametrize(
    "text",
    [
        "Is this caused by the firewall?",
        "It is not due to the firewall.",
        "We ruled out that the firewall is the cause: it is unrelated.",
        "The firewall is off.",
        "This is because the cross entropy loss is a sum.",
        "We reboot the server every week.",
        "Tried rebooting the system, but it still doesn't work.",
        "NCCL 2.19.4 has support for it.",
        "error: it failed because the firewall blocks it",
        "[rank0]: because of the firewall",
    ],
)
def test_a_question_a_denial_and_a_line_of_a_program_name_no_reason(text: str) -> None:
    assert not list(reason_statements(text))


@pytest.mark.parametrize(
    ("text", "cause"),
    [
        ("nvidia-smi shows that the rank-0 GPU consumes extra memory compared with others.", "shared-accelerator"),
        ("/dev/nvidia-uvm and /dev/nvidia-uvm-tools are missing in the container", "driver-release"),
        ("Each node's hostname is only resolvable locally on that node.", "name-resolution"),
        ("It selects another IP on the main node.", "wrong-interface"),
        ("The second node cannot ping the master node.", "unreachable-peer"),
        ("Every rank has a different number of batches.", "ranks-diverge"),
        ("Most of the time it is waiting for data.", "data-loading"),
        ("In training the GPU works for 5 s, then waits 11 seconds for the Dataloader.", "data-loading"),
        ("The slurm step only exposes 2 CPUs to the job.", "core-binding"),
        ("os.sched_getaffinity(0) of each process is {0}", "core-binding"),
        ("It runs single-threaded under the launcher's default OMP_NUM_THREADS=1.", "host-bound"),
        ("Each worker starts its own pool, so the machine gets oversubscribed.", "host-bound"),
        ("The cost of communication outweighs the parallel compute of smaller models.", "small-work"),
        ("The CPU of the engine is maxed at 100%, but the GPU varies between 50 and 70%.", "host-bound"),
        ("The Python GIL prevents the use of more than one core per process.", "host-bound"),
        ("It runs 4 times slower with --cpu-quota=100000 here.", "core-binding"),
        ("Half of the ranks are left with zero tokens in each step.", "uneven-work"),
        ("At 175 W the run is limited by power and clocks.", "throttled-clocks"),
        ("You are likely bound by PCIe bandwidth here.", "no-direct-links"),
        ("nvidia-smi nvlink says <inactive> on both", "no-direct-links"),
        ("Images have many sizes, which leads to heterogeneous workloads.", "uneven-work"),
        ("We saw that NCCL uses TCP sockets on this cluster.", "socket-fall-back"),
        ("The job moves data back and forth under its limited memory.", "host-memory-full"),
        ("Saving the checkpoint takes 20 minutes.", "storage-fault"),
        ("The clocks of one GPU drop to 210 MHz.", "throttled-clocks"),
        ("lspci shows the link at x8 instead of x16.", "wrong-pcie-generation"),
        ("It happens with plugin 1.19.2 and 1.20.0, and not with plugin 1.4.0.", "library-release"),
        ("NCCL 2.19.4 has a performance regression.", "release-fault"),
        ("driver 560.35 introduces a deadlock of peers", "driver-release"),
        ("UCX 1.18.0 shows a leak in our runs", "library-release"),
        ("It crashes and reboots the server.", "power-supply"),
        ("After some steps our machine suddenly turns off.", "power-supply"),
    ],
)
def test_a_fact_that_people_see_is_of_its_cause(text: str, cause: str) -> None:
    assert [name for name, _, _ in reason_statements(text)] == [f"reason {cause} seen"]


@pytest.mark.parametrize(
    "text",
    [
        "GPU 0 has more memory than we need.",
        "/dev/nvidia-uvm is there",
        "The second node can ping the master node.",
        "All ranks have the same number of batches.",
        "Saving the checkpoint takes 20 seconds.",
        "The clocks of all GPUs are at 1980 MHz.",
        "The link is PCIe gen 5 x16.",
        "It happens with plugin 1.19.2 and 1.20.0, and with plugin 1.4.0.",
    ],
)
def test_a_sound_fact_is_of_no_cause(text: str) -> None:
    assert not list(reason_statements(text))


def test_a_cause_is_given_once_and_few_sentences_are_read() -> None:
    text = "It is caused by the firewall.\n" * 3
    assert len(list(reason_statements(text))) == 1
    nothing = "It stopped because of what we do not see.\n" * MOST
    assert not list(reason_statements(f"{nothing}It is caused by the firewall."))


def test_the_more_specific_reason_comes_first() -> None:
    causes = [cause for cause, _ in REASONS]
    assert causes.index("mixed-releases") < causes.index("library-release") < len(causes) - 1
