"""Results of shell tests: comparisons, their conjunction, and the patterns of ``case``."""

from __future__ import annotations

import re
from collections.abc import Callable
from fnmatch import fnmatchcase
from operator import eq, ge, gt, le, lt, ne
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from clusterspec.exchange.shell_words import Segments

_PIECE = re.compile(r"\"(?P<double>[^\"\\$`]{0,200})\"|'(?P<single>[^']{0,200})'|\\(?P<escaped>.)|(?P<plain>[^\"'\\])")
"""A quoted or plain piece of a pattern. Text in double quotes is accepted only without expansions and escapes."""
_SIGNS = frozenset("*?[]")
_OTHER_SIGNS = re.compile(r"[@+!?*]\(|[$`]|\[\^|\[\[:")
"""Expansions, pattern lists (``extglob``) and character classes, which are not evaluated."""
LONGEST_COMPARED = 2_000


def matches_pattern(text: str, pattern: str) -> bool | None:
    """Whether a text matches a shell pattern, whose quoted parts are literal; None if that is undecided.

    >>> [matches_pattern("qwen-72b", each) for each in ("*", "qwen-72b", "*72b", "*7?b*", '"qwen"*', '"*"', "*$N*")]
    [True, True, True, True, True, False, None]
    """
    pieces = list(_PIECE.finditer(pattern[:LONGEST_COMPARED]))
    whole = "".join(each[0] for each in pieces)
    if len(text) > LONGEST_COMPARED or whole != pattern or _OTHER_SIGNS.search(pattern):
        return None
    kept = ""
    for each in pieces:
        literal = next((each[name] for name in ("double", "single", "escaped") if each[name] is not None), None)
        kept += each["plain"] if literal is None else "".join(f"[{c}]" if c in _SIGNS else c for c in literal)
    return fnmatchcase(text, kept)


def has_signs(pattern: str) -> bool:
    """Whether a pattern has an unquoted wildcard, so that it may match texts other than itself."""
    return any(each["plain"] in _SIGNS for each in _PIECE.finditer(pattern[:LONGEST_COMPARED]) if each["plain"])


def conjunction(sign: str, one: bool | None, other: bool | None) -> bool | None:
    """The result of two tests connected by ``&&`` or ``

    ``; None if the script does not decide it.
    """
    short = sign == "||"
    if one is short or other is short:
        return short
    return None if one is None or other is None else not short


_COMPARISONS: dict[str, Callable[[int, int], bool]] = {"-eq": eq, "-ne": ne, "-gt": gt, "-ge": ge, "-lt": lt, "-le": le}


def comparison_result(sign: str, one: str, other: str) -> bool | None:
    """The result of a comparison of words or integers; None for other operators and words."""
    if sign in {"=", "==", "!="}:
        return (one == other) is (sign != "!=")
    if not (one.isdecimal() and other.isdecimal() and len(one + other) < 30):
        return None
    comparison = _COMPARISONS.get(sign)
    return comparison(int(one), int(other)) if comparison else None


def same_text(parts: Segments, before: Segments | None) -> bool:
    """Whether an assignment gives a variable the words that it already has."""
    return before is not None and _segment_texts(parts) == _segment_texts(before)


def _segment_texts(parts: Segments) -> list[str | None]:
    """The non-empty texts of segments."""
    return [each and each.text for each in parts if each is None or each.text]
