"""The tax that funds include and a quote leaves out, as a text states them."""

from __future__ import annotations

from clusterspec.rules.readers.doubt import words_of_another
from clusterspec.rules.readers.written_numbers import sentences_of
from clusterspec.standard import pattern

_TAX = r"(?:vat|sales tax|taxe?s?|mwst|mehrwertsteuer|umsatzsteuer|ust|tva|iva|btw|moms)"
_FUNDS = pattern(
    r"(?i)\b(?:grant|fund\w*|budget|subsid\w*|zuwendung\w*|förder\w*|zuschuss|mittel|subvention\w*|subvenci\w*|crédit|ayuda\w*|presupuesto|contribut\w*|finanziament\w*|subsidie\w*|subsídio|verba|dotacj\w*)\b"
)
_GROSS = pattern(
    rf"(?i)\b(?:include[sd]?|including|covers?|cover|inclusive of|einschließlich|inklusive|inkl\.?|samt|mit|incluye\w*|inclus\w*|comprend\w*|comprende\w*|inclui\w*|inclusief|obejmuje|wraz z)\b[^.;,]{{0,24}}?\b{_TAX}\b|\bTTC\b|\btoutes taxes\b|\bbrutto\b"
)
_QUOTE = pattern(
    r"(?i)\b(?:quot\w*|offer\w*|bid\w*|items?|lines?|prices?|angebot\w*|bieter\w*|anbieter\w*|positionen|preise?|devis|offre|soumissionnaire|ofert\w*|precios?|licitador\w*|offert\w*|prezz\w*|aanbied\w*|prijs|prijzen|propost\w*|preços?|cen\w*)\b"
)
_NET = pattern(
    rf"(?i)\bnett?o?s?\b|\b(?:without|excluding|excl\.?|plus|ohne|zuzüglich|zzgl\.?|hors|sans|sin|senza|zonder|exclusief|sem|bez) (?:[^\W\d]+ )?{_TAX}\b|\bhors taxes\b|\bHT\b"
)
_DEDUCT = r"(?:deduct\w*|recover\w*|reclaim\w*|refund\w*|vorsteuer\w*|erstatt\w*|déduct\w*|dédui\w*|récup\w*|rembours\w*|deduc\w*|recuper\w*|reembols\w*|detra\w*|rimbors\w*|aftrek\w*|verreken\w*|teruggave|deduz\w*|odlicz\w*)"
_NO = r"(?:no|not|cannot|can't|never|without|kein\w*|nicht|ohne|ne|n['’]\w+|pas|sans|non|sin|senza|geen|niet|não|sem|nie|bez)"
_DEDUCTED = pattern(rf"(?i)\b{_DEDUCT}\b")
_NOT_DEDUCTED = pattern(rf"(?i)\b{_NO}\b[^.;]{{0,40}}?\b{_DEDUCT}\b|\b{_DEDUCT}\b[^.;]{{0,30}}?\b{_NO}\b")
_BIDDER = pattern(r"(?i)(?<=\bthe )bidder\b|(?<=\bder )bieter\b|(?<=\bdem )bieter\b")
"""The only bidder, who sells the machine."""
_RATE = pattern(r"(?<![\d.,])(\d{1,2}(?:[.,]\d)?) ?%")
_OF_RATE = pattern(rf"(?i)\b(?:{_TAX}|rate|steuersatz|satz|taux|tipo|aliquota|tarief|taxa|stawka)\b")


def tax_on_quote(text: str) -> float:
    """The share of tax that comes on top of a quote and that its funds include; 0 unless a text says that the funds include a tax,
    that the quote does not, and that the buyer may not deduct it, and names one rate.

    >>> text = "The grant includes VAT, which we cannot reclaim. The bidder quotes all items net, and the rate is 19 %."
    >>> tax_on_quote(text), tax_on_quote(text.replace("cannot", "can"))
    (0.19, 0.0)
    """
    sentences = [
        each for each in sentences_of(" ".join(text.split())) if not words_of_another(_BIDDER.sub("seller", each))
    ]
    gross = any(_FUNDS.search(each) is not None and _GROSS.search(each) is not None for each in sentences)
    net = any(_QUOTE.search(each) is not None and _NET.search(each) is not None for each in sentences)
    deducted = [each for each in sentences if _DEDUCTED.search(each) is not None]
    if not (gross and net and deducted) or any(_NOT_DEDUCTED.search(each) is None for each in deducted):
        return 0.0
    rates = {
        float(each.replace(",", ".")) / 100
        for sentence in sentences
        if _OF_RATE.search(sentence) is not None
        for each in _RATE.findall(sentence)
    }
    return rates.pop() if len(rates) == 1 else 0.0
