"""Runs of a collective library without a result: they hung, or stopped before their first size."""

from __future__ import annotations

import re

from clusterspec.logs.benchmark import Benchmark, Series, largest_communicator, log_evidence
from clusterspec.logs.nccl_rows import ranks_and_nodes, separate_jobs

_MARK = re.compile(
    r"\b(?:NCCL|RCCL) (?:INFO|WARN|error in:)|\bCCOM WARN|\bTest (?:CUDA|HIP|NCCL) failure|^ncclInvalidUsage"
    r"|^# Using devices|\bGloo connectFullMesh failed|Watchdog caught collective operation timeout"
    r"|\buncorrectable (?:ECC|NVLink) error|\bNVRM: Xid",
    re.MULTILINE,
)
TOOL = "a run without a result"


def read_unfinished(text: str) -> Benchmark | None:
    """What a run printed before it hung or stopped: a series without sizes; None if no library wrote the text.

    The ranks are those of the list of devices, else of the largest communicator.
    """
    if not _MARK.search(text):
        return None
    evidence = log_evidence(text)
    ranks, nodes = ranks_and_nodes(text)
    jobs = separate_jobs(text)
    nodes = 1 if jobs > 1 else nodes
    if ranks is None:
        ranks, nodes = largest_communicator(evidence)
    return Benchmark(TOOL, (Series(None, ranks, nodes, (), jobs=jobs),), evidence=evidence)
