"""Causes of the exit codes and signals by which processes end, each with the next step."""

from __future__ import annotations

from clusterspec.analysis.stated_causes import GIVEN, STEP_OF, WEAK

_FOUND = "on every node, within the container and the job: command -v of that program; PATH, modules and mounts"
_EXECUTED = "ls -l and file of that program on every node, within the container: mode, mount, architecture"
EXIT_CAUSES = (
    ("killed", "host-memory-full", ", as where the memory of the host is full", STEP_OF["host-memory-full"], GIVEN),
    ("crash", "program-fault", "", STEP_OF["program-fault"], GIVEN),
    ("time-limit", "job-ended", ", which a run that hangs meets, too", STEP_OF["job-ended"], GIVEN),
    ("signal", "job-ended", ", from outside of the run", STEP_OF["job-ended"], GIVEN),
    ("not-found", "library-release", ": a shell finds no such program", _FOUND, GIVEN),
    ("not-executable", "file-permission", ": a shell may not execute the program", _EXECUTED, GIVEN),
    ("not-executable", "library-release", ", as of another architecture", _EXECUTED, WEAK),
)
"""What the end of a process is compatible with: evidence, cause, what follows its text, next step and weight."""
