"""Logs of every tool state the same measurement: bytes, ranks, and bus bandwidth in B/s of one direction."""

from __future__ import annotations

import textwrap

import pytest

from clusterspec.logs.benchmarks.benchmark import Benchmark, adapter_count, size_of
from clusterspec.logs.benchmarks.nccl_rows import NotALogError
from clusterspec.logs.benchmarks.readers import read_benchmark
from clusterspec.logs.statements.statement_search import log_evidence
from clusterspec.units import size_text


def read(text: str) -> Benchmark:
    return read_benchmark(textwrap.dedent(text))


NCCL = """\
    #       size         count      type   redop    root     time   algbw   busbw #wrong     time   algbw   busbw #wrong
    #        (B)    (elements)                               (us)  (GB/s)  (GB/s)            (us)  (GB/s)  (GB/s)
      1073741824     268435456     float     sum      -1   8000.0  134.22  234.88      0   8000.0  134.22  234.88      0
      8589934592    2147483648     float     sum      -1  64000.0  134.22  234.88      0  64000.0  134.22  234.88      0
    """


def test_nccl_tests_states_ranks_by_its_ratio() -> None:
    found = read(NCCL)
    series = found.series[0]
    assert (found.tool, series.collective, series.ranks) == ("nccl-tests", "all-reduce", 8)
    assert series.largest.size == 2.0**33
    assert series.largest.busbw == pytest.approx(234.88e9)
    assert series.largest.line == 4


@pytest.mark.parametrize("prefix", ["0: ", "[1,0]<stdout>:", "2026-01-02T03:04:05 host ", "gpu-7: "])
def test_prefixes_of_launchers_change_nothing(prefix: str) -> None:
    text = "".join(f"{prefix}{line}\n" for line in textwrap.dedent(NCCL).strip("\n").split("\n"))
    assert read_benchmark(text).series == read(NCCL).series


def test_nccom_test_decides_its_unit_by_size_over_time() -> None:
    """32 MiB in 768 us are 43.69e9 B/s: 40.69 × 2^30, and not 40.69 × 10^9."""
    log = """\
        nccom-test -r 2 allr
             size(B)    count(elems)     type    time(us)    algbw(GB/s)    busbw(GB/s)
            33554432        33554432    uint8         768          {0}          {0}
        Avg bus bandwidth:      {0}GB/s
        """
    binary, decimal = read(log.format(40.69)), read(log.format(43.69))
    assert binary.series[0].largest.busbw == pytest.approx(43.69e9, rel=1e-3)
    assert decimal.series[0].largest.busbw == pytest.approx(43.69e9, rel=1e-3)
    assert "2^30" in binary.remarks[0][0]
    assert "10^9" in decimal.remarks[0][0]
    assert (binary.series[0].collective, binary.series[0].ranks) == ("all-reduce", 2)
    with pytest.raises(NotALogError, match=r"33,554,432 B in 768 us are 43\.69 GB/s"):
        read(log.format(81.38))


def test_each_table_of_nccom_test_is_of_the_last_command_before_it() -> None:
    """8 MiB in 100 us are 83.9 GB/s; an all-reduce of 32 ranks moves 2 × 31/32 of it, an all-gather 31/32."""
    log = """\
        for op in all_gather; do sed -i s/all_reduce/$op/ nccom-test.sbatch; done
        nccom-test all_reduce -r 32 -b 1M
        size(B) count(elems) type time(us) algbw(GB/s) busbw(GB/s)
        8388608 2097152 fp32 100 83.89 162.5
        nccom-test all_gather --nworkers 16 -b 1M
        size(B) count(elems) type time(us) algbw(GB/s) busbw(GB/s)
        8388608 2097152 fp32 100 83.89 78.6
        """
    one, other = read(log).series
    assert (one.collective, one.ranks, one.largest.line) == ("all-reduce", 32, 4)
    assert (other.collective, other.ranks, other.largest.line) == ("all-gather", 16, 7)
    assert other.largest.busbw == pytest.approx(78.6e9)


def test_the_gaudi_demo_counts_as_nccl_tests_does() -> None:
    """An all-gather of 16 MiB a rank on eight ranks gathers 128 MiB; network bandwidth is bus bandwidth."""
    text = """\
        [BENCHMARK] hcclAllGather(src!=dst, InputSizeInBytes=16777216, count=4194304, dtype=float, iterations=1000)
        [BENCHMARK]     NW Bandwidth   : 509.189283 GB/s
        [BENCHMARK]     Algo Bandwidth : 72.741326 GB/s
        [BENCHMARK]     Time           : 0.230642 seconds
        """
    series = read(text).series[0]
    assert (series.collective, series.ranks) == ("all-gather", 8)
    assert series.largest.size == 2.0**27
    assert series.largest.busbw == pytest.approx(509.189283e9)


