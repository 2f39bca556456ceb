"""Japanese, Chinese and Korean texts with English words for the words of demands, so that one lexicon and one set of patterns reads all languages.

The first two write no spaces, and the third joins particles to words. At each place of a run of characters, the longest word of `gloss_words` counts; other characters
stay, and inflections in hiragana are left out. Words that bind a figure stand before it, as in English.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Mapping, Sequence

from clusterspec.records import NamedTuple
from clusterspec.rules.readers.clauses import EASTERN, is_eastern
from clusterspec.rules.readers.dimensions import NOUNS
from clusterspec.rules.readers.gloss_words import BEHIND, COUNTERS, GLOSSES, PERIODS, UNITS
from clusterspec.rules.readers.gloss_words_korean import BEHIND as KOREAN_BEHIND
from clusterspec.rules.readers.gloss_words_korean import COUNTERS as KOREAN_COUNTERS
from clusterspec.rules.readers.gloss_words_korean import GLOSSES as KOREAN_GLOSSES
from clusterspec.rules.readers.gloss_words_korean import NUMERALS as KOREAN_NUMERALS
from clusterspec.rules.readers.gloss_words_korean import UNITS as KOREAN_UNITS
from clusterspec.standard import pattern, recent
from clusterspec.units import plain

_BROKEN_RUN = pattern(r"(?<=[\u3000-\u30ff\u3400-\u9fff])\s+(?=[\u3000-\u30ff\u3400-\u9fff])")
"""Spaces of folded lines in a run of characters."""
_WIDE_COMMA = pattern(r"，(?!\d{3}(?!\d))|(?<!\d)，")
"""A wide comma that does not stand between the thousands of a number."""
_MARKS = str.maketrans(
    {"。": ". ", "、": ", ", "・": " ", "「": " ", "」": " ", "『": " ", "』": " ", "《": " ", "》": " "}
)
_DATE = pattern(r"(\d{4})[年년] ?(\d{1,2})[月월] ?(\d{1,2})[日号일]")
_DAY = pattern(r"(?<!\d)(\d{1,2})[月월] ?(\d{1,2})[日号일]")
_CLOCK = pattern(r"(?<![\d.])([01]?\d|2[0-4])(?:時(?!間)|时|点(?!検)(?!检))(?:(\d{1,2})分)?")
_OF = pattern(r"(?<![\d.])(\d{1,2})分の(\d{1,2})")
_TENTHS = pattern(r"(?<![\d.])(?:(\d(?:\.\d)?) ?|([一二三四五六七八九]))[割成](?!り|引|功|果|立|本)")
_DIGITS = {each: number for number, each in enumerate("〇一二三四五六七八九")} | {"零": 0, "两": 2, "両": 2, "二": 2}
_TENS = {"十": 10, "百": 100, "千": 1000}
_NUMERAL = pattern(r"[〇零一二三四五六七八九十百千两両]{1,9}")
_PARTS_OF = pattern(
    r"([一二三四五六七八九十])分[之の]([一二三四五六七八九])|百分之(\d+(?:\.\d+)?|[一二三四五六七八九十]+)"
)
_SCALES = {
    "万": 1e4,
    "萬": 1e4,
    "億": 1e8,
    "亿": 1e8,
    "兆": 1e12,
    "万亿": 1e12,
    "千": 1e3,
    "천": 1e3,
    "만": 1e4,
    "억": 1e8,
    "조": 1e12,
    "백만": 1e6,
    "천만": 1e7,
    "百万": 1e6,
    "千万": 1e7,
    "十亿": 1e9,
    "百亿": 1e10,
}
_NUMBER = pattern(r"\d[\d,]*(?:\.\d+)?")
_SCALE = pattern(r" ?(万亿|百万|千万|十亿|百亿|백만|천만|[万萬億亿兆千만억조천])(?!瓦)")
_HIRAGANA = pattern(r"[\u3040-\u309f]+")
_BOUND = pattern(
    r"(?P<figure>(?<![\w.])\d[\d.,]{0,24}(?: ?[A-Za-z%/]{1,12})?(?: [A-Za-z%/][^\s,.;:()⟦⟧]{0,16}){0,3}) ⟦(?P<bound>[^⟧]{2,16})⟧"
)
"""A figure with its unit, and the words that bind it behind it."""
_RATE = pattern(
    r"per (?P<time>second|minute|hour) (?P<figure>\d[\d.,]* (?:requests|questions|calls|users|tokens|sessions))"
)
_LEFT = pattern(r"[⟦⟧]")
_SPACES = pattern(r" {2,}")


@recent(4)
def glossed(text: str) -> str:
    """A text with English words for the Japanese and Chinese words of demands, and with plain numbers; other texts as they are.

    >>> glossed("各文書を学習に使う回数は十二回まで、費用は1.2万円以下。")
    'each document training 使 times at most 12 times, 費用 at most 12000 JPY.'
    >>> glossed("全部 IT 设备的功率不得超过 140 kW"), glossed("At most 140 kW")
    ('all IT 设备的 power must at most 140 kW', 'At most 140 kW')
    """
    if not is_eastern(text):
        return text
    apart = _WIDE_COMMA.sub(", ", _BROKEN_RUN.sub("", text))
    plain_text = unicodedata.normalize("NFKC", apart).translate(_MARKS).replace(";", "; ")
    return _ordered("".join(_words_of(_with_dates(_with_other_places(_EACH_ONE.sub("各", plain_text))))))


_EACH_ONE = pattern(r"(?<![\d.,])1(?=(?:ラック|ノード|サーバー?|キャビネット)(?:の|に|あたり|当たり|につき))")
"""The number of one part of which a sentence states a figure: `1ラックの電力`."""
_PLACE = pattern(
    r"(?![数计計算控指研本该此当各全])([\u3400-\u9fff]{2,4})(智算中心|数据中心|中心|センター|项目|工程|拠点)(?=的|の|では|で|合同|契約)"
)
_FIRST_PLACE = pattern(r"([\u3400-\u9fff]{2})[\u3400-\u9fff]{0,2}(?:智算中心|数据中心|中心|センター|项目|工程|拠点)")


def _with_other_places(text: str) -> str:
    """A text with a word for another place before a named center or project that is not the first that it names.

    >>> _with_other_places("合肥智算中心一期。南京项目的合同要求48小时。"), _with_other_places("南京项目的合同")
    ('合肥智算中心一期。 elsewhere 南京项目的合同要求48小时。', '南京项目的合同')
    """
    first = _FIRST_PLACE.search(text)
    if first is None:
        return text
    return _PLACE.sub(lambda each: each[0] if first[1] in each[1] else f" elsewhere {each[0]}", text)


def _with_dates(text: str) -> str:
    """A text with ISO dates, times of the day with a colon, and shares as percents."""
    text = _DATE.sub(lambda each: f" {each[1]}-{int(each[2]):02}-{int(each[3]):02} ", text)
    text = _DAY.sub(lambda each: f" {each[2]} {_MONTHS[min(int(each[1]), 12)]} ", text)
    text = _CLOCK.sub(lambda each: f" {each[1]}:{int(each[2] or 0):02} ", text)
    text = _KOREAN_NUMERAL.sub(lambda each: f"{KOREAN_NUMERALS[each[1]]}{each[2]}", text)
    text = _PARTS_OF.sub(_written_share, text)
    text = _OF.sub(lambda each: f" {100 * int(each[2]) / (int(each[1]) or 1):.4g} % ", text)
    return _TENTHS.sub(lambda each: f" {10 * float(each[1] or _numeral(each[2])):g} % ", text)


_KOREAN_NUMERAL = pattern(
    rf"(?<![\uac00-\ud7a3])({'|'.join(sorted(KOREAN_NUMERALS, key=len, reverse=True))}) ?(번|대|개|회|명|장|차례|달|시간|주)(?=[까이을를의만 ,.])"
)
_NAMES = "January February March April May June July August September October November December"
_MONTHS = ("", *_NAMES.split())


def _written_share(match: re.Match[str]) -> str:
    """The percents of a share in characters: `三分之一`, `百分之二十`."""
    if match[3]:
        return f" {match[3] if match[3][0].isdigit() else _numeral(match[3])} % "
    return f" {100 * _numeral(match[2]) / _numeral(match[1]):.4g} % "


def _numeral(characters: str) -> int:
    """The number of a numeral in characters below ten thousand.

    >>> _numeral("十二"), _numeral("三百二十"), _numeral("四八"), _numeral("两千")
    (12, 320, 48, 2000)
    """
    if not any(each in _TENS for each in characters):
        return int("".join(str(_DIGITS[each]) for each in characters))
    total, ones = 0, 0
    for each in characters:
        if each in _TENS:
            total, ones = total + (ones or 1) * _TENS[each], 0
        else:
            ones = _DIGITS[each]
    return total + ones


class _Words(NamedTuple):
    """Words by their characters, and the lengths of those that begin with each character, longest first."""

    meanings: Mapping[str, str]
    sizes: Mapping[str, Sequence[int]]

    def longest_word(self, text: str, start: int) -> str:
        """The longest word at a place of a text; empty without one."""
        for size in self.sizes.get(text[start : start + 1], ()):
            if text[start : start + size] in self.meanings:
                return text[start : start + size]
        return ""


def _words_by_start(rows: Sequence[tuple[str, str]], mark: str = "{}") -> _Words:
    meanings = {word.replace("_", " "): mark.format(english) for english, words in rows for word in words.split()}
    sizes: dict[str, set[int]] = {}
    for word in meanings:
        sizes.setdefault(word[0], set()).add(len(word))
    return _Words(meanings, {first: sorted(each, reverse=True) for first, each in sizes.items()})


@recent(1)
def _glosses() -> _Words:
    return _words_by_start((*GLOSSES, *PERIODS, *KOREAN_GLOSSES))


@recent(1)
def _bounds() -> _Words:
    return _words_by_start((*BEHIND, *KOREAN_BEHIND), "⟦{}⟧")


@recent(1)
def _units() -> _Words:
    return _words_by_start((*UNITS, *KOREAN_UNITS, *(("", each) for each in f"{COUNTERS} {KOREAN_COUNTERS}".split())))


def _words_of(text: str) -> Iterator[str]:
    """The English words between spaces, the numbers and the other characters of a text, in its order."""
    at, noun, is_behind = 0, "", False
    while at < len(text):
        word, time = _glosses().longest_word(text, at), _TIME.match(text, at)
        numeral = "" if word else _numeral_at(text, at)
        number = None if word else _NUMBER.match(text, at)
        bound = _bounds().longest_word(text, at) if is_behind else ""
        if time is not None and not _is_in_word(text, at):
            yield time[0]
            at, noun, is_behind = time.end(), "", False
        elif (number is not None or numeral) and not _is_in_word(text, at):
            found, at = _number_with_unit(text, at, numeral, noun)
            yield found
            noun, is_behind = "", True
        elif bound and len(bound) >= len(word):
            yield f" {_bounds().meanings[bound]} "
            at, is_behind = at + len(bound), False
        elif word:
            noun, at, is_behind = _glosses().meanings[word], at + len(word), False
            yield f" {noun} " if noun else f" {word} "
        else:
            piece = _piece(text, at)
            at += len(piece)
            kept = _HIRAGANA.sub(" ", piece)
            yield kept if piece.isascii() else f" {kept} "
            if piece.strip():
                is_behind = is_behind and _UNIT.fullmatch(piece) is not None
                noun = piece if piece.isascii() and piece.isalpha() else noun if piece in _PARTICLES else ""


_PARTICLES = frozenset("はがもを은는이가")
"""Particles between a noun and the number of it."""
_UNIT = pattern(r"[A-Za-z/%]+")
_TIME = pattern(
    r"\d{4}-\d\d-\d\d|\d{1,2}:\d\d|\d{1,2} (?:January|February|March|April|May|June|July|August|September|October|November|December)\b"
)
"""A date or a time of the day, which no word behind it binds as a limit."""


def _is_in_word(text: str, at: int) -> bool:
    """Whether the digits at a place are a part of a name: `H100`, `p5.48xlarge`, `2026-11`."""
    return (
        at > 0 and text[at].isascii() and text[at - 1].isascii() and (text[at - 1].isalnum() or text[at - 1] in "-._:/")
    )


def _numeral_at(text: str, at: int) -> str:
    """A numeral in characters at a place that a unit or a counter follows, and no character precedes; empty without one."""
    match = _NUMERAL.match(text, at)
    if match is None or (at and EASTERN.match(text[at - 1]) is not None and not _ends_word(text, at)):
        return ""
    follows = _SCALE.match(text, match.end()) is not None or _units().longest_word(text, match.end())
    return match[0] if follows else ""


def _ends_word(text: str, at: int) -> bool:
    """Whether the characters before a place end with hiragana or with a known word."""
    return _HIRAGANA.match(text[at - 1]) is not None or any(
        text[start:at] in _glosses().meanings or text[start:at] in _bounds().meanings
        for start in range(max(0, at - 6), at)
    )


def _number_with_unit(text: str, at: int, numeral: str, noun: str) -> tuple[str, int]:
    """A plain number with its unit, or with the noun that a counter counts, and the place behind it."""
    if numeral:
        value, at, written = float(_numeral(numeral)), at + len(numeral), str(_numeral(numeral))
    else:
        match = _NUMBER.match(text, at)
        written = match[0].rstrip(",") if match is not None else ""
        value, at = float(written.replace(",", "")), at + len(written)
    scaled, at = _scaled(text, at, value)
    written = written if scaled == value else plain(scaled, 15).replace(",", "")
    behind = at + (text[at : at + 1] == " ")
    unit = _units().longest_word(text, behind)
    if not unit:
        return written, at
    if unit in ("年", "년") and 1990 <= scaled < 2100:
        return written, behind + 1
    if unit == "月" or not _units().meanings[unit]:
        counted = noun if noun.lower().rpartition(" ")[2] in NOUNS and not noun.startswith("each ") else ""
        end = behind + len(unit)
        if numeral == "一" and not counted:
            return " a ", end  # an article
        return f"{written} {counted or ('' if text.startswith('の', end) else _UNKNOWN)} ", end
    end = behind + len(unit)
    if numeral == "一" and unit in _ONCE and noun not in _LIMITS and not _bounds().longest_word(text, end):
        return " once ", end
    return f"{written} {_units().meanings[unit]} ", end


_ONCE, _LIMITS = frozenset("回次遍轮"), frozenset({"at most", "must at most", "only", "maximum", "more than"})
"""Counters of what happens once, and words that make of `一次` a limit."""


_UNKNOWN = "pieces"
"""The noun of a counted thing that the text does not name next to its number."""


def _scaled(text: str, at: int, value: float) -> tuple[float, int]:
    """A number times the scale behind it, with further parts of it, and the place behind them: `3億5000万`."""
    match, total = _SCALE.match(text, at), 0.0
    if match is None:
        return value, at
    while match is not None:
        total, at = total + value * _SCALES[match[1]], match.end()
        at += _has_space_in_number(text, at)
        digits = _NUMBER.match(text, at)
        further = _SCALE.match(text, digits.end()) if digits is not None else None
        if digits is not None and further is None and 3 <= len(digits[0]) <= 4:
            return total + float(digits[0]), digits.end()  # `50万8600`
        if digits is None or further is None or _SCALES[further[1]] >= _SCALES[match[1]]:
            break
        value, match = float(digits[0].replace(",", "")), further
    return total, at


def _has_space_in_number(text: str, at: int) -> bool:
    """Whether a space stands between two scaled parts of a number: `9만 6천`."""
    digits = _NUMBER.match(text, at + 1) if text[at : at + 1] == " " else None
    return digits is not None and _SCALE.match(text, digits.end()) is not None


def _piece(text: str, at: int) -> str:
    """The characters from a place to the next that may begin a word or a number."""
    first = text[at]
    if first.isascii():
        match = _ASCII.match(text, at)
        return match[0] if match is not None else first
    end = at + 1
    while (
        end < len(text)
        and not text[end].isascii()
        and not _glosses().longest_word(text, end)
        and not _bounds().longest_word(text, end)
    ):
        if _numeral_at(text, end):
            break
        end += 1
    return text[at:end]


_ASCII = pattern(r"[A-Za-z][A-Za-z0-9._/-]*|\s+|[!-/:-@\[-`{-~]|\d[A-Za-z\d.]*")


def _ordered(text: str) -> str:
    """Glosses with the words that bind a figure before it, and a rate of each second behind its number."""
    text = _MAXIMUM.sub("at most ", _SPACES.sub(" ", text))
    text = _BOUND.sub(
        lambda each: f"{each['bound']} {each['figure']}{',' if each['bound'].startswith('if') else ''}", text
    )
    text = _RATE.sub(lambda each: f"{each['figure']} per {each['time']}", text)
    return _BEFORE_SIGN.sub(r"\1", _SPACES.sub(" ", _LEFT.sub("", text))).strip()


_MAXIMUM = pattern(r"\bmaximum (?=\d)")
_BEFORE_SIGN = pattern(r" ([,.;)%])")
