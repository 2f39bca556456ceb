"""The data are tokens of another model's tokenizer.

## What it finds

A text that names the tokenizer of the training data (`token ids of the Llama 2 tokenizer`), where that family of models
has another vocabulary than the model. The rule also reports a tokenizer with more entries than the model's vocabulary,
or with less than 80 % of them, and ids of more than 65,536 entries that are stored in two bytes.

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
- Encodings of tiktoken: https://github.com/openai/tiktoken/blob/main/tiktoken_ext/openai_public.py
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import islice

from clusterspec.catalog import Catalog
from clusterspec.catalog.models import Model
from clusterspec.cluster.model import Workload
from clusterspec.finding import Problem
from clusterspec.rules.knowledge.role_models import may_share_tokenizer
from clusterspec.rules.readers.clauses import clause_at, is_of_other_plan
from clusterspec.rules.readers.quantities import plain_sentences
from clusterspec.rules.readers.written_numbers import MOST_MATCHES, NUMBER, number_in_text, sentences_of
from clusterspec.rules.rule import Rule
from clusterspec.standard import pattern

RULE = Rule.of(__name__, "error", "likely")
ENCODINGS = {
    "r50k_base": 50257,
    "p50k_base": 50281,
    "cl100k_base": 100277,
    "o200k_base": 200019,
    "gpt-2": 50257,
    "gpt-4": 100277,
    "gpt-4o": 200019,
}
"""Entries of the vocabularies of tiktoken, and of the models that use them."""
_FAMILY = pattern(
    r"(?i)\b(?P<encoding>[rp]50k_base|cl100k_base|o200k_base|gpt-?(?:2|4o?)(?![\w.]))|"
    r"\b(?P<family>(?:code ?)?llama|qwen|mistral|mixtral|gemma|gpt|deepseek|falcon|bloom|phi|olmo|nemotron|glm|kimi|yi)[ -]?(?:v|k)?(?P<release>\d(?:\.\d)?(?!\.?\d))?(?P<size>b\b)?"
)
_TOKENIZER = pattern(
    r"(?i)\b(?:tokeni[sz]\w*|\w*[tT]okeni[sz]er|pre-?tokeni[sz]ed|vocabular\w*|vokabular\w*|sentence-?piece|bpe|tiktoken|encod(?:ed|ings?|er)|(?:token[- ]?)?ids|kodiert|codiert|encodée?s?|vocabulaire)\b"
)
_WORDS = ("tokenis", "tokeniz", "vocab", "vokab", "sentencep", "bpe", "tiktoken", "encod", "ids", "kodiert", "codiert")
"""Words: `_TOKENIZER` needs at least one of them."""
NEAR = 60
"""Largest distance, in characters, between the name of a model family and the words about its tokenizer."""
_NOT = pattern(
    r"(?i)\b(?:not|never|no longer|instead|again|re-?tokeni[sz]\w*|retrain\w*|replac\w*|unlike|than|draft\w*|embedding|reward|judge|teacher|pilot|old|former|previous\w*|compar\w*|"
    r"generat\w*|synthetic|distill\w*|answers?|translat\w*|would|if|its own|baseline|evaluat\w*|initiali[sz]ed|erneut|nicht|pas|anew|afresh|sufficed|suffisait|(?:was|were) (?:enough|sufficient)|"
    r"(?:held|had|contained) (?!in |on |by )(?:[\w.]{1,16} ){0,3}?(?:token[- ]?)?(?:ids?|tokens?))\b"
)
"""Pattern of words in sentences about another tokenizer than that of the training data."""
_CUES = ("16", "short", "two", "2 byte", "2-byte", "2 octets", "zwei byte", "deux octets")
"""Words: `_NARROW` needs at least one of them."""
_NARROW = pattern(
    r"(?i)(?<![^\W_])u?int16\b|\b(?:16[- ]bits?|unsigned shorts?|(?:two|2|zwei|deux|dos)[ -](?:bytes|octets|byte(?= (?:unsigned |token )*(?:ids?|integers?|tokens?|values?)\b)))\b|\b(?:zwei|2) Bytes?\b(?! (?:unsigned|stream))"
)
_ID = pattern(
    r"(?i)(?<![^\W_])(?:token[- ]?ids?|ids?|tokens?|jetons?|identifiants?|indexed dataset|dataset|memmap|mmap|shards?|vocab\w*)(?![^\W_])"
)
_OF_OTHER_NUMBERS = pattern(
    r"(?i)\b(?:weights?|parameters?|gradients?|activations?|bf16|fp16|float16|half precision|optimizer|cache|kv|embeddings?|logits?|checkpoints?|precision|reduc\w+|gewichte?|poids|hidden|gr[ae]y|pixels?|images?|patches|audio|waveforms?|colou?rs?|graustufen|grauwerte?|bild\w*|gris)\b"
)
_REFUSED = pattern(
    r"(?i)\b(?:not|never|no longer|too (?:small|narrow|few)|instead|rather|than|would|cannot|can't|only half|nicht|pas|trop|sufficed|(?:was|were) (?:enough|sufficient)|reichten|genügten|suffisai(?:en)?t)\b"
)
_ENTRIES = pattern(
    rf"(?i){NUMBER} ?(?P<k>k)? (?:entries|pieces|types|subwords|einträge[n]?|entrées|entradas)\b|"
    rf"\b(?:tokeni[sz]er|vocabulary)\b[^.;\d]{{0,40}}?{NUMBER} ?(?P<k2>k)? (?:tokens|words)\b|\bvocabulary (?:of|size of|has) {NUMBER} ?(?P<k3>k)?\b"
)
_OF_LARGER_TABLE = pattern(
    r"(?i)\b(?:extend\w*|resiz\w*|added|adds|enlarg\w*|padded|new (?:embedding|tokenizer)|replac\w*|retrain\w*|not|draft|special|reserved|cache)\b"
)
_AS_THEY_ARE = pattern(
    r"(?i)\b(?:not|never|nicht|pas)(?: been)? (?:re-?(?:tokeni[sz]|encod)ed|(?:tokeni[sz]|encod)ed (?:again|anew|afresh)|erneut|neu)\b"
)
_AGAIN = pattern(
    r"(?i)\b(?:tokeni[sz]ed|encoded|kodiert|codiert|encodée?s?) (?:\w+ )?(?:anew|again|afresh|neu|de nouveau)\b|"
    r"\bre-?(?:tokeni[sz]|encod)(?:ed|e|es)\b|\b(?:neu|erneut) (?:ko|co|en|toke)\w+"
)
"""Pattern of words for data that are tokenized again."""
FEWER = 0.8
"""Ratio of two vocabulary sizes below which the smaller one is not a part of the larger one."""


def check(own_remarks: str, remarks: str, workload: Workload, catalog: Catalog) -> Iterator[Problem]:
    if not remarks or workload.kind == "serve" or workload.model is None or not workload.model.vocab:
        return
    own, folded = workload.model, remarks.lower()
    yield from _narrow_problem(own_remarks, own)
    if not any(word in folded for word in _WORDS):  # most texts
        return
    for sentence in sentences_of(
        _without_replaced_data(remarks)
    ):  # ids may be those of another project, and are used in this one
        found = _other_tokenizer(sentence, own, catalog)
        if found is not None:
            words, vocab = found
            message = f"the data have ids of `{words}`, whose vocabulary has {vocab:,} tokens, but {own.name or own.id} has {own.vocab:,}: the same ids stand for other text"
            yield RULE.problem("workload.model", message, "tokenize the text again with the tokenizer of the model")
            return
    yield from _size_problem(own_remarks, own)


def _without_replaced_data(text: str) -> str:
    """A text without its sentences about data that are tokenized again by the next one.

    >>> _without_replaced_data("They are Llama 2 ids. They are encoded anew. 12 TB are new.")
    'They are encoded anew. 12 TB are new.'
    """
    if _AGAIN.search(_AS_THEY_ARE.sub(" ", text)) is None:
        return text
    sentences = sentences_of(text)
    return ". ".join(
        sentence
        for sentence, following in zip(sentences, (*sentences[1:], ""), strict=True)
        if _AGAIN.search(_AS_THEY_ARE.sub(" ", following)) is None
    )


def _other_tokenizer(sentence: str, own: Model, catalog: Catalog) -> tuple[str, int] | None:
    """The name and vocabulary size of another tokenizer that a sentence names as the data's; else None."""
    if _NOT.search(_AS_THEY_ARE.sub(" ", sentence)) is not None:
        return None
    places = [each.span() for each in islice(_TOKENIZER.finditer(sentence), MOST_MATCHES)]
    found = []
    for match in islice(_FAMILY.finditer(sentence), MOST_MATCHES):
        if any(start - match.end() <= NEAR and match.start() - end <= NEAR for start, end in places):
            sizes = _vocabularies(match, catalog)
            found.append((match[0].strip(), sizes))
    if any(not sizes or any(may_share_tokenizer(each, own.vocab) for each in sizes) for _, sizes in found):
        return None
    return next(((words, min(sizes)) for words, sizes in found), None)


