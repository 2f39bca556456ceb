"""Logs given to commands: files, standard input, and for a diagnosis the folders of logs that launchers write."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from clusterspec.analysis import log_folders
from clusterspec.analysis.diagnosis import Logs, read_log
from clusterspec.analysis.log_folders import NamedLogs
from clusterspec.cli import UsageFault
from clusterspec.cli.inputs import STDIN, read_bytes
from clusterspec.exchange.import_result import LARGEST, FormatError
from clusterspec.logs.benchmark import Benchmark


def named_logs(names: Sequence[str]) -> Logs:
    """The logs with their names, as `read_log` reads them. Raises `UsageFault` if a file is not a log."""
    shown = _shown_names(names)
    return [(shown[name], _read_log(name, read_bytes(name, LARGEST), unfinished=False)) for name in names]


def logs_of_ranks(names: Sequence[str]) -> NamedLogs:
    """The logs in files and folders, including runs without a result. Raises `UsageFault` if a named file is not a log,
    or if a folder has no logs, or too many or too large files.
    """
    shown = _shown_names(names)
    try:
        return log_folders.logs_of_ranks(
            names,
            read_bytes,
            lambda name: (shown[name], _read_log(name, read_bytes(name, LARGEST), unfinished=True)),
            lambda name: name != STDIN and Path(name).is_dir(),
        )
    except FormatError as why:
        raise UsageFault(str(why)) from None


def _read_log(name: str, data: bytes, *, unfinished: bool) -> Benchmark:
    try:
        return read_log(name, data, unfinished=unfinished)
    except FormatError as why:
        raise UsageFault(f"{name}: {why}") from None


def _shown_names(names: Sequence[str]) -> dict[str, str]:
    """The name of each file in reports, without its folders unless another file has the same name."""
    short = {name: name if name == STDIN else Path(name).name for name in dict.fromkeys(names)}
    times = Counter(short.values())
    return {name: each if times[each] == 1 else name for name, each in short.items()}
