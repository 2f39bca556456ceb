"""The command line: the only print, the only exit.

Three kinds of fault, three ways out: the document's is a finding (status 1), the caller's is one
line (status 2), ours is one line and status 3, with the traceback under ``--debug``.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence

OK, FOUND, CALL, OURS = 0, 1, 2, 3


class UsageFault(Exception):
    """The call itself cannot be carried out; the message is the one line that says why."""


def run(arguments: Sequence[str]) -> int:
    """Runs one command and returns its exit status.

    Statuses: 0 nothing at or above the threshold, 1 findings, 2 a call that cannot be carried
    out, 3 a fault of ours.
    """
    from clusterspec.cli.parser import parser
    from clusterspec.cli.terminal import say_error

    try:
        asked = parser().parse_args(list(arguments))
    except SystemExit as stop:
        return stop.code if isinstance(stop.code, int) else CALL
    try:
        return int(asked.run(asked))
    except UsageFault as fault:
        say_error(f"clusterspec: {fault}")
        return CALL
    except BrokenPipeError:  # the reader of our output went away, as `| head` does
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return OK
    except KeyboardInterrupt:
        say_error("clusterspec: interrupted")
        return 130
    except Exception as fault:
        if asked.debug:
            raise
        said = str(fault).splitlines()[0] if str(fault) else ""
        say_error(
            f"clusterspec: this is a fault of ours ({type(fault).__name__}: {said[:200]}); "
            "please report it with the spec and the output of --debug"
        )
        return OURS
