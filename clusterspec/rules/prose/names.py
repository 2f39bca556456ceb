"""What a text speaks of: parts of the catalog by the names that people give them.

Names come from the ids of the catalog, so that a company's own entries are known too: `nvlink-4` is also NVLink4,
NVLink 4.0, NVLink Gen 4 and fourth-generation NVLink. A family whose generation is not said (`NVLink`) has no ids.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from clusterspec.catalog import Catalog
from clusterspec.rules.prose.lexicon import Channel
from clusterspec.rules.prose.scan import Sort, Token

_FAMILIES: dict[str, tuple[str, Channel]] = {
    "nvlink": ("nvlink", Channel.SCALE_UP),
    "nvlinks": ("nvlink", Channel.SCALE_UP),
    "xgmi": ("xgmi", Channel.SCALE_UP),
    "infinityfabric": ("xgmi", Channel.SCALE_UP),
    "neuronlink": ("neuronlink", Channel.SCALE_UP),
    "ici": ("ici", Channel.SCALE_UP),
    "pcie": ("pcie", Channel.HOST),
    "pciexpress": ("pcie", Channel.HOST),
    "infiniband": ("infiniband", Channel.NETWORK),
    "ib": ("infiniband", Channel.NETWORK),
    "efa": ("efa", Channel.NETWORK),
    "slingshot": ("slingshot", Channel.NETWORK),
    "omnipath": ("omni-path", Channel.NETWORK),
    "opa": ("omni-path", Channel.NETWORK),
    "roce": ("roce", Channel.NETWORK),
    "rocev2": ("roce", Channel.NETWORK),
    "ethernet": ("ethernet", Channel.NETWORK),
    "gpudirecttcpx": ("gpudirect-tcpx", Channel.NETWORK),
    "gpudirecttcpxo": ("gpudirect-tcpxo", Channel.NETWORK),
    "connectx": ("connectx", Channel.NETWORK),
    "cx": ("connectx", Channel.NETWORK),
    "hbm": ("hbm", Channel.MEMORY),
}
_KINDS = {"connectx": "nic"}
_INFINIBAND = re.compile(r"(FDR|EDR|HDR|NDR|XDR|GDR|LDR)(\d{2,4})?")
_GLUED = re.compile(r"([a-z]+?)(?:gen|v)?(\d{1,2}e?|v\d\w?)")
_ORDINALS = {"first": 1, "second": 2, "third": 3, "fourth": 4, "fifth": 5, "sixth": 6, "seventh": 7}
_GENERATIONS = frozenset(("gen", "generation", "v", "version"))
_FORM = re.compile(r"sxm\d*|pcie|nvl\d*|\d+gb|oam|ultra")
_CLOUDS = re.compile(r"(?:aws|azure|gcp|oci)-")
_LONGEST = 5


@dataclass(frozen=True, slots=True)
class Subject:
    """A part, or a family of parts, that figures may be of.

    ``ids`` are the entries of ``kind`` that the name may mean; none where the generation was not said. ``label`` is a
    rate that stands in the name itself (`NDR400`), in Gb/s; ``lanes`` the width of a PCIe link.
    """

    name: str
    family: str
    kind: str
    channel: Channel | None
    ids: tuple[str, ...] = ()
    label: int = 0
    lanes: int = 0


@dataclass(frozen=True, slots=True)
class Named:
    """A subject at some tokens: from ``start`` up to, not including, ``end``."""

    start: int
    end: int
    subject: Subject


class Names:
    """The names of one catalog."""

    def __init__(self, catalog: Catalog) -> None:
        self._ids = {kind: frozenset(catalog.ids(kind)) for kind in ("interconnect", "nic", "accelerator", "platform")}
        self._parts = dict(self._of_parts())
        self._firsts = {key[:2] for key in self._parts}

    def _of_parts(self) -> Iterator[tuple[str, tuple[str, str, tuple[str, ...]]]]:
        """Accelerators by family (`h100`), platforms by id without the cloud (`p5.48xlarge`)."""
        families: dict[str, list[str]] = {}
        for id_ in sorted(self._ids["accelerator"]):
            words = id_.split("-")
            cut = next((at for at, word in enumerate(words) if at and _FORM.fullmatch(word)), len(words))
            families.setdefault("-".join(words[:cut]), []).append(id_)
        for family, ids in families.items():
            yield _plain(family), ("accelerator", family, tuple(sorted(ids, key=lambda each: "sxm" not in each)))
        yield from self._of_platforms()

    def _of_platforms(self) -> Iterator[tuple[str, tuple[str, str, tuple[str, ...]]]]:
        for id_ in sorted(self._ids["platform"]):
            name = _CLOUDS.sub("", id_)
            if id_ not in self._ids["accelerator"]:
                yield _plain(name), ("platform", name, (id_,))
                if name.startswith("dgx-"):
                    yield _plain(name.replace("dgx", "hgx")), ("platform", name.replace("dgx", "hgx"), (id_,))

    def find(self, words: Sequence[Token]) -> Iterator[Named]:
        """The subjects of some tokens, in order, none over another."""
        free = 0
        for at, token in enumerate(words):
            if at >= free and token.sort is Sort.WORD:
                named = self._part(words, at) or self._infiniband(words, at) or self._family(words, at)
                if named is not None:
                    yield named
                    free = named.end

    def _part(self, words: Sequence[Token], at: int) -> Named | None:
        """The longest name of an accelerator or a platform that begins here."""
        if words[at].text[:2].lower() not in self._firsts:
            return None
        best, joined = None, ""
        for end in range(at, min(at + _LONGEST, len(words))):
            text = words[end].text.lower()
            if words[end].sort is Sort.SIGN and text not in ("-", "."):
                break
            joined += _plain(text)
            for form in (joined, joined.removesuffix("s")):
                if form in self._parts:
                    best = (end + 1, self._parts[form])
        if best is None:
            return None
        end, (kind, family, ids) = best
        return Named(at, end, Subject(_said(words, at, end), family, kind, None, ids))

    def _infiniband(self, words: Sequence[Token], at: int) -> Named | None:
        """A generation of InfiniBand by its letters: NDR, NDR400."""
        match = _INFINIBAND.fullmatch(words[at].text)
        if match is None:
            return None
        id_ = f"infiniband-{match[1].lower()}"
        ids = (id_,) if id_ in self._ids["interconnect"] else ()
        subject = Subject(words[at].text, "infiniband", "interconnect", Channel.NETWORK, ids, int(match[2] or 0))
        return Named(at, at + 1, subject)

    def _family(self, words: Sequence[Token], at: int) -> Named | None:
        """A family with the generation that stands behind it, before it or in it."""
        word, end = _plain(words[at].text), at + 1
        glued = None
        if word not in _FAMILIES and (match := _GLUED.fullmatch(word)) and match[1] in _FAMILIES:
            word, glued = match[1], match[2]
        if word not in _FAMILIES:
            word, end = _joined(words, at)
        if word not in _FAMILIES:
            return None
        family, channel = _FAMILIES[word]
        start = at
        kind = _KINDS.get(family, "interconnect")
        ids = self._entries(family, kind, glued)
        if not ids:
            generation, beyond = _after(words, end)
            ids = self._entries(family, kind, generation)
            end = beyond if ids else end
        if not ids:
            generation, before = _before(words, at)
            ids = self._entries(family, kind, generation)
            start = before if ids else start
        lanes, end = _width(words, end) if family == "pcie" else (0, end)
        return Named(start, end, Subject(_said(words, start, end), family, kind, channel, ids, 0, lanes))

    def _entries(self, family: str, kind: str, generation: str | None) -> tuple[str, ...]:
        """The entries of a family's generation; those of the family itself where it has but one."""
        candidates = (f"{family}-{generation}", f"{family}-v{generation}") if generation else (family,)
        return tuple(id_ for id_ in candidates if id_ in self._ids[kind] and family != "ethernet")


