"""Messages that name their cause by themselves: `messages.csv`, `exceptions.csv`, `xids.csv` and `sxids.csv` of the
catalog.

A row of the first has the words of a warning of a communication library, its cause, the weight of the warning, and the
line of the library's source that prints it. Words stand for the whole warning; an asterisk between them is text that
differs. A row of the second has the same of an exception that the Python code of a framework raises. In place of words,
a row of the third has the number of an error of NVIDIA's driver (an Xid), and a row of the fourth the number of an
error of an NVLink switch (an SXid).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from functools import cache

from clusterspec import resources
from clusterspec.records import NamedTuple

FILE = "messages.csv"
EXCEPTIONS = "exceptions.csv"
XIDS = "xids.csv"
SXIDS = "sxids.csv"
WEIGHTS = ("states", "shows", "may")
"""How strongly a message points to its cause, the strongest first."""
MESSAGE = "message "
"""The prefix of the names of these statements; the cause and a word of `WEIGHTS` follow."""
_XID = "NVRM: Xid .{1,40}: "
_SXID = r"\bSXid \(PCI:.{1,40}: "
_OTHER_XIDS = ("14", "45", "106", "107", *map(str, range(144, 151)), "162", "163", "174")
"""Xids whose number does not identify a cause."""


class Message(NamedTuple):
    """A warning of a library, or an exception that a framework raises (``raised``): its words, its cause, the weight of
    the words (one of `WEIGHTS`), and the address of the line that prints it (``source``).
    """

    library: str
    words: str
    cause: str
    weight: str
    source: str
    raised: bool = False

    @property
    def statement(self) -> str:
        return f"{MESSAGE}{self.cause} {self.weight}"

    @property
    def weakest_statement(self) -> str:
        """The statement of a line that may contain the words for another reason."""
        return f"{MESSAGE}{self.cause} {WEIGHTS[-1]}"


@cache
def messages() -> tuple[Message, ...]:
    """The warnings of the catalog."""
    return _rows_of(FILE, raised=False)


@cache
def exceptions() -> tuple[Message, ...]:
    """The exceptions of Python in the catalog."""
    return _rows_of(EXCEPTIONS, raised=True)


def listed_messages() -> tuple[Message, ...]:
    """The warnings and the exceptions of the catalog."""
    return (*messages(), *exceptions())


def _rows_of(name: str, *, raised: bool) -> tuple[Message, ...]:
    return tuple(Message(**row, raised=raised) for row in resources.catalog_table(name))


class Xid(NamedTuple):
    """An error of NVIDIA's driver or of a switch: its number (``code``), its cause, the weight of the number (one of
    `WEIGHTS`), the address of the list that explains it (``source``), and what to do at once (``action``, empty where
    it depends).
    """

    code: str
    name: str
    cause: str
    weight: str
    source: str
    action: str = ""


@cache
def xids() -> tuple[Xid, ...]:
    """The errors of NVIDIA's driver in the catalog."""
    return tuple(Xid(**row) for row in resources.catalog_table(XIDS))


@cache
def sxids() -> tuple[Xid, ...]:
    """The errors of switches of NVLink in the catalog."""
    return tuple(Xid(**row) for row in resources.catalog_table(SXIDS))


@cache
def hardware_xids() -> frozenset[str]:
    """The numbers of errors that are certainly of an accelerator, its memory, links or firmware, not of a program."""
    return frozenset(each.code for each in xids() if each.cause == "accelerator-fault" and each.weight == WEIGHTS[0])


def xid_patterns() -> Iterator[tuple[str, re.Pattern[str]]]:
    """The statements and patterns of the Xids of each cause; the cause of an Xid that the catalog does not list may be
    the hardware.

    145 to 150 state by a word whether they are fatal; 45 and 174 follow another error, 14, 106 and 107 are tests, and
    162 and 163 report smoothing of power (NVIDIA/open-gpu-kernel-modules df1c9a3d, `nverror.h`).
    """
    yield from _patterns_of_numbers(xids(), _XID)
    listed = "|".join((*(each.code for each in xids()), *_OTHER_XIDS))
    yield f"{MESSAGE}accelerator-fault may", re.compile(rf"({_XID}(?!(?:{listed}),)[0-9]{{1,3}},.{{0,60}})")
    yield from _patterns_of_numbers(sxids(), _SXID)


def _patterns_of_numbers(errors: Iterable[Xid], before: str) -> Iterator[tuple[str, re.Pattern[str]]]:
    """The statements and patterns of errors with the same cause, by their numbers and the words before them."""
    codes: dict[tuple[str, str], list[str]] = {}
    for each in errors:
        codes.setdefault((each.cause, each.weight), []).append(each.code)
    for (cause, weight), numbers in codes.items():
        yield f"{MESSAGE}{cause} {weight}", re.compile(rf"({before}(?:{'|'.join(numbers)}),.{{0,60}})")
