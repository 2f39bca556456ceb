"""Launches that a program prints into its log, as a script with the lines of the log."""

from __future__ import annotations

import re

_PRINTED = re.compile(r"^(?:\[[^\]\n]{1,60}\] )?run sh: `([^`\n]{1,20000})`[ \t]*$", re.MULTILINE)
"""The command that ms-swift prints before it starts it (modelscope/ms-swift, swift/cli/main.py)."""


def printed_launches(text: str) -> str:
    """The launches in a log, each on its line of the log; any other text as it is.

    >>> printed_launches("step 1\\nrun sh: `torchrun sft.py --tp 2`\\nstep 2\\n")
    '\\ntorchrun sft.py --tp 2'
    >>> printed_launches("torchrun sft.py --tp 2")
    'torchrun sft.py --tp 2'
    """
    if "run sh: `" not in text:
        return text
    lines, at = [], 0
    for match in _PRINTED.finditer(text):
        line = text.count("\n", 0, match.start())
        lines += [""] * (line - at) + [match[1]]
        at = line + 1
    return "\n".join(lines) if lines else text
