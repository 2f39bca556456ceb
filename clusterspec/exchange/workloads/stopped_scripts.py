"""Scripts that end before their launch: tests that their own values decide, with ``exit`` in the branch."""

from __future__ import annotations

import re

from clusterspec.exchange.import_result import InputFile
from clusterspec.exchange.shell import script_of

_EXIT = re.compile(r"(?<![\w.-])exit(?![\w.-])")
_PARTS = re.compile(r"^[A-Za-z_][\w.-]{0,60}[ \t]*:(?:[ \t]|$)|^[ \t]{0,9}```", re.MULTILINE)
"""A key of YAML or a block of a page: the scripts in such a text are apart, and the end of one ends no other."""


def line_of_stop(file: InputFile, launched: int) -> int:
    """The line of the ``exit`` that a script reaches before its launch, with the values that it states itself; 0 if it
    reaches none. ``launched`` is the line of the launch.
    """
    if not launched or not _EXIT.search(file.text) or _PARTS.search(file.text):
        return 0
    ends = (each for each in script_of(file.text).commands if each.words[0].text == "exit" and not each.branch)
    return next((each.line for each in ends if each.line < launched), 0)
