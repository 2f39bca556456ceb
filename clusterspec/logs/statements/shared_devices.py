"""Ranks of one communicator that start on one device of one host, as NCCL and RCCL print their start.

The library refuses them, and its warning is only in the log of one rank (NVIDIA/nccl 5067397c,
`src/init.cc`: `initTransportsRank`). The start of each rank names its device, so a log without the warning shows the
conflict, too. If a communicator completes, its ranks may share devices, as with multi-instance partitions.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from clusterspec.logs.text_lines import lines_of

MOST_LINES = 100_000
"""Starts of ranks that are read."""
LONGEST = 1_000
"""Largest number of characters of a line that is read."""
_START = re.compile(
    r"([\w.-]{1,80}):[0-9]{1,9}:[0-9]{1,9} \[[0-9]{1,3}\] (?:NCCL|RCCL) INFO .{0,80}?\bcomm 0x[0-9a-f]{1,16} "
    r"rank ([0-9]{1,7}) n[rR]anks [0-9]{1,7} .{0,80}?\bbusId ([0-9a-f]{1,16}) commId (0x[0-9a-f]{1,16}) - Init "
    r"(START|COMPLETE)"
)
Starts = dict[tuple[str, str], dict[int, int]]
"""The ranks of each communicator and device of a host, each with the line of its start."""


def ranks_on_one_device(text: str) -> tuple[str, int] | None:
    """Two ranks of a communicator that start on one device of one host, with the line of the second; None without
    any, or where the communicator completes.

    >>> ranks_on_one_device("\\n".join(
    ...     f"n1:{rank}:9 [0] NCCL INFO ncclCommInitRank comm 0x{rank} rank {rank} nranks 2 cudaDev 0 nvmlDev 0 "
    ...     "busId 1b000 commId 0xab - Init START" for rank in (0, 1)))
    ('ranks 0 and 1 of one communicator start on the device 1b000 of n1', 2)
    """
    if "Init START" not in text:
        return None
    starts: Starts = {}
    device_of: dict[tuple[str, str], tuple[str, str]] = {}
    complete: set[str] = set()
    for number, match in _initialization_bounds(text):
        host, rank, device, communicator, state = match.groups()
        if state == "COMPLETE":
            complete.add(communicator)
            continue
        key = (communicator, f"{host} {device}")
        device_of[key] = (host, device)
        starts.setdefault(key, {}).setdefault(int(rank), number)
    for key, ranks in starts.items():
        if len(ranks) > 1 and key[0] not in complete:
            host, device = device_of[key]
            (one, _), (other, line) = sorted(ranks.items(), key=lambda each: each[1])[:2]
            return f"ranks {one} and {other} of one communicator start on the device {device} of {host}", line
    return None


def _initialization_bounds(text: str) -> Iterator[tuple[int, re.Match[str]]]:
    """The starts and ends of the initialization of ranks, each with its line."""
    read = 0
    for number, line in enumerate(lines_of(text), 1):
        if " - Init " not in line:
            continue
        read += 1
        if read > MOST_LINES:
            return
        if match := _START.search(line[:LONGEST]):
            yield number, match
