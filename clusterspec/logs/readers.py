"""Registry of benchmark log readers."""

from __future__ import annotations

from collections.abc import Callable

from clusterspec.logs import hccl, nccl, nccom, pairs, perftest, tables
from clusterspec.logs.benchmark import Benchmark
from clusterspec.logs.nccl_tests import NotALogError
from clusterspec.records import dataclass


@dataclass(frozen=True, slots=True)
class LogReader:
    """A log reader: ``matches`` tests the head of a text, ``read`` parses the text."""

    name: str
    title: str
    matches: Callable[[str], bool]
    read: Callable[[str], Benchmark]


READERS = (
    LogReader("nccom-test", "nccom-test of AWS Neuron", nccom.matches, nccom.read),
    LogReader("hccl", "HCCL demo of Gaudi, hccl_test of Ascend", hccl.matches, hccl.read),
    LogReader("perftest", "ib_write_bw, ib_read_bw, ib_send_bw", perftest.matches, perftest.read),
    LogReader("p2p", "p2pBandwidthLatencyTest, nvbandwidth", pairs.matches, pairs.read),
    LogReader("bandwidth-table", "Markdown tables of bus bandwidth by message size", tables.matches, tables.read),
    LogReader("nccl-tests", "nccl-tests and rccl-tests, with NCCL_DEBUG lines", nccl.matches, nccl.read),
)
HEAD = 200_000
"""Characters from which the tool of a log is detected; NCCL_DEBUG lines of many ranks may precede the table."""


def reader_of(text: str) -> LogReader | None:
    """The reader of a text; None if no reader matches it."""
    head = text[:HEAD]
    return next((reader for reader in READERS if reader.matches(head)), None)


def read_benchmark(text: str) -> Benchmark:
    """The content of a log of any supported tool. Raises `NotALogError` if no reader matches it."""
    reader = reader_of(text)
    if reader is None:
        reader = READERS[-1] if len(text) > HEAD and "busbw" in text else None
    if reader is None:
        raise NotALogError("it is the output of none of " + ", ".join(each.name for each in READERS))
    return reader.read(text)
