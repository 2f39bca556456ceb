"""What a grant and own funds pay of a purchase, and the tax that they include, as a text states them."""

from __future__ import annotations

from clusterspec.records import NamedTuple
from clusterspec.rules.readers.demands.energies import DemandFigure
from clusterspec.rules.readers.demands.figures import MEASURES, demand_figures
from clusterspec.rules.readers.demands.sentences import plain_sentences
from clusterspec.rules.readers.doubt import words_of_another
from clusterspec.rules.readers.lexicon import Lexicon
from clusterspec.rules.readers.written_numbers import sentences_of
from clusterspec.standard import pattern

# fmt: off
_WORDS: tuple[tuple[str, str], ...] = (
    ("grant", "grant grants fund funder funding subsidy subsidies subsid* foundation reimburse* refund* contributes contribution zuschuss* förder* zuwendung* stiftung fonds fördert erstattet subvention* aide finance* rembours* cofinanc* subvención subvenciones ayuda* reembols* contributo contributi finanziament* rimbors* cofinanz* subsidie* bijdrage vergoed* subsídio* financia* comparticip* dotacj* dofinansow* fundusz* zwraca refunduj*"),
    ("eligible", "eligible fundable allowable net costs cost expenses förderfähig* zuwendungsfähig* netto* kosten ausgaben éligible* dépenses coûts coût subvencionable* elegible* gastos costes ammissibil* spese costi subsidiabel* kosten elegív* despesas custos kwalifikowan* wydatk* kosztów"),
    ("own", "own_funds own_share own_part own_contribution own_money own_resources our_share own_budget eigenmittel* eigenanteil* eigene*_mittel eigenbeitrag fonds_propres part_propre autofinancement apport fondos_propios aportación_propia recursos_propios fondi_propri quota_propria risorse_proprie eigen_middelen eigen_bijdrage eigen_deel fundos_próprios contrapartida recursos_próprios wkład_własny wkładu_własnego środki_własne środków_własnych wkładem_własnym"),
    ("cap", "at_most no_more_than not_more_than up_to capped ceiling maximum limit* höchstens maximal bis_zu nicht_mehr_als obergrenze au_plus au_maximum plafon* pas_plus_de jusqu'à limit* como_máximo no_más_de hasta máximo tope al_massimo non_più_di fino_a massimo tetto hoogstens maximaal niet_meer_dan plafond no_máximo não_mais_de até teto najwyżej nie_więcej_niż maksymalnie do_wysokości"),
    ("untaxed", "vat_is_not tax_is_not without_vat without_tax net netto* hors_taxes hors_tva ht sin_iva sin_impuestos al_netto senza_iva zonder_btw exclusief_btw sem_iva bez_vat vat_nie netto mehrwertsteuer_ist_nicht umsatzsteuer_ist_nicht ohne_umsatzsteuer ohne_mehrwertsteuer tva_n'est btw_is_niet iva_no iva_non iva_não"),
    ("deducted", "deduct* recover* reclaim* vorsteuer* abzugsfähig* abziehen abzieht récupér* déduct* déduire dédui* deducir deduc* recuper* detra* aftrek* verreken* deduz* odlicz*"),
    ("no", "not no cannot never nicht kein keine nie ne pas non no nunca mai niet geen nooit não nie"),
)
# fmt: on
_LEXICON = Lexicon(_WORDS)
FEWEST = 1e4
"""Smallest amount that is read as the money of a purchase."""
_SHARE, _MONEY = MEASURES["share"], MEASURES["money"]


class Funds(NamedTuple):
    """What a grant and own funds pay together, the price that they have to pay, and how it follows."""

    paid: float
    price: float
    how: str


class _Grant(NamedTuple):
    share: float
    cap: float
    own: float
    without_tax: bool
    """Whether taxes are no eligible cost."""
    taxed: bool
    """Whether the buyer cannot deduct them."""


def funds_for(text: str, total: float, tax: float) -> Funds | None:
    """What a grant, a share of eligible costs up to its cap, and own funds pay of a total that includes a share of ``tax``; None unless
    the text states the share and the own funds.

    >>> text = "The fund refunds 70 % of eligible costs, but at most 9,000,000 EUR; VAT is not eligible, and we cannot deduct it. Own funds of 6,000,000 EUR are voted."
    >>> funds_for(text, 14_760_000.0, 0.23)
    Funds(paid=14400000.0, price=14760000.0, how='70 % of 12,000,000 are 8,400,000 of the grant, with 6,000,000 of own funds')
    """
    grant = _grant_in(text)
    if grant is None:
        return None
    base = total / (1 + tax) if grant.without_tax else total
    granted = grant.share * base
    how = f"{grant.share * 100:g} % of {base:,.0f} are {granted:,.0f}"
    if grant.cap and granted > grant.cap:
        granted, how = grant.cap, f"the grant ends at {grant.cap:,.0f}"
    price = base if grant.without_tax and not grant.taxed else total
    return Funds(granted + grant.own, price, f"{how} of the grant, with {grant.own:,.0f} of own funds")


def _grant_in(text: str) -> _Grant | None:
    """The grant and the own funds of a text; None unless it states one share and one amount of own funds."""
    shares: set[float] = set()
    caps, own, without_tax, taxed = set[float](), set[float](), False, False
    for sentence in plain_sentences(text):
        meanings = _LEXICON.meanings(sentence)
        if not meanings or words_of_another(sentence):
            continue
        without_tax |= "untaxed" in meanings
        taxed |= {"deducted", "no"} <= meanings
        figures = demand_figures(sentence)
        if {"grant", "eligible"} <= meanings:
            shares |= {each.value for each in figures if each.powers in _SHARE and 0.05 < each.value < 1}
            caps |= {each.value for each in figures if _is_money(each) and "cap" in meanings}
        elif "own" in meanings:
            own |= {each.value for each in figures if _is_money(each)}
    if len(shares) != 1 or len(own) != 1 or len(caps) > 1:
        return None
    return _Grant(shares.pop(), caps.pop() if caps else 0.0, own.pop(), without_tax, taxed)


def _is_money(figure: DemandFigure) -> bool:
    return figure.powers in _MONEY and figure.value >= FEWEST


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
