"""Support in quote lines: the parts that it covers, its years and its response time."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

from clusterspec.procurement.offered import Offered
from clusterspec.procurement.part_names import ANY_SWITCH, kinds_of_words
from clusterspec.quantity import HOUR, YEAR, Quantity
from clusterspec.rules.readers.quotes.parts import OtherFigure
from clusterspec.rules.readers.units import NUMBER_WORDS
from clusterspec.rules.readers.written_numbers import count_in_text, products_in
from clusterspec.spec.model import ProcurementSpec, SupportSpec
from clusterspec.standard import pattern

LONGER = 1.1
"""Smallest ratio of two times at which rounding does not explain the longer one."""
SAME = 0.02
"""Relative difference up to which the time in a line and the time in a key are equal."""
_SUPPORT = pattern(
    r"\b(?:\w*support|care|maintenance|wartung|soporte|suporte|assistenza|asistencia|manutenzione|mantenimiento|onderhoud|"
    r"underhåll|vedligehold\w*|vedlikehold|ylläpito|huolto|tuki|serwis|wsparcie)\b|サポート|保守|维保|维护|유지보수"
)
_OF_ACCEPTANCE = pattern(r"\b(?:acceptance|installation|test|benchmark|migration|burn-in)(?: test| testing)? support\b")
"""Pattern of support during acceptance or other work, which ends with that work."""
_BY_THE_YEAR = pattern(
    r"\b(?:per|a|each|every) year\b|\b(?:yearly|annual|annually)\b|/ ?(?:year|yr)\b|\byears? (?:\d(?!\d)|one|two)|"
    r"\b(?:per år|par an|pro jahr|je jahr|por año|all'anno|canone annuo|annuale|jährlich|vuodessa|rocznie)\b|每年|毎年|연간|/年|年あたり|年につき|年当たり"
)
_BY_THE_QUARTER = pattern(
    r"\b(?:per|a|each|every) quarter\b|\bquarterly\b|/ ?quarter\b|\b(?:je|pro) quartal\b|分기(?:당|별)|四半期"
)
_RANGE_OF_YEARS = pattern(
    r"\b(?:years?|yrs?) (\d{1,2})(?: ?(?:to|-|–|until|through|and|&|\+|à|bis|a|al|até|tot|till|til|do) ?)(?:year )?(\d{1,2})\b"
)
_YEAR_OF_TERM = pattern(r"\byear (\d{1,2})\b(?! ?(?:to|-|–|until|through|and|&|\+) ?(?:year )?\d)")
"""Pattern of the single year of the term that a line covers."""
_OF_EACH_PART = pattern(r"\b(?:nodes?|systems?|servers?|racks?|switch(?:es)?|gpus?|accelerators?|licen[cs]es?)\b")
"""Pattern of words in a line whose quantity may count parts instead of years."""
_OF_ONE_PART = pattern(r"\b(?:one|1) (?:node|system|server|rack|switch|gpu|accelerator)\b")
"""Pattern of words in a one-year line whose quantity is parts times years."""
_DURATION = pattern(
    rf"(?<![\w.,])(\d{{1,2}}|{'|'.join(NUMBER_WORDS)})(?:[.,]0)?[ -]?(?:(years?|yrs?|y|jahre?n?|ans?|années|años?|anni|anno|år|vuotta|lat|lata|jaar|年|년)|"
    r"(months?(?! (?:antes|before|earlier|früher|avant|prima|eerder|tidigare|tidligere|earlier))|mo|monate?n?|mois|mes(?:es)?|mesi|mån(?:ader)?|måneder|mdr|kk|kuukautta|miesięcy|maanden|个月|か月|ヶ月|개월))"
    r"(?![a-zäöåéñ])"
)
"""A number of years, or of months, in the languages of suppliers."""
MOST_YEARS = 10
"""Largest quantity that counts years, in a one-year line that names no part."""
BUSINESS_DAY = 24.0
"""Hours of a response on the next business day, at best."""
_NEXT_DAY = pattern(
    r"\bnbd\b|\bnext[- ](?:business|working)[- ]day\b|\bnächster (?:arbeits|werk)tag\b|\bj ?\+ ?1\b|"
    r"\bsiguiente día (?:laborable|hábil)\b|\bvolgende werkdag\b|\bgiorno lavorativo successivo\b|翌営業日|次工作日|익영업일"
)
_BUSINESS_HOURS = pattern(r"(?<!\()\b(?:8|9|10) ?x ?5(?:x|\b)(?! (?:years|=))")
"""Pattern of support only during business hours: a failure in the evening waits until the next day."""
_HOURS_OF_RESPONSE = pattern(
    r"(?:\b24 ?(?:x|/) ?7 ?(?:x|/) ?|(?<![\w.,/x]))(\d{1,2})(?: ?(?:h|hours?|hrs?|stunden|std|horas|heures|uur|ore|godz)\b|(?<=7x\d)\b)"
    r"(?! ?(?:x|/|a day|per day))"
)
_LICENSE = pattern(
    r"\b(?:nvidia ai enterprise|nvaie|ai enterprise|(?:media|drive) retention)\b|\b(?:licen[cs]es?|licencias?|licenças?|lizenz\w*|licenze?|licencj\w*|licenser?|subscriptions?|abonnements?)\b"
)
_EXTENSION = pattern(
    r"\b(?:extension|renewal|further|additional|more|extended|upgrade|verlängerung|prolongation|extensión|estensione)\b"
)
"""Pattern of words in a line whose years follow the years of another line."""
_RETURNED = pattern(
    r"\b(?:return[- ]to[- ](?:depot|base|factory|bench)|carry[- ]?in|mail[- ]?in|bring[- ]?in)\b|"
    r"(?<![\w.,])(\d{1,2}) (?:business|working) days?\b"
)
"""Pattern of support that requires sending the part away, or of a response in business days."""
OF_RETURN = 120.0
"""Fewest hours until a part that is sent to the manufacturer is back: five days."""
_STORE = pattern(r"\b(?:storage|file ?system|flash|store|appliance)\b")


def lesser_support(lines: Sequence[tuple[Offered, str]], procurement: ProcurementSpec) -> Iterator[OtherFigure]:
    """The first line of each group that gives fewer years than the design buys: support of nodes, of switches and
    storage systems, and licenses.

    Also support that is longer per part than bought, and node support with a slower response. Without a stated time of
    support, the term applies.
    """
    bought = procurement.support or SupportSpec()
    key, term = ("procurement.support.term", bought.term) if bought.term else ("procurement.term", procurement.term)
    sold = support_lines(lines)
    of_nodes = {line.index for line, _ in sold}
    others = [(line, text) for line, text in lines if line.kind == "other" and line.index not in of_nodes]
    supported = [(line, text) for line, text in others if sells_support(text) and _is_of_other_part(text)]
    supported += _parts_with_support(lines, sold, supported)
    licensed = [(line, text) for line, text in others if _LICENSE.search(text) is not None and not sells_support(text)]
    for group in (sold, *([each] for each in (*supported, *licensed))):
        years = years_supported(group)
        if term is not None and years is not None and years * YEAR < term.value * (1 - SAME):
            yield OtherFigure(group[0][0], f"{years:g} {'year' if years == 1 else 'years'}", key, term.written)
    if term is not None:
        yield from _longer_support(sold, key, term)
    response = bought.response
    hours = [(line, each) for line, text in sold if (each := hours_of_response(text)) is not None]
    if response is None or not hours or any(each * HOUR <= response.value * (1 + SAME) for _, each in hours):
        return
    line, fastest = min(hours, key=lambda pair: pair[1])
    states = "the next business day" if fastest == BUSINESS_DAY else f"a response of {fastest:g} h"
    yield OtherFigure(line, states, "procurement.support.response", response.written)


def _longer_support(sold: Sequence[tuple[Offered, str]], key: str, term: Quantity) -> Iterator[OtherFigure]:
    """Support priced per part and month or year, for a longer time than the design buys."""
    for line, text in sold:
        for product in products_in(text):
            unit = product.units[-1].split("-")[0].split(" ")[0]
            years = product.factors[-1] * {"months": 1 / 12, "years": 1.0}.get(unit, 0.0)
            if years * YEAR > term.value * LONGER and line.line.quantity == math.prod(product.factors):
                yield OtherFigure(line, f"{product.factors[-1]} {unit} for each part", key, term.written)
                return


def _parts_with_support(
    lines: Sequence[tuple[Offered, str]], sold: Sequence[tuple[Offered, str]], others: Sequence[tuple[Offered, str]]
) -> list[tuple[Offered, str]]:
    """The lines of nodes and switches whose text includes support, if no separate line sells support for that kind of
    part.
    """
    of_switches = any(not ANY_SWITCH.isdisjoint(kinds_of_words(text)) for _, text in others)
    kinds = {*(() if sold else ("node",)), *(() if of_switches else ANY_SWITCH)}
    return [(line, text) for line, text in lines if line.kind in kinds and sells_support(text)]


def sells_support(text: str) -> bool:
    """Whether a text in lower case names support or maintenance."""
    return _SUPPORT.search(_OF_ACCEPTANCE.sub("", text)) is not None


def support_lines(lines: Sequence[tuple[Offered, str]]) -> list[tuple[Offered, str]]:
    """The support lines with their texts. Lines for switches and storage systems only are omitted if there are others,
    because they do not cover nodes.
    """
    sold = [(line, text) for line, text in lines if line.kind == "other" and sells_support(text)]
    return [(line, text) for line, text in sold if not _is_of_other_part(text)] or sold


def years_supported(sold: Sequence[tuple[Offered, str]]) -> float | None:
    """The years that support lines cover together; None if a line states no time, or if a year between them is not
    covered.

    The years of successive periods are added. If all lines begin after the first year, the years before are under
    warranty and count too.
    """
    single = {int(found[1]) for _, text in sold if (found := _YEAR_OF_TERM.search(text)) is not None}
    if len(single) == len(sold) > 1:
        return float(max(single)) if single == {*range(min(single), max(single) + 1)} else None
    periods = [years_of_support(line, text) for line, text in sold]
    known = [each for each in periods if each is not None]
    if not known or len(known) < len(periods):
        return None
    starts = [int(found[1]) for _, text in sold if (found := _RANGE_OF_YEARS.search(text)) is not None]
    follows = bool(starts) or any(_EXTENSION.search(text) is not None for _, text in sold)
    return (sum(known) if follows else max(known)) + (min(starts) - 1.0 if len(starts) == len(known) else 0.0)


def _is_of_other_part(text: str) -> bool:
    """Whether a support line names switches or a storage system, and no nodes."""
    kinds = {*kinds_of_words(text)}
    return "node" not in kinds and (not ANY_SWITCH.isdisjoint(kinds) or _STORE.search(text) is not None)


def is_support_of_nodes(text: str) -> bool:
    """Whether a line sells support that names nodes or no part at all.

    >>> [is_support_of_nodes(each) for each in ("support per node", "support 24x7", "switch support", "node")]
    [True, True, False, False]
    """
    return sells_support(text) and not _is_of_other_part(text)


def years_of_support(line: Offered, text: str) -> float | None:
    """Years of support that a line sells; None if unknown.

    They are the length of a range (years 1 to 3), the quantity if the price is per year (or a quarter of it if per
    quarter), or the longest duration in the text.
    """
    ranged = _RANGE_OF_YEARS.search(text)
    if ranged is not None:
        return int(ranged[2]) - int(ranged[1]) + 1
    named = [count_in_text(number) * (1.0 if years else 1 / 12) for number, years, _ in _DURATION.findall(text)]
    longest, counted = max(named, default=None), line.line.quantity or 0
    if _BY_THE_QUARTER.search(text) is not None and _OF_EACH_PART.search(text) is None and longest is None:
        return counted / 4 if counted > 1 else None
    if longest == 1 and 1 < counted <= MOST_YEARS and _OF_EACH_PART.search(text) is None:
        return counted
    if _BY_THE_YEAR.search(text) is None:
        return None if longest == 1 and _OF_ONE_PART.search(text) is not None else longest
    if line.line.quantity is None or _OF_EACH_PART.search(text) is not None:
        return None
    return max(longest or 0.0, line.line.quantity)


def hours_of_response(text: str) -> float | None:
    """The hours of the fastest response that a support line states; None if it states none.

    >>> texts = ("support 24x7 4 h on site", "care, nbd", "24x7x4, 5 years", "support 24x7, 3 years", "repair within 8 hours")
    >>> [hours_of_response(text) for text in texts]
    [4.0, 24.0, 4.0, None, 8.0]
    """
    hours = [float(number) for number in _HOURS_OF_RESPONSE.findall(text)]
    if _BUSINESS_HOURS.search(text) is not None:
        hours = [max([BUSINESS_DAY, *hours])]
    elif _NEXT_DAY.search(text) is not None:
        hours.append(BUSINESS_DAY)
    returned = [int(days) * BUSINESS_DAY if days else OF_RETURN for days in _RETURNED.findall(text)]
    hours += [max(returned)] if returned and not hours else []
    return min(hours, default=None)
