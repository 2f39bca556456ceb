"""In a log of several ranks the failure of the first one is the cause, and what others print follows from it."""

from __future__ import annotations

import random
from itertools import permutations

import pytest

from clusterspec.logs.statements.first_failures import first_failures, observed_failures
from clusterspec.logs.statements.unfinished import read_unfinished
from tests.analysis.test_diagnosis import names
from tests.analysis.test_program_lines import PAIR, read
from tests.effort import each, examples, sampled, telling, thorough

ROOTS = (
    ("[rank3]: torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB", "memory-full"),
    ("[rank3]: OSError: [Errno 28] No space left on device: '/scratch/step_10'", "storage-full"),
    ("[rank3]: ModuleNotFoundError: No module named 'flash_attn'", "library-release"),
    ("[rank3]: RuntimeError: Error(s) in loading state_dict for GPTModel:", "checkpoint-mismatch"),
    ("[rank3]: ValueError: too many values to unpack (expected 2)", "program-error"),
    ("[rank3]: KeyError: 'labels'", "program-error"),
    ("[rank3]: data.errors.SampleError: row 812 of shard 7", "program-error"),
    ("[1,3]<stderr>:AssertionError: sequence length 4097", "program-error"),
    ("(VllmWorker rank=3 pid=7) IndexError: list index out of range", "program-error"),
    ("(Worker_TP3 pid=7) ERROR 08-25 12:24:19 [multiproc_executor.py:146] KeyError: 'mlp'", "program-error"),
    (
        "(VllmWorker TP3 pid=7) ERROR 08-25 12:24:19 [worker.py:1] torch.OutOfMemoryError: CUDA out of memory. Tried "
        "to allocate 2.00 GiB",
        "memory-full",
    ),
    ("[2025-06-23 15:07:01 PP0 TP3] TypeError: unsupported operand type(s)", "program-error"),
)


def _watchdog(rank: int) -> str:
    return (
        f"[rank{rank}]:[E1019 08:31:39.5 ProcessGroupNCCL.cpp:632] [Rank {rank}] Watchdog caught collective operation "
        "timeout: WorkNCCL(SeqNum=42, OpType=ALLREDUCE, NumelIn=1, NumelOut=1, Timeout(ms)=600000) ran for 600007"
    )


def _consequences(rank: int) -> tuple[str, ...]:
    """What a rank prints after another one ended."""
    return (
        _watchdog(rank),
        f"[rank{rank}]: torch.distributed.DistBackendError: NCCL error in: NCCLUtils.hpp:268, remote process exited or "
        "there was a network error, NCCL version 2.21.5",
        f"[rank{rank}]: RuntimeError: [gloo/transport/tcp/pair.cc:534] Connection closed by peer [10.0.0.2]:1",
        f"[rank{rank}]: torch.distributed.DistNetworkError: Broken pipe",
        f"[rank{rank}]:[E1019 08:31:40.5 ProcessGroupNCCL.cpp:670] [Rank {rank}] Some NCCL operations have failed or "
        "timed out.",
        f"[rank{rank}]: ib_mlx5_log.c:171 Transport retry count exceeded on mlx5_0:1/IB",
        f"[rank{rank}]: ConnectionRefusedError: [Errno 111] Connection refused",
        f"W1019 08:31:41.0 1 torch/distributed/elastic/multiprocessing/api.py:900] Sending process {rank} closing "
        "signal SIGTERM",
        f"process {rank} terminated with signal SIGTERM",
    )


BYSTANDERS = tuple(line for rank in (0, 1, 2, 5) for line in _consequences(rank))


def _first(text: str) -> str:
    compared = read(PAIR, text, 16)
    assert compared is not None, text
    return names(compared)[0]


@telling(2)
@pytest.mark.parametrize(("root", "cause"), ROOTS)
def test_no_order_and_no_subset_of_what_other_ranks_print_moves_the_cause(root: str, cause: str) -> None:
    chance = random.Random(root)
    for _ in range(examples(16)):
        lines = chance.sample(BYSTANDERS, chance.randint(1, len(BYSTANDERS)))
        lines.insert(chance.randint(0, len(lines)), root)
        assert _first("\n".join(lines)) == cause, lines


