"""Which files a check means, and what is found in each: in turn, or several at a time where there are many."""

from __future__ import annotations

import argparse
import os
from collections.abc import Iterator, Sequence
from pathlib import Path

from clusterspec.cli import OwnFault, UsageFault, callers, told
from clusterspec.cli.inputs import STDIN, Desk, shown
from clusterspec.cli.terminal import Progress
from clusterspec.config.patterns import Ignored
from clusterspec.document import spec_files
from clusterspec.pipeline import Checked
from clusterspec.records import replace
from clusterspec.results import Input

WORTHWHILE = 32
"""Files that one more process must have before it saves more than its start costs."""
CHUNK = 8
"""Files handed to a process at a time: few enough that none waits long for the last one."""


def named(asked: argparse.Namespace, desk: Desk) -> list[str]:
    """The files that the paths name, folders searched, each once. Raises `UsageFault` for a path where nothing is.

    What lies in a folder, may be a spec and cannot be read is among them, with the reason in ``asked.unreadable``.
    """
    found: dict[str, None] = {}

    asked.unreadable = {}

    def passed_over(fault: OSError) -> None:
        found[str(fault.filename)] = None
        asked.unreadable[str(fault.filename)] = fault.strerror or str(fault)

    for path in asked.paths:
        try:
            found |= dict.fromkeys(
                spec_files.specs(
                    path, only_specs=asked.only_specs, passed_over=passed_over, skipped=skipped(desk, path)
                )
            )
        except OSError as fault:
            raise UsageFault(f"{path}: {fault.strerror or fault}") from None
    return list(found)


def skipped(desk: Desk, path: str) -> spec_files.Skipped:
    """What a search of a folder passes over: what the configuration excludes, and what git ignores."""
    folder = Path(path) if Path(path).is_dir() else Path(path).parent
    config = desk.settings(folder.resolve()).config
    ignored = _ignored(desk.asked, path) if config.respect_gitignore and Path(path).is_dir() else None

    def skip(name: str, is_folder: bool) -> bool:
        return config.excludes(name, folder=is_folder) or (ignored is not None and ignored(name, folder=is_folder))

    return skip


def _ignored(asked: argparse.Namespace, path: str) -> Ignored | None:
    """What git ignores in a folder, by the ``.gitignore`` files that ``--trust`` names; None where none counts."""
    if asked.trust == "none":
        return None
    if asked.trust == "base":
        from clusterspec.cli.base_folders import base_ignores

        folder = Path(path).resolve()
        return Ignored(str(folder), base_ignores(folder))
    return Ignored(path)


def checked(asked: argparse.Namespace, desk: Desk, names: Sequence[str]) -> list[Checked]:
    """What is found in every file, in the order of the names, with progress on a terminal."""
    processes = min(asked.jobs or cores(), len(names) // WORTHWHILE)
    several = processes > 1 and STDIN not in names and not asked.debug
    progress, found = Progress(), []
    for one in at_once(asked, names, processes) if several else in_turn(desk, names):
        found.append(one)
        if len(names) > 1:
            progress(f"checked {len(found)} of {len(names)}: {one.input.name}")
    progress.done()
    return found


def cores() -> int:
    """How many processors this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def in_turn(desk: Desk, names: Sequence[str]) -> Iterator[Checked]:
    """One file after the other."""
    return (check(desk, name) for name in names)


def at_once(asked: argparse.Namespace, names: Sequence[str], processes: int) -> Iterator[Checked]:
    """Several processes at work on chunks of the files."""
    from concurrent.futures import ProcessPoolExecutor

    handed = argparse.Namespace(**{key: value for key, value in vars(asked).items() if key != "run"})
    chunks = [list(names[start : start + CHUNK]) for start in range(0, len(names), CHUNK)]
    with ProcessPoolExecutor(processes, initializer=begin, initargs=[handed]) as pool:
        for found in pool.map(chunk, chunks):
            yield from found


OWN: list[Desk] = []
"""The desk of a process that checks chunks: one, so that it reads each configuration and catalog entry once."""


def begin(asked: argparse.Namespace) -> None:
    """Prepares a process that checks chunks; Ctrl-C is left to the process that started it."""
    import signal

    signal.signal(signal.SIGINT, signal.SIG_IGN)
    if asked.trust == "base":
        from clusterspec.cli.base_revision import choose

        choose(asked)  # a process that was not forked has no base revision yet
    OWN[:] = [Desk(asked)]


def chunk(names: Sequence[str]) -> list[Checked]:
    """What is found in some files, fit to be sent to another process."""
    found = list(in_turn(OWN[0], names))
    return [replace(one, fault=OwnFault(told(one.fault))) if one.fault else one for one in found]


def check(desk: Desk, name: str) -> Checked:
    """What is found in one file; a fault of ours is kept for later, so that it hides no other file."""
    try:
        return desk.checked(name)
    except Exception as fault:
        if desk.asked.debug or callers(fault):
            raise
        return Checked(Input(shown(desk.asked, name)), (), {}, fault)


def again(desk: Desk, names: Sequence[str], found: Sequence[Checked], changed: set[str]) -> list[Checked]:
    """What is found now that some texts have changed."""
    stale = [not changed.isdisjoint(one.sources) for one in found]
    return [check(desk, name) if old else one for name, one, old in zip(names, found, stale, strict=True)]


def fault_of(found: Sequence[Checked]) -> OwnFault | None:
    """What went wrong in us, with the file where it did."""
    return next((OwnFault(f"{one.input.name}: {told(one.fault)}") for one in found if one.fault), None)
