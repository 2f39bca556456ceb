"""Logs of nccl-tests and rccl-tests, whole, cut, prefixed, and hostile."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from clusterspec.logs.nccl import LARGEST, NotALogError, collective_of, ranks_of, read_log
from clusterspec.logs.readers import read_logs

from .printed import COLUMNS, GIB, PARTED, POINTS, TESTS, run

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


def test_fewer_columns_and_separated_digits_are_read_by_the_header() -> None:
    text = "  size   time  algbw  busbw\n   (B)   (us)  (GB/s)  (GB/s)\n 17_179_869_184  127997  134.22  234.89\n"
    line = read_log(text).lines[0]
    assert (line.size, line.busbw) == (float(16 * GIB), 234.89e9)
    assert ranks_of(read_log(text), "all-reduce") == 8


def test_wrong_values_are_counted() -> None:
    text = run().text().replace("      0 ", "     12 ", 1)
    assert read_log(text).wrong == 12
    assert read_log(run("all-to-all").text()).wrong == 0


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
