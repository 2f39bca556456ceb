"""The communication of each axis in one step, as shown by writers of estimates."""

from __future__ import annotations

from clusterspec.cost.term import Communication
from clusterspec.units import display

HEADS = ("axis", "collective", "tier", "ranks", "calls", "bytes", "on the wire", "exposed")
NUMBERS = range(3, len(HEADS))
"""The columns that are set to the right."""


def row(sent: Communication) -> tuple[str, ...]:
    """The row of an axis for `HEADS`; ``exposed`` is the time not overlapped with computation."""
    return (
        sent.axis,
        sent.collective,
        sent.tier,
        f"{sent.ranks:,}",
        display(sent.calls, "1"),
        display(sent.bytes, "B"),
        display(sent.seconds, "s"),
        display(sent.exposed, "s"),
    )
