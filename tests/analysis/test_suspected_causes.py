"""Suspicions by wording: where they are named, what they weigh, and what comes before them."""

from __future__ import annotations

import pytest

from clusterspec.analysis.diagnosis.cause_meanings import MEANINGS
from clusterspec.analysis.diagnosis.collectives import read_log
from clusterspec.analysis.diagnosis.reason_causes import NEXT_OF_REASONS
from clusterspec.analysis.diagnosis.suspected_causes import FOLLOWING, HINT, LEADING
from clusterspec.exchange.import_result import FormatError
from clusterspec.logs.reports.cause_terms import terms
from clusterspec.results.diagnosis import ComparedCollective
from tests.analysis.test_diagnosis import names
from tests.analysis.test_program_lines import H100, PAIR, PCIE, read

NETWORK = "Training over both of the nodes is stuck.\nThey are in two subnets. The security group of one is new.\n"


def _compared(machine: str, text: str, ranks: int = 16) -> ComparedCollective:
    found = read(machine, text, ranks)
    assert found is not None
    return found


def test_a_suspicion_leads_sentences_that_name_no_reason() -> None:
    found = _compared(PAIR, NETWORK)
    first = found.causes[0]
    assert (first.name, first.weight) == ("unreachable-peer", LEADING) and not found.is_decided
    assert "suspected by wording, nothing in the input decides: “security group”" in first.evidence and first.next


def test_a_suspicion_follows_what_a_program_prints() -> None:
    line = "nixl_agent.cpp:359] createBackend: backend 'UCX' encountered an error with status NIXL_ERR_BACKEND\n"
    found = _compared(PAIR, "Training is stuck on both of the hosts. The driver was upgraded to 570.1.\n" + line)
    weights = {each.name: each.weight for each in found.causes}
    assert weights["driver-release"] == FOLLOWING and found.causes[0].name != "driver-release"


def test_a_suspicion_is_not_named_beside_a_likely_cause() -> None:
    found = _compared(PAIR, NETWORK + "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB.\n")
    assert names(found) == ["memory-full"]


def test_causes_between_nodes_are_not_suspected_on_one() -> None:
    assert "unreachable-peer" not in names(_compared(H100, NETWORK, 8))


def test_causes_of_direct_links_are_not_suspected_where_the_design_has_none() -> None:
    report = "Moving a tensor from one GPU to another one corrupts its values, also without the NVLink bridges.\n"
    assert "no-direct-links" in names(_compared(H100, report, 8))
    assert names(_compared(PCIE, report, 4))[0] == "acs"


@pytest.mark.parametrize(
    ("report", "line", "cause"),
    [
        (
            "Our nodes are slow, at half line rate, without GDRDMA",
            "n:1:2 [0] NCCL INFO {} via NET/IB/0/GDRDMA",
            "gpudirect-off",
        ),
        ("The ranks hang, with node_rank and nnodes set", "n:1:2 [0] NCCL INFO 24 coll channels, {}", "absent-ranks"),
        ("It is slow: no NVLink, NVLink inactive", "GPU0\t X \tNV18\tPIX\nGPU1\tNV18\t X \tSYS\n{}", "no-direct-links"),
    ],
)
def test_a_cause_that_a_line_contradicts_is_not_suspected(report: str, line: str, cause: str) -> None:
    assert cause in names(_compared(PAIR, f"We see a fault. {report}.\n"))
    shown = read(PAIR, f"We see a fault. {report}.\n{line.format('0 p2p channels')}\n", 16)
    assert shown is None or cause not in names(shown)


def test_a_plugin_is_not_suspected_where_the_library_has_the_network_built_in() -> None:
    report = "We see low bandwidth in our own image: aws-ofi-nccl and libnccl-net.\n"
    assert "plugin-missing" in names(_compared("{platform: aws-p5-48xlarge, nodes: 2}", report))
    found = read(PAIR, report, 16)
    assert found is None or "plugin-missing" not in names(found)


def test_a_suspicion_by_few_words_weighs_less_than_one_by_several() -> None:
    found = _compared(PAIR, "Our training stops in the sampler.\n")
    assert (found.causes[0].name, found.causes[0].weight) == ("ranks-diverge", HINT)
    assert "suspected by few words" in found.causes[0].evidence and HINT < LEADING


def test_what_was_tried_in_vain_weighs_less_than_other_suspicions() -> None:
    report = "simpleP2P fails on the two cards of this host, with ACS and the IOMMU (amd_iommu) on.\n"
    tried = _compared(PCIE, f"{report}Turning off ACS did not help.\n", 4)
    weights = {each.name: each.weight for each in tried.causes}
    assert weights["acs"] < weights["iommu-translation"]


def test_a_report_in_prose_alone_is_read_and_a_question_is_refused() -> None:
    assert read_log("a.txt", NETWORK.encode(), unfinished=True).evidence
    with pytest.raises(FormatError):
        read_log("a.txt", b"Which security group do nodes of two subnets need?\n", unfinished=True)


def test_a_report_without_a_known_cause_is_refused_with_its_sentence() -> None:
    with pytest.raises(FormatError, match="line 1 reports a fault"):
        read_log("a.txt", b"It never ends on the first of our days.\n", unfinished=True)


def test_every_cause_with_terms_has_a_meaning_and_every_new_cause_a_next_step() -> None:
    assert {each.cause for each in terms()} <= set(MEANINGS)
    assert {"no-direct-links", "concurrent-communicators"} <= set(NEXT_OF_REASONS)


MATRIX = "\tGPU0\tGPU1\tNIC0\nGPU0\t X \tPHB\tPIX\nGPU1\tPHB\t X \tSYS\n"


def test_paths_over_pcie_contradict_a_design_with_direct_links() -> None:
    slow = "Fine-tuning on these two cards is very slow.\n"
    assert names(_compared(H100, slow + MATRIX, 2)) == ["no-direct-links"]
    linked = read(H100, slow + MATRIX.replace("\tPHB", "\tNV18"), 2)
    assert linked is None or "no-direct-links" not in names(linked)
    over_pcie = read(PCIE, slow + MATRIX, 2)
    assert over_pcie is None or "no-direct-links" not in names(over_pcie)


@pytest.mark.parametrize(
    "told",
    [
        "With NCCL_LAUNCH_ORDER_IMPLICIT=1 it works.",
        "It turned out that two communicators run at the same time and deadlock.",
    ],
)
def test_collectives_of_several_communicators_that_wait_for_each_other_are_named(told: str) -> None:
    assert names(_compared(PAIR, f"The training hangs after some steps.\n{told}\n"))[0] == "concurrent-communicators"
