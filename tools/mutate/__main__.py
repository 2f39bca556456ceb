"""Mutation test: the command line of `tools.mutate`."""

from __future__ import annotations

import argparse
import queue
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import Executor, ThreadPoolExecutor
from pathlib import Path

from tools import mutate as described
from tools.mutate.blocks import block_line
from tools.mutate.candidates import Failing, Recording, candidates, recordings
from tools.mutate.copies import KILLED, UNDECIDED, copy_of_project, outcome
from tools.mutate.places import PACKAGES, ROOT, TOP, Mutation, sample, sample_across

LEAST = 0.85
"""The share of mutations that has to be killed."""


class Judge:
    """Tries mutations of one package: each in the first copy that is free."""

    def __init__(self, recorded: dict[str, Recording], folders: list[Path], seconds: int) -> None:
        self.recorded, self.seconds = recorded, seconds
        self.free: queue.SimpleQueue[Path] = queue.SimpleQueue()
        for folder in folders:
            self.free.put(folder)

    def result(self, mutation: Mutation) -> str:
        """`KILLED`, `SURVIVED` or `UNDECIDED`."""
        line = block_line(mutation.file.read_text("utf-8"), mutation.line)
        tests = candidates(mutation.file.relative_to(ROOT).as_posix(), line, self.recorded)
        folder = self.free.get()
        try:
            return outcome(mutation, folder, tests, self.seconds)
        finally:
            self.free.put(folder)


def draws(options: argparse.Namespace) -> Iterator[tuple[str, list[Mutation]]]:
    """The packages with the mutations that are drawn of each."""
    if options.across:
        yield from sample_across(options.packages, options.across, options.seed).items()
        return
    for package in options.packages:
        yield package, list(sample(package, options.number, options.seed))


def results(drawn: list[Mutation], judge: Judge, pool: Executor) -> Counter[str]:
    """The numbers of mutations that are killed, survive and stay undecided; prints each one that is not killed."""
    counts: Counter[str] = Counter()
    for mutation, result in zip(drawn, pool.map(judge.result, drawn), strict=True):
        counts[result] += 1
        if result != KILLED:
            print(f"{result}: {mutation.file.relative_to(ROOT)}:{mutation.line}: {mutation.what}", flush=True)
    return counts


def killed_share(counts: Counter[str]) -> float:
    """The share of the mutations that tests kill; an undecided one counts as not killed."""
    return counts[KILLED] / counts.total() if counts.total() else 1.0


def score_line(package: str, counts: Counter[str]) -> str:
    """One line on the results of a package."""
    undecided = f", {counts[UNDECIDED]} undecided" if counts[UNDECIDED] else ""
    return f"{package}: {counts[KILLED]} of {counts.total()} killed{undecided} ({killed_share(counts):.0%})"


def judged(options: argparse.Namespace, folders: list[Path]) -> dict[str, Counter[str]]:
    """The results by package; prints them as they come."""
    counted: dict[str, Counter[str]] = {}
    with ThreadPoolExecutor(len(folders)) as pool:
        for package, drawn in draws(options):
            judge = Judge(recordings(package, folders, pool), folders, options.seconds)
            counted[package] = results(drawn, judge, pool)
            print(score_line(package, counted[package]), flush=True)
    return counted


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(prog="mutate", description=described.__doc__)
    parser.add_argument("packages", nargs="*", default=[*PACKAGES, TOP])
    parser.add_argument("--number", type=int, default=20)
    parser.add_argument("--across", type=int, default=0, help="draw as many from all packages together")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--jobs", type=int, default=2, help="copies of the project that run tests at the same time")
    parser.add_argument("--seconds", type=int, default=600, help="processor time of the tests of one mutation")
    options = parser.parse_args(arguments)
    with tempfile.TemporaryDirectory() as name:
        folders = [copy_of_project(Path(name) / str(number)) for number in range(options.jobs)]
        try:
            counted = judged(options, folders)
        except Failing as fault:
            print(fault, file=sys.stderr)
            return 2
    total = sum(counted.values(), Counter())
    print(score_line("all", total))
    shares = [total] if options.across else list(counted.values())
    return 0 if min(map(killed_share, shares), default=1.0) >= LEAST else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
