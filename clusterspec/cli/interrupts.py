"""Ctrl-C: before a command runs, the program ends at once; a running command removes its incomplete files.

While modules are loaded, a `KeyboardInterrupt` could be raised in the import system, which prints it. Until a command
begins, Ctrl-C therefore ends the process without raising anything.
"""

from __future__ import annotations

import os
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    import signal as _signal
    from typing import Any, NoReturn
else:
    import _signal  # `signal` without its enumerations, whose import takes half as long as `--version`

STATUS = 130
"""Exit status of a process ended by Ctrl-C, by shell convention."""


def end_at_once() -> None:
    """From now on Ctrl-C ends the process with status 130 and without output.

    Nothing changes where SIGINT is ignored, or handled by the caller.
    """
    _replace_handler(_signal.default_int_handler, _end_process)
    sys.unraisablehook = _end_lost_interrupt


def raise_again() -> None:
    """From now on Ctrl-C raises `KeyboardInterrupt` again, if `end_at_once` was called."""
    _replace_handler(_end_process, _signal.default_int_handler)


def _replace_handler(old: Any, new: Any) -> None:
    if _signal.getsignal(_signal.SIGINT) is old:
        _signal.signal(_signal.SIGINT, new)


def _end_process(*_: object) -> NoReturn:
    os._exit(STATUS)


def _end_lost_interrupt(given: sys.UnraisableHookArgs) -> None:
    """Ends the process for a `KeyboardInterrupt` that was raised where Python can only print exceptions."""
    if issubclass(given.exc_type, KeyboardInterrupt):
        _end_process()
    sys.__unraisablehook__(given)
