"""The machine is needed for longer than its provider lends it in one piece.

## What it finds

The description or a comment takes one offer of a cloud for a time that it does not last: one EC2 Capacity Block for more
than 182 days, a reservation of Google Cloud in calendar mode for more than 90 days, a Flex-start instance for more than seven
days. The time is the one in the sentence or, where the sentence has none and says that one offer covers everything, the
stated `term`. The limits are a table of the catalog, `catalog/longest-offers.csv`, each with its source.

## Why it matters

At the end of the offer the instances are stopped or deleted. A run that is not finished needs a second offer, which may
start weeks later, in another zone, at another price, or not at all.

## What to do

Plan a second offer with a checkpoint between the two, take a form without such a limit (a reservation with a
commitment), or shorten the run.

## When to ignore it

Ignore it where the provider has promised the longer time in writing.

## Fires

```yaml description
clusterspec: 1
description: The pretraining takes 30 weeks on a single EC2 Capacity Block, so that the nodes never change.
cluster: {platform: aws-p5-48xlarge, nodes: 16}
```

## Silent

```yaml
clusterspec: 1
description: The pretraining takes 30 weeks. As a Capacity Block lasts half a year at most, two are booked back to back.
cluster: {platform: aws-p5-48xlarge, nodes: 16}
```

## Sources

- Capacity Blocks: https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/capacity-blocks-extend.html
- Calendar mode: https://docs.cloud.google.com/tpu/docs/calendar-mode-reservation
- Flex-start: https://cloud.google.com/compute/docs/instances/about-flex-start-vms
"""

from __future__ import annotations

from collections.abc import Iterator

from clusterspec.catalog.cloud_terms import LongestOffer, longest_offers
from clusterspec.catalog.entries import Platform
from clusterspec.finding import Problem
from clusterspec.quantity import DAY, Quantity
from clusterspec.rules.readers.quantities import SECOND, TextQuantity, plain_sentences, sentence_quantities
from clusterspec.rules.readers.windows import is_certain, long_times
from clusterspec.rules.rule import Rule
from clusterspec.spec.model import ProcurementSpec
from clusterspec.standard import pattern

RULE = Rule.of(__name__, "error", "likely")
_IN_PIECES = pattern(
    r"\b(?:not|cannot|can['’]t|refus\w*|several|second|third|further|back[- ]to[- ]back|end to end|extend\w*|extension\w*|renew\w*|instead|on[- ]demand|each|every|restart\w*|requeue\w*|pieces?|"
    r"parts?|cut|split|in turn|one after|at most|maximum|up to|limit\w*|nicht|mehrere|jede[rsnm]?|nacheinander|höchstens|statt|ne|pas|plusieurs|chaque|au plus|varios|cada|máximo)\b"
    r"|\b(?:two|three|four|[2-9]|zwei|drei|deux|trois|dos|tres) (?:\w+ )?(?:blocks?|blöcke|blocs|bloques|reserv\w+|are|of them|davon)\b"
)
"""Pattern of words in a sentence that divides the time, or denies the offer."""
_WHOLE = pattern(
    r"\b(?:single|whole|entire|complete|all of|throughout|the (?:full )?term|gesamte[nrs]?|ganze[nrs]?|einzige[nrs]?|toute?|entière?|unique|toda|todo|entero|única|único)\b"
)
"""Pattern of words for one offer that covers the whole time."""


def check(own_remarks: str, platform: Platform | None, procurement: ProcurementSpec | None) -> Iterator[Problem]:
    if not own_remarks:
        return
    text = " ".join(own_remarks.replace("#", " ").split())
    term = procurement.term if procurement is not None else None
    for offer in _offers_in(text.lower(), platform):
        for sentence in plain_sentences(text):
            if not any(name in sentence.lower() for name in _singular_names(offer, sentence.lower())):
                continue
            if (written := _longer_time(sentence, offer, term)) and _IN_PIECES.search(sentence.lower()) is None:
                message = f"{offer.name} lasts {offer.days} days at most, but the plan counts on {written}"
                yield RULE.problem("description", message, "plan a second one, or take capacity without such a limit")
                return


def _offers_in(text: str, platform: Platform | None) -> list[LongestOffer]:
    """The offers that a lower-case text names and that the platform's provider has; those of all if it is unknown."""
    provider = platform.id.partition("-")[0] if platform is not None else ""
    named = [each for each in longest_offers() if any(name in text for name in each.names)]
    return [each for each in named if platform is None or not platform.cloud or each.provider == provider]


def _singular_names(offer: LongestOffer, sentence: str) -> list[str]:
    """The names of an offer in a lower-case sentence that stand for one: `capacity block` in no `capacity blocks`."""
    return [name for name in offer.names if f"{name}s" not in sentence]


def _longer_time(sentence: str, offer: LongestOffer, term: Quantity | None) -> str:
    """The time, as written, for which a sentence takes an offer that does not last as long; empty if there is none."""
    limit = float(offer.days) * DAY
    times = [each for each in _times_in(sentence) if each.value >= DAY]
    if any(each.value <= limit for each in times):
        return ""
    for each in times:
        if is_certain(sentence, each):
            return each.words
    if times or term is None or term.value <= limit or _WHOLE.search(sentence.lower()) is None:
        return ""
    return f"a term of {term.written}"


def _times_in(sentence: str) -> list[TextQuantity]:
    """The times of a sentence, months and years included."""
    read = [each for _, found in sentence_quantities(sentence) for each in found if each.unit == SECOND]
    return [*read, *long_times(sentence)]
