"""How numbers and checkpoints are stored: the tables `number-encodings.csv` and `checkpoint-formats.csv`."""

from __future__ import annotations

from functools import cache

from clusterspec import resources
from clusterspec.records import NamedTuple


class NumberEncoding(NamedTuple):
    """The encoding that an architecture executes for a precision. ``read`` is the day on which the source was read.

    ``encoding`` has the names of PyTorch: `e4m3fn` (OCP; exponent bias 7) and `e4m3fnuz` (exponent bias 8, no negative
    zero: its pattern is NaN).
    """

    architecture: str
    precision: str
    encoding: str
    source: str
    read: str


def encoding_of(architecture: str, precision: str) -> str:
    """The encoding of an architecture for a precision; empty if the table does not have it.

    >>> encoding_of("gfx942", "fp8"), encoding_of("sm_90", "fp8"), encoding_of("sm_80", "fp8")
    ('e4m3fnuz', 'e4m3fn', '')
    """
    return _encoding_table().get((architecture, precision), "")


@cache
def _encoding_table() -> dict[tuple[str, str], str]:
    rows = (NumberEncoding(**row) for row in resources.catalog_table("number-encodings.csv"))
    return {(row.architecture, row.precision): row.encoding for row in rows}


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
    return tuple(CheckpointFormat(**row) for row in resources.catalog_table("checkpoint-formats.csv"))
