"""The system's reason for a message that says little alone.

A program prints the failed action, followed by the text of the system's error: "cannot create directory: No space left
on device". The error then shows the cause, whatever the program was doing (Linux, errno.h; glibc, sysdeps/gnu,
`errlist.h`).
"""

from __future__ import annotations

import re

_REASONS = (
    ("storage-full", r"[Nn]o space left on device|[Dd]isk quota exceeded"),
    ("file-limit", r"[Tt]oo many open files"),
    ("storage-fault", r"[Ii]nput/output error|[Ss]tale (?:NFS )?file handle|[Rr]ead-only file system"),
    ("file-permission", r"[Pp]ermission denied"),
    ("process-limit", r"[Rr]esource temporarily unavailable"),
)
_COMPILED = tuple((cause, re.compile(words)) for cause, words in _REASONS)
_SPECIAL = re.compile(r"/dev/|/proc/|/sys/|/run/|\.sock(?:et)?\b|\bshm\b|\bpublickey\b|\bcgroup|\bsocket\b|\bmmap\b")
"""Paths and objects for which system errors have other meanings: devices, kernels, sockets, shared memory, logins."""
_FULL = frozenset({"storage-full", "file-limit"})
"""Causes that are valid for special paths too, except for shared memory."""
GENERAL = frozenset({"invalid-setting", "library-release", "program-error", "unshared-files", "outside-server"})
"""Causes of messages that only state which action failed. Messages with other causes name a specific object."""


def cause_of_reason(cause: str, tells: str, text: str) -> str:
    """The cause that the system's error in a message indicates, if the message itself has only a general ``cause`` that
    is uncertain (``tells``, one of `WEIGHTS`, is its certainty); else empty.

    >>> cause_of_reason("unshared-files", "shows", "couldn't chdir to `/home/a': Permission denied: going to /tmp")
    'file-permission'
    >>> cause_of_reason("invalid-setting", "states", "cannot open a: Permission denied")
    ''
    """
    if cause not in GENERAL or tells == "states":
        return ""
    found = next((name for name, words in _COMPILED if words.search(text)), "")
    if "shm" in text or (found not in _FULL and _SPECIAL.search(text)):
        return ""
    return found if found != cause else ""
