"""Logs given to commands."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from clusterspec.cli import UsageFault
from clusterspec.cli.inputs import STDIN, read_bytes
from clusterspec.exchange.import_result import FormatError
from clusterspec.exchange.input_file import LARGEST
from clusterspec.measurement import Logs, read_log


def benchmarks(names: Sequence[str]) -> Logs:
    """The logs with their names. Raises `UsageFault` if a file is not a log."""
    found = []
    for name in names:
        try:
            found.append((name if name == STDIN else Path(name).name, read_log(name, read_bytes(name, LARGEST))))
        except FormatError as why:
            raise UsageFault(f"{name}: {why}") from None
    return found
