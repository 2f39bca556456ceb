"""Every reader of tables reads as many rows and tables as its limit, and refuses one more with the limit in words."""

from __future__ import annotations

import json
from collections.abc import Callable
from types import ModuleType

import pytest

from clusterspec.logs.benchmarks import host_tests, imb, nccl_rows, osu, perftest, readers, vendors
from clusterspec.logs.benchmarks.nccl_rows import NotALogError
from clusterspec.logs.benchmarks.readers import read_benchmark

NCCL = """\
#       size         count      type   redop    root     time   algbw   busbw #wrong     time   algbw   busbw #wrong
#        (B)    (elements)                               (us)  (GB/s)  (GB/s)            (us)  (GB/s)  (GB/s)
"""
NCCL_ROW = "1073741824 268435456 float sum -1 8000.0 134.22 234.88 0 8000.0 134.22 234.88 0\n"
NCCOM = "nccom-test -r 2 allr\nsize(B) count(elems) type time(us) algbw(GB/s) busbw(GB/s)\n"
NCCOM_ROW = "33554432 33554432 uint8 768 43.69 43.69\n"
OSU = "# OSU MPI Bandwidth Test v7.0\n# Size      Bandwidth (MB/s)\n"
OSU_ROW = "1048576  24000.0\n"
GAUDI_CALL = """\
[BENCHMARK] hcclAllGather(src!=dst, InputSizeInBytes=16777216, count=4194304, dtype=float, iterations=1000)
[BENCHMARK]     NW Bandwidth   : 509.189283 GB/s
[BENCHMARK]     Algo Bandwidth : 72.741326 GB/s
[BENCHMARK]     Time           : 0.230642 seconds
"""
WRITES = """\
                    RDMA_Write BW Test
 #bytes     #iterations    BW peak[Gb/sec]    BW average[Gb/sec]   MsgRate[Mpps]
"""
WRITES_ROW = " 65536      5000             392.00             392.00               0.7\n"
LATENCY = " #bytes #iterations    t_min[usec]    t_max[usec]  t_typical[usec]    t_avg[usec]    t_stdev[usec]\n"
LATENCY_ROW = " 2       1000          1.52           5.25         1.58               1.59             0.05\n"
IMB = """\
#    Intel(R) MPI Benchmarks 2021.11, MPI-1 part (GPU)
#----------------------------------------------------------------
# Benchmarking Allreduce
# #processes = 8
#----------------------------------------------------------------
       #bytes #repetitions  t_min[usec]  t_max[usec]  t_avg[usec]
"""
IMB_ROW = "      1048576           40        90.00       100.00        95.00\n"
MARKDOWN = "all_reduce_perf on 8 GPUs\n\n| size | busbw (GB/s) |\n|---|---|\n"
MATRIX = """\
Unidirectional P2P=Enabled Bandwidth (P2P Writes) Matrix (GB/s)
   D\\D     0      1
     0 1800.00 380.00
     1 380.00 1800.00
"""


def fio(count: int) -> str:
    job = {"jobname": "a", "error": 0, "read": {"bw_bytes": 5_000_000_000, "io_bytes": 1 << 40}}
    return json.dumps({"fio version": "fio-3.36", "jobs": [job] * count})


LIMITS: list[tuple[ModuleType, str, str, Callable[[int], str]]] = [
    (nccl_rows, "MOST_ROWS", "rows", lambda n: NCCL + NCCL_ROW * n),
    (vendors, "MOST_ROWS", "calls", lambda n: GAUDI_CALL * n),
    (vendors, "MOST_ROWS", "rows", lambda n: NCCOM + NCCOM_ROW * n),
    (vendors, "MOST_TABLES", "tables", lambda n: (NCCOM + NCCOM_ROW) * n),
    (osu, "MOST_TABLES", "tests", lambda n: (OSU + OSU_ROW) * n),
    (imb, "MOST_TABLES", "tables", lambda n: (IMB + IMB_ROW) * n),
    (perftest, "MOST_ROWS", "rows", lambda n: WRITES + WRITES_ROW * n),
    (
        perftest,
        "MOST_TABLES",
        "tests",
        lambda n: "".join(WRITES + WRITES_ROW.replace("5000", str(5000 + k)) for k in range(n)),
    ),
    (host_tests, "MOST_ROWS", "rows", lambda n: LATENCY + LATENCY_ROW * n),
    (host_tests, "MOST_JOBS", "jobs", fio),
    (readers, "MOST_TABLES", "tables", lambda n: MATRIX * n),
]


@pytest.mark.parametrize(
    ("module", "limit", "noun", "text"),
    [pytest.param(*row, id=f"{row[0].__name__.rpartition('.')[2]}-{row[2]}") for row in LIMITS],
)
def test_a_reader_reads_as_many_as_its_limit_and_no_more(
    module: ModuleType, limit: str, noun: str, text: Callable[[int], str]
) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, limit, 3)
        read_benchmark(text(3))
        with pytest.raises(NotALogError, match=f"more than 3 {noun}"):
            read_benchmark(text(4))


@pytest.mark.parametrize(("module", "head", "row"), [(osu, OSU, OSU_ROW), (imb, IMB, IMB_ROW)])
def test_a_test_of_mpi_has_as_many_lines_as_the_limit(module: ModuleType, head: str, row: str) -> None:
    """The lines count from the heading that names the test to the end of the text, which is a line of its own."""
    begun = next(at for at, line in enumerate(head.split("\n")) if "Bandwidth Test" in line or "Benchmarking" in line)
    lines = (head + row).count("\n") - begun + 1
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "MOST_ROWS", lines)
        read_benchmark(head + row)
        patch.setattr(module, "MOST_ROWS", lines - 1)
        with pytest.raises(NotALogError, match=f"more than {lines - 1} lines"):
            read_benchmark(head + row)


@pytest.mark.parametrize(("length", "rows"), [(1_999, 2), (2_000, 1)])
def test_a_row_of_nccl_tests_has_fewer_than_two_thousand_characters(length: int, rows: int) -> None:
    half = NCCL_ROW.replace("1073741824", "536870912").replace("8000.0", "4000.0")
    padded = NCCL_ROW.rstrip("\n").ljust(length) + "\n"
    assert len(read_benchmark(NCCL + half + padded).series[0].points) == rows
