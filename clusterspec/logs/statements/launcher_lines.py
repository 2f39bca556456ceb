"""Messages of Open MPI and PMIx that are wrapped over lines, each by the words of its help texts.

Sources: open-mpi/ompi 8efebee7 (`ompi`, `opal`: `help-*.txt`), its releases 3 and 4 (ORTE, the openib BTL), PMIx 4, and
openpmix/prrte 52d5e4bb (`src/mca/schizo/prte/help-prun.txt`).
"""

from __future__ import annotations

import re
from collections.abc import Iterator

LAUNCHER_PATTERNS = (
    ("library", re.compile(r"(OMPI was not built with SLURM's PMI support)")),
    ("library", re.compile(r"(the library was not compiled with any support)")),
    ("setting", re.compile(r"(has detected an attempt to run as root)")),
    ("component", re.compile(r"(requested component was not found, or was unable to be opened)")),
    ("component", re.compile(r"(No components were able to be opened in the \w{1,20} framework)")),
    ("port-down", re.compile(r"(there are no active ports detected)")),
    ("launch", re.compile(r"((?:ORTE|PRTE|PMIx|A) daemon has unexpectedly failed after launch)")),
    ("slots", re.compile(r"(not enough slots available in the system.{0,60})")),
    ("program-missing", re.compile(r"(unable to (?:find|launch) the specified (?:executable|application).{0,60})")),
    ("mpi-path", re.compile(r"([Aa]t least one pair of MPI processes are unable to reach each other)")),
    ("mpi-path", re.compile(r"(at least one MPI process is unreachable from another)")),
    ("unreachable", re.compile(r"(Open MPI failed to (?:TCP connect|handshake with a connecting peer).{0,60})")),
    ("unreachable", re.compile(r"(InfiniBand retry count between two MPI processes has been exceeded)")),
    ("peer-ended", re.compile(r"(communication peer process has unexpectedly disconnected)")),
    ("tcp-mixed", re.compile(r"(inbound MPI TCP connection request .{1,200}from an IP address that is unexpected)")),
    (
        "locked-memory",
        re.compile(r"(failed to initialize while trying to (?:allocate some locked|register some) memory)"),
    ),
    ("locked-memory", re.compile(r"(configured to only allow registering part of your physical memory)")),
    ("shared-memory", re.compile(r"(there is not enough space for .{1,120}shared-memory backing file)")),
    ("shared-memory", re.compile(r"(system call failed during (?:shared memory|sm BTL) initialization.{0,20})")),
    ("killed", re.compile(r"(noticed that process rank .{1,120} exited on signal 9\b.{0,20})")),
    ("bus-error", re.compile(r"(noticed that process rank .{1,120} exited on signal 7\b.{0,20})")),
    ("crash", re.compile(r"(noticed that process rank .{1,120} exited on signal (?:4|6|8|11)\b.{0,20})")),
    ("signal", re.compile(r"(noticed that process rank .{1,120} exited on signal (?:1|2|15)\b.{0,20})")),
    # Open MPI 3 and 4, orte/mca/rmaps/base/help-orte-rmaps-base.txt. Thread: openai/baselines issue 325
    ("binding", re.compile(r"(would result in binding more processes than cpus on a resource)")),
    ("mixed-fabrics", re.compile(r"(detected two different OpenFabrics transport types.{0,40})")),
)
"""Names of statements and the patterns of the joined lines of a message."""
_WORDS = (
    "OMPI was|library was not compiled|requested component|No components were|active ports|daemon has|enough slots|"
    "find the specified|launch the specified|pair of MPI|one MPI process|Open MPI failed|retry count between|"
    "communication peer|inbound MPI|trying to|registering part|not enough space|system call failed|OpenFabrics|"
    "noticed that process|would result in|detected an attempt|MPI_INIT has failed|usually indicates"
)
LAUNCHER_WORDS = tuple(_WORDS.split("|"))
"""Words: the first or second line of a message has at least one of them."""
_RULE = re.compile(r"^\s*-{20,200}\s*$")
LINES = 6
"""Lines of a message that are joined."""
MOST = 200
"""Largest number of messages that are read."""
WIDEST = 200
"""Characters of a line that may be one of a message: they are wrapped at 75, after the prefix of a launcher."""


def launcher_statements(text: str) -> Iterator[tuple[str, str, int]]:
    """The statements of messages of launchers, each with its text and the line on which the message begins.

    >>> list(launcher_statements("but OMPI was not built with SLURM's\\nPMI support and therefore cannot"))
    [('library', "OMPI was not built with SLURM's PMI support", 1)]
    """
    present = [word for word in LAUNCHER_WORDS if word in text]
    if not present:
        return
    lines = text.split("\n")
    found: set[tuple[str, str]] = set()
    read = 0
    for number, line in enumerate(lines):
        if read == MOST:
            return
        if not line or len(line) > WIDEST or not any(word in line for word in present):
            continue
        read += 1
        message = _joined_message(lines[max(0, number - 1) : number + LINES], before=number > 0)
        for name, pattern in LAUNCHER_PATTERNS:
            match = pattern.search(message)
            if match and (name, match[1]) not in found:
                found.add((name, match[1]))
                yield name, match[1], number + 1


def _joined_message(lines: list[str], *, before: bool) -> str:
    """Lines of a message joined to one, up to the first line that is empty, too long or a horizontal rule; with
    ``before``, the first line precedes the message.
    """
    words = []
    for number, line in enumerate(lines):
        if not line.strip() or len(line) > WIDEST or _RULE.match(line):
            if before and number == 0:
                continue
            break
        words.append(line.strip())
    return " ".join(words)