def test_ascend_prints_algorithm_bandwidth() -> None:
    text = """\
        # mpirun -n 8 ./bin/all_reduce_test -b 8K -e 64M -f 2 -d fp32 -o sum -p 8
        data_size(Bytes): |   avg_time(us): | alg_bandwidth(GB/s): | check_result:
        67108864          |     2630.20    |      25.5      | success
        """
    assert read(text).series[0].largest.busbw == pytest.approx(25.5e9 * 2 * 7 / 8)


PERFTEST = """\
                    RDMA_Write {0}BW Test
     #bytes     #iterations    BW peak[{1}]    BW average[{1}]   MsgRate[Mpps]
     65536      5000             {2}             {2}               0.7
    """


@pytest.mark.parametrize(
    ("title", "unit", "printed", "expected"),
    [
        ("", "Gb/sec", "392.00", 49e9),
        ("", "MB/sec", "46730.00", 46730 * 2**20),
        ("Bidirectional ", "Gb/sec", "780.00", 48.75e9),
    ],
)
def test_perftest_prints_mebibytes_gigabits_and_sums_of_directions(
    title: str, unit: str, printed: str, expected: float
) -> None:
    series = read(PERFTEST.format(title, unit, printed)).series[0]
    assert (series.collective, series.ranks, series.nodes) == ("send-recv", 2, 2)
    assert series.largest.busbw == pytest.approx(expected)


P2P = """\
    {0}directional P2P={1} Bandwidth (P2P Writes) Matrix (GB/s)
       D\\D     0      1      2
         0 1800.00 {2} {2}
         1 {2} 1800.00 {3}
         2 {2} {3} 1800.00
    """


def test_the_slowest_pair_of_a_matrix_counts_one_direction_and_no_diagonal() -> None:
    one = read(P2P.format("Uni", "Enabled", "380.00", "370.00")).pairs[0]
    both = read(P2P.format("Bi", "Enabled", "760.00", "740.00")).pairs[0]
    assert (one.accelerators, len(one.values)) == (3, 6)
    assert one.slowest_bandwidth == both.slowest_bandwidth == pytest.approx(370e9)
    with pytest.raises(NotALogError, match="peer access on"):
        read(P2P.format("Uni", "Disabled", "20.00", "20.00"))
    staged = "Device=0 CANNOT Access Peer Device=1\nDevice=1 CANNOT Access Peer Device=0\n"
    remarks = read(staged + P2P.format("Uni", "Enabled", "9.90", "9.93")).remarks
    assert remarks == (("2 ordered pairs of devices have no peer access: their copies pass through host memory", 1),)


def test_nvbandwidth_matrices_are_read() -> None:
    text = """\
        Running device_to_device_memcpy_read_ce.
        memcpy CE GPU(row) -> GPU(column) bandwidth (GB/s)
                   0         1
         0       N/A    390.10
         1    389.20       N/A

        SUM device_to_device_memcpy_read_ce 779.30
        """
    table = read(text).pairs[0]
    assert (table.accelerators, table.values) == (2, (390.1e9, 389.2e9))
    page = (
        text.split("SUM", maxsplit=1)[0] + "memcpy CE CPU(row) -> GPU(column) bandwidth (GB/s)\n  0 1\n0 26.03 25.94\n"
    )
    assert [line for _, line in read(page).remarks] == [7], "a matrix that is not of accelerators is named"


def test_a_matrix_counts_directions_by_its_own_title() -> None:
    before = "Running device_to_device_bidirectional_memcpy_write_ce.\n"
    table = read(before + textwrap.dedent(P2P.format("Uni", "Enabled", "380.00", "370.00"))).pairs[0]
    assert not table.both_ways
    assert table.slowest_bandwidth == pytest.approx(370e9)


