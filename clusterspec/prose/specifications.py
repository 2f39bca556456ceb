"""Figures stated as properties of a part: `H200 has 141 GB of HBM3e`, unlike `a job needs 40 GB of each H200`."""

from __future__ import annotations

import re

from clusterspec.prose.sentence import NUMERALS, Sentence
from clusterspec.prose.tokenize import Token, TokenKind, words_of

_STATES = words_of(
    "has have comes come with carries carry ships ship offers offer features feature provides provide includes include"
    " packs pack delivers deliver holds hold reads read contains contain : ( = is gives give brings bring"
)
"""Words of which one stands between a part and its property."""
_AMONG = words_of("between among")
"""Words before the ends of a link, whose figures do not add up."""
_FILLS = words_of(
    "and , @ of at its their a an the each every all memory capacity bandwidth gpu gpus chip chips card cards accelerator"
    " accelerators device devices hbm hbm2 hbm2e hbm3 hbm3e hbm4 on board - version model models peak total"
)
"""Words that may stand there as well."""
_FORM = re.compile(r"sxm\d?|nvl|oam|pcie")
_MEMORIES = words_of("hbm hbm2 hbm2e hbm3 hbm3e hbm4 memory vram dram gddr6 gddr6x gddr7")
_PARTIAL = words_of("of on in per half from than")
"""Words before a part that make it the place of a figure, not its owner."""
_USED = words_of("free left available unused used remaining for reserved needed more less extra spare usable cache")
"""Words after a figure that make it a part of what the part has."""


def is_specified(sentence: Sentence, at: int) -> bool:
    """Whether a memory size or bandwidth is stated as a property of the part named before it."""
    before = [named for named in sentence.named if named.start <= at]
    if not before or before[-1].end > at or sentence.words[at].unit not in ("B", "B/s"):
        return False
    lead = list(sentence.between(max(0, before[-1].start - 4), before[-1].start))
    if _PARTIAL & set(lead[-2:]) and not {"memory", "bandwidth", "capacity"} & set(lead):
        return False
    if count_before(sentence, before[-1].start) > 1:
        return False
    behind = list(sentence.between(at + 1, at + 5))
    if _USED & set(behind) or (sentence.words[at].unit == "B" and not _MEMORIES & set(behind[:3])):
        return False
    between = sentence.words[before[-1].end : at]
    return any(word.text.lower() in _STATES for word in between) and all(map(_is_filler, between))


def count_before(sentence: Sentence, start: int) -> float:
    """The count directly before a part: 8 for `8x H100` and `eight H100`; 1 if there is none, or if the parts are the
    ends of a link: `between two H100`.
    """
    at = start - 1
    if at > 0 and sentence.words[at].text in ("x", "×"):
        at -= 1
    if at < 0:
        return 1
    token = sentence.words[at]
    if at > 0 and sentence.words[at - 1].text.lower() in _AMONG:
        return 1
    return token.value if token.kind is TokenKind.NUMBER else NUMERALS.get(token.text.lower(), 1)


def is_beside_memory_size(sentence: Sentence, at: int) -> bool:
    """Whether a rate follows a memory size directly: the 6 TB/s in `256 GB of HBM3 at 6 TB/s`."""
    before = max((other for other in sentence.quantities if other < at), default=None)
    if before is None or sentence.words[before].unit != "B" or sentence.words[at].unit != "B/s":
        return False
    between = list(sentence.between(before + 1, at))
    if between in ([","], ["@"], ["and"]):  # a list of properties: `MI300X (192 GB, 5.3 TB/s)`
        ends = {named.end for named in sentence.named}
        start = before - (sentence.words[before - 1].text in ("(", ":")) if before else before
        return start in ends and _is_larger(sentence, at, before)
    return bool(_MEMORIES & set(between)) and all(
        word in _MEMORIES or word in _FILLS or word == "with" for word in between
    )


def _is_larger(sentence: Sentence, at: int, size: int) -> bool:
    """Whether a rate reads a memory of some size in less than a second, as memory of accelerators does."""
    return sentence.words[at].value > sentence.words[size].value


def _is_filler(word: Token) -> bool:
    text = word.text.lower()
    return text in _STATES or text in _FILLS or word.kind is TokenKind.QUANTITY or bool(_FORM.fullmatch(text))
