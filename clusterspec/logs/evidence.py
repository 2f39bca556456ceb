"""Statements of `NCCL_DEBUG=INFO` lines about transports, plugins, GPUDirect and algorithms.

Source of the wording: NCCL, src/transport/net_ib.cc, net_socket.cc, src/plugin/net.cc, src/init.cc; aws-ofi-nccl.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from clusterspec.records import dataclass


@dataclass(frozen=True, slots=True)
class Evidence:
    """A statement of a log: its name, its text and its line."""

    name: str
    text: str
    line: int


_PATTERNS = (
    ("version", re.compile(r"(?:NCCL|RCCL) version\s*+:?\s*+([0-9][0-9A-Za-z.+:_-]{2,40})")),
    ("socket", re.compile(r"NET/Socket\s*:\s*Using\s+(.{1,200})")),
    ("socket", re.compile(r"\bvia NET/Socket/([0-9]+)")),
    ("socket", re.compile(r"Using network (Socket)\b")),
    ("hcas", re.compile(r"NET/IB\s*:\s*Using\s+(.{1,2000})")),
    ("no-ib", re.compile(r"NET/IB\s*:\s*(No device found)")),
    ("ofi", re.compile(r"NET/OFI (?:Selected|selected|Using) (?:provider|Provider)\S*\s+(?:is )?(.{1,100})")),
    ("network", re.compile(r"Using network (\S{2,40})")),
    (
        "no-plugin",
        re.compile(r"NET/Plugin\s*:\s*((?:No plugin found|Could not find|Failed to find|Plugin load).{0,80})"),
    ),
    ("gdr", re.compile(r"via NET/\S{1,30}?(/GDRDMA)")),
    (
        "no-gdr",
        re.compile(
            r"via (NET/(?:IB|OFI|AWS Libfabric|Libfabric|FasTrak|GPUDirectTCPX\S*)/[0-9]+)(?!/GDRDMA)(?:\s|\(|$)"
        ),
    ),
    ("gdr", re.compile(r"GPU Direct RDMA (Enabled) for (?:HCA|GPU)")),
    ("no-gdr", re.compile(r"GPU Direct RDMA (Disabled) for (?:HCA|GPU)")),
    ("nvls", re.compile(r"(?<![0-9])([0-9]+) nvls channels")),
    ("no-nvls", re.compile(r"NVLS multicast support is (not available)")),
    ("group", re.compile(r"nranks ([0-9]+) .{0,200}?nNodes ([0-9]+)|nNodes ([0-9]+) localRanks ([0-9]+)")),
    ("p2p-host", re.compile(r"via (SHM/\S{1,40})")),
    ("environment", re.compile(r"\b((?:NCCL|RCCL|FI)_[A-Z0-9_]{2,40}) set by environment to (\S{1,80}?)\.?(?:\s|$)")),
    ("environment", re.compile(r"\b((?:NCCL|RCCL|FI)_[A-Z0-9_]{2,40})=(\S{1,80})")),
)
_MARK = re.compile(r"NCCL|RCCL|NET/|GDRDMA|FI_")
_DIGITS = re.compile(r"[0-9]+")
MOST_FORMS = 50_000
"""Different lines that are remembered, digits aside."""
MOST = 2_000
"""Statements kept of each name; further ones repeat them for other ranks and channels."""


def evidence(text: str) -> tuple[Evidence, ...]:
    """The distinct statements of a log, in file order."""
    found: dict[tuple[str, str], Evidence] = {}
    counts: dict[str, int] = {}
    for each in _statements(text):
        key = (each.name, each.text)
        if key not in found and counts.get(each.name, 0) < MOST:
            found[key] = each
            counts[each.name] = counts.get(each.name, 0) + 1
    return tuple(found.values())


def _statements(text: str) -> Iterator[Evidence]:
    seen: set[str] = set()
    for number, line in enumerate(text.split("\n"), 1):
        if len(line) > 8_000 or not _MARK.search(line):
            continue
        form = _DIGITS.sub("0", line)
        if form in seen and "nranks" not in line and "nNodes" not in line:
            continue  # the same statement of another rank or channel
        if len(seen) < MOST_FORMS:
            seen.add(form)
        for name, pattern in _PATTERNS:
            if match := pattern.search(line):
                text = " ".join(part for part in match.groups() if part).strip()
                yield Evidence(name, text, number)


def hcas(evidence: tuple[Evidence, ...]) -> int | None:
    """The number of RDMA adapters that NCCL uses on a node: the maximum over ranks; None if no rank names any.

    >>> hcas((Evidence("hcas", "[0]mlx5_0:1/IB [1]mlx5_1:1/IB [RO]; OOB eth0:10.0.0.1<0>", 3),))
    2
    """
    counts = [len(re.findall(r"\[[0-9]+\]", each.text.split("OOB")[0])) for each in evidence if each.name == "hcas"]
    return max(counts, default=None)


def group(evidence: tuple[Evidence, ...]) -> tuple[int | None, int | None]:
    """The ranks and nodes of the largest communicator in the log."""
    ranks = nodes = None
    for each in evidence:
        if each.name == "group":
            one, other = (int(part) for part in each.text.split()[:2])
            first = "localRanks" not in each.text and one >= other
            total = one if first else one * other
            if ranks is None or total > ranks:
                ranks, nodes = total, other if first else one
    return ranks, nodes
