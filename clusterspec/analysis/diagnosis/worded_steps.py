"""Next steps for causes that lines state in general words; the other words of the line decide the step."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from clusterspec.analysis.diagnosis.stated_causes import STEP_OF
from clusterspec.records import replace
from clusterspec.results.diagnosis import Cause

STEPS = (
    (
        "invalid-setting",
        r"\b(?:gres|slurm|cgroup|topology)\.conf\b|\bGRES\b|config-only",
        (
            "check that the line of gres.conf or slurm.conf that names it is the same on all nodes, and that slurmd -G "
            "and slurmd -C find it on that node"
        ),
    ),
    (
        "invalid-setting",
        r"^(?!.*\b[A-Z][A-Z0-9]{1,12}_[A-Z0-9_]{2,40}\b)",
        (
            "compare the option or the value that the line names with what the line allows, the sizes of the model, and"
            " the number of processes and devices"
        ),
    ),
    (
        "storage-fault",
        r"[Dd]eserializ|[Tt]runcat|[Cc]orrupt|[Cc]hecksum|zip archive|\binvalid load key\b|end of (?:file|data)"
        r"|[Ii]ncomplete",
        (
            "compare size and checksum of that file with its source, and write or fetch it again; read dmesg on the "
            "host of that line"
        ),
    ),
    (
        "container-permission",
        r"[Nn]ot implemented",
        (
            "uname -r and grep SECCOMP /boot/config-$(uname -r) on the host of that line show whether its kernel has "
            "that call"
        ),
    ),
    (
        "file-permission",
        r"\bch(?:own|mod|grp)\b",
        (
            "change the export of that file system (no_root_squash), or use files that the user of the job owns from "
            "the start"
        ),
    ),
    (
        "library-release",
        r"\b[Nn]o module named\b|\b(?:not|n't) (?:installed|found and is required)\b|\bcommand not found\b"
        r"|\bNo package",
        "install what the line names in the image of every node, in the release that the program requires",
    ),
    (
        "remote-login",
        r"\bPAM\b|\bAccess denied for user\b",
        (
            "check the account on that host (access.conf of PAM, nologin, AllowUsers of sshd), or start sshd as the "
            "job's own user"
        ),
    ),
)
"""Causes, words of their log line, and the next step for both. The first match applies."""
_STEPS = tuple((cause, re.compile(words), step) for cause, words, step in STEPS)


def step_of_words(cause: str, text: str) -> str:
    """The next step for a cause whose line has certain words; empty if there is none for them.

    >>> step_of_words("container-permission", "seccomp: Function not implemented")[:8]
    'uname -r'
    >>> step_of_words("memory-full", "out of memory")
    ''
    """
    return next((step for each, words, step in _STEPS if each == cause and words.search(text)), "")


def with_steps_of_words(causes: Iterable[Cause]) -> Iterator[Cause]:
    """The causes; a general next step is replaced by the step for the words of the cause's line, if there is one."""
    for cause in causes:
        own = step_of_words(cause.name, cause.evidence) if cause.next == STEP_OF.get(cause.name) else ""
        yield replace(cause, next=own) if own else cause
