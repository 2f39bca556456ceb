"""Whether a text states the size of its machine, so that another size in the text belongs to something else."""

from __future__ import annotations

from collections.abc import Collection
from itertools import islice

from clusterspec.cluster.model import Cluster
from clusterspec.rules.readers.passages import with_numerals
from clusterspec.rules.readers.written_numbers import sentences_of
from clusterspec.standard import pattern

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
