"""The generation and lane width of an interconnect family: `NVLink 4`, `Gen5 PCIe x16`, `fourth-generation NVLink`."""

from __future__ import annotations

import re
from collections.abc import Sequence

from clusterspec.prose.tokenize import Token, TokenKind

_ORDINALS = {"first": 1, "second": 2, "third": 3, "fourth": 4, "fifth": 5, "sixth": 6, "seventh": 7}
_GENERATIONS = frozenset(("gen", "generation", "v", "version"))


def _generation(token: Token) -> str | None:
    """The generation in a token: 4, 4.0, v3, Gen5."""
    if token.kind is TokenKind.NUMBER and token.value == int(token.value) and 1 <= token.value <= 12:
        return str(int(token.value))
    if token.kind is TokenKind.NUMBER and token.value in (100.0, 200.0, 400.0, 800.0):
        return str(int(token.value))
    match = re.fullmatch(r"(?:gen|v)?(v?\d{1,2}[a-z]?)", token.text.lower()) if token.kind is TokenKind.WORD else None
    return match[1] if match else None


def generation_after(words: Sequence[Token], end: int) -> tuple[str | None, int]:
    """The generation after a family, past hyphens, brackets and `gen`; None for a count (`NVLink 18 links`)."""
    at, explicit = end, False
    while at < min(end + 4, len(words)):
        token = words[at]
        if token.text.lower() in _GENERATIONS:
            explicit = True
        elif token.text not in ("-", "(", "."):
            break
        at += 1
    if at >= len(words):
        return None, end
    generation = _generation(words[at])
    follows = words[at + 1] if at + 1 < len(words) else None
    if generation is None or (follows is not None and _is_count(words[at], follows, explicit)):
        return None, end
    return generation, at + 1


def _is_count(number: Token, follows: Token, explicit: bool) -> bool:
    """Whether a number after a family is a count (`NVLink 18 links`) or a multiplier (`PCIe 16x`)."""
    if explicit or number.kind is TokenKind.WORD:
        return False
    return (follows.kind is TokenKind.TIMES and not follows.gap) or follows.text == "%"


def generation_before(words: Sequence[Token], at: int) -> tuple[str | None, int]:
    """The generation before a family: `Gen5 PCIe`, `fourth-generation NVLink`, `5th gen NVLink`."""
    back = at - 1
    while back >= 0 and words[back].text == "-":
        back -= 1
    if back < 0:
        return None, at
    word = words[back].text.lower()
    if (match := re.fullmatch(r"gen(\d)", word)) is not None:
        return match[1], back
    if word not in _GENERATIONS:
        return None, at
    back -= 1
    while back >= 0 and (words[back].text == "-" or words[back].text.lower() in ("th", "rd", "nd", "st")):
        back -= 1
    if back < 0:
        return None, at
    ordinal = _ORDINALS.get(words[back].text.lower())
    number = words[back].value if words[back].kind is TokenKind.NUMBER else 0.0
    return (str(ordinal or int(number)), back) if ordinal or 1 <= number <= 9 else (None, at)


def width(words: Sequence[Token], end: int) -> tuple[int, int]:
    """The lanes of a PCIe link: `x16`, `× 8`."""
    if end < len(words) and (match := re.fullmatch(r"x(1|2|4|8|16|32)", words[end].text.lower())):
        return int(match[1]), end + 1
    if end + 1 < len(words) and words[end].text in ("x", "×") and words[end + 1].kind is TokenKind.NUMBER:
        lanes = words[end + 1].value
        if lanes in (1.0, 2.0, 4.0, 8.0, 16.0, 32.0):
            return int(lanes), end + 2
    return 0, end
