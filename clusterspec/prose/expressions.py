"""Arithmetic that a text writes out: `64*7=448`, `8 x 400 Gb/s = 3.2 Tb/s`, `16/300 = 0.053`.

Each side of an equals sign is the longest run of words that can be worked out (`clusterspec.prose.evaluate`).
"""

from __future__ import annotations

from collections.abc import Container, Iterator, Sequence

from clusterspec.prose.evaluate import PRODUCT, QUOTIENT, SKIPPED, SUM, Value, evaluate
from clusterspec.prose.scan import Sort, Token, words_of
from clusterspec.records import dataclass

EQUALS = frozenset(("=", "==", "≈", "~="))
LONGEST = 40
"""Tokens of one side of an equation."""


@dataclass(frozen=True, slots=True)
class Equation:
    """Two sides that are said to be equal, as token ranges and values; ``result`` is the last figure of the right one.

    ``left`` holds two values where `a / b * c` may be meant as a / (b * c). ``parts`` is how many numbers the left
    side holds.
    """

    left: tuple[Value, ...]
    right: Value
    start: int
    result: int
    parts: int
    rough: bool
    operands: tuple[Token, ...]
    scale: float = 1.0
    """What one of the result's written units is: a hundredth for a percentage."""


def equations(words: Sequence[Token], names: Container[int]) -> Iterator[Equation]:
    """Every equation whose two sides can be worked out; the tokens in ``names`` are no numbers (`PCIe 5 x16`)."""
    for at, token in enumerate(words):
        if token.text in EQUALS and not _assigns(words, at):
            left, right = _left(words, at, names), _right(words, at, names)
            if left is not None and right is not None and _is_result(words, at, right[0]):
                yield _equation(words, at, left, right)


def _is_result(words: Sequence[Token], at: int, end: int) -> bool:
    """Whether the right side is one figure, not a further step of a derivation."""
    return sum(word.sort in (Sort.NUMBER, Sort.QUANTITY) for word in words[at + 1 : end]) == 1


def _assigns(words: Sequence[Token], at: int) -> bool:
    """Whether an equals sign gives a name its value: `PP=24`."""
    return at == 0 or (words[at - 1].sort is Sort.WORD and not words[at].gap)


def _equation(words: Sequence[Token], at: int, left: tuple[int, Value], right: tuple[int, Value]) -> Equation:
    start, value = left
    other_way = evaluate(words[start:at], tight=True)
    operands = tuple(word for word in words[start:at] if word.sort in (Sort.NUMBER, Sort.QUANTITY))
    results = [i for i in range(at + 1, right[0]) if words[i].sort in (Sort.NUMBER, Sort.QUANTITY)]
    rough = words[at].text in ("≈", "~=") or any(word.text in ("~", "≈", "about") for word in words[at : results[0]])
    result = results[-1]
    share = result + 1 < len(words) and words[result + 1].text == "%"
    other = Value(right[1].number / 100, right[1].dimensions) if share else right[1]
    values = (value,) if other_way in (None, value) else (value, other_way or value)
    return Equation(values, other, start, result, len(operands), rough, operands, 0.01 if share else 1.0)


def _left(words: Sequence[Token], at: int, names: Container[int]) -> tuple[int, Value] | None:
    """The longest expression that ends before a token."""
    start = at
    while start > 0 and at - start < LONGEST and start - 1 not in names and _may_stand(words, start - 1):
        start -= 1
    while start < at:
        if (value := evaluate(words[start:at])) is not None:
            return None if start and _joins(words[start - 1], words[start]) else (start, value)
        start += 1
    return None


def _joins(token: Token, first: Token) -> bool:
    """Whether a token before an expression makes it the end of a longer one, or the argument of a function."""
    ratio = token.text == ":" and not first.gap
    called = first.text == "(" and token.sort is Sort.WORD and not first.gap
    return called or token.sort is Sort.TIMES or token.text in PRODUCT | QUOTIENT | SUM | {"(", ">", "<", "^"} or ratio


def _right(words: Sequence[Token], at: int, names: Container[int]) -> tuple[int, Value] | None:
    """The longest expression that begins behind a token, as (token after it, value)."""
    end = at + 1
    while end < len(words) and end - at <= LONGEST and end not in names and _may_stand(words, end):
        end += 1
    while end > at + 1:
        if (value := evaluate(words[at + 1 : end])) is not None:
            return (
                None
                if _goes_on(words, end) or any(w.text.lower() in _TIMES_WORDS for w in words[at + 1 : end])
                else (end, value)
            )
        end -= 1
    return None


_TIMES_WORDS = words_of("years year months month weeks week hours hour days day minutes min seconds h k m b t")


def _goes_on(words: Sequence[Token], end: int) -> bool:
    """Whether what follows changes the figure: a unit we do not reckon in, a letter on it, more of a formula."""
    if end >= len(words):
        return False
    follows = words[end]
    glued = not follows.gap and (follows.sort is Sort.WORD or follows.text in ("^", "\\", "_"))
    return (
        glued
        or follows.text.lower() in _TIMES_WORDS
        or follows.sort is Sort.TIMES
        or follows.text in PRODUCT | QUOTIENT
    )


def _may_stand(words: Sequence[Token], at: int) -> bool:
    """Whether a token may be part of an expression."""
    token = words[at]
    if token.sort in (Sort.NUMBER, Sort.QUANTITY, Sort.TIMES):
        return not token.ranged
    if token.text in PRODUCT | QUOTIENT | SUM | SKIPPED or token.text in ("(", ")"):
        return True
    return token.sort is Sort.WORD and token.text.isalpha()
