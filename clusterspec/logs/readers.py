"""The registry of benchmark readers: which tool wrote a log, and what the log states."""

from __future__ import annotations

from collections.abc import Callable

from clusterspec.logs import hccl, nccl, nccom, pairs, perftest, tables
from clusterspec.logs.benchmark import Benchmark
from clusterspec.logs.nccl_tests import NoLog
from clusterspec.records import dataclass


@dataclass(frozen=True, slots=True)
class Reader:
    """One tool: whether the head of a text looks like its output, and what a text of it states."""

    name: str
    title: str
    suits: Callable[[str], bool]
    read: Callable[[str], Benchmark]


READERS = (
    Reader("nccom-test", "nccom-test of AWS Neuron", nccom.suits, nccom.read),
    Reader("hccl", "HCCL demo of Gaudi, hccl_test of Ascend", hccl.suits, hccl.read),
    Reader("perftest", "ib_write_bw, ib_read_bw, ib_send_bw", perftest.suits, perftest.read),
    Reader("p2p", "p2pBandwidthLatencyTest, nvbandwidth", pairs.suits, pairs.read),
    Reader("bandwidth-table", "Markdown tables of bus bandwidth by message size", tables.suits, tables.read),
    Reader("nccl-tests", "nccl-tests and rccl-tests, with NCCL_DEBUG lines", nccl.suits, nccl.read),
)
HEAD = 200_000
"""Characters looked at to tell which tool wrote a log; NCCL_DEBUG lines of many ranks may stand above the table."""


def reader_of(text: str) -> Reader | None:
    """The reader of a text; None where it looks like no tool's output."""
    head = text[:HEAD]
    return next((reader for reader in READERS if reader.suits(head)), None)


def read_benchmark(text: str) -> Benchmark:
    """What a log states, by whatever tool. Raises `NoLog` where no tool's output is recognized."""
    reader = reader_of(text)
    if reader is None:
        reader = READERS[-1] if len(text) > HEAD and "busbw" in text else None
    if reader is None:
        raise NoLog("it is the output of none of " + ", ".join(each.name for each in READERS))
    return reader.read(text)
