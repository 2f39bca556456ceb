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

Ignore it where the shares do not refer to the same total.

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

from clusterspec.cluster.model import Workload
from clusterspec.finding import Problem
from clusterspec.rules.readers.plans.mixtures import (
    SourceShares,
    fractions,
    is_closed_list,
    repeated_source,
    source_shares,
)
from clusterspec.rules.readers.units import NUMBER_WORDS
from clusterspec.rules.readers.windows import windows
from clusterspec.rules.rule import Rule
from clusterspec.standard import pattern, sum_of
from clusterspec.units import display, percent, plain

RULE = Rule.of(__name__, "error", "likely")
_CUES = (
    *(
        "mix",
        "data",
        "sampl",
        "corpus",
        "web",
        "crawl",
        "code",
        "book",
        "paper",
        "token",
        "wiki",
        "math",
        "arxiv",
        "weight",
        "blend",
    ),
    *(
        "german",
        "english",
        "prose",
        "news",
        "legal",
        "patent",
        "korpus",
        "daten",
        "quell",
        "büch",
        "jeton",
        "livre",
        "mezcla",
        "libro",
    ),
)
"""Words of texts about a data mixture; a text without any of them describes none."""
_LIMIT = pattern(
    rf"(?i)\b(?:at most|no more than|not more than|never more than|more than|maximum of|max\.?|up to|höchstens|au plus|máximo)\b[^.;\d]{{0,20}}?(\d{{1,2}}|{'|'.join(NUMBER_WORDS)}) (?:epochs?|times|passes|repetitions|repeats|epochen|mal|fois|épocas|veces)\b"
)
READ = (0.5, 1.7)
"""Range of sums of shares that can be a mixture; with another sum, the shares are not of one whole."""
WORTHLESS = 16.0
"""Number of passes over the same tokens after which more of them hardly help (Muennighoff et al., section 5)."""
ROUNDED = 1.05


def check(own_remarks: str, training: Workload) -> Iterator[Problem]:
    if not own_remarks:
        return
    folded = own_remarks.casefold()
    if not any(cue in folded for cue in _CUES):
        return
    yield from _sum_problem(own_remarks)
    if training.tokens:
        yield from _repeat_problem(own_remarks, training.tokens)


def _sum_problem(text: str) -> Iterator[Problem]:
    """The problem of a data mixture whose shares do not add up to the whole."""
    is_closed = is_closed_list(text)
    read = [*_shares_of_sentences(text, is_closed)] or [*_shares_of_sentences(text.replace("; ", ", "), is_closed)]
    for shares in read:
        total = sum_of(shares.values)
        if not READ[0] < total < READ[1] or abs(total - 1) <= shares.rounding + 1e-9:
            continue
        message = f"the shares of the mixture, {' + '.join(shares.words)}, add up to {plain(100 * total, 4)} %"
        yield RULE.problem("description", message, "correct the shares: samplers normalize them, and each one changes")
        return


def _shares_of_sentences(text: str, is_closed: bool) -> Iterator[SourceShares]:
    """The shares of each data mixture that a sentence lists."""
    for window in windows(text, 1, fractions):
        shares = source_shares(window, is_closed)
        if shares is not None:
            yield shares


def _repeat_problem(text: str, tokens: float) -> Iterator[Problem]:
    """The problem of a data source that is repeated more often than the text allows or, without a stated limit, more
    often than is useful.
    """
    limit = _LIMIT.search(text)
    most = float(NUMBER_WORDS.get(limit[1].lower()) or limit[1]) if limit is not None else WORTHLESS
    for share, unique in (pair for window in windows(text, 2, fractions) for pair in repeated_source(window)):
        passes = share.value * tokens / unique.value if unique.value else 0.0
        if passes > most * ROUNDED and unique.value < tokens:
            severity = "error" if limit is not None else "warning"
            message = f"{share.words} of {display(tokens, '1')} tokens repeat the `{unique.words}` of this source {plain(passes, 3)} times"
            message += f", but the text allows {plain(most)}" if limit is not None else ""
            help_ = f"take at most {percent(most * unique.value / tokens, 2)} from it"
            yield RULE.problem("description", message, help_, severity=severity)
            return
