"""The times that a text states for the run and for the reservation of the machine."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice

from clusterspec.quantity import DAY
from clusterspec.rules.readers.clauses import clause_at
from clusterspec.rules.readers.quantities import (
    FLOP,
    FLOP_PER_SECOND,
    SECOND,
    STEP,
    TOKEN,
    TOKEN_PER_SECOND,
    TextQuantity,
)
from clusterspec.rules.readers.units import TIME_WORDS
from clusterspec.rules.readers.windows import Window, is_certain, long_times, windows
from clusterspec.rules.readers.written_numbers import MOST_MATCHES
from clusterspec.standard import pattern

_RUN = pattern(
    r"(?i)\b(?:main run|(?<!\d )runs?|(?<!post-)(?:pre-?)?training(?! (?:data|set|nodes?|logs?|corpus|cluster))|pre-?train\w*|job|lauf|vortraining|hauptlauf|(?:pré-?)?entra[iî]nement|(?:pre)?entrenamiento|(?:the|all|der|alle|les) (?:\w+ ){0,2}(?:tokens|jetons))\b"
)
"""Pattern of the names of the run."""
_NOT_THE_RUN = pattern(
    r"(?i)\b(?:each|every|per|first|last|one of|next|restart\w*|recover\w*|checkpoint\w*|evals?|evaluat\w*|burn-in|acceptance|tests?|testing|phase|stage|step|epoch|pilot|ablation\w*|proxy|sft|post-?training|fine-?tun\w*|"
    r"alignment|anneal\w*|decay|warm\w*|mfu|instead|deliver\w*|install\w*|reserv\w*|lease\w*|rent\w*|book\w*|allocat\w*|block|contract|slot|limit\w*|queue\w*|wait\w*|before|earlier|ago|ahead|later|starts?|started|begins?|"
    r"interrupt\w*|paus\w*|stop\w*|maintenance|leaves?|left|kept|keeps?|logs?|retention|stored|deadline|late|delay\w*|notice|review|half|pieces?|chunks?|segments?|slices?|stücke\w*|part of|tokeni[sz]\w*|download\w*|copy\w*|data preparation|down|slower|faster|lost|loses?|saves?|margin|reserve|spare|"
    r"wall ?time|time limit|at least|minimum|more than|longer than|less than|between|support|warranty|report\w*|"
    r"jede[rsnm]?|erste[rnms]?|letzte[rnms]?|phase|neustart\w*|auswertung|reserviert|gebucht|beginnt|mindestens|mehr als|vor|chaque|premi(?:er|ère)s?|derni(?:er|ère)s?|réservé\w*|au moins|plus de|commence|avant|cada|primer\w*|últim\w*|reservad\w*|al menos|más de|antes)\b"
)
"""Pattern of words in a clause about a part of the run, or about another time."""
_RUN_TAKES = pattern(
    r"(?i)\b(?:run|training|pre-?training|job|lauf|vortraining|(?:pré-?)?entra[iî]nement|(?:pre)?entrenamiento|tokens)\b[^.;:]{0,60}?"
    r"\b(?:takes?|lasts?|needs?|finish\w*|(?:is|are) (?:done|finished|complete)|completes?|dauer[nt]|dure(?:nt)?|prend|dura[n]?|tarda[n]?)"
    r"(?: (?:after|in|within|for))?(?: (?:about|some|only|roughly|just|around|nearly|etwa|rund|environ|unos|unas))? ?[~≈]? ?$"
)
_AFTER = pattern(r"(?i)\b(?:after|nach|après|au bout de|tras|después de) (?:about |some |rund |etwa )?$")
_DONE = pattern(
    r"(?i)\b(?:done|finish\w*|complet\w*|ends?|ready|through|fertig|beendet|endet|abgeschlossen|terminée?s?|finie?s?|termina\w*|acaba\w*)\b"
)
_SPAN = pattern(
    r"(?i)\b(?P<unit>days?|weeks?|tage?|wochen?|jours?|semaines?) (?P<first>\d{1,3}) ?(?:to|through|until|bis|à|-|–) ?(?:days?|weeks?|tag|woche|jour|semaine)? ?(?P<last>\d{1,3})\b"
)
"""Pattern of the days or weeks of a plan by their numbers, such as `days 3 to 20`."""
_COMPARED = {FLOP, FLOP_PER_SECOND, STEP, TOKEN_PER_SECOND}
"""Units of quantities from which a sentence computes its time; other rules compare such times."""


def run_time_of_text(text: str, tokens: float | None = None) -> TextQuantity | None:
    """The longest time, of half a day or more, that a text gives for the run; None if it gives none.

    ``tokens`` are the tokens of the run; a time in a clause with another number of tokens covers only a part of the
    run.

    >>> run_time_of_text("Each restart takes 2 days. The run takes about three weeks.").words
    'three weeks'
    >>> run_time_of_text("Plan: 25 days of pretraining, 3 days of SFT.").words
    '25 days'
    """
    if _RUN.search(text) is None:  # most texts
        return None
    found = [
        each
        for window in windows(text, 1, lambda sentence: (*long_times(sentence), *_spans(sentence)))
        if all(each.unit not in _COMPARED for each in window.quantities)
        for each in window.quantities
        if each.unit == SECOND and each.value >= DAY / 2 and _is_of_run(window, each, tokens)
    ]
    return max(found, key=lambda each: each.value, default=None)


def _spans(sentence: str) -> Iterator[TextQuantity]:
    """The times from one numbered day or week of a plan to another, both included.

    >>> [each.value / 86400 for each in _spans("pretraining from day 1 to day 28")]
    [28.0]
    """
    for match in islice(_SPAN.finditer(sentence), MOST_MATCHES):
        number, unit = int(match["last"]) - int(match["first"]) + 1, TIME_WORDS[match["unit"].lower()]
        if number > 0:
            yield TextQuantity(number * unit, SECOND, match.start(), match.end(), match[0], float(unit))


def _is_of_run(window: Window, time: TextQuantity, tokens: float | None) -> bool:
    """Whether a time is the duration of the run, by its clause or by the words before it."""
    text, clause = window.text, clause_at(window.text, time.start, time.end)
    goes_on = _AFTER.search(text[: time.start]) is not None and _DONE.search(clause) is None
    if goes_on or not is_certain(text, time) or _NOT_THE_RUN.search(clause) is not None:
        return False
    counted = [each for each in window.quantities if each.unit == TOKEN and each.words in clause and each.value >= 1e9]
    if any(tokens is None or not each.agrees(tokens) for each in counted):
        return False
    if counted or _RUN.search(clause) is not None:
        return True
    return _RUN_TAKES.search(text[: time.start]) is not None and _NOT_THE_RUN.search(text[: time.start]) is None


_RESERVED = pattern(
    r"(?i)\b(?:capacity block|reserv\w*|book(?:ed|ing)|leas(?:e|ed|ing)|rent(?:ed|al|ing)?|hired?|allocation|commitment|gebucht\w*|buchung|reserviert|reservierung|gemietet|miet\w*|mietvertrag|louée?s?|location|"
    r"réserv\w*|bail|alquil\w*|arriendo)\b"
)
_ENDS = pattern(
    r"(?i)\b(?:access|instances?|nodes|capacity|machines?|hardware|p\d\w*|gpus|zugang|instanzen|knoten|kapazität|accès|nœuds|acceso|nodos)\b[^.;]{0,40}?\b(?:ends?|expires?|gone|taken (?:away|back)|returned|handed back|given back|leaves?|withdrawn|ours|"
    r"available|endet|enden|entfällt|fallen weg|zurückgegeben|zur Verfügung|expirent?|rendue?s?|disponibles?|termina|expira)\b"
)
_NOT_A_TERM = pattern(
    r"(?i)\b(?:extend\w*|extension|at a time|at most|maximum|max|up to|notice|advance|ahead|cancel\w*|refund\w*|pay\w*|paid|invoice\w*|price\w*|discount|deliver\w*|checkpoint\w*|kept|keeps?|before|every|per|each|minimum|at least|renew\w*|"
    r"prolong\w*|trial|tests?|store[ds]?|storage|data|first|second|(?<!the )starts?|begins?|backups?|lock|tapes?|objects?|snapshots?|warranty|support|ip|dns|dhcp|license|licence|respons\w*|repair\w*|blocks|reservations|bookings|leases|ablation\w*|"
    r"verlänger\w*|höchstens|bis zu|kündig\w*|frist|jede[rsn]?|au plus|préavis|prolonge\w*|chaque|como máximo|cada)\b"
)
"""Pattern of words in a clause about a part of a reservation, or about another time."""


def reserved_time(text: str) -> TextQuantity | None:
    """The longest time, of a day or more, for which a text says that the machine is reserved; None if it says none.

    >>> reserved_time("We rent the nodes for three months; a reservation may be cancelled within 14 days.").words
    'three months'
    >>> reserved_time("Checkpoints are kept for 60 days.")
    """
    if _RESERVED.search(text) is None and _ENDS.search(text) is None:  # most texts
        return None
    found = [
        each
        for window in windows(text, 1, long_times)
        for each in window.quantities
        if each.unit == SECOND and each.value >= DAY and _is_reserved(window, each)
    ]
    return max(found, key=lambda each: each.value, default=None)


def _is_reserved(window: Window, time: TextQuantity) -> bool:
    clause = clause_at(window.text, time.start, time.end)
    if not is_certain(window.text, time) or _NOT_A_TERM.search(clause) is not None:
        return False
    if _RESERVED.search(clause) is not None or _ENDS.search(clause) is not None:
        return True
    is_only = len([each for each in window.quantities if each.unit == SECOND]) == 1
    return is_only and _RESERVED.search(window.text) is not None and _NOT_A_TERM.search(window.text) is None