@thorough
@each(("root", "cause", "consequence"), sampled([(*root, each) for root in ROOTS for each in _consequences(1)], 200))
def test_one_line_of_another_rank_moves_no_cause(root: str, cause: str, consequence: str) -> None:
    assert _first(f"{root}\n{consequence}") == _first(f"{consequence}\n{root}") == cause


@pytest.mark.parametrize("consequence", _consequences(1)[:4])
def test_without_another_failure_what_a_rank_prints_is_read_as_before(consequence: str) -> None:
    started = read_unfinished(f"step 7\n{consequence}")
    assert started is not None
    assert not [each for each in started.evidence if each.name in {"consequence", "own-exception"}]


def test_the_watchdog_of_the_failed_rank_itself_is_no_consequence() -> None:
    stated = [("family timeout", "x", 2), ("out-of-memory", "y", 1)]
    own = f"{ROOTS[0][0]}\n{_watchdog(3)}"
    assert not list(first_failures(own, stated))
    assert list(first_failures(own.replace("rank3]: torch", "rank2]: torch"), stated)) == [
        ("consequence", "after the failure of rank 2", 2)
    ]


OWN = {
    "out-of-memory": "CUDA out of memory. Tried to allocate 2.00 GiB",
    "storage": "OSError: [Errno 28] No space left on device",
    "library": "ModuleNotFoundError: No module named 'apex'",
}
CAUSE_OF = {"out-of-memory": "memory-full", "storage": "storage-full", "library": "library-release"}


@telling(2)
@pytest.mark.parametrize("order", list(permutations(OWN)))
@pytest.mark.parametrize("form", ["[rank{0}]: 2026-03-01 10:00:0{1} {2}", "[rank{0}]:[E301 10:00:0{1}.25 a.cpp:1] {2}"])
def test_the_earliest_of_several_failures_is_the_cause_in_every_order_of_lines(
    order: tuple[str, ...], form: str
) -> None:
    lines = [form.format(rank, rank + 1, OWN[name]) for rank, name in enumerate(order)]
    for shown in permutations(lines):
        assert _first("\n".join(shown)) == CAUSE_OF[order[0]]


def test_times_of_two_forms_are_not_compared() -> None:
    lines = "[rank0]: 2026-03-01 10:00:05 " + OWN["library"], "[rank1]:[E301 10:00:01.0 a.cpp:1] " + OWN["storage"]
    assert not list(first_failures("\n".join(lines), [("library", "x", 1), ("storage", "y", 2), ("dump", "z", 9)]))


def test_a_lost_peer_before_the_failure_of_another_rank_is_no_consequence() -> None:
    early = "[rank0]:[E301 09:59:01.0 a.cpp:1] Transport retry count exceeded on mlx5_0:1/IB"
    late = "[rank1]:[E301 10:00:01.0 a.cpp:1] " + OWN["out-of-memory"]
    stated = [("unreachable", "x", 1), ("out-of-memory", "y", 2)]
    assert not list(first_failures(f"{early}\n{late}", stated))
    assert [each[2] for each in first_failures(f"{early.replace('09:59', '10:01')}\n{late}", stated)] == [1]


def _report(root: int, codes: dict[int, int]) -> str:
    """The report of torchrun on failed processes, in its form (`_MSG_FORMAT_TEMPLATE`)."""

    def entry(rank: int) -> str:
        code = codes[rank]
        why = f"Signal {-code} (SIGKILL) received by PID {rank}" if code == -9 else "To enable traceback see: https://x"
        return (
            f"[{rank}]:\n  time      : 2026-03-01_10:00:0{rank}\n  host      : h1\n  rank      : {rank} (local_rank: "
            f"{rank})\n  exitcode  : {code} (pid: 7{rank})\n  error_file: <N/A>\n  traceback : {why}"
        )

    others = "\n".join(entry(rank) for rank in codes if rank != root) or "  <NO_OTHER_FAILURES>"
    heading = "Root Cause (first observed failure):"
    return f"train.py FAILED\n------\nFailures:\n{others}\n------\n{heading}\n{entry(root)}\n==="


def test_the_report_of_torchrun_names_the_failed_processes() -> None:
    root, others = observed_failures(_report(1, {0: -15, 1: 1, 2: -9}))
    assert root is not None
    assert (root.rank, root.code) == (1, 1)
    assert [(each.rank, each.code) for each in others] == [(0, -15), (2, -9)]
    assert observed_failures("Failures:\n  none") == (None, ())
    assert observed_failures(_report(0, {0: -9}))[1] == ()


