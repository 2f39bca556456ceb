"""Bytes of the weights of a model in texts, and what they are by its parameters and a precision."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator

from clusterspec.catalog import Catalog
from clusterspec.catalog.models import Model
from clusterspec.cost.parameters import model_weights
from clusterspec.quantity import precision_width
from clusterspec.rules.readers.amounts import BYTES, Amount, amounts_in
from clusterspec.rules.readers.clauses import clause_at, is_of_this_plan
from clusterspec.rules.readers.part_mentions import PartMention, mentions_in
from clusterspec.rules.readers.results.explanations import Claim
from clusterspec.rules.readers.units import WEIGHTS, stored_precisions
from clusterspec.rules.readers.written_numbers import sentences_of
from clusterspec.standard import pattern
from clusterspec.units import display

_WEIGHTS = rf"(?:{'|'.join(sorted(WEIGHTS))})"
_TAKE = (
    r"(?:takes?|occupy|occupies|are|is|needs?|fills?|weighs?|ocupan|pesan|son|pèsent|occupent|prennent|font|belegen|brauchen|sind|wiegen|"
    r"occupano|pesano|nemen|zijn)"
)
_AHEAD = pattern(
    rf"(?i)\b{_WEIGHTS}\b[^\d.;:]{{0,40}}\b{_TAKE} (?:about |some |nearly |roughly |rund |etwa |environ |unos |circa )?$"
)
_BEHIND = pattern(rf"(?i)^ (?:(?:of|an|de|di|aan) )?{_WEIGHTS}\b(?!:)")
_OF_PART = pattern(
    r"(?i)\b(?:per|each|every|pro|je|jede[rsnm]?|par|por|chaque|cada|elk|ogni|adapters?|lora|draft\w*|experts?|embedding\w*|layers?|gradients?|optimi[sz]er|states?|cache|saved?|shard\w*|rest|left|quantized)\b|/ ?gpu\b"
)
"""Words of the weights of a part, or of other bytes."""
ROUNDED = 0.15
"""Relative difference from 2, 1 or 4 bytes a parameter that rounding, and tensors kept in another precision, explain."""


def wrong_weights(text: str, model: Model, counts: Collection[float], catalog: Catalog) -> Iterator[Claim]:
    """The bytes of weights in a text that do not follow from the parameters of a model and the stated precision,
    neither for the whole model nor for one of ``counts`` parts into which the layout splits it. Sentences about another
    model of the catalog are not read.

    >>> catalog = Catalog.open()
    >>> model = catalog.get("model", "qwen2.5-32b")
    >>> list(wrong_weights("In bf16 the weights take 32.5 GB and fit on one A100 of 40 GB.", model, (), catalog))
    [Claim(stated='32.5 GB', right='65.5 GB', figures='32.8B parameters in bf16')]
    >>> list(wrong_weights("In bf16 the weights take 65 GB, or 16.4 GB per GPU.", model, (), catalog))
    []
    >>> list(wrong_weights("In bf16 the weights of Mistral 7B take 14.5 GB.", model, (), catalog))
    []
    """
    parameters = model_weights(model).total
    for sentence in sentences_of(text):
        mentions = [*mentions_in(sentence, catalog)] if stored_precisions(sentence) else None
        if mentions is None or any(each.kind == "model" and model.id not in each.ids for each in mentions):
            continue
        for amount, precision in _amounts_of_weights(_without_names(sentence, mentions)):
            right = parameters * precision_width(precision)
            if not any(abs(amount.value * split / right - 1) <= ROUNDED for split in (1.0, *counts)):
                yield Claim(
                    amount.written, display(right, "B"), f"{display(parameters, '1')} parameters in {precision}"
                )


def _without_names(sentence: str, mentions: Iterable[PartMention]) -> str:
    """A sentence with a sign in place of each character of the names of parts, whose digits are no figures."""
    for each in mentions:
        sentence = sentence[: each.start] + "_" * (each.end - each.start) + sentence[each.end :]
    return sentence


def _amounts_of_weights(sentence: str) -> Iterator[tuple[Amount, str]]:
    """The bytes of all weights of this plan in a sentence, with the only precision of their clause."""
    for amount in amounts_in(sentence):
        ahead, behind = sentence[: amount.start], sentence[amount.end :]
        is_of_weights = _AHEAD.search(ahead) is not None or _BEHIND.match(behind) is not None
        clause = clause_at(sentence, amount.start, amount.end)
        named = stored_precisions(clause)
        if amount.kind != BYTES or not is_of_weights or len(named) != 1:
            continue
        if _OF_PART.search(clause) is None and is_of_this_plan(clause):
            yield amount, min(named)
