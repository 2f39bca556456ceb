"""Subjects of a text: catalog parts recognized by their common names.

Names are derived from catalog ids, so that local entries are recognized too: `nvlink-4` is also NVLink4, NVLink 4.0,
NVLink Gen 4 and fourth-generation NVLink. A family without a stated generation (`NVLink`) has no ids.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from clusterspec.catalog import Catalog
from clusterspec.prose.lexicon import Channel, generation_after, generation_before, link_width
from clusterspec.prose.tokenize import Token, TokenKind
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
"""Prefixes of family names and of a bare `Gen5`, to skip other words quickly."""
_KINDS = {"connectx": "nic"}
_ALIASES = {
    "cn100": "omni-path-100",
    "cn5000": "omni-path-cn5000",
    "cn6000": "omni-path-cn6000",
    "opa100": "omni-path-100",
    "quantum2": "infiniband-ndr",
    "quantumx800": "infiniband-xdr",
}
"""Products that imply a technology."""
_INFINIBAND = re.compile(r"(FDR|EDR|HDR|NDR|XDR|GDR|LDR)(\d{2,4})?")
_GLUED = re.compile(r"([a-z]+?)(?:gen|v)?(\d{1,2}e?|v\d\w?)")
_FORM = re.compile(r"sxm\d*|pcie|nvl\d*|\d+gb|oam|ultra")
_CLOUDS = re.compile(r"(?:aws|azure|gcp|oci)-")
_LONGEST = 6
_FRACTIONS = frozenset(
    ["half", "third", "quarter", "fifth", "sixth", "seventh", "eighth", "ninth", "tenth", "fraction", "percent", "%"]
)
_NEAR = 24
"""Tokens after a part that are searched for another figure."""
_ARTICLES = frozenset(["the", "its", "a", "an", "their", "that", "our"])
UNKNOWN = "unknown"
"""The family of a generation that the catalog does not have."""


@dataclass(frozen=True)
class Subject:
    """A part, or a family of parts, that a figure may refer to.

    ``ids`` are the entries of ``kind`` that the name may mean; empty if no generation is stated. ``label`` is a rate in
    Gb/s that is part of the name (`NDR400`); ``lanes`` is the width of a PCIe link.
    """

    name: str = field(compare=False)
    family: str
    kind: str
    channel: Channel | None
    ids: tuple[str, ...] = ()
    label: int = 0
    lanes: int = 0
    inferred: bool = False
    """Whether the generation is inferred from another part of the text."""


@dataclass(frozen=True)
class Mention:
    """A subject named at tokens ``start`` (inclusive) to ``end`` (exclusive)."""

    start: int
    end: int
    subject: Subject


class NameIndex:
    """An index of the names of a catalog's entries."""

    def __init__(self, catalog: Catalog) -> None:
        self._ids = {kind: frozenset(catalog.ids(kind)) for kind in ("interconnect", "nic", "accelerator", "platform")}
        self._parts = dict(self._indexed_parts())
        self._firsts = {key[:2] for key in self._parts}

    def _indexed_parts(self) -> Iterator[tuple[str, tuple[str, str, tuple[str, ...]]]]:
        """Accelerators by family (`h100`), platforms by id without the cloud (`p5.48xlarge`)."""
        families: dict[str, list[str]] = {}
        for id_ in sorted(self._ids["accelerator"]):
            words = id_.split("-")
            cut = next((at for at, word in enumerate(words) if at and _FORM.fullmatch(word)), len(words))
            families.setdefault("-".join(words[:cut]), []).append(id_)
            if cut < len(words) and not words[cut].endswith("gb"):
                families.setdefault("-".join(words[: cut + 1]).rstrip("0123456789"), []).append(id_)
            sizes = [word for word in words[cut:] if word[0].isdigit() and word.endswith("gb")]
            for size in sizes:  # `A100 40GB`
                families.setdefault("-".join((*words[:cut], size)), []).append(id_)
            if words[0] == "tpu" and words[-1][-1:].isalpha():
                families.setdefault(words[-1], []).append(id_)
        for family, ids in families.items():
            yield _plain_name(family), ("accelerator", family, tuple(sorted(ids, key=lambda each: "sxm" not in each)))
        for alias, id_ in _ALIASES.items():
            if id_ in self._ids["interconnect"]:
                yield alias, ("interconnect", id_.rpartition("-")[0], (id_,))
        yield from self._nic_names()
        yield from self._platform_names()

    def _nic_names(self) -> Iterator[tuple[str, tuple[str, str, tuple[str, ...]]]]:
        """The names of NICs, such as `bluefield-3`, except of families that are recognized by family and generation."""
        for id_ in sorted(self._ids["nic"]):
            family = id_.partition("-")[0]
            if family not in _KINDS:
                yield _plain_name(id_), ("nic", family, (id_,))

    def _platform_names(self) -> Iterator[tuple[str, tuple[str, str, tuple[str, ...]]]]:
        for id_ in sorted(self._ids["platform"]):
            name = _CLOUDS.sub("", id_)
            if id_ not in self._ids["accelerator"]:
                yield _plain_name(name), ("platform", name, (id_,))
                if name.startswith("dgx-"):
                    yield _plain_name(name.replace("dgx", "hgx")), ("platform", name.replace("dgx", "hgx"), (id_,))

    def find(self, words: Sequence[Token]) -> Iterator[Mention]:
        """The subjects named in a token sequence, in order, without overlap."""
        last: Mention | None = None
        for at, token in enumerate(words):
            if token.kind is TokenKind.WORD and (last is None or at >= last.end):
                named = (
                    self._part_mention(words, at)
                    or self._infiniband_mention(words, at)
                    or self._family_mention(words, at)
                )
                if named is not None and is_only_compared(words, named.start, named.end):
                    continue
                if last is not None and named is not None and _is_one_subject(last, named):
                    last = Mention(last.start, named.end, last.subject if last.subject.ids else named.subject)
                elif named is not None:
                    if last is not None:
                        yield last
                    last = named
        if last is not None:
            yield last

    def _part_mention(self, words: Sequence[Token], at: int) -> Mention | None:
        """The longest name of an accelerator or a platform at an index."""
        if words[at].text[:2].lower() not in self._firsts:
            return None
        best, joined = None, ""
        for end in range(at, min(at + _LONGEST, len(words))):
            text = words[end].text.lower().replace(" ", "")
            if words[end].kind is TokenKind.SIGN and text not in ("-", "."):
                break
            joined += _plain_name(text)
            for form in (joined, joined.removesuffix("s")):
                if form in self._parts and text not in ("-", "."):
                    best = (end + 1, self._parts[form])
        if best is None:
            return None
        end, (kind, family, ids) = best
        channel = Channel.NETWORK if kind in ("interconnect", "nic") else None
        return Mention(at, end, Subject(_text_of_tokens(words, at, end), family, kind, channel, ids))

    def _infiniband_mention(self, words: Sequence[Token], at: int) -> Mention | None:
        """An InfiniBand generation by its abbreviation: NDR, NDR400."""
        match = _INFINIBAND.fullmatch(words[at].text)
        if match is None:
            return None
        id_ = f"infiniband-{match[1].lower()}"
        ids = (id_,) if id_ in self._ids["interconnect"] else ()
        subject = Subject(words[at].text, "infiniband", "interconnect", Channel.NETWORK, ids, int(match[2] or 0))
        return Mention(at, at + 1, subject)

    def _family_mention(self, words: Sequence[Token], at: int) -> Mention | None:
        """A family with the generation that follows, precedes or is part of its name."""
        if words[at].text[:2].lower() not in _STARTS:
            return None
        word, end = _plain_name(words[at].text), at + 1
        glued = None
        if word not in _FAMILIES and (match := _GLUED.fullmatch(word)) and match[1] in _FAMILIES:
            word, glued = match[1], match[2]
        if word not in _FAMILIES and (gen := re.fullmatch(r"Gen([3-7])", words[at].text)):
            return self._bare_generation(gen[1], words, at)
        if word not in _FAMILIES:
            word, end = _joined_family(words, at)
        if word not in _FAMILIES:
            return None
        family, channel = _FAMILIES[word]
        start = at
        kind = _KINDS.get(family, "interconnect")
        ids = self._generation_entries(family, kind, glued)
        if not ids:
            ids, end = self._variant_entries(family, kind, words, end)
        if not ids:
            generation, beyond = generation_after(words, end)
            ids = self._generation_entries(family, kind, generation)
            end = beyond if ids else end
            family = UNKNOWN if generation is not None and not ids else family
        if ids:
            more, end = self._variant_entries(ids[0], kind, words, end)
            ids = more or ids
        if not ids:
            generation, earlier = generation_before(words, at)
            ids = self._generation_entries(family, kind, generation)
            start = earlier if ids else start
        lanes, end = link_width(words, end) if family == "pcie" else (0, end)
        return Mention(start, end, Subject(_text_of_tokens(words, start, end), family, kind, channel, ids, 0, lanes))

    def _bare_generation(self, generation: str, words: Sequence[Token], at: int) -> Mention | None:
        """`Gen5 x16` is PCIe, unless another family follows."""
        follows = _plain_name(words[at + 1].text) if at + 1 < len(words) else ""
        ids = self._generation_entries("pcie", "interconnect", generation)
        if follows in _FAMILIES or not ids:
            return None
        lanes, end = link_width(words, at + 1)
        return Mention(
            at, end, Subject(_text_of_tokens(words, at, end), "pcie", "interconnect", Channel.HOST, ids, 0, lanes)
        )

    def _variant_entries(self, stem: str, kind: str, words: Sequence[Token], end: int) -> tuple[tuple[str, ...], int]:
        """The entry selected by the word after a family or generation: InfiniBand SDR, NVLink-C2C, NVLink 4 bridge."""
        at = end + (end < len(words) and words[end].text == "-")
        if at < len(words) and words[at].kind is TokenKind.WORD:
            id_ = f"{stem}-{words[at].text.lower()}"
            if id_ in self._ids[kind]:
                return (id_,), at + 1
        return (), end

    def _generation_entries(self, family: str, kind: str, generation: str | None) -> tuple[str, ...]:
        """The entries of a family and generation; of the family itself if it has a single entry."""
        candidates = (f"{family}-{generation}", f"{family}-v{generation}") if generation else (family,)
        return tuple(id_ for id_ in candidates if id_ in self._ids[kind] and family != "ethernet")


