"""The lines of a quote by the part that they offer."""

from __future__ import annotations

from collections.abc import Iterator

from clusterspec.catalog import Catalog
from clusterspec.cluster.degrees import nodes_of_domain
from clusterspec.cluster.model import Cluster
from clusterspec.patterns import pattern
from clusterspec.records import dataclass
from clusterspec.spec.model import QuoteLine

WORDS: tuple[tuple[str, str], ...] = (
    ("other", "support|warranty|care|license|licence|subscription|software|install|installation|freight|shipping|training|service|services|tax|vat|discount|rebate|rack|racks|pdu|cdu|storage|spare parts|frontend|out-of-band|oob|management|power"),
    ("transceiver", "transceiver|transceivers|optic|optics|osfp|qsfp|qsfp56|qsfp112|module|modules"),
    ("cable", "cable|cables|dac|dacs|aoc|aocs|aec|aecs|acc|accs|fiber|fibers|fibre|fibres|mpo|mtp|jumper|jumpers"),
    ("leaf_switch", "leaf|leaves"),
    ("spine_switch", "spine|spines"),
    ("core_switch", "core|superspine"),
    ("switch", "switch|switches"),
    ("nic", "nic|nics|adapter|adapters|hca|hcas|connectx|supernic|supernics|bluefield"),
    ("node", "node|nodes|server|servers|system|systems|dgx|hgx|tray|trays|machine|machines"),
    ("accelerator", "gpu|gpus|accelerator|accelerators"),
)  # fmt: skip
"""The kind of part that a word names."""
_KINDS = {word: kind for kind, words in WORDS for word in words.split("|")}
_WORD = pattern(r"[a-z0-9][a-z0-9.\-]*")
_HEAD = pattern(r"\b(?:for|with|incl|including|per|each)\b|[,;:(\[+]")
_COMPLETE = pattern(r"\b(?:dac|aoc|aec|acc|lacc|direct[- ]attach|active optical|copper)s?\b")
_RACK = pattern(r"\bnvl ?\d{2,3}\b|\brack[- ]scale\b|\bhelios\b")
SWITCHES = ("leaf_switch", "spine_switch", "core_switch")
NETWORKED = (*SWITCHES, "cable", "transceiver", "nic")


@dataclass(frozen=True, slots=True)
class Offered:
    """One line of a quote: its index, the kind of its part, and how many units of the bill one of it makes."""

    index: int
    kind: str
    line: QuoteLine
    units: int = 1

    @property
    def quantity(self) -> float | None:
        """Parts of the bill that the line offers."""
        return None if self.line.quantity is None else self.line.quantity * self.units

    @property
    def is_lot(self) -> bool:
        """Whether the line may offer several parts as one lot."""
        return self.line.quantity == 1 and self.kind in {"cable", "transceiver"}

    @property
    def is_complete(self) -> bool:
        """Whether a cable comes with its ends, and takes no transceivers."""
        return _COMPLETE.search((self.line.part or "").lower()) is not None


def offered_lines(lines: tuple[QuoteLine, ...], cluster: Cluster) -> Iterator[Offered]:
    """The lines of a quote, each with the kind of its part; `other` where it is none of the bill's."""
    for index, line in enumerate(lines):
        text = (line.part or "").lower().replace("_", " ")
        kind = kind_of_part(text)
        rack = (
            kind in {"node", "other"} and _RACK.search(text) is not None and "tray" not in text and "node" not in text
        )
        yield Offered(index, "node" if rack else kind, line, nodes_of_domain(cluster) if rack else 1)


def kind_of_part(text: str) -> str:
    """The kind of part that a description in lower case names: by the last noun before what it is for or holds.

    >>> kind_of_part("node to leaf cable"), kind_of_part("dgx h100 system with 8 gpus"), kind_of_part("osfp dac cable")
    ('cable', 'node', 'cable')
    >>> kind_of_part("transceiver for leaf switch"), kind_of_part("leaf switch"), kind_of_part("support per node")
    ('transceiver', 'leaf_switch', 'other')
    """
    head = _HEAD.split(text, maxsplit=1)[0]
    found = [kind for kind in map(_kind_of_word, _WORD.findall(head)) if kind]
    found = found or [kind for kind in map(_kind_of_word, _WORD.findall(text)) if kind]
    if not found or "other" in found:
        return "other"
    if found[-1] == "switch":
        return next((kind for kind in map(_kind_of_word, _WORD.findall(text)) if kind in SWITCHES), "switch")
    return "cable" if "cable" in found and found[-1] == "transceiver" else found[-1]


def _kind_of_word(word: str) -> str | None:
    return _KINDS.get(word) or _KINDS.get(word.partition("-")[0])


def named_entries(text: str, catalog: Catalog, kind: str) -> set[str]:
    """The model names of catalog entries of a kind that a description holds: `h100`, `qm9700`, `connectx-7`."""
    words = set(_WORD.findall(text.lower().replace("_", " ").replace("/", " ")))
    joined = text.lower().replace(" ", "-")
    return {
        name for name in model_names(catalog, kind) if name in words or (name.startswith("connectx") and name in joined)
    }


def model_names(catalog: Catalog, kind: str) -> set[str]:
    return {name for id in catalog.ids(kind) for name in _model_names(id, kind)}  # noqa: A001


def _model_names(id: str, kind: str) -> Iterator[str]:  # noqa: A002
    """The names by which quotes call an entry: the first part of an accelerator's id, the number of a switch's."""
    parts = id.split("-")
    if kind == "nic":
        yield id
    elif kind == "accelerator":
        if any(sign.isdigit() for sign in parts[0]):
            yield parts[0]
    elif any(sign.isdigit() for sign in parts[-1]) and not parts[-1].isdigit():
        yield parts[-1]
