"""Logs given to commands: files, standard input, and for a diagnosis the folders of logs that launchers write."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path

from clusterspec.analysis.diagnosis import Logs, read_log
from clusterspec.cli import UsageFault
from clusterspec.cli.inputs import STDIN, read_bytes
from clusterspec.exchange.import_result import LARGEST, FormatError
from clusterspec.logs.benchmark import Benchmark
from clusterspec.records import NamedTuple

MOST_FILES = 1_024
"""Files of a folder of logs: two of each of 512 ranks."""
MOST_ENTRIES = 4 * MOST_FILES
"""Entries of a folder of logs and of those below it, folders and hidden files among them."""
DEEPEST = 6
"""Folders below a folder of logs: torchrun writes into two (run and attempt) and one for each rank."""


class NamedLogs(NamedTuple):
    """Logs by the names that reports use, and files of folders that are no logs, with the reasons."""

    logs: Logs
    skipped: tuple[tuple[str, str], ...] = ()


def named_logs(names: Sequence[str]) -> Logs:
    """The logs with their names, as `read_log` reads them. Raises `UsageFault` if a file is not a log."""
    shown = _shown_names(names)
    return [(shown[name], _log(name, read_bytes(name, LARGEST), unfinished=False)) for name in names]


def logs_of_ranks(names: Sequence[str]) -> NamedLogs:
    """The logs of files and folders, those of runs without a result too. Raises `UsageFault` if a file that is named
    is not a log, or a folder has none, or too many or too large files.
    """
    shown = _shown_names(names)
    logs: list[tuple[str, Benchmark]] = []
    skipped: list[tuple[str, str]] = []
    for name in names:
        if name == STDIN or not Path(name).is_dir():
            logs.append((shown[name], _log(name, read_bytes(name, LARGEST), unfinished=True)))
            continue
        found = _logs_of_folder(name)
        logs += found.logs
        skipped += found.skipped
    return NamedLogs(logs, tuple(skipped))


def _log(name: str, data: bytes, *, unfinished: bool) -> Benchmark:
    try:
        return read_log(name, data, unfinished=unfinished)
    except FormatError as why:
        raise UsageFault(f"{name}: {why}") from None


def _shown_names(names: Sequence[str]) -> dict[str, str]:
    """The name of each file in reports: without its folders where no other file has the same."""
    short = {name: name if name == STDIN else Path(name).name for name in dict.fromkeys(names)}
    times = Counter(short.values())
    return {name: each if times[each] == 1 else name for name, each in short.items()}


def _logs_of_folder(folder: str) -> NamedLogs:
    """The logs in a folder and those below it, in order of their paths; names are paths from the folder given."""
    logs: list[tuple[str, Benchmark]] = []
    skipped: list[tuple[str, str]] = []
    left = LARGEST
    for name in _files_below(folder):
        data = read_bytes(name, left)
        left -= len(data)
        if left < 0:
            raise UsageFault(f"{folder}: its files have more than {LARGEST >> 20} MiB together: name the logs to read")
        try:
            if data.strip():
                logs.append((name, read_log(name, data, unfinished=True)))
        except FormatError as why:
            skipped.append((name, str(why)))
    if not logs:
        reason = f"{skipped[0][0]}: {skipped[0][1]}" if skipped else "it has no file that is not empty"
        raise UsageFault(f"{folder}: no log is in it: {reason}")
    return NamedLogs(logs, tuple(skipped))


def _files_below(folder: str) -> list[str]:
    """The files of a folder and of those below it, sorted; symlinks, hidden entries and devices are left out."""
    files: list[str] = []
    entries = 0
    left = [(folder, 0)]
    while left:
        where, depth = left.pop()
        for entry in _entries(where):
            entries += 1
            if entries > MOST_ENTRIES or len(files) == MOST_FILES:
                raise UsageFault(f"{folder}: it has more than {MOST_FILES:,} files: name the logs to read")
            if entry.name.startswith(".") or entry.is_symlink():
                continue
            if entry.is_file(follow_symlinks=False):
                files.append(entry.path)
            elif entry.is_dir(follow_symlinks=False):
                if depth == DEEPEST:
                    raise UsageFault(f"{folder}: it is more than {DEEPEST} folders deep: name the logs to read")
                left.append((entry.path, depth + 1))
    return sorted(files)


def _entries(where: str) -> Iterator[os.DirEntry[str]]:
    try:
        with os.scandir(where) as entries:
            yield from entries
    except OSError as fault:
        raise UsageFault(f"{where}: {fault.strerror or fault}") from None
