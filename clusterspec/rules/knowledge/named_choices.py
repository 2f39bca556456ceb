"""The model and the framework that a text names for its work."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import islice

from clusterspec.catalog import Catalog
from clusterspec.catalog.models import Model
from clusterspec.rules.knowledge.part_mentions import mentions_in
from clusterspec.rules.knowledge.text_clauses import clause_bounds, is_former, is_hypothetical, is_of_other_plan
from clusterspec.rules.knowledge.written_numbers import sentences_of
from clusterspec.standard import pattern

MOST_SENTENCES = 200
_MEGATRON = ("megatron-core", "megatron-bridge", "nemo", "primus", "megatron-deepspeed")
_ENGINES = {"vllm": ("vllm",), "sglang": ("sglang",), "tensorrt-llm": ("trt-llm",), "trt-llm": ("trt-llm",)}
_TRAINERS = {
    **{f"megatron{each}": _MEGATRON for each in ("", "-lm", "-core", " core")},
    **{"deepspeed": ("deepspeed", "megatron-deepspeed"), "torchtitan": ("torchtitan",), "maxtext": ("maxtext",)},
}
NAMES_OF_FRAMEWORKS: Mapping[str, Mapping[str, tuple[str, ...]]] = {"serve": _ENGINES, "train": _TRAINERS}
"""What a text may call a framework, with the ids that the name may mean, for each kind of work."""
_FRAMEWORK = pattern(
    r"(?i)\b(?:vllm|sglang|tensorrt-llm|trt-llm|megatron(?:-lm|-core| core)?(?!-| bridge| nlg| turing)|(?<!megatron-)deepspeed|torchtitan|maxtext)\b"
)
_OTHER_ROLE = pattern(
    r"(?i)\b(?:drafts?|drafter|draft\w*|specul\w+|teach\w*|distil\w*|reward|judge\w*|critic|reference|tokeni[sz]\w*|embed\w*|rerank\w*|guard\w*|"
    r"like|unlike|than|compar\w+|instead|rather|successor|predecessor|later|next|before|until|after|switched|moved|moves?|migrat\w+|ported?|from|replac\w+|benchmark\w*|"
    r"architecture|derived|based|shape|size|stand-?in|proxy|ablation\w*|experiment\w*|also|besides|too|other|another|second|first|then|and|or|und|oder|et|ou|y|o|not|no|nicht|kein\w*|pas|"
    r"wie|statt|als|comme|como|vs|versus|similar\w*|recipe|config\w*|checkpoints?|weights of|version|release|library|kernels?|backend|image|support\w*|needs?|cannot|might|may|option\w*|evaluat\w+|test\w*|measur\w+)\b"
)
"""Words of a clause that may give a name another role than that of the work of this design."""


def wrong_framework(text: str, kind: str, own: str) -> str:
    """The name in a text of another framework than ``own`` for this design; empty where it names none or several, or
    where ``own`` is none that texts name.

    >>> wrong_framework("The serving stack is SGLang.", "serve", "vllm")
    'SGLang'
    >>> wrong_framework("Moved from SGLang.", "serve", "vllm"), wrong_framework("Primus with Megatron.", "train", "primus")
    ('', '')
    """
    names = NAMES_OF_FRAMEWORKS.get(kind, {})
    found = [each for each in _FRAMEWORK.finditer(text) if each[0].lower() in names]
    if len({names[each[0].lower()] for each in found}) != 1 or not any(own in ids for ids in names.values()):
        return ""
    if own in names[found[0][0].lower()]:
        return ""
    return next((each[0] for each in found if _is_own(text, each.start(), each.end())), "")


def wrong_model(text: str, own: Model, catalog: Catalog) -> str:
    """The name in a text of another model than ``own`` for the work; empty if it names the own one, none, or several."""
    mentions = list(_models_in(text, catalog))
    if len({ids for _, _, _, ids in mentions}) != 1 or own.id in mentions[0][3]:
        return ""
    if any(_is_of_one_shape(own, catalog.get("model", each)) for each in mentions[0][3]):
        return ""
    return next((sentence[start:end] for sentence, start, end, _ in mentions if _is_own(sentence, start, end)), "")


def _models_in(text: str, catalog: Catalog) -> Iterator[tuple[str, int, int, tuple[str, ...]]]:
    for sentence in islice(sentences_of(text), MOST_SENTENCES):
        for each in mentions_in(sentence, catalog):
            if each.kind == "model":
                yield sentence, each.start, each.end, each.ids


def _is_of_one_shape(own: Model, other: object) -> bool:
    """Whether two models have the same layers and widths, as releases of one architecture do."""
    return isinstance(other, Model) and (own.layers, own.hidden, own.experts) == (
        other.layers,
        other.hidden,
        other.experts,
    )


def _is_own(text: str, start: int, end: int) -> bool:
    """Whether the clause of a name gives it no other role than that of the work of this design."""
    first, last = clause_bounds(text, start, end)
    clause, rest = text[first:last], f"{text[first:start]} | {text[end:last]}"
    if is_hypothetical(clause) or is_former(clause) or is_of_other_plan(clause):
        return False
    return _OTHER_ROLE.search(rest) is None
