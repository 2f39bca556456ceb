"""OSU micro-benchmarks and Intel MPI Benchmarks: collectives with the ranks and nodes of their launch lines."""

from __future__ import annotations

import re

import pytest

from clusterspec.exchange import import_formats
from clusterspec.exchange.import_result import InputFile, SeveralParts
from clusterspec.logs.benchmarks.launch_lines import launches_in
from clusterspec.logs.benchmarks.nccl_rows import NotALogError
from clusterspec.logs.benchmarks.readers import read_benchmark
from tests.effort import each

PROGRAM = re.compile(r"osu_\w+|IMB-MPI1")
LAUNCHES = {
    "mpirun -np 16 -N 8 ./osu_allreduce": (16, 2),
    "$ mpirun -np 16 --map-by ppr:8:node:PE=4 -hostfile h /opt/osu/osu_allreduce -d cuda": (16, 2),
    "+ mpiexec.hydra -n 64 -ppn 32 -f hosts osu_allreduce": (64, 2),
    "srun -N2 --ntasks-per-node=4 --gpus=8 osu_allreduce": (8, 2),
    "srun -n 8 --mpi=pmix osu_allreduce": (8, None),
    "srun --nodes=2 --ntasks=16 singularity exec image.sif osu_allreduce": (16, 2),
    "aprun -n 48 -N 24 ./osu_allreduce": (48, 2),
    "jsrun -n 12 -a 2 -r 6 osu_allreduce": (24, 2),
    "jsrun -n 12 -r 6 osu_allreduce": (12, 2),
    "flux run -N4 --tasks-per-node=96 -o cpu-affinity=per-task osu_allreduce": (384, 4),
    "ssh n1 mpirun --mca a b -np 4 -pernode -hostfile h osu/bin/osu_allreduce": (4, 4),
    "mpirun -np 2 -H n1,n2 osu_allreduce": (2, 2),
    "mpirun -np 2 -H n1:8 osu_allreduce": (2, 1),
    "mpirun -np 8 -H n1:8,n2:8 osu_allreduce": (8, None),
    "mpirun -np 2 -H $FIRST osu_allreduce": (2, None),
    "mpirun -np 16 -hostfile h osu_allreduce": (16, None),
    "mpirun -np 16 \\\n  -N 4 \\\n  osu_allreduce": (16, 4),
    'mpirun -np "$RANKS" -N 8 osu_allreduce': (None, None),
    "srun -N 2-4 --ntasks-per-node=2 osu_allreduce": (None, None),
    "srun -N 2 osu_allreduce": (None, 2),
    "mpirun -N 2 -np 2 -map-by ppr:1:node osu_allreduce": (2, None),
    "mpirun -np 1 hostname : -np 4 osu_allreduce": (None, None),
}


@pytest.mark.parametrize("command", LAUNCHES)
def test_a_launch_line_states_ranks_and_nodes(command: str) -> None:
    (launch,) = launches_in(f"first\n{command}\n", PROGRAM)
    assert (launch.program, launch.ranks, launch.nodes, launch.line) == ("osu_allreduce", *LAUNCHES[command], 2)


def test_other_commands_are_no_launches() -> None:
    for command in (
        "mpirun -np 2 hostname | grep osu_bw",
        "mpirun -np 2 'osu_bw",
        "the srun command starts osu_bw.sh",
        "my-mpirun -np 2 osu_bw",
        "mpirun -np 2 ./run.sh > osu_bw",
    ):
        assert not launches_in(command, PROGRAM), command


