"""Logs of nccl-tests and rccl-tests, whole, cut, prefixed, and hostile."""

from __future__ import annotations

import os
import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from clusterspec.logs.benchmarks.nccl import collective_of, ranks_of, read_logs
from clusterspec.logs.benchmarks.nccl_lines import lines_with_whole_rows
from clusterspec.logs.benchmarks.nccl_rows import (
    LARGEST,
    MOST_TABLES,
    LogRow,
    NcclLog,
    NotALogError,
    _check_factor,
    read_log,
)

from .printed import COLUMNS, GIB, PARTED, POINTS, TESTS, run

_CUT = re.compile(r"( *\d+ +\d+ +\w+ +\w+ +-?\d)((?: +[\d.]+){3} +(?:\d|N/A))((?: +[\d.]+){3} +(?:\d|N/A))")
"""The parts in which nccl-tests print a row."""
GROUPS = st.tuples(st.sampled_from(sorted(TESTS)), st.sampled_from([2, 3, 4, 6, 8, 16, 24, 32, 64, 72]))


@given(GROUPS)
def test_a_whole_log_says_what_was_run_and_where(group: tuple[str, int]) -> None:
    collective, ranks = group
    log = read_log(run(collective, ranks).text())
    assert (collective_of(log), ranks_of(log, collective)) == group
    assert log.nodes == -(-ranks // 8)
    assert [line.size for line in log.lines] == [size for size, _ in POINTS]
    assert log.lines[-1].busbw == pytest.approx(360e9, rel=1e-4)


@given(GROUPS)
def test_ranks_are_derived_from_bandwidth_ratios_without_a_header(group: tuple[str, int]) -> None:
    collective, ranks = group
    log = read_log(run(collective, ranks).text(head=False))
    if collective == "all-reduce" and ranks == 2:  # bus and algorithm bandwidth are then one, as in a send
        assert collective_of(log) is None
    else:
        assert collective_of(log) == collective
    if collective in PARTED or ranks > 2:
        assert ranks_of(log, collective) == ranks


def test_columns_need_no_header() -> None:
    log = read_log(run("all-to-all", 16).text(head=False, columns=False))
    assert (collective_of(log), ranks_of(log, "all-to-all")) == ("all-to-all", 16)


@pytest.mark.parametrize(
    "prefix", ["0: ", "[1,0]<stdout>: ", "worker-0: ", "    ", "2026-11-20T12:00:00.000Z ", "[w-1] "]
)
def test_prefixes_of_a_launcher_are_skipped(prefix: str) -> None:
    plain = run("all-reduce", 16).text()
    prefixed = "".join(prefix + line + "\n" for line in plain.splitlines())
    assert [line.busbw for line in read_log(prefixed).lines] == [line.busbw for line in read_log(plain).lines]


@pytest.mark.parametrize("between", [1, 3])
@pytest.mark.parametrize("told", ["AllReduce: opCount 1f sendbuff 0x7f count 4", "8 Bytes -> Algo 1 proto 2 time 9.5"])
def test_rows_that_lines_of_the_library_cut_are_read_as_whole_ones(between: int, told: str) -> None:
    """nccl-tests print a row in three parts: before, between and behind both kinds of runs; a fourth ends the line."""
    plain = run("all-reduce", 16).text().splitlines()
    line = f"h:7:9 [0] NCCL INFO {told}\n" + f"h:7:8 [1] NCCL INFO {told}\n" * (between - 1)
    cut: list[str] = []
    for each in plain:
        row = _CUT.fullmatch(each)
        cut.append(line.join(row.groups()) if row else each)
    text = "\n".join(cut)
    assert text.count("NCCL INFO") == 2 * between * len(POINTS)
    assert read_log(text).lines and [row.busbw for row in read_log(text).lines] == [
        row.busbw for row in read_log("\n".join(plain)).lines
    ]


def test_parts_of_two_rows_are_not_joined() -> None:
    told = "h:7:9 [0] NCCL INFO AllReduce: opCount 1f\n"
    begin = "  1048576  262144  float  sum  -1"
    half = "  40.0  26.21  49.15  0"
    assert list(lines_with_whole_rows(begin + told + begin + told + half + "\n")) == [(2, begin + half)]
    assert list(lines_with_whole_rows(begin + told + "a line\n" + half + "\n")) == [(2, "a line"), (3, half)]


def test_fewer_columns_and_separated_digits_are_read_by_the_header() -> None:
    text = "  size   time  algbw  busbw\n   (B)   (us)  (GB/s)  (GB/s)\n 17_179_869_184  127997  134.22  234.89\n"
    line = read_log(text).lines[0]
    assert (line.size, line.busbw) == (float(16 * GIB), 234.89e9)
    assert ranks_of(read_log(text), "all-reduce") == 8


def test_wrong_values_are_counted() -> None:
    text = run().text().replace("      0 ", "     12 ", 1)
    assert read_log(text).wrong == 12
    assert read_log(run("all-to-all").text()).wrong == 0
    assert not read_log(run("all-to-all").text()).unchecked, "N/A stands in its columns in place alone"


def test_rows_without_a_check_are_known() -> None:
    """nccl-tests prints N/A for all rows where `-c 0` leaves out the check."""
    text = run().text()
    assert not read_log(text).unchecked
    assert read_log(re.sub(r" 0 ( |$)", r" N/A\1", re.sub(r"(?m) 0$", " N/A", text))).unchecked


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "no row of sizes"),
        ("| payload | busbw |\n| 1GiB | 463.58GBps |\n", "no row of sizes"),
        ("size time algbw busbw\n1073741824 3000.0 350.00 600.00\n", "357.9 GB/s, but algbw is 350"),
        ("size time algbw busbw\n1073741824 0 350.00 600.00\n", "a time of zero"),
        ("size time algbw busbw\n1073741824 nan inf 600.00\n", "no row of sizes"),
        ("\0" * 1000, "no row of sizes"),
        ("9" * 100_000, "no row of sizes"),
    ],
)
def test_an_unreadable_log_has_a_reason(text: str, said: str) -> None:
    with pytest.raises(NotALogError, match=said):
        read_log(text)


