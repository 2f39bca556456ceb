"""Equations that do not close: `64*7=484`, `8 x 400 Gb/s = 400 Gb/s`, `100 GB/s (80 Gb/s)`."""

from __future__ import annotations

from collections.abc import Iterator
from math import floor, isfinite

from clusterspec.prose import totals
from clusterspec.prose.expressions import Equation, equations
from clusterspec.prose.factors import BINARY, DOES_NOT_CLOSE, directed, named, shown, times
from clusterspec.prose.lexicon import COUNTED
from clusterspec.prose.scan import Token, words_of
from clusterspec.prose.sentence import Sentence
from clusterspec.prose.told import Told
from clusterspec.units import plain, say, say_bits
from clusterspec.units.slips import near

EXACT = 0.01
"""Rounding that an equation is allowed."""
ROUGH = 0.08
"""The same where it says about."""
CLOSE = 0.03
COUNTED_OUT = 1e5
"""A product of whole numbers below this is written out."""
LONGEST = 80
"""Characters of an equation that a message repeats."""
_SHIFTS = (
    *(10.0 ** (3 * power) for power in range(-12, 13)),
    *(1024.0**power for power in range(-4, 5)),
    *(8.0, 0.125, 60.0, 1 / 60, 3600.0, 1 / 3600, 86400.0, 1 / 86400),
)
"""What a prefix or another unit of time makes of a number."""
_JOINS = words_of("( ) or is = i e , / ie equals which that aka bidirectional duplex unidirectional of . : → to")


def mismatches(sentence: Sentence) -> Iterator[Told]:
    """Every figure of a sentence that its own arithmetic contradicts; one for each place."""
    told: set[int] = set()
    for found in (_equations, _conversions, totals.totals, totals.products, totals.durations, totals.shares):
        for mismatch in found(sentence):
            if id(mismatch.start) not in told:
                told.add(id(mismatch.start))
                yield mismatch


def _equations(sentence: Sentence) -> Iterator[Told]:
    names = {at for named in sentence.named for at in range(named.start, named.end)}
    for equation in equations(sentence.words, names):
        token, dimensions = sentence.words[equation.result], equation.left[0].dimensions
        if equation.parts == 1 and not any(dimensions):
            continue
        if dimensions == equation.right.dimensions:
            yield from _closes(sentence, equation, token)
        elif not any(dimensions):
            yield from _closes_without_unit(sentence, equation, token)


def _closes(sentence: Sentence, equation: Equation, token: Token) -> Iterator[Told]:
    """Both sides have the same dimensions: they are equal but for rounding, or the factor between them has a name."""
    left, right = equation.left[0].number, equation.right.number
    counted = not token.unit and left < COUNTED_OUT and not left % 1  # a product of counts is not rounded
    step = 1.0 if counted else token.step * equation.scale
    if right == 0 or any(
        each.number == 0 or _agree(each.number, right, step, equation.rough) for each in equation.left
    ):
        return
    ratio = right / left
    if (near(ratio, 2, CLOSE) or near(ratio, 0.5, CLOSE)) and (equation.parts == 1 or directed(sentence)):
        return
    rule = named(ratio)
    rule = "" if rule == BINARY and token.unit != "B" else rule
    if (rule == BINARY and equation.rough) or (not rule and equation.parts == 1):
        return
    if equation.parts > 1 and any(
        near(each.value, right, EXACT) and each.unit == token.unit for each in equation.operands
    ):
        rule = DOES_NOT_CLOSE  # the figure of one, given for all
    yield _told(rule or DOES_NOT_CLOSE, sentence, equation, left)


def _told(rule: str, sentence: Sentence, equation: Equation, value: float) -> Told:
    token = sentence.words[equation.result]
    right = shown(token, value / equation.scale)
    message = f"`{_short(sentence, equation)}`: the left side is {right}"
    if token.unit:
        message += f", {times(token.value / value)} what is written"
    if token.unit == "B/s":
        message += f" ({say(value, 'B/s', 4)}, {say_bits(value, 4)})"
    return Told(rule, sentence.words[equation.start], message, f"write `{right}`, or mend the left side", token)


def _short(sentence: Sentence, equation: Equation) -> str:
    said = sentence.text(equation.start, equation.result + 1).replace("`", "")
    return said if len(said) <= LONGEST else said[: LONGEST - 1] + "…"


def _agree(worked: float, written: float, step: float, rough: bool) -> bool:
    """Whether a figure is what its equation gives: but for rounding, or cut off at the last digit written."""
    if near(worked, written, ROUGH if rough else EXACT):
        return True
    whole = worked / step if step else 0.0
    if not isfinite(whole):
        return False
    return any(abs(each * step - written) < step / 100 for each in (round(whole), floor(whole)))


def _closes_without_unit(sentence: Sentence, equation: Equation, token: Token) -> Iterator[Told]:
    """Bare numbers on the left, a unit on the right: the digits must be the same, whatever the prefix."""
    scale = token.value / _digits(token)
    left, right = equation.left[0].number, equation.right.number / scale if scale else 0.0
    if left <= 0 or right <= 0:
        return
    step = token.step / scale
    if not any(_agree(each.number / shift, right, step, equation.rough) for each in equation.left for shift in _SHIFTS):
        message = f"`{_short(sentence, equation)}`: the left side is {plain(left, 4)}"
        yield Told(DOES_NOT_CLOSE, sentence.words[equation.start], message, "work it out again", token)


def _digits(token: Token) -> float:
    """The number as it was written, before its unit."""
    digits = "".join(char for char in token.written.partition(" ")[0] if char in "0123456789.")
    try:
        return float(digits) or 1.0
    except ValueError:
        return 1.0


def _conversions(sentence: Sentence) -> Iterator[Told]:
    """One figure in two units: `100 GB/s (800 Gb/s)`, `16 GB is 128 Gb`, `80 GiB (85.9 GB)`."""
    for one, other in zip(sentence.quantities, sentence.quantities[1:], strict=False):
        first, second = sentence.words[one], sentence.words[other]
        joined = [word for word in sentence.between(one + 1, other) if word not in ("~", "`")]
        if first.unit != second.unit or first.ranged or second.ranged or not first.value or not _same(joined):
            continue
        ratio = second.value / first.value
        if any(near(ratio, count.value, CLOSE) or near(ratio * count.value, 1, CLOSE) for count in sentence.counts):
            continue
        if (rule := named(ratio)) and _may_break(first, second, rule):
            right = shown(second, first.value)
            yield Told(rule, second, f"{first.written} is {right}, and not {second.written}", f"write `{right}`")


def _may_break(first: Token, second: Token, rule: str) -> bool:
    """Whether two figures are in units whose conversion a rule refers to."""
    if rule == BINARY:
        return first.unit == "B" and first.bits == second.bits and ("i" in first.symbol) != ("i" in second.symbol)
    return first.bits != second.bits


def _same(joined: list[str]) -> bool:
    """Whether the words between two figures say that they are one."""
    return joined != [","] and 0 < len(joined) <= 5 and all(word in _JOINS or word in COUNTED for word in joined)
