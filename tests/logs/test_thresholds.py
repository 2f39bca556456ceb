"""Each threshold of the readers of logs: a text that reaches it, and the next one that does not."""

from __future__ import annotations

import errno
import os
import re
import sys

import pytest

from clusterspec.logs.benchmarks.benchmark import Series, SizePoint
from clusterspec.logs.benchmarks.launch_lines import launches_in
from clusterspec.logs.benchmarks.nccl_commands import ranks_of_command
from clusterspec.logs.benchmarks.nccl_rows import NotALogError, ranks_and_nodes
from clusterspec.logs.benchmarks.osu import listed_collective
from clusterspec.logs.benchmarks.site_results import read_cvs
from clusterspec.logs.benchmarks.vendors import read_hccl_test
from clusterspec.logs.statements.refused_calls import ERRORS
from clusterspec.logs.statements.step_values import AT_END, lasting_non_finite, waiting_for_data
from clusterspec.logs.told_lines import lists_changes, states_success, text_without_labels, text_without_stop

ITEM, PLAIN = "* launcher - Fix a crash\n", "a line of a log\n"


@pytest.mark.parametrize(
    ("text", "is_list"),
    [
        (ITEM * 10 + PLAIN * 40, True),
        (ITEM * 10 + PLAIN * 41, False),  # 10 of 51 lines are less than a fifth
        (ITEM * 9, False),
        (ITEM * 10, True),
        (ITEM * 400 + PLAIN * 1600 + PLAIN * 9, True),  # a fifth of the first 2,000
        (ITEM * 399 + PLAIN * 1601 + ITEM * 9, False),
        ("\n" * 3000 + ITEM * 10, False),
    ],
)
def test_a_list_of_changes_has_ten_items_and_they_are_a_fifth_of_its_first_lines(text: str, is_list: bool) -> None:
    assert lists_changes(text) is is_list


@pytest.mark.parametrize(
    ("labelled", "plain", "after", "are_labels"),
    [(3, 3, 0, True), (3, 4, 0, False), (2, 0, 0, False), (200, 200, 50, True), (199, 201, 50, False)],
)
def test_labels_stand_before_three_lines_and_half_of_the_first_four_hundred(
    labelled: int, plain: int, after: int, are_labels: bool
) -> None:
    text = "4: word\n" * labelled + " word\n" * plain + "word\n" * after
    assert text_without_labels(text).startswith("word\n" if are_labels else "4: word\n")


def test_an_ignored_exception_has_at_most_eighty_lines() -> None:
    trace = "Exception ignored in: <a>\n" + "  frame\n" * 90 + "end"
    assert text_without_labels(trace).split("\n").count("  frame") == 10
    assert (
        text_without_labels("Exception ignored in: <a>\n  frame\nValueError: b\nValueError: c") == "\n\n\nValueError: c"
    )
    apart = "[rank0]: Exception ignored in: <a>\n[rank1]:  frame\n[rank0]:  frame\n[rank1]:  frame"
    assert text_without_labels(apart) == "\n[rank1]:  frame\n\n[rank1]:  frame"


def test_the_last_stated_end_of_a_run_counts() -> None:
    start, stop = '{"key": "run_start"}\n', '{"key": "run_stop", "metadata": {"status": "%s"}}\n'
    rows = [
        (start + stop % "success", True),
        (start + stop % "success" + start, False),
        (start + stop % "aborted" + start + stop % "success", True),
        (start + stop % "success" + start + stop % "aborted", False),
        ("Job 'a' succeeded\n" + "." * 1900, True),
        ("Job 'a' succeeded\n" + "." * 2000, False),  # it stands among the last 2,000 characters
        ("Job 'a' succeeded\nJob 'b' failed\n", False),
    ]
    for text, well in rows:
        assert states_success(text) is well, text[:90]


def test_a_stop_without_a_line_after_it_leaves_the_text() -> None:
    asked = "SIGTERM received. Draining requests"
    for text, left in ((asked, asked), (f"{asked}\nexitcode=-15", f"{asked}\n"), ("exitcode=-15", "exitcode=-15")):
        assert text_without_stop(text) == left


@pytest.mark.skipif(sys.platform != "linux", reason="numbers of errors differ between systems")
@pytest.mark.parametrize("symbol", sorted(ERRORS))
def test_an_error_is_known_by_its_number_and_its_text_on_linux(symbol: str) -> None:
    number = getattr(errno, symbol)
    assert re.search(ERRORS[symbol], os.strerror(number)), os.strerror(number)
    assert "rr" not in ERRORS[symbol] or re.search(ERRORS[symbol], f"errno: {number}")
    for other in {number - 1, number + 1} - {0}:
        assert not re.search(ERRORS[symbol], f"errno: {other}")


