"""Scripts that end before their launch: tests that their own values decide, with ``exit`` in the branch."""

from __future__ import annotations

import re

from clusterspec.exchange.import_result import InputFile
from clusterspec.exchange.shell import script_of
from clusterspec.standard import recent

_EXIT = re.compile(r"(?<![\w.-])exit(?![\w.-])")
_PARTS = re.compile(r"^[A-Za-z_][\w.-]{0,60}[ \t]*:(?:[ \t]|$)|^[ \t]{0,9}```", re.MULTILINE)
"""A key of YAML or a block of a page: the scripts in such a text are separate, and the end of one does not end another.
"""


def line_of_stop(file: InputFile, launched: int) -> int:
    """The line of the ``exit`` that a script reaches before its launch, with the values that it states itself; 0 if it
    reaches none. ``launched`` is the line of the launch.
    """
    return next((line for line in _lines_of_stops(file.text) if line < launched), 0)


@recent(2)  # a script may have a launch for each of many nodes
def _lines_of_stops(text: str) -> tuple[int, ...]:
    """The lines of each ``exit`` that a script reaches."""
    if not _EXIT.search(text) or _PARTS.search(text):
        return ()
    ends = (each for each in script_of(text).commands if each.words[0].text == "exit" and not each.branch)
    return tuple(each.line for each in ends)
