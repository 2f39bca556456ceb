"""A NIC that fails toward many peers: the failed requests of a log by the NIC that sent them and their peers.

NCCL names the peer and the NIC of a failed request (NVIDIA/nccl 5067397c, `src/transport/net_ib/p2p.cc`,
`ncclIbLogCompletionWithError`), and Mooncake both NICs (kvcache-ai/Mooncake 3b5a5941, `worker_pool.cpp` of
`rdma_transport`), read on 2026-11-26.
Where one NIC of a host fails toward several peers, and no other NIC of that host fails, the fault is at that NIC or at
its port, not at the peers.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from clusterspec.logs.text_lines import lines_of

FEWEST = 3
"""Peers toward which a NIC fails; two may fail by themselves."""
MOST_LINES = 100_000
"""Largest number of lines with a failed request that are read."""
LONGEST = 1_000
"""Largest number of characters of a line that is read."""
_OF_NCCL = re.compile(
    r"^(?:.{0,120}?[\s\]])?([\w.-]{1,80}):[0-9]{1,9}:[0-9]{1,9} \[[0-9]{1,3}\] .{0,160}?"
    r"Got completion from peer ([^\s<]{3,60})(?:<[0-9]{1,6}>)? .{0,300}?\bhca ([\w:.-]{2,40})"
)
_OF_MOONCAKE = re.compile(
    r"Process failed for slice \(.{0,300}?\blocal_nic: ([\w.-]{2,40}), .{0,200}?\bpeer_nic: ([^\s@,]{3,80})@"
)
_FLUSHED = re.compile(r"status=(?:IBV_WC_WR_FLUSH_ERR\()?5\b|FLUSH|[Ff]lush")
"""A request that was dropped after an earlier one failed."""
Failures = dict[tuple[str, str], dict[str, int]]
"""The failed requests of each NIC of a host: peers, each with the first line."""


def failing_nic(text: str) -> tuple[str, int] | None:
    """The only NIC of its host that fails toward at least `FEWEST` peers, with the first line; None if none does, or if
    NICs of several hosts do, as where a switch fails.

    >>> failing_nic("\\n".join(
    ...     f"n1:7:8 [0] NCCL WARN NET/IB: Got completion from peer 10.0.0.{n}<9> with status=12 hca mlx5_3"
    ...     for n in (2, 3, 4)))
    ('mlx5_3 of n1 fails toward 3 peers, and no other NIC of n1', 1)
    """
    if "Got completion from peer" not in text and "Process failed for slice" not in text:
        return None
    failures: Failures = {}
    for host, nic, peer, number in _failed_requests(text):
        failures.setdefault((host, nic), {}).setdefault(peer, number)
    toward_many = [key for key, peers in failures.items() if len(peers) >= FEWEST]
    for host, nic in toward_many if len(toward_many) == 1 else ():
        peers = failures[host, nic]
        if sum(other == host for other, _ in failures) == 1:
            where = f"of {host} " if host else ""
            others = f"of {host}" if host else "of its host"
            return f"{nic} {where}fails toward {len(peers)} peers, and no other NIC {others}", min(peers.values())
    return None


def _failed_requests(text: str) -> Iterator[tuple[str, str, str, int]]:
    """The host and the NIC of every failed request, its peer, and the line."""
    read = 0
    for number, line in enumerate(lines_of(text), 1):
        if "Got completion from peer" not in line and "Process failed for slice" not in line:
            continue
        read += 1
        if read > MOST_LINES:
            return
        shown = line[:LONGEST]
        if _FLUSHED.search(shown):
            continue
        if match := _OF_NCCL.search(shown):
            yield match[1], match[3], match[2], number
        elif match := _OF_MOONCAKE.search(shown):
            yield "", match[1], match[2], number
