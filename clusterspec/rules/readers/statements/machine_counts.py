"""The numbers of nodes and accelerators that a text states for its machine, and whether it states them."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from itertools import islice

from clusterspec.cluster.model import Cluster
from clusterspec.records import NamedTuple
from clusterspec.rules.readers.clauses import is_upper_limit, planned_text
from clusterspec.rules.readers.passages import with_numerals
from clusterspec.rules.readers.subjects import is_size_of_site
from clusterspec.rules.readers.units import NUMBER_WORDS, SPELLED_TENS, word_set
from clusterspec.rules.readers.written_numbers import has_word, sentences_of
from clusterspec.standard import pattern

NUMERALS = {word.capitalize(): number for word, number in NUMBER_WORDS.items() if number > 1} | {
    **{ten.capitalize(): number for ten, number in SPELLED_TENS.items()},
    **{
        f"{ten.capitalize()}-{one}": number + NUMBER_WORDS[one]
        for ten, number in SPELLED_TENS.items()
        for one in islice(NUMBER_WORDS, 9)
        if number >= 20
    },
}
"""Words of numbers count at the start of a sentence: inside one they often speak of a part, or of another machine."""
_COUNT = pattern(r"\b(?<![\w.,/×:-])(?:\d{1,3}(?:,\d{3})+|\d+|[A-Z][a-z]+(?:-[a-z]+)?)(?= )")
"""A number, or a capitalized word that may be one of `NUMERALS`, followed by a space."""
_PART = r"(?:[A-Z]{1,3}\d{2,3}[A-Za-z]?|MI\d{3}[AX]|GB\d{3}|GH200|TPU(?: ?v\d\w?)?|Trainium ?\d?|Gaudi ?\d|RTX(?: PRO)? \d{4})"
_SYSTEM = r"(?:HGX|DGX|quad|[Pp]\d\w*|A3 Mega|A3 High)"
_NODES = pattern(
    rf"(?: (?:{_SYSTEM}|{_PART}|[a-z]+-type)){{0,2}} (?:nodes|servers|instances)\b(?! each)| (?:HGX|DGX)[ -]{_PART}\b"
)
"""Pattern of the words that follow a number of nodes."""
_ACCELERATORS = pattern(
    rf" (?:(?:{_PART} )?(?:accelerators|GPUs|chips)\b|(?!C(?:13|14|15|19|20|21)\b){_PART}s?(?! (?:nodes|servers|instances|racks|boards|trays|systems|machines|NVL))\b(?!-))(?! (?:a|each|per|in each)\b)"
)
"""Pattern of the words that follow a number of accelerators."""
_NODE_NOUNS, _ACCELERATOR_NOUNS = word_set("nodes servers instances quad"), word_set("accelerators chips")
"""Lowercase words with which `_NODES` and `_ACCELERATORS` begin."""
_LEAST_MODEL = 1000
"""Smallest number that is part of a product name after the first word of a sentence; a smaller one may be a count."""
_LEADING = word_set(
    "about all altogether approximately around build buy buying exactly for from in initially install later now of on "
    "only order over plan planned rent roughly some the these those total training up use using we with"
)
"""Words that may come before a count at the start of a sentence."""
_RANGE_SIGNS = frozenset({"to", "-", "–"})
_AND_MORE = ("and more", "or more", "and above", "and up")
"""Words after a count that mark it as a lower limit."""
_LATER = (
    "last year",
    "last month",
    "a year ago",
    "of the next",
    "in the next",
    "of the coming",
    "of a later",
    "of the second",
    "next year",
    "of next year",
)
"""Words after a count of parts of another time."""
_BLOCKS = frozenset({"pod", "pods", "island", "islands", "cell", "cells", "zone", "zones", "blocks", "buildings"})
"""Words for a block of a fabric; the machine need not be a multiple of its size."""
_OF_A_STORE = frozenset({"drive", "drives", "disk", "disks", "ssds", "hdds", "osds", "jbod", "erasure", "parity"})
"""Words of sentences about the servers of a storage system."""
_LOADS = ("requests", "queries", "calls", "tokens", "users", "sessions")
_OF_LOAD = pattern(
    r"\d ?[kM]? (?:requests|queries|calls|tokens|users|sessions)(?:/s| (?:a|per) second| at once)?"
    r"[^.;:=\d]{0,12}(?::|=|\b(?:needs?|requires?|takes?|that is|would be)\b)[^.;\d]{0,12}$"
)
"""Pattern of the text before a number of nodes that a load needs; such a number is not the size of the machine."""


class MachineCount(NamedTuple):
    """A number of nodes or accelerators in a text."""

    value: int
    words: str
    is_limit: bool
    """Whether the number is an upper limit."""

    def is_met(self, size: int) -> bool:
        """Whether the number is a limit that a size keeps: a pod has at most 9,216 chips."""
        return self.is_limit and size <= self.value


def node_counts_in(text: str) -> Iterator[MachineCount]:
    """The numbers of nodes in a text that may be those of its machine.

    >>> [each.value for each in node_counts_in("Forty-four DGX H100, two of the 12 spares. At most 48 nodes.")]
    [44, 48]
    """
    yield from _counts_with_words(_NODES, _NODE_NOUNS, text)


def accelerator_counts_in(text: str) -> Iterator[MachineCount]:
    """The numbers of accelerators in a text that may be those of its machine.

    >>> [(each.value, each.is_limit) for each in accelerator_counts_in("256 H200, at most 192 GPUs; pods of 64 GPUs")]
    [(256, False), (192, True)]
    """
    yield from _counts_with_words(_ACCELERATORS, _ACCELERATOR_NOUNS, text)


def is_of_machine(count: MachineCount, text: str, cluster: Cluster) -> bool:
    """Whether a count of a text is neither one of a hypothesis (three nodes would be too many for a rack) nor of another
    machine, the site or a later stage. A limit applies to the machine.
    """
    words = count.words
    if words not in planned_text(text):
        return False
    if count.is_limit:
        return True
    of_site = any(is_size_of_site(each, each.find(words)) for each in sentences_of(text) if words in each)
    return not (of_site or is_size_of_something_else(text, words, cluster))


def is_of_a_store(words: str, description: str) -> bool:
    """Whether the sentence that contains these words is about drives.

    >>> is_of_a_store("Twelve servers", "60 nodes. Twelve servers with 24 drives are 2.2 PB. The drives are new.")
    True
    >>> is_of_a_store("60 nodes", "60 nodes. Twelve servers with 24 drives are 2.2 PB.")
    False
    """
    sentence = next((each for each in sentences_of(description) if words in each), "")
    return has_word(sentence.lower(), _OF_A_STORE)


def is_of_partitions(words: str, description: str) -> bool:
    """Whether the instances in these words are partitions of accelerators (MIG).

    >>> is_of_partitions("42 instances", "MIG: six accelerators in 7 x 1g.10gb, 42 instances of 10 GB.")
    True
    """
    return words.endswith("instances") and "MIG" in description


def _counts_with_words(counted: re.Pattern[str], nouns: frozenset[str], description: str) -> Iterator[MachineCount]:
    """The counts in a text; numbers that end a product name, as in Gaudi 3 servers, are omitted."""
    end = 0
    for number in _COUNT.finditer(description):
        count, before = _stated_count(number[0]), description[: number.start()].split()
        names = bool(before) and description[number.start() - 1] == " " and _is_of_a_name(before, count or 0)
        if number.start() < end or count is None or (before and before[-1] in {"x", "×", "*"}):
            continue  # a number of the part's name, as in 8 RTX 4090 servers; or a factor, as in 16 × 31 GPUs
        if _is_of_another_size(before) or _is_year(before, number[0]):
            continue
        next_word = description[number.end() + 1 :].partition(" ")[0]
        if next_word.isalpha() and next_word.islower() and next_word not in nouns:
            continue  # NOTE: compiling a pattern that cannot match takes longer than most rules
        if (what := counted.match(description, number.end())) is not None:
            end = what.end()
            ranged = len(before) > 1 and before[-1] in _RANGE_SIGNS and before[-2][-1].isdigit()
            behind = description[end : end + 16].lstrip()
            near = max(0, number.start() - 48)
            loaded = any(each in description[near : number.start()] for each in _LOADS)
            of_load = loaded and _OF_LOAD.search(description, near, number.start()) is not None
            if ranged or of_load or behind.startswith((*_AND_MORE, *_LATER)):
                continue  # the sizes of orders that a price is for: 50 to 99 nodes, 100 nodes and more
            if not names:
                yield MachineCount(count, number[0] + what[0], is_upper_limit(description[: number.start()]))


def _is_of_a_name(before: list[str], count: int) -> bool:
    """Whether the words before a number make it the end of a product name, such as `RTX PRO 6000` or `Cisco 9300`.

    >>> _is_of_a_name(["the", "RTX"], 5090), _is_of_a_name(["Gaudi"], 3), _is_of_a_name(["Cisco"], 9300)
    (True, False, True)
    >>> _is_of_a_name(["It", "has"], 40), _is_of_a_name(["end.", "Buy"], 40), _is_of_a_name(["a", "Gaudi"], 3)
    (False, False, True)
    """
    word, first = before[-1], len(before) == 1 or before[-2][-1] == "."
    capitals = word.isalpha() and word.isupper() and len(word) > 1
    return capitals or (word.istitle() and (not first or (word.lower() not in _LEADING and count >= _LEAST_MODEL)))


_ROOM = frozenset(
    ("suffices", "suffice", "sufficient", "enough", "room", "space", "good", "capacity", "addresses", "sized")
)
"""Words before `for` and a number that something would suffice for."""


def _is_of_another_size(before: list[str]) -> bool:
    """Whether the words before a count refer it to a larger machine or to a block of its fabric: 128 of the 256 nodes,
    up to 256 nodes, pods of 3,072 accelerators.

    >>> [_is_of_another_size(text.split()) for text in ("128 of the", "keeps three of our", "in pods of", "a cluster of")]
    [True, True, True, False]
    """
    if before[-1:] == ["for"] and before[-2:-1] and before[-2].strip("(,").lower() in _ROOM:
        return True
    if before[-2:] == ["up", "to"] or (before[-1:] == ["of"] and before[-2:-1] and before[-2].lower() in _BLOCKS):
        return True
    if before[-1:] in (["the"], ["its"], ["our"], ["all"]):
        before = before[:-1]
    return (
        before[-1:] == ["of"] and bool(before[-2:-1]) and _stated_count(before[-2].strip("(,").capitalize()) is not None
    )


_BEFORE_A_YEAR = frozenset(("the", "our", "of", "from", "since", "in", "a"))


def _is_year(before: list[str], digits: str) -> bool:
    """Whether four digits before the name of a part are a year.

    >>> _is_year(["Refresh", "of", "the"], "2021"), _is_year(["of", "the"], "2,021"), _is_year(["has"], "2016")
    (True, False, False)
    """
    return digits.isdecimal() and 2010 <= int(digits) <= 2035 and before[-1:] != [] and before[-1] in _BEFORE_A_YEAR


def _stated_count(text: str) -> int | None:
    """The number that digits or a numeral state; None for other words."""
    digits = text.replace(",", "")
    return int(digits) if digits.isdecimal() else NUMERALS.get(text)


MOST_SIZES = 400
"""Largest number of numbers of a text that are read."""
_NOUN = (
    r"(?:nodes?|servers?|instances?|hosts?|machines|systems|boxes|trays|knoten|hosts|nœuds|nodos|instancias|(?:DGX|HGX|ND|p\d\w*\.|a\d-)[\w.-]*"
    r"|GPUs?|chips|accelerators|beschleuniger|TPUs?|[A-Z]{1,3}\d{2,3}[A-Z]?|MI\d{3}[AX])"
)
_SIZE = pattern(rf"(?i)(?<![\w.,/-])(\d{{1,3}}(?:[,.]\d{{3}})+|\d{{1,7}})(?: (?:\w[\w.-]*)){{0,2}}? {_NOUN}(?![\w])")
"""A number of nodes or of accelerators."""


def is_size_of_something_else(text: str, words: str, cluster: Cluster) -> bool:
    """Whether a sentence with some words lacks the size of the machine, which another sentence states."""
    sizes = {
        cluster.nodes,
        cluster.all_nodes,
        cluster.accelerators,
        cluster.accelerators * cluster.ranks_per_accelerator,
    }
    sentences = sentences_of(text)
    own = [each for each in sentences if _has_size(each, sizes)]
    return bool(own) and not any(words in each for each in own) and any(words in each for each in sentences)


def _has_size(sentence: str, sizes: Collection[int]) -> bool:
    """Whether a sentence states one of the numbers of nodes or accelerators.

    >>> [_has_size(each, {32, 256}) for each in ("thirty-two nodes", "256 H200", "32 ports", "28 nodes")]
    [True, True, False, False]
    """
    numbers = islice(_SIZE.finditer(with_numerals(sentence)), MOST_SIZES)
    return any(int(each[1].replace(",", "").replace(".", "")) in sizes for each in numbers)
