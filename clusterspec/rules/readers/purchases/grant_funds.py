"""What a grant and own funds pay of a purchase, as a text states them."""

from __future__ import annotations

from clusterspec.records import NamedTuple
from clusterspec.rules.readers.demands.energies import DemandFigure
from clusterspec.rules.readers.demands.figures import MEASURES, demand_figures
from clusterspec.rules.readers.demands.sentences import plain_sentences
from clusterspec.rules.readers.doubt import words_of_another
from clusterspec.rules.readers.lexicon import Lexicon

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