def test_a_wait_or_a_loss_is_read_at_the_end_of_a_long_log_alone() -> None:
    nan, wait = "loss: nan\nloss: nan\n", "time: 9.0 data: 8.5\n" * 6
    filler = PLAIN * (AT_END // len(PLAIN) + 1)
    assert lasting_non_finite(nan + filler) is None
    assert waiting_for_data(wait + filler) is None
    assert lasting_non_finite(filler + nan) == ("loss: nan", filler.count("\n") + 1)
    late = waiting_for_data(filler + wait)
    assert late is not None
    assert late[1] == filler.count("\n") + 6
    whole = "\n" + "." * (AT_END - 1 - len(wait)) + wait[:-1]  # the searched part begins with the first step's line
    assert waiting_for_data(whole) is not None


def test_half_of_the_later_steps_wait_half_of_their_time() -> None:
    rows = [
        ((0.5,) * 6, 3),
        ((0.49,) * 6, None),
        ((0, 0, 0, 0, 0.5, 0.5, 0.4, 0.4), 2),
        ((0.5,) * 5, 3),
        ((0.5,) * 4, None),
    ]
    for waits, counted in rows:
        found = waiting_for_data("\n".join(f"time: 1.0 data: {wait}" for wait in waits))
        assert f"as in {counted} of the last" in found[0] if found else counted is None, waits


def test_a_launch_has_the_arguments_behind_its_program() -> None:
    program = re.compile(r"osu_\w+")
    for command in ("mpirun -np 2 ./osu_bcast -m 4:8 -x 1", "mpirun -np 2 a=b ./osu_bcast -m 4:8 -x 1 > out"):
        (launch,) = launches_in(command, program)
        assert (launch.program, launch.options) == ("osu_bcast", ("-m", "4:8", "-x", "1"))


def test_a_command_states_a_product_of_threads_and_accelerators() -> None:
    rows = [("-g 1", 1), ("", 1), ("-t 2 -g 4", 8), ("--nthreads=2", 2), ("-g 0", None), ("-g x", None), ("-g", None)]
    for options, ranks in rows:
        assert ranks_of_command(f"./build/all_reduce_perf -b 8 {options}\n") == ranks, options


def test_the_last_list_of_devices_counts() -> None:
    def listed(*places: tuple[int, str]) -> str:
        return "\n".join(f"#  Rank {rank:2} Group  0 Pid  71 on {host} device  0 [0x0f] A" for rank, host in places)

    rows = [
        (listed((0, "a"), (1, "a")), (2, 1)),
        (listed((0, "a"), (1, "b")), (2, 2)),
        (listed((0, "a"), (1, "a"), (2, "a"), (0, "b"), (1, "b")), (2, 1)),  # the first is of a run without a table
        (listed((0, "a"), (2, "b")), (3, None)),
        ("", (None, None)),
    ]
    for text, counted in rows:
        assert ranks_and_nodes(text) == counted, text


@pytest.mark.parametrize(("nodes", "on"), [(None, ""), (1, " on one node"), (2, " on 2 nodes"), (3, " on 3 nodes")])
def test_a_collective_in_host_memory_names_its_nodes(nodes: int | None, on: str) -> None:
    points = (SizePoint(1024.0, None, 2e9, 4), SizePoint(4096.0, None, 3e9, 5))
    listed = listed_collective(Series("all-reduce", 8, nodes, points))
    assert listed.name == f"bus bandwidth of all-reduce of 8 ranks{on} at 4 KiB, in host memory"


@pytest.mark.parametrize(
    ("collective", "bus", "algorithm", "ranks"),
    [
        ("AllGather", 10.0, 10.0, 2),  # the bus carries n - 1 shards
        ("AllGather", 70.0, 10.0, 8),
        ("AllGather", 70.2, 10.0, None),
        ("AllGather", 4.0, 10.0, None),
        ("AllReduce", 17.5, 10.0, 8),  # 2 (n - 1) / n
        ("Broadcast", 10.0, 10.0, None),
    ],
)
def test_ranks_follow_from_the_ratio_of_bandwidths(
    collective: str, bus: float, algorithm: float, ranks: int | None
) -> None:
    text = (
        f"[BENCHMARK] hccl{collective}(dataSize=33554432, count=8388608)\n"
        f"[BENCHMARK]     NW Bandwidth   : {bus} GB/s\n[BENCHMARK]     Algo Bandwidth : {algorithm} GB/s\n"
    )
    assert read_hccl_test(text).series[0].ranks == ranks


def test_results_of_a_site_are_a_list() -> None:
    for text in ('{"inPlace": 1}', "3", '"a"'):
        with pytest.raises(NotALogError, match="is not a list"):
            read_cvs(text)
