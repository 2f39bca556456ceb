"""Losses and norms that stay NaN or infinite over the steps of a training log."""

from __future__ import annotations

import re

from clusterspec.logs.text_lines import shown_part

_VALUE = re.compile(
    r"(?<![\w/])((?:(?:lm|train|training|total)[ _/]?)?loss|(?:global|total|local)?[ _]?grad(?:ient)?[ _]?norm|gnorm)"
    r"['\"]?\s{0,3}[:=]\s{0,3}([-+]?(?:nan|inf(?:inity)?|[0-9][0-9.eE+-]{0,20}))(?![\w.])",
    re.IGNORECASE,
)
"""A loss or a norm of gradients, and its value, as training programs print them at each step."""
_NOT_FINITE = ("nan", "inf")
AT_END = 400_000
"""Characters at the end of a log whose steps are read."""
FEWEST = 2
"""Values in a row: the scale of a loss in 16 bits overflows once, and the step is left out."""


def lasting_non_finite(text: str) -> tuple[str, int] | None:
    """The loss or norm whose last values, `FEWEST` or more, are NaN or infinite, with the line of the first of them;
    None without one.

    >>> lasting_non_finite("loss: 2.1 | grad norm: 0.7\\nloss: 2.0 | grad norm: nan\\nloss: 2.0 | grad norm: nan")
    ('grad norm: nan', 2)
    >>> lasting_non_finite("grad norm: nan\\ngrad norm: 0.9")
    """
    start = text.find("\n", max(0, len(text) - AT_END)) + 1 if len(text) > AT_END else 0
    part = text[start:].lower()
    if not any(word in part for word in _NOT_FINITE):
        return None
    rows: dict[str, list[re.Match[str]]] = {}
    for match in _VALUE.finditer(text, start):
        row = rows.setdefault(match[1].lower(), [])
        if match[2].lstrip("+-").lower().startswith(_NOT_FINITE):
            row.append(match)
        else:
            row.clear()
    lasting = [row[0] for row in rows.values() if len(row) >= FEWEST]
    if not lasting:
        return None
    first = min(lasting, key=lambda match: match.start())
    return shown_part(first[0], 0, len(first[0])), text.count("\n", 0, first.start()) + 1
