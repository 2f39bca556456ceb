"""Logs of several ranks of one run: the log whose ranks failed first is listed first, in any order of the files."""

from __future__ import annotations

from itertools import permutations

import pytest

from clusterspec.analysis.diagnosis.collectives import Logs, diagnosis_of, read_log
from clusterspec.analysis.diagnosis.consequences import FOLLOWS
from clusterspec.analysis.diagnosis.placed_runs import LogOverrides
from clusterspec.logs.statements.first_failures import ending_of
from clusterspec.logs.statements.unfinished import read_unfinished
from clusterspec.results.diagnosis import LIKELY, ComparedCollective
from tests.analysis.test_diagnosis import cluster
from tests.analysis.test_program_lines import PAIR
from tests.effort import sampled, telling

WATCHDOG = (
    "[rank1]:[E1019 08:31:39.5 ProcessGroupNCCL.cpp:632] [Rank 1] Watchdog caught collective operation timeout: "
    "WorkNCCL(SeqNum=42, OpType=ALLREDUCE, NumelIn=1, NumelOut=1, Timeout(ms)=600000) ran for 600007\n"
)
SYMPTOMS = (
    WATCHDOG,
    "h:7:8 [0] misc/socket.cc:49 NCCL WARN socketProgress: Connection closed by remote peer h2<51159>\n",
    "torch.distributed.DistBackendError: NCCL error in: NCCLUtils.hpp:268, remote process exited or there was a "
    "network error, NCCL version 2.21.5\n",
    "RuntimeError: [gloo/transport/tcp/pair.cc:534] Connection closed by peer [10.0.0.2]:1\n",
)
CAUSES = (
    ("torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB\n", "memory-full"),
    ("OSError: [Errno 28] No space left on device: '/scratch/step_10'\n", "storage-full"),
    ("[ 99.1] NVRM: Xid (PCI:0000:44:00): 79, GPU has fallen off the bus.\n", "accelerator-fault"),
    ("h:7:8 [0] include/alloc.h:178 NCCL WARN Cuda failure 'out of memory'\n", "memory-full"),
)


def _logs(texts: dict[str, str]) -> Logs:
    return [(name, read_log(name, text.encode(), unfinished=True)) for name, text in texts.items()]


def _compared(logs: Logs) -> tuple[ComparedCollective, ...]:
    return diagnosis_of(cluster(PAIR), logs, LogOverrides(None, 16)).compared


def _diagnosed(texts: dict[str, str]) -> tuple[ComparedCollective, ...]:
    return _compared(_logs(texts))


@telling(2)
@pytest.mark.parametrize(("line", "cause"), CAUSES)
def test_no_order_of_the_files_moves_the_verdict(line: str, cause: str) -> None:
    logs = _logs({f"{rank}.log": text for rank, text in enumerate(SYMPTOMS)} | {"z.log": line})
    verdicts = {_compared(order) for order in sampled(permutations(logs), 60)}
    assert len(verdicts) == 1
    first, *others = verdicts.pop()
    assert (first.log, first.causes[0].name) == ("z.log", cause)
    assert len(others) == len(SYMPTOMS)


@pytest.mark.parametrize(("line", "cause"), CAUSES)
@pytest.mark.parametrize("symptom", SYMPTOMS)
def test_a_log_with_only_symptoms_never_outranks_one_with_a_cause(symptom: str, line: str, cause: str) -> None:
    first, second = _diagnosed({"a.log": symptom, "b.log": line + symptom})
    assert first.causes[0].name == cause
    assert second.log == "a.log" and second.causes
    assert all(each.weight <= FOLLOWS < LIKELY for each in second.causes)
    assert all(each.evidence.endswith("it may follow from the failure in b.log") for each in second.causes)


def test_logs_with_only_symptoms_keep_their_causes_without_a_failure_in_another() -> None:
    alone = [_diagnosed({f"{rank}.log": text})[0] for rank, text in enumerate(SYMPTOMS)]
    together = _diagnosed({f"{rank}.log": text for rank, text in enumerate(SYMPTOMS)})
    assert [one.causes for one in together] == [one.causes for one in alone]


@pytest.mark.parametrize(("time", "follows"), [("08:31:00", True), ("08:31:44", True), ("08:32:00", False)])
def test_a_symptom_before_a_failure_does_not_follow_from_it(time: str, follows: bool) -> None:
    failure = f"[rank3]:[I1019 {time}.0 step.cpp:1] step 3\n[rank3]: OSError: [Errno 28] No space left on device\n"
    symptoms = next(one for one in _diagnosed({"a.log": WATCHDOG, "b.log": failure}) if one.log == "a.log")
    assert symptoms.causes and (symptoms.causes[0].weight <= FOLLOWS) is follows


def test_logs_of_failures_are_in_the_order_of_their_times() -> None:
    def failing(minute: int) -> str:
        return f"[rank3]:[I1019 08:{minute}:00.0 s.cpp:1] step\n[rank3]: OSError: [Errno 28] No space left on device\n"

    texts = {"a.log": failing(33), "b.log": failing(31), "c.log": failing(32)}
    assert [one.log for one in _diagnosed(texts)] == ["b.log", "c.log", "a.log"]
    untimed = texts | {"d.log": "OSError: [Errno 28] No space left on device\n"}
    assert [one.log for one in _diagnosed(untimed)] == ["a.log", "b.log", "c.log", "d.log"]


def test_the_first_own_failure_has_the_time_of_the_last_line_before_it() -> None:
    text = "2026-10-19 08:00:00 step 1\n2026-10-19 08:00:09 step 2\nValueError: no row\n2026-10-19 08:00:20 end\n"
    found = ending_of(text, [("error", "ValueError: no row", 3)])
    assert found is not None and found.own and found.line == 3
    assert found.time == (0, float((10 * 31 + 19) * 86400 + 8 * 3600 + 9))


def test_words_of_another_rank_alone_are_no_own_failure() -> None:
    for text in SYMPTOMS:
        read = read_unfinished(text)
        assert read is not None and read.ending is not None and not read.ending.own
