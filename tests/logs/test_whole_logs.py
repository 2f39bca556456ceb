"""What a log of each tool states to the last field: lines, seconds, B/s of one direction, ranks, nodes and remarks."""

from __future__ import annotations

import textwrap

import pytest

from clusterspec.logs.benchmarks.benchmark import Benchmark, Evidence, PairTable, Series, SizePoint
from clusterspec.logs.benchmarks.nccl_rows import MOST_ROWS, NotALogError
from clusterspec.logs.benchmarks.readers import read_benchmark
from clusterspec.logs.statements.statement_search import log_evidence
from clusterspec.units import size_text

GIB = 2.0**30
BOTH = "the figure sums both directions; half of it is used"
NIC = "one NIC between two hosts: a node may have more"
NODE = "whether both ranks are on one node is not printed"
PERFTEST = """\
    ------------------
     RDMA_Write Bidirectional BW Test
     #bytes  #iterations  BW peak[Gb/sec]  BW average[Gb/sec]  MsgRate[Mpps]
     65536   5000         400.0            320.0               0.7
     131072  5000         400.0            384.0               0.7
    """
NCCL = """\
    # nThread 1 nGpus 2 all_reduce_perf
    #  Rank  0 Group  0 Pid 1 on node-1 device  0 [0x1a] NVIDIA H100 80GB HBM3
    #  Rank  1 Group  0 Pid 1 on node-2 device  0 [0x1a] NVIDIA H100 80GB HBM3
    node-1:1:1 [0] NCCL INFO NCCL_ALGO set by environment to Ring.
    #       size         count      type   redop    root     time   algbw   busbw #wrong     time   algbw   busbw #wrong
               0             0     float     sum      -1      0.0    0.00    0.00      0      0.0    0.00    0.00      0
      1073741824     268435456     float     sum      -1   8000.0  134.22  134.22      3   8000.0  134.22  134.22      1
    """
OF_H100 = {"device": "NVIDIA H100 80GB HBM3", "buses": frozenset({"0x1a"})}
ONE = "memcpy CE GPU(row) {} GPU(column) bandwidth ({})\n    0  1\n 0  N/A  380.5\n 1  379.5  N/A\n"

