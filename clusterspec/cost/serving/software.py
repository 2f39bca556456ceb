"""Host overhead and limits of serving software."""

from __future__ import annotations

from clusterspec.catalog.entries import Stack
from clusterspec.cost.serving import constants as known
from clusterspec.records import dataclass


@dataclass(frozen=True, slots=True)
class HostOverhead:
    """Seconds of one generation of serving software.

    ``host`` of one step on the host that the device does not hide, ``sequence`` of it for each sequence;
    ``eager`` to launch one kernel of a prompt without captured graphs; ``request`` of one request before and
    after the engine: tokenizing, scheduling, transport.
    """

    host: float
    sequence: float
    eager: float
    request: float

    @classmethod
    def of(cls, stack: Stack | None) -> HostOverhead:
        """The figures of an entry; missing ones are assumed."""
        found = stack.achievable if stack is not None else {}

        def figure(name: str) -> float:
            return found[name].value if name in found else known.HABITS[name].value

        return cls(
            figure("serving.host"), figure("serving.sequence"), figure("serving.eager"), figure("serving.request")
        )
