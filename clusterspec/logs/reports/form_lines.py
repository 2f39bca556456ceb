"""Lines of the form that a project asks reports to fill in, alike for all causes, and the title of a report."""

from __future__ import annotations

import re

LONGEST_TITLE = 160
"""Most characters of the title of a report."""

_LABEL = re.compile(
    r"[\s>*_#-]{0,8}[A-Z`][^:()\n]{2,60}"
    r"\((?:e\.g\.?|i\.e\.?|if|as opposed|such as|use command|please|`?conda|source|or)\b"
    r"[^)]{0,120}\)?[^:]{0,40}:"
)
"""The label of a field with its hint in parentheses, before what a person fills in."""
_QUESTION = re.compile(
    r"[\s>*_#-]{0,8}(?:\*\*)?(?:Have I|Using GPU in script|Using distributed or parallel set-?up in script"
    r"|Are you (?:running|launching|willing|using a specific)|Do you have `|Did you (?:apply|search|read|install from)"
    r"|Who can help|How is this issue impacting)\b[^?]{0,120}\?"
)
"""A question of a form; what is filled in may follow it."""
_BOX = re.compile(r"\s{0,8}[-*] \[(?: |x|X|yes|no|N/A|n/a)\]\s")
"""A box that a person ticks, before the words of the form."""
_ASKS = re.compile(
    r"a clear and concise description|\badd any other context\b|\bif applicable, add\b"
    r"|\bsteps to reproduce the behaviou?r"
    r"|\bplease (?:complete the following|fill|provide (?:a|the|as)|run (?:`|the following)|make sure|search"
    r"|use english)\b"
    r"|\bfeel free to (?:remove|delete)\b|\btemplate below\b|\bmake sure you (?:already|have) searched\b"
    r"|\bi (?:have )?searched (?:for |the |related |existing |similar )"
    r"|\[e\.g\.? [^\]]{2,80}\]|\bexpected to happen\s{0,3}$|\bsubmit a pr\b",
    re.IGNORECASE,
)
"""Words by which a form asks for what a person should write."""


def is_of_a_form(line: str) -> bool:
    """Whether a line is of a form, rather than of the person who fills it in.

    >>> is_of_a_form(" - How you installed it (`conda`, `pip`, source): pip"), is_of_a_form("- [x] official script")
    (True, True)
    >>> is_of_a_form("We installed it with conda (as before): it hangs."), is_of_a_form("- [2] hangs")
    (False, False)
    """
    return any(each.match(line) for each in (_LABEL, _QUESTION, _BOX)) or _ASKS.search(line) is not None


def has_title(text: str) -> bool:
    """Whether the first line of a text is its title: a heading, or a short line before an empty one.

    >>> has_title("# Stale file handle"), has_title("Slow reads\\n\\nIt takes hours."), has_title("It hangs.\\nWhy?")
    (True, True, False)
    """
    first, _, rest = text[: 2 * LONGEST_TITLE].partition("\n")
    return first.startswith("# ") or (len(first) <= LONGEST_TITLE and rest.startswith("\n"))
