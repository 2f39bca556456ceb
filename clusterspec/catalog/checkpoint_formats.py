"""Which degrees of parallelism a format of checkpoints allows to change: the table `checkpoint-formats.csv`."""

from __future__ import annotations

from functools import cache

from clusterspec import resources
from clusterspec.records import NamedTuple

FILE = "checkpoint-formats.csv"


class CheckpointFormat(NamedTuple):
    """A format in which a framework saves checkpoints.

    ``framework`` is a part of the names of the framework. ``words`` name the format in a text, and ``degrees`` are the
    degrees of parallelism that may change before the checkpoint is loaded; semicolons divide both. ``otherwise`` says
    what to do for the others. ``read`` is the day on which the source was read.
    """

    framework: str
    format: str
    words: str
    degrees: str
    otherwise: str
    source: str
    read: str

    @property
    def names(self) -> list[str]:
        """Its names in a text, in lower case."""
        return self.words.split(";")

    @property
    def free(self) -> frozenset[str]:
        """The degrees that may change."""
        return frozenset(filter(None, self.degrees.split(";")))


@cache
def checkpoint_formats() -> tuple[CheckpointFormat, ...]:
    """All rows of the table."""
    return tuple(CheckpointFormat(**row) for row in resources.catalog_table(FILE))
