"""Whether a text says that prices are net of a discount."""

from __future__ import annotations

from itertools import islice

from clusterspec.rules.readers.clauses import is_hypothetical
from clusterspec.rules.readers.doubt import words_of_another
from clusterspec.rules.readers.written_numbers import MOST_MATCHES, sentences_of
from clusterspec.standard import pattern

_DISCOUNT = r"(?:discounts?|rebates?|rabatt\w*|\w*nachlass\w*|remises?|rabais|descuentos?|scont[oi]|korting\w*|descontos?|rabat\w*)"
_PRICES = r"(?:prices|unit price|preise|\w+preise|prix unitaires?|precios|precio unitario|prezzi|prezzo unitario|prijzen|preços|preço unitário|ceny)"
_IS = r"(?:is|are|has been|have been|wurden?|ist|sind|est|sont|a été|está|están|è|sono|is|zijn|está|estão|jest|są)"
_OFF = r"(?:taken off|deducted|subtracted|included in|abgezogen|berücksichtigt|eingerechnet|déduite?s?|deducid[oa]s?|descontad[oa]s?|dedott[oi]|detratt[oi]|afgetrokken|verrekend|deduzid[oa]s?|odjęt\w+|uwzględnion\w+)"
_NET = pattern(
    rf"(?i)\b{_PRICES}\b[^;]{{0,60}}?\b{_DISCOUNT}\b[^.;,]{{0,40}}?\b{_IS} (?:already |bereits |schon |déjà |ya |già |reeds |al |já |już )?{_OFF}\b|"
    rf"\b{_DISCOUNT}\b[^.;,]{{0,20}}?\b{_IS} (?:already |bereits |schon |déjà |ya |già |reeds |al |já |już )?{_OFF}\b[^.;,]{{0,24}}?\b{_PRICES}\b|"
    rf"\b{_PRICES}\b[^.;,]{{0,40}}?\b(?:include|contain|enthalten|incluent|comprennent|incluyen|includono|comprendono|bevatten|incluem|zawierają)\b[^.;,]{{0,24}}?\b{_DISCOUNT}\b|"
    rf"\b{_PRICES}\b[^.;,]{{0,40}}?\b(?:net of|nets? de|netos? de|al netto de\w*|líquidos? de|nach abzug|na aftrek van|po odliczeniu)\b[^.;,]{{0,16}}?\b{_DISCOUNT}\b"
)
_NOT_YET = pattern(
    r"(?i)\b(?:not|yet|still|before|less|nicht|noch|vor|geht|gehen|abzüglich|pas|encore|avant|no|aún|todavía|antes|non|ancora|prima|niet|nog|voor|não|ainda|nie|jeszcze|przed|list prices?|listenpreise?|catalogue|lista|listino|lijstprij\w+)\b"
)
_PERCENT = pattern(r"(?<![\d.,])(\d{1,2}(?:[.,]\d)?) ?(?:%|percent|per cent|prozent)")


def words_of_net_prices(text: str, discount: float) -> str:
    """The words by which a text says that prices are net of a discount, a share; empty where it does not, or has another share.

    >>> words_of_net_prices("All prices already include the discount of 12 %.", 0.12)
    'prices already include the discount'
    >>> words_of_net_prices("The prices do not yet include the discount of 12 %.", 0.12)
    ''
    """
    for sentence in sentences_of(" ".join(text.split())):
        if _NOT_YET.search(sentence) is not None or is_hypothetical(sentence) or words_of_another(sentence):
            continue
        shares = [float(each.replace(",", ".")) / 100 for each in islice(_PERCENT.findall(sentence), MOST_MATCHES)]
        found = _NET.search(sentence)
        if found is not None and (not shares or any(abs(each - discount) < 1e-6 for each in shares)):
            return found[0].strip()
    return ""
