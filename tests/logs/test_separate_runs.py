"""Copies of nccl-tests side by side, two ranks whose log tells no host, and commands that a launcher starts."""

from __future__ import annotations

import pytest

from clusterspec.analysis.diagnosis.collectives import diagnosis_of
from clusterspec.analysis.diagnosis.placed_runs import LogOverrides
from clusterspec.logs.benchmarks.readers import read_benchmark
from tests.analysis.test_diagnosis import cluster, names

HEAD = "# nThread 1 nGpus 2 minBytes 1073741824 maxBytes 4294967296\n#\n# Using devices\n"
COLUMNS = "# size count type redop root time algbw busbw #wrong time algbw busbw #wrong\n"
LINE = "#  Rank {0:2} Group  0 Pid {1} on n1 device {0:2} [0x0{0}] NVIDIA H100 80GB HBM3\n"


def row(size: int, microseconds: float) -> str:
    """A row of an all-reduce of two ranks."""
    rate = size / microseconds / 1e3
    one = f"{microseconds:8.2f} {rate:7.2f} {rate:7.2f}      0"
    return f"{size:12} {size // 4:12} float sum -1 {one} {one}\n"


def rows(copies: int, slower: float = 1) -> str:
    """The rows of a sweep of three sizes, each printed by every copy."""
    sizes = ((1 << 30, 3000.0), (2 << 30, 6000.0), (4 << 30, 12_000.0))
    return "".join(row(size, time * slower + copy) for size, time in sizes for copy in range(copies))


@pytest.mark.parametrize(
    ("devices", "copies", "jobs"),
    [
        ([(0, 1), (1, 1), (0, 2), (1, 2)], 2, 2),
        ([(0, 1), (0, 2), (1, 1), (1, 2)], 2, 2),
        ([(0, 1), (1, 1), (0, 2), (1, 2)], 1, 1),  # the first start printed no table
        ([(0, 1), (1, 1)], 2, 1),  # a sweep with cycles
    ],
)
def test_copies_of_two_ranks_on_one_host_are_counted(devices: list[tuple[int, int]], copies: int, jobs: int) -> None:
    text = HEAD + "".join(LINE.format(rank, pid) for rank, pid in devices) + COLUMNS + rows(copies)
    (series,) = read_benchmark(text).series
    assert (series.jobs, series.ranks, series.nodes) == (jobs, 2, 1)


CHANNEL = "NCCL INFO Channel 00/0 : 0[0] -> 1[0] [send] via {}\n"


@pytest.mark.parametrize(
    ("before", "nodes"),
    [
        (CHANNEL.format("NET/IB/0/GDRDMA"), 2),
        (CHANNEL.format("NET/IB/0"), 2),
        (CHANNEL.format("NET/Socket/0"), 2),
        (CHANNEL.format("NET/IB/0/GDRDMA") + CHANNEL.format("P2P/CUMEM"), 1),
        ("n1:7:9 [0] " + CHANNEL.format("NET/IB/0/GDRDMA"), 1),
        ("", 1),
    ],
)
def test_two_ranks_of_unknown_hosts_are_on_two_nodes_if_all_channels_are_of_the_network(
    before: str, nodes: int
) -> None:
    log = read_benchmark(before + COLUMNS + rows(1, 20))
    found = diagnosis_of(cluster("{platform: dgx-h100, nodes: 4}"), [("a.log", log)], LogOverrides("all-reduce", 2))
    assert found.compared[0].nodes == nodes
    inside = "network-inside-domain" in names(found.compared[0])
    assert inside == (nodes == 1 and "NET" in before)


def test_the_command_of_one_process_states_no_ranks_where_several_hosts_print_lines() -> None:
    command = "$ ./build/broadcast_perf -b 1G -e 4G -f 2 -g 2\n"
    hosts = "".join(f"{host}:7:9 [0] NCCL INFO Bootstrap : Using eth0:10.0.0.{host[1]}<0>\n" for host in ("n1", "n2"))
    (alone,) = read_benchmark(command + COLUMNS + rows(1)).series
    (launched,) = read_benchmark(command + hosts + COLUMNS + rows(1)).series
    assert (alone.ranks, alone.nodes) == (2, 1)
    assert launched.nodes != 1
