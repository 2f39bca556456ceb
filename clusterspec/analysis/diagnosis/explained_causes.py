"""Causes that an event of a host, a device or the scheduler explains, if one log has both.

A failed link leaves requests of its peers unanswered. A failed accelerator or host ends a process, and other ranks
report a lost connection. The line of the event is then the cause, and the lines of the peers follow from it, whatever
their order in the log: kernels, schedulers and ranks write to logs that are joined without their times.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from clusterspec.analysis.diagnosis.call_causes import evidence_line
from clusterspec.analysis.diagnosis.stated_causes import GIVEN, STRONG
from clusterspec.records import replace
from clusterspec.results.diagnosis import Cause

_OF_PEERS = frozenset({"unreachable-peer", "peer-ended", "ranks-diverge", "absent-ranks", "data-loading"})
"""The reports of other ranks about a rank that ended or no longer answers."""
EXPLAINED = {
    "unstable-link": _OF_PEERS | {"packet-loss"},
    "nic-fault": _OF_PEERS | {"unstable-link", "packet-loss"},
    "accelerator-fault": _OF_PEERS | {"program-fault"},
    "host-fault": _OF_PEERS | {"program-fault", "job-ended"},
    "host-memory-full": _OF_PEERS | {"program-fault"},
    "memory-full": _OF_PEERS | {"program-fault"},
    "storage-full": _OF_PEERS | {"program-fault", "storage-fault"},
    "storage-fault": _OF_PEERS | {"program-fault"},
    "job-ended": _OF_PEERS | {"program-fault", "host-memory-full"},
    "shared-accelerator": frozenset({"missing-accelerator"}),
    "non-finite-values": _OF_PEERS | {"program-fault"},
}
"""Causes that are events, each with the causes that other ranks' reports of that event would suggest by themselves.

NVIDIA's catalog of Xids: an application that ran on the device ends with an error of its own. `NCCL_IB_TIMEOUT` and
"Troubleshooting" of the NCCL documentation: retries of a request are exhausted if its peer or its link is gone.
"""


def with_explained_last(causes: Iterable[Cause]) -> Iterator[Cause]:
    """The causes; a cause that the event of another cause explains weighs at most as much as a doubtful setting.

    The event is stated, or shown by the log's numbers, on a separate line.
    """
    causes = tuple(causes)
    lines: dict[str, set[str]] = {}
    for each in causes:
        if each.name in EXPLAINED and each.weight >= STRONG:
            lines.setdefault(each.name, set()).add(evidence_line(each))
    for cause in causes:
        own = {evidence_line(cause)}
        explained = any(cause.name in EXPLAINED[event] and of_event != own for event, of_event in lines.items())
        yield replace(cause, weight=min(cause.weight, GIVEN)) if explained else cause
