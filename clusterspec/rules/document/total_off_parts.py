"""A total in the description is not the number of its parts times the amount of each.

## What it finds

An amount for each part (`4.2 M tokens per step`, `1,100 tokens each`, `4.1 bytes per token`, `9,000 tokens/s per GPU`), the
number of these parts, and a total of the same unit in one sentence that is not their product. The steps of a run, the tokens
of each and those of the run are read in up to three sentences, in any order, without those about another institute or partner.

Also a whole whose listed parts do not sum to it: `of the 64 GPUs 48 belong to physics, 12 to chemistry and 8 to teaching`, and shares
by origin that sum to more than 100 %.

In a text with more than 15 figures the finding is a note, unless a known mistake explains the difference: a power of ten,
a factor of two, bits for bytes, or one digit.

## Why it matters

Budgets, schedules and storage plans rest on such totals, and readers copy them.

## What to do

Compute the total again.

## When to ignore it

Ignore it where the total includes other parts.

## Fires

```yaml description
clusterspec: 1
description: 2 T tokens at 4.2 M tokens per step take 238,000 steps.
cluster: {platform: dgx-h100, nodes: 4}
```

```yaml description
clusterspec: 1
description: Of the 64 GPUs, 48 belong to physics, 12 to chemistry and 8 to the teaching lab.
cluster: {platform: dgx-h100, nodes: 8}
```

## Silent

```yaml
clusterspec: 1
description: Of the 64 GPUs, 40 belong to physics, 16 to chemistry and 8 to the teaching lab.
cluster: {platform: dgx-h100, nodes: 8}
```

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
from clusterspec.rules.readers.clauses import clause_at
from clusterspec.rules.readers.dimensions import LENGTHS_AHEAD
from clusterspec.rules.readers.doubt import confidence_in
from clusterspec.rules.readers.loads import MOST_CHARACTERS
from clusterspec.rules.readers.passages import passages_of
from clusterspec.rules.readers.quantities import (
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
from clusterspec.rules.readers.results.explanations import Claim, is_explained, quantities_of
from clusterspec.rules.readers.units import word_set
from clusterspec.rules.readers.written_numbers import has_unit
from clusterspec.rules.rule import Rule
from clusterspec.spec.model import Spec
from clusterspec.standard import pattern
from clusterspec.units import display, plain

RULE = Rule.of(__name__, "error", "likely")
_CUES = ("tep", "chritt", " pas", " per ", " a ", " each", " pro ", " par ", " por ", "/")
_LISTS = (
    "consist",
    "split",
    "made up",
    "break",
    "divid",
    "distribut",
    "shared",
    "allotted",
    "compos",
    "verteil",
    "aufgeteilt",
    "setz",
    "besteh",
    "glieder",
    "teil",
    "répart",
    "décomp",
    "repart",
    "ripart",
    "suddiv",
    "scomp",
    "compõe",
    "verdeeld",
    "bestaa",
    "valt",
    "of the",
    "of our",
    "von den",
    "des ",
    "sur les",
    "de los",
    "de las",
    "dei ",
    "delle ",
    "van de",
    "dos ",
    "das ",
    "%",
)
"""Parts of words of a text that lists the parts of a whole."""
_AMOUNTS = word_set("kb mb gb tb pb kib mib gib tib pib token tokens bytes jeton jetons")
"""Units of bytes and tokens, whose totals are compared."""
_PER = pattern(
    r"(?i)^ ?(?:/|(?:per|a|an|each|for each|for every|in each|pro|par|por|in) )(?:optimizer |training |unique )?"
    r"(?P<part>step|token|word|document|doc|page|sequence|sample|example|image|file|gpu|accelerator|chip|node|server|schritt|étape|paso|wort|dokument)s?\b"
)
"""Pattern of the words that follow an amount per part."""
_PARTS = {
    "step": STEP, "schritt": STEP, "étape": STEP, "paso": STEP, "token": TOKEN, "sequence": SEQUENCE,
    "gpu": ACCELERATOR, "accelerator": ACCELERATOR, "chip": ACCELERATOR, "node": NODE, "server": NODE,
}  # fmt: skip
_OTHER_PARTS = {
    "word": ("words", "wörter"), "wort": ("words", "wörter"), "document": ("documents", "docs", "articles"),
    "doc": ("documents", "docs"), "dokument": ("dokumente", "dokumenten"), "page": ("pages",), "sample": ("samples",),
    "example": ("examples",), "image": ("images",), "file": ("files",),
}  # fmt: skip
"""Nouns for parts that are not units of the reader, by the noun in the singular."""
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
"""Relative differences that rounding explains: usually `CLOSE`, and `ROUGH` with words such as `about`."""
_ROUGH = pattern(r"(?i)[≈~]|\b(?:about|roughly|some|average|mean|nearly|circa|etwa|environ|unos)\b")


def check(own_remarks: str, spec: Spec, cluster: Cluster | None) -> Iterator[Problem]:
    if not own_remarks or spec.pools or spec.jobs:
        return
    folded = own_remarks.lower()
    if any(cue in folded for cue in _LISTS):
        from clusterspec.rules.readers.results.lists import wrong_wholes  # for texts that list parts alone

        for each in wrong_wholes(own_remarks[:MOST_CHARACTERS]):
            message = f"the {each.parts} parts sum to {each.total}, not to `{each.whole}`"
            yield RULE.problem("description", message, "compute it again", confidence="certain")
            return
    if not any(cue in own_remarks for cue in _CUES) or not has_unit(own_remarks, _AMOUNTS):
        return
    for sentence, quantities in sentence_quantities(own_remarks):
        if len(quantities) > 1:
            problem = next(_total_problems(sentence, own_remarks, quantities, spec, cluster), None)
            other = problem is None or _PARTLY.search(sentence) is not None
            if problem is not None and not other and not _is_calculation(sentence, own_remarks):
                yield problem
                return
    for passage in passages_of(own_remarks[:MOST_CHARACTERS], MOST_SENTENCES):
        problem = _steps_problem(passage) if any(cue in passage for cue in _CUES[:3]) else None
        if problem is not None and not _is_calculation(passage, own_remarks):
            yield problem
            return


MOST_SENTENCES = 3
"""Largest number of sentences whose figures are read together as figures of one run."""


def _steps_problem(passage: str) -> Problem | None:
    """The problem of the steps, the tokens per step and the tokens of a run in a passage, in any order, if they
    contradict each other.

    >>> _steps_problem("Steps of 3.1 M tokens; the 1.5 T of the run are thus 384,000 steps.").message
    '384,000 steps of 3.1 M tokens are 1.19T, not `1.5 T`'
    """
    from clusterspec.rules.readers.other_parties import words_of_party  # most texts state no steps

    passage = ". ".join(each for each in passage.split(". ") if not words_of_party(each))
    if _OF_OTHER_STEPS.search(passage) is not None:
        return None
    quantities = [each for _, found in sentence_quantities(passage.replace(". ", ", ")) for each in found]
    text = " ".join(passage.replace(". ", ", ").split())
    tokens = {
        each.value: each
        for each in quantities
        if each.unit == TOKEN or (each.unit == BARE and each.words.endswith(_TRILLION))
    }
    steps = {each.value: each for each in quantities if each.unit == STEP and not _is_interval(text, each)}
    if len(tokens) != 2 or len(steps) != 1:
        return None
    (small, large), (count,) = (tokens[value] for value in sorted(tokens)), steps.values()
    if large.value < LEAST_RUN or small.value < LEAST_STEP or not count.value or not _is_of_step(text, small):
        return None
    right = count.value * small.value
    rounded = min(MOST_ROUNDED, sum(one.step / one.value / 2 for one in (small, large, count)))
    close = max(ROUGH if _ROUGH.search(passage) is not None else CLOSE, rounded)
    if abs(large.value / right - 1) <= close or abs(right / large.value - 1) <= close:
        return None
    return _problem(f"{count.words} of {small.words}", display(right, "1"), large.words)


def _problem(parts: str, right: str, stated: str) -> Problem:
    message = f"{parts} are {right}, not `{stated}`"
    return RULE.problem("description", message, "compute it again", confidence=confidence_in(stated, right))


_TRILLION = ("T", "trillion", "Billionen", "billones")
"""Endings of a number that counts tokens without the word `tokens`."""
MOST_ROUNDED = 0.12
"""Largest relative difference that the rounding of the figures may explain."""
LEAST_RUN, LEAST_STEP = 1e9, 1e4
"""Smallest numbers of tokens that count as the tokens of a run and of a step."""
_OF_STEP_BEHIND = pattern(
    r"(?i)^,? ?(?:(?:/|(?:per|a|each|every|(?:go(?:es)? |fit )?(?:in|into) (?:a|each|every|one)|make (?:up )?(?:a|one)|pro|je|par|à chaque|por|cada) )(?:optimizer |training )?(?:step|batch|iteration|update|schritt|pas|étape|paso)|each\b|apiece|chacun|je\b)"
)
_OF_STEP_AHEAD = pattern(
    r"(?i)\b(?:steps? of|steps? ?[x×*]|schritten? (?:von|mit|zu)|pas de|étapes? de|pasos de|(?:a|one|each|every|per|je|ein|jeder|pro|chaque|un|cada) (?:optimizer |training )?(?:step|batch|iteration|update|schritt|pas|étape|paso)\b[^.;,\d]{0,32}|(?:global )?batch(?: size)?(?: of| is|:)?) ?$"
)
"""Pattern of words before a number of tokens that make it the number per step."""
_INTERVAL = pattern(
    r"(?i)\b(?:every|each|all|alle|toutes? les|tous les|cada|first|last|after|warm-?up|of|for the|nach|après|until) (?:the )?$"
)
_OF_OTHER_STEPS = pattern(
    r"(?i)\b(?:ours|their|theirs|saw|other|paper|reference|second|phases?|stages?|anneal\w*|so far|until|already|warm-?up|decay|cooldown|previous|earlier|resum\w*|mid-?training|would|could|not|up to|at most|at least|of which|more than|less than|extra|remaining|another|evaluat\w*|validat\w*|instead|than|steps? per second|ramp\w*|rises?|grows?|increas\w+|epochs?)\b"
)
"""Pattern of words that refer steps to another run or to a part of this one."""


def _is_interval(text: str, steps: TextQuantity) -> bool:
    """Whether steps are an interval or a part of a run, as in `every 2,000 steps`; steps after which all tokens are
    read are neither.
    """
    match = _INTERVAL.search(text[: steps.start])
    ends = (
        match is not None
        and match[0].lower().startswith(_AFTER)
        and _TOTAL_READ.search(clause_at(text, steps.start, steps.end))
    )
    return match is not None and not ends


_AFTER = ("after", "nach", "après")
_TOTAL_READ = pattern(r"\d ?(?:T|trillion|Billionen|B|billion)\b")


def _is_of_step(text: str, tokens: TextQuantity) -> bool:
    """Whether the words around a number of tokens make it the number per step."""
    ahead, behind = text[: tokens.start], text[tokens.end :]
    return _OF_STEP_BEHIND.match(behind) is not None or _OF_STEP_AHEAD.search(ahead) is not None


def _is_calculation(sentence: str, text: str) -> bool:
    """Whether a sentence has a wrong calculation written out with its signs; `arithmetic-does-not-close` reports it."""
    from clusterspec.rules.readers.results.equations import has_wrong_equation  # needed for a problem only

    return has_wrong_equation(sentence, text)


def _total_problems(
    sentence: str, text: str, quantities: tuple[TextQuantity, ...], spec: Spec, cluster: Cluster | None
) -> Iterator[Problem]:
    sizes = (cluster.nodes, cluster.accelerators, cluster.accelerators_per_node) if cluster is not None else ()
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
            parts = f"{plain(count, 6) if count < 10_000 else display(count, '1')} times {each.words}"
            claim = Claim(total.words, display(right, each.unit if each.unit == BYTE else "1"), parts)
            if not is_explained(claim, text[:MOST_CHARACTERS], sizes, [*quantities_of(spec)]):
                yield _problem(parts, claim.right, claim.stated)


def _is_total(sentence: str, quantity: TextQuantity) -> bool:
    """Whether a text calls a quantity the total of the other quantities in its sentence."""
    return (
        _TOTALS.search(sentence[: quantity.start]) is not None
        or _BEHIND_TOTAL.match(sentence[quantity.end :]) is not None
    )


def _number_of_parts(
    sentence: str, quantities: tuple[TextQuantity, ...], amount: TextQuantity, cluster: Cluster | None
) -> tuple[list[float], TextQuantity | None]:
    """The numbers in a sentence that count the parts of a stated amount, and the quantity among them; the quantity is
    None if the cluster gives the number.
    """
    behind = sentence[amount.end :]
    match = _PER.match(behind)
    if match is not None and LENGTHS_AHEAD.search(sentence[: amount.start]) is not None:
        return [], None
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
    """Whether one of the two words after a number is one of the nouns."""
    return any(word.strip(",.;:()").lower() in nouns for word in behind[:40].split()[:2])
