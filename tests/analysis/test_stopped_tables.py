"""Benchmarks that stop amid their table: their error comes first, whatever the rows before it tell."""

from __future__ import annotations

import pytest

from clusterspec.analysis.diagnosis.collectives import diagnosis_of, read_log
from clusterspec.analysis.diagnosis.placed_runs import LogOverrides
from tests.analysis.test_diagnosis import cluster, names

START = "# Collective test starting: all_reduce_perf\n"
HCAS = "h1:81:90 [0] NCCL INFO NET/IB : Using [0]mlx5_0:1/RoCE [1]mlx5_1:1/RoCE [RO]; OOB bond0:10.3.0.8<0>\n"
TABLE = (
    "#       size         count      type   redop    root     time   algbw   busbw #wrong\n"
    "#        (B)    (elements)                               (us)  (GB/s)  (GB/s)\n"
    "     8388608       2097152     float     sum      -1   6391.3    1.31    2.46      0\n"
)
STOP = (
    "h1:81:90 [0] NCCL WARN NET/IB : Got completion from peer 10.3.0.9<4242> with status=12 opcode=1 vendor err 129\n"
)
END = "# Out of bounds values : 0 OK\n# Avg bus bandwidth    : 2.46\n"
MACHINE = "{platform: dgx-h100, nodes: 2}"


@pytest.mark.parametrize(
    ("log", "first", "has_rows"),
    [
        (START + HCAS + TABLE + STOP, "unreachable-peer", False),
        (HCAS + TABLE + STOP, "unreachable-peer", False),  # without the name of the collective
        (START + HCAS + TABLE + END, "few-nics", True),
        (START + HCAS + STOP + TABLE + END, "few-nics", True),  # a run that went on
        (START + HCAS + TABLE + STOP + END, "few-nics", True),
        (START + HCAS + TABLE, "few-nics", True),
    ],
)
def test_the_error_of_a_benchmark_that_stops_comes_before_what_its_rows_tell(
    log: str, first: str, has_rows: bool
) -> None:
    read = read_log("a.log", log.encode(), unfinished=True)
    found = diagnosis_of(cluster(MACHINE), [("a.log", read)], LogOverrides(None, 16))
    assert names(found.compared[0])[0] == first
    assert bool(found.compared[0].rows) is has_rows


def test_tables_before_the_one_that_stops_are_compared() -> None:
    read = read_log("a.log", (START + HCAS + TABLE + START + TABLE + STOP).encode(), unfinished=True)
    found = diagnosis_of(cluster(MACHINE), [("a.log", read)], LogOverrides(None, 16))
    assert [(bool(each.rows), names(each)[0]) for each in found.compared] == [
        (True, "few-nics"),
        (False, "unreachable-peer"),
    ]
