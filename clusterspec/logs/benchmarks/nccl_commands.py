"""The command above a table of nccl-tests, which states the ranks where the list of devices is left out.

Options: NVIDIA/nccl-tests, README.md: ``-t`` threads of a process, ``-g`` accelerators of a thread, 1 each when absent;
ranks are processes x threads x accelerators.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import islice

from clusterspec.logs.benchmarks.benchmark import MOST_RANKS

_COMMAND = re.compile(
    r"[ \t]{0,16}(?:[$>#][ \t]{1,4})?(?:[A-Z][A-Z0-9_]{0,60}=\S{0,200}[ \t]+)*(?:\S{0,200}/)?\w{1,30}_perf[ \t]"
)
_COUNTS = {"-t": "threads", "--nthreads": "threads", "-g": "accelerators", "--ngpus": "accelerators"}
MOST_LINES = 200_000
LONGEST = 4_000


def ranks_of_command(text: str) -> int | None:
    """The ranks that a command states which starts one process; None for none, or several that differ.

    A command of a launcher (``mpirun``) is left out: how many of its processes belong to one run, which depends on the
    build.

    >>> ranks_of_command("./build/sendrecv_perf -b 128M -e 1G -f 2 -g 8\\n")
    8
    >>> ranks_of_command("mpirun -np 16 \\\\\\n ./all_reduce_perf -g 1\\n")
    """
    found = {_ranks_stated(command) for command in _commands_of(text)}
    return next(iter(found)) if len(found) == 1 else None


def _commands_of(text: str) -> Iterator[str]:
    """The lines that begin with a program of nccl-tests, each with the lines that continue it."""
    held = ""
    for line in islice(text.splitlines(), MOST_LINES):
        joined = held + line[:LONGEST]
        held = joined.rstrip()[:-1] + " " if joined.rstrip().endswith("\\") and len(joined) < LONGEST else ""
        if not held and _COMMAND.match(joined):
            yield joined


def _ranks_stated(command: str) -> int | None:
    """The product of threads and accelerators; None if one of them is no number."""
    counts = {"threads": "1", "accelerators": "1"}
    words = re.sub(r"=", " ", command.partition("_perf")[2]).split()
    for at, word in enumerate(words):
        if word in _COUNTS:
            counts[_COUNTS[word]] = words[at + 1] if at + 1 < len(words) else ""
    if not all(re.fullmatch(r"[0-9]{1,6}", count) for count in counts.values()):
        return None
    ranks = int(counts["threads"]) * int(counts["accelerators"])
    return ranks if 0 < ranks <= MOST_RANKS else None
