"""What each axis of a layout sends in one step, as every writer of estimates shows it."""

from __future__ import annotations

from clusterspec.cost.term import Communication
from clusterspec.units import say

HEADS = ("axis", "collective", "tier", "ranks", "calls", "bytes", "on the wire", "exposed")
NUMBERS = range(3, len(HEADS))
"""The columns that are set to the right."""


def row(sent: Communication) -> tuple[str, ...]:
    """One axis for `HEADS`; what is exposed is what nothing hides."""
    return (
        sent.axis,
        sent.collective,
        sent.tier,
        f"{sent.ranks:,}",
        say(sent.calls, "1"),
        say(sent.bytes, "B"),
        say(sent.seconds, "s"),
        say(sent.exposed, "s"),
    )
