"""The figures of accelerators that a text may state: those that it names, and peaks and rates that it counts wrongly."""

from __future__ import annotations

from collections.abc import Iterator

from clusterspec.catalog import Catalog
from clusterspec.catalog.entries import Accelerator
from clusterspec.cluster.model import Cluster
from clusterspec.records import NamedTuple
from clusterspec.rules.readers.clauses import clause_at, is_former, is_hypothetical, is_of_other_plan
from clusterspec.rules.readers.dimensions import TIME, Figure, Powers, figures_of
from clusterspec.rules.readers.loads import MOST_CHARACTERS
from clusterspec.rules.readers.named_keys import MEASURES
from clusterspec.rules.readers.part_mentions import mentions_in
from clusterspec.rules.readers.passages import with_numerals
from clusterspec.rules.readers.written_numbers import sentences_of
from clusterspec.standard import pattern
from clusterspec.units import display

MOST_SENTENCES, LONGEST_SENTENCE = 200, 1500
"""Sentences of a text that are read, and characters of one of them."""
FARTHEST = 48
"""Characters behind a figure that may say its direction."""
CLOSE = 0.015
"""Relative difference up to which a figure is one of the catalog."""
_FLOPS: Powers = frozenset({("flop", 1), (TIME, -1)})
_ONE_WAY = pattern(
    r"(?i) (?:of nvlink |de nvlink |nvlink |over nvlink |di nvlink )?(?:(?:in |to )?(?:each|one|every|either) (?:direction|way)|per (?:direction|richting|direzione)|"
    r"(?:je|pro|in jede[rn]?|in eine[rn]?) richtung|(?:par|dans chaque|à chaque) (?:sens|direction)|(?:por|en cada) (?:sentido|dirección))\b"
)
"""Words behind a rate of one direction."""
_BOTH_WAYS = pattern(
    r"(?i)\b(?:both|bidirectional\w*|duplex|beide\w*|bidirektional\w*|les deux|bidirectionnel\w*|ambos|ambas|entrambe|entrambi|wrong\w*|instead|nicht|not)\b"
)
_DENSE = pattern(
    r"(?i)\b(?:dense|dicht\w*|denses?|densos?|densi|without (?:2:4 |structured )?sparsity|ohne (?:2:4-)?sparsity|sans (?:la )?sparsité|sin dispersión|senza sparsity)\b"
)
_SPARSE = pattern(
    r"(?i)\b(?:with (?:2:4 |structured )?sparsity|mit (?:2:4-)?sparsity|avec (?:la )?sparsité|sparse\w*|2:4)\b"
)
_PRECISION = pattern(r"(?i)\b(bf16|fp16|tf32|fp8|fp6|fp4|int8|mxfp8|nvfp4|mxfp4)\b")


class WrongFigure(NamedTuple):
    """A figure of a text, what the text calls it, and what it is, in words."""

    words: str
    called: str
    right: str


def wrong_accelerator_figures(text: str, cluster: Cluster) -> Iterator[WrongFigure]:
    """Peaks with sparsity that a text calls dense, and sums of both directions that it calls a rate of one."""
    for sentence in sentences_of(with_numerals(" ".join(text[:MOST_CHARACTERS].split())))[:MOST_SENTENCES]:
        if len(sentence) > LONGEST_SENTENCE or is_of_other_plan(sentence) or is_former(sentence):
            continue
        for figure in figures_of(sentence):
            measured = frozenset(each for each in figure.powers if each[0] in ("flop", "B", TIME))
            if measured == _FLOPS:
                yield from _sparse_as_dense(sentence, figure, cluster)
            elif measured == MEASURES["rate"]:
                yield from _both_as_one(sentence, figure, cluster)


def _sparse_as_dense(sentence: str, figure: Figure, cluster: Cluster) -> Iterator[WrongFigure]:
    clause = clause_at(sentence, figure.start, figure.end)
    named = _PRECISION.findall(clause)
    if _DENSE.search(clause) is None or _SPARSE.search(_DENSE.sub("", clause)) is not None or len(named) != 1:
        return
    peak = cluster.accelerator.peaks.get(named[0].lower())
    if peak is None or is_hypothetical(clause):
        return
    counts = {1, cluster.accelerators_per_node, cluster.scale_up.domain, cluster.accelerators}
    if any(_is_close(figure.value, count * peak.value) for count in counts):
        return
    for count in sorted(counts):
        if _is_close(figure.value, 2 * count * peak.value):
            of = f"{count:,} {cluster.accelerator.id}" if count > 1 else cluster.accelerator.id
            right = f"{display(count * peak.value, 'FLOP/s')} of {of}; the figure counts 2:4 sparsity"
            yield WrongFigure(figure.words, f"dense {named[0]}", right)
            return


def _both_as_one(sentence: str, figure: Figure, cluster: Cluster) -> Iterator[WrongFigure]:
    rate = cluster.accelerator.scale_up_bandwidth
    behind = _ONE_WAY.search(sentence, figure.start, figure.end + FARTHEST)
    if (
        rate is None
        or behind is None
        or behind.start() > figure.end
        or _BOTH_WAYS.search(clause_at(sentence, figure.start, figure.end)) is not None
    ):
        return
    if _is_close(figure.value, 2 * rate.value) and not _is_close(figure.value, rate.value):
        right = f"{display(rate.value, 'B/s')} of {cluster.accelerator.id}; the figure counts both"
        yield WrongFigure(figure.words, "the rate of one direction", right)


def _is_close(one: float, other: float) -> bool:
    return abs(one / other - 1) <= CLOSE


def figures_of_accelerators(text: str, cluster: Cluster, catalog: Catalog) -> set[float]:
    """Memory in bytes, bandwidths in B/s of one and of both directions, and watts of the own accelerator and of those
    that a text names, for one and for all of a node.
    """
    found = {cluster.accelerator.id: cluster.accelerator}
    for sentence in sentences_of(text)[:MOST_SENTENCES]:
        for each in mentions_in(sentence, catalog):
            entries = [catalog.find(each.kind, id_) for id_ in each.ids]
            found |= {entry.id: entry for entry in entries if isinstance(entry, Accelerator)}
    ones = {value for entry in found.values() for value in _values_of(entry)}
    return ones | {value * cluster.accelerators_per_node for value in ones}


def _values_of(entry: Accelerator) -> Iterator[float]:
    for figure in (entry.memory, entry.memory_bandwidth, entry.power):
        if figure is not None:
            yield figure.value
    for rate in (entry.scale_up_bandwidth, entry.peer_bandwidth):
        if rate is not None:
            yield from (rate.value, 2 * rate.value)
