"""Version requirements such as `>=0.2, <0.3`: the release numbers of PEP 440 only."""

from __future__ import annotations

import operator
import re
from collections.abc import Callable
from typing import Any

from clusterspec.cli import UsageFault
from clusterspec.patterns import pattern

_PART = pattern(r"(?P<sign>==|>=|<=|<|>|!=|~=)?\s*(?P<number>\d{1,6}(?:\.\d{1,6}){0,5})")
_SIGNS: dict[str, Callable[[Any, Any], bool]] = {
    "==": operator.eq,
    "!=": operator.ne,
    ">=": operator.ge,
    "<=": operator.le,
    ">": operator.gt,
    "<": operator.lt,
}


def allowed(version: str, required: str, where: str) -> bool:
    """Whether a version meets a requirement. Raises `UsageFault` for an invalid requirement.

    >>> allowed("0.2.1", ">=0.2, <0.3", "x"), allowed("0.2.1", "0.2.0", "x"), allowed("0.2.1", "~=0.2.0", "x")
    (True, False, True)
    """
    here = numbers(version)
    for part in required.split(","):
        found = _PART.fullmatch(part.strip())
        if found is None:
            raise UsageFault(
                f"{where}: required-version: {part.strip()!r} is not a version; write `>=0.2, <0.3` or `0.2.0`"
            )
        there, sign = numbers(found["number"]), found["sign"] or "=="
        if sign == "~=":
            length = max(1, found["number"].count("."))
            met = here >= there and here[:length] == there[:length]
        else:
            met = _SIGNS[sign](here, there)
        if not met:
            return False
    return True


def numbers(version: str) -> tuple[int, ...]:
    """The release numbers of a version, padded to six places."""
    found = re.match(r"\d{1,6}(?:\.\d{1,6}){0,5}", version)
    given = tuple(int(number) for number in found[0].split(".")) if found else ()
    return given + (0,) * (6 - len(given))