@given(st.text(max_size=300), st.text(alphabet="0123456789 .#:[]-_ \n\tnaif", max_size=300))
def test_any_text_is_a_log_or_refused(text: str, rows: str) -> None:
    for candidate in (text, COLUMNS + rows, COLUMNS + text + rows):
        try:
            log = read_log(candidate)
        except NotALogError as fault:
            assert str(fault)
        else:
            ranks_of(log, collective_of(log))


WIDTHS = {
    1: ("int8", "uint8", "f8e4m3", "f8e5m2", "fp8_e4m3", "fp8_e5m2"),
    2: ("half", "bfloat16"),
    4: ("int32", "uint32", "float"),
    8: ("int64", "uint64", "double"),
}


def log_of(header: str = "size count type redop root time algbw busbw", **row: object) -> NcclLog:
    """A log of one row that names no test: by default 1 GiB of floats in 4 shards, 100 GB/s of 75."""
    given = {"count": str((1 << 30) // 16), "type": "float", "redop": "none", "root": "-1", "wrong": ("0", "0")} | row
    size, algbw, busbw = 1 << 30, given.pop("algbw", 100e9), given.pop("busbw", 75e9)
    line = LogRow(1, size, size / 100e9, algbw, busbw, **given)  # type: ignore[arg-type]
    return NcclLog((line,), (), tuple(header.split()), None, None, 0)


def test_a_buffer_has_as_many_shards_as_its_bytes_over_those_of_a_count() -> None:
    for width, names in WIDTHS.items():
        for name in names:
            log = log_of(type=name, count=str((1 << 30) // width // 16))
            assert ranks_of(log, "all-gather") == 16, name
    for other in (log_of(type="char"), log_of(count="0"), log_of(count="many"), log_of(count="1" * 19)):
        assert ranks_of(other, "all-gather") is None
    assert ranks_of(log_of(count=str(1 << 28)), "all-gather") is None  # one shard: of any number of ranks


IMPLIED: list[tuple[dict[str, object], str | None]] = [  # the columns of a log without the name of its test
    ({}, "all-gather"),
    ({"wrong": ("0", "N/A")}, "all-to-all"),
    ({"wrong": ("N/A", "N/A")}, None),
    ({"redop": "sum"}, "reduce-scatter"),
    ({"redop": "sum", "count": str(1 << 28), "busbw": 175e9}, "all-reduce"),
    ({"redop": "sum", "count": str(1 << 28), "busbw": 101e9}, None),
    ({"count": str(1 << 28), "root": "0"}, "broadcast"),
    ({"count": str(1 << 28), "root": "-1"}, None),
    ({"redop": "", "header": "size count type redop time algbw busbw"}, "all-to-all"),
    ({"redop": "", "header": "size count type root time algbw busbw"}, "broadcast"),
    ({"redop": "", "header": "size count type time algbw busbw"}, "all-gather"),
    ({"redop": "", "header": "size time algbw busbw", "busbw": 175e9}, "all-reduce"),
    ({"redop": "", "header": "size time algbw busbw", "busbw": 100e9}, None),
]


@pytest.mark.parametrize(("row", "collective"), IMPLIED)
def test_columns_imply_a_collective_where_one_alone_prints_them(row: dict[str, object], collective: str | None) -> None:
    assert collective_of(log_of(**row)) == collective  # type: ignore[arg-type]


def test_ranks_of_an_all_reduce_are_those_whose_ratio_the_digits_allow() -> None:
    """2 (n - 1) / n: 1.75 of 8, 1.9375 of 32; at 1 GB/s a rounding of 0.005 leaves 32 and its neighbors."""
    for algbw, busbw, ranks in (
        (100e9, 175e9, 8),
        (100e9, 100e9, 2),
        (100e9, 193.75e9, 32),
        (1e9, 1.9375e9, None),
        (100e9, 200e9, None),
        (100e9, 199.99e9, None),
        (0.0, 0.0, None),
    ):
        log = log_of(redop="sum", count=str(1 << 28), algbw=algbw, busbw=busbw)
        assert ranks_of(log, "all-reduce") == ranks, (algbw, busbw)
        assert ranks_of(log, "all-gather") is None
    slow, fast = (LogRow(n, 1e9, 1.0, a * 1e9, b * 1e9) for n, (a, b) in enumerate(((0.1, 0.19), (100.0, 175.0)), 1))
    assert ranks_of(NcclLog((fast, slow), (), (), None, None, 0), "all-reduce") == 8  # by the most exact row


def test_each_table_of_a_file_is_a_log_of_its_own() -> None:
    """Two tables have two logs in addition to that of the whole; one has none. A later list of devices holds for its
    table.
    """
    one, other = run("all-reduce", 8).text(), run("all-gather", 16).text()
    both = read_log(one + other)
    assert [(collective_of(each), each.ranks, each.nodes) for each in both.tables] == [
        ("all-reduce", 8, 1),
        ("all-gather", 16, 2),
    ]
    assert collective_of(both) is None and read_log(one).tables == ()
    bare = "size time algbw busbw\n1073741824 10737.4 100.00 175.00\n"
    assert len(read_log(bare * MOST_TABLES).tables) == MOST_TABLES
    with pytest.raises(NotALogError, match=f"more than {MOST_TABLES} tables"):
        read_log(bare * (MOST_TABLES + 1))


REFUSED = {
    "missing.txt": "no such file",
    "../outside.txt": "outside the folder",
    "/etc/passwd": "outside the folder",
    "link.txt": "outside the folder",
    "folder": "not an ordinary file",
    "pipe": "not an ordinary file",
    "a\0b": "cannot be opened",
    "x" * 900: "cannot be",
    "huge.txt": "larger than 4 MiB",
}


def test_only_ordinary_files_of_the_folder_are_read(tmp_path: Path) -> None:
    folder = tmp_path / "spec"
    (folder / "folder").mkdir(parents=True)
    (tmp_path / "outside.txt").write_text(run().text())
    (folder / "inside.txt").write_text(run().text())
    (folder / "huge.txt").write_bytes(b"0" * (LARGEST + 1))
    (folder / "link.txt").symlink_to(tmp_path / "outside.txt")
    os.mkfifo(folder / "pipe")
    logs = read_logs([*REFUSED, "inside.txt"], folder)
    assert not isinstance(logs.pop("inside.txt"), NotALogError)
    for name, why in REFUSED.items():
        assert isinstance(logs[name], NotALogError) and why in str(logs[name]), (name, logs[name])
        assert str(logs[name]).isprintable()


def test_a_test_that_starts_after_another_is_named_by_its_own_line() -> None:
    parts = []
    for test, collective in (("alltoall", "all-to-all"), ("all_gather", "all-gather")):
        text = run(collective, 16).text(head=False)
        parts.append(f"# Collective test starting: {test}_perf\n{text}\n# Collective test concluded: {test}_perf\n")
    log = read_log("\n".join(parts))
    assert [collective_of(table) for table in log.tables] == ["all-to-all", "all-gather"]


def test_a_test_that_has_ended_is_named_before_one_that_follows() -> None:
    heading = "# size count type redop root time algbw busbw #wrong time algbw busbw #wrong\n"
    row = "16777216 4194304 float none 0 2000.0 8.39 8.39 0 2000.0 8.39 8.39 0\n"
    text = heading + row + "# Collective test concluded: broadcast_perf\n\n== reduce_scatter_perf\n"
    assert collective_of(read_log(text)) == "broadcast"


def test_rows_of_one_table_whose_bus_bandwidths_have_different_factors_are_refused() -> None:
    row = "{0} {1} float sum -1 {2} 100.00 {3} 0\n"
    head = "# size count type redop root time algbw busbw #wrong\n"
    sound = row.format(10**9, 250_000_000, 10_000, "175.00") + row.format(2 * 10**9, 500_000_000, 20_000, "175.00")
    assert len(read_log(head + sound).lines) == 2
    with pytest.raises(NotALogError, match=r"line 3: busbw is 1.5 times algbw, on line 2 1.75 times"):
        read_log(head + sound[: sound.index("175", 60)] + "150.00 0\n")
    other = head + sound.replace("175.00", "150.00")
    assert len(read_log(head + sound + other).tables) == 2, "another table may be of other ranks"


@pytest.mark.parametrize(
    ("bandwidths", "sound"),
    [
        ([(0.0, 0.0), (0.0, 0.0)], True),  # rows of no bytes state no factor
        ([(10e9, 0.0), (5e9, 3e9)], True),  # nor does a collective of one rank
        ([(10e9, 17.5e9), (5e9, 8.75e9)], True),
        ([(10e9, 17.5e9), (5e9, 5e9)], False),
        ([(10e9, 17.5e9), (0.0, 0.0)], True),
    ],
)
def test_all_rows_of_a_table_have_one_factor(bandwidths: list[tuple[float, float]], sound: bool) -> None:
    rows = tuple(LogRow(number, 1e6, 1e-3, *both) for number, both in enumerate(bandwidths, 1))
    if sound:
        _check_factor(rows)
        return
    with pytest.raises(NotALogError, match="busbw is 1 times algbw"):
        _check_factor(rows)
