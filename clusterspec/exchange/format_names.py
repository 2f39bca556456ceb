"""Formats of imports and exports by their names."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol, TypeVar

from clusterspec.document import nearest_words


class NamedFormat(Protocol):
    """A format with a name, and alternative names in ``other``."""

    @property
    def name(self) -> str: ...
    @property
    def other(self) -> tuple[str, ...]: ...


_Format = TypeVar("_Format", bound=NamedFormat)

LOG_NAMES: dict[str, tuple[str, ...]] = {
    "superbench": ("superbench-results",),
    "cvs": ("rccl-tests-json",),
    "nvcre": ("cluster-readiness-engine",),
    "nccom-test": ("nccom",),
    "hccl": ("hccl-demo",),
    "perftest": ("ib-write-bw",),
    "perftest-latency": ("ib-write-lat",),
    "p2p": ("p2pbandwidthlatencytest", "nvbandwidth"),
    "osu": ("osu-micro-benchmarks", "osu_bw"),
    "imb": ("imb-mpi1", "intel-mpi-benchmarks"),
    "nccl-tests": ("rccl-tests",),
}
"""Other names of the formats of logs."""


def format_by_name(formats: Sequence[_Format], name: str) -> _Format | None:
    """The format with a name, ignoring case and with dashes or underscores; None if there is none."""
    plain = _with_dashes(name)
    return next((each for each in formats if plain == each.name or plain in each.other), None)


def unknown_format(verb: str, formats: Sequence[NamedFormat], name: str) -> str:
    """The error message for an unknown format of ``import`` or ``export``, with similar names."""
    like = nearest_words(_with_dashes(name), [each.name for each in formats])
    offer = f"; did you mean {', '.join(like)}?" if like else ""
    return f"no {verb} format is called {name!r}{offer} (`clusterspec {verb} --list` lists all)"


def _with_dashes(name: str) -> str:
    return name.lower().replace("_", "-")
