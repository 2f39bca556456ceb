"""Days that texts demand: of a run's result, of deliveries against order and weeks, and until which somebody pays."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import date, timedelta

from clusterspec.records import NamedTuple
from clusterspec.rules.knowledge.purchases import DATE, date_of_text
from clusterspec.rules.readers.clauses import is_hypothetical
from clusterspec.rules.readers.days import COMMON_YEAR, days_in
from clusterspec.rules.readers.demands.sentences import plain_sentences
from clusterspec.rules.readers.doubt import words_of_another
from clusterspec.rules.readers.lexicon import Lexicon
from clusterspec.rules.readers.rejections import turns_down
from clusterspec.spec.model import ProcurementSpec
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


# fmt: off
_WORDS: tuple[tuple[str, str], ...] = (
    ("delivered", "deliver delivered delivery arrive arrived arrives geliefert eintreffen eingetroffen angeliefert livré livrés livrée livrées livraison entregado entregada entregados entregadas entrega llegar llegado consegnato consegnata consegnati consegnate consegna arrivare entregue entregues chegar dostarczony dostarczona dostarczone dostarczenie dostawa"),
    ("there", "in_the_building in_the_hall in_the_room on_site in_place im_gebäude in_der_halle vor_ort dans_le_bâtiment dans_la_salle sur_site sur_place en_el_edificio en_la_sala en_sitio nell'edificio nella_sala in_loco no_edifício no_prédio na_sala w_budynku na_miejscu"),
    ("binds", "must has_to have_to shall needs_to requires require required no_later_than at_the_latest by_then muss müssen sollen spätestens verlangt fordert doit doivent exige exigent au_plus_tard debe deben tiene_que tienen_que exige a_más_tardar deve devono entro pretende esige tem_de têm_de devem exige musi muszą najpóźniej wymaga"),
    ("parts", "hardware machine machines everything all nodes racks equipment system cluster hardware maschine alles anlage knoten geräte matériel tout machine équipement équipements equipo equipos todo máquina nodos macchina tutto nodi apparecchiature equipamento equipamentos tudo máquina sprzęt wszystko maszyna serwery"),
    ("order", "ordered order_is order_on bestellt bestellung_am commandé commande_le pedido_el pedido_em ordinato ordine_del zamówiono"),
    ("other", "spare spares part payment invoice report model software data documentation offer bid ersatzteil* rechnung angebot* pièce* facture offre* repuesto* factura oferta* ricambi* fattura offerta peça* fatura proposta* części faktura oferta first half others remaining later erste* ersten premiers premières primeros primeras primi prime primeiros primeiras pierwsze building renovated lamps furniture"),
)
# fmt: on
_LEXICON = Lexicon(_WORDS)


def due_delivery(text: str) -> tuple[date, str] | None:
    """The only day by which a text demands that all parts are delivered, with its sentence; None unless it names one, and where it names
    the day of the order.

    >>> due_delivery("The lender requires that the hardware is delivered no later than 1 March 2027.")[0]
    datetime.date(2027, 3, 1)
    >>> due_delivery("The invoice must be delivered by 1 March 2027.")
    >>> due_delivery("The hardware was delivered on 1 March 2027.")
    """
    found: dict[date, str] = {}
    for sentence in plain_sentences(text):
        meanings = _LEXICON.meanings(sentence)
        if "order" in meanings:
            return None
        named = "parts" in meanings and ({"delivered"} & meanings or "there" in meanings)
        if not named or "binds" not in meanings or "other" in meanings:
            continue
        days = {day for day, _, _ in dated_places(sentence) if day.year != COMMON_YEAR}
        if len(days) == 1 and not (is_hypothetical(sentence) or words_of_another(sentence) or turns_down(sentence)):
            found[days.pop()] = sentence
    return next(iter(found.items())) if len(found) == 1 else None


def late_delivery(text: str, buying: ProcurementSpec | None) -> tuple[date, date] | None:
    """The day by which a text wants all parts, and the later one on which the last arrives: the weeks of delivery after the day of the
    prices; None where it is in time or not known.
    """
    ordered = date_of_text(buying.as_of) if buying is not None else None
    weeks = buying.delivery.weeks if buying is not None and buying.delivery is not None else None
    due = due_delivery(text) if ordered is not None and weeks else None
    if due is None or ordered is None or not weeks:
        return None
    arrives = ordered + timedelta(days=7 * weeks)
    return (due[0], arrives) if arrives > due[0] > ordered else None


_RENTED = pattern(
    r"(?i)\b(?:reserv\w*|rent(?:ed|s|al)?|leased?|hired?|subscri\w*|reserviert\w*|reservierung|gemietet\w*|miete\w*|mietvertrag|réserv\w*|lou(?:e|ée?s?|ent)|location|bail|alquil\w*|arrend\w*|noleggi\w*|prenotat\w*|"
    r"prenotazione|gereserveerd|reservering|gehuurd|huur\w*|alug\w*|alugu\w*|wynaj\w*|rezerw\w*)\b"
)
_FROM = pattern(
    r"(?i)\b(?:from|starting|beginning|begins?|starts?|as of|ab|beginnt|startet|à partir du|à compter du|dès le|commence|débute|desde|a partir|empieza|comienza|dal|dall['’]|a partire|inizia|decorre|vanaf|begint|ingaande|"
    r"começa|od|rozpoczyna)\b[^.;\d]{0,16}$"
)
"""The end of the text before the day on which something starts."""
_PAYS = pattern(
    r"(?i)\b(?:pays?|paid|reimburs\w*|funds?|funded|funding|covers?|bezahl\w*|zahlt?|erstatte\w*|fördert|übernimmt|paie\w*|payée?s?|rembours\w*|financ\w*|paga\w*|pagad\w*|reembols\w*|sufrag\w*|abona\w*|rimbors\w*|finanzi\w*|betaal\w*|betaalt|"
    r"vergoed\w*|bekostig\w*|płaci\w*|refund\w*|finans\w*)\b"
)
_ONLY = pattern(
    r"(?i)\b(?:only|no longer than|nothing|not|never|nur|nicht\w*|nichts|ausschließlich|que|uniquement|seulement|pas|rien|solo|sólo|solamente|únicamente|no|nada|soltanto|non|nulla|alleen|slechts|enkel|niet\w*|apenas|só|somente|não|tylko|wyłącznie|nie)\b"
)
_UNTIL = pattern(
    r"(?i)\b(?:until|till|up to|through|to|by|before|bis|jusqu['’]au|avant le|hasta|antes|fino|al|entro|tot|t/m|vóór|até|do|przed)\b[^.;\d]{0,12}$"
)
_AFTER = pattern(r"(?i)\b(?:after|beyond|past|nach|après|después|tras|dopo|oltre|na|após|depois|po)\b[^.;\d]{0,12}$")
_NOT = pattern(
    r"(?i)\b(?:no|not|never|cannot|nor|non-\w+|without|ohne|sans|senza|zonder|sem|bez|kein\w*|nicht|weder|ne|n['’]\w+|pas|ni|sin|non|né|niet|geen|não|nem|nie|un\w*kündbar)\b"
)
_ENDED_EARLY = pattern(
    r"(?i)\b(?:cancel\w*|terminat\w*|notice|resold|kündbar|kündig\w*|résili\w*|rescind\w*|cancela\w*|disdett\w*|recess\w*|opzeg\w*|rescis\w*|wypowiedz\w*)\b"
)


class PaidTerm(NamedTuple):
    """The first day of a term, and the last one that is paid."""

    start: date
    paid_until: date


def paid_term(text: str) -> PaidTerm | None:
    """The start of the term of a rented machine and the last day that somebody pays; None unless a text names one of each, and where
    the contract can be ended early.

    >>> paid_term("The nodes are reserved from 1 January 2027. The grant pays only for service until 30 September 2027.").paid_until
    datetime.date(2027, 9, 30)
    >>> paid_term("The nodes are reserved from 1 January 2027. The grant pays for them until 30 September 2027.")
    """
    starts, ends = set[date](), set[date]()
    for sentence in plain_sentences(text):
        if _ENDED_EARLY.search(sentence) is not None and _NOT.search(sentence) is None:
            return None
        if is_hypothetical(sentence) or words_of_another(sentence):
            continue
        starts.update(_starts(sentence))
        ends.update(_ends(sentence))
    if len(starts) != 1 or len(ends) != 1:
        return None
    (start,), (end,) = starts, ends
    return PaidTerm(start, end) if COMMON_YEAR not in (start.year, end.year) and start < end else None


def _starts(sentence: str) -> Iterator[date]:
    """The days on which a sentence says that a rented machine is there."""
    if _RENTED.search(sentence) is not None:
        for day, begin, _ in dated_places(sentence):
            if _FROM.search(sentence[:begin]) is not None:
                yield day


def _ends(sentence: str) -> Iterator[date]:
    """The days until which alone a sentence says that something is paid."""
    if _PAYS.search(sentence) is None or _ONLY.search(sentence) is None:
        return
    for day, begin, _ in dated_places(sentence):
        ahead = sentence[:begin]
        if _UNTIL.search(ahead) is not None or (_AFTER.search(ahead) is not None and _NOT.search(sentence) is not None):
            yield day
