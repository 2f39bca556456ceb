"""Checks of arithmetic within a sentence: totals, products, durations, percentages, equations, and conversions."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import combinations
from math import floor, isfinite, prod

from clusterspec.prose.expressions import EQUALS, Equation, equations
from clusterspec.prose.factors import (
    BINARY,
    DOES_NOT_CLOSE,
    RULE_OF_FACTOR,
    mentions_direction,
    multiple_text,
    rule_of_ratio,
    text_in_unit_of,
)
from clusterspec.prose.lexicon import COUNTED, FigureScope, Hint
from clusterspec.prose.sentence import Sentence
from clusterspec.prose.tokenize import TextProblem, Token, TokenKind, words_of
from clusterspec.units import display, display_bits, plain
from clusterspec.units.display import agrees_within

# Totals, durations and percentages that contradict the other figures of their sentence

_TOTAL = frozenset(("total", "totals", "totaling", "totalling", "altogether"))
_YIELDS = frozenset(
    ("→", "to", "i", "for", "is", "are", "that", "so", "give", "gives", "giving", "make", "makes", "making")
)
_YIELDS |= {"provide", "provides", "yield", "yields", "totals", "let", "lets", "has", "have", "together", "inject"}
_OF_RATE = frozenset(("of", "with", "at", "mit", "zu", "von", "à", "de"))
TOTAL_TOLERANCE = 0.05
MAX_POINTS_OFF = 4
"""Tolerance of a share, in percentage points."""
MAX_PARTS_DISTANCE = 10
"""Maximum tokens between a count of parts and the rate of each."""
MAX_NAME_DISTANCE = 4
"""Maximum tokens between a count and the rate of each with a name between them: `4 Cassini NICs of 200 Gb/s`."""
MAX_COUNTS = 8
"""Maximum counts of a sentence that are multiplied."""


def wrong_totals(sentence: Sentence) -> Iterator[TextProblem]:
    """Totals that are not the count times one figure: `8 ports each of 200 Gb/s, for a total of 1.6 Gb/s`."""
    for at in sentence.quantities:
        total = sentence.words[at]
        if (
            sentence.has_meaning(at, Hint.TOTAL)
            and not total.ranged
            and total.value
            and not _is_multiplied(sentence, at)
        ):
            ones = [one for one in _unit_figures(sentence, at) if sentence.words[one].unit == total.unit]
            counts = [count.value for count in sentence.counts if count.value > 1]
            if len(ones) == 1 and counts:
                yield from _total_problems(sentence, total, sentence.words[ones[0]], counts)


def wrong_products(sentence: Sentence) -> Iterator[TextProblem]:
    """Wrong products of a count and a rate: `4 × 200 Gb/s NICs give 800 GB/s`."""
    for one, other in zip(sentence.quantities, sentence.quantities[1:], strict=False):
        first, second = sentence.words[one], sentence.words[other]
        count = _count_of_equal_parts(sentence, one)
        others = _subset_products([each.value for each in sentence.counts if each.value > 1][:MAX_COUNTS])
        between = set(sentence.words_between(one + 1, other))
        if not count or first.unit != second.unit or first.unit != "B/s" or not between & _YIELDS or other - one > 9:
            continue
        if not (first.value and second.value) or first.ranged or second.ranged or _is_per_part(sentence, other):
            continue
        if any(agrees_within(second.value, first.value * other, TOTAL_TOLERANCE) for other in others):
            continue
        ratio = second.value / (first.value * count)
        rule = DOES_NOT_CLOSE if agrees_within(second.value, first.value, 0.01) else rule_of_ratio(ratio)
        if rule and rule != BINARY:
            right = text_in_unit_of(second, first.value * count)
            message = (
                f"{count:.0f} times {first.written} is {right}, {multiple_text(ratio)} the {second.written} written"
            )
            yield TextProblem(rule, second, message, f"write `{right}`")


def _count_of_equal_parts(sentence: Sentence, at: int) -> float:
    """The number of parts whose individual rate is at ``at``, stated before it (`8 NICs of 50 GB/s`) or with `each` (`8
    NICs, each at 50 GB/s`); 0 if there is none.
    """
    for count in reversed(sentence.counts):
        each = count.noun is not None and sentence.scope(at) is count.noun and sentence.has_meaning(at, Hint.EACH)
        between = list(sentence.words_between(count.at + 1, at))
        of_rate = bool(between) and between[-1] in _OF_RATE and "each" not in between
        near = 0 < at - count.at <= (MAX_NAME_DISTANCE if of_rate else 2)
        if count.value > 1 and (near or (each and 0 < at - count.at <= MAX_PARTS_DISTANCE)):
            return count.value
    return 0.0


def _is_per_part(sentence: Sentence, at: int) -> bool:
    """Whether a quantity is an amount per part and therefore not a total."""
    return sentence.scope(at) not in (None, FigureScope.NODE, FigureScope.SUM) or sentence.has_meaning(
        at, Hint.BISECTION
    )


def _is_multiplied(sentence: Sentence, at: int) -> bool:
    return at > 0 and (sentence.words[at - 1].kind is TokenKind.TIMES or sentence.words[at - 1].text in ("x", "×", "*"))


def _unit_figures(sentence: Sentence, total: int) -> Iterator[int]:
    """The indices of quantities before a total that are per part."""
    for at in sentence.quantities:
        scoped = sentence.scope(at) not in (None, FigureScope.SUM) or sentence.has_meaning(at, Hint.EACH)
        counted = any(0 < at - count.at <= 3 for count in sentence.counts)
        if (
            at < total
            and (scoped or counted)
            and not sentence.words[at].ranged
            and not sentence.has_meaning(at, Hint.TOTAL)
        ):
            yield at


def _total_problems(sentence: Sentence, total: Token, token: Token, counts: Sequence[float]) -> Iterator[TextProblem]:
    products = _subset_products(counts[:MAX_COUNTS])
    factors = (1.0, 2.0, 0.5) if mentions_direction(sentence) else (1.0,)
    numbers = (word.value for word in sentence.words if word.kind is TokenKind.NUMBER)  # of parts by any name
    fitting = (*products, *(count - 1 for count in counts), *numbers)  # each has one peer fewer than there are
    if not token.value or any(
        agrees_within(total.value, token.value * count * factor, TOTAL_TOLERANCE)
        for count in fitting
        for factor in factors
    ):
        return
    equations = any(word in EQUALS for word in sentence.words_between(0, len(sentence.words)))
    for count in products:
        ratio = total.value / (token.value * count)
        rule = DOES_NOT_CLOSE if agrees_within(total.value, token.value, 0.01) else rule_of_ratio(ratio)
        if rule or (len(products) == 1 and not equations and _is_called_total(sentence, total)):
            right = text_in_unit_of(total, token.value * count)
            message = (
                f"{count:.0f} times {token.written} is {right}, {multiple_text(ratio)} the {total.written} written"
            )
            yield TextProblem(rule or DOES_NOT_CLOSE, total, message, f"write `{right}`")
            return


def _is_called_total(sentence: Sentence, total: Token) -> bool:
    """Whether a figure is called a total. An `aggregate` may also describe one part or a bisection."""
    at = next(at for at in sentence.quantities if sentence.words[at] is total)
    return bool(_TOTAL & set(sentence.words_between(max(0, at - 4), at + 4)))


def _subset_products(counts: Sequence[float]) -> list[float]:
    """The products of all subsets of some counts."""
    return sorted({prod(chosen) for size in range(1, min(len(counts), 4) + 1) for chosen in combinations(counts, size)})


def wrong_durations(sentence: Sentence) -> Iterator[TextProblem]:
    """Durations that differ from size over rate by the factor of a unit error."""
    found = [_tokens_of_unit(sentence, unit) for unit in ("B", "B/s", "s")]
    if any(len({token.value for token in each}) != 1 for each in found):
        return
    size, rate, time = (each[0] for each in found)
    if not (size.value and rate.value and time.value):
        return
    takes = size.value / rate.value
    for factor, rule in RULE_OF_FACTOR.items():
        if agrees_within(time.value / takes, factor, TOTAL_TOLERANCE):
            right, ratio = display(takes, "s"), time.value / takes
            message = (
                f"{size.written} at {rate.written} takes {right}, {multiple_text(ratio)} the {time.written} written"
            )
            yield TextProblem(rule, time, message, f"write `{right}`")


def _tokens_of_unit(sentence: Sentence, unit: str) -> list[Token]:
    return [sentence.words[at] for at in sentence.quantities if sentence.words[at].unit == unit]


def wrong_shares(sentence: Sentence) -> Iterator[TextProblem]:
    """Percentages that differ from the ratio of two figures: `376 of 450 GB/s is 83 %`."""
    words = sentence.words
    for at, token in enumerate(words[:-1]):
        if token.kind is not TokenKind.NUMBER or words[at + 1].text != "%" or token.ranged:
            continue
        if set(sentence.words_between(at + 2, at + 3)) & _DIFFERENCES:
            continue
        before = [quantity for quantity in sentence.quantities if quantity < at][-2:]
        if len(before) == 2 and at - before[1] <= 8 and _is_share(sentence, before[0], before[1]):
            part, whole = words[before[0]], words[before[1]]
            share = 100 * part.value / whole.value
            if abs(share - token.value) > MAX_POINTS_OFF:
                message = f"{part.written} of {whole.written} is {plain(share)} %, not {token.text} %"
                yield TextProblem("percentage-off-count", token, message, f"write `{plain(share)} %`")


_DIFFERENCES = words_of("less more lower higher faster slower below above under over short")


def _is_share(sentence: Sentence, part: int, whole: int) -> bool:
    """Whether one figure is a part of another (`376 of 450 GB/s`)."""
    between = list(sentence.words_between(part + 1, whole))
    if any(part < count.at < whole for count in sentence.counts):
        return False  # `2.5 TB/s` with `96 links of 112 Gb/s`
    same = sentence.words[part].unit == sentence.words[whole].unit
    return (
        same and "of" in between and len(between) <= 5 and sentence.words[whole].value > 0 < sentence.words[part].value
    )


# Equations whose sides differ: `64*7=484`, `8 x 400 Gb/s = 400 Gb/s`, `100 GB/s (80 Gb/s)`

TOLERANCE_EXACT = 0.01
"""Relative rounding allowed between the sides of an equation."""
TOLERANCE_ROUGH = 0.08
"""The tolerance if the text marks the result as approximate."""
EQUATION_TOLERANCE = 0.03
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


def arithmetic_mismatches(sentence: Sentence) -> Iterator[TextProblem]:
    """Figures that contradict the arithmetic of their own sentence, at most one problem per position."""
    reported: set[int] = set()
    for found in (
        _equation_problems,
        _conversion_problems,
        wrong_totals,
        wrong_products,
        wrong_durations,
        wrong_shares,
    ):
        for mismatch in found(sentence):
            if id(mismatch.start) not in reported:
                reported.add(id(mismatch.start))
                yield mismatch


def _equation_problems(sentence: Sentence) -> Iterator[TextProblem]:
    names = {at for named in sentence.named for at in range(named.start, named.end)}
    for equation in equations(sentence.words, names):
        token, dimensions = sentence.words[equation.result], equation.left[0].dimensions
        if equation.parts == 1 and not any(dimensions):
            continue
        if dimensions == equation.right.dimensions:
            yield from _side_mismatches(sentence, equation, token)
        elif not any(dimensions):
            yield from _digit_mismatches(sentence, equation, token)


def _side_mismatches(sentence: Sentence, equation: Equation, token: Token) -> Iterator[TextProblem]:
    """The mismatch of two sides of equal dimensions that neither rounding nor a count of directions explains."""
    left, right = equation.left[0].number, equation.right.number
    counted = not token.unit and left < MAX_EXACT_COUNT and not left % 1  # a product of counts is not rounded
    step = 1.0 if counted else token.step * equation.scale
    if counted and right and token.text[-4:-3] == "." and agrees_within(left, 1000 * right, TOLERANCE_EXACT):
        return  # a count has no decimals: the point separates thousands, as in German
    if right == 0 or any(
        each.number == 0 or _agrees_with_written(each.number, right, step, equation.rough) for each in equation.left
    ):
        return
    ratio = right / left
    if (agrees_within(ratio, 2, EQUATION_TOLERANCE) or agrees_within(ratio, 0.5, EQUATION_TOLERANCE)) and (
        equation.parts == 1 or mentions_direction(sentence)
    ):
        return
    rule = rule_of_ratio(ratio)
    rule = "" if rule == BINARY and token.unit != "B" else rule
    if (rule == BINARY and equation.rough) or (not rule and equation.parts == 1):
        return
    if equation.parts > 1 and any(
        agrees_within(each.value, right, TOLERANCE_EXACT) and each.unit == token.unit for each in equation.operands
    ):
        rule = DOES_NOT_CLOSE  # the figure of one part given for all of them
    nearest = min((each.number for each in equation.left), key=lambda number: abs(number - right))
    yield _equation_problem(rule or DOES_NOT_CLOSE, sentence, equation, nearest)


def _equation_problem(rule: str, sentence: Sentence, equation: Equation, value: float) -> TextProblem:
    token = sentence.words[equation.result]
    share = " %" if equation.scale < 1 else ""
    right = text_in_unit_of(token, value / equation.scale) + share
    message = f"`{_equation_excerpt(sentence, equation)}`: the left side is {right}"
    if token.unit:
        message += f", {multiple_text(token.value / value)} the figure written"
    if token.unit == "B/s":
        message += f" ({display(value, 'B/s', 4)}, {display_bits(value, 4)})"
    return TextProblem(
        rule, sentence.words[equation.start], message, f"write `{right}`, or correct the left side", token
    )


def _equation_excerpt(sentence: Sentence, equation: Equation) -> str:
    excerpt = sentence.text(equation.start, equation.result + 1 + (equation.scale < 1)).replace("`", "")
    return excerpt if len(excerpt) <= MAX_EXCERPT else excerpt[: MAX_EXCERPT - 1] + "…"


def _agrees_with_written(worked: float, written: float, step: float, rough: bool) -> bool:
    """Whether a figure equals the value of its equation, rounded or truncated at the last digit written."""
    if agrees_within(worked, written, TOLERANCE_ROUGH if rough else TOLERANCE_EXACT):
        return True
    whole = worked / step if step else 0.0
    if not isfinite(whole):
        return False
    return any(abs(each * step - written) < step / 100 for each in (round(whole), floor(whole + 1e-9)))


def _digit_mismatches(sentence: Sentence, equation: Equation, token: Token) -> Iterator[TextProblem]:
    """The mismatch of bare numbers on the left and a unit on the right: digits must agree, whatever the prefix."""
    scale = token.value / _number_as_written(token)
    left, right = equation.left[0].number, equation.right.number / scale if scale else 0.0
    if left <= 0 or right <= 0:
        return
    step = token.step / scale
    if not any(
        _agrees_with_written(each.number / shift, right, step, equation.rough)
        for each in equation.left
        for shift in _SHIFTS
    ):
        message = f"`{_equation_excerpt(sentence, equation)}`: the left side is {plain(left, 4)}"
        yield TextProblem(DOES_NOT_CLOSE, sentence.words[equation.start], message, "compute it again", token)


def _number_as_written(token: Token) -> float:
    """The number as it was written, before its unit."""
    digits = "".join(char for char in token.written.partition(" ")[0] if char in "0123456789.")
    try:
        return float(digits) or 1.0
    except ValueError:
        return 1.0


def _conversion_problems(sentence: Sentence) -> Iterator[TextProblem]:
    """Mismatches between two units of one figure: `100 GB/s (800 Gb/s)`, `16 GB is 128 Gb`, `80 GiB (85.9 GB)`."""
    for one, other in zip(sentence.quantities, sentence.quantities[1:], strict=False):
        first, second = sentence.words[one], sentence.words[other]
        words = [word for word in sentence.words_between(one + 1, other) if word not in ("~", "`")]
        if first.unit != second.unit or first.ranged or second.ranged or not first.value or not _states_equality(words):
            continue
        ratio = second.value / first.value
        if any(
            agrees_within(ratio, count.value, EQUATION_TOLERANCE)
            or agrees_within(ratio * count.value, 1, EQUATION_TOLERANCE)
            for count in sentence.counts
        ):
            continue
        if (rule := rule_of_ratio(ratio)) and _is_conversion_of(first, second, rule):
            right = text_in_unit_of(second, first.value)
            yield TextProblem(rule, second, f"{first.written} is {right}, not {second.written}", f"write `{right}`")


def _is_conversion_of(first: Token, second: Token, rule: str) -> bool:
    """Whether a rule is about the conversion between the units of two figures."""
    if rule == BINARY:
        return first.unit == "B" and first.bits == second.bits and ("i" in first.symbol) != ("i" in second.symbol)
    return first.bits != second.bits


def _states_equality(words: list[str]) -> bool:
    """Whether the words between two figures equate them."""
    return words != [","] and 0 < len(words) <= 5 and all(word in _CONNECTIVES or word in COUNTED for word in words)
