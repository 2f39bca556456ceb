"""The plan counts on canceling a purchase that its provider does not take back.

## What it finds

The description or a comment cancels, returns or gets a refund for a reservation or commitment of a cloud, which the
provider does not allow: an EC2 Capacity Block or a future-dated Capacity Reservation, a committed use discount of
Google Cloud, an Azure savings plan; an AWS Savings Plan later than seven days after the purchase, or of more than 100
dollars an hour; an Azure Reservation of more than 50,000 dollars. The terms are a table of the catalog,
`catalog/purchase-terms.csv`, each with its source.

## Why it matters

A discount for a long or reserved term is paid with the right to cancel. If the project is late, the whole amount is lost, or is due
month by month to the end of the term.

## What to do

Buy when the conditions are met, take a form that can be canceled (on demand, or a reservation without a commitment), or put
the loss into the risk of the plan.

## When to ignore it

Ignore it where a contract with the provider allows it.

## Fires

```yaml description
clusterspec: 1
description: An EC2 Capacity Block for 28 days. If the data are late, we cancel the block 48 hours before its start and get a full refund.
cluster: {platform: aws-p5-48xlarge, nodes: 16}
```

## Silent

```yaml
clusterspec: 1
description: An EC2 Capacity Block for 28 days. The block cannot be canceled, so that it is bought when the data are there.
cluster: {platform: aws-p5-48xlarge, nodes: 16}
```

## Sources

- Capacity Blocks and future-dated reservations: https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/capacity-reservations-release.html
- Returns of AWS Savings Plans: https://docs.aws.amazon.com/savingsplans/latest/userguide/return-sp.html
- Committed use discounts: https://cloud.google.com/compute/docs/instances/signing-up-committed-use-discounts
- Azure Reservations: https://learn.microsoft.com/en-us/azure/cost-management-billing/reservations/exchange-and-refund-azure-reservations
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise

from clusterspec.catalog.cloud_terms import PurchaseTerms, purchase_terms
from clusterspec.catalog.entries import Platform
from clusterspec.cluster.model import Cluster
from clusterspec.finding import Problem
from clusterspec.quantity import DAY, HOUR
from clusterspec.rules.readers.clauses import clause_bounds
from clusterspec.rules.readers.quantities import SECOND, sentence_quantities
from clusterspec.rules.readers.written_numbers import sentences_of
from clusterspec.rules.rule import Rule
from clusterspec.spec.model import ProcurementSpec
from clusterspec.standard import pattern

RULE = Rule.of(__name__, "error", "likely")
_CANCELS = pattern(
    r"\b(?:cancel\w*|refund\w*|credited|full credit|money (?:back|returned)|paid back|(?:gives?|giving|given|hands?|handed|handing|sends?|sent) (?:it |them |this |(?:the|our) (?:\w+ ){1,3})?back|returned|returns? (?:it|them|the)|"
    r"(?:back|opt|get|gets|getting) out\b(?: of)?|walk away|called? off|drop (?:it|them|the \w+)|released? (?:early|it|them|before)|terminat\w* (?:it |the \w+ )?(?:early|before)|shorten\w*|"
    r"stornier\w*|storn\w+|kündig\w*|gekündigt|zurückgegeben|zurückgeben|rückerstatt\w*|erstatt\w*|geld zurück|zurückgezahlt|gutgeschrieben|annul\w*|résili\w*|rembours\w*|rendu\w*|restitu\w*|cancela\w*|anula\w*|reembols\w*|devolv\w*)\b"
)
_NOT = pattern(
    r"\b(?:not(?! (?:need|ready|required|there|finished|available|in time|used|complete|done|here|arrive))|cannot|can['’]t|never|no (?!cost|charge|fee|loss|penalty|later)|neither|nor|non-?\w*|forfeit\w*|lost|binding|nicht(?! (?:rechtzeitig|fertig|da|bereit|gebraucht|vorliegen))|kein\w*|nie|verfällt|verloren|pas|aucun\w*|ne|perdu\w*|ninguna?|nunca|perdid\w*|pierde\w*)\b"
    r"|\bwithout (?!pay|cost|charge|fee|penalty|loss)|\b(?:ohne|sans|sin) (?!kosten|gebühr|frais|coût|pénalité|perte|coste)"
)
"""Pattern of words that say that a purchase is not taken back."""
_OTHER = pattern(r"\b(?:on[- ]demand|spot|instead|unlike|in contrast|would|à la demande|statt)\b")
"""Pattern of words for another purchase, or for a purchase that is not made."""
_PRONOUN = pattern(r"\b(?:it|they|them|this|er|sie|es|ihn|il|elle|elles|ils|(?:back|opt|get|getting) out|walk away)\b")
_PURCHASED = pattern(
    r"\b(?:after|of|from|since|nach|ab|après|tras|desde) (?:the |its |der |dem |l['’]|la )?(?:purchase|purchasing|buying|booking|kauf|buchung|achat|compra)\b"
)
_WORDS_OF = {
    "block": ("block", "blocks", "bloc", "bloque"),
    "reservation": ("reservation", "reservations", "reservierung", "réservation", "reserva"),
    "capacity": ("capacity", "kapazität", "capacité", "capacidad"),
    "plan": ("plan", "plans"),
    "commitment": ("commitment", "commitments", "verpflichtung", "zusage", "engagement", "compromiso"),
    "contract": ("contract", "contracts", "vertrag", "contrat", "contrato"),
    "instance": ("instance", "instances", "instanzen", "instancias"),
}
"""For each noun for a purchase, its forms in several languages."""
_CUES = (
    "cancel", "refund", "credit", "back", "return", "terminat", "shorten", "storn", "kündig", "erstatt", "zurück", "annul", "résili",
    "rembours", "anula", "reembols", "devolv", "gutgeschrieben", "rendu", "restitu", "out", "walk", "call", "drop", "release",
)  # fmt: skip
"""Lowercase words for cancellation; a text about one has at least one of them."""


def check(
    own_remarks: str, platform: Platform | None, cluster: Cluster | None, procurement: ProcurementSpec | None
) -> Iterator[Problem]:
    text = " ".join(own_remarks.replace("#", " ").split()).lower()
    if not any(cue in text for cue in _CUES):
        return
    parts = " ".join(line.part or "" for line in procurement.quote or ()).lower() if procurement is not None else ""
    terms = [each for each in purchase_terms() if _is_bought(each, f"{text} {parts}", platform)]
    for before, sentence in pairwise(["", *sentences_of(text)]):
        if _OTHER.search(sentence) is not None or not _is_canceled(sentence):
            continue
        for each in terms:
            named = _is_about_purchase(each, sentence, terms) or (
                _PRONOUN.search(sentence) is not None and _is_about_purchase(each, before, terms)
            )
            why = _refusal(each, sentence, cluster, procurement) if named else ""
            if why:
                message = f"the text cancels a purchase, but {each.name} {why}"
                help_ = "buy when the conditions are met, or take a form that can be canceled"
                yield RULE.problem("description", message, help_)
                return


def _is_canceled(sentence: str) -> bool:
    """Whether a clause of a sentence cancels something without a negation.

    >>> _is_canceled("if the data are not ready, we cancel the block"), _is_canceled("it can neither be cancelled nor moved")
    (True, False)
    """
    for match in _CANCELS.finditer(sentence):
        start, end = clause_bounds(sentence, *match.span())
        if _NOT.search(sentence, start, end) is None:
            return True
    return False


def _is_bought(terms: PurchaseTerms, text: str, platform: Platform | None) -> bool:
    """Whether a text names a purchase that the platform's provider sells; also if the provider is unknown."""
    provider = platform.id.partition("-")[0] if platform is not None else ""
    other = provider in {each.provider for each in purchase_terms()} - {terms.provider}
    return not other and any(name in text for name in terms.names)


