"""How architectures encode the numbers of a precision: the table `number-encodings.csv`."""

from __future__ import annotations

from functools import cache

from clusterspec import resources
from clusterspec.records import NamedTuple

FILE = "number-encodings.csv"


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
    return _encodings().get((architecture, precision), "")


@cache
def _encodings() -> dict[tuple[str, str], str]:
    rows = (NumberEncoding(**row) for row in resources.catalog_table(FILE))
    return {(row.architecture, row.precision): row.encoding for row in rows}
