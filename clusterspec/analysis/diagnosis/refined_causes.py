"""Causes that a fact of the machine, or another line of the same log, makes likelier or less likely."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from clusterspec.analysis.diagnosis.placed_runs import PlacedRun
from clusterspec.analysis.diagnosis.stated_causes import GIVEN, STEP_OF, STRONG, WEAK
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
LEAST = 0.2
"""The weight of a cause between nodes for a machine of one node, whose containers may still have their own files."""
_FAILED_COMMAND = "returned non-zero exit status 255"
"""What Python prints of a login that failed for any reason (ssh(1): status 255)."""
_CLOSED = ("Broken pipe", "Connection reset")
_OWN_STORE = (
    "start each job by torchrun --standalone, or with its own --rdzv-endpoint=localhost:0: jobs on one node that name "
    "one port share the store of the first, and lose it when that job ends"
)
_MAPPED = (
    "run dmesg | grep -i -E 'sigbus|i/o error"
    "|nfs' on that host; check whether a file that the loader maps is replaced or "
    "cut while it runs"
)


def with_machine_facts(run: PlacedRun, causes: Iterable[Cause]) -> Iterator[Cause]:
    """The causes, with weights and next steps adjusted to facts about the machine and the log.

    If no NVLink switch exists, the driver is the cause of a system that is not ready (wilicc/gpu-burn issue 133).
    Memory is short because of other processes if the error lists several that hold memory (bghira/SimpleTuner issue
    2583), or if its own process holds little of it (pytorch/pytorch issue 40863). A bus error with ample shared memory
    comes from a mapped file that was truncated or cannot be read (mmap(2), SIGBUS; pytorch/pytorch issue 26009). A
    kernel that looks up table rows fails because of an index out of range, such as a token (huggingface/transformers
    issue 1848, inseq-team/inseq pull request 306). One node shares its files with itself.
    """
    ample = run.log_lines("ample-shm")
    switchless = run.cluster.scale_up.topology in _SWITCHLESS
    crowded = bool(run.log_lines("crowded-device", "occupied-device"))
    alone = run.cluster.nodes == 1
    beyond = bool(run.log_lines("embedding-index"))
    for cause in causes:
        if switchless and cause.name == "fabric-manager" and _NOT_READY in cause.evidence:
            yield replace(cause, name="driver-release", next=_DRIVER)
            yield replace(cause, weight=min(cause.weight, GIVEN))
        elif alone and cause.name == "unshared-files":
            yield replace(cause, weight=min(cause.weight, LEAST))
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
        elif cause.name == "packet-loss" and _loses_requests(run):
            text, line = run.log_lines("loss-counter")[0]
            evidence = f"line {line} of the log: {text}, on a fabric whose requests are not answered"
            yield replace(cause, weight=STRONG, evidence=evidence)
        elif _is_told_otherwise(run, cause):
            yield replace(cause, weight=min(cause.weight, GIVEN))
        else:
            yield cause
    yield from _held_rendezvous(run)


def _loses_requests(run: PlacedRun) -> bool:
    """Whether a fabric of Ethernet counts lost packets, and requests of NICs are not answered: each alone is common."""
    fabric = run.cluster.scale_out
    on_ethernet = fabric is not None and fabric.technology.family == "roce"
    return on_ethernet and bool(run.log_lines("loss-counter")) and bool(run.log_lines("unreachable"))


def _is_told_otherwise(run: PlacedRun, cause: Cause) -> bool:
    """Whether other lines print a more likely cause: a login fails by the name of its host if ssh cannot resolve it
    (thu-coai/EVA issue 4).
    """
    if cause.name == "unreachable-peer" and _loses_requests(run):
        return True
    if cause.name == "remote-login" and _FAILED_COMMAND in cause.evidence:
        return any(text.startswith("ssh: ") for text, _ in run.log_lines("name"))
    active = [each.count for each in run.evidence("scarce-devices")]
    return bool(active) and cause.name == _less_likely_absence(run, active[0])


def _less_likely_absence(run: PlacedRun, active: int) -> str:
    """The less likely one of two causes of too few accelerators: nodes that did not join, or accelerators that joined
    nodes do not count.
    """
    return "absent-ranks" if active >= run.cluster.nodes else "missing-accelerator"


def _held_rendezvous(run: PlacedRun) -> Iterator[Cause]:
    """The lost store of a rendezvous on a machine of one node: the launcher of that node holds the store itself, unless
    another job on the node holds it, and ended (wenet-e2e/wespeaker issue 171).
    """
    lost = [line for text, line in run.log_lines("rendezvous") if "C10d store has failed" in text]
    closed = [line for text, line in run.log_lines("peer-ended") if text.startswith(_CLOSED)]
    if run.cluster.nodes == 1 and lost and closed and closed[0] <= lost[0]:
        evidence = f"line {lost[0]} of the log: the store of the launch closed; its port may belong to another job"
        yield Cause("port-in-use", evidence, _OWN_STORE, STRONG)
