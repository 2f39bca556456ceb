"""Availability of parts."""

from __future__ import annotations

from clusterspec.records import dataclass


@dataclass(frozen=True, slots=True)
class Status:
    """The availability of a part: announced, shipping or discontinued, as of an ISO date."""

    state: str
    as_of: str
    note: str = ""
