"""Sentences about changes and their outcomes: what they report, and what advice, questions and logs do not."""

from __future__ import annotations

import pytest

from clusterspec.logs.reported_changes import change_statements, is_sentence, reported_hang


def changes(text: str) -> set[str]:
    """The changes and outcomes that a text reports."""
    return {name.removeprefix("change ") for name, _, _ in change_statements(text)}


@pytest.mark.parametrize(
    ("text", "reported"),
    [
        ("With NCCL_P2P_DISABLE=1 it works.", {"no-peer-access helped"}),
        ("It hangs unless NCCL_P2P_DISABLE=1 is set.", {"no-peer-access helped"}),
        ("The problem persists with NCCL_P2P_DISABLE=1.", {"no-peer-access unchanged"}),
        ("I set NCCL_IB_DISABLE=1 but it did not help.", {"no-rdma unchanged"}),
        ("Tried NCCL_IB_DISABLE=1. Still hangs.", {"no-rdma unchanged"}),
        ("- NCCL_IB_DISABLE=1: works\n- NCCL_P2P_DISABLE=1: hangs", {"no-rdma helped", "no-peer-access unchanged"}),
        ("Disabling the firewall solved it.", {"firewall helped"}),
        ("After disabling ACS we were able to run the test", {"acs helped"}),
        ("`iommu=soft` resolves the issue without disabling P2P.", {"iommu helped"}),
        ("This solved it:\n```\nexport NCCL_IB_GID_INDEX=3\n```", {"gid helped"}),
        ("I overcame that on the host: sudo modprobe nvidia_uvm", {"unified-memory helped"}),
        ("If I unset NCCL_TOPO_FILE it works.", {"topology-file harmed"}),
        ("It hangs since I updated the driver to 545.23.08.", {"driver began"}),
        ("After upgrading the driver it still hangs", {"driver unchanged"}),
        ("I reverted to 535.154.05 and now everything works normally.", {"driver helped"}),
        ("After changing the NCCL version to 2.7.8 the hang is gone.", {"nccl-release helped"}),
        ("We replaced the cable of mlx5_3 and the bandwidth recovered.", {"exchanged-cable helped"}),
        ("Issue doesn't happen with num_workers=0.", {"no-workers helped"}),
        ("设置了 NCCL_P2P_DISABLE=1 还是报错", {"no-peer-access unchanged"}),
    ],
)
def test_a_sentence_reports_a_change_and_its_outcome(text: str, reported: set[str]) -> None:
    assert changes(text) == reported


@pytest.mark.parametrize(
    "text",
    [
        "You may want to set NCCL_P2P_DISABLE=1 to see if it works.",
        "Can you try with NCCL 2.14.3?",
        "Please try NCCL_IB_DISABLE=1, which helped others.",
        "Note: set NCCL_P2P_DISABLE=1 if your GPUs do not support P2P.",
        "n1:2:2 [0] NCCL INFO NCCL_P2P_DISABLE set by environment to 1.",
        "[rank0]: it works with NCCL_P2P_DISABLE=1",
        "export NCCL_P2P_DISABLE=1",
        "RuntimeError: NCCL_IB_DISABLE=1 did not work",
        "Works fine with CUDA_VISIBLE_DEVICES=0,1",
        "NCCL_P2P_DISABLE=1 works.\nLater: with NCCL_P2P_DISABLE=1 it hangs again.",  # both outcomes decide nothing
        "Set NCCL_IB_DISABLE=1 everywhere.\n\n\n\n\nIt works.",  # too far apart
    ],
)
def test_advice_questions_and_lines_of_programs_report_no_change(text: str) -> None:
    assert not changes(text)


def test_the_outcome_is_shown_with_its_line() -> None:
    assert list(change_statements("a\nb\nWith NCCL_SHM_DISABLE=1 it works.")) == [
        ("change no-shared-memory helped", "With NCCL_SHM_DISABLE=1 it works.", 3)
    ]


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("It trains.\nWith two nodes the training hangs.", 2),
        ("The process gets stuck randomly after some steps.", 1),
        ("If it hangs, set NCCL_DEBUG=INFO.", None),
        ("It does not hang with one node.", None),
        ("[rank0]: watchdog thread is stuck", None),
    ],
)
def test_a_hang_is_reported_by_a_sentence_that_is_no_condition(text: str, line: int | None) -> None:
    found = reported_hang(text)
    assert (found[1] if found else None) == line


@pytest.mark.parametrize(
    ("line", "sentence"),
    [
        ("We run it on two nodes", True),
        ("Sep  1 10:00:00 n1 kernel: it works with it", False),
        ("2026-01-01 10:00:00 it works with it", False),
        ("(raylet) worker works with memory", False),
        ("  Caused by: a network is disabled", False),
    ],
)
def test_a_line_of_a_program_is_no_sentence(line: str, sentence: bool) -> None:
    assert is_sentence(line) is sentence
