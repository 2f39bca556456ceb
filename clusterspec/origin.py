"""Why we believe a number. Every figure in a cluster, a cost or a report carries one of these."""

from __future__ import annotations

from clusterspec.records import dataclass
from clusterspec.source import Span


@dataclass(frozen=True, slots=True)
class Written:
    """The author of the spec wrote it, at ``span`` (``key`` is the dotted key path)."""

    key: str
    span: Span | None = None

    def __str__(self) -> str:
        return f"spec: {self.key}"


@dataclass(frozen=True, slots=True)
class Cited:
    """A catalog entry says so, and names its source.

    ``entry`` is ``kind/id``, ``fact`` the key inside it, ``source`` the title of the source,
    ``url`` where it was read, ``read`` the date of reading, ``note`` a doubt or a choice made.
    """

    entry: str
    fact: str
    source: str
    url: str = ""
    read: str = ""
    note: str = ""

    def __str__(self) -> str:
        return f"catalog: {self.entry} {self.fact} ({self.source})"


@dataclass(frozen=True, slots=True)
class Measured:
    """A log or a stated measurement of the user's own machine."""

    what: str
    span: Span | None = None

    def __str__(self) -> str:
        return f"measured: {self.what}"


@dataclass(frozen=True, slots=True)
class Assumed:
    """Nobody said so; this is why we take it all the same. Reports list every one of these."""

    key: str
    why: str

    def __str__(self) -> str:
        return f"assumed: {self.why}"


@dataclass(frozen=True, slots=True)
class Computed:
    """It follows from other figures by ``formula``."""

    formula: str

    def __str__(self) -> str:
        return f"computed: {self.formula}"


Origin = Written | Cited | Measured | Assumed | Computed