WHOLE: dict[str, tuple[str, Benchmark]] = {
    "nccl-tests: two nodes, a row of nothing, four wrong values": (
        NCCL,
        Benchmark(
            "nccl-tests",
            (Series("all-reduce", 2, 2, (SizePoint(GIB, 8e-3, 134.22e9, 7),), "ring", 4, **OF_H100),),  # type: ignore[arg-type]
            evidence=(Evidence("environment", "NCCL_ALGO Ring", 4),),
        ),
    ),
    "nccom-test: ranks by the ratio 1.75, which alone fits 8": (
        """\
        nccom-test allr
             size(B)    count(elems)     type    time:avg(ms)    algbw(GB/s)    busbw(GB/s)
                1024             512     bf16            0.01           0.00           0.00
            33554432        16777216     bf16             1.0          33.55          58.72
        """,
        Benchmark(
            "nccom-test",
            (
                Series(
                    "all-reduce",
                    8,
                    None,
                    (SizePoint(1024.0, 1e-5, 0.0, 3), SizePoint(2.0**25, 1e-3, 58.72e9, 4)),
                ),
            ),
            remarks=(("GB/s means 10^9 bytes here, by size over time", 4),),
        ),
    ),
    "nccom-test: the ranks of an all-gather are those of its command": (
        "$ nccom-test --nworkers 32 allg\nsize(B) count(elems) time(s) algbw(GB/s) busbw(GB/s)\n8 4 2 0.1 0.09\n",
        Benchmark("nccom-test", (Series("all-gather", 32, None, (SizePoint(8.0, 2.0, 0.09e9, 3),)),)),
    ),
    "hccl of Gaudi: two collectives, the shards of an all-gather times its ranks": (
        """\
        run --nranks 4
        [BENCHMARK] hcclAllReduce(inPlace, dataSize=1024, count=256)
        [BENCHMARK]     NW Bandwidth   : 30 GB/s
        [BENCHMARK]     Algo Bandwidth : 20 GB/s
        [BENCHMARK] hcclAllGather(src!=dst, InputSizeInBytes=1024, count=256)
        [BENCHMARK]     NW Bandwidth   : 60 GB/s
        [BENCHMARK] hcclAllReduce(inPlace, dataSize=2048, count=512)
        [BENCHMARK]     NW Bandwidth   : 45.5 GB/s
        """,
        Benchmark(
            "hccl",
            (
                Series("all-reduce", 4, None, (SizePoint(1024.0, None, 30e9, 2), SizePoint(2048.0, None, 45.5e9, 7))),
                Series("all-gather", 4, None, (SizePoint(4096.0, None, 60e9, 5),)),
            ),
        ),
    ),
    "hccl of Gaudi: 2 (n − 1) / n = 1.5 of four ranks": (
        "[BENCHMARK] hcclAllReduce(dataSize=64)\n[BENCHMARK] NW Bandwidth : 300 GB/s\n"
        "[BENCHMARK] Algo Bandwidth : 200 GB/s\n",
        Benchmark("hccl", (Series("all-reduce", 4, None, (SizePoint(64.0, None, 300e9, 1),)),)),
    ),
    "hccl of Gaudi: a reduce-scatter tells no ranks": (
        "[BENCHMARK] hcclReduceScatter(dataSize=64)\n[BENCHMARK] NW Bandwidth : 300 GB/s\n"
        "[BENCHMARK] Algo Bandwidth : 100 GB/s\n",
        Benchmark("hccl", (Series("reduce-scatter", None, None, (SizePoint(64.0, None, 300e9, 1),)),)),
    ),
    "hccl_test of Ascend: 7/8 of the algorithm bandwidth, microseconds": (
        """\
        mpirun -n 8 ./bin/all_gather_test -b 8K -e 64M -p 8
        data_size(Bytes): |   avg_time(us): | alg_bandwidth(GB/s): | check_result:
        8192              |        20.5     |       0.4            | success
        67108864          |      2000.0     |      32.0            | success
        1.2.3             |      2000.0     |      32.0            | success
        4                 |      2.0.0      |      32.0            | success
        4                 |      2.0        |      3.2.0           | success
        """,
        Benchmark(
            "hccl",
            (
                Series(
                    "all-gather", 8, None, (SizePoint(8192.0, 20.5e-6, 0.35e9, 3), SizePoint(2.0**26, 2e-3, 28e9, 4))
                ),
            ),
        ),
    ),
    "perftest: half of the sum of both directions, 8 bits a byte": (
        PERFTEST,
        Benchmark(
            "perftest",
            (Series("send-recv", 2, 2, (SizePoint(65536.0, None, 20e9, 4), SizePoint(131072.0, None, 24e9, 5))),),
            remarks=((NIC, 4), (BOTH, 4)),
        ),
    ),
    "osu: two tests of one file, the sum over pairs passed over": (
        "# OSU MPI Bandwidth Test v7.4\n# Size Bandwidth (MB/s)\n8 100.5\n0 7\n16 0\n"
        "# OSU MPI Multiple Bandwidth / Message Rate Test\n1 2.5 9\n4 3.5 9\n"
        "# OSU MPI Bi-Directional Bandwidth Test\n32 1000\n",
        Benchmark(
            "osu",
            (
                Series("send-recv", 2, None, (SizePoint(8.0, None, 100.5e6, 3),)),
                Series("send-recv", 2, None, (SizePoint(32.0, None, 500e6, 10),)),
            ),
            remarks=(
                (NODE, 1),
                (
                    "the OSU test Multiple Bandwidth / Message Rate sums the bandwidths of several pairs of ranks:"
                    " 0.0035 GB/s at 4 B",
                    6,
                ),
                (NODE, 9),
                (BOTH, 9),
            ),
        ),
    ),
    "pairs: MB/s of one direction": (
        "Running device_to_device_memcpy_read_ce.\n" + ONE.format("<-", "MB/s"),
        Benchmark(
            "pairs of accelerators",
            pairs=(PairTable("device_to_device_memcpy_read_ce", 2, (380.5e6, 379.5e6), False, 2),),
        ),
    ),
    "pairs: an arrow of both ways, or a test of that name, sums both": (
        ONE.format("<->", "GB/s") + "\nRunning device_to_device_bidirectional_memcpy_read_ce.\n"
        "host_to_device\n"
        + ONE.format("->", "GB/s")
        + "Running host_to_device_memcpy_ce.\nSUM host_to_device_memcpy_ce 52.5\n",
        Benchmark(
            "pairs of accelerators",
            pairs=(
                PairTable("p2p bidirectional", 2, (380.5e9, 379.5e9), True, 1),
                PairTable("device_to_device_bidirectional_memcpy_read_ce", 2, (380.5e9, 379.5e9), True, 8),
            ),
            remarks=(("host_to_device_memcpy_ce: 52.5 GB/s over all accelerators, between host and accelerators", 13),),
        ),
    ),
    "a table of a page: NVLS, 2 nodes of 4": (
        "all-reduce with NVLS, --nproc-per-node 4 --nnodes=2\n\n| message size | time | GB/s |\n|---|---|---|\n"
        "| 1 MiB | 5 | 12.5 |\n| none | 5 | 12.5 |\n| 1 GiB | 5 | 300.25 GB/s |\n| 2 GiB | 5 |\n",
        Benchmark(
            "bandwidth table",
            (
                Series(
                    "all-reduce",
                    8,
                    None,
                    (SizePoint(2.0**20, None, 12.5e9, 5), SizePoint(GIB, None, 300.25e9, 7)),
                    "nvls",
                ),
            ),
        ),
    ),
}


