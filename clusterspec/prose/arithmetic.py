"""Equations whose sides differ: `64*7=484`, `8 x 400 Gb/s = 400 Gb/s`, `100 GB/s (80 Gb/s)`."""

from __future__ import annotations

from collections.abc import Iterator
from math import floor, isfinite

from clusterspec.prose import totals
from clusterspec.prose.error_factors import (
    BINARY,
    DOES_NOT_CLOSE,
    as_multiple,
    in_unit_of,
    mentions_direction,
    rule_of_ratio,
)
from clusterspec.prose.expressions import Equation, equations
from clusterspec.prose.lexicon import COUNTED
from clusterspec.prose.sentence import Sentence
from clusterspec.prose.text_problem import TextProblem
from clusterspec.prose.tokenize import Token, words_of
from clusterspec.units import display, display_bits, plain
from clusterspec.units.common_errors import near

TOLERANCE_EXACT = 0.01
"""Relative rounding allowed between the sides of an equation."""
TOLERANCE_ROUGH = 0.08
"""The same where the text marks the result as approximate."""
TOLERANCE = 0.03
MAX_EXACT_COUNT = 1e5
"""A product of whole numbers below this is written in full, not rounded."""
MAX_EXCERPT = 80
"""Maximum characters of an equation quoted in a message."""
_SHIFTS = (
    *(10.0 ** (3 * power) for power in range(-12, 13)),
    *(1024.0**power for power in range(-4, 5)),
    *(8.0, 0.125, 60.0, 1 / 60, 3600.0, 1 / 3600, 86400.0, 1 / 86400),
)
"""Factors by which a change of prefix or of the unit of time scales a number."""
_CONNECTIVES = words_of("( ) or is = i e , / ie equals which that aka bidirectional duplex unidirectional of . : → to")


def mismatches(sentence: Sentence) -> Iterator[TextProblem]:
    """The figures of a sentence that its own arithmetic contradicts, at most one problem per position."""
    reported: set[int] = set()
    for found in (_equations, _conversions, totals.totals, totals.products, totals.durations, totals.shares):
        for mismatch in found(sentence):
            if id(mismatch.start) not in reported:
                reported.add(id(mismatch.start))
                yield mismatch


def _equations(sentence: Sentence) -> Iterator[TextProblem]:
    names = {at for named in sentence.named for at in range(named.start, named.end)}
    for equation in equations(sentence.words, names):
        token, dimensions = sentence.words[equation.result], equation.left[0].dimensions
        if equation.parts == 1 and not any(dimensions):
            continue
        if dimensions == equation.right.dimensions:
            yield from _compare_sides(sentence, equation, token)
        elif not any(dimensions):
            yield from _compare_digits(sentence, equation, token)


def _compare_sides(sentence: Sentence, equation: Equation, token: Token) -> Iterator[TextProblem]:
    """The mismatch of two sides with the same dimensions, unless rounding or a count of directions explains it."""
    left, right = equation.left[0].number, equation.right.number
    counted = not token.unit and left < MAX_EXACT_COUNT and not left % 1  # a product of counts is not rounded
    step = 1.0 if counted else token.step * equation.scale
    if right == 0 or any(
        each.number == 0 or _agrees(each.number, right, step, equation.rough) for each in equation.left
    ):
        return
    ratio = right / left
    if (near(ratio, 2, TOLERANCE) or near(ratio, 0.5, TOLERANCE)) and (
        equation.parts == 1 or mentions_direction(sentence)
    ):
        return
    rule = rule_of_ratio(ratio)
    rule = "" if rule == BINARY and token.unit != "B" else rule
    if (rule == BINARY and equation.rough) or (not rule and equation.parts == 1):
        return
    if equation.parts > 1 and any(
        near(each.value, right, TOLERANCE_EXACT) and each.unit == token.unit for each in equation.operands
    ):
        rule = DOES_NOT_CLOSE  # the figure of one part given for all of them
    yield _mismatch(rule or DOES_NOT_CLOSE, sentence, equation, left)


