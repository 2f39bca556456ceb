"""The day on which, by a text, all parts have to be delivered, against the day of the order and the weeks of delivery."""

from __future__ import annotations

from datetime import date, timedelta

from clusterspec.rules.knowledge.purchases import date_of_text
from clusterspec.rules.readers.clauses import is_hypothetical
from clusterspec.rules.readers.days import COMMON_YEAR
from clusterspec.rules.readers.demands.dates import dated_places
from clusterspec.rules.readers.demands.sentences import plain_sentences
from clusterspec.rules.readers.doubt import words_of_another
from clusterspec.rules.readers.lexicon import Lexicon
from clusterspec.rules.readers.rejections import turns_down
from clusterspec.spec.model import ProcurementSpec

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
