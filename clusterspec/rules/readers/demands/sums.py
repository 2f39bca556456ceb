"""Figures that follow from several figures of a sentence: the length of a route, the lost share of a period, samples of a prompt."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise
from math import fsum

from clusterspec.rules.readers.demands.energies import DemandFigure
from clusterspec.rules.readers.dimensions import Powers
from clusterspec.rules.readers.units import TIME_WORDS
from clusterspec.rules.readers.word_periods import periods_in
from clusterspec.standard import pattern

LENGTH: Powers = frozenset({("m", 1)})
LOST: Powers = frozenset({("s", 1), ("period", -1)})
_TIME: Powers = frozenset({("s", 1)})
_PROMPTS: tuple[Powers, ...] = (frozenset({("request", 1)}), frozenset({("request", 1), ("step", -1)}))
_OF_PROMPT: Powers = frozenset({("sample", 1), ("request", -1)})
FEWEST_PIECES = 3
"""Fewest lengths that a route is the sum of: two may be those of two routes."""
_ROUTE = pattern(
    r"(?i)\b(?:routes?|path|trasse|strecke|kabelweg|verlegeweg|tracé|cheminement|parcours|recorrido|trazado|ruta|percorso|tracciato|route|kabelroute|traject|percurso|traçado|tras[aęyą]|przebieg)\b"
)
_BOTH_ENDS = pattern(
    r"(?i)^[^.;,\d]{0,32}\b(?:(?:at|on|for) (?:either|each|both)(?: of the)? ends?|per end|an (?:jedem ende|beiden enden)|je ende|à chaque (?:bout|extrémité)|aux deux (?:bouts|extrémités)|en cada (?:extremo|punta)|a (?:ciascun capo|ogni estremità)|aan (?:elk uiteinde|beide uiteinden|elke kant)|em cada (?:ponta|extremidade)|na każdym końcu|w każdym końcu)\b"
)
"""Words behind a length that both ends of a route have."""
_ENDS_AHEAD = pattern(
    r"(?i)\b(?:(?:at|for) (?:either|each|both) ends?,?|je ende|an (?:jedem ende|beiden enden)|à chaque (?:bout|extrémité)|en cada (?:extremo|punta)|a ciascun capo|aan elk uiteinde|em cada ponta|na każdym końcu)(?: [^\W\d]+)? $"
)
"""The same words before a length."""
_APART = pattern(
    r"(?i)\b(?:at most|up to|or|each|every|höchstens|oder|je|au plus|ou|chaque|como máximo|o|cada|al massimo|ogni|hoogstens|of elk|no máximo|najwyżej|lub)\b[^.;,\d]{0,16}$"
)
"""Words before a length that is no piece of the route."""
_BETWEEN_TIMES = 60
"""Characters between a time and the period of which it is a part."""
_OF_LONGER = pattern(
    r"(?i)\b(?:of|in|out of|von|in|sur|en|de|su|op|van|em|na|z|w) (?:a |an |the |any |each |every |einem |einer |je |un |une |uno |una |een |um |uma )?(?:month|period|week|year|zeitraum|monat|mois|période|mes|período|mese|periodo|maand|periode|mês|okres\w*|miesiąc\w*)?(?: (?:of|von|zu|de|di|van|z))? ?$"
)
"""Words before the period of which a time is a part: `of a month of 30 days`."""
_IN_ALL = pattern(
    r"(?i)\b(?:in all|altogether|in total|together|insgesamt|zusammen|en tout|au total|en total|in tutto|in totale|in totaal|samen|ao todo|no total|łącznie|razem|total)\b"
)
_SAMPLES = pattern(
    r"(?i)^ (?:[^\W\d]+ )?(?:answers?|samples?|rollouts?|completions?|responses?|solutions?|antworten|stichproben|lösungen|réponses?|échantillons?|solutions?|respuestas|muestras|soluciones|risposte|campioni|soluzioni|antwoorden|oplossingen|respostas|amostras|soluções|odpowiedzi|próbek)\b"
)


def summed_figures(sentence: str, written: Sequence[DemandFigure]) -> Iterator[DemandFigure]:
    """The figures of a sentence that follow from several others."""
    yield from _route_length(sentence, [each for each in written if each.powers == LENGTH])
    yield from _lost_shares(sentence, [each for each in written if each.powers == _TIME])
    yield from (each._replace(powers=LOST, is_computed=True) for each in written if _is_time_of_time(each))
    yield from _samples_of_prompt(sentence, written)
    yield from _shares_of_hours(sentence)
    yield from _sums_over_groups(sentence, written)


def _route_length(sentence: str, lengths: Sequence[DemandFigure]) -> Iterator[DemandFigure]:
    """The length of a route of which a sentence lists the pieces; none where it states the sum itself.

    >>> found = [DemandFigure(each, LENGTH, at, at + 4, f"{each:g} m") for at, each in ((9, 11.0), (15, 74.0), (25, 3.0))]
    >>> [(each.value, each.words) for each in _route_length("The path: 11 m, 74 m and 3.0 m at each end.", found)]
    [(91.0, '11 m + 74 m + 2 x 3 m')]
    """
    if len(lengths) < FEWEST_PIECES or _ROUTE.search(sentence[: lengths[0].start]) is None:
        return
    ends = [2 if _is_of_both_ends(sentence, each) else 1 for each in lengths]
    if any(count == 1 and _APART.search(sentence[: each.start]) for count, each in zip(ends, lengths, strict=True)):
        return
    total = fsum(count * each.value for count, each in zip(ends, lengths, strict=True))
    if any(abs(2 * each.value / total - 1) < 0.01 for each in lengths):
        return  # the sum stands among its pieces
    words = " + ".join(
        f"{count} x {each.words}" if count > 1 else each.words for count, each in zip(ends, lengths, strict=True)
    )
    yield DemandFigure(total, LENGTH, lengths[0].start, lengths[-1].end, words, is_computed=True)


def _is_of_both_ends(sentence: str, length: DemandFigure) -> bool:
    """Whether words next to a length say that each end of a route has it."""
    ahead = _ENDS_AHEAD.search(sentence[: length.start])
    return ahead is not None or _BOTH_ENDS.match(sentence[length.end :]) is not None


def _lost_shares(sentence: str, times: Sequence[DemandFigure]) -> Iterator[DemandFigure]:
    """Each time of a sentence as a share of the period that the sentence names: `18 hours a month`, `of 30 days, 18 hours`."""
    longest = max(times, key=lambda each: each.value, default=None)
    if longest is None:
        return
    is_period = len(times) > 1 and _OF_LONGER.search(sentence[: longest.start]) is not None
    for each in times:
        if is_period and each.value < longest.value / 2 and _gap(each, longest) < _BETWEEN_TIMES:
            yield _share(each, longest.value, longest.words)
        elif not is_period and len(times) == 1:
            named = {period.seconds: period.words for period in periods_in(sentence)}
            if len(named) == 1:
                ((seconds, words),) = named.items()
                if each.value < seconds / 2:
                    yield _share(each, seconds, words)


def _is_time_of_time(figure: DemandFigure) -> bool:
    """Whether a figure without a unit is a time of each longer time: `20 heures par mois`."""
    words = figure.words.lower().split()
    return not figure.powers and figure.value < 0.5 and sum(each in TIME_WORDS for each in words) == 2


def _gap(one: DemandFigure, other: DemandFigure) -> int:
    return max(one.start, other.start) - min(one.end, other.end)


def _share(time: DemandFigure, period: float, words: str) -> DemandFigure:
    said = time.words if words in time.words else f"{time.words} of {words}"
    return DemandFigure(time.value / period, LOST, time.start, time.end, said, is_computed=True)


def _samples_of_prompt(sentence: str, written: Sequence[DemandFigure]) -> Iterator[DemandFigure]:
    """The samples of a prompt, where a sentence states the prompts and the samples of all: `64 prompts and 1,024 answers in all`."""
    prompts = [each for each in written if each.powers in _PROMPTS and each.value > 1]
    samples = [
        each for each in written if _SAMPLES.match(sentence[each.end :]) is not None or ("sample", 1) in each.powers
    ]
    if len(prompts) == len(samples) == 1 and _IN_ALL.search(sentence) is not None:
        (one,), (all_,) = prompts, samples
        if all_.value > one.value and (all_.value / one.value) % 1 == 0:
            words = f"{all_.words} of {one.words}"
            yield DemandFigure(all_.value / one.value, _OF_PROMPT, all_.start, all_.end, words, is_computed=True)


_OF_ALL = pattern(
    r"(?i)(?<![\w.,])(\d{1,5}) (?:out of|of|von|sur|de|su|di|van|op|z|ze) (?:the |a |all |den |allen |les |las |los |le |ogni |de |cada |każdych |each )?(\d{1,5}) (?:hours|minutes|requests|cases|answers|calls|stunden|minuten|anfragen|fälle\w*|antworten|heures|minutes|requêtes|cas|réponses|horas|minutos|peticiones|casos|respuestas|ore|minuti|richieste|casi|risposte|uur|verzoeken|gevallen|pedidos|respostas|godzin|zapytań)\b"
)
"""A number of hours or requests of a larger number of them."""
SHARE: Powers = frozenset({("share", 1)})


def _shares_of_hours(sentence: str) -> Iterator[DemandFigure]:
    """The share of hours or requests of all: `700 of the 720 hours`.

    >>> [round(each.value, 3) for each in _shares_of_hours("at least 700 of the 720 hours, 3 of 2 cases")]
    [0.972]
    """
    for match in _OF_ALL.finditer(sentence):
        part, whole = float(match[1]), float(match[2])
        if 0 < part < whole:
            yield DemandFigure(part / whole, SHARE, match.start(), match.end(), match[0], is_computed=True)


_NODES: Powers = frozenset({("node", 1)})
_FURTHER = pattern(
    r"(?i)^,? ?(?:and |und |et |y |e |en |i )?(?:the )?(?P<count>\d{1,3}) (?:others?|more|further|weitere\w*|andere\w*|autres|otros|otras|más|altri|altre|andere|outros|outras|inne|innych)\b[^.;\d]{0,32}?(?P<each>\d{1,3})\b(?! ?[%.,]?\d)"
)
"""A second group behind the amount of each of the first: `and two others six each`."""
_BEHIND_EACH = pattern(r"(?i)^ (?:each|apiece|chacune?s?|cada uno|ciascuno|elk)\b")


def _sums_over_groups(sentence: str, written: Sequence[DemandFigure]) -> Iterator[DemandFigure]:
    """The nodes of two kinds of groups: `three institutes receive eight nodes each, two others six`."""
    for count, each in pairwise(written):
        if count.powers or each.powers not in (_NODES, frozenset({("node", 1), ("spare", -1)})) or count.value < 2:
            continue
        behind = _BEHIND_EACH.match(sentence[each.end :])
        end = each.end + (behind.end() if behind is not None else 0)
        further = _FURTHER.match(sentence[end:])
        if further is not None:
            second, of_second = float(further["count"]), float(further["each"])
            words = f"{count.words} x {each.words} + {further['count']} x {further['each']}"
            total = count.value * each.value + second * of_second
            yield DemandFigure(total, _NODES, count.start, end + further.end(), words, is_computed=True)