def test_each_direction_of_a_bidirectional_copy_counts_once() -> None:
    """nvbandwidth 0.10 prints both directions, 700 and 710 GB/s, and their sum, 1,410 GB/s: 705 GB/s each way."""
    matrix = "memcpy CE GPU(row) <-> GPU(column) {0} bandwidth (GB/s)\n  0 1\n0 N/A {1}\n1 {1} N/A\n\n"
    titles = [("Read1", 700.0), ("Read2", 710.0), ("Total", 1410.0)]
    running = "Running device_to_device_bidirectional_memcpy_read_ce.\n"
    tables = read(running + "".join(matrix.format(*each) for each in titles)).pairs
    assert [(each.slowest_bandwidth, each.both_ways, each.opposed) for each in tables] == [
        (700e9, False, True),
        (710e9, False, True),
        (705e9, True, False),
    ]
    (sums,) = read(running + matrix.format("", 1400.0).replace("  bandwidth", " bandwidth")).pairs
    assert (sums.slowest_bandwidth, sums.both_ways) == (700e9, True)


def test_latencies_are_no_bandwidths() -> None:
    text = """\
        Running host_to_device_memcpy_ce.
        SUM host_to_device_memcpy_ce 210.40
        Running host_device_latency_sm.
        memory latency SM CPU(row) <-> GPU(column) (ns)
                   0         1
         0    772.58    771.10
        SUM host_device_latency_sm 1543.68
        """
    assert [line for _, line in read(text).remarks] == [2]


SIDES = """\
     local address: LID {} QPN 0x0127 PSN 0x7f3c5d RKey 0x18ff VAddr 0x007f
     GID: 00:00:00:00:00:00:00:00:00:00:255:255:10:00:00:{}
     remote address: LID {} QPN 0x0128 PSN 0xa4d1b2 RKey 0x18fe VAddr 0x007e
     GID: 00:00:00:00:00:00:00:00:00:00:255:255:10:00:00:{}
"""


@pytest.mark.parametrize(
    ("before", "loops"),
    [
        (SIDES.format("0000", "05", "0000", "05"), True),
        (SIDES.format("0000", "05", "0000", "06"), False),
        ("local address: LID 0x03 QPN 1\nremote address: LID 0x03 QPN 2\n", True),
        ("local address: LID 0x03 QPN 1\nremote address: LID 0x04 QPN 2\n", False),
        ("$ ib_write_bw -d mlx5_0 --report_gbits localhost\n", True),
        ("$ ib_write_bw -d mlx5_0 --report_gbits node-7\n", False),
    ],
)
def test_a_port_that_sends_to_itself_is_no_link_between_nodes(before: str, loops: bool) -> None:
    found = read(before + textwrap.dedent(PERFTEST.format("", "Gb/sec", "392.00")))
    assert (found.series[0].collective is None, found.series[0].nodes is None) == (loops, loops)


def test_each_table_of_a_log_is_a_series_of_its_own() -> None:
    other = NCCL.replace("234.88", "201.33").replace("1073741824 ", "536870912 ").replace(" 8000.0", " 4000.0")
    text = f"# all_reduce_perf\n{textwrap.dedent(NCCL)}# Avg bus bandwidth : 234.88\n{textwrap.dedent(other)}"
    first, second = read(text).series
    assert (first.ranks, first.largest.line, second.ranks, second.points[0].line) == (8, 5, 4, 9)
    assert [each.largest.busbw for each in (first, second)] == pytest.approx([234.88e9, 201.33e9])


def test_rows_of_another_run_without_a_heading_are_a_series_of_their_own() -> None:
    """After 8 GiB on 8 ranks follow 1 and 8 GiB with busbw / algbw = 2 × 15 / 16: 16 ranks; a repeated sweep is one."""
    row = "8589934592    2147483648     float     sum      -1  64000.0  134.22  {0}      0"
    rows = row.format("251.66").replace("8589934592", "1073741824").replace("64000.0", " 8000.0")
    text = f"{textwrap.dedent(NCCL)}======= 2 nodes\n{rows}\n{row.format('251.66')}\n"
    assert [each.ranks for each in read(text).series] == [8, 16]
    heading, again = textwrap.dedent(NCCL).split("(GB/s)\n")[0], textwrap.dedent(NCCL).splitlines()[2:]
    assert [len(each.points) for each in read("\n".join([heading, *again, *again])).series] == [4]


def test_each_table_of_a_page_is_a_series_of_its_own() -> None:
    text = """\
        all_reduce
        | size | busbw |
        |---|---|
        | 1GiB | 300 GB/s |

        all_to_all
        | size | busbw |
        |---|---|
        | 1GiB | 50 GB/s |
        """
    found = read(text).series
    assert [(each.collective, each.largest.busbw, each.largest.line) for each in found] == [
        ("all-reduce", 300e9, 4),
        ("all-to-all", 50e9, 9),
    ]


