"""A total in the description is not the number of its parts times the amount of each.

## What it finds

An amount for each part (`4.2 M tokens per step`, `1,100 tokens each`, `4.1 bytes per token`, `9,000 tokens/s per GPU`), the
number of these parts, and a total of the same unit in one sentence that is not their product.

## Why it matters

Budgets, schedules and stores rest on such totals, and readers copy them.

## What to do

Compute it again.

## When to ignore it

Ignore it where the total holds other parts, too.

## Fires

```yaml description
clusterspec: 1
description: 2 T tokens at 4.2 M tokens per step take 238,000 steps.
cluster: {platform: dgx-h100, nodes: 4}
```

## Silent

```yaml
clusterspec: 1
description: 2 T tokens at 4.2 M tokens per step take 476,000 steps.
cluster: {platform: dgx-h100, nodes: 4}
```

## Sources

- Arithmetic: the number of parts times the amount of each.
"""

from __future__ import annotations

from collections.abc import Iterator

from clusterspec.cluster.model import Cluster
from clusterspec.finding import Problem
from clusterspec.rules.knowledge.text_quantities import (
    ACCELERATOR,
    BARE,
    BYTE,
    NODE,
    SEQUENCE,
    STEP,
    TOKEN,
    TOKEN_PER_SECOND,
    TextQuantity,
    is_own,
    sentence_quantities,
)
from clusterspec.rules.knowledge.text_units import word_set
from clusterspec.rules.knowledge.written_numbers import has_unit
from clusterspec.rules.rule import Rule
from clusterspec.spec.model import Spec
from clusterspec.standard import pattern
from clusterspec.units import display, plain

RULE = Rule.of(__name__, "error", "likely")
_CUES = (" per ", " a ", " each", " pro ", " par ", " por ", "/")
_AMOUNTS = word_set("kb mb gb tb pb kib mib gib tib pib token tokens bytes jeton jetons")
"""Bytes or tokens, whose totals are compared."""
_PER = pattern(
    r"(?i)^ ?(?:/|(?:per|a|an|each|for each|for every|in each|pro|par|por|in) )(?:optimizer |training |unique )?"
    r"(?P<part>step|token|word|document|doc|page|sequence|sample|example|image|file|gpu|accelerator|chip|node|server|schritt|étape|paso|wort|dokument)s?\b"
)
"""What stands after the amount of one part."""
_PARTS = {
    "step": STEP, "schritt": STEP, "étape": STEP, "paso": STEP, "token": TOKEN, "sequence": SEQUENCE,
    "gpu": ACCELERATOR, "accelerator": ACCELERATOR, "chip": ACCELERATOR, "node": NODE, "server": NODE,
}  # fmt: skip
_OTHER_PARTS = {
    "word": ("words", "wörter"), "wort": ("words", "wörter"), "document": ("documents", "docs", "articles"),
    "doc": ("documents", "docs"), "dokument": ("dokumente", "dokumenten"), "page": ("pages",), "sample": ("samples",),
    "example": ("examples",), "image": ("images",), "file": ("files",),
}  # fmt: skip
"""The nouns of parts that have no unit of their own."""
_EACH = pattern(r"^ (?:each|apiece|on average|on average|im Mittel|en moyenne|de media)\b")
_OF = (" of ", " with ", " à ", " mit ", " de ")
_TOTALS = pattern(
    r"(?i)(?:[=≈:]|\b(?:are|is|gives?|makes?(?: up)?|takes?|needs?|total(?:s|ing)? ?(?:of)?|so|or|sum to|yields?|sind|ergeben|ergibt|sont|donnent|font|soit|son|dan|hacen))"
    r" ?(?:the |all |about |roughly |some |a total of |together )*$"
)
_BEHIND_TOTAL = pattern(r"(?i)^ (?:in total|in all|altogether|together|insgesamt|au total|en total)\b")
_PARTLY = pattern(
    r"(?i)\b(?:up to|at most|at least|of which|more than|less than|extra|also|remaining|another|first|last|evaluat\w*|validat\w*|batch(?:es)? of|generat\w*|output|prompt\w*)\b"
)
CLOSE, ROUGH = 0.06, 0.12
"""Relative differences that rounding explains, and with words such as `about`."""
_ROUGH = pattern(r"(?i)[≈~]|\b(?:about|roughly|some|average|mean|nearly|circa|etwa|environ|unos)\b")


