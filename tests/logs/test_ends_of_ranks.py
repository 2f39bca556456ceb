"""Ranks, times and ends of the lines of a log, and links of a listing: read line by line, without a diagnosis."""

from __future__ import annotations

import pytest

from clusterspec.logs.statements.first_failures import (
    LINES_BEFORE,
    FailedProcess,
    RunEnding,
    ending_of,
    failure_statements,
    first_failures,
    observed_failures,
    rank_of_line,
    time_of_line,
)
from clusterspec.logs.statements.host_lines import causes_of_writer, is_of_a_host, unlike_links
from tests.effort import each

DAY = 86_400


@each(
    "line, rank, rest",
    [
        ("[rank7]: x", 7, " x"),
        (" [default3] x", 3, " x"),
        ("[Rank 12]: x", 12, " x"),
        ("[1,5]<stderr>:x", 5, "x"),
        ("host[1,6]<stdout>:x", 6, "x"),
        ("(VllmWorker rank=4 pid=99) x", 4, " x"),
        ("(Worker_TP2_EP1 pid=99) x", 2, " x"),
        ("(VllmWorker TP3 pid=99) x", 3, " x"),
        ("[2025-06-23 15:07:01 DP1 PP0 TP6 EP2] x", 6, " x"),
        ("[PG ID 0 PG GUID 0 Rank 9] x", 9, " x"),
        ("step [rank7]: x", None, "step [rank7]: x"),
    ],
)
def test_the_begin_of_a_line_names_its_rank(line: str, rank: int | None, rest: str) -> None:
    assert rank_of_line(line) == (rank, rest)


@each(
    "line, time",
    [
        ("2026-03-02T04:05:06.5 x", (0, (3 * 31 + 2) * DAY + 4 * 3600 + 5 * 60 + 6.5)),
        ("2026-03-02_04:05:06,25 x", (0, (3 * 31 + 2) * DAY + 4 * 3600 + 5 * 60 + 6.25)),
        ("E1202 04:05:06.5 x", (1, (12 * 31 + 2) * DAY + 4 * 3600 + 5 * 60 + 6.5)),
        ("03-02 04:05:06 x", (2, (3 * 31 + 2) * DAY + 4 * 3600 + 5 * 60 + 6)),
        ("2026-03-02 at noon", None),
        (f"{' ' * 182}2026-03-02 04:05:06", None),
        (f"{' ' * 181}2026-03-02 04:05:06", (0, (3 * 31 + 2) * DAY + 4 * 3600 + 5 * 60 + 6)),
    ],
)
def test_a_time_is_seconds_since_the_begin_of_the_year_in_its_form(line: str, time: tuple[int, float] | None) -> None:
    assert time_of_line(line) == time


REPORT = """\
step 7
Failures:
[1]:
  time      : 2026-03-01_10:00:02
  host      : h1
  rank      : 5 (local_rank: 5)
  exitcode  : 1 (pid: 75)
  error_file: <N/A>
  traceback : a
Root Cause (first observed failure):
[0]:
  time      : 2026-03-01_10:00:01
  host      : h1
  rank      : 3 (local_rank: 3)
  exitcode  : -9 (pid: 73)
  error_file: <N/A>
  traceback : b
"""


def test_the_report_of_torchrun_lists_ranks_with_their_codes_and_lines() -> None:
    assert observed_failures(REPORT) == (FailedProcess(3, -9, 11, 17), (FailedProcess(5, 1, 3, 9),))
    assert observed_failures(REPORT.partition("Root")[0]) == (None, ())
    assert observed_failures(REPORT.partition("[0]")[0]) == (None, (FailedProcess(5, 1, 3, 9),))