def _is_about_purchase(terms: PurchaseTerms, sentence: str, bought: Sequence[PurchaseTerms]) -> bool:
    """Whether a sentence is about a purchase: by its name, or by a noun for it if the text names no other."""
    if any(name in sentence for name in terms.names):
        return True
    words = {form for noun in terms.nouns for form in _WORDS_OF.get(noun, (noun,))}
    return len(bought) == 1 and not words.isdisjoint(sentence.replace(",", " ").split())


def _refusal(terms: PurchaseTerms, sentence: str, cluster: Cluster | None, procurement: ProcurementSpec | None) -> str:
    """The reason why a provider does not take a purchase back; empty if it may."""
    if terms.cancels == "never":
        return "cannot be canceled once bought"
    hourly = _dollars_an_hour(cluster, procurement)
    dollars = float(terms.dollars)
    if terms.cancels == "window":
        times = [each.value for _, found in sentence_quantities(sentence) for each in found if each.unit == SECOND]
        if hourly > dollars:
            return f"can be returned up to {dollars:,.0f} dollars an hour, but the nodes cost {hourly:,.0f}"
        late = times and min(times) > float(terms.days) * DAY and _PURCHASED.search(sentence) is not None
        return f"can be returned within {terms.days} days of the purchase only" if late else ""
    term = (procurement.commitment or procurement.term) if procurement is not None else None
    whole = hourly * term.value / HOUR if term is not None else 0.0
    return (
        f"can be canceled up to {dollars:,.0f} dollars in twelve months, but this one is {whole:,.0f}"
        if whole > dollars
        else ""
    )


def _dollars_an_hour(cluster: Cluster | None, procurement: ProcurementSpec | None) -> float:
    """Price of all nodes per hour in US dollars, at the lowest stated price; 0 if unknown."""
    prices = procurement.prices if procurement is not None and procurement.currency == "USD" else None
    price = (prices or {}).get("node_hour")
    least = price[0] if isinstance(price, tuple) else price
    return float(least) * cluster.all_nodes if least is not None and cluster is not None else 0.0
