"""What a text refers to: parts of the catalog by the names that people give them.

Names come from the ids of the catalog, so that a company's own entries are known too: `nvlink-4` is also NVLink4,
NVLink 4.0, NVLink Gen 4 and fourth-generation NVLink. A family whose generation is not stated (`NVLink`) has no ids.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from clusterspec.catalog import Catalog
from clusterspec.prose.generations import after, before, width
from clusterspec.prose.lexicon import Channel
from clusterspec.prose.scan import Sort, Token
from clusterspec.records import dataclass, field

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
}
_STARTS = {"ge", *(name[:2] for name in _FAMILIES)}
"""How the name of a family, or a bare `Gen5`, begins: nearly every other word is passed over by this."""
_KINDS = {"connectx": "nic"}
_ALIASES = {
    "cn100": "omni-path-100",
    "cn5000": "omni-path-cn5000",
    "cn6000": "omni-path-cn6000",
    "opa100": "omni-path-100",
    "quantum2": "infiniband-ndr",
    "quantumx800": "infiniband-xdr",
}
"""Products that stand for the technology they carry."""
_INFINIBAND = re.compile(r"(FDR|EDR|HDR|NDR|XDR|GDR|LDR)(\d{2,4})?")
_GLUED = re.compile(r"([a-z]+?)(?:gen|v)?(\d{1,2}e?|v\d\w?)")
_FORM = re.compile(r"sxm\d*|pcie|nvl\d*|\d+gb|oam|ultra")
_CLOUDS = re.compile(r"(?:aws|azure|gcp|oci)-")
_LONGEST = 5
UNKNOWN = "unknown"
"""The family of a generation that the catalog does not have."""


@dataclass(frozen=True, slots=True)
class Subject:
    """A part, or a family of parts, that figures may be of.

    ``ids`` are the entries of ``kind`` that the name may mean; none where the generation is not stated. ``label`` is a
    rate that is in the name itself (`NDR400`), in Gb/s; ``lanes`` the width of a PCIe link.
    """

    name: str = field(compare=False)
    family: str
    kind: str
    channel: Channel | None
    ids: tuple[str, ...] = ()
    label: int = 0
    lanes: int = 0
    inferred: bool = False
    """The generation stands elsewhere in the text."""


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
            if cut < len(words) and not words[cut].endswith("gb"):
                families.setdefault("-".join(words[: cut + 1]).rstrip("0123456789"), []).append(id_)
            if words[0] == "tpu" and words[-1][-1:].isalpha():
                families.setdefault(words[-1], []).append(id_)
        for family, ids in families.items():
            yield _plain(family), ("accelerator", family, tuple(sorted(ids, key=lambda each: "sxm" not in each)))
        for alias, id_ in _ALIASES.items():
            if id_ in self._ids["interconnect"]:
                yield alias, ("interconnect", id_.rpartition("-")[0], (id_,))
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
        last: Named | None = None
        for at, token in enumerate(words):
            if token.sort is Sort.WORD and (last is None or at >= last.end):
                named = self._part(words, at) or self._infiniband(words, at) or self._family(words, at)
                if last is not None and named is not None and _one(last, named):
                    last = Named(last.start, named.end, last.subject if last.subject.ids else named.subject)
                elif named is not None:
                    if last is not None:
                        yield last
                    last = named
        if last is not None:
            yield last

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
                if form in self._parts and text not in ("-", "."):
                    best = (end + 1, self._parts[form])
        if best is None:
            return None
        end, (kind, family, ids) = best
        channel = Channel.NETWORK if kind == "interconnect" else None
        return Named(at, end, Subject(_said(words, at, end), family, kind, channel, ids))

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
        """A family with the generation that follows it, before it or in it."""
        if words[at].text[:2].lower() not in _STARTS:
            return None
        word, end = _plain(words[at].text), at + 1
        glued = None
        if word not in _FAMILIES and (match := _GLUED.fullmatch(word)) and match[1] in _FAMILIES:
            word, glued = match[1], match[2]
        if word not in _FAMILIES and (gen := re.fullmatch(r"Gen([3-7])", words[at].text)):
            return self._bare_generation(gen[1], words, at)
        if word not in _FAMILIES:
            word, end = _joined(words, at)
        if word not in _FAMILIES:
            return None
        family, channel = _FAMILIES[word]
        start = at
        kind = _KINDS.get(family, "interconnect")
        ids = self._entries(family, kind, glued)
        if not ids:
            ids, end = self._variant(family, kind, words, end)
        if not ids:
            generation, beyond = after(words, end)
            ids = self._entries(family, kind, generation)
            end = beyond if ids else end
            family = UNKNOWN if generation is not None and not ids else family
        if ids:
            more, end = self._variant(ids[0], kind, words, end)
            ids = more or ids
        if not ids:
            generation, earlier = before(words, at)
            ids = self._entries(family, kind, generation)
            start = earlier if ids else start
        lanes, end = width(words, end) if family == "pcie" else (0, end)
        return Named(start, end, Subject(_said(words, start, end), family, kind, channel, ids, 0, lanes))

    def _bare_generation(self, generation: str, words: Sequence[Token], at: int) -> Named | None:
        """`Gen5 x16` is PCIe, unless another family follows."""
        follows = _plain(words[at + 1].text) if at + 1 < len(words) else ""
        ids = self._entries("pcie", "interconnect", generation)
        if follows in _FAMILIES or not ids:
            return None
        lanes, end = width(words, at + 1)
        return Named(at, end, Subject(_said(words, at, end), "pcie", "interconnect", Channel.HOST, ids, 0, lanes))

    def _variant(self, stem: str, kind: str, words: Sequence[Token], end: int) -> tuple[tuple[str, ...], int]:
        """The entry of a family or a generation that the next word names: InfiniBand SDR, NVLink-C2C, NVLink 4 bridge."""
        at = end + (end < len(words) and words[end].text == "-")
        if at < len(words) and words[at].sort is Sort.WORD:
            id_ = f"{stem}-{words[at].text.lower()}"
            if id_ in self._ids[kind]:
                return (id_,), at + 1
        return (), end

    def _entries(self, family: str, kind: str, generation: str | None) -> tuple[str, ...]:
        """The entries of a family's generation; those of the family itself where it has but one."""
        candidates = (f"{family}-{generation}", f"{family}-v{generation}") if generation else (family,)
        return tuple(id_ for id_ in candidates if id_ in self._ids[kind] and family != "ethernet")


def _one(last: Named, named: Named) -> bool:
    """Whether two names side by side are one: `NDR InfiniBand`, `InfiniBand NDR400`."""
    same = last.subject.family == named.subject.family
    return same and named.start <= last.end and not (last.subject.ids and named.subject.ids)


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
