"""Causes that no line of an undecided log names, and that end in the same lines."""

from __future__ import annotations

import pytest

from clusterspec.analysis.diagnosis.cause_meanings import MEANINGS
from clusterspec.analysis.diagnosis.open_causes import BETWEEN_NODES, ENDS_ALIKE, MOST, SAME_END, UNKNOWN
from clusterspec.results.diagnosis import LIKELY
from tests.analysis.test_diagnosis import names
from tests.analysis.test_program_lines import H100, PAIR, read

TIMEOUT = (
    "[rank1]:[E1 ProcessGroupNCCL.cpp:616] [Rank 1] Watchdog caught collective operation timeout: WorkNCCL(SeqNum=7, "
    "OpType=ALLREDUCE, NumelIn=1, NumelOut=1, Timeout(ms)=1800000) ran for 1800057 milliseconds before timing out."
)


def alike(machine: str, text: str, ranks: int) -> list[str]:
    """The causes that end like those of a text."""
    compared = read(machine, text, ranks)
    assert compared is not None
    assert all(each.weight == SAME_END < LIKELY and "line " in each.evidence for each in compared.alike)
    return [each.name for each in compared.alike]


def test_every_cause_that_ends_alike_is_described_and_another_one() -> None:
    for end, others in ENDS_ALIKE.items():
        found = [name for name, _ in others]
        assert set(found) <= set(MEANINGS) and end not in found
        assert len(found) == len(set(found)) and all(step for _, step in others)
    assert set(ENDS_ALIKE) - {UNKNOWN} <= set(MEANINGS)


def test_a_timeout_has_the_causes_of_its_nodes() -> None:
    between = alike(PAIR, TIMEOUT, 16)
    assert "peer-ended" in between and "storage-full" in between
    within = alike(H100, TIMEOUT, 8)
    assert "storage-fault" in within and not BETWEEN_NODES & set(within)


@pytest.mark.parametrize(
    "text", [TIMEOUT, "RuntimeError: unspecific", "The actor died unexpectedly before finishing this task"]
)
def test_an_undecided_log_names_few_causes_and_each_once(text: str) -> None:
    compared = read(PAIR, text, 16)
    assert compared is not None and not compared.is_decided
    together = [*names(compared), *(each.name for each in compared.alike)]
    assert len(together) == len(set(together)) <= MOST


def test_an_error_of_no_known_cause_may_be_the_programs_or_a_releases() -> None:
    assert alike(PAIR, "RuntimeError: unspecific", 16) == ["program-error", "library-release", "invalid-setting"]


def test_the_end_of_another_rank_decides_nothing() -> None:
    text = "ray.exceptions.ActorDiedError: The actor died unexpectedly before finishing this task."
    compared = read(PAIR, text, 16)
    assert compared is not None and names(compared) == ["peer-ended"] and compared.causes[0].is_likely
    assert not compared.is_decided
    assert alike(PAIR, text, 16)[0] == "host-memory-full"


@pytest.mark.parametrize(
    "text",
    [
        "RuntimeError: Address already in use",
        "[9.1] NVRM: Xid (PCI:0000:1b:00): 79, GPU has fallen off the bus.",
        f"{TIMEOUT}\nRuntimeError: Address already in use",
    ],
)
def test_a_decided_log_names_no_others(text: str) -> None:
    compared = read(PAIR, text, 16)
    assert compared is not None and compared.is_decided and compared.alike == ()
