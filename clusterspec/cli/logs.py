"""Reads the logs that a command names."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from clusterspec.cli import UsageFault
from clusterspec.cli.inputs import STDIN, read_bytes
from clusterspec.exchange.files import LARGEST, InputFile
from clusterspec.exchange.reading import Refusal
from clusterspec.logs.benchmark import Benchmark
from clusterspec.logs.nccl_tests import NoLog
from clusterspec.logs.readers import read_benchmark


def benchmarks(names: Sequence[str]) -> list[tuple[str, Benchmark]]:
    """Every log by its name. Raises `UsageFault` for a file that is no log, in one line."""
    return [(name if name == STDIN else Path(name).name, _benchmark(name)) for name in names]


def _benchmark(name: str) -> Benchmark:
    file = InputFile(name, read_bytes(name, LARGEST))
    try:
        return read_benchmark("\n".join(file.lines))
    except (Refusal, NoLog) as why:
        raise UsageFault(f"{name}: {why}") from None
