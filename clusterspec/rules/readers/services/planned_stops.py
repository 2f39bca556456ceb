"""Planned stops of a whole service in texts, and the availability that the text promises."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import islice

from clusterspec.quantity import DAY, HOUR, YEAR
from clusterspec.records import NamedTuple
from clusterspec.rules.readers.clauses import is_hypothetical
from clusterspec.rules.readers.dimensions import figures_of
from clusterspec.rules.readers.doubt import words_of_another
from clusterspec.rules.readers.numerals import with_digits
from clusterspec.rules.readers.units import MONTH, with_percent_signs
from clusterspec.rules.readers.written_numbers import number_in_text, sentences_of
from clusterspec.standard import pattern

MOST_SENTENCES, LONGEST_SENTENCE = 200, 600
_SHARE = pattern(r"(?<![\d.,])(9\d(?:[.,]\d{1,4})?) ?%")
_AVAILABLE = pattern(
    r"(?i)\b(?:availab\w*|uptime|verfügbar\w*|erreichbar\w*|disponib\w*|dispon[íi]ve\w*|beschikbaar\w*|reachable|in service|answer\w*|en service)\b"
)
_PERIODS = (
    (MONTH, r"month(?:ly)?|monats?|monatlich\w*|mois|mensuel\w*|mes|mensual\w*|mese|mensile|maand|maandelijks\w*|mês|mensal"),
    (7 * DAY, r"weeks?|weekly|woche|wöchentlich\w*|semaine|hebdomadaire|semana|semanal|settimana|settimanale|wekelijks\w*"),
    (MONTH * 3, r"quarter(?:ly)?|quartals?|vierteljahr|trimestr\w+|kwartaal"),
    (YEAR, r"years?|yearly|annual\w*|jahr\w*|jährlich\w*|an|année|annuel\w*|año|anual\w*|anno|annu\w+|jaar|jaarlijks\w*|ano"),
    (DAY, r"night(?:ly)?|daily|nacht|nächtlich\w*|nuit|noche|notte|noite"),
)  # fmt: skip
_PER = pattern(
    r"(?i)\b(?:(?P<count>once|twice|einmal|zweimal|une fois|deux fois|una vez|dos veces|una volta|due volte|eenmaal|tweemaal|uma vez|duas vezes|(?P<number>\d{1,2}) (?:times|mal|fois|veces|volte|keer|vezes)) )?"
    r"(?:an?|each|every|per|the|of the|in the|pro|je|jede[nmrs]?|im|in der|des|der|chaque|par|du|de la|tous les|cada|al|por|del|de cada|todos los|ogni|di ogni|all['’]|elke?|van de|todo|todos os|do|ao) ?(?P<period>"
    + "|".join(words for _, words in _PERIODS)
    + r")\b|\b(?P<alone>monthly|weekly|quarterly|yearly|nightly|monatlich\w*|wöchentlich\w*|mensuel\w*|hebdomadaire|mensual\w*|semanal|mensile|settimanale|maandelijks\w*|wekelijks\w*|mensal)\b"
)
_LENGTHS = tuple((length, pattern(rf"(?i)(?:{words})")) for length, words in _PERIODS)
_COUNTS = {
    **dict.fromkeys(("once", "einmal", "une fois", "una vez", "una volta", "eenmaal", "uma vez"), 1.0),
    **dict.fromkeys(("twice", "zweimal", "deux fois", "dos veces", "due volte", "tweemaal", "duas vezes"), 2.0),
}
_STOP = pattern(
    r"(?i)\b(?:(?:is|are|be|goes?|go|stays?|whole|everything|all|service|system|machines?|nodes?|servers?) (?:\w+ ){0,3}?(?:down|off|offline|dark)|stop(?:s|ped)?|shut(?:s|ting)?(?: \w+)? ?down|switch\w* (?:\w+ ){0,3}?off|turn\w* off|taken down|out of service|not (?:available|answer)|"
    r"abgeschaltet|abschalt\w*|schaltet\b|angehalten|steht|stehen|außer betrieb|heruntergefahren|nicht erreichbar|unterbroch\w*|"
    r"arrêt\w*|coupée?s?|coupure|éteint\w*|éteign\w*|hors service|interromp\w*|parad\w*|par[ao]n?|apaga\w*|cort\w*|deten\w+|fuera de servicio|"
    r"ferm[aoi]\b|fermat\w|fermano|spent\w|spegn\w+|stil|uitgeschakeld|uitgezet|plat|deslig\w+|parado\w*|fora de serviço)\b"
)
_WHOLE = pattern(
    r"(?i)\b(?:(?:los|las|les|i|le|os|as|de|the|die) [2-9]|ambos|ambas|all|whole|entire|everything|complete\w*|both|together|the (?:service|system|machines?|cluster|hall|room|site|power)|alle|alles|ganze[nrs]?|gesamte[nrs]?|beide|gemeinsam|der dienst|das system|die anlage|der strom|"
    r"tou(?:t|te|s|tes)|ensemble|le service|le système|la salle|la machine|todo|todos|todas|toda|el servicio|el sistema|la sala|la máquina|tutt\w|il servizio|il sistema|la sala|de dienst|het systeem|o serviço|o sistema|a sala)\b"
)
_IN_TURN = pattern(
    r"(?i)\b(?:one (?:node|server|machine|engine|rack|half|after)|in turn|rolling|takes? over|other (?:node|half|site|server|machine)\w*|nacheinander|einzeln|rollierend|übernimmt|andere\w*|"
    r"l['’]un après|tour à tour|prend le relais(?!\w)|relaie|autre \w+|un por uno|por turnos|otr[oa]|uno alla volta|a turno|altr[oa]|om de beurt|ander\w*|um por vez|outr[oa])\b"
)
_NO_RELIEF = pattern(
    r"(?i)\b(?:no|aucun\w*|kein\w*|ningún|ninguna|nessun\w*|geen|nenhum\w*) (?:other|autre|andere\w*|otr\w+|altr\w+|outr\w+)[^.;]{0,40}|\bne prend le relais\b"
)
_EXCLUDED = pattern(
    r"(?i)\b(?:(?:planned|scheduled|announced|maintenance|windows?)\b[^.;]{0,40}\b(?:excluded|not count(?:ed)?|do(?:es)? not count|exempt|outside)|(?:excluding|except|apart from|besides|outside) (?:\w+ ){0,2}(?:planned|scheduled|maintenance|windows?)|"
    r"(?:geplante?\w*|angekündigt\w*|wartung\w*)\b[^.;]{0,40}\b(?:ausgenommen|zähl\w* nicht|nicht (?:mit)?gezählt|nicht mit)|(?:ohne|außerhalb|abgesehen von) (?:\w+ ){0,2}(?:geplant\w*|wartung\w*)|"
    r"(?:planifiée?s?|programmée?s?|entretien|maintenance|fenêtres?)\b[^.;]{0,40}\b(?:exclue?s?|ne compt\w+ pas|hors|non comprise?s?)|hors (?:\w+ ){0,2}(?:entretien|maintenance|arrêts? (?:planifié|programmé)\w*|fenêtre\w*)|"
    r"(?:programad\w+|planificad\w+|mantenimiento)\b[^.;]{0,40}\b(?:excluid\w+|no cuenta\w*|aparte)|sin (?:\w+ ){0,2}mantenimiento|(?:programmat\w|pianificat\w|manutenzione)\b[^.;]{0,40}\b(?:esclus\w|non cont\w+)|"
    r"(?:gepland\w*|onderhoud)\b[^.;]{0,40}\b(?:uitgezonderd|niet mee)|(?:programad\w+|manutenção)\b[^.;]{0,40}\b(?:excluíd\w+|não cont\w+))\b"
)


_AGAINST = pattern(r"(?i);|: |,? \b(?:but|yet|while|aber|jedoch|während|mais|pero|ma|maar|mas)\b")
"""What sets one part of a sentence against another."""


class PlannedStop(NamedTuple):
    """An availability in percent over a period, the seconds that it leaves, and those of the planned stops in it."""

    availability: float
    left: float
    stopped: float
    sentence: str


def stops_beyond_availability(text: str) -> Iterator[PlannedStop]:
    """The planned stops of a whole service that take longer than the availability that a text promises leaves.

    >>> text = "We promise 99.9 % a year, every hour counts. On the first Sunday of each month all nodes are shut down for 6 hours."
    >>> [(each.availability, round(each.stopped / 3600)) for each in stops_beyond_availability(f"Availability: {text}")]
    [(99.9, 72)]
    >>> [*stops_beyond_availability("Availability of 99 % a year. Once a month all nodes are shut down for 6 hours.")]
    []
    """
    text = with_percent_signs(" ".join(text.split()))
    if _SHARE.search(text) is None or _AVAILABLE.search(text) is None or _EXCLUDED.search(text) is not None:
        return
    sentences = [
        each
        for each in islice(sentences_of(with_digits(text)), MOST_SENTENCES)
        if len(each) <= LONGEST_SENTENCE and not is_hypothetical(each) and not words_of_another(each)
    ]
    promised = {(share, period) for each in sentences for share, period in _availability_periods(each)}
    parts = [part for each in sentences for part in _AGAINST.split(each)]
    stops = [(rate, each) for each in parts if (rate := _stopped_share(each))]
    if len(promised) == 1 and len(stops) == 1:
        ((share, period),), ((rate, sentence),) = promised, stops
        left = (1 - share / 100) * period
        if rate * period > 1.1 * left:
            yield PlannedStop(share, left, rate * period, sentence)


def _availability_periods(sentence: str) -> Iterator[tuple[float, float]]:
    """The availabilities in percent of a sentence, each with the seconds of its period: a year where it names none."""
    shares = {number_in_text(each) for each in _SHARE.findall(sentence)}
    if len(shares) == 1 and _AVAILABLE.search(sentence) is not None:
        behind = sentence[max(each.end() for each in _SHARE.finditer(sentence)) :]
        match = _PER.search(_AGAINST.split(behind)[0])
        yield shares.pop(), _length_of(match) if match is not None else YEAR


def _stopped_share(sentence: str) -> float:
    """The share of the time that planned stops of the whole take; 0 without any."""
    stop, turns = _STOP.search(sentence), _IN_TURN.search(_NO_RELIEF.sub(" ", sentence))
    periods = [*islice(_PER.finditer(sentence), MOST_SENTENCES)] if stop is not None else []
    per = min(periods, key=lambda each: abs(each.start() - stop.start()), default=None) if stop is not None else None
    if per is None or stop is None or _WHOLE.search(sentence) is None or turns is not None:
        return 0.0
    times = [each.value for each in figures_of(sentence) if each.bare == {("s", 1)} or each.powers == {("s", 1)}]
    times = [each for each in times if 60.0 <= each <= 3 * DAY]
    if len(times) != 1:
        return 0.0
    count = float(per["number"] or _COUNTS.get((per["count"] or "once").lower(), 1.0))
    return count * times[0] / _length_of(per)


def _length_of(match: re.Match[str]) -> float:
    """The seconds of the period that a match names."""
    word = match["period"] or match["alone"]
    return next((length for length, words in _LENGTHS if words.fullmatch(word)), HOUR)
