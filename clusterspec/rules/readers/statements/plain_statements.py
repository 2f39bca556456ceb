"""Plain statements of a text about the design: short sentences with one figure of which each word is known.

Other readers look for the words of a subject near a figure, and pass over what the rest of a sentence says. Here the rest is
known too, so that the words of a subject may be as general as `node` and `cost`.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache

from clusterspec.records import NamedTuple
from clusterspec.rules.readers.clauses import is_former, is_hypothetical, is_of_other_plan
from clusterspec.rules.readers.demands.energies import DemandFigure
from clusterspec.rules.readers.demands.figures import demand_figures
from clusterspec.rules.readers.demands.sentences import plain_sentences
from clusterspec.rules.readers.doubt import words_of_another
from clusterspec.rules.readers.key_values import KILOWATT_HOUR
from clusterspec.rules.readers.other_parties import words_of_party
from clusterspec.rules.readers.rejections import turns_down
from clusterspec.rules.readers.statements.plain_vocabulary import FILLER, LONGEST_EASTERN, MEANINGS
from clusterspec.standard import pattern

LONGEST = 120
"""Largest number of characters of a plain sentence: longer ones say more."""
CEILING, FACT = "ceiling", "fact"
_LIMITS = frozenset({"most", "must", "not"})
LONGEST_SENTENCE = 240
"""Largest number of characters of a sentence whose clauses are read."""
_CLAUSES = pattern(r"(?i), (?=\D)|; ?|、|\b(?:and|und|et|y|while|but|aber|mais|pero|sowie)\b")
_ORDINAL = pattern(r"\d[\d.,]*(?:st|nd|rd|th|er|ère|ème|[ºª])\b")
_WORD = pattern(r"[^\W\d_]+")
_LATIN = pattern(r"[A-Za-zÀ-ɏ]+")
_RATIO = pattern(r"(?<![\d.:])(\d{1,2}(?:\.\d)?) ?: ?1(?![\d:]|\.\d)")
_ONES = pattern(r"(?<![\d.,:])1(?![\d.,:])")


class PlainKind(NamedTuple):
    """What plain statements are about: the measure of the figure, the meanings that the other words must have, and those that they
    may have. A ceiling is stated with one of the meanings in ``bounds``.
    """

    name: str
    measure: str
    needed: frozenset[str]
    allowed: frozenset[str]
    sense: str = FACT
    bounds: frozenset[str] = frozenset()
    counts: str = ""
    """What a count is of, where the words behind its digits say so."""
    unless: str = ""
    """A meaning by which the sentence is about something else."""


class PlainStatement(NamedTuple):
    """A figure in SI that a sentence states for a key or for a quantity of the design."""

    kind: PlainKind
    value: float
    words: str


def _fact(key: str, measure: str, needed: str, allowed: str = "", counts: str = "") -> PlainKind:
    known = frozenset(f"{needed} {allowed}".split())
    return PlainKind(key, measure, frozenset(needed.split()), known, counts=counts)


def _ceiling(
    name: str,
    measure: str,
    needed: str,
    allowed: str = "",
    bounds: str = "most must",
    counts: str = "",
    unless: str = "",
) -> PlainKind:
    known = frozenset(f"{needed} {allowed} {bounds}".split()) | _LIMITS
    return PlainKind(
        name, measure, frozenset(needed.split()), known, CEILING, frozenset(bounds.split()), counts, unless
    )


KINDS = (
    _fact("cluster.nodes", "count", "machine node", counts="node"),
    _fact("cluster.accelerators_per_node", "count", "node gpu each", counts="gpu"),
    _fact("cluster.scale_out.nics_per_node", "count", "node nic each", counts="nic"),
    _fact("cluster.scale_out.nics_per_node", "count", "node network card each", counts="card"),
    _fact("cluster.spare_nodes", "count", "spare node", "keep"),
    _fact("cluster.spare_nodes", "count", "sparenode", "keep"),
    _fact("cluster.power.nodes_per_rack", "count", "rack node each", counts="node"),
    _fact("cluster.scale_out.nic_bandwidth", "rate", "nic each", "supply bandwidth"),
    _fact("cluster.scale_out.nic_bandwidth", "rate", "network card each", "supply bandwidth"),
    _fact("cluster.scale_out.oversubscription", "ratio", "over", "fabric network"),
    _fact("cluster.networks.storage.capacity", "size", "storage", "capacity"),
    _fact("cluster.networks.storage.bandwidth", "rate", "storage", "bandwidth supply"),
    _fact("cluster.power.node", "watts", "node each power", "most must not"),
    _fact("workload.tokens", "count", "token train", "model", "token"),
    _fact("workload.sequence_length", "count", "sequence length", "token", "token"),
    _fact("workload.sequence_length", "count", "sequencelength", "token", "token"),
    _fact("workload.global_batch", "count", "batch global", "sequence", "sequence"),
    _fact("operations.checkpoint.interval", "time", "checkpoint every", "save each"),
    _fact("operations.checkpoint.interval", "time", "checkpoint save each"),
    _fact("operations.checkpoint.keep", "count", "checkpoint keep", "last save", "checkpoint"),
    _fact("operations.burn_in", "time", "burn in"),
    _fact("operations.burn_in", "time", "burnin"),
    _fact("procurement.prices.node", "money", "node price each"),
    _fact("procurement.electricity", "tariff", "kwh", "price each cent"),
    _fact("procurement.pue", "number", "pue", "hall machine"),
    _fact("procurement.warranty", "time", "warranty"),
    _fact("procurement.term", "time", "term"),
    _fact("procurement.delivery.weeks", "time", "delivery"),
    _fact("cluster.accelerators", "count", "gpu machine", counts="gpu"),
    _fact("cluster.accelerators", "count", "gpu service", counts="gpu"),
    _fact("cluster.accelerator.memory", "size", "gpu gpumemory each"),
    _fact("workload.serving.input_tokens", "count", "prompt token", "average each", "token"),
    _fact("workload.serving.output_tokens", "count", "answer token", "average each", "token"),
    _ceiling("workload.serving.targets.ttft", "time", "first token"),
    _ceiling("workload.serving.targets.tpot", "time", "next token", "each"),
    _ceiling("power", "watts", "machine", "power each"),
    _ceiling("power", "watts", "hall supply", "machine power most must", "supply"),
    _ceiling("power", "watts", "power term", "supply", "term"),
    _ceiling("rack power", "watts", "rack", "power each"),
    _ceiling("racks", "count", "rack room", "hall machine node", "room", "rack"),
    _ceiling("purchase", "money", "purchase", "price machine", "most must approved"),
    _ceiling("purchase", "money", "node price", unless="each"),
    _ceiling("lost work", "time", "failure work", "price lost each"),
)
_UNITS = frozenset({"W", "s", "money", "B"})
_MEASURES = {
    frozenset({"W"}): "watts",
    frozenset({"s"}): "time",
    frozenset({"money"}): "money",
    frozenset({"B"}): "size",
}


def plain_statements(text: str) -> Iterator[PlainStatement]:
    """The plain statements of a text.

    >>> [(each.kind.name, each.value) for each in plain_statements("Each NIC runs at 200 Gb/s. Le contrat dure quatre ans.")]
    [('cluster.scale_out.nic_bandwidth', 25000000000.0), ('procurement.term', 126230400.0)]
    >>> [(each.kind.name, each.value) for each in plain_statements("每个节点有4块GPU。The old cluster has 24 nodes.")]
    [('cluster.accelerators_per_node', 4.0)]
    """
    for sentence in plain_sentences(text):
        if not any(map(str.isdigit, sentence)):
            continue
        whole = _statement_of(sentence)
        yield from (whole,) if whole is not None else _statements_of_clauses(sentence)


def _statements_of_clauses(sentence: str) -> Iterator[PlainStatement]:
    """The plain statements that the clauses of a sentence are, if each of them is one."""
    clauses = [each for each in _CLAUSES.split(sentence) if each.strip(" .,")]
    if len(clauses) < 2 or len(sentence) > LONGEST_SENTENCE or is_hypothetical(sentence) or words_of_another(sentence):
        return
    if is_former(sentence) or is_of_other_plan(sentence) or turns_down(sentence) or words_of_party(sentence):
        return
    found = [each for each in map(_statement_of, clauses) if each is not None]
    if len(found) == len(clauses):
        yield from found


@lru_cache(256)
def _statement_of(sentence: str) -> PlainStatement | None:
    """The statement of the first kind that a sentence or a clause is; None if it is of no kind."""
    read = _figure_of(sentence) if len(sentence) <= LONGEST else None
    meanings = _meanings_of(read.rest) if read is not None else None
    if read is None or meanings is None:
        return None
    for kind in KINDS:
        value = _value_of_kind(read, kind, meanings)
        if value is not None:
            return PlainStatement(kind, value, read.words)
    return None


def _value_of_kind(read: _Read, kind: PlainKind, meanings: list[frozenset[str]]) -> float | None:
    """The figure of a sentence in SI as one of a kind; None if its measure or one of its words shows another kind."""
    known, allowed = frozenset().union(*meanings), kind.allowed | {FILLER, "each"}
    if not kind.needed <= known or len(kind.needed) > len(meanings) or any(map(allowed.isdisjoint, meanings)):
        return None
    if (kind.bounds and kind.bounds.isdisjoint(known)) or not _counts(read, kind) or kind.unless in known:
        return None
    if kind.measure == read.measure or (kind.measure, read.measure) == ("count", "number"):
        return read.value
    if kind.measure != "tariff" or read.measure not in {"money", "number"}:
        return None
    if read.measure == "money":
        return read.value / KILOWATT_HOUR
    return read.value / 100 / KILOWATT_HOUR if "cent" in known else None


def _counts(read: _Read, kind: PlainKind) -> bool:
    """Whether the figure counts what a kind counts, as far as its words say what it counts."""
    nouns = [MEANINGS[each] for each in _WORD.findall(read.words.lower()) if each in MEANINGS]
    if not nouns:
        return not kind.counts or kind.sense == FACT
    return not kind.counts or any(kind.counts in each for each in nouns)


class _Read(NamedTuple):
    """The only figure of a sentence: its value in SI, its measure, its words, and the sentence without its digits."""

    value: float
    measure: str
    words: str
    rest: str


def _figure_of(sentence: str) -> _Read | None:
    """The only figure of a sentence, apart from ones that say `each`; None if it has none or several."""
    if (ratio := _RATIO.search(sentence)) is not None:
        rest = f"{sentence[: ratio.start()]} {sentence[ratio.end() :]}"
        return _Read(float(ratio[1]), "ratio", ratio[0], rest) if not any(map(str.isdigit, rest)) else None
    figures = [each for each in demand_figures(sentence) if not each.is_computed and not _is_one(each)]
    if len(figures) != 1:
        return None
    (figure,) = figures
    if _ORDINAL.match(figure.words) is not None:
        return None
    measure = _measure_of(figure)
    rest = f"{sentence[: figure.start]} {_nouns_of(figure)} {sentence[figure.end :]}"
    left = _ONES.sub(" ", rest)
    if measure is None or any(map(str.isdigit, left)):
        return None
    return _Read(figure.value, measure, figure.words, rest)


def _is_one(figure: DemandFigure) -> bool:
    """Whether a figure is the number of one thing, as in `1 node` and `1 kWh`, of which a sentence states another figure."""
    above = {name for name, power in figure.powers if power > 0}
    return above == {"J"} or (figure.value == 1 and above.isdisjoint(_UNITS))


def _measure_of(figure: DemandFigure) -> str | None:
    """The measure of a figure by the units above and below the line; None for one that no kind has."""
    above = frozenset(name for name, power in figure.powers if power > 0)
    below = frozenset(name for name, power in figure.powers if power < 0)
    if above == {"B"} and "s" in below:
        return "rate"
    if above == {"money"} and below >= {"W", "s"}:
        return "tariff"
    if "s" in below:
        return None
    return _MEASURES.get(above - {"away"}, "number" if not above else "count")


def _nouns_of(figure: DemandFigure) -> str:
    """The known words of a figure: what it counts, and not its unit or its scale."""
    return " ".join(each for each in _WORD.findall(figure.words.lower()) if each in MEANINGS)


def _meanings_of(text: str) -> list[frozenset[str]] | None:
    """The meanings of each word of a text; None if one of them is not known."""
    found = []
    for word in _WORD.findall(_ONES.sub(" each ", text).lower()):
        for part in (word,) if _LATIN.fullmatch(word) else _eastern_words(word):
            if part not in MEANINGS:
                return None
            found.append(MEANINGS[part])
    return found


def _eastern_words(run: str) -> Iterator[str]:
    """A run of characters without spaces, cut into the longest known words; a character of no word stands alone."""
    at = 0
    while at < len(run):
        length = next((size for size in range(LONGEST_EASTERN, 1, -1) if run[at : at + size] in MEANINGS), 1)
        yield run[at : at + length]
        at += length
