"""Options of a Slurm job in its script: lines of ``#SBATCH``.

Grammar: sbatch(1), https://slurm.schedmd.com/sbatch.html; the options hold where ``sbatch`` is given no others.
"""

from __future__ import annotations

import re

_DIRECTIVE = re.compile(
    r"^#SBATCH[ \t]+(?:--(?P<name>nodes|ntasks|ntasks-per-node|gpus-per-node|gres)|-(?P<short>[Nn]))"
    r"(?:[ \t]*=[ \t]*|[ \t]*)"
    r"(?:gpu:(?:[A-Za-z][\w.-]{0,40}:)?)?(?P<count>[0-9]{1,6})(?=[ \t]|$)",
    re.MULTILINE,
)


def directives(text: str, offset: int = 0) -> dict[str, tuple[str, int]]:
    """Counts of a job by the long names of their options, each with its line; ``offset`` lines precede the text.

    >>> directives("#SBATCH -N 4\\n#SBATCH --gres=gpu:h100:8")
    {'nodes': ('4', 1), 'gres': ('8', 2)}
    """
    found: dict[str, tuple[str, int]] = {}
    for line, words in enumerate(text.split("\n"), offset + 1):
        if match := _DIRECTIVE.match(words):
            found[match["name"] or {"N": "nodes", "n": "ntasks"}[match["short"]]] = match["count"], line
    return found