OSU = "\n# OSU MPI{} Latency Test v7.5\n# Datatype: MPI_CHAR.\n# Size       Avg Latency(us)\n8 1.5\n1048576  100.00\n"
LAUNCH = "$ mpirun -np {} -N 4 ./{} -d cuda"
COLLECTIVES = {
    # 1 MiB in 100 us are 10.48576 GB/s; times 2 · 7/8, or 7/8 of the size of all eight parts
    "Allreduce": ("osu_allreduce", "all-reduce", 2**20, 18.35008e9),
    "Allgather": ("osu_allgather", "all-gather", 2**23, 73.40032e9),
    "Reduce_scatter": ("osu_reduce_scatter", "reduce-scatter", 2**20, 9.17504e9),
    "All-to-All Personalized Exchange": ("osu_alltoall", "all-to-all", 2**23, 73.40032e9),
    "Broadcast": ("osu_bcast", "broadcast", 2**20, 10.48576e9),
}


@pytest.mark.parametrize("name", COLLECTIVES)
def test_an_osu_collective_takes_its_ranks_from_the_launch_line(name: str) -> None:
    program, collective, size, rate = COLLECTIVES[name]
    (series,) = read_benchmark(LAUNCH.format(8, program) + OSU.format(f"-CUDA {name}")).series
    assert (series.collective, series.ranks, series.nodes) == (collective, 8, 2)
    at = series.largest
    assert (at.size, at.line) == (size, 6)
    assert (at.seconds, at.busbw) == pytest.approx((1e-4, rate))


def test_osu_collectives_in_host_memory_are_listed() -> None:
    found = read_benchmark("$ srun -n 8 osu_allreduce" + OSU.format(" Allreduce"))
    assert not found.series
    (listed,) = found.listed
    assert (listed.name, listed.text, listed.line) == (
        "bus bandwidth of all-reduce of 8 ranks at 1 MiB, in host memory",
        "18.3501 GB/s",
        6,
    )
    assert [line for _, line in found.remarks] == [2]


def test_launch_lines_of_osu_are_kept_apart() -> None:
    table = OSU.format("-CUDA Allreduce")
    both = LAUNCH.format(8, "osu_allreduce") + table + LAUNCH.format(16, "osu_allreduce") + table
    assert [(each.ranks, each.nodes) for each in read_benchmark(both).series] == [(8, 2), (16, 4)]
    first = LAUNCH.format(8, "osu_allreduce") + "\n"
    for text, why in (
        (first + LAUNCH.format(16, "osu_allreduce") + table, "the launch lines before it disagree"),
        (first.replace("allreduce", "bw") + table, "no launch line states it"),
        (table + first, "no launch line states it"),
    ):
        with pytest.raises(NotALogError, match=why):
            read_benchmark(text)


def test_a_launch_line_states_the_nodes_of_two_ranks() -> None:
    table = "\n# OSU MPI-CUDA Bandwidth Test v7.4\n# Size      Bandwidth (MB/s)\n4194304    12000.00\n"
    for launch, nodes in (
        ("mpirun -np 2 -N 1 osu_bw", 2),
        ("mpirun -np 2 -N 2 osu_bw", 1),
        ("mpirun -np 2 osu_bw", None),
    ):
        found = read_benchmark(launch + table)
        assert [(each.ranks, each.nodes) for each in found.series] == [(2, nodes)]
        assert len(found.remarks) == (nodes is None)


HEADLESS = "\n# OSU MPI Bandwidth Test v7.4\n# Size      Bandwidth (MB/s)\n4194304    12000.00\n"


def test_a_copy_in_the_host_memory_of_one_node_is_no_link() -> None:
    """Two ranks of a node copy through its memory, which is neither its NICs nor the links of its accelerators."""
    found = read_benchmark("mpirun -np 2 -N 2 osu_bw" + HEADLESS)
    assert not found.series
    assert [each.name.partition(" at ")[0] for each in found.listed] == [
        "bus bandwidth of send-recv of 2 ranks on one node"
    ]
    for launch, nodes in (
        ("mpirun -np 2 -N 2 osu_bw D D", 1),  # of accelerators
        ("mpirun -np 2 -N 1 osu_bw", 2),  # over the network
        ("mpirun -np 2 osu_bw", None),  # told with a remark
    ):
        assert [each.nodes for each in read_benchmark(launch + HEADLESS).series] == [nodes], launch
    printed = HEADLESS.replace("# Size", "# Send Buffer on {0} and Receive Buffer on {0}\n# Size")
    device, host = ("mpirun -np 2 -N 2 osu_bw" + printed.format(where) for where in ("DEVICE (D)", "HOST (H)"))
    found = read_benchmark(device)
    assert ([each.nodes for each in found.series], found.listed) == ([1], ())
    with pytest.raises(NotALogError, match="a buffer in host memory"):
        read_benchmark(host)