def test_tables_in_markdown_state_sizes_and_ranks() -> None:
    text = """\
        $ python -m torch.distributed.run --nproc_per_node=8 --nnodes 2 all_reduce_bench.py
        | payload |    busbw   |    algbw   |
        | ------: | ---------: | ---------: |
        |   32KiB |   1.44GBps |   0.77GBps |
        |   16GiB | 482.26GBps | 257.21GBps |
        """
    series = read(text).series[0]
    assert (series.collective, series.ranks, len(series.points)) == ("all-reduce", 16, 2)
    assert series.largest.size == 16 * 2.0**30
    assert series.largest.busbw == pytest.approx(482.26e9)


@pytest.mark.parametrize(
    ("text", "size"),
    [
        ("1K", 2**10),
        ("65K", 2**16),
        ("132K", 2**17),
        ("524K", 2**19),
        ("33M", 2**25),
        ("134M", 2**27),
        ("536M", 2**29),
        ("8G", 2**33),
    ],
)
def test_decimal_sizes_stand_for_powers_of_two(text: str, size: int) -> None:
    assert size_of(text) == size
    assert size_of(size_text(size)) == size


DEBUG = """\
    n1:1:1 [0] NCCL INFO NET/IB : Using [0]mlx5_0:1/RoCE [1]mlx5_1:1/RoCE [RO]; OOB eth0:10.0.0.1<0>
    n1:1:1 [0] NCCL INFO NCCL_IB_HCA set by environment to mlx5_0,mlx5_1
    n1:1:9 [0] NCCL INFO comm 0x55 rank 0 nranks 8 cudaDev 0 nvmlDev 0 busId 1000 commId 0x7 nNodes 4
    n1:1:9 [0] NCCL INFO Channel 00/0 : 7[7] -> 8[0] [receive] via NET/IB/0/GDRDMA
    n1:1:9 [0] NCCL INFO 24 coll channels, 16 nvls channels, 32 p2p channels
    NCCL version 2.27.3+cuda12.9
    """


def test_debug_lines_are_evidence_of_transports() -> None:
    found = log_evidence(textwrap.dedent(DEBUG))
    names = [each.name for each in found]
    assert names == ["hcas", "environment", "group", "gdr", "channels", "nvls", "version"]
    assert adapter_count(found) == 2
    assert found[-1].text == "2.27.3+cuda12.9"
    assert [each.line for each in found] == [1, 2, 3, 4, 5, 5, 6]


@pytest.mark.parametrize(
    ("line", "name"),
    [
        ("n:1:1 [0] NCCL INFO NET/Socket : Using [0]eth0:10.0.0.1<0>", "socket"),
        ("n:1:1 [0] NCCL INFO Channel 00/0 : 7[7] -> 8[0] [send] via NET/Socket/0", "socket"),
        ("n:1:1 [0] NCCL INFO NET/Plugin: Could not find: libnccl-net.so.", "no-plugin"),
        ("n:1:1 [0] NCCL INFO Channel 00/0 : 7[7] -> 8[0] [send] via NET/IB/0", "no-gdr"),
        ("n:1:1 [0] NCCL INFO Channel 00/0 : 3[3] -> 4[0] [send] via NET/IB/5(0)", "no-gdr"),
        ("n:1:1 [0] NCCL INFO NVLS multicast support is not available on dev 0", "no-nvls"),
        ("n:1:1 [0] NCCL INFO NET/OFI Selected provider is efa, fabric is efa", "ofi"),
    ],
)
def test_each_fall_back_leaves_its_mark(line: str, name: str) -> None:
    assert name in [each.name for each in log_evidence(line)]
    assert "gdr" not in [each.name for each in log_evidence(line)]


def test_gpudirect_through_the_proxy_of_another_rank_is_no_fall_back() -> None:
    line = "n:1:1 [0] NCCL INFO Channel 00/0 : 3[3] -> 4[0] [send] via NET/IB/5(0)/GDRDMA"
    assert [each.name for each in log_evidence(line)] == ["gdr"]


def test_ranks_and_nodes_come_from_the_communicator_where_a_table_does_not_tell() -> None:
    """8 ranks by the ratio and by the communicator, which also tells of four nodes."""
    series = read(DEBUG + NCCL).series[0]
    assert (series.ranks, series.nodes) == (8, 4)


@pytest.mark.parametrize("text", ["", "hello\nworld\n", "| a | b |\n|---|---|\n", "#bytes #iterations\n"])
def test_what_is_no_log_is_refused(text: str) -> None:
    with pytest.raises(NotALogError):
        read(text)


