"""Equations in a text: `64*7=448`, `8 x 400 Gb/s = 3.2 Tb/s`, `16/300 = 0.053`.

Each side of an equals sign is the longest sequence of tokens that `clusterspec.prose.evaluate` accepts.
"""

from __future__ import annotations

from collections.abc import Container, Iterator, Sequence

from clusterspec.prose.evaluate import PRODUCT, QUOTIENT, SKIPPED, SUM, Value, evaluate
from clusterspec.prose.tokenize import Token, TokenKind, words_of
from clusterspec.records import dataclass

EQUALS = frozenset(("=", "==", "≈", "~="))
MAX_TOKENS = 40
"""Tokens of one side of an equation."""


@dataclass(frozen=True, slots=True)
class Equation:
    """The two sides of an equation, as token ranges and values; ``result`` is the last figure on the right.

    ``left`` has two values if `a / b * c` may also mean a / (b * c). ``parts`` is the number of numbers on the left.
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
    """The equations whose two sides can be evaluated; tokens in ``names`` are not numbers (`PCIe 5 x16`)."""
    for at, token in enumerate(words):
        if token.text in EQUALS and not _assigns(words, at):
            left, right = _left(words, at, names), _right(words, at, names)
            if left is not None and right is not None and _is_result(words, at, right[0]):
                yield _equation(words, at, left, right)


def _is_result(words: Sequence[Token], at: int, end: int) -> bool:
    """Whether the right side is a single figure, not another step of a derivation."""
    return sum(word.kind in (TokenKind.NUMBER, TokenKind.QUANTITY) for word in words[at + 1 : end]) == 1


def _assigns(words: Sequence[Token], at: int) -> bool:
    """Whether an equals sign assigns a value to a name: `PP=24`."""
    return at == 0 or (words[at - 1].kind is TokenKind.WORD and not words[at].gap)


def _equation(words: Sequence[Token], at: int, left: tuple[int, Value], right: tuple[int, Value]) -> Equation:
    start, value = left
    other_way = evaluate(words[start:at], tight=True)
    operands = tuple(word for word in words[start:at] if word.kind in (TokenKind.NUMBER, TokenKind.QUANTITY))
    results = [i for i in range(at + 1, right[0]) if words[i].kind in (TokenKind.NUMBER, TokenKind.QUANTITY)]
    rough = words[at].text in ("≈", "~=") or any(word.text in ("~", "≈", "about") for word in words[at : results[0]])
    result = results[-1]
    share = result + 1 < len(words) and words[result + 1].text == "%"
    other = Value(right[1].number / 100, right[1].dimensions) if share else right[1]
    values = (value,) if other_way in (None, value) else (value, other_way or value)
    return Equation(values, other, start, result, len(operands), rough, operands, 0.01 if share else 1.0)


def _left(words: Sequence[Token], at: int, names: Container[int]) -> tuple[int, Value] | None:
    """The longest expression that ends before a token."""
    start = at
    while start > 0 and at - start < MAX_TOKENS and start - 1 not in names and _is_operand(words, start - 1):
        start -= 1
    while start < at:
        if (value := evaluate(words[start:at])) is not None:
            return None if start and _extends_left(words[start - 1], words[start]) else (start, value)
        start += 1
    return None


def _extends_left(token: Token, first: Token) -> bool:
    """Whether the token before an expression extends it to the left, or makes it a function argument."""
    ratio = token.text == ":" and not first.gap
    called = first.text == "(" and token.kind is TokenKind.WORD and not first.gap
    return (
        called
        or token.kind is TokenKind.TIMES
        or token.text in PRODUCT | QUOTIENT | SUM | {"(", ">", "<", "^"}
        or ratio
    )


def _right(words: Sequence[Token], at: int, names: Container[int]) -> tuple[int, Value] | None:
    """The longest expression after a token, as (index after it, value)."""
    end = at + 1
    while end < len(words) and end - at <= MAX_TOKENS and end not in names and _is_operand(words, end):
        end += 1
    while end > at + 1:
        if (value := evaluate(words[at + 1 : end])) is not None:
            return (
                None
                if _continues(words, end) or any(w.text.lower() in _TIME_WORDS for w in words[at + 1 : end])
                else (end, value)
            )
        end -= 1
    return None


_TIME_WORDS = words_of("years year months month weeks week hours hour days day minutes min seconds h k m b t")


def _continues(words: Sequence[Token], end: int) -> bool:
    """Whether the next token changes the figure: an unsupported unit, a letter suffix, or more of a formula."""
    if end >= len(words):
        return False
    follows = words[end]
    glued = not follows.gap and (follows.kind is TokenKind.WORD or follows.text in ("^", "\\", "_"))
    return (
        glued
        or follows.text.lower() in _TIME_WORDS
        or follows.kind is TokenKind.TIMES
        or follows.text in PRODUCT | QUOTIENT
    )


def _is_operand(words: Sequence[Token], at: int) -> bool:
    """Whether a token may be part of an expression."""
    token = words[at]
    if token.kind in (TokenKind.NUMBER, TokenKind.QUANTITY, TokenKind.TIMES):
        return not token.ranged
    if token.text in PRODUCT | QUOTIENT | SUM | SKIPPED or token.text in ("(", ")"):
        return True
    return token.kind is TokenKind.WORD and token.text.isalpha()