def _vocabularies(match: re.Match[str], catalog: Catalog) -> set[int]:
    """The vocabulary sizes of the models that a name may mean; empty if the catalog has none of them."""
    if match["encoding"]:
        return {ENCODINGS[match["encoding"].lower().replace("gpt2", "gpt-2").replace("gpt4", "gpt-4")]}
    name, release = match["family"].lower().replace(" ", ""), match["release"] or ""
    exact = f"{name}-{release}b" if match["size"] else ""
    starts = tuple(f"{name}{joint}{release}" for joint in ("-", "-v", "-k", ""))
    names = [
        each
        for each in catalog.ids("model")
        if each == exact or (not exact and each.startswith(starts) and not each.removeprefix(name)[1:2].isalpha())
    ]
    models = [each for name in names if isinstance(each := catalog.find("model", name), Model) and each.vocab]
    return {each.vocab for each in models}


def _narrow_problem(text: str, model: Model) -> Iterator[Problem]:
    """The problem of 16-bit token ids for a vocabulary that needs more bits."""
    folded = text.casefold()
    if model.vocab <= 256**2 or not any(cue in folded for cue in _CUES):
        return
    for sentence in plain_sentences(_without_replaced_data(text)):
        for match in islice(_NARROW.finditer(sentence), MOST_MATCHES):
            near = sentence[max(0, match.start() - NEAR) : match.end() + NEAR]
            clause = clause_at(sentence, *match.span())
            of_ids = _ID.search(near) is not None and _OF_OTHER_NUMBERS.search(near) is None
            if of_ids and _REFUSED.search(clause) is None and not is_of_other_plan(clause):
                message = f"`{clause[:80]}`: they have 65,536 values, but the vocabulary has {model.vocab:,} tokens"
                yield RULE.problem("description", message, "store ids in 4 bytes")
                return


def _size_problem(text: str, model: Model) -> Iterator[Problem]:
    """The problem of a tokenizer with more entries than the model's embedding has rows, or with far fewer."""
    for sentence in plain_sentences(_without_replaced_data(text)):
        match = _ENTRIES.search(sentence) if _TOKENIZER.search(sentence) is not None else None
        if match is None or _OF_LARGER_TABLE.search(sentence) is not None or _NOT.search(sentence) is not None:
            continue
        entries = number_in_text(match[1] or match[3] or match[5]) * (
            1000 if match["k"] or match["k2"] or match["k3"] else 1
        )
        if entries > 1.02 * model.vocab and entries >= 1000:
            message = f"`{match[0]}`, but the model has rows for {model.vocab:,}: larger ids have no row"
        elif 1000 <= entries < FEWER * model.vocab and match[1]:
            message = (
                f"`{match[0]}`, but the vocabulary of the model has {model.vocab:,}: the same ids stand for other text"
            )
        else:
            continue
        yield RULE.problem("description", message, "use the tokenizer of the model, or enlarge its embedding")
        return