PLACED = "[0] MPI startup(): Rank    Pid      Node name       Pin cpu\n"
RANK = "[0] MPI startup(): {rank}       {pid}      {node}  {rank}\n"


def test_intel_mpi_prints_the_nodes_of_its_ranks() -> None:
    head = HEAD.format("2018", "", "")
    table = "# Benchmarking PingPong \n# #processes = 2 \n#---\n #bytes #repetitions t[usec] Mbytes/sec\n"
    text = head + table + " 0 1000 1.67 0.00\n 1048576 1 100.00 10485.76\n\n"
    placed = {
        nodes: PLACED + "".join(RANK.format(rank=n, pid=900 + n, node=node) for n, node in enumerate(nodes))
        for nodes in (("a1", "a1"), ("a1", "a2"))
    }
    within, between = (read_benchmark(placed[nodes] + text) for nodes in placed)
    assert not within.series
    assert "of 2 ranks on one node at 1 MiB" in within.listed[0].name
    assert [(each.ranks, each.nodes) for each in between.series] == [(2, 2)]
    assert not between.remarks
    # what is printed counts, not the launch; a table of an earlier run does not
    launched = "mpirun -n 2 -ppn 2 IMB-MPI1 PingPong\n" + placed["a1", "a2"] + text
    assert [each.nodes for each in read_benchmark(launched).series] == [2]
    assert [each.nodes for each in read_benchmark(head + placed["a1", "a2"] + text).series] == [2]
    assert [each.nodes for each in read_benchmark(placed["a1", "a2"] + head + text).series] == [None]
    twice = placed["a1", "a1"] + placed["a1", "a2"] + text
    assert [each.nodes for each in read_benchmark(twice).series] == [2], "the last start before the run"


HEAD = "#---\n#    Intel(R) MPI Benchmarks {}, MPI-1 part{}\n#---\n# Calling sequence was: \n\n# IMB-MPI1{}\n\n"
IMB = """\
#----------------------------------------------------------------
# Benchmarking {}
# #processes = {}
# ( 4 additional processes waiting in MPI_Barrier)
#----------------------------------------------------------------
       #bytes #repetitions  {}
            0         1000         0.04         0.04         0.04
      1048576           40        90.00       100.00        95.00
"""
RANGE, RATE = "t_min[usec]  t_max[usec]  t_avg[usec]", "t[usec] Mbytes/sec defects"


def imb(release: str, name: str, ranks: int, gpu: bool = True, options: str = "") -> str:
    return HEAD.format(release, " (GPU)" if gpu else "", options) + IMB.format(name, ranks, RANGE)


@pytest.mark.parametrize(
    ("release", "name", "size", "rate"),
    [
        ("2021.11", "Allreduce ", 2**20, 18.35008e9),
        ("2021.11", "Allgather ", 2**23, 73.40032e9),
        ("2021.11", "Alltoall", 2**23, 73.40032e9),
        ("2021.11", "Bcast", 2**20, 10.48576e9),
        ("2019 Update 6", "Reduce_scatter", 2**23, 73.40032e9),
        ("2018", "Reduce_scatter", 2**20, 9.17504e9),
    ],
)
def test_imb_collectives_on_accelerators_are_measurements(release: str, name: str, size: float, rate: float) -> None:
    (series,) = read_benchmark(f"mpirun -n 8 -ppn 4 IMB-MPI1-GPU\n{imb(release, name, 8)}").series
    assert (series.ranks, series.nodes, series.largest.size) == (8, 2, size)
    assert series.largest.busbw == pytest.approx(rate)
    assert series.largest.line == 16


