"""The check that decides between the first two possible causes of a slow run, by the parts of the machine that they are
of.
"""

from __future__ import annotations

from collections.abc import Sequence
from enum import Enum

from clusterspec.results.diagnosis import Cause


class Part(Enum):
    """The part of a machine, or of the work on it, that makes a run slow."""

    DATA = "files, storage and data loading"
    HOST = "processors and memory of the hosts"
    DEVICES = "accelerators"
    PATHS = "links within a node"
    NETWORK = "NICs, switches and the collectives over them"
    WORK = "the work itself: its sizes, its balance and its kernels"
    RELEASES = "releases of software"


DATA, HOST, DEVICES, PATHS, NETWORK, WORK, RELEASES = Part
PARTS: dict[str, Part] = {
    **dict.fromkeys(("data-loading", "storage-fault", "storage-full", "unshared-files"), DATA),
    **dict.fromkeys(("host-bound", "core-binding", "host-memory-full", "numa-balancing", "numa-per-socket"), HOST),
    **dict.fromkeys(("throttled-clocks", "accelerator-fault", "shared-accelerator", "unequal-accelerators"), DEVICES),
    **dict.fromkeys(("no-direct-links", "acs", "iommu-translation", "peer-access-off", "wrong-topology"), PATHS),
    **dict.fromkeys(("wrong-pcie-generation", "shared-memory", "network-inside-domain", "no-nvls"), PATHS),
    **dict.fromkeys(("socket-fall-back", "gpudirect-off", "one-nic", "few-nics", "packet-loss"), NETWORK),
    **dict.fromkeys(("unstable-link", "shared-paths", "bonded-ports", "wrong-interface", "nic-distance"), NETWORK),
    **dict.fromkeys(("plugin-missing", "few-channels", "oversubscribed-level", "nic-fault"), NETWORK),
    **dict.fromkeys(("small-work", "uneven-work", "wide-groups", "kernel-compilation", "periodic-pauses"), WORK),
    **dict.fromkeys(("release-fault", "library-release", "driver-release", "plugin-mismatch"), RELEASES),
}
"""The part to which each cause belongs."""
_ONE_BATCH = "time steps with one batch that is loaded once: if they are fast, reading is the cause; if not, "
_COLLECTIVE = "run all_reduce_perf with the same ranks: if its bandwidth is as expected, "
_PAIRS = "run p2pBandwidthLatencyTest on one node: if all pairs are as expected, "
CHECKS: dict[frozenset[Part], str] = {
    frozenset({DATA, HOST}): f"{_ONE_BATCH}top -H shows threads at 100 %",
    frozenset({DATA, DEVICES}): f"{_ONE_BATCH}nvidia-smi -q -d CLOCK,PERFORMANCE shows clocks and their limits",
    frozenset({DATA, PATHS}): f"{_ONE_BATCH}run p2pBandwidthLatencyTest",
    frozenset({DATA, NETWORK}): f"{_ONE_BATCH}run all_reduce_perf with the same ranks",
    frozenset({DATA, WORK}): f"{_ONE_BATCH}a profile of one step shows gaps or repeated compilation",
    frozenset({HOST, DEVICES}): (
        "run nvidia-smi dmon -s pucm beside top -H: low use of accelerators beside a thread at 100 % is of the host, "
        "low clocks at full use are of the accelerators"
    ),
    frozenset({HOST, PATHS}): f"{_PAIRS}the host is the cause",
    frozenset({HOST, NETWORK}): f"{_COLLECTIVE}the host is the cause",
    frozenset({HOST, WORK}): (
        "profile one step: gaps between kernels are of the host; then double the batch: if the time of a step hardly "
        "grows, its work is too small"
    ),
    frozenset({DEVICES, PATHS}): "run dcgmi diag -r 3, then p2pBandwidthLatencyTest: one accelerator, or its pairs",
    frozenset({DEVICES, NETWORK}): "run dcgmi diag -r 3 on each node, then all_reduce_perf over pairs of nodes",
    frozenset({DEVICES, WORK}): (
        "compare the times of all ranks over some steps: always the same rank is its accelerator, changing ranks are "
        "the work"
    ),
    frozenset({PATHS, NETWORK}): "run all_reduce_perf on one node, then on two: the first slow one shows the part",
    frozenset({PATHS, WORK}): f"{_PAIRS}double the batch: if the time of a step hardly grows, its work is too small",
    frozenset({NETWORK, WORK}): f"{_COLLECTIVE}the groups, sizes and balance of the work are the cause",
}
"""The check that decides between two parts."""
_OF_RELEASES = "run the release before on the same nodes: if it is as fast as expected, the release is the cause"


def deciding_check(possible: Sequence[Cause]) -> str:
    """The check that decides between the first two causes of different parts; empty without two of known parts.

    >>> step = ("", "", 0.1)
    >>> deciding_check([Cause("host-bound", *step), Cause("socket-fall-back", *step)])[:19]
    'run all_reduce_perf'
    >>> deciding_check([Cause("host-bound", *step), Cause("core-binding", *step)])
    ''
    """
    parts = [PARTS[each.name] for each in possible if each.name in PARTS]
    other = next((part for part in parts if part != parts[0]), None)
    if other is None:
        return ""
    return _OF_RELEASES if RELEASES in (parts[0], other) else CHECKS[frozenset({parts[0], other})]
