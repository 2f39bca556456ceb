"""Causes that a fact of the machine, or another line of the same log, makes likelier or less likely."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from clusterspec.analysis.placed_runs import PlacedRun
from clusterspec.analysis.stated_causes import GIVEN, STEP_OF, STRONG, WEAK
from clusterspec.records import replace
from clusterspec.results.diagnosis import Cause

_NOT_READY = "not yet initialized"
"""Text of `cudaErrorSystemNotReady` (802), which the driver returns until its links are configured."""
_SWITCHLESS = frozenset({"pcie", "bridge"})
"""Topologies without switches, which no service configures."""
_DRIVER = (
    "dmesg | grep -i nvrm on that host; nokaslr on its kernel command line, options nvidia_uvm uvm_disable_hmm=1, or "
    "another release of the driver: the machine has no NVLink switches to wait for"
)
_BUS_ERROR = "insufficient shared memory"
"""What PyTorch supposes of a bus error of a worker (`torch/utils/data/_utils/signal_handling.py`)."""
_MAPPED = (
    "run dmesg | grep -i -E 'sigbus|i/o error"
    "|nfs' on that host; check whether a file that the loader maps is replaced or "
    "cut while it runs"
)


def with_machine_facts(run: PlacedRun, found: Iterable[Cause]) -> Iterator[Cause]:
    """The causes, weighed by what else is known.

    If no NVLink switch exists, the driver is the cause of a system that is not ready (wilicc/gpu-burn issue 133).
    Memory is short because of other processes if the error lists several that hold memory (bghira/SimpleTuner issue
    2583), or if its own process holds little of what is not free (pytorch/pytorch issue 40863). A bus error with ample
    shared memory is of a file in memory that became shorter or cannot be read (mmap(2), SIGBUS; pytorch/pytorch issue
    26009). A kernel that looks up rows of a table fails because of the index that it is given, such as a token
    (huggingface/transformers issue 1848, inseq-team/inseq pull request 306).
    """
    ample = run.log_lines("ample-shm")
    switchless = run.cluster.scale_up.topology in _SWITCHLESS
    crowded = bool(run.log_lines("crowded-device", "occupied-device"))
    beyond = bool(run.log_lines("embedding-index"))
    for cause in found:
        if switchless and cause.name == "fabric-manager" and _NOT_READY in cause.evidence:
            yield replace(cause, name="driver-release", next=_DRIVER)
            yield replace(cause, weight=min(cause.weight, GIVEN))
        elif beyond and cause.name == "program-fault":
            yield replace(cause, weight=min(cause.weight, GIVEN))
        elif crowded and cause.name == "memory-full":
            yield replace(cause, weight=min(cause.weight, GIVEN), next=STEP_OF["memory-full"])
        elif ample and cause.name == "shared-memory" and _BUS_ERROR in cause.evidence:
            text, line = ample[0]
            evidence = f"line {line} of the log: shared memory is ample, thus not what the bus error is of: {text}"
            yield Cause("storage-fault", evidence, _MAPPED, STRONG)
            yield Cause("host-memory-full", evidence, STEP_OF["host-memory-full"], WEAK)
            yield replace(cause, weight=min(cause.weight, GIVEN))
        else:
            yield cause
