"""Measurements of a spec from logs of nccl-tests: the entry and its log agree, and each log is read once."""

from __future__ import annotations

from pathlib import Path

import pytest

import clusterspec
from clusterspec.cost.measured import Measurement, resolve_measurements
from clusterspec.finding import Problem
from clusterspec.logs.benchmarks import nccl as files
from clusterspec.logs.benchmarks.nccl import read_logs
from clusterspec.logs.benchmarks.nccl_rows import NcclLog, read_log
from clusterspec.quantity import Quantity
from clusterspec.spec.model import MeasuredSpec
from tests.logs.printed import GIB, POINTS, Run, run


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
    assert "the log is of all-reduce" in problems[0].message
    (tmp_path / "b.txt").write_text("size time algbw busbw\n1073741824 3000.0 357.91 600.00\n")
    _, problems = settled(tmp_path, log="b.txt", collective="all-reduce", ranks=16)
    assert "1.676 times algbw" in problems[0].message


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


@pytest.mark.parametrize(("ranks", "nodes"), [(8, 1), (16, 2), (20, 3)])
def test_ranks_of_a_measurement_fill_nodes_of_eight(ranks: int, nodes: int) -> None:
    cluster = clusterspec.load({"clusterspec": 1, "cluster": {"platform": "dgx-h100", "nodes": 4}}).cluster
    entry = MeasuredSpec(collective="all-reduce", ranks=ranks, busbw=Quantity(300e9, "B/s", "300 GB/s"))
    found, problems = resolve_measurements([entry], cluster, {})
    assert not problems and [one.nodes for one in found] == [nodes]
