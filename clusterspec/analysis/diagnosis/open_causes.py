"""Open causes of a log: they end in the same lines as a cause that is only possible; each has its next step.

A symptom (a closed connection, a crash, a timeout, an exception without its place) has several causes, and the log of a
run often shows the symptom alone. The right answer is then the list of possible causes, each with the measurement
that decides it.
"""

from __future__ import annotations

from collections.abc import Sequence

from clusterspec.analysis.diagnosis.device_steps import with_steps_of_devices
from clusterspec.analysis.diagnosis.placed_runs import PlacedRun
from clusterspec.analysis.diagnosis.stated_causes import STEP_OF
from clusterspec.results.diagnosis import Cause

SAME_END = 0.2
"""The weight of a cause that no log line names but that ends in the same lines as a possible cause."""
_OOM = "run dmesg | grep -i -E 'oom|killed process' and free -g on the host of that rank, for that time"
_PROGRAM = "run the program on two accelerators of one node; if it gives the same error, the program is the cause"
_RELEASES = (
    "search the release notes and issues of the library that the line names for its words; repeat the run with the "
    "release before or after it"
)
_HEALTH = "run dmesg | grep -i xid and dcgmi diag -r 3 on that host; repeat the run without that host"
_ALONE = (
    "run all_reduce_perf of nccl-tests with the same ranks; if it also hangs or fails, the program is not the cause"
)
_FILES = "run ps -eo pid,stat,wchan for every rank; state D with nfs_… or cl_… points to the file system"
_OPTIONS = (
    "compare the options and variables of that run with those of the last run that worked, or of the program's own "
    "example"
)
_STARTED = "check in the logs of all ranks which of them printed their first line"
UNKNOWN = ""
"""The cause named for an error that matches no known cause."""
ENDS_ALIKE: dict[str, tuple[tuple[str, str], ...]] = {
    # verl-project/verl issue 719, Simplified-Reasoning/LUFFY issue 11, real-stanford/flingbot issue 2
    "peer-ended": (
        ("host-memory-full", _OOM),
        ("program-fault", "find the first error and the signal in the log of that rank"),
        ("library-release", _RELEASES),
        ("unreachable-peer", _ALONE),
    ),
    # deepseek-ai/DeepEP issue 150, ROCm/legacy-rocm-build issue 6290
    "program-fault": (("library-release", _RELEASES), ("accelerator-fault", _HEALTH)),
    # pytorch/pytorch issue 118369, NVIDIA/nccl issue 257, instructlab/instructlab issue 3321 (a full disk)
    "ranks-diverge": (
        ("unreachable-peer", _ALONE),
        ("peer-ended", "sort the logs of all ranks by time, and look for one that ended before"),
        ("storage-fault", _FILES),
        ("accelerator-fault", _HEALTH),
        ("storage-full", STEP_OF["storage-full"]),
    ),
    "program-error": (("library-release", _RELEASES), ("invalid-setting", _OPTIONS)),
    UNKNOWN: (("program-error", _PROGRAM), ("library-release", _RELEASES), ("invalid-setting", _OPTIONS)),
    "library-release": (("invalid-setting", _OPTIONS), ("program-error", _PROGRAM)),
    "invalid-setting": (("library-release", _RELEASES), ("program-error", _PROGRAM)),
    # FanqingM/MM-Eureka-V0 issue 16
    "unreachable-peer": (
        (
            "wrong-interface",
            ("run ip -br addr on every node, and check that all nodes reach the addresses of that line"),
        ),
        ("absent-ranks", _STARTED),
        ("library-release", _RELEASES),
        ("nic-fault", STEP_OF["nic-fault"]),
    ),
    "absent-ranks": (("unreachable-peer", _ALONE), ("peer-ended", _STARTED)),
    "throttled-clocks": (("accelerator-fault", _HEALTH), ("shared-accelerator", STEP_OF["shared-accelerator"])),
    "host-memory-full": (("job-ended", STEP_OF["job-ended"]), ("program-fault", STEP_OF["program-fault"])),
    "missing-accelerator": (
        ("driver-release", STEP_OF["driver-release"]),
        ("container-permission", "run id, and ls -l /dev/nvidia* /dev/kfd /dev/dri within the container"),
        ("accelerator-fault", _HEALTH),
    ),
    "unsupported-accelerator": (("library-release", _RELEASES), ("driver-release", STEP_OF["driver-release"])),
    "memory-full": (("shared-accelerator", STEP_OF["shared-accelerator"]), ("invalid-setting", _OPTIONS)),
    "accelerator-fault": (("driver-release", STEP_OF["driver-release"]), ("program-fault", STEP_OF["program-fault"])),
    "driver-release": (("accelerator-fault", _HEALTH), ("container-permission", STEP_OF["driver-release"])),
    "storage-fault": (("storage-full", STEP_OF["storage-full"]), ("file-permission", STEP_OF["file-permission"])),
    "job-ended": (("host-memory-full", _OOM), ("peer-ended", _STARTED)),
    "checkpoint-mismatch": (("library-release", _RELEASES), ("invalid-setting", _OPTIONS)),
}
"""For each cause: other causes that end in the same lines, likeliest first, each with its next step."""
BETWEEN_NODES = frozenset({"unreachable-peer", "wrong-interface", "nic-fault"})
"""Causes that do not apply to a run on one node."""
MOST = 6
"""Largest number of causes that are listed together where the log decides none."""


def causes_alike(run: PlacedRun, causes: Sequence[Cause], error: str) -> tuple[Cause, ...]:
    """Causes that no log line names but that end in the same lines as ``causes``, or as an ``error`` without
    a known cause. Empty if the run has a result or the log decides its cause.
    """
    if run.has_result or any(cause.is_decisive for cause in causes):
        return ()
    ends = [(cause.name, cause.evidence) for cause in causes] + ([(UNKNOWN, error)] if error else [])
    named = {cause.name for cause in causes}
    barred = named | (BETWEEN_NODES if run.group.nodes == 1 else frozenset())
    alike: list[Cause] = []
    for end, evidence in ends:
        for name, step in ENDS_ALIKE.get(end, ()):
            if name not in barred and len(named) + len(alike) < MOST:
                barred |= {name}
                alike.append(Cause(name, f"{_place_of(evidence)}: runs with it end alike", step, SAME_END))
    return tuple(with_steps_of_devices(run, alike))


def _place_of(evidence: str) -> str:
    """The start of a cause's evidence that names its log line, such as `line 7 of the log`."""
    line = evidence.partition(": ")[0].removesuffix(" of the log")
    return f"{line} of the log"
