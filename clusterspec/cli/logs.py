"""Reads the logs that a command names."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from clusterspec.cli import UsageFault
from clusterspec.cli.inputs import STDIN, read_bytes
from clusterspec.exchange.import_result import FormatError
from clusterspec.exchange.input_file import LARGEST
from clusterspec.measurement import Logs, read_log


def benchmarks(names: Sequence[str]) -> Logs:
    """Every log by its name. Raises `UsageFault` for a file that is no log, in one line."""
    found = []
    for name in names:
        try:
            found.append((name if name == STDIN else Path(name).name, read_log(name, read_bytes(name, LARGEST))))
        except FormatError as why:
            raise UsageFault(f"{name}: {why}") from None
    return found
