"""The command line: the only package that prints and exits.

An error in a document is a finding (status 1), an error of the call is one line (status 2), an
internal error is one line and status 3, with the traceback under ``--debug``.
"""

from __future__ import annotations

import errno
import os
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    import signal as _signal
    from collections.abc import Sequence
    from typing import Any, NoReturn

    from clusterspec.cli.editor.verbs import Caller
else:
    import _signal  # `signal` without its enumerations, whose import takes half as long as `--version`

OK, FOUND, CALL, INTERNAL = 0, 1, 2, 3
INTERRUPTED = 130
"""Exit status of a process ended by Ctrl-C, by shell convention."""


class UsageFault(Exception):
    """Raised if the call cannot be carried out; the message is a one-line reason."""


class SpecFault(UsageFault):
    """Raised if a faulty or incomplete spec has no answer; the message is a one-line reason, and the status is 1."""


class InternalError(Exception):
    """Raised for an internal error, after all other output."""


def run(arguments: Sequence[str], caller: Caller | None = None) -> int:
    """Runs a command and returns its exit status. ``caller`` is set if another program, rather than a shell, makes the
    call.

    0: no finding at or above the threshold; 1: findings; 2: the call cannot be carried out; 3: an
    internal error.
    """
    from clusterspec.cli.commands import parser
    from clusterspec.cli.terminal import print_error

    debug = "--debug" in arguments
    try:
        asked = parser(arguments).parse_args(list(arguments))
        asked.caller = caller
        return int(asked.run(asked))
    except SystemExit as stop:  # --help and --version
        return stop.code if isinstance(stop.code, int) else CALL
    except KeyboardInterrupt:
        print_error("clusterspec: interrupted")
        return INTERRUPTED
    except Exception as fault:
        if is_callers_fault(fault):
            named = f"{fault.filename}: {fault.strerror}" if isinstance(fault, OSError) else str(fault)
            print_error(f"clusterspec: {named}")
            return FOUND if isinstance(fault, SpecFault) else CALL
        if debug:
            raise
        print_error(f"clusterspec: internal error ({fault_line(fault)}); please report it with the spec and --debug")
        return INTERNAL


def is_callers_fault(fault: Exception) -> bool:
    """Whether an exception is caused by the call or by a company catalog."""
    from clusterspec.catalog import BrokenEntry, UnreadableFolder

    return isinstance(fault, UsageFault | BrokenEntry | UnreadableFolder) or is_name_fault(fault)


def is_name_fault(fault: Exception) -> bool:
    """Whether a file cannot be opened because of its name or location."""
    return isinstance(fault, OSError) and fault.errno in {errno.ENAMETOOLONG, errno.ELOOP, errno.ENOSPC, errno.EROFS}


def fault_line(fault: Exception) -> str:
    """An exception in one line."""
    reason = next(iter(str(fault).splitlines()), "")[:200]
    return reason if isinstance(fault, InternalError) else f"{type(fault).__name__}: {reason}"


# Ctrl-C: before a command runs, the program ends at once; a running command removes its incomplete files. While modules
# are loaded, a `KeyboardInterrupt` could be raised in the import system, which prints it. Until a command begins, it
# therefore ends the process without raising anything.


def exit_on_interrupt() -> None:
    """From now on Ctrl-C ends the process with status 130 and without output.

    Nothing changes where SIGINT is ignored, or handled by the caller.
    """
    _replace_handler(_signal.default_int_handler, _end_process)
    sys.unraisablehook = _end_lost_interrupt


def raise_again() -> None:
    """From now on Ctrl-C raises `KeyboardInterrupt` again, if `exit_on_interrupt` was called."""
    _replace_handler(_end_process, _signal.default_int_handler)


def _replace_handler(old: Any, new: Any) -> None:
    if _signal.getsignal(_signal.SIGINT) is old:
        _signal.signal(_signal.SIGINT, new)


def _end_process(*_: object) -> NoReturn:
    os._exit(INTERRUPTED)


def _end_lost_interrupt(unraisable: sys.UnraisableHookArgs) -> None:
    """Ends the process for a `KeyboardInterrupt` in a place where Python would only print the exception."""
    if issubclass(unraisable.exc_type, KeyboardInterrupt):
        _end_process()
    sys.__unraisablehook__(unraisable)
