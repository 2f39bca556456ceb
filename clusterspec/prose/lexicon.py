"""Phrases that qualify a figure, and the generation and lane width of an interconnect."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from enum import StrEnum

from clusterspec.prose.tokenize import Token, TokenKind
from clusterspec.quantity import Direction, Sparsity
from clusterspec.records import dataclass

# Phrases that qualify a figure: its direction, scope, sparsity, channel and metric


class FigureScope(StrEnum):
    """The part or group of parts that a figure covers."""

    LANE = "lane"
    LINK = "link"
    PORT = "port"
    PAIR = "pair"
    DEVICE = "accelerator"
    NODE = "node"
    SUM = "sum"


class Channel(StrEnum):
    """The resource that a figure describes: a memory, a link tier, a peak, a capacity or power."""

    MEMORY = "memory"
    SCALE_UP = "scale-up"
    HOST = "host bus"
    NETWORK = "network"
    PEAK = "peak"
    CAPACITY = "capacity"
    POWER = "power"


class Hint(StrEnum):
    """Other qualifications of a figure."""

    ABOUT = "about"
    BOUND = "bound"
    MEASURED = "measured"
    DENIED = "denied"
    METRIC = "metric"
    COLLECTIVE = "collective"
    BISECTION = "bisection"
    EACH = "each"
    TOTAL = "total"
    VERSUS = "versus"


@dataclass(frozen=True)
class PrecisionName:
    """The number format of a peak."""

    name: str


Meaning = Direction | Sparsity | FigureScope | Channel | Hint | PrecisionName


@dataclass(frozen=True)
class PhraseMatch:
    """A phrase of the lexicon found at tokens ``start`` (inclusive) to ``end`` (exclusive)."""

    start: int
    end: int
    meaning: Meaning


NOUNS: dict[FigureScope, str] = {
    FigureScope.LANE: "lane",
    FigureScope.LINK: "link",
    FigureScope.PORT: "port|nic|supernic|hca|adapter|adaptor|interface|rail",
    FigureScope.DEVICE: "gpu|accelerator|chip|device|card|asic|tpu|socket|oam|package",
    FigureScope.NODE: "node|server|host|instance|machine|system|box|vm|tray|chassis",
    FigureScope.SUM: "rack|pod|cluster|domain|fabric|switch|superpod|slice|cube|ultraserver",
}
COUNTED: dict[str, FigureScope] = {
    form: scope
    for scope, nouns in NOUNS.items()
    for noun in nouns.split("|")
    for form in (noun, f"{noun}s", f"{noun}es")
} | {"nvlinks": FigureScope.LINK, "nics": FigureScope.PORT, "connections": FigureScope.LINK, "gpus": FigureScope.DEVICE}
"""The scope of each noun that a number can count."""
_EACH = ("per", "/", "each", "every", "a single", "one", "for each", "a", "an")
_PHRASES: tuple[tuple[Meaning, str], ...] = (
    (
        Direction.ONE_WAY,
        "unidirectional|uni directional|unidir|uni|undirectional|unidirection|one way|each way|per way",
    ),
    (
        Direction.ONE_WAY,
        "simplex|per direction|each direction|one direction|per dir|/ direction|/ dir|single direction",
    ),
    (
        Direction.ONE_WAY,
        "while it receives|while they receive|while receiving|and receives another|and receive another",
    ),
    (Direction.DUPLEX, "duplex|full duplex|bidirectional|bi directional|bidir|bidi|bidirectionally|both ways|two way"),
    (Direction.DUPLEX, "both directions|send and receive|bi directionally|bi dir"),
    (Sparsity.DENSE, "dense|without sparsity|no sparsity|non sparse"),
    (Sparsity.SPARSE, "sparse|sparsity|with sparsity|structured sparsity|2 : 4"),
    *((scope, "|".join(f"{before} {noun}" for before in _EACH)) for scope, n in NOUNS.items() for noun in n.split("|")),
    (FigureScope.SUM, "aggregate|aggregated|aggregates|combined|total|in total|totaling|totalling|altogether|overall"),
    (FigureScope.PAIR, "peer to peer|p2p|per pair|gpu to gpu|card to card|per peer|pairwise|to each peer"),
    (Channel.MEMORY, "hbm|hbm2|hbm2e|hbm3|hbm3e|hbm4|gddr6|gddr6x|memory bandwidth|dram|device memory"),
    (Channel.SCALE_UP, "nvlink|nvlinks|nvswitch|xgmi|infinity fabric|neuronlink|ici|scale up|intra node|gpu to gpu"),
    (Channel.SCALE_UP, "inside a node|inside the node|within a node|within the node|inside one node|within one node"),
    (Channel.NETWORK, "between nodes|across nodes|node to node|between the nodes|among nodes|off node"),
    (Channel.HOST, "pcie|pci express|pci e|host to device|h2d"),
    (Channel.NETWORK, "infiniband|ib|roce|rocev2|ethernet|nic|nics|hca|hcas|rdma|efa|inter node|scale out|network"),
    (Channel.NETWORK, "slingshot|omni path|opa|connectx|ndr|hdr|edr|xdr|backend network"),
    (Hint.ABOUT, "~|≈|about|around|roughly|approximately|nearly|almost|circa|some"),
    (Hint.BOUND, "over|more than|less than|under|below|above|at least|at most|no more than|no less than|fewer than"),
    (Hint.BOUND, ">|<|>=|<=|≥|≤|exceed|exceeds|exceeding|beyond|lower than|higher than|upwards of|greater than"),
    (
        Hint.MEASURED,
        "measured|measure|measures|achieved|achieve|achieves|achieving|achievable|effective|reached|reaches",
    ),
    (
        Hint.MEASURED,
        "reach|observed|got|get|gets|getting|benchmark|benchmarks|real world|in practice|sustained|sustain",
    ),
    (Hint.MEASURED, "sustains|actual|realistic|efficiency|throughput|utilization|saturates|attained|attains|reported"),
    (Hint.DENIED, "not|never|isn|rather than|mistaken|wrong|wrongly|misread|misleading"),
    (Hint.METRIC, "busbw|bus bandwidth|bus bw|algbw|algorithm bandwidth|algorithmic bandwidth|alg bw"),
    (Hint.COLLECTIVE, "all reduce|allreduce|allreduces|all reduces|nccl|rccl|all gather|allgather|reduce scatter"),
    (Hint.COLLECTIVE, "reducescatter|collective|collectives"),
    (Hint.BISECTION, "bisection|bisectional|cross section|cross sectional"),
    (Hint.EACH, "each|apiece|per"),
    (Hint.TOTAL, "total|totals|totaling|totalling|in total|aggregate|combined|altogether|in all|sum|overall"),
    (Hint.VERSUS, "vs|versus|instead of|compared to|compared with|against|rather than"),
    *((PrecisionName(name), name) for name in ("bf16", "fp16", "fp8", "fp4", "tf32", "fp32", "fp64", "int8")),
    (PrecisionName("bf16"), "bfloat16"),
    (PrecisionName("fp4"), "nvfp4|mxfp4"),
)


def _phrase_meanings() -> tuple[dict[tuple[str, ...], list[Meaning]], dict[str, int]]:
    """The meanings of every phrase, and for every first word the length of its longest phrase."""
    phrases: dict[tuple[str, ...], list[Meaning]] = {}
    firsts: dict[str, int] = {}
    for meaning, written in _PHRASES:
        for phrase in written.split("|"):
            words = tuple(phrase.split())
            phrases.setdefault(words, []).append(meaning)
            firsts[words[0]] = max(firsts.get(words[0], 0), len(words))
    return phrases, firsts


_LEXICON, _FIRSTS = _phrase_meanings()


def phrase_matches(words: Sequence[Token]) -> Iterator[PhraseMatch]:
    """The phrases of a token sequence, in order: at each token the longest one of each kind of meaning."""
    for at, token in enumerate(words):
        longest = _FIRSTS.get(token.text.lower())
        if longest is not None:
            yield from _matches_at(words, at, longest)


def _matches_at(words: Sequence[Token], at: int, longest: int) -> Iterator[PhraseMatch]:
    spelled, ends = _next_words(words, at, longest)
    matched: set[type[Meaning]] = set()
    for length in range(len(spelled), 0, -1):
        for meaning in _LEXICON.get(tuple(spelled[:length]), ()):
            if meaning is Hint.COLLECTIVE and _is_program_name(words, at, ends[length - 1]):
                continue
            if type(meaning) not in matched or isinstance(meaning, Hint):
                matched.add(type(meaning))
                yield PhraseMatch(at, ends[length - 1], meaning)


def _is_program_name(words: Sequence[Token], start: int, end: int) -> bool:
    """Whether tokens are part of a program name: `all_reduce_bench.py`."""
    return (
        end < len(words)
        and not words[end].gap
        and words[end].text.lower() in ("bench", "perf", "latency", "test", "tests")
    )


def _next_words(words: Sequence[Token], at: int, longest: int) -> tuple[list[str], list[int]]:
    """The next words without hyphens, and the index after each."""
    spelled: list[str] = []
    ends: list[int] = []
    for index in range(at, min(at + 2 * longest, len(words))):
        if words[index].text in ("-", "‑"):
            continue
        spelled.append(words[index].text.lower())
        ends.append(index + 1)
        if len(spelled) == longest:
            break
    return spelled, ends


# The generation and lane width of an interconnect family: `NVLink 4`, `Gen5 PCIe x16`, `fourth-generation NVLink`

_ORDINALS = {"first": 1, "second": 2, "third": 3, "fourth": 4, "fifth": 5, "sixth": 6, "seventh": 7}
_GENERATIONS = frozenset(("gen", "generation", "v", "version"))


def _token_generation(token: Token) -> str | None:
    """The generation in a token: 4, 4.0, v3, Gen5."""
    if token.kind is TokenKind.NUMBER and token.value == int(token.value) and 1 <= token.value <= 12:
        return str(int(token.value))
    if token.kind is TokenKind.NUMBER and token.value in (100.0, 200.0, 400.0, 800.0):
        return str(int(token.value))
    match = re.fullmatch(r"(?:gen|v)?(v?\d{1,2}[a-z]?)", token.text.lower()) if token.kind is TokenKind.WORD else None
    return match[1] if match else None


def generation_after(words: Sequence[Token], end: int) -> tuple[str | None, int]:
    """The generation after a family, past hyphens, brackets and `gen`; None for a count (`NVLink 18 links`)."""
    at, explicit = end, False
    while at < min(end + 4, len(words)):
        token = words[at]
        if token.text.lower() in _GENERATIONS:
            explicit = True
        elif token.text not in ("-", "(", "."):
            break
        at += 1
    if at >= len(words):
        return None, end
    generation = _token_generation(words[at])
    follows = words[at + 1] if at + 1 < len(words) else None
    if generation is None or (follows is not None and _is_count(words[at], follows, explicit)):
        return None, end
    return generation, at + 1


def _is_count(number: Token, follows: Token, explicit: bool) -> bool:
    """Whether a number after a family is a count (`NVLink 18 links`) or a multiplier (`PCIe 16x`)."""
    if explicit or number.kind is TokenKind.WORD:
        return False
    return (follows.kind is TokenKind.TIMES and not follows.gap) or follows.text == "%"


def generation_before(words: Sequence[Token], at: int) -> tuple[str | None, int]:
    """The generation before a family: `Gen5 PCIe`, `fourth-generation NVLink`, `5th gen NVLink`."""
    back = at - 1
    while back >= 0 and words[back].text == "-":
        back -= 1
    if back < 0:
        return None, at
    word = words[back].text.lower()
    if (match := re.fullmatch(r"gen(\d)", word)) is not None:
        return match[1], back
    if word not in _GENERATIONS:
        return None, at
    back -= 1
    while back >= 0 and (words[back].text == "-" or words[back].text.lower() in ("th", "rd", "nd", "st")):
        back -= 1
    if back < 0:
        return None, at
    ordinal = _ORDINALS.get(words[back].text.lower())
    number = words[back].value if words[back].kind is TokenKind.NUMBER else 0.0
    return (str(ordinal or int(number)), back) if ordinal or 1 <= number <= 9 else (None, at)


def link_width(words: Sequence[Token], end: int) -> tuple[int, int]:
    """The lanes of a PCIe link: `x16`, `× 8`."""
    if end < len(words) and (match := re.fullmatch(r"x(1|2|4|8|16|32)", words[end].text.lower())):
        return int(match[1]), end + 1
    if end + 1 < len(words) and words[end].text in ("x", "×") and words[end + 1].kind is TokenKind.NUMBER:
        lanes = words[end + 1].value
        if lanes in (1.0, 2.0, 4.0, 8.0, 16.0, 32.0):
            return int(lanes), end + 2
    return 0, end
