"""Causes of the exit codes, signals and limits by which processes end, each with the next step."""

from __future__ import annotations

from clusterspec.analysis.diagnosis.service_steps import SHORT
from clusterspec.analysis.diagnosis.stated_causes import GIVEN, STEP_OF, WEAK

_FOUND = (
    "run command -v on that program on every node, within the container and the job; check PATH, modules and mounts"
)
_EXECUTED = "run ls -l and file on that program on every node, within the container; check mode, mount and architecture"
EXIT_CAUSES = (
    ("bare-kill", "host-memory-full", ", as when memory is full", STEP_OF["host-memory-full"], WEAK),
    ("killed", "host-memory-full", ", as when the memory of the host is full", STEP_OF["host-memory-full"], GIVEN),
    (
        "service-killed",
        "host-memory-full",
        ", as when the memory of the host is full",
        STEP_OF["host-memory-full"],
        WEAK,
    ),
    ("service-killed", "job-ended", ", as when a service does not stop in time", STEP_OF["job-ended"], WEAK),
    ("crash", "program-fault", "", STEP_OF["program-fault"], GIVEN),
    ("time-limit", "job-ended", ", which a hanging run also reaches", STEP_OF["job-ended"], GIVEN),
    ("set-limit", "ranks-diverge", "; a slow rank or the network give the same", STEP_OF["ranks-diverge"], GIVEN),
    ("set-limit", "invalid-setting", ": less than the ten minutes of PyTorch", SHORT, WEAK),
    ("signal", "job-ended", ", from outside of the run", STEP_OF["job-ended"], GIVEN),
    ("not-found", "library-release", ": a shell finds no such program", _FOUND, GIVEN),
    ("not-found", "invalid-setting", ", as with a path of another installation", _FOUND, WEAK),
    ("not-executable", "file-permission", ": a shell may not execute the program", _EXECUTED, GIVEN),
    ("not-executable", "library-release", ", typical of another architecture", _EXECUTED, WEAK),
)
"""Causes that may explain how a process ended: evidence, cause, words after its text, next step and weight."""
