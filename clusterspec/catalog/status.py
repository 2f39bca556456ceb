"""Whether a part can be bought."""

from __future__ import annotations

from clusterspec.records import dataclass


@dataclass(frozen=True, slots=True)
class Status:
    """Whether it can be bought: announced, shipping or discontinued, as of a date (ISO)."""

    state: str
    as_of: str
    note: str = ""
