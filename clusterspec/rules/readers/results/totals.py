"""Totals that one or two sentences state of their parts in any order: power, energy, failures of a run, and time that they cost."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import combinations, pairwise
from math import prod

from clusterspec.quantity import DAY, HOUR
from clusterspec.records import NamedTuple
from clusterspec.rules.readers.clauses import clause_at, clause_bounds
from clusterspec.rules.readers.passages import passages_of
from clusterspec.rules.readers.tokens import Dimensions, Token, tokens_of
from clusterspec.rules.readers.units import MONTH
from clusterspec.rules.readers.written_numbers import numbers_of
from clusterspec.standard import pattern, sum_of
from clusterspec.units import display

POWER: Dimensions = (0, 1, 0, 0)
ENERGY: Dimensions = (0, 1, 1, 0)
TIME: Dimensions = (0, 0, 1, 0)
EXACT, ROUGHLY, MOST_ROUNDED, ROUGH = 0.015, 0.08, 0.06, 0.2
"""Relative differences: up to the first, a total is right; up to the second, an approximate total; the third is the
most that rounding explains; up to the fourth, a number of failures is right.
"""
LEAST_RATIO = 1.5
"""How much larger a total is than one of its parts."""
MOST_COUNTS = 5
"""Counts of a passage that is read: longer ones have counts of several things."""
_PART = (
    r"(?:nodes?|systems?|servers?|machines?|box(?:es)?|dgx|hgx|racks?|cabinets?|gpus?|accelerators?|cards?|chips?|sleds?|trays?|hosts?|[abh][1-3]00s?|gb[23]00s?|gh200s?|"
    r"knoten|systemen?|systeme|servern?|maschinen|schränken?|schränke|karten|nœuds?|noeuds?|serveurs?|systèmes?|baies?|armoires?|cartes|nodos?|servidores?|sistemas?)"
)
_COUNTS = pattern(
    r"(?i)(?<![\w.,-])(?P<count>\d{1,3}(?:[,.']\d{3})?|\d{4,6}) ?(?:[x×] )?(?:(?!(?:of|at|kw|mw|w|h|hours?|days?)\b)[^\W\d][\w-]{0,12} ){0,2}?"
    rf"(?:{_PART}\b|of (?:them|these)\b|davon\b|d['’]entre eux\b)|\b{_PART}(?:[:=]| count:?)? (?P<behind>\d{{1,4}})(?=[,;.)]? |[,;.)]?$)(?! ?(?:[km]?w|h|%)\b)"
)
"""A number of parts, after it or before it: `32 nodes`, `Knoten: 32`."""
_WHOLE = pattern(r"(?<![\w.,-])\d{1,6}(?![\w%]|[.,]\d)")
_EACH_BEFORE = pattern(
    r"(?i)(?:\b(?:of|at|à|mit|with|de|je|each|zu|drawing|having|rated at|rated|[x×]|times|mal|fois|a piece)|[x×@]) (?:about |some |je |the |up to )?$"
)
_EACH_BEHIND = pattern(
    rf"(?i)^,?(?: \w+)? ?(?:each|apiece|a piece|chacune?|je|cada un[ao])\b|^ ?(?:at most |max )?(?:/|per|a|an|je|pro|par|por|for each|of each) ?(?:\w{{1,12}} )?{_PART}\b"
)
_EACH_SUBJECT = pattern(
    rf"(?i)\b(?:a|an|one|each|every|per|single|jede[rs]?|ein|pro|je|chaque|un|une|par|chacun|cada|por)\b(?: [\w-]{{1,12}}){{0,2}}? {_PART}\b|\b(?:each|chacune?|jeweils|je|(?:each|every) one of (?:them|these)|jede[rs]? davon)\b"
)
"""Words that make an amount the amount of each part."""
_TOTAL = pattern(
    r"(?i)[=≈:→⇒|]|->|=>|\b(?:draws?|pulls?|needs?|takes?|consumes?|uses?|totals?|totalling|together|combined|in all|in total|altogether|overall|it[- ](?:load|last)|loads?|makes?|gives?|is|are|means?|so|hence|thus|therefore|come to|comes to|"
    r"adds? up|ends? up|sum|summe|i\.e|that is|zusammen|insgesamt|gesamt\w*|ergibt|ergeben|macht|also|ziehen|brauchen|benötigen|sind|soit|au total|en tout|consomment|font|donc|total|en conjunto|consumen|son)\b"
)
_IN_TOTAL = pattern(r"(?i)\b(?:in total|in all|altogether|together|zusammen|insgesamt|au total|en tout|en total)\b")
_OTHER_TOTAL = pattern(
    r"(?i)\b(?:budget\w*|limit\w*|feeds?|suppl(?:y|ies)|capacity|caps?|capped|breakers?|contract\w*|available|allow\w*|headroom|reserves?|rated for|below|under|above|beyond|more than|less than|fewer|at (?:least|most)|(?<!add )(?<!adds )up to|max\w*|min\w*|not|never|instead|than|would|could|if|"
    r"old\w*|former\w*|previous\w*|other|another|first|second|half|rest|remaining|of which|plus|includ\w+|incl|without|except|idle|average|mean|measured|typical\w*|peak|ups|generators?|chillers?|cool\w*|pue|switch\w*|network\w*|fabric|storage|overhead|loss\w*|hall|"
    r"grenze|höchstens|mindestens|unter|über|anschluss\w*|einspeisung|kühl\w*|inklusive|ohne|statt|plafond|sous|sur|disponible|maximum|refroid\w*|sans|y compris|dont|pic)\b"
)
"""Words of an amount that is no sum of the stated parts."""


class WrongTotal(NamedTuple):
    """A total as a text states it, the right one, and its parts in words."""

    stated: str
    right: str
    parts: str


def wrong_totals(text: str, multiples: Sequence[float] = ()) -> Iterator[WrongTotal]:
    """The totals of a text that do not follow from the parts that it states in one or two sentences.

    ``multiples`` are counts of the plan that a text may leave out.

    >>> [each.right for each in wrong_totals("A node takes 10.2 kW. For all 32 nodes that means 226 kW.")]
    ['326.4 kW']
    >>> [each.right for each in wrong_totals("We expect a failure every 40 h; over the 20 days that makes 30 failures.")]
    ['12']
    >>> list(wrong_totals("Each of the 32 nodes draws 10.2 kW; the feed has 400 kW."))
    []
    """
    for passage in passages_of(text):
        yield from _wrong_power(passage, multiples)
        yield from _wrong_energy(passage, multiples)
    for passage in passages_of(text, 3):
        yield from _wrong_failures(passage)


def _figures_of_dimensions(tokens: Sequence[Token], dimensions: Dimensions) -> list[Token]:
    """The figures of some dimensions, the first of each value."""
    found: dict[float, Token] = {}
    for each in tokens:
        if each.kind == "number" and each.values and each.unit and each.dimensions == dimensions and each.values[0]:
            found.setdefault(float(f"{_si_value(each):.2g}") if dimensions == TIME else _si_value(each), each)
    return list(found.values())


def _si_value(figure: Token) -> float:
    return figure.values[0] * figure.scale


def _wrong_power(passage: str, multiples: Sequence[float]) -> Iterator[WrongTotal]:
    """`A node takes 10.2 kW. For 32 of them that means 226 kW`."""
    if "W" not in passage or _CALCULATED.search(passage) is not None:
        return
    watts = _figures_of_dimensions(tokens_of(passage), POWER)
    counts = list(_COUNTS.finditer(passage)) if len(watts) == 2 else []
    if not 1 <= len(counts) <= MOST_COUNTS:
        return
    each, total = sorted(watts, key=_si_value)
    if _si_value(total) < LEAST_RATIO * _si_value(each):
        return  # it has less than two parts
    if not _is_of_each(passage, each, counts) or not _is_total(passage, total, each):
        return
    numbers = [*map(_count, counts)]
    known = {*numbers, *(float(one[0]) for one in _WHOLE.finditer(passage)), *multiples}
    if _is_explained(_si_value(total) / _si_value(each), known, _tolerance(passage, each, total)):
        return
    chained = _product_of_chain(passage, counts)
    yield _wrong_total(total, chained * _si_value(each), f"{chained:,.0f} times {_words(passage, each)}", passage)


def _count(match: re.Match[str]) -> float:
    return numbers_of(match["count"] or match["behind"])[0]


def _words(passage: str, figure: Token) -> str:
    return passage[figure.start : figure.end]


def _wrong_total(total: Token, right: float, parts: str, passage: str) -> WrongTotal:
    number = right / total.scale
    return WrongTotal(
        _words(passage, total), f"{number:,.4g} {total.unit}" if number < 1e4 else f"{number:,.0f} {total.unit}", parts
    )


def _is_of_each(passage: str, figure: Token, counts: Sequence[re.Match[str]]) -> bool:
    """Whether a figure applies to each part: by the words around it, or by a single part before it in its clause."""
    before, behind = passage[: figure.start], passage[figure.end :]
    owner = _OWNER.search(before)
    if (
        _RATING.search(before) is not None
        or _OTHER_EACH.search(before) is not None
        or (owner is not None and _IS_PART.match(owner["noun"]) is None)
    ):
        return False
    if figure.per:
        return _VERB.match(behind) is None
    joined = any(0 <= figure.start - match.end() <= len(" drawing about ") for match in counts)
    if (joined and _EACH_BEFORE.search(before) is not None) or _EACH_BEHIND.match(behind) is not None:
        return True
    start, _ = clause_bounds(passage, figure.start, figure.end)
    return _EACH_SUBJECT.search(passage, start, figure.start) is not None


_RATING = pattern(
    r"(?i)\b(?:feeds?|pdus?|whips?|circuits?|breakers?|einspeisung(?:en)?|zuleitung(?:en)?|alimentations?|arrivées?|voies?)\b[^.;,\d]{0,48}$"
)
"""Words of a supply before its rating, which is no draw of a part."""
_VERB = pattern(
    r"(?i)^ (?:draws?|takes?|needs?|has|have|uses?|pulls?|consumes?|is|gives?|makes?|zieht|braucht|hat|consomme)\b"
)
_OWNER = pattern(
    r"(?i)\b\d{1,4} (?:[\w-]{1,12} )?(?P<noun>(?!(?:kw|mw|w)\b)[^\W\d][\w-]{1,16}),? (?:of|with|at|à|mit|de|zu)(?: je)? $"
)
_IS_PART = pattern(rf"(?i){_PART}\b")
_OTHER_EACH = pattern(
    r"(?i)\b(?:other|remaining|rest|extra|additional|further|idle|average|mean|only|full)(?: [\w-]+)? $"
)
_CALCULATED = pattern(r"\d ?[x×*+/] ?\d[^.;]{0,40}=")
"""A calculation that is written out, which `arithmetic-does-not-close` reads."""


_ON = pattern(r"(?i)^ (?:on|auf|sur|at|of|in) ")


def _is_total(passage: str, figure: Token, part: Token | None = None) -> bool:
    """Whether a figure is called a total, and is neither a limit, the total of something else, nor itself an amount per
    part.
    """
    start, end = clause_bounds(passage, figure.start, figure.end)
    marked = passage[max(0, start - 2) : start].strip()[:1] in (":", "|", "=", "→")
    counted = (
        part is not None
        and _ON.match(passage[figure.end :]) is None
        and not start <= part.start < end
        and _COUNTS.search(passage, start, end) is not None
    )
    called = (
        marked
        or counted
        or _IN_TOTAL.search(passage) is not None
        or _TOTAL.search(passage, start, end) is not None
        or passage[end : end + 1] == "("
    )
    rest = passage[start : figure.start] + passage[figure.end : end]
    begin = part.end if part is not None and start <= part.start < figure.start else start
    behind = _EACH_BEHIND.match(passage[begin:])
    begin += behind.end() if behind is not None and begin != start else 0
    each = _EACH_SUBJECT.search(passage, begin, figure.start) or _EACH_BEHIND.match(passage[figure.end :])
    return called and not each and not figure.per and _OTHER_TOTAL.search(rest) is None


_ROUGHLY = pattern(
    r"(?i)[≈~]|\b(?:about|roughly|around|some|nearly|almost|approx\w*|circa|ca|etwa|rund|knapp|environ|près|quelque|unos|casi)\b"
)


def _tolerance(passage: str, *figures: Token) -> float:
    """The relative difference that the rounding of figures explains."""
    return (ROUGHLY if _ROUGHLY.search(passage) is not None else EXACT) + sum_of(map(_rounding, figures))


def _rounding(figure: Token) -> float:
    """Half a unit of the last digit of a figure that is no zero before the point, relative to it."""
    written = f"{figure.values[0] / figure.factor:.12g}"
    decimals = len(written.partition(".")[2])
    zeros = 0 if decimals else len(written) - len(written.rstrip("0"))
    return min(0.5 * 10.0 ** (zeros - decimals) / float(written), MOST_ROUNDED)


def _is_explained(ratio: float, counts: set[float], tolerance: float) -> bool:
    """Whether a ratio is a product of up to three of some counts, or its inverse, within a tolerance."""
    useful = sorted(each for each in counts if each > 1)[:12]
    products = {1.0} | {prod(chosen) for size in (1, 2, 3) for chosen in combinations(useful, size)}
    return any(abs(ratio / each - 1) <= tolerance or abs(ratio * each - 1) <= tolerance for each in products)


_CHAINED = pattern(r"(?i)^(?: [^\W\d_]+)? ?(?:of|with|à|mit|de|zu|,|x|×|having) (?:the |je )?$")


def _product_of_chain(passage: str, counts: Sequence[re.Match[str]]) -> float:
    """The product of counts that follow each other (`8 racks of 4 nodes`), else the largest count."""
    for one, other in pairwise(counts):
        if _CHAINED.match(passage[one.end() : other.start()]) is not None:
            return _count(one) * _count(other)
    return max(map(_count, counts))


_PERIOD = pattern(
    r"(?i)\b(?:per|a|each|every|pro|je|par|al|por) (?P<of>day|tag|jour|día|month|monat|mois|mes)\b|\b(?P<daily>daily|täglich\w*|quotidien\w*)\b"
)


def _wrong_energy(passage: str, multiples: Sequence[float]) -> Iterator[WrongTotal]:
    """`32 systems x 9.4 kW x 24 h | 6.52 MWh`, `32 nodes of 10 kW take 5 MWh a day`."""
    if "Wh" not in passage:
        return
    tokens = tokens_of(passage)
    watts, energies, times = (_figures_of_dimensions(tokens, each) for each in (POWER, ENERGY, TIME))
    period = _PERIOD.search(passage)
    seconds = [_si_value(each) for each in times] or (
        [MONTH if (period["of"] or "d")[0] == "m" else DAY] if period is not None else []
    )
    if len(watts) != 1 or len(energies) != 1 or len(seconds) != 1 or not _is_total(passage, energies[0]):
        return
    counts = list(_COUNTS.finditer(passage))
    known = {*map(_count, counts), *(float(one[0]) for one in _WHOLE.finditer(passage)), *multiples}
    if len(counts) > 2 or _OTHER_TOTAL.search(passage) is not None:
        return
    of_one = _si_value(watts[0]) * seconds[0]
    if not _is_explained(_si_value(energies[0]) / of_one, known, _tolerance(passage, watts[0], energies[0])):
        number = _product_of_chain(passage, counts) if counts else 1.0
        parts = f"{number:,.0f} times {_words(passage, watts[0])} over {display(seconds[0], 's')}"
        yield _wrong_total(energies[0], number * of_one, parts, passage)


_FAILURE = r"(?:failures?|interruptions?|crash(?:es)?|faults?|restarts?|stops|outages?|aborts?|ausf[aä]ll\w{0,3}|unterbrechung\w{0,2}|abst[uü]rz\w{0,2}|pannes?|défaillances?|arrêts?|incidents?|fallos?|interrupciones)"
_BETWEEN = rf"(?:mtbf|mtti|mttf|mean time (?:between|to) \w+|time between {_FAILURE}|(?:zwischen|entre) (?:zwei |deux |dos )?{_FAILURE}|{_FAILURE}(?: \w+){{0,3}}? (?:every|each|alle|toutes? les|par|per|cada)|(?:fails?|crashes|breaks|stops|is interrupted)(?: \w+)? every|every|alle|toutes les|cada)"
_BETWEEN_AHEAD = pattern(rf"(?i)\b{_BETWEEN}\b[^.;,\d]{{0,24}}$")
_BETWEEN_BEHIND = pattern(
    rf"(?i)^ ?(?:of )?(?:mtbf|mtti|mttf|between {_FAILURE}|(?:zwischen|entre) (?:zwei |deux )?{_FAILURE})\b"
)
_NUMBER_OF = pattern(
    rf"(?i)(?<![\w.,-])(?P<count>\d{{1,4}}) (?:such |expected |unplanned |of (?:them|these) |ungeplanten? )?{_FAILURE}\b|\b{_FAILURE}(?: \w+)?(?:[:=]| is| are)+ (?:about |some |~ ?)?(?P<behind>\d{{1,4}})\b(?! ?(?:h|hours?|min\w*|days?|%|s)\b)"
    r"|\b(?:fails?|crash\w*|stops?|interrupted|restarts?|restarted|ausfallen|unterbrochen|abstürzen)(?: \w+){0,2}? (?P<times>\d{1,4}) (?:times|mal|fois|veces)\b"
    r"|(?<![\w.,-])(?P<times_ahead>\d{1,4}) (?:times|mal|fois) (?:ausfallen|unterbrochen|interrupted|interrompu\w*)\b"
    r"|(?<![\w.,-])(?P<of_them>\d{1,4}) (?:of (?:them|these)|davon)\b"
)
"""A number of failures."""
_NAMES_FAILURE = pattern(rf"(?i)\b(?:{_FAILURE}|mtbf|mtti|mttf|fails?|interrupted)\b")
_NOT_OF_RUN = pattern(
    r"(?i)\b(?:each|per|a single|one|of a|of an|every|je|pro|par|chaque) (?:\w+ )?(?:node|gpu|accelerator|server|component|part|link|nic|drive|optic|knoten|nœud)s?\b|\b(?:would|could|if|at (?:least|most)|up to|of which|planned|instead|old|than|another|other|spares?|tolerates?|so far|last|first|seen|saw|had|wäre|würde|höchstens|serait)\b"
)
"""Words of failures of parts, of other runs, and of bounds."""


def _wrong_failures(passage: str) -> Iterator[WrongTotal]:
    """`MTBF 40 h, a run of 20 days: 50 interruptions`, and the time that they cost."""
    if _NAMES_FAILURE.search(passage) is None or _NOT_OF_RUN.search(passage) is not None:
        return
    times = _figures_of_dimensions(tokens_of(passage), TIME)
    between = [
        each
        for each in times
        if _BETWEEN_BEHIND.match(passage[each.end :]) or _BETWEEN_AHEAD.search(passage[: each.start])
    ]
    rest = [each for each in times if each not in between]
    if len(between) != 1 or not rest:
        return
    whole = max(rest, key=_si_value)
    right, parts = (
        _si_value(whole) / _si_value(between[0]),
        f"{_words(passage, whole)} over {_words(passage, between[0])}",
    )
    stated = {
        float(match[match.lastgroup or "count"])
        for match in _NUMBER_OF.finditer(passage)
        if match["of_them"] is None or _NAMES_FAILURE.search(passage[: match.start()]) is not None
    }
    if len(stated) == 1 == len(rest) and right > 1:
        (number,) = stated
        if abs(number - right) > max(ROUGH * right, 1.01):
            yield WrongTotal(f"{number:,.0f}", f"{right:,.3g}", parts)
    if len(rest) == LOST_TIMES and _LOSES.search(passage) is not None and not stated:
        yield from _wrong_lost_time(passage, rest, right, parts)


LOST_TIMES = 3
"""Times of a passage about lost time, other than the time between failures: the run, the time that each failure costs,
and the total.
"""
_LOSES = pattern(r"(?i)\b(?:los[es]\w*|lost|cost\w*|verl\w+|koste\w*|perd\w*|coût\w*)\b")


def _wrong_lost_time(passage: str, times: Sequence[Token], failures: float, parts: str) -> Iterator[WrongTotal]:
    """The time that failures cost in all, with the time that each of them costs: `a failure every 50 h costs 40 min, so 30 days lose 24 h`."""
    each, lost, _ = sorted(times, key=_si_value)
    right = failures * _si_value(each)
    clause = clause_at(passage, lost.start, lost.end)
    if not failures > 1 or _LOSES.search(clause) is None or _OTHER_TOTAL.search(clause) is not None:
        return
    if not 1 / (1 + ROUGH) <= _si_value(lost) / right <= 1 + ROUGH:
        yield WrongTotal(_words(passage, lost), f"{right / HOUR:,.3g} h", f"{parts} times {_words(passage, each)}")
