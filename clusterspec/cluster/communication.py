"""Communication settings of a layout: overlap with computation, and the dispatch of tokens to experts."""

from __future__ import annotations

from clusterspec.records import dataclass


@dataclass(frozen=True, slots=True)
class Overlap:
    """The communication that may overlap with computation.

    ``tp`` is ``none``, ``partial`` (the default of the software), ``full``, or the share from 0 to 1 that runs inside
    the GEMMs around it.
    """

    tp: str | float = "partial"
    cp: bool = True
    ep: bool = False
    dp: bool = True
    pp: bool = True


@dataclass(frozen=True, slots=True)
class Dispatcher:
    """The dispatcher of tokens to experts, and the precision in which it sends them.

    ``all-to-all`` sends a copy for each expert of a token. ``deepep`` and ``hybrid`` send a token once to each node
    that has some of its experts, and from there once to each rank.
    """

    kind: str = "all-to-all"
    precision: str = "bf16"
