"""The model and the framework that a text names for its work."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import islice

from clusterspec.catalog import Catalog
from clusterspec.catalog.frameworks import Framework
from clusterspec.catalog.models import Model
from clusterspec.document.schema import letters_and_digits
from clusterspec.rules.readers.clauses import clause_bounds, is_former, is_hypothetical, is_of_other_plan
from clusterspec.rules.readers.part_mentions import mentions_in
from clusterspec.rules.readers.written_numbers import sentences_of
from clusterspec.standard import pattern

MOST_SENTENCES = 200
_WORD = pattern(r"[^\W_][\w.-]*\w")
MOST_WORDS = 2000
_OTHER_ROLE = pattern(
    r"(?i)\b(?:drafts?|drafter|draft\w*|specul\w+|teach\w*|distil\w*|reward|judge\w*|critic|reference|tokeni[sz]\w*|embed\w*|rerank\w*|guard\w*|"
    r"as (?:with|in|for|on|by|did|does)|like|unlike|than|compar\w+|instead|rather|successor|predecessor|later|next|before|until|after|switched|moved|moves?|migrat\w+|ported?|from|replac\w+|benchmark\w*|"
    r"architecture|derived|based|shape|size|stand-?in|proxy|ablation\w*|experiment\w*|also|besides|too|other|another|second|first|then|and|or|und|oder|et|ou|y|o|not|no|nicht|kein\w*|pas|"
    r"wie|statt|als|comme|como|vs|versus|similar\w*|recipe|config\w*|checkpoints?|weights of|version|release|library|kernels?|backend|image|supports|supported|needs?|cannot|might|may|option\w*|evaluat\w+|test\w*|measur\w+)\b"
)
"""Words of a clause in which a name may not be part of this design's work."""


def wrong_framework(text: str, kind: str, own: str, catalog: Catalog) -> str:
    """The name in a text of another framework than ``own`` for a kind of work; empty where it names none or several.

    >>> wrong_framework("The serving stack is SGLang.", "serve", "vllm", Catalog.open())
    'SGLang'
    >>> [wrong_framework(each, "train", "primus", Catalog.open()) for each in ("Not torchtitan.", "It runs Megatron-Core.")]
    ['', '']
    """
    named = list(_frameworks_in(text, catalog))
    entry = catalog.get("framework", own) if named and own in catalog.ids("framework") else None
    if not isinstance(entry, Framework) or any(_are_related(each, entry) for _, _, each in named):
        return ""
    if len({each.id for _, _, each in named}) > 1 or kind not in named[0][2].purposes:
        return ""
    return next((text[start:end] for start, end, _ in named if _is_of_this_design(text, start, end)), "")


def _frameworks_in(text: str, catalog: Catalog) -> Iterator[tuple[int, int, Framework]]:
    """The words of a text that are both the id and the name of a framework, with its entry: `custom` and `fsdp` are also
    other words.
    """
    ids = {letters_and_digits(each): each for each in catalog.ids("framework")}
    for word in islice(_WORD.finditer(text), MOST_WORDS):
        id_ = ids.get(letters_and_digits(word[0]))
        entry = catalog.get("framework", id_) if id_ is not None else None
        if isinstance(entry, Framework) and letters_and_digits(entry.name) == letters_and_digits(word[0]):
            yield word.start(), word.end(), entry


def _are_related(named: Framework, own: Framework) -> bool:
    """Whether a framework is the same as another, is built on it, or is its base."""
    return own.id.startswith(named.id) or named.base == own.id or own.base == named.id or own.id in named.run_by


def wrong_model(text: str, own: Model, catalog: Catalog) -> str:
    """The name in a text of another model than ``own`` for the work; empty if it names the own one, none, or several.

    >>> catalog = Catalog.open()
    >>> texts = "It serves DeepSeek-V3.", "It drafts as DeepSeek-V3 does, as with Llama 3.1 70B.", "Kimi K2, not DeepSeek-V3."
    >>> [wrong_model(each, catalog.get("model", "kimi-k2-0905"), catalog) for each in texts]
    ['DeepSeek-V3', '', '']
    """
    return _other_model(list(_models_in(text, catalog)), own, catalog)


def _other_model(mentions: Sequence[tuple[str, tuple[str, ...], bool]], own: Model, catalog: Catalog) -> str:
    """The words of `_models_in` for another model than ``own``; empty if they may mean the own one, none, or several."""
    if any(_is_name_of(own, id_) for _, ids, _ in mentions for id_ in ids):
        return ""
    found = [each for each in mentions if each[2]]
    if len({ids for _, ids, _ in found}) != 1:
        return ""
    words, ids, _ = found[0]
    return "" if any(_is_of_one_shape(own, catalog.get("model", each)) for each in ids) else words


def _models_in(text: str, catalog: Catalog) -> Iterator[tuple[str, tuple[str, ...], bool]]:
    """The words, the ids, and whether the sentence is about the work of this design, for each model that a text names."""
    for sentence in islice(sentences_of(text), MOST_SENTENCES):
        about_another = is_former(sentence) or is_of_other_plan(sentence)
        for each in mentions_in(sentence, catalog):
            if each.kind == "model":
                own = not about_another and _is_of_this_design(sentence, each.start, each.end)
                yield sentence[each.start : each.end], each.ids, own


def _is_name_of(own: Model, id_: str) -> bool:
    """Whether an id belongs to a model, or to the family of which the model is a release: `kimi-k2` for `kimi-k2-0905`."""
    return own.id == id_ or own.id.startswith(f"{id_}-")


def _is_of_one_shape(own: Model, other: object) -> bool:
    """Whether two models have the same layers and widths, as releases of one architecture do."""
    return isinstance(other, Model) and (own.layers, own.hidden, own.experts) == (
        other.layers,
        other.hidden,
        other.experts,
    )


def _is_of_this_design(text: str, start: int, end: int) -> bool:
    """Whether the clause of a name shows no other role of the name than in this design's work."""
    first, last = clause_bounds(text, start, end)
    clause, rest = text[first:last], f"{text[first:start]} | {text[end:last]}"
    if is_hypothetical(clause) or is_former(clause) or is_of_other_plan(clause):
        return False
    return _OTHER_ROLE.search(rest) is None
