"""The command line: the only package that prints and exits.

Three kinds of fault, three ways out: the document's is a finding (status 1), the caller's is one
line (status 2), ours is one line and status 3, with the traceback under ``--debug``.
"""

from __future__ import annotations

import errno

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

OK, FOUND, CALL, OURS = 0, 1, 2, 3
INTERRUPTED = 130
"""As a shell counts a process that was ended by Ctrl-C."""


class UsageFault(Exception):
    """The call itself cannot be carried out; the message is the one line that says why."""


class OwnFault(Exception):
    """What went wrong in us, in words; raised once everything else was said."""


def run(arguments: Sequence[str]) -> int:
    """Runs one command and returns its exit status.

    Statuses: 0 nothing at or above the threshold, 1 findings, 2 a call that cannot be carried
    out, 3 a fault of ours.
    """
    from clusterspec.cli.parser import parser
    from clusterspec.cli.terminal import say_error

    debug = "--debug" in arguments
    try:
        asked = parser(arguments).parse_args(list(arguments))
        return int(asked.run(asked))
    except SystemExit as stop:  # --help and --version
        return stop.code if isinstance(stop.code, int) else CALL
    except KeyboardInterrupt:
        say_error("clusterspec: interrupted")
        return INTERRUPTED
    except Exception as fault:
        if callers(fault):
            named = f"{fault.filename}: {fault.strerror}" if isinstance(fault, OSError) else str(fault)
            say_error(f"clusterspec: {named}")
            return CALL
        if debug:
            raise
        say_error(f"clusterspec: this is a fault of ours ({told(fault)}); please report it with the spec and --debug")
        return OURS


def callers(fault: Exception) -> bool:
    """Whether a fault lies in the call, or in a catalog that the caller brought."""
    from clusterspec.catalog import BrokenEntry, UnreadableFolder

    return isinstance(fault, UsageFault | BrokenEntry | UnreadableFolder) or is_name_fault(fault)


def is_name_fault(fault: Exception) -> bool:
    """Whether a file cannot be had for a reason that lies in its name or its place."""
    return isinstance(fault, OSError) and fault.errno in {errno.ENAMETOOLONG, errno.ELOOP, errno.ENOSPC, errno.EROFS}


def told(fault: Exception) -> str:
    """What went wrong in us, in one line."""
    said = next(iter(str(fault).splitlines()), "")[:200]
    return said if isinstance(fault, OwnFault) else f"{type(fault).__name__}: {said}"
