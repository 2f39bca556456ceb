"""The days between the start of a training run and the day on which a text wants its result."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import date

from clusterspec.records import NamedTuple
from clusterspec.rules.knowledge.purchases import DATE, date_of_text
from clusterspec.rules.readers.clauses import is_hypothetical
from clusterspec.rules.readers.days import COMMON_YEAR, days_in
from clusterspec.rules.readers.demands.sentences import plain_sentences
from clusterspec.rules.readers.doubt import words_of_another
from clusterspec.standard import pattern

_ISO = pattern(DATE)
NEAR = 80
"""Characters from the words of a start to its day."""
_TRAIN = r"(?:train\w*|run|lauf|trainingslauf|vortraining|entraînement|calcul|entrenamiento|addestramento|training|treino|treinamento|trening\w*|uczeni\w*|obliczeni\w*)"
_START = r"(?:begin\w*|starts?|started|starting|beginnt|startet|commence\w*|débute\w*|comienza|empieza|inicia|comincia|inizia|start|começa|inicia|rozpoczyna\w*|zaczyna\w*|시작\w*)"
_STARTED = pattern(
    rf"(?i)\b{_TRAIN}\b[^.;\d]{{0,40}}?\b{_START}\b[^.;\d]{{0,24}}$|\b{_START}\b[^.;\d]{{0,16}}?\b{_TRAIN}\b[^.;\d]{{0,24}}$|\b{_TRAIN}\b[^.;\d]{{0,8}}$"
)
"""The words before the day on which the training starts; the last needs the verb behind the day."""
_STARTS_BEHIND = pattern(rf"(?i)^[^.;,\d]{{0,12}}\b{_START}")
_RUN_STARTS_BEHIND = pattern(rf"(?i)^[^.;,\d]{{0,12}}\b{_START}\b[^.;\d]{{0,40}}?\b{_TRAIN}\b")
"""The verb and its subject behind a day: `Am 4. Januar startet das Training`."""
_VERB_AHEAD = pattern(rf"(?i)\b{_START}\b")
_OF_RESULT = pattern(
    r"(?i)\b(?:models?|weights|results?|modell\w*|gewichte|ergebnis\w*|modèles?|poids|résultats?|modelos?|pesos|resultados?|modell[oi]|pesi|risultat[oi]|gewichten|resultaten|wyniki?|wagi|model\w*)\b"
)
_DUE = pattern(
    r"(?i)\b(?:submit\w*|hand(?:ed)? (?:over|in)|deliver\w*|publish\w*|release[ds]?|due|finished|ready|complete[d]?|abgegeben|abgeben|vorlieg\w*|vorleg\w*|übergeb\w*|einreich\w*|veröffentlich\w*|fertig|remis\w*|remettre|livr\w*|publi\w*|soumis\w*|terminée?s?|prête?|entreg\w*|presentad\w*|presentar\w*|publicad\w*|terminad\w*|listo|consegnat\w*|consegnare|pubblicat\w*|presentat\w*|pronto|ingelever\w*|opgelever\w*|klaar|gepubliceerd|apresentad\w*|pronto|oddan\w*|złożon\w*|opublikowan\w*|gotow\w*|提出|公開|提交|交付|发布|제출|공개)"
)
_BY = pattern(
    r"(?i)\b(?:must|has to|have to|by|no later than|at the latest|deadline|bis|spätestens|muss|müssen|avant le|au plus tard|doit|doivent|antes del?|a más tardar|debe[n]?|entro|deve|devono|uiterlijk|vóór|moet|moeten|até|tem de|deve|do dnia|najpóźniej|musi|muszą)\b"
)


class Span(NamedTuple):
    """The first day of a run, and the day on which its result is due."""

    start: date
    due: date

    @property
    def days(self) -> int:
        return (self.due - self.start).days


def span_of_run(text: str) -> Span | None:
    """The days of a text for the run; None unless it names one start and one day on which the result is due after it.

    >>> span_of_run("Training starts on 20 September. The model must be submitted by 1 December 2027.").days
    72
    >>> span_of_run("Training starts on 20 September 2027. The machine must be submitted by 1 December 2027.")
    """
    starts, dues = set[date](), set[date]()
    for sentence in plain_sentences(text):
        if is_hypothetical(sentence) or words_of_another(sentence):
            continue
        for day, begin, end in dated_places(sentence):
            ahead = sentence[max(0, begin - NEAR) : begin]
            if _is_start(ahead, sentence[end:]):
                starts.add(day)
            elif _is_due(sentence):
                dues.add(day)
    if len(starts) != 1 or len(dues) != 1:
        return None
    (start,), (due,) = starts, dues
    if start.year == COMMON_YEAR:
        start = start.replace(year=due.year) if start.replace(year=due.year) < due else start.replace(year=due.year - 1)
    return Span(start, due) if start < due and due.year != COMMON_YEAR else None


def _is_start(ahead: str, behind: str) -> bool:
    """Whether the words around a day say that the training starts on it."""
    if _RUN_STARTS_BEHIND.match(behind) is not None:
        return True
    started = _STARTED.search(ahead)
    if started is None:
        return False
    return _VERB_AHEAD.search(started[0]) is not None or _STARTS_BEHIND.match(behind) is not None


def _is_due(sentence: str) -> bool:
    return all(each.search(sentence) is not None for each in (_OF_RESULT, _DUE, _BY))


def dated_places(sentence: str) -> Iterator[tuple[date, int, int]]:
    """The days of a sentence with their places."""
    iso = [(day, *each.span()) for each in _ISO.finditer(sentence) if (day := date_of_text(each[1])) is not None]
    yield from iso
    for each in days_in(sentence):
        year = iso[0][0].year if iso and each.day.year == COMMON_YEAR else each.day.year
        yield each.day.replace(year=year), each.start, each.end
