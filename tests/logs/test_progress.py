"""In which collectives ranks wait: what watchdogs and traces of calls name, by group and number."""

from __future__ import annotations

from typing import SupportsIndex

from clusterspec.logs.statements.progress import diverging_ranks, parted_ranks, waiting_ranks
from tests.effort import each

BEFORE = "[rank{0}]:[E1 00:00:00.1 ProcessGroupNCCL.cpp:632] "


def awaited(
    rank: int, call: str, number: int, size: int = 8, *, group: str = "PG 0 (default_pg) ", job: int = -1
) -> str:
    job = rank if job < 0 else job
    return (
        f"{BEFORE.format(job)}[{group}Rank {rank}] Watchdog caught collective operation timeout: "
        f"WorkNCCL(SeqNum={number}, OpType={call}, NumelIn={size}, NumelOut={size}, Timeout(ms)=600000) ran for 1 ms"
    )


def called(device: int, call: str, number: str, communicator: str = "0xa") -> str:
    return (
        f"n1:1:1 [{device}] NCCL INFO {call}: opCount {number} sendbuff 0x1 recvbuff 0x2 count 8 datatype 7 op 0 "
        f"root 0 comm {communicator} [nranks=2] stream 0x3"
    )


def lines(*each: str) -> str:
    return "\n".join(each)


@each(
    ("text", "diverging", "parted", "waiting"),
    [
        (lines(awaited(0, "ALLREDUCE", 7), awaited(1, "ALLREDUCE", 7)), None, None, ("ALLREDUCE number 7 0,1", 1)),
        (lines(awaited(0, "ALLREDUCE", 7), awaited(1, "BROADCAST", 7)), 1, None, None),
        (lines("epoch 1", awaited(0, "ALLREDUCE", 7), awaited(1, "ALLREDUCE", 8)), None, 2, None),
        (lines(awaited(0, "ALLREDUCE", 7, 8), awaited(1, "ALLREDUCE", 7, 9)), 1, None, ("ALLREDUCE number 7 0,1", 1)),
        (lines(awaited(0, "ALLTOALL", 7, 8), awaited(1, "ALLTOALL", 7, 9)), None, None, ("ALLTOALL number 7 0,1", 1)),
        (lines(awaited(0, "ALLREDUCE", 7), awaited(0, "BROADCAST", 9), awaited(1, "BROADCAST", 7)), None, None, None),
        (lines(awaited(0, "ALLREDUCE", 7, group="", job=3), awaited(1, "BROADCAST", 7, group="")), None, None, None),
        (
            lines(awaited(0, "ALLREDUCE", 7, group="PG 2 (tp) "), awaited(1, "ALLREDUCE", 7, group="PG 3 (dp) ")),
            None,
            None,
            None,
        ),
        (lines(called(0, "AllReduce", "1f"), called(1, "Broadcast", "1f")), 1, None, None),
        (lines(called(0, "AllReduce", "1f"), called(1, "AllReduce", "1f")), None, None, None),
        (
            lines(called(0, "AllReduce", "1f"), called(0, "AllReduce", "1f", "0xb"), called(1, "Reduce", "1f")),
            None,
            None,
            None,
        ),
        ("", None, None, None),
    ],
)
def test_ranks_of_one_group_call_the_same_collectives_in_the_same_order(
    text: str, diverging: int | None, parted: int | None, waiting: tuple[str, int] | None
) -> None:
    found, behind = diverging_ranks(text), parted_ranks(text)
    assert (found[1] if found else None, behind[1] if behind else None) == (diverging, parted)
    assert waiting_ranks(text) == waiting


def test_the_text_of_a_divergence_names_both_collectives_with_their_ranks() -> None:
    found = diverging_ranks(lines(*(awaited(rank, "ALLREDUCE", 7) for rank in (0, 1, 3)), awaited(2, "BROADCAST", 7)))
    assert found is not None and "ALLREDUCE number 7" in found[0] and "BROADCAST number 7" in found[0]
    assert found[0].index("ALLREDUCE") < found[0].index("BROADCAST")


class CountedText(str):
    """A text that counts how often its lines are read."""

    reads = 0

    def __getitem__(self, key: SupportsIndex | slice, /) -> str:
        self.reads += key == slice(0, None)
        return super().__getitem__(key)


def test_questions_about_watchdogs_read_the_log_once() -> None:
    text = CountedText("\n".join(awaited(rank, "ALLREDUCE", 7) for rank in range(4)))
    for _ in range(5):
        assert waiting_ranks(text) == ("ALLREDUCE number 7 0,1,2,3", 1)
    assert text.reads == 1