def _mismatch(rule: str, sentence: Sentence, equation: Equation, value: float) -> TextProblem:
    token = sentence.words[equation.result]
    right = in_unit_of(token, value / equation.scale)
    message = f"`{_excerpt(sentence, equation)}`: the left side is {right}"
    if token.unit:
        message += f", {as_multiple(token.value / value)} the figure written"
    if token.unit == "B/s":
        message += f" ({display(value, 'B/s', 4)}, {display_bits(value, 4)})"
    return TextProblem(
        rule, sentence.words[equation.start], message, f"write `{right}`, or correct the left side", token
    )


def _excerpt(sentence: Sentence, equation: Equation) -> str:
    excerpt = sentence.text(equation.start, equation.result + 1).replace("`", "")
    return excerpt if len(excerpt) <= MAX_EXCERPT else excerpt[: MAX_EXCERPT - 1] + "…"


def _agrees(worked: float, written: float, step: float, rough: bool) -> bool:
    """Whether a figure equals the value of its equation, rounded or truncated at the last digit written."""
    if near(worked, written, TOLERANCE_ROUGH if rough else TOLERANCE_EXACT):
        return True
    whole = worked / step if step else 0.0
    if not isfinite(whole):
        return False
    return any(abs(each * step - written) < step / 100 for each in (round(whole), floor(whole)))


def _compare_digits(sentence: Sentence, equation: Equation, token: Token) -> Iterator[TextProblem]:
    """The mismatch of bare numbers on the left and a unit on the right: digits must agree, whatever the prefix."""
    scale = token.value / _digits(token)
    left, right = equation.left[0].number, equation.right.number / scale if scale else 0.0
    if left <= 0 or right <= 0:
        return
    step = token.step / scale
    if not any(
        _agrees(each.number / shift, right, step, equation.rough) for each in equation.left for shift in _SHIFTS
    ):
        message = f"`{_excerpt(sentence, equation)}`: the left side is {plain(left, 4)}"
        yield TextProblem(DOES_NOT_CLOSE, sentence.words[equation.start], message, "compute it again", token)


def _digits(token: Token) -> float:
    """The number as it was written, before its unit."""
    digits = "".join(char for char in token.written.partition(" ")[0] if char in "0123456789.")
    try:
        return float(digits) or 1.0
    except ValueError:
        return 1.0


def _conversions(sentence: Sentence) -> Iterator[TextProblem]:
    """Mismatches of one figure given in two units: `100 GB/s (800 Gb/s)`, `16 GB is 128 Gb`, `80 GiB (85.9 GB)`."""
    for one, other in zip(sentence.quantities, sentence.quantities[1:], strict=False):
        first, second = sentence.words[one], sentence.words[other]
        words = [word for word in sentence.between(one + 1, other) if word not in ("~", "`")]
        if first.unit != second.unit or first.ranged or second.ranged or not first.value or not _states_equality(words):
            continue
        ratio = second.value / first.value
        if any(
            near(ratio, count.value, TOLERANCE) or near(ratio * count.value, 1, TOLERANCE) for count in sentence.counts
        ):
            continue
        if (rule := rule_of_ratio(ratio)) and _is_conversion_of(first, second, rule):
            right = in_unit_of(second, first.value)
            yield TextProblem(rule, second, f"{first.written} is {right}, not {second.written}", f"write `{right}`")


def _is_conversion_of(first: Token, second: Token, rule: str) -> bool:
    """Whether a rule is about the conversion between the units of two figures."""
    if rule == BINARY:
        return first.unit == "B" and first.bits == second.bits and ("i" in first.symbol) != ("i" in second.symbol)
    return first.bits != second.bits


def _states_equality(words: list[str]) -> bool:
    """Whether the words between two figures equate them."""
    return words != [","] and 0 < len(words) <= 5 and all(word in _CONNECTIVES or word in COUNTED for word in words)