@pytest.mark.parametrize("name", WHOLE)
def test_a_log_states_each_of_its_figures_with_its_line(name: str) -> None:
    text, wanted = WHOLE[name]
    found = read_benchmark(textwrap.dedent(text))
    for own, hand in zip(found.series, wanted.series, strict=True):
        for point, figures in zip(own.points, hand.points, strict=True):
            assert tuple(getattr(point, key) for key in ("size", "line")) == (figures.size, figures.line)
            assert point.seconds == pytest.approx(figures.seconds) and point.busbw == pytest.approx(figures.busbw)
        same = ("collective", "ranks", "nodes", "algorithm", "wrong", "device", "buses")
        assert [getattr(own, key) for key in same] == [getattr(hand, key) for key in same]
    assert (found.tool, found.pairs, found.remarks) == (wanted.tool, wanted.pairs, wanted.remarks)
    assert found.evidence == wanted.evidence


def test_a_log_of_more_calls_than_are_read_is_refused() -> None:
    call = "[BENCHMARK] hcclBroadcast(dataSize=8)\n[BENCHMARK] NW Bandwidth : 3 GB/s\n"
    assert [each.line for each in read_benchmark(MOST_ROWS * call).series[0].points] == [*range(1, 2 * MOST_ROWS, 2)]
    with pytest.raises(NotALogError, match=f"more than {MOST_ROWS:,} calls"):
        read_benchmark((MOST_ROWS + 1) * call)


@pytest.mark.parametrize(
    ("lines", "adapter"),
    [
        (["", "00/0 : 7[7] -> 8[0] [send] via NET/IB/3", "01/0 : 7[7] -> 8[0] [send] via NET/IB/3"], ("3", 2)),
        (["00/0 : 7[7] -> 8[0] [send] via NET/IB/3", "01/0 : 7[7] -> 8[0] [send] via NET/IB/2"], None),
        (["00/0 : 7[7] -> 8[0] [send] via NET/IB/3", "00/0 : 7[7] -> 8[0] [send] via NET/IB/3"], None),
    ],
)
def test_several_channels_over_one_adapter_are_named(lines: list[str], adapter: tuple[str, int] | None) -> None:
    text = "\n".join(f"n:1:1 [0] NCCL INFO Channel {line}" if line else "" for line in lines)
    found = [(each.text, each.line) for each in log_evidence(text) if each.name == "only-adapter"]
    assert found == ([adapter] if adapter else [])


def test_sizes_are_whole_binary_multiples_or_bytes() -> None:
    for size, text in (
        (2.0**40, "1024 GiB"),
        (GIB, "1 GiB"),
        (GIB + 2.0**20, "1025 MiB"),
        (2.0**20, "1 MiB"),
        (1536.0, "1536 B"),
        (3 * 2.0**10, "3 KiB"),
        (2.0**10, "1 KiB"),
        (512.0, "512 B"),
        (1000.0, "1000 B"),
    ):
        assert size_text(size) == text
