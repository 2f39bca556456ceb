"""Causes that the words of a report suggest: scores, thresholds, and what is no report."""

from __future__ import annotations

from pathlib import Path

import pytest

from clusterspec.logs.reports.cause_terms import weights
from clusterspec.logs.reports.report_sentences import reported_fault
from clusterspec.logs.reports.worded_causes import (
    FEWEST,
    LEAST,
    MOST,
    NEAR,
    OF_A_REPORT,
    OF_DENIAL,
    PER_TERM,
    suspected_statements,
    worded_causes,
)
from tests.effort import thorough

DOCUMENTS = Path(__file__).resolve().parents[2] / "docs"


def _causes(text: str) -> list[str]:
    return [each.cause for each in worded_causes(text)]


def test_a_score_is_the_sum_of_weights_each_next_one_counting_less() -> None:
    found = worded_causes("It stops: the subnet has another security group and firewall.")[0]
    of_terms = sorted((weights()[each.term] for each in found.terms), reverse=True)
    assert len(of_terms) == 3
    expected = of_terms[0] + of_terms[1] / (1 + PER_TERM) + of_terms[2] / (1 + 2 * PER_TERM)
    assert found.cause == "unreachable-peer" and found.score == pytest.approx(expected, abs=1e-3)


def test_what_is_denied_is_taken_from_the_score() -> None:
    stated = worded_causes("It stops: the subnet has another security group.")[0]
    denied = worded_causes("It stops: the subnet has another security group. The firewall is fine.")[0]
    firewall = next(term for term in weights() if (term.cause, term.text) == (stated.cause, "firewall"))
    assert denied.score == pytest.approx(stated.score - OF_DENIAL * weights()[firewall], abs=1e-3)


def test_a_term_within_a_longer_one_counts_once() -> None:
    found = worded_causes("It is stuck in initialization of WORLD_SIZE=2 ranks, and terminates by its timeout.")
    texts = [each.term.text for each in found[0].terms]
    assert found[0].cause == "absent-ranks" and len({each.term.words for each in found[0].terms}) == len(texts)


def test_causes_near_the_best_one_are_named_with_it_and_few_of_all() -> None:
    for text in ("It hangs: IOMMU, ACS, the BIOS, NVLink, RTX 4090, driver, p2p, NCCL_P2P_DISABLE, fabric manager",):
        found = worded_causes(text)
        assert found and len(found) <= MOST and all(each.score >= max(FEWEST, NEAR * found[0].score) for each in found)


@pytest.mark.parametrize(
    "text",
    ["Training is slow.", "It hangs on two RTX 4090 of a Threadripper workstation.", "The job crashes on node 7."],
)
def test_symptoms_and_hardware_alone_name_nothing(text: str) -> None:
    assert _causes(text) == []


def test_one_term_names_a_cause_only_where_none_has_more() -> None:
    alone = worded_causes("Training stops in the sampler.")
    assert [each.cause for each in alone] == ["ranks-diverge"] and LEAST <= alone[0].score < FEWEST
    beside = worded_causes("Training stops in the sampler. The subnet has another security group.")
    assert [each.cause for each in beside] == ["unreachable-peer"]
    assert [name for name, _, _ in suspected_statements("Our training stops in the sampler.")][1:] == [
        "hinted ranks-diverge"
    ]