def is_only_compared(words: Sequence[Token], start: int, end: int) -> bool:
    """Whether a sentence names a part at these tokens only to compare its figure with it: `50 GB/s, a ninth of its NVLink
    rate`.
    """
    before = [token.text.lower() for token in words[max(0, start - 4) : start]]
    while before and before[-1] in _ARTICLES:
        before.pop()
    compared = before[-1:] == ["times"] or (before[-1:] == ["of"] and before[-2:-1] and before[-2] in _FRACTIONS)
    return bool(compared) and not any(token.value for token in words[end : end + _NEAR])


def _is_one_subject(last: Mention, named: Mention) -> bool:
    """Whether two adjacent names are one subject: `NDR InfiniBand`, `InfiniBand NDR400`."""
    same = last.subject.family == named.subject.family
    return same and named.start <= last.end and not (last.subject.ids and named.subject.ids)


def _plain_name(text: str) -> str:
    return text.lower().replace("-", "").replace(".", "").replace("‑", "")


def _text_of_tokens(words: Sequence[Token], start: int, end: int) -> str:
    """The text of a token range."""
    return "".join((" " if token.gap and at else "") + token.text for at, token in enumerate(words[start:end]))


def _joined_family(words: Sequence[Token], at: int) -> tuple[str, int]:
    """The family name formed by a word and the next one or two: Omni-Path, Infinity Fabric, GPUDirect-TCPXO."""
    joined = _plain_name(words[at].text)
    for end in range(at + 1, min(at + 3, len(words))):
        if words[end].kind is TokenKind.WORD or words[end].text == "-":
            joined += _plain_name(words[end].text)
            if joined in _FAMILIES:
                return joined, end + 1
    return "", at + 1