def check(own_remarks: str, spec: Spec, cluster: Cluster | None) -> Iterator[Problem]:
    if not own_remarks or spec.pools or spec.jobs:
        return
    if not any(cue in own_remarks for cue in _CUES) or not has_unit(own_remarks, _AMOUNTS):
        return
    for sentence, quantities in sentence_quantities(own_remarks):
        if len(quantities) > 1:
            problem = next(_total_problems(sentence, quantities, cluster), None)
            other = problem is None or _PARTLY.search(sentence) is not None
            if problem is not None and not other and not _is_calculation(sentence, own_remarks):
                yield problem
                return


def _is_calculation(sentence: str, text: str) -> bool:
    """Whether a sentence of a text writes out a calculation with its signs, which `arithmetic-does-not-close` reports."""
    from clusterspec.rules.knowledge.text_equations import has_wrong_equation  # needed for a problem only

    return has_wrong_equation(sentence, text)


def _total_problems(sentence: str, quantities: tuple[TextQuantity, ...], cluster: Cluster | None) -> Iterator[Problem]:
    for each in quantities:
        if each.unit not in (TOKEN, BYTE, TOKEN_PER_SECOND) or not each.value or not is_own(sentence, each):
            continue
        counts, part = _number_of_parts(sentence, quantities, each, cluster)
        totals = [other for other in quantities if other is not each and other.unit == each.unit and other is not part]
        if len(counts) != 1 or len(totals) != 1 or totals[0].value <= each.value or not counts[0]:
            continue
        total, count = totals[0], counts[0]
        named = (total, part) if part is not None else (total,)
        if not any(_is_total(sentence, other) for other in named):
            continue
        right = count * each.value
        rounded = sum(one.step / one.value / 2 for one in (each, total) if one.value)
        close = max(ROUGH if _ROUGH.search(sentence) is not None else CLOSE, rounded)
        if abs(total.value / right - 1) > close and abs(right / total.value - 1) > close:
            message = f"{plain(count, 6) if count < 10_000 else display(count, '1')} times {each.words} are {display(right, each.unit if each.unit == BYTE else '1')}, not `{total.words}`"
            yield RULE.problem("description", message, "compute it again")


def _is_total(sentence: str, quantity: TextQuantity) -> bool:
    """Whether a text calls a quantity the result of the others of its sentence."""
    return (
        _TOTALS.search(sentence[: quantity.start]) is not None
        or _BEHIND_TOTAL.match(sentence[quantity.end :]) is not None
    )


def _number_of_parts(
    sentence: str, quantities: tuple[TextQuantity, ...], amount: TextQuantity, cluster: Cluster | None
) -> tuple[list[float], TextQuantity | None]:
    """The numbers of parts in a sentence for which an amount is stated, and the quantity that is one of them."""
    behind = sentence[amount.end :]
    match = _PER.match(behind)
    if match is not None:
        part = match["part"].lower()
        if part in _PARTS:
            found = [each for each in quantities if each is not amount and each.unit == _PARTS[part]]
            if not found and _PARTS[part] == ACCELERATOR and cluster is not None:
                return [float(cluster.accelerators)], None
            return [each.value for each in found], found[0] if found else None
        nouns = _OTHER_PARTS[part]
        found = [each for each in quantities if each.unit == BARE and _is_followed_by(sentence[each.end :], nouns)]
        return [each.value for each in found], found[0] if found else None
    if _EACH.match(behind) is None:
        return [], None
    before = [each for each in quantities if each.end <= amount.start and each.unit in (BARE, STEP, SEQUENCE)]
    joint = sentence[before[-1].end : amount.start] if before else ""
    joined = before and any(each in joint for each in _OF)
    return ([before[-1].value], before[-1]) if joined and len(joint) < 40 else ([], None)


def _is_followed_by(behind: str, nouns: tuple[str, ...]) -> bool:
    """Whether one of the two words after a number is among the given nouns."""
    return any(word.strip(",.;:()").lower() in nouns for word in behind[:40].split()[:2])