OLDER = """\
    # nThread 1 nGpus 8 minBytes 1 maxBytes 8589934592 step: 2(factor) warmup iters: 5 iters: 20 validation: 0
    #   Rank  0 Pid 1 on localhost device  0 [0x00] A100-SXM4-40GB
    #   Rank  7 Pid 1 on localhost device  7 [0x00] A100-SXM4-40GB
    #       size         count    type{0}     time   algbw   busbw  error     time   algbw   busbw  error
        16777216        524288   float{1}    160.4  104.60   91.52    N/A    158.8  105.65   92.44    N/A
    """


@pytest.mark.parametrize(
    ("heads", "cells", "collective"),
    [
        ("", "", "all-gather"),
        ("   redop", "        ", "all-to-all"),
        ("    root", "      0", "broadcast"),
        ("   redop", "   sum", "reduce-scatter"),
    ],
)
def test_older_tables_tell_their_collective_by_their_columns(heads: str, cells: str, collective: str) -> None:
    series = read(OLDER.format(heads, cells)).series[0]
    assert (series.collective, series.ranks) == (collective, 8)
    assert series.largest.busbw == pytest.approx(91.52e9)


OSU = """\
# OSU MPI{} Test v7.4
# Size      Bandwidth (MB/s)
# Datatype: MPI_CHAR.
1048576    24000.00
4194304    48000.50
"""
WHERE = ("DEVICE (D)", "HOST (H)")
OSU_REFUSED = {
    OSU.format(" Multiple Bandwidth / Message Rate"): "several pairs",
    OSU.format(" Allreduce Latency"): "times without its number of ranks",
    OSU.format(" Bandwidth").partition("1048576")[0]: "no row of sizes",
    OSU.format(" Bandwidth") + "4194304  48000.5\n" * 10_000: "more than 10,000 lines",
}


def test_osu_counts_megabytes_of_a_million_and_one_direction() -> None:
    """48,000.5 MB/s are 48.0005e9 B/s; the bidirectional test sums both directions."""
    for name, share in ((" Bandwidth", 1.0), (" Bi-Directional Bandwidth", 0.5)):
        found = read_benchmark("host-1\n" + OSU.format(name))
        (series,) = found.series
        assert (found.tool, series.collective, series.ranks, series.nodes) == ("osu", "send-recv", 2, None)
        assert [(point.size, point.busbw, point.line) for point in series.points] == [
            (2.0**20, share * 24e9, 5),
            (2.0**22, share * 48.0005e9, 6),
        ]
        assert [line for _, line in found.remarks] == [2] * (1 if share == 1 else 2)
    on_devices, from_host = (f"# Send Buffer on {where} and Receive Buffer on DEVICE (D)\n" for where in WHERE)
    head, size, rest = OSU.format("-CUDA Bandwidth").partition("# Size")
    assert len(read_benchmark(f"{head}{on_devices}{size}{rest}").series) == 1
    with pytest.raises(NotALogError, match="a buffer in host memory"):
        read_benchmark(f"{head}{from_host}{size}{rest}")
    for text, why in OSU_REFUSED.items():
        with pytest.raises(NotALogError, match=why):
            read_benchmark(text)


def test_the_buffers_of_an_osu_test_are_those_of_the_command_before_it() -> None:
    test = OSU.format("-CUDA Bandwidth")
    command = "$ mpirun -n 2 osu_bw -m 1048576:4194304 -d cuda {0}\n"
    assert len(read_benchmark(command.format("D D") + test).series) == 1
    for where in ("D H", "H D", "H H"):
        with pytest.raises(NotALogError, match="a buffer in host memory"):
            read_benchmark(command.format(where) + test)
    both = command.format("D H") + test + command.format("D D") + test
    (series,) = read_benchmark(both).series
    assert series.points[0].line > test.count("\n") + 1
    host = read_benchmark("$ mpirun -n 2 osu_bw H H\n" + OSU.format(" Bandwidth"))
    assert len(host.series) == 1, "without accelerators it measures the link between nodes"


def test_a_table_of_more_nodes_counts_their_ranks() -> None:
    command = "torchrun --nproc_per_node={} {}all_reduce_bench.py"
    table = command + "\n\n| payload | busbw |\n|---|---|\n| 1GiB | 450.5 GB/s |\n"
    for ranks, text in ((8, table.format(8, "")), (32, table.format(8, "--nnodes 4 "))):
        (series,) = read_benchmark(text).series
        assert (series.collective, series.ranks, series.points[0].busbw) == ("all-reduce", ranks, 450.5e9)
        assert series.points[0].line == 5
