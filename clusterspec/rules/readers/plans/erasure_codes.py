"""Erasure codes in texts: the fragments on each server, and the losses that the storage system survives."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from math import ceil

from clusterspec.records import NamedTuple
from clusterspec.rules.readers.units import NUMBER_WORDS
from clusterspec.rules.readers.written_numbers import count_in_text
from clusterspec.standard import pattern
from clusterspec.units.display import plural

_CODE = r"(?<![\w.])(\d{1,2}) ?\+ ?(\d)(?![\w.])"
_COUNT = rf"(\d{{1,3}}|{'|'.join(NUMBER_WORDS)})"
_SERVER = r"(?:storage )?(?:nodes?|servers?)\b"
_FRAGMENT = r"(?:fragments?|shards?|strips?|chunks?|blocks?)"
_ACROSS = pattern(
    rf"{_CODE}[^.;\d]{{0,24}}?\b(?:across|over|between|přes|über|sur|entre|sobre|su|op|över|przez|na)\b(?: (?:all|the|les|los|die|alle|de|i|os))* ?(?:\d{{1,3}} )?{_SERVER}"
)
"""Pattern of an erasure code whose fragments are on different nodes, in English."""
_EACH_APART = pattern(
    rf"{_CODE}[^.;\d]{{0,40}}?\b(?:each|every|každý|jedes|jeder|chaque|cada|ogni|elk|elke|varje|hver|każdy) "
    r"(?:fragments?|fragmento|frammento|shards?|strips?|chunks?|stripes?|teil|blo(?:ck|c|k)|parte?) [^.;\d]{0,12}?\b(?:another|different|separate|own|jiném|samostatném|anderen?|eigenen|autre|otro|outro|altro|andere|annan|annen|innym)\b"
)
"""Pattern of an erasure code with each fragment on a separate node."""
_SEVERAL_EACH = pattern(
    rf"{_CODE}[^.;\d]{{0,24}}?\b(\d|{'|'.join(NUMBER_WORDS)}) "
    rf"{_FRAGMENT} (?:on|per|in|to) (?:each|every|a|one|the same) (?:storage )?(?:node|server|enclosure)s?\b"
)
"""Pattern of an erasure code with several fragments on each node."""
_SURVIVES = pattern(
    rf"\b(?:surviv\w*|tolerat\w*|withstand\w*|přežije|übersteht|verkraftet|supporte la perte|résiste|tolera\w*|soporta|suporta|sopporta|overleeft|tål|kestää|wytrzymuje)\b"
    rf"[^.;\d]{{0,30}}?\b(\d|{'|'.join(NUMBER_WORDS)}|dvou|zwei(?:er)?|deux|dos|dois|due|twee|två|to)\b [^.;]{{0,12}}?(?:nodes?|servers?)\b"
)
_LOST = (
    pattern(
        rf"\b(?:any|loss of|losing|lose|without) {_COUNT} (?:of (?:the|its|our|these) (?:{_COUNT} )?|whole )?{_SERVER}"
    ),
    pattern(
        rf"(?<![\w+]){_COUNT} (?:of (?:the|its|our|these) (?:{_COUNT} )?)?{_SERVER} (?:(?:may|can|could|are|be|at once|both) ){{0,2}}(?:down|fail\w*|lost|offline|out|die|stop)\b"
    ),
)
"""Patterns of a number of servers whose loss the storage system survives."""
_AT_A_TIME = pattern(
    rf"\b(?:reboots?|updates?|patch(?:es)?|maintenance|upgrades?|services?)\b[^.;]{{0,40}}?\b{_COUNT} (?:of (?:the|its|our|these) (?:{_COUNT} )?)?{_SERVER} "
    r"(?:at (?:a time|once|the same time)|(?:per|a|each|every) (?:night|day|evening|weekend|window|week))\b"
)
"""Pattern of a number of servers that maintenance stops together."""
_SERVERS = pattern(rf"(?<![\w+.,]){_COUNT} (?:identical |new |flash |all-flash )?{_SERVER}")
_TWO = frozenset({"dvou", "zwei", "zweier", "deux", "dos", "dois", "due", "twee", "två", "to"})
_ANY_CODE = pattern(_CODE)
_CODED = pattern(r"\b(?:erasure|parity|codes?|coding|stripes?|fragments?|raid|ec)\b")


class Stripes(NamedTuple):
    """An erasure code of ``data`` and ``parity`` fragments, as texts describe it.

    A server has at least ``least`` fragments of a stripe (1 if not stated). ``apart`` means that each fragment is on
    another server, ``spread`` that the code extends over servers. ``lost`` is the stated number of servers whose loss
    is survived, 0 if not stated.
    """

    data: int
    parity: int
    least: int
    apart: bool
    spread: bool
    lost: int

    @property
    def fragments(self) -> int:
        return self.data + self.parity

    def weakness(self, servers: int) -> str:
        """Why the code cannot do what the text claims with this number of servers; empty if it can."""
        code = f"a code of {self.data}+{self.parity}"
        if servers < self.fragments and self.apart:
            return f"{code} with each fragment on another node needs {self.fragments} nodes"
        each = max(ceil(self.fragments / servers), self.least) if servers > 1 else 0
        if each <= self.parity < self.lost * each:
            return f"{code} places {each} fragments on one node: it survives the loss of {plural(self.parity // each, 'node')}, not of {self.lost}"
        if each > self.parity and (self.spread or self.lost):
            return f"{code} places {each} fragments on one node: its loss exceeds the parity of {self.parity}"
        return ""


def stripes_in(texts: Sequence[str]) -> Stripes | None:
    """The erasure code of a storage system in lowercase texts; None unless they name exactly one.

    >>> stripes_in(["erasure coding with 8+2 on five servers.", "any two servers may fail"])
    Stripes(data=8, parity=2, least=1, apart=False, spread=False, lost=2)
    >>> stripes_in(["a code of 20+4, two fragments on each server"])
    Stripes(data=20, parity=4, least=2, apart=False, spread=True, lost=0)
    """
    placed = [(found, text) for text in texts for found in (_ACROSS, _EACH_APART, _SEVERAL_EACH) if found.search(text)]
    codes = {(int(each[0]), int(each[1])) for found, text in placed for each in found.findall(text)}
    if not codes:
        coded = [text for text in texts if _CODED.search(text) is not None]
        codes = {(int(data), int(parity)) for text in coded for data, parity in _ANY_CODE.findall(text) if int(parity)}
    if len(codes) != 1:
        return None
    ((data, parity),) = codes
    several = [found[3] for text in texts if (found := _SEVERAL_EACH.search(text)) is not None]
    apart = any(found is _EACH_APART for found, _ in placed)
    return Stripes(data, parity, max(map(_count_of, several), default=1), apart, bool(placed), _lost_servers(texts))


def _lost_servers(texts: Sequence[str]) -> int:
    """The largest number of servers whose loss a storage system survives by its texts; 0 if they state none."""
    counts = [_count_of(found[1]) for text in texts for found in _losses_in(text)]
    return max(counts, default=0)


def _losses_in(text: str) -> Iterator[re.Match[str]]:
    """The matches of numbers of servers that a storage system can lose together."""
    maintained = (_AT_A_TIME,) if _OF_A_STORE.search(text) is not None else ()
    for each in (_SURVIVES, *_LOST, *maintained):
        yield from each.finditer(text)


def servers_in(texts: Sequence[str]) -> int | None:
    """The number of servers of a storage system, from lowercase sentences about its drives or fragments; None if they
    state none or several. Numbers of servers that may fail are not counted.

    >>> servers_in(["a store of five servers, each with 24 drives", "strips lie over the five servers", "any two servers may fail"])
    5
    """
    found = set()
    for text in texts:
        if _OF_A_STORE.search(text) is None:
            continue
        lost = {each.start(1) for each in _losses_in(text)}
        found |= {_count_of(each[1]) for each in _SERVERS.finditer(text) if each.start(1) not in lost}
    return found.pop() if len(found) == 1 else None


_OF_A_STORE = pattern(
    r"\b(?:drives?|disks?|ssds?|nvme|stripes?|strips?|fragments?|shards?|storage (?:nodes?|servers?)|raw)\b"
)


def _count_of(word: str) -> int:
    """The value of a number in digits or as a word."""
    return 2 if word in _TWO else count_in_text(word)
