"""Quantities of plans in texts: numbers with what they count or measure, in English, German, French and Spanish."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from functools import lru_cache
from itertools import islice

from clusterspec.records import NamedTuple
from clusterspec.rules.readers.tokens import (
    Token,
    has_decimal_comma,
    plain_tokens,
    sign_of_decimals,
)
from clusterspec.rules.readers.units import (
    ABBREVIATED,
    HALVES,
    LETTERS,
    NUMBERS,
    SCALE_WORDS,
    SPELLED_TENS,
    TENS,
    TIME_WORDS,
    word_set,
)
from clusterspec.rules.readers.written_numbers import belongs_to_something_else, readings_of, sentences_of
from clusterspec.standard import pattern, recent

MOST_QUANTITIES = 200
"""Largest number of quantities that are read in a text; a hostile text may have a million."""
STEP, TOKEN, SEQUENCE, NODE, ACCELERATOR = "step", "token", "sequence", "node", "accelerator"
ACCELERATOR_HOUR, NODE_HOUR, FLOP, FLOP_PER_SECOND = "accelerator hour", "node hour", "FLOP", "FLOP/s"
HOURS = (ACCELERATOR_HOUR, NODE_HOUR)
TOKEN_PER_SECOND, SECOND, SHARE, BYTE, BARE = "token/s", "s", "%", "B", ""


class TextQuantity(NamedTuple):
    """A number of a text in the unit of its kind: times in seconds, sizes in bytes, shares as ratios, others as counts."""

    value: float
    unit: str
    start: int
    end: int
    words: str
    step: float
    """The value of the last digit written."""

    def agrees(self, value: float, tolerance: float = 0.02) -> bool:
        """Whether a computed value is this figure, rounded or cut at its last digit.

        >>> TextQuantity(7.05e24, FLOP, 0, 0, "", 1e22).agrees(7.054e24)
        True
        """
        return abs(self.value - value) <= max(tolerance * abs(value), 1.001 * self.step)


_HOURS = word_set("hour hours hr hrs h")
_ACCELERATORS = word_set("GPU chip accelerator TPU card")
_MACHINES = word_set("node instance server VM")
_WORDS_OF_UNITS = {
    ACCELERATOR_HOUR: "GPUh GPUStunden",
    NODE_HOUR: "KnotenStunden Knotenstunden",
    STEP: "step steps iteration iterations iter iters updates Schritte Schritten schritte schritten pas étapes itérations pasos "
    "iteraciones",
    TOKEN: "token tokens Token Tokens tok toks jeton jetons",
    SEQUENCE: "sequence sequences Sequenzen séquences secuencias",
    NODE: "node nodes server servers instance instances VM VMs Knoten nœuds noeuds nodos",
    ACCELERATOR: "GPU GPUs accelerator accelerators chip chips TPU TPUs cards GH200 GH200s",
}
_UNITS = {word: unit for unit, words in _WORDS_OF_UNITS.items() for word in words.split()} | {
    f"{family}{size}00{plural}": ACCELERATOR for family in "ABH" for size in "123" for plural in ("", "s")
}
"""What a text counts in a plan, by its words."""
_SECONDS = {word: seconds for word, seconds in TIME_WORDS.items() if seconds <= TIME_WORDS["week"]}
_SECONDS |= {word.capitalize(): seconds for word, seconds in _SECONDS.items() if len(word) > len("min")} | {
    each: _SECONDS["tag"] if each == "Tag" else _SECONDS["std"] for each in ("Tag", "Std")
}
_SHORT_TIMES = word_set("s h d sec secs min mins hr hrs std Std")
_PREFIXES = {"": 1.0, "k": 1e3, "M": 1e6, "G": 1e9, "T": 1e12, "P": 1e15, "E": 1e18, "Z": 1e21, "Y": 1e24}
_SIZES = {f"{prefix}B": _PREFIXES[prefix] for prefix in ("", *"kMGTPE")} | dict.fromkeys(
    ("byte", "bytes", "Byte", "Bytes"), 1.0
)
_KINDS = word_set(
    "training optimizer warm-up warmup decay gradient unique distinct pre-training pretraining new consumed more clean "
    "high-quality raw real Optimierer Trainings Warmup"
)
"""Words between a number and the noun that it counts, other than the names of parts: 32 H100 nodes, 400 B unique
tokens.
"""
_OTHER_LANGUAGE = (
    *("chritte", "stunden", "Stunden", "Tage", "Wochen", "Knoten", "Sekunden", "Sequenzen", "étapes", "itérations"),
    *("heures", "jours", "semaines", "séquences", "pasos", "iteraciones", "horas", "días", "dias", "semanas", "nodos"),
)
"""Units after which points stand between thousands."""
_NO_ADJECTIVES = word_set(
    "of and or to in at per a an the from with on for by as is are than that which into over x de des du d la les von der die das und et y"
)
"""Words that are no adjectives of the tokens behind them."""
_BREAKS = ",;:()[]=/"
_LONGEST_NAME = len("H100-SXM5-80GB-X")
_PLURALS_OF_HOURS = ("hours", "Stunden")
_EXPONENT = pattern(r"[eE][+-]?\d{1,2}(?![.,]?\d)")
_POWER = pattern(r" ?[x×·*] ?10(?:\^|\*\*)(\d{1,2})")
_ABBREVIATION = pattern(r"\b(Mio|Mrd|ca|approx|incl|Std|i\.e|e\.g|d\.h|z\.B)\.")
_PERCENTS = (("%",), ("percent",), ("per", "cent"), ("prozent",), ("pour", "cent"), ("por", "ciento"))


@lru_cache(64)
def pieces_of(text: str) -> Sequence[Token]:
    """The tokens of a text, with the parts of words with hyphens or apostrophes as words of their own.

    >>> [each.text for each in pieces_of("8-GPU nodes of H100-SXM")]
    ['8', '-', 'GPU', 'nodes', 'of', 'H100', 'SXM']
    """
    found: list[Token] = []
    for token in plain_tokens(text):
        parts = token.text.replace("'", "-").replace("’", "-").split("-") if token.kind == "word" else ()
        if len(parts) < 2:
            found.append(token)
            continue
        at = token.start
        for part in parts:
            if part:
                found.append(Token("word", part, at, at + len(part)))
            at += len(part) + 1
    return found


class Reader:
    """The tokens of a sentence, with what stands between them. Methods take the index of a token, and return the index
    after the tokens that they read.
    """

    def __init__(self, sentence: str, of_text: str = "") -> None:
        """``of_text`` is the decimal sign of the text of the sentence, if it is known."""
        self.sentence = sentence
        self.has_comma = has_decimal_comma(sentence, of_text)
        self.pieces = [each for each in pieces_of(sentence) if each.text != "-"]

    def word(self, at: int) -> str:
        return self.pieces[at].text if at < len(self.pieces) else ""

    def gap(self, at: int) -> str:
        """Words before a token."""
        return self.sentence[self.pieces[at - 1].end : self.pieces[at].start] if 0 < at < len(self.pieces) else "\n"

    def percent_end(self, at: int) -> int:
        """The token after the sign or words of percents at an index; 0 without them."""
        for words in _PERCENTS:
            if all(self.word(at + index).lower() == word for index, word in enumerate(words)):
                return at + len(words) if self.gap(at) in ("", " ", "-") else 0
        return 0

    def scale(self, at: int) -> tuple[float, int]:
        """What the letter or word at an index multiplies the number before it by, and the index after it; 1 without one."""
        word, gap = self.word(at), self.gap(at)
        if gap in ("", " ") and (letter := LETTERS.get(word) or _LOW_LETTERS.get(word)):
            return letter, at + 1
        if gap not in (" ", "-") or word.lower() not in SCALE_WORDS:
            return 1.0, at
        if f"{word} {self.word(at + 1)}".lower() in SCALE_WORDS:
            return SCALE_WORDS[f"{word} {self.word(at + 1)}".lower()], at + 2
        stop = self.word(at + 1) == "." and word.lower() in ABBREVIATED and self.gap(at + 1) == ""
        return SCALE_WORDS[word.lower()], at + 1 + stop

    def unit(self, at: int) -> tuple[str, float, int]:
        """The unit of the words at an index, its factor, and the index after it; 0 without one."""
        if self.gap(at) not in ("", " ", "-"):
            return "", 1.0, 0
        if self.word(at) in ("de", "d") and self.word(at - 1).lower() in SCALE_WORDS:
            return self._plain_unit(at + 1)
        after = self.next_word(at)
        name = self.sentence[self.pieces[at].start : self.pieces[after].start - 1] if after else ""
        of_part = name.startswith("quad-") or (any(map(str.isdigit, name)) and name[0].isalnum())
        if name in _KINDS or of_part:
            named = self._plain_unit(after) if self.word(after).isalpha() else ("", 1.0, 0)
            if named[2] and (name in _KINDS or named[0] in (ACCELERATOR_HOUR, NODE, ACCELERATOR)):
                return named
        return self._tokens_behind(at) or self._plain_unit(at)

    def _tokens_behind(self, at: int) -> tuple[str, float, int] | None:
        """The tokens after a scaled number and one or two words about them: 100 M held-out tokens, 40 Mio. Validierungs-Token."""
        if self.word(at - 1) not in LETTERS and self.word(at - 1).lower() not in {*SCALE_WORDS, "."}:
            return None
        for after in range(at + 1, at + 3):
            word = self.word(after - 1)
            if not word.isalpha() or word in _NO_ADJECTIVES or self.gap(after) not in (" ", "-"):
                return None
            if _UNITS.get(self.word(after)) == TOKEN:
                return self._plain_unit(after)
        return None

    def next_word(self, at: int) -> int:
        """The token after the next space, of a name such as `p5en.48xlarge` of several tokens; 0 where none follows."""
        start = self.pieces[at].start
        end = self.sentence.find(" ", start, start + _LONGEST_NAME)
        if end < 0 or not set(_BREAKS).isdisjoint(self.sentence[start:end]):
            return 0
        near = range(at + 1, min(at + _LONGEST_NAME, len(self.pieces)))
        return next((each for each in near if self.pieces[each].start == end + 1), 0)

    def _plain_unit(self, at: int) -> tuple[str, float, int]:
        word, joined = self.word(at), self.gap(at + 1) in ("", " ", "-")
        after = self.word(at + 1) if joined else ""
        if (word in _ACCELERATORS or word in _MACHINES) and after in _HOURS | {"Stunden"}:
            found = ACCELERATOR_HOUR if word in _ACCELERATORS else NODE_HOUR, 1.0, at + 2
        elif word in ("heures", "horas") and (noun := self._noun_of_hours(at + 1)):
            found = noun[0], 1.0, noun[1]
        elif _UNITS.get(word) == TOKEN and (end := self._second_end(at + 1)):
            found = TOKEN_PER_SECOND, 1.0, end
        elif word in _UNITS or (word[:2] == "MI" and word.rstrip("s")[5:] in ("A", "X") and word[2:5].isdigit()):
            found = _UNITS.get(word, ACCELERATOR), 1.0, at + 1
        elif word in _SECONDS:
            found = SECOND, _SECONDS[word], at + 1
        elif word in _SIZES:
            found = BYTE, _SIZES[word], at + 1
        elif word.lstrip("kMGTPEZY") in ("FLOP", "FLOPs", "FLOPS") and word[: word.index("F")] in _PREFIXES:
            factor, end = _PREFIXES[word[: word.index("F")]], self._second_end(at + 1)
            found = (FLOP_PER_SECOND if end or word.endswith("S") else FLOP), factor, end or at + 1
        else:
            return "", 1.0, 0
        behind = self.sentence[self.pieces[found[2] - 1].end :][:12]
        if (
            (behind[:1] in ("/", "-", "_") and not behind.startswith(("/step", "/iter")))
            or behind[:1].isalnum()
            or behind.lstrip(" -").startswith(_PLURALS_OF_HOURS)
        ):
            return "", 1.0, 0
        return found

    def _noun_of_hours(self, at: int) -> tuple[str, int] | None:
        """The kind of the hours of what stands at an index, in French and Spanish, and the index after it."""
        at += self.word(at) == "de"
        word = self.word(at)
        kind = ACCELERATOR_HOUR if word == "GPU" else NODE_HOUR if word in ("nœud", "nœuds", "nodo") else ""
        return (kind, at + 1) if kind and self.gap(at) in (" ", "-") else None

    def _second_end(self, at: int) -> int:
        """The index after `/s` or `per second`; 0 without them."""
        sign = self.word(at)
        named = (
            sign in ("/", "per", "a", "each", "every", "pro", "je", "par", "por") and self.word(at + 1) in _ONE_SECOND
        )
        return at + 2 if named and self.gap(at) == ("" if sign == "/" else " ") else 0

    def quantity(self, at: int) -> tuple[TextQuantity, int]:
        """The quantity of the number at an index, and the index after it."""
        number = self.pieces[at]
        end, power = number.end, 0
        if exponent := _EXPONENT.match(self.sentence, end):
            end, power = exponent.end(), int(exponent[0][1:])
        elif times := _POWER.match(self.sentence, end):
            end, power = times.end(), int(times[1])
        at += 1
        while at < len(self.pieces) and self.pieces[at].start < end:
            at += 1
        scale, behind = self.scale(at)
        unit, factor, last = self.unit(behind) if behind > at and self._is_open(behind) else ("", 1.0, 0)
        if not last:
            letter = self.word(at)
            bare = behind > at and letter not in ("Ki", "m", "b", "g") and not self._is_joined(behind)
            unit, factor, last = self.unit(at)
            if last:
                scale = 1.0
            elif share := self.percent_end(at):
                unit, factor, scale, last = SHARE, 0.01, 1.0, share
            elif bare:
                last = behind
            else:
                scale, last = 1.0, at
        end = max(end, self.pieces[last - 1].end) if last else end
        words = self.sentence[number.start : end]
        digits = _decimal_digits(number.text, words, self.has_comma)
        whole = scale * factor * 10.0**power
        step = 10.0 ** -len(digits.partition(".")[2]) if "." in digits else 1.0
        return TextQuantity(float(digits) * whole, unit, number.start, end, words, step * whole), max(last, at)

    def spelled_time(self, at: int) -> tuple[TextQuantity, int] | None:
        """The time at an index whose number is written in words (`five and a half days`, `zwei Wochen`, `half a day`), and
        the index after it. An article is no number, unless a half follows the unit: `a day and a half`.
        """
        number, article, last = self._spelled_number(at)
        unit = self.word(last)
        factor = _SECONDS.get(unit) if number and unit not in _SHORT_TIMES else None
        if factor is None:
            return None
        half, end = self._added_half(last + 1)
        if article and not half:
            return None
        start, stop = self.pieces[at].start, self.pieces[end - 1].end
        return TextQuantity((number + half) * factor, SECOND, start, stop, self.sentence[start:stop], 0.5 * factor), end

    def _spelled_number(self, at: int) -> tuple[float, bool, int]:
        """The number in words at an index, whether it is an article, and the index after it; 0 without one."""
        word = self.word(at).lower()
        if word == "half" and self.word(at + 1) in ("a", "an"):
            return 0.5, False, at + 2
        if word.endswith("einhalb") and (whole := NUMBERS.get(word.removesuffix("einhalb"))):
            return whole + 0.5, False, at + 1
        if word in _HALF_OF and self.word(at + 1):
            return 0.5, False, at + 1
        if tens := TENS.get(word) or SPELLED_TENS.get(word):
            ones = NUMBERS.get(self.word(at + 1), 10) if tens >= 20 and self.gap(at + 1) == "-" else 10
            return (tens + ones, False, at + 2) if ones < 10 else (tens, False, at + 1)
        number = NUMBERS.get(word, 0)
        half, end = self._added_half(at + 1) if number else (0.0, 0)
        article = word in ("a", "an") or (number == 1 and word != "one")
        return (number + half, False, end) if half else (float(number or article), article, at + 1)

    def _added_half(self, at: int) -> tuple[float, int]:
        """The half that the words at an index add (`and a half`, `et demi`), and the index after it."""
        words = HALVES.get(self.word(at).lower(), ())
        found = words and all(self.word(at + 1 + index).startswith(each) for index, each in enumerate(words))
        return (0.5, at + 1 + len(words)) if found else (0.0, at)

    def _is_open(self, behind: int) -> bool:
        """Whether a scale that ends before an index is no part of a longer sign: `24k-token`, `5 M/s`."""
        return len(self.word(behind - 1)) > 2 or self.gap(behind) in ("", " ")

    def _is_joined(self, behind: int) -> bool:
        following = self.sentence[self.pieces[behind - 1].end :][:1]
        return following.isalnum() or following in ("_", "%", "/")


_ONE_SECOND = word_set("s sec second Sekunde seconde segundo")
_HALF_OF = word_set("halbe halben halber demi media")
"""Words for a half that stand directly before a unit of time."""
_LOW_LETTERS = {"Ki": 1024.0, "bn": 1e9, "mn": 1e6, "m": 1e6, "b": 1e9, "g": 1e9}
"""Scales that stand before a noun alone."""


def _decimal_digits(written: str, words: str, has_comma: bool) -> str:
    """The digits of a number with a point before its decimals: in English, a single point is a decimal point, and a
    comma before three digits is not.
    """
    readings = readings_of(written)
    english = (
        not has_comma
        and not words.endswith(("pas", "Token", "Tokens"))
        and not any(each in words for each in _OTHER_LANGUAGE)
    )
    return readings[-1] if "." in written and english else readings[0]


@recent(2)
def sentence_quantities(text: str) -> tuple[tuple[str, tuple[TextQuantity, ...]], ...]:
    """The sentences of a text that hold quantities, each with them in order.

    >>> [(each.value, each.unit) for each in sentence_quantities("12 T tokens in 480,000 steps; 3.04e17 FLOP/s at 30 %")[0][1]]
    [(12000000000000.0, 'token'), (480000.0, 'step')]
    >>> [(each.value, each.unit) for each in sentence_quantities("480.000 Schritte, 21 Tage")[0][1]]
    [(480000.0, 'step'), (1814400.0, 's')]
    >>> [(each.value / 86400, each.words) for each in sentence_quantities("five and a half days, then a day and a half; a day")[0][1]]
    [(5.5, 'five and a half days'), (1.5, 'a day and a half')]
    """
    found, left, sign = [], MOST_QUANTITIES, sign_of_decimals(text)
    for sentence in plain_sentences(text):
        quantities = tuple(islice(_quantities(sentence, sign), left))
        left -= len(quantities)
        if quantities:
            found.append((sentence, quantities))
    return tuple(found)


def plain_sentences(text: str) -> Sequence[str]:
    """The sentences of a text on one line, without the full stops of abbreviations of units."""
    return sentences_of(_ABBREVIATION.sub(r"\1", " ".join(text.split())))


def is_separate_number(sentence: str, number: Token, signs: str = "_") -> bool:
    """Whether a number is no part of a name, a version or a time: no letter or one of the given signs before it, no digits after."""
    before, behind = sentence[max(0, number.start - 1) : number.start], sentence[number.end : number.end + 2]
    joined = before.isalnum() or (before and before in signs)
    return not joined and not (behind[:1] in (".", ",") and behind[1:].isdigit())


def _quantities(sentence: str, of_text: str = "") -> Iterator[TextQuantity]:
    reader, at = Reader(sentence, of_text), 0
    while at < len(reader.pieces):
        piece = reader.pieces[at]
        if piece.kind == "word" and (spelled := reader.spelled_time(at)):
            quantity, at = spelled
            yield quantity
        elif piece.kind != "number" or not is_separate_number(sentence, piece, "_/:'-"):
            at += 1
        else:
            quantity, at = reader.quantity(at)
            if math.isfinite(quantity.value):
                yield quantity


def is_own(sentence: str, quantity: TextQuantity) -> bool:
    """Whether a quantity belongs to this plan, and not to a plan that it replaces or is compared with."""
    return not belongs_to_something_else(sentence, quantity.start)
