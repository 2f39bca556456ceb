"""The shares of a data mixture in a text do not add up, or repeat a source too often.

## What it finds

- Three or more shares of a mixture of data in one sentence that add up to less than 97 % or more than 103 %.
- A source whose share of `tokens` is many times its unique tokens: more than the text allows (`at most four epochs`), or
  more than 16 times where it states no limit.

Sums and stated limits are errors. More than 16 repeats without a stated limit are a warning.

## Why it matters

Samplers normalize weights, so that a sum of 110 % changes the share of every source without a message. Tokens that repeat
more than about four times lower the loss less than new ones, and after about 16 times hardly at all.

## What to do

Correct the shares, take a smaller share of a small source, or add data.

## When to ignore it

Ignore it where the shares are of different things.

## Fires

```yaml description
clusterspec: 1
description: "Mixture: 60 % web, 25 % code, 10 % mathematics and 15 % books."
cluster: {platform: dgx-h100, nodes: 16}
workload: {model: llama-3.1-8b, sequence_length: 4096, global_batch: 1024, tokens: 1T}
```

```yaml description
clusterspec: 1
description: "Mixture: 20 % mathematics (9 B unique tokens), 80 % web."
cluster: {platform: dgx-h100, nodes: 16}
workload: {model: llama-3.1-8b, sequence_length: 4096, global_batch: 1024, tokens: 1T}
```

## Silent

```yaml
clusterspec: 1
description: "Mixture: 60 % web, 25 % code, 10 % mathematics and 5 % books; no source more than four times."
cluster: {platform: dgx-h100, nodes: 16}
workload: {model: llama-3.1-8b, sequence_length: 4096, global_batch: 1024, tokens: 1T}
```

## Sources

- Value of repeated tokens: N. Muennighoff et al., Scaling Data-Constrained Language Models, https://arxiv.org/abs/2305.16264
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

from clusterspec.cluster.model import Workload
from clusterspec.finding import Problem
from clusterspec.rules.knowledge.text_quantities import SHARE, TOKEN, TextQuantity, is_own, sentence_quantities
from clusterspec.rules.knowledge.text_units import NUMBER_WORDS
from clusterspec.rules.rule import Rule
from clusterspec.standard import pattern
from clusterspec.units import display, percent, plain

RULE = Rule.of(__name__, "error", "likely")
_CUES = ("mix", "data", "sampl", "corpus", "korpus", "daten", "donn", "datos", "mezcla", "mélange", "weights", "blend")
_MIXTURE = pattern(
    r"(?i)\bdata(?: sources| set)?:|\b(?:(?:data|training|sampling|token|pre-?training) (?:mix(?:ture)?|blend|weights|composition)|mixture(?! of[ -]experts)|mix(?: of|:| is| by)|blend|"
    r"sampling weights|corpus|datenmischung|mischung|korpus|mélange|corpus|mezcla)\b"
)
_PART_OF = pattern(
    r"(?i)\b(?:of which|of these|of it|including|thereof|davon|dont|de los cuales|increase\w*|up from|instead|from|more|less|than|saves?|vs|mfu|utili[sz]ation)\b"
)
_NAMED = pattern(r"(?i)^ ?\(?(?:of |from |for |de |du |des |aus )?(?:the )?[^\W\d_][\w'-]{1,20}")
"""The name of a source after its share."""
_NAME_BEFORE = pattern(r"(?:^|[,:;(]|\band) ?[^\W\d_][\w -]{1,24}[:=(]? ?$|[:(] ?$")
"""The name of a source before its share."""
_SOURCE = pattern(r"(?i)^[^.;,%]{0,40}?[(:,] ?(?:only |about |our |with )*$")
_GETS = pattern(
    r"(?i)^(?: of [\w ]{1,20})?\)? ?(?:gets?|has|have|makes?(?: up)?|takes?|is|are|at|with|weighs?|sampled at|as)(?: about| only)? $"
)
"""What stands between the unique tokens of a source and its share."""
_LIMIT = pattern(
    rf"(?i)\b(?:at most|no more than|not more than|never more than|more than|maximum of|max\.?|up to|höchstens|au plus|máximo)\b[^.;\d]{{0,20}}?(\d{{1,2}}|{'|'.join(NUMBER_WORDS)}) (?:epochs?|times|passes|repetitions|repeats|epochen|mal|fois|épocas|veces)\b"
)
SUM = (0.97, 1.03)
"""The least and the most that rounded shares add up to."""
READ = (0.5, 1.7)
"""Sums outside are no shares of one whole."""
WORTHLESS = 16.0
"""Passes over the same tokens after which more of them hardly lower the loss (Muennighoff et al., section 5)."""
ROUNDED = 1.05


def check(own_remarks: str, training: Workload) -> Iterator[Problem]:
    if not own_remarks:
        return
    folded = own_remarks.casefold()
    if "%" not in folded or not any(cue in folded for cue in _CUES):
        return
    limit = _LIMIT.search(own_remarks)
    most = float(NUMBER_WORDS.get(limit[1].lower()) or limit[1]) if limit is not None else WORTHLESS
    for sentence, quantities in sentence_quantities(own_remarks):
        shares = [each for each in quantities if each.unit == SHARE]
        if _MIXTURE.search(sentence) is None or not shares or not is_own(sentence, shares[0]):
            continue
        yield from _sum_problem(sentence, shares)
        if training.tokens:
            yield from _repeat_problem(sentence, quantities, training.tokens, most, limit is not None)


def _sum_problem(sentence: str, shares: list[TextQuantity]) -> Iterator[Problem]:
    named = [
        each
        for each in shares
        if _NAMED.match(sentence[each.end :]) is not None or _NAME_BEFORE.search(sentence[: each.start]) is not None
    ]
    total = sum(each.value for each in shares)
    if (
        len(shares) < 3
        or len(named) < len(shares)
        or _PART_OF.search(sentence) is not None
        or not READ[0] < total < READ[1]
    ):
        return
    if not SUM[0] - 1e-9 <= total <= SUM[1] + 1e-9:
        words = " + ".join(each.words for each in shares)
        message = f"the shares of the mixture, {words}, add up to {plain(100 * total, 4)} %"
        yield RULE.problem("description", message, "correct the shares: samplers normalize them, and each one changes")


def _repeat_problem(
    sentence: str, quantities: tuple[TextQuantity, ...], tokens: float, most: float, stated: bool
) -> Iterator[Problem]:
    """The problem with a source that its share of the run repeats more often than ``most`` passes."""
    for one, other in pairwise(quantities):
        between, (share, unique) = sentence[one.end : other.start], (one, other) if one.unit == SHARE else (other, one)
        joint = _SOURCE if one.unit == SHARE else _GETS
        if share.unit != SHARE or unique.unit != TOKEN or not unique.value or joint.match(between) is None:
            continue
        passes = share.value * tokens / unique.value
        if passes > most * ROUNDED and unique.value < tokens:
            severity = "error" if stated else "warning"
            message = f"{share.words} of {display(tokens, '1')} tokens repeat the `{unique.words}` of this source {plain(passes, 3)} times"
            message += f", and the text allows {plain(most)}" if stated else ""
            yield RULE.problem(
                "description",
                message,
                f"take at most {percent(most * unique.value / tokens, 2)} from it",
                severity=severity,
            )
            return