def test_imb_collectives_in_host_memory_are_listed() -> None:
    for text in (
        imb("2021.11", "Allreduce", 8, gpu=False),
        imb("2021.11", "Allreduce", 8, True, " -mem_alloc_type cpu"),
    ):
        found = read_benchmark(text)
        assert not found.series
        assert [each.text for each in found.listed] == ["18.3501 GB/s"]
    text = imb("2021.11", "Allreduce", 4, gpu=False)
    assert "of 4 ranks at" in read_benchmark(f"mpirun -n 8 -ppn 4 IMB-MPI1\n{text}").listed[0].name, "a subset of ranks"
    assert "of 4 ranks on one node" in read_benchmark(f"mpirun -n 8 -ppn 8 IMB-MPI1\n{text}").listed[0].name


def test_imb_ping_pong_is_the_bandwidth_between_two_ranks() -> None:
    """Figures of a run on two nodes: 268,435,456 B in 21,941.25 us are 12,234.28 MB of 10^6 bytes per second."""
    table = "# Benchmarking PingPong \n# #processes = 2 \n#---\n #bytes #repetitions t[usec] Mbytes/sec\n"
    text = table + " 0 1000 1.67 0.00\n 268435456 1 21941.25 12234.28\n\n# All processes entering MPI_Finalize\n"
    found = read_benchmark(HEAD.format("2018", "", "") + text)
    (series,) = found.series
    assert (series.collective, series.ranks, series.nodes) == ("send-recv", 2, None)
    assert [(each.size, round(each.busbw / 1e6, 2)) for each in series.points] == [(2.0**28, 12234.28)]
    assert found.remarks == (("whether both ranks are on one node is not printed", 8),)
    with pytest.raises(SeveralParts, match="several tests of two ranks"):
        read_file(text + text)


def read_file(text: str) -> None:
    file = InputFile("imb.log", text.encode())
    import_formats.guessed_format(file).read(file)


@pytest.mark.parametrize(
    ("text", "why"),
    [
        (imb("2021.11", "Exchange", 8), "of traffic that no collective"),
        (imb("2021.11", "Allreduce", 1), "ran on 1 process: it"),
        (IMB.format("Reduce_scatter", 8, RANGE), "does not state"),
        (
            imb("2021.11", "Allreduce", 8).rpartition("  1048576")[0].replace("0.04", "0.00"),
            "no row of sizes and times",
        ),
        (imb("2021.11", "Allreduce", 8) + "x\n" * 10_001, "more than 10,000 lines"),
        (imb("2021.11", "Allreduce", 8) * 101, "more than 100 tables"),
    ],
)
def test_other_tables_of_imb_are_refused(text: str, why: str) -> None:
    with pytest.raises(NotALogError, match=why):
        read_benchmark(text)


@each(
    ("ranks", "program", "series", "listed"),
    [
        (1, "-CUDA", None, False),  # one rank sends nothing
        (1, "", None, False),
        (2, "-CUDA", 2**20 / 100e-6, False),
        (2, "", None, True),
        (4, "-CUDA", 1.5 * 2**20 / 100e-6, False),
        (4, "", None, True),
    ],
)
def test_a_collective_of_osu_needs_two_ranks_and_counts_between_devices(
    ranks: int, program: str, series: float | None, listed: bool
) -> None:
    text = (
        f"$ mpirun -n {ranks} osu_allreduce\n# OSU MPI{program} Allreduce Latency Test v7.4\n"
        "# Size       Avg Latency(us)\n1048576                 100.00\n"
    )
    if ranks == 1:
        with pytest.raises(NotALogError, match="no row of sizes"):
            read_benchmark(text)
        return
    found = read_benchmark(text)
    assert [each.points[0].busbw for each in found.series] == ([] if series is None else [pytest.approx(series)])
    assert bool(found.listed) is listed is bool(found.remarks)
