"""The data are tokens of another model's tokenizer.

## What it finds

A text that says which tokenizer made the token ids of the training data (`token ids of the Llama 2 tokenizer`), where that
family of models has another vocabulary than the model. A text whose tokenizer has more entries than the model's vocabulary,
or which stores the ids of a larger vocabulary than 65,536 as `uint16`, is reported too.

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

```yaml description
clusterspec: 1
description: Token ids are stored as uint16.
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
from clusterspec.rules.knowledge.written_numbers import NUMBER, belongs_to_something_else, number_in_text, sentences_of
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


_CUES = ("uint16", "16-bit", "16 bit", "unsigned short", "two-byte", "two byte")
"""Words without one of which `_NARROW` finds nothing."""
_NARROW = pattern(
    r"(?i)\b(?:ids?|tokens?)\b[^.;]{0,40}?\b(?:uint16|16[- ]bit (?:unsigned )?(?:ids?|integers?)|unsigned short|two[- ]byte integers)\b|\buint16 (?:token )?ids?\b"
)
_ENTRIES = pattern(
    rf"(?i)\b(?:tokeni[sz]er|vocabulary)\b[^.;\d]{{0,40}}?{NUMBER}(?P<k>k)? (?:entries|tokens|pieces|words|types)\b|\bvocabulary (?:of|size of|has) {NUMBER}(?P<k2>k)?\b"
)
_OF_LARGER_TABLE = pattern(
    r"(?i)\b(?:extend\w*|resiz\w*|added|adds|enlarg\w*|padded|new (?:embedding|tokenizer)|replac\w*|retrain\w*|not|draft)\b"
)
_AS_THEY_ARE = pattern(r"(?i)\b(?:not|never) (?:re-?tokeni[sz]ed|tokeni[sz]ed again)\b")


def check(own_remarks: str, remarks: str, workload: Workload, catalog: Catalog) -> Iterator[Problem]:
    if not remarks or workload.kind == "serve" or workload.model is None or not workload.model.vocab:
        return
    own, folded = workload.model, remarks.lower()
    yield from _size_problem(own_remarks, own)
    if not any(word in folded for word in _WORDS):  # most texts
        return
    for sentence in sentences_of(remarks):  # ids may be those of another project, and are used in this one
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


def _size_problem(text: str, model: Model) -> Iterator[Problem]:
    """The problem with ids of 16 bits for a larger vocabulary, or a tokenizer with more entries than the model has rows."""
    folded = text.casefold()
    narrow = _NARROW.search(text) if any(cue in folded for cue in _CUES) and model.vocab > 256**2 else None
    if narrow is not None and not belongs_to_something_else(text, narrow.start()):
        message = f"`{narrow[0]}`: they have 65,536 values, and the vocabulary has {model.vocab:,} tokens"
        yield RULE.problem("description", message, "store ids in 4 bytes")
        return
    match = _ENTRIES.search(text) if "tokeniz" in folded or "tokenis" in folded or "vocabulary" in folded else None
    if (
        match is None
        or not model.vocab
        or _OF_LARGER_TABLE.search(text[max(0, match.start() - 80) : match.end() + 80]) is not None
    ):
        return
    entries = number_in_text(match[1] or match[3]) * (1000 if match["k"] or match["k2"] else 1)
    if entries > 1.02 * model.vocab and entries >= 1000:
        message = f"`{match[0]}`, and the model has rows for {model.vocab:,}: larger ids have no row"
        yield RULE.problem("description", message, "use the tokenizer of the model, or enlarge its embedding")


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
