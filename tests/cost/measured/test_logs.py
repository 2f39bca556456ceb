"""Logs of nccl-tests and rccl-tests, whole, cut, prefixed, and hostile."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from clusterspec.cost.measured import Measurement, resolve_measurements
from clusterspec.finding import Problem
from clusterspec.logs import readers as files
from clusterspec.logs.nccl import LARGEST, NcclLog, NotALogError, collective_of, ranks_of, read_log
from clusterspec.logs.readers import read_logs
from clusterspec.quantity import Quantity
from clusterspec.spec.model import MeasuredSpec

from .printed import COLUMNS, PARTED, TESTS, Run

GIB = 1 << 30
POINTS = ((GIB, 320.5), (4 * GIB, 351.25), (16 * GIB, 360.0))
GROUPS = st.tuples(st.sampled_from(sorted(TESTS)), st.sampled_from([2, 3, 4, 6, 8, 16, 24, 32, 64, 72]))


def run(collective: str = "all-reduce", ranks: int = 8) -> Run:
    return Run(collective, ranks, POINTS)


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


def resolved(entries: list[MeasuredSpec], folder: Path) -> tuple[tuple[Measurement, ...], list[Problem]]:
    """The measurements of a spec in a folder, its logs read, and its problems."""
    return resolve_measurements(entries, None, read_logs([entry.log for entry in entries if entry.log], folder))


def settled(folder: Path, **entry: object) -> tuple[Measurement | None, list[Problem]]:
    found, problems = resolved([MeasuredSpec(**entry)], folder)  # type: ignore[arg-type]
    return (found[0] if found else None), problems


def test_entry_and_log_must_agree(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text(run("all-reduce", 16).text())
    for entry in ({"collective": "all-gather"}, {"ranks": 8}):
        found, problems = settled(tmp_path, log="a.txt", **entry)
        assert found is None
        assert [one.path for one in problems] == [("measured", 0, "log")]
    found, problems = settled(tmp_path, log="a.txt", collective="all-reduce", ranks=16)
    assert found is not None and not problems


def test_tables_of_different_runs_are_kept_apart(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text(run("all-reduce", 8).text() + run("all-gather", 16).text())
    found, problems = settled(tmp_path, log="a.txt")
    assert found is None
    assert "holds 2 tables of different runs" in problems[0].message
    for collective, ranks in (("all-reduce", 8), ("all-gather", 16)):
        found, problems = settled(tmp_path, log="a.txt", collective=collective)
        assert found is not None and not problems
        assert (found.collective, found.ranks, len(found.rows)) == (collective, ranks, len(POINTS))
    assert settled(tmp_path, log="a.txt", collective="broadcast")[0] is None
    (tmp_path / "twice.txt").write_text(run("all-reduce", 8).text() * 2)
    found, problems = settled(tmp_path, log="twice.txt")  # one run, repeated: sizes by their mean time
    assert found is not None and not problems
    assert len(found.rows) == len(POINTS)


def test_bandwidths_that_are_not_those_of_the_group_are_refused(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text(run("all-reduce", 16).text(head=False))
    _, problems = settled(tmp_path, log="a.txt", collective="all-gather", ranks=16)
    assert "a log of all-reduce" in problems[0].message
    (tmp_path / "b.txt").write_text("size time algbw busbw\n1073741824 3000.0 357.91 600.00\n")
    _, problems = settled(tmp_path, log="b.txt", collective="all-reduce", ranks=16)
    assert "1.676 times algbw" in problems[0].message


@pytest.mark.parametrize(
    "name", ["missing.txt", "../outside.txt", "/etc/passwd", "link.txt", "folder", "pipe", "a\0b", "x" * 900]
)
def test_only_ordinary_files_of_the_folder_are_read(name: str, tmp_path: Path) -> None:
    folder = tmp_path / "spec"
    (folder / "folder").mkdir(parents=True)
    (tmp_path / "outside.txt").write_text(run().text())
    (folder / "link.txt").symlink_to(tmp_path / "outside.txt")
    os.mkfifo(folder / "pipe")
    found, problems = settled(folder, log=name)
    assert found is None
    assert [(one.rule, one.path) for one in problems] == [("unreadable-log", ("measured", 0, "log"))]
    assert problems[0].message.isprintable()


def test_a_huge_log_is_refused(tmp_path: Path) -> None:
    (tmp_path / "huge.txt").write_bytes(b"0" * (LARGEST + 1))
    _, problems = settled(tmp_path, log="huge.txt")
    assert "larger than" in problems[0].message


def test_sizes_run_several_times_count_by_their_mean_time(tmp_path: Path) -> None:
    twice = Run("all-reduce", 8, ((GIB, 300.0), (GIB, 400.0)))
    (tmp_path / "a.txt").write_text(twice.text())
    found, _ = settled(tmp_path, log="a.txt")
    assert found is not None
    assert [row.busbw for row in found.rows] == [pytest.approx(1 / ((1 / 300 + 1 / 400) / 2) * 1e9, rel=1e-3)]


def test_algbw_becomes_busbw_by_the_ranks(tmp_path: Path) -> None:
    size, rate = Quantity(4.0 * GIB, "B", "4 GiB"), Quantity(200e9, "B/s", "200 GB/s")
    found, _ = settled(tmp_path, collective="all-reduce", ranks=8, size=size, algbw=rate)
    assert found is not None
    assert found.rows[0].busbw == pytest.approx(350e9)


@pytest.mark.parametrize("text", ["no log\n" * 1_000, ""])
def test_a_log_with_several_entries_is_read_once(text: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Also where it is no log, and under another spelling of its name."""
    (tmp_path / "run.log").write_text(text)
    reads: list[str] = []

    def counted(text: str) -> NcclLog:
        reads.append(text)
        return read_log(text)

    monkeypatch.setattr(files, "read_log", counted)
    entries = [MeasuredSpec(log=name) for name in ["run.log", "./run.log"] * 5]
    found, problems = resolved(entries, tmp_path)
    assert (found, len(problems), len(reads)) == ((), 10, 1)
    assert [problem.path for problem in problems] == [("measured", index, "log") for index in range(10)]


def test_the_logs_of_a_spec_are_bounded_together(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(files, "MOST_BYTES", 1_500)
    for number in range(4):
        (tmp_path / f"{number}.log").write_text("no log\n" * 100)
    entries = [MeasuredSpec(log=f"{number}.log") for number in range(4)]
    _, problems = resolved(entries, tmp_path)
    assert ["together" in problem.message for problem in problems] == [False, False, False, True]
