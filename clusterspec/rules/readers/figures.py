"""The figures of a sentence that measure or count something, each with its noun and the thing to which it applies."""

from __future__ import annotations

from collections.abc import Sequence

from clusterspec.records import NamedTuple
from clusterspec.rules.readers.tokens import UNITS, Dimensions, Token, is_for_each, tokens_of, unit_of
from clusterspec.rules.readers.units import NUMBERS, SPELLED_TENS, word_set
from clusterspec.standard import pattern

NO_UNIT: Dimensions = (0, 0, 0, 0)
TIME: Dimensions = (0, 0, 1, 0)
RATE: Dimensions = (0, 0, -1, 0)
"""Dimensions of things in a time."""
WORDS_AFTER_NOUNS = word_set(
    "of at with each per a an the and or are is was were be been has have had draw draws take takes make makes give gives need needs cost costs leave leaves in on for to "
    "from by so that which who this these those it they as than then but if when while until after before over under into out off up apiece together altogether see sees get gets "
    "yield yields pro je par por total totals must can may will would should not no only just about roughly rent rented carry carries hold holds use uses serve serves fail fails "
    "turn turns become becomes stay stays sum sums add adds pay pays read reads write writes produce produces come comes fill fills span spans share shares support supports"
)
"""Words that end the noun phrase that a number counts."""
_OTHER_WORDS = word_set("one un une una ein eine einem einen sei due once dos")
"""Numbers as words that are articles, or words of another language."""
_LONGEST_FIRST = sorted({*NUMBERS, *SPELLED_TENS} - _OTHER_WORDS, key=len, reverse=True)
_SPELLED = pattern(rf"(?i)(?<![\w-])(?:{'|'.join(_LONGEST_FIRST)})(?=[ -]\w)")
_VERBS = word_set("has have is takes needs draws makes costs reads runs was will does counts holds sees")
_PERCENT = word_set("percent prozent")
PART = "part"
"""What a number counts that stands alone: `of 32 nodes 4 are spares`."""
DIGITS = pattern(r"^\d(?:[\d.,'’]*\d)?")


class RelatedFigure(NamedTuple):
    """A number of a sentence in SI units, what it measures or counts, and the nouns that it applies to (per node, per
    step).

    ``noun`` is the singular of the things that a number without a unit counts; ``is_share`` tells percents.
    ``rounding`` is half a unit of its last digit, relative to it.
    """

    value: float
    dimensions: Dimensions
    noun: str
    per: tuple[str, ...]
    is_share: bool
    start: int
    end: int
    words: str
    rounding: float
    number: float
    """The number as its digits are written, without the word or letter that scales it."""
    currency: str
    """The unit of an amount of money; empty for other figures."""

    @property
    def uncertainty(self) -> float:
        """What the rounding of its digits leaves open of a product with the figure: counts that are written out are exact."""
        exact = self.is_count and self.number == self.value
        return 0.0 if exact else self.rounding * (self.value if self.is_share else 1.0)

    @property
    def is_count(self) -> bool:
        return self.dimensions == NO_UNIT and bool(self.noun) and not self.is_share and not self.per

    def is_like(self, other: RelatedFigure) -> bool:
        """Whether two figures measure or count the same, whatever each is for."""
        same = self.dimensions == other.dimensions and self.noun == other.noun and self.is_share == other.is_share
        return same and self.currency == other.currency


def with_digits(sentence: str) -> str:
    """A sentence with small numbers in digits.

    >>> with_digits("A rack of four nodes; eight racks, fourteen twin-port cables, twenty-five")
    'A rack of 4 nodes; 8 racks, 14 twin-port cables, twenty-five'
    """
    return _SPELLED.sub(
        lambda match: (
            str(NUMBERS.get(match[0].lower()) or SPELLED_TENS.get(match[0].lower()) or match[0])
            if sentence[match.end()] == " "
            else match[0]
        ),
        sentence,
    )


