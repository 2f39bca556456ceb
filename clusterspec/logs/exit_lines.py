"""Exit codes of processes, in the words of whatever started them: launchers, schedulers, containers, shells.

A shell returns 126 for a program that it may not execute, 127 for one that it does not find, and 128 + N for one that
signal N ended (POSIX.1-2024, Shell & Utilities, 2.8.2); Python's subprocess and torchrun state signal N as -N. Codes
below 126 are the program's own, and tell no cause.
"""

from __future__ import annotations

import re

_FORMS = (
    r"(?:[Ee]xit(?:ed|s)? ?(?:with )?(?:exit )?(?:[Cc]ode|[Ss]tatus)|[Rr]eturn(?:ed|s)? (?:with )?(?:non-zero exit )?"
    r"(?:code|status)|[Nn]on-zero (?:exit )?(?:code|status)|\bexit_?[Cc]ode|[Ee]xits with return code)"
    r"['\"]?\s{0,4}[:=]?\s{0,3}"
)
"""Words before the exit code of a process."""


def _codes(*codes: int) -> re.Pattern[str]:
    """Lines that state that a process ended with one of some codes."""
    return re.compile(rf"(.{{0,100}}{_FORMS}(?:{'|'.join(map(str, codes))})(?![0-9.]).{{0,40}})")


EXIT_PATTERNS = (
    ("killed", _codes(137, -9)),
    ("crash", _codes(132, 134, 136, 139, -4, -6, -8, -11)),
    ("bus-error", _codes(135, -7)),
    ("signal", _codes(143, -15)),
    ("not-found", _codes(127)),
    ("not-executable", _codes(126)),
    # Open MPI: the rank that calls it has its reason in its own output
    ("peer-ended", re.compile(r"(MPI_ABORT was invoked on rank .{1,80})")),
)
"""Names of statements and the patterns of their lines."""