def test_lines_of_a_process_with_another_code_follow_from_the_first() -> None:
    stated = [("crash", "x", 2), ("crash", "x", 3), ("crash", "x", 9), ("crash", "x", 10), ("signal", "x", 17)]
    found = [(name, line) for name, _, line in first_failures(REPORT, stated)]
    assert [line for name, line in found if name == "consequence"] == [3, 9]
    same = REPORT.replace(" : 1 ", " : -9 ")
    assert not [each for each in first_failures(same, stated) if each[0] == "consequence"]


MEMORY = "[rank{}]: 2026-03-01 10:00:0{} CUDA out of memory."
PEER = "[rank{}]: 2026-03-01 10:00:0{} Connection closed by peer"


@each(
    "lines, stated, marked",
    [
        # another rank at the same time or later, and a line of no rank
        ([MEMORY.format(3, 2), PEER.format(1, 2)], [("out-of-memory", "", 1), ("peer-ended", "", 2)], [2]),
        ([MEMORY.format(3, 2), PEER.format(1, 1)], [("out-of-memory", "", 1), ("peer-ended", "", 2)], []),
        ([MEMORY.format(3, 2), PEER.format(3, 4)], [("out-of-memory", "", 1), ("peer-ended", "", 2)], []),
        ([MEMORY.format(3, 2), "Connection closed"], [("out-of-memory", "", 1), ("peer-ended", "", 2)], [2]),
        # of a peer that no rank names, only behind the failure
        ([MEMORY.format(3, 2), "no route"], [("out-of-memory", "", 1), ("unreachable", "", 2)], []),
        (
            [MEMORY.format(3, 2), "2026-03-01 10:00:03 no route"],
            [("out-of-memory", "", 1), ("unreachable", "", 2)],
            [2],
        ),
        # of two failures the earlier one, where both have a time of one form
        ([MEMORY.format(3, 2), MEMORY.format(1, 1)], [("out-of-memory", "", 1), ("out-of-memory", "", 2)], [1]),
        ([MEMORY.format(3, 2), MEMORY.format(1, 2)], [("out-of-memory", "", 1), ("out-of-memory", "", 2)], []),
        ([MEMORY.format(3, 2), "[rank1]: x"], [("out-of-memory", "", 1), ("out-of-memory", "", 2)], []),
        # one failure alone
        ([MEMORY.format(3, 2), MEMORY.format(1, 1)], [("out-of-memory", "", 1)], []),
    ],
)
def test_a_line_follows_from_an_earlier_failure_of_another_rank(
    lines: list[str], stated: list[tuple[str, str, int]], marked: list[int]
) -> None:
    assert [line for name, _, line in first_failures("\n".join(lines), stated) if name == "consequence"] == marked


@each(
    "before, line, follows",
    [
        (("dump", "x", 1), ("crash", "exitcode: -6 (pid: 1)", 2), True),
        (("dump", "x", 1), ("crash", "exitcode: -9 (pid: 1)", 2), False),
        (("dump", "x", 2), ("crash", "exitcode: -6 (pid: 1)", 1), False),
        (("signal", "x", 1), ("killed", "srun: error: n1: task 3: Killed", 2), True),
        (("signal", "x", 1), ("killed", "Killed", 2), False),
        (("signal", "x", 2), ("killed", "srun: error: n1: task 3: Killed", 1), False),
        (("time-limit", "x", 1), ("crash", "Aborted", 2), True),
        (("time-limit", "x", 1), ("out-of-memory", "x", 2), False),
        (("time-limit", "x", 2), ("crash", "Aborted", 1), False),
    ],
)
def test_an_end_follows_from_the_watchdog_or_the_scheduler_before_it(
    before: tuple[str, str, int], line: tuple[str, str, int], follows: bool
) -> None:
    stated = sorted((before, line), key=lambda one: one[2])
    found = [number for name, _, number in first_failures("a\nb\n", stated) if name == "consequence"]
    assert found == ([line[2]] if follows else [])


