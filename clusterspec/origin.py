"""Provenance of numbers: every figure in a cluster, a cost or a report has an origin."""

from __future__ import annotations

from clusterspec.records import dataclass
from clusterspec.source import Span


@dataclass(frozen=True)
class Written:
    """A value written in the spec at ``span``; ``key`` is the dotted key path."""

    key: str
    span: Span | None = None

    def __str__(self) -> str:
        return f"spec: {self.key}"


@dataclass(frozen=True)
class Cited:
    """A figure of a catalog entry with its source.

    ``entry`` is ``kind/id``, ``fact`` the key in it, ``source`` the title of the source, ``url`` its
    address, ``read`` the date of access, ``note`` a doubt or a choice between sources.
    """

    entry: str
    fact: str
    source: str
    url: str = ""
    read: str = ""
    note: str = ""

    def __str__(self) -> str:
        return f"catalog: {self.entry} {self.fact} ({self.source})"


@dataclass(frozen=True)
class Measured:
    """A figure from a log or a measurement of the user's machine."""

    what: str
    span: Span | None = None

    def __str__(self) -> str:
        return f"measured: {self.what}"


@dataclass(frozen=True)
class Assumed:
    """A default with the reason for it. Reports list all assumptions."""

    key: str
    why: str

    def __str__(self) -> str:
        return f"assumed: {self.why}"


@dataclass(frozen=True)
class Computed:
    """A figure computed from other figures by ``formula``."""

    formula: str

    def __str__(self) -> str:
        return f"computed: {self.formula}"


Origin = Written | Cited | Measured | Assumed | Computed