def related_figures(sentence: str) -> list[RelatedFigure]:
    """The figures of a sentence that measure or count something.

    >>> [(each.value, each.noun, each.per) for each in related_figures("512 sequences of 8,192 tokens; 4.2 million tokens a step")]
    [(512.0, 'sequence', ()), (8192.0, 'token', ()), (4200000.0, 'token', ('step',))]
    >>> [(each.value, each.dimensions) for each in related_figures("36 months at 50,000 USD a month, Llama 3.1")][1]
    (0.01901285268841737, (1, 0, -1, 0))
    """
    tokens, found = tokens_of(sentence), []
    for at, token in enumerate(tokens):
        if token.kind != "number" or not token.values or not token.values[0]:
            continue
        per = tuple(_singular(each) for each in token.per if each not in UNITS) if token.dimensions != TIME else ()
        if token.unit:
            share = token.unit in "%‰"
            value, end = token.values[-1 if len(token.values) == 1 else 0] * token.scale, token.end
            found.append(_figure(sentence, token, value, token.dimensions, "", per, share, end))
            continue
        noun, behind = _counted_noun(tokens, at + 1)
        if noun in _PERCENT:
            end = tokens[behind - 1].end
            found.append(_figure(sentence, token, token.values[0] / 100, NO_UNIT, "", (), True, end))
        if not noun or noun in _PERCENT:
            continue
        factor, dimensions, each, end = _periods(tokens, behind)
        found.append(
            _figure(
                sentence, token, token.values[0] * factor, dimensions, noun, each, False, end or tokens[behind - 1].end
            )
        )
    return found


def _figure(
    sentence: str,
    token: Token,
    value: float,
    dimensions: Dimensions,
    noun: str,
    per: tuple[str, ...],
    share: bool,
    end: int,
) -> RelatedFigure:
    written = token.values[0] / token.factor
    digits = f"{written:.12g}"
    currency = token.unit if token.dimensions[0] else ""
    decimals = 0 if "e" in digits else len(digits.partition(".")[2])
    zeros = len(digits) - len(digits.rstrip("0")) if not decimals and not share else 0
    rounding = min(0.5 * 10.0 ** (min(zeros, 2) - decimals) / written, 0.1)
    return RelatedFigure(
        value, dimensions, noun, per, share, token.start, end, sentence[token.start : end], rounding, written, currency
    )


def _counted_noun(tokens: Sequence[Token], at: int) -> tuple[str, int]:
    """The singular of the noun that a number before an index counts, and the index after it; empty if it counts
    nothing.
    """
    follows = tokens[at].text.lower() if at < len(tokens) else ""
    of_count = follows == "of" and any(each.kind == "number" for each in tokens[at + 1 : at + 3])
    if (follows in ("are", "is", "were") or of_count) and tokens[at - 1].values[0] % 1 == 0:
        return PART, at
    words: list[str] = []
    while (
        at < len(tokens)
        and tokens[at].kind == "word"
        and tokens[at].text.lower() not in WORDS_AFTER_NOUNS
        and len(words) < 4
    ):
        words.append(tokens[at].text)
        at += 1
        if words[-1].endswith("s") and not words[-1].isupper() and len(words[-1]) > 3:
            break  # the plural of what is counted
    if not words or (not words[-1].endswith("s") and len(words) > 2):
        return "", at
    return _singular(words[-1].lower()), at


def _singular(word: str) -> str:
    word = word.lower()
    if word.endswith("ches") or word.endswith("xes"):
        return word[:-2]
    return word[:-1] if word.endswith("s") and not word.endswith("ss") and len(word) > 2 else word


def _periods(tokens: Sequence[Token], at: int) -> tuple[float, Dimensions, tuple[str, ...], int]:
    """The factor and the dimensions of `a minute` or `per second` at an index, or the noun of `a step`, and where they end."""
    if at + 1 >= len(tokens) or not is_for_each(tokens, at):
        return 1.0, NO_UNIT, (), 0
    word = tokens[at + 1].text
    if at + 2 < len(tokens) and tokens[at + 2].text.lower() in _VERBS and tokens[at].text != "/":
        return 1.0, NO_UNIT, (), 0  # `512 sequences, a step has`
    unit = unit_of(word)
    if unit and UNITS[unit][1] == TIME:
        return 1 / UNITS[unit][0], (0, 0, -1, 0), (), tokens[at + 1].end
    return (
        (1.0, NO_UNIT, (_singular(word),), tokens[at + 1].end)
        if tokens[at + 1].kind == "word"
        else (1.0, NO_UNIT, (), 0)
    )