def test_a_run_ends_at_its_first_own_failure_else_at_the_end_of_others() -> None:
    text = "\n".join(["2026-03-01 10:00:01 step 7", *["x"] * (LINES_BEFORE - 1), "out of memory", "killed", "x"])
    at = LINES_BEFORE + 1
    failure, end = ("out-of-memory", "y", at), ("signal", "z", at + 1)
    moment = (0, float((3 * 31 + 1) * DAY + 10 * 3600 + 1))
    assert ending_of(text, [failure, end]) == RunEnding(True, at, moment)
    assert ending_of("x\n" + text.replace("\nout", "\nx\nout"), [("out-of-memory", "y", at + 2)]) == RunEnding(
        True, at + 2, None
    )  # further than the lines in which a time is looked for
    assert ending_of(text, [end]) == RunEnding(False, at + 1, None)
    assert ending_of(text, [("family other", "z", 3)]) is None
    told = failure_statements(text, [end])
    assert ending_of(text, [failure, end], told) == RunEnding(True, at, moment)


def test_an_exception_of_a_rank_counts_where_no_statement_names_its_line() -> None:
    text = "[rank1]: ValueError: no row\n[rank2]: ConnectionResetError: x\n[rank3]: KeyError: 'a'\nstep 3"
    told = failure_statements(text, [("library", "y", 3)])
    assert [(one.text, one.line, one.rank) for one in told.raised] == [("ValueError: no row", 1, 1)]
    assert [(one.name, one.line, one.rank, one.time) for one in told.said] == [("library", 3, 3, None)]


LISTING = """\
GPU 0: NVIDIA H100 (UUID: GPU-1)
\t Link 0: 26.562 GB/s
\t Link 1: {one}
GPU 1: NVIDIA H100 (UUID: GPU-2)
\t Link 0: 26.562 GB/s
\t Link 1: {two}
"""
UP, DOWN = "26.562 GB/s", "<inactive>"


@each(
    "text, found",
    [
        (LISTING.format(one=UP, two=UP), None),
        (LISTING.format(one=DOWN, two=DOWN), None),
        (LISTING.format(one=DOWN, two=UP), ("GPU 0 has 1 active links, another one 2", 1)),
        ("$ nvidia-smi nvlink -s\n" + LISTING.format(one=UP, two=DOWN), ("GPU 1 has 1 active links, another one 2", 5)),
        (LISTING.format(one=DOWN, two="").partition("GPU 1")[0], ("GPU 0 has 1 active links, it has 2", 1)),
        (LISTING.format(one=UP, two="").partition("GPU 1")[0], None),
    ],
)
def test_a_board_with_fewer_links_than_another_is_named(text: str, found: tuple[str, int] | None) -> None:
    assert unlike_links(text) == found


@pytest.mark.parametrize(
    ("line", "host", "told"),
    [
        ("[    5.281884] usb 1-1: nothing", True, ("nic-fault",)),
        ("[    5.281884] NVRM: nothing", True, ("nic-fault", "accelerator-fault")),
        ("Jul  1 10:00:01 n1 kernel: amdgpu 0000: nothing", True, ("nic-fault", "accelerator-fault")),
        ("Jul  1 10:00:01 n1 sshd[1]: nothing", True, ()),
        ("2026-07-01T10:00:01+00:00 n1 sshd[1]: nothing", True, ()),
        ("Jul  1 10:00:01 n1 slurmd[1]: nothing", False, ("nic-fault", "accelerator-fault", "file-permission")),
        ("[1.281884] [n1:99:0] ucx nothing", False, ("nic-fault", "accelerator-fault", "file-permission")),
        ("step 7", False, ("nic-fault", "accelerator-fault", "file-permission")),
    ],
)
def test_the_writer_of_a_line_decides_which_causes_it_can_tell(line: str, host: bool, told: tuple[str, ...]) -> None:
    assert is_of_a_host(line) is host
    assert causes_of_writer(line, ("nic-fault", "accelerator-fault", "file-permission")) == told
