"""The data are tokens of another model's tokenizer.

## What it finds

A text that says which tokenizer made the token ids of the training data (`token ids of the Llama 2 tokenizer`), where that
family of models has another vocabulary than the model.

## Why it matters

The same id stands for another piece of text, so the model learns noise: the whole run is lost.

## What to do

Tokenize the text again with the tokenizer of the model.

## When to ignore it

Ignore it where the data are tokenized again before the run.

## Fires

```yaml workload.model
clusterspec: 1
description: The 200 billion tokens lie ready as token ids of the Llama 2 tokenizer.
cluster: {platform: dgx-h200, nodes: 16}
workload: {model: llama-3.1-8b, sequence_length: 8192, global_batch: 512, tokens: 200B}
layout: {framework: megatron-core, tp: 2}
```

## Silent

```yaml
clusterspec: 1
description: The 200 billion tokens lie ready as token ids of the Llama 3 tokenizer.
cluster: {platform: dgx-h200, nodes: 16}
workload: {model: llama-3.1-8b, sequence_length: 8192, global_batch: 512, tokens: 200B}
layout: {framework: megatron-core, tp: 2}
```

## Sources

- Sizes of vocabularies: `clusterspec catalog show llama-2-7b`
"""

from __future__ import annotations

from collections.abc import Iterator

from clusterspec.catalog import Catalog
from clusterspec.catalog.models import Model
from clusterspec.cluster.model import Workload
from clusterspec.finding import Problem
from clusterspec.rules.knowledge.role_models import same_tokenizer
from clusterspec.rules.knowledge.written_numbers import sentences_of
from clusterspec.rules.rule import Rule
from clusterspec.standard import pattern

RULE = Rule.of(__name__, "error", "likely")
_FAMILY = r"((?:code ?)?llama|qwen|mistral|mixtral|gemma|gpt|deepseek|falcon|bloom|phi|olmo|nemotron|glm|kimi|yi)[ -]?(?:v|k)?(\d(?:\.\d)?)?"
_TOKENIZER = pattern(
    rf"(?i)\b(?:tokeni[sz]er|vocabulary) (?:of|from|for) {_FAMILY}\b|\b{_FAMILY}(?:'s)?[ -]tokeni[sz]er\b|"
    rf"\btokeni[sz]ed (?:with|by|for) (?:the )?(?:tokeni[sz]er of )?{_FAMILY}\b"
)
_WORDS = ("tokenis", "tokeniz", "vocabulary")
"""What `_TOKENIZER` requires."""
_NOT = pattern(
    r"(?i)\b(?:not|never|no longer|instead|again|re-?tokeni[sz]\w*|retrain\w*|replac\w*|unlike|than|draft\w*|embedding|reward|judge|teacher)\b"
)


_AS_THEY_ARE = pattern(r"(?i)\b(?:not|never) (?:re-?tokeni[sz]ed|tokeni[sz]ed again)\b")


def check(own_remarks: str, workload: Workload, catalog: Catalog) -> Iterator[Problem]:
    if not own_remarks or workload.kind == "serve" or workload.model is None or not workload.model.vocab:
        return
    own, folded = workload.model, own_remarks.lower()
    if not any(word in folded for word in _WORDS):  # most texts
        return
    for sentence in sentences_of(own_remarks):
        is_own = _NOT.search(_AS_THEY_ARE.sub(" ", sentence)) is None
        found = _TOKENIZER.search(sentence) if is_own else None
        if found is None:
            continue
        family, release = next(
            (one, two) for one, two in zip(found.groups()[::2], found.groups()[1::2], strict=True) if one
        )
        other = _member(catalog, family, release)
        if other is not None and not same_tokenizer(other.vocab, own.vocab):
            message = f"the text says `{found[0]}`, whose vocabulary has {other.vocab:,} tokens, and {own.name or own.id} has {own.vocab:,}: the same ids stand for other text"
            yield RULE.problem("workload.model", message, "tokenize the text again with the tokenizer of the model")
            return


def _member(catalog: Catalog, family: str, release: str | None) -> Model | None:
    """A model of a family and release whose vocabulary is known; None where the catalog has none, or several vocabularies."""
    name = family.lower().replace(" ", "")
    starts = tuple(f"{name}{joint}{release or ''}" for joint in ("-", "-v", "-k", ""))
    names = [
        each for each in catalog.ids("model") if each.startswith(starts) and not each.removeprefix(name)[1:2].isalpha()
    ]
    models = [each for name in names if isinstance(each := catalog.find("model", name), Model) and each.vocab]
    sizes = [each.vocab for each in models]
    return models[0] if models and same_tokenizer(max(sizes), min(sizes)) else None
