"""Causes at one NIC, if only this NIC fails toward many peers."""

from __future__ import annotations

import re
from collections.abc import Iterator

from clusterspec.analysis.diagnosis.placed_runs import PlacedRun
from clusterspec.analysis.diagnosis.stated_causes import STATED, STEP_OF, STRONG
from clusterspec.results.diagnosis import Cause

_UNANSWERED = re.compile(r"RETRY|[Rr]etry|(?:status=|error )12\b")
"""A request that was resent until its retries were exhausted, because its packets or the answers were lost."""
_PORT = (
    "ibstat and mlxlink -d of that NIC: the state, the rate and the error counters of its port; exchange its cable, "
    "then its transceiver and the port of the switch; leave it out of NCCL_IB_HCA until then"
)


def failing_nics(run: PlacedRun) -> Iterator[Cause]:
    """The port or the device of a NIC that fails toward several peers while no other NIC of its host fails.

    The port is the first cause of lost packets; the device is the first cause of errors that it reports itself.
    """
    for text, line in run.log_lines("failing-nic")[:1]:
        evidence = f"line {line} of the log: {text}"
        lost = any(_UNANSWERED.search(each) for each, _ in run.log_lines("unreachable"))
        yield Cause("unstable-link", evidence, _PORT, STATED if lost else STRONG)
        yield Cause("nic-fault", evidence, STEP_OF["nic-fault"], STRONG if lost else STATED)


def unstable_links(run: PlacedRun) -> Iterator[Cause]:
    """Ports that the driver reports as failing during the run (NVIDIA/nccl, issue 905)."""
    for text, line in run.log_lines("port-error")[:1]:
        following = "ibqueryerrors, or mlxlink -d DEVICE -c, for the host of that line; reseat or replace its cable"
        yield Cause("unstable-link", f"line {line} of the log: {text}", following, STATED)
