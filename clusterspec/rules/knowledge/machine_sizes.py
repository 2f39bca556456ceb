"""Whether a text states the size of its machine, so that another size in it is that of something else."""

from __future__ import annotations

from collections.abc import Collection
from itertools import islice

from clusterspec.cluster.model import Cluster
from clusterspec.rules.knowledge.text_passages import with_numerals
from clusterspec.standard import pattern

MOST_SIZES = 400
"""Numbers of a text that are read."""
_ENDS = pattern(r"[.;?!](?=\s|$)|\n|(?:^|\s)[*•–-](?=\s)")
"""The ends of sentences and of items of a list."""
_NOUN = (
    r"(?:nodes?|servers?|instances?|hosts?|machines|systems|boxes|trays|knoten|hosts|nœuds|nodos|instancias|(?:DGX|HGX|ND|p\d\w*\.|a\d-)[\w.-]*"
    r"|GPUs?|chips|accelerators|beschleuniger|TPUs?|[A-Z]{1,3}\d{2,3}[A-Z]?|MI\d{3}[AX])"
)
_SIZE = pattern(rf"(?i)(?<![\w.,/-])(\d{{1,3}}(?:[,.]\d{{3}})+|\d{{1,7}})(?: (?:\w[\w.-]*)){{0,2}}? {_NOUN}(?![\w])")
"""A number of nodes or of accelerators."""


def is_size_of_something_else(text: str, words: str, cluster: Cluster) -> bool:
    """Whether some words of a text are in a sentence, or item of a list, without the size of the machine, and another one states it. A limit (`at most 192 GPUs`) is of the machine.

    The machine has 32 nodes of eight accelerators:

    >>> from clusterspec.rules.knowledge.machine_sizes import _has_size
    >>> [_has_size(each, {32, 256}) for each in ("thirty-two nodes", "256 H200", "32 ports", "28 nodes")]
    [True, True, False, False]
    """
    sizes = {
        cluster.nodes,
        cluster.all_nodes,
        cluster.accelerators,
        cluster.accelerators * cluster.ranks_per_accelerator,
    }
    parts = [part for part in _ENDS.split(text) if part]
    own = [part for part in parts if _has_size(part, sizes)]
    if f"at most {words}" in text or not own:
        return False
    return not any(words in part for part in own) and any(words in part for part in parts)


def _has_size(part: str, sizes: Collection[int]) -> bool:
    numbers = islice(_SIZE.finditer(with_numerals(part)), MOST_SIZES)
    return any(int(each[1].replace(",", "").replace(".", "")) in sizes for each in numbers)