def _plain(text: str) -> str:
    return text.lower().replace("-", "").replace(".", "").replace("‑", "")


def _said(words: Sequence[Token], start: int, end: int) -> str:
    """Some tokens as they were written."""
    return "".join((" " if token.gap and at else "") + token.text for at, token in enumerate(words[start:end]))


def _joined(words: Sequence[Token], at: int) -> tuple[str, int]:
    """The word here with the next one or two: Omni-Path, Infinity Fabric, GPUDirect-TCPXO."""
    joined = _plain(words[at].text)
    for end in range(at + 1, min(at + 3, len(words))):
        if words[end].sort is Sort.WORD or words[end].text == "-":
            joined += _plain(words[end].text)
            if joined in _FAMILIES:
                return joined, end + 1
    return "", at + 1


def _generation(token: Token) -> str | None:
    """The generation that a token says: 4, 4.0, v3, Gen5."""
    if token.sort is Sort.NUMBER and token.value == int(token.value) and 1 <= token.value <= 12:
        return str(int(token.value))
    if token.sort is Sort.NUMBER and token.value in (100.0, 400.0):
        return str(int(token.value))
    match = re.fullmatch(r"(?:gen|v)?(v?\d{1,2}[a-z]?)", token.text.lower()) if token.sort is Sort.WORD else None
    return match[1] if match else None


def _after(words: Sequence[Token], end: int) -> tuple[str | None, int]:
    """A generation behind a family, past hyphens, brackets and `gen`; none for a count (`NVLink 18 links`)."""
    at, said = end, False
    while at < min(end + 4, len(words)):
        token = words[at]
        if token.text.lower() in _GENERATIONS:
            said = True
        elif token.text not in ("-", "(", "."):
            break
        at += 1
    if at >= len(words):
        return None, end
    generation = _generation(words[at])
    follows = words[at + 1] if at + 1 < len(words) else None
    if generation is None or (follows is not None and _counts(words[at], follows, said)):
        return None, end
    return generation, at + 1


def _counts(number: Token, follows: Token, said: bool) -> bool:
    """Whether a number behind a family counts something (`NVLink 18 links`) or multiplies (`PCIe 16x`)."""
    if said or number.sort is Sort.WORD:
        return False
    return (follows.sort is Sort.TIMES and not follows.gap) or follows.text in ("%", ":")


def _before(words: Sequence[Token], at: int) -> tuple[str | None, int]:
    """A generation before a family: `Gen5 PCIe`, `fourth-generation NVLink`, `5th gen NVLink`."""
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
    number = words[back].value if words[back].sort is Sort.NUMBER else 0.0
    return (str(ordinal or int(number)), back) if ordinal or 1 <= number <= 9 else (None, at)


def _width(words: Sequence[Token], end: int) -> tuple[int, int]:
    """The lanes of a PCIe link: `x16`, `× 8`."""
    if end < len(words) and (match := re.fullmatch(r"x(1|2|4|8|16|32)", words[end].text.lower())):
        return int(match[1]), end + 1
    if end + 1 < len(words) and words[end].text in ("x", "×") and words[end + 1].sort is Sort.NUMBER:
        lanes = words[end + 1].value
        if lanes in (1.0, 2.0, 4.0, 8.0, 16.0, 32.0):
            return int(lanes), end + 2
    return 0, end