HEALTHY = (
    "What are IMEX channels in Multi-Node NVLink? I read that one is needed for a fabric handle.",
    "Does UCX support TCPX? Are there suggestions for a configuration of GPUDirect-TCPX?",
    "All nodes reach 370 GB/s, and ib_write_bw 392 Gb/s on all ports. PFC and ECN are configured. We start on Monday.",
    "How does NCCL choose its interface if neither NCCL_SOCKET_IFNAME nor NCCL_IB_HCA is set?",
    "We upgraded the driver from 550.54 to 570.86 and NCCL from 2.21.5 to 2.25.1. Throughput went up by 4 %.",
    "If the run hangs, set NCCL_SOCKET_IFNAME. ACS should be off where accelerators send over PCIe.",
    "We exchange two spine switches and update the firmware of all NICs on Thursday. The queue opens again at 14:00.",
    "This adds an example of torchrun with --nnodes=2 and a rendezvous endpoint, tested on InfiniBand.",
    "Is adaptive routing needed with NCCL_IB_QPS_PER_CONNECTION=4, or is the entropy of UDP source ports enough?",
    "Training of the 70B model goes on at 41 % MFU. No Xid, no link flaps, no preemptions.",
    "The launcher now calls numactl with the cores of the socket. Benchmarks on two nodes are the same as before.",
    "n:1:1 [0] NCCL INFO Bootstrap : Using eth0:10.0.0.1<0>\nn:1:1 [0] NCCL INFO Using network IB",
    "Failed to create pod sandbox: rpc error of containerd",
    "ptxas fatal   : PTX .version 7.4 does not support .target sm_89",
)


@pytest.mark.parametrize("text", HEALTHY)
def test_what_reports_no_fault_is_suspected_of_nothing(text: str) -> None:
    assert list(suspected_statements(text)) == []


@pytest.mark.parametrize(
    "sentence",
    [
        "With 4 nodes it hangs at the first step.",
        "The bandwidth between two of the nodes is only 3 GB/s.",
        "Moving a tensor from one GPU to another gives wrong values.",
        "On the second node the training never starts.",
        "两台机器之间的训练进程一直无法连接",
        "Error occurred during num_nodes=2",
        "Why does it hang with 4 GPUs?",
        "We see a third of the rate of the NIC.",
        "With my image the test returns False.",
        "Training of the run was much slower than expected.",
        "The pods of the worker are in a crashloop.",
    ],
)
def test_a_sentence_of_a_person_reports_a_fault(sentence: str) -> None:
    assert reported_fault(f"Hello!\n{sentence}\n") == (sentence, 2)


@pytest.mark.parametrize(
    "line",
    [
        " iteration 9/ 20 | skipped iterations of the run: 0 | nan iterations of it: 0 |",  # a row of a table
        "Gradients cross PCIe at a third of the rate.",  # nobody reports it
        "Does a transfer that fails run again?",
    ],
)
def test_a_row_a_figure_of_nobody_and_a_question_report_no_fault(line: str) -> None:
    assert reported_fault(line) is None


def test_the_statements_name_terms_with_their_lines_after_the_sentence() -> None:
    found = list(suspected_statements("It stops between the nodes.\nThe subnet has another\nsecurity group."))
    assert found[0] == (OF_A_REPORT, "It stops between the nodes.", 1)
    name, shown, line = found[1]
    assert (name, line) == ("suspected unreachable-peer", 3) and "“subnet” (line 2)" in shown


def test_topics_name_a_cause_only_in_a_text_that_tells_of_a_case() -> None:
    general = list(suspected_statements("A job fails at the firewall of a site."))
    assert [name for name, _, _ in general] == [OF_A_REPORT]
    case = list(suspected_statements("Our job fails at the firewall of a site."))
    assert [name.partition(" ")[2] for name, _, _ in case[1:]] == ["unreachable-peer"]


def test_a_subject_names_no_cause_alone() -> None:
    assert _causes("Our run fails with bf16.") == []
    assert "non-finite-values" in _causes("Our run fails with bf16 after the loss scale overflows.")


@thorough
def test_few_paragraphs_of_the_documents_are_suspected() -> None:
    pages = sorted(DOCUMENTS.glob("rules/*.md"))[::9]
    paragraphs = [each for page in pages for each in page.read_text(encoding="utf-8").split("\n\n") if len(each) > 200]
    suspected = sum(len(list(suspected_statements(each))) > 1 for each in paragraphs)
    assert len(paragraphs) > 100 and suspected <= 0.05 * len(paragraphs)