def test_a_process_that_torchrun_ended_after_the_first_is_not_the_cause() -> None:
    exception = "[rank1]: ValueError: no column 'text'"
    assert _first(f"{exception}\n{_watchdog(0)}\n{_report(1, {0: -15, 1: 1, 2: -9})}") == "program-error"
    assert _first(_report(2, {0: -15, 1: 1, 2: -9})) == "host-memory-full"


def test_the_failure_that_torchrun_observed_first_precedes_those_of_other_ranks() -> None:
    lines = "[rank0]: " + OWN["library"] + "\n[rank1]: " + OWN["out-of-memory"]
    assert _first(f"{lines}\n{_watchdog(2)}\n{_report(1, {0: 1, 1: 1})}") == "memory-full"
    assert _first(f"{lines}\n{_watchdog(2)}\n{_report(0, {0: 1, 1: 1})}") == "library-release"


def test_an_exception_without_a_rank_is_that_of_the_rank_that_torchrun_observed() -> None:
    text = f"Traceback (most recent call last):\nKeyError: 'labels'\n{_watchdog(0)}\n{_report(1, {0: -15, 1: 1})}"
    assert _first(text) == "program-error"
    assert _first(text.replace("[rank0]", "[rank1]").replace("Rank 0", "Rank 1")) == "ranks-diverge"


def test_a_long_log_of_reports_is_read() -> None:
    hostile = "Failures:\n" + "[0]:\n" * 200_000 + "Root Cause (first observed failure):\n" + "[1]:\n" * 200_000
    assert observed_failures(hostile) == (None, ())


_PEER = "h:1:2 [0] NCCL WARN NET/IB : Got completion from peer 10.0.0.2<1> with status=12 opcode=0 len=0 vendor err 129"


@pytest.mark.parametrize("first", (True, False))
@pytest.mark.parametrize(
    ("line", "cause"),
    (
        ("AssertionError: world size (24) is not divisible by total_model_size (16)", "invalid-setting"),
        ("[rank5]: torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB. GPU 5 has", "memory-full"),
        ("OSError: [Errno 28] No space left on device", "storage-full"),
    ),
)
def test_what_an_exception_states_is_before_the_lost_peers_of_others(line: str, cause: str, *, first: bool) -> None:
    assert _first(f"{line}\n{_PEER}\n" if first else f"{_PEER}\n{line}\n") == cause


@telling(1)
@pytest.mark.parametrize(
    ("line", "cause"),
    (
        ("AssertionError: world size (24) is not divisible by total_model_size (16)", "invalid-setting"),
        ("OSError: [Errno 28] No space left on device", "storage-full"),
        ("ModuleNotFoundError: No module named 'flash_attn'", "library-release"),
    ),
)
def test_what_ranks_print_after_a_failure_is_below_it_in_any_order(line: str, cause: str) -> None:
    said = [_consequences(rank)[rank] for rank in range(9)]
    for seed in range(10):
        random.Random(seed).shuffle(said)
        assert _first("\n".join((line, *said))) == cause


WATCHDOG = (
    "[Rank 0] Watchdog caught collective operation timeout: WorkNCCL(SeqNum=7, OpType=ALLREDUCE, NumelIn=1, "
    "NumelOut=1, Timeout(ms)=1800000) ran for 1800090 milliseconds before timing out."
)


@pytest.mark.parametrize(
    ("end", "first"),
    [
        ("srun: error: n1: task 0: Aborted (core dumped)", "ranks-diverge"),
        ("train.sh: line 9: 4711 Aborted  (core dumped) python train.py", "ranks-diverge"),
        ("srun: error: n1: task 0: Exited with exit code 134", "ranks-diverge"),
        ("srun: error: n1: task 0: Segmentation fault (core dumped)", "program-fault"),
    ],
)
def test_the_abort_by_which_a_watchdog_ends_its_process_is_no_fault_of_the_program(end: str, first: str) -> None:
    after, before = read(PAIR, f"{WATCHDOG}\n{end}", 16), read(PAIR, f"{end}\n{WATCHDOG}", 16)
    assert after is not None and names(after)[0] == first
    assert before is not None and names(before)[0] == "program-fault"
