"""Names that several platforms have: counts of accelerators (``8xH100``), and words that ids share (``NVL72``)."""

from __future__ import annotations

import re

from clusterspec.catalog import Catalog
from clusterspec.catalog.entries import Platform
from clusterspec.records import NamedTuple

_LONGEST = 64
_COUNTED = re.compile(
    r"(?P<count>[1-9][0-9]{0,2}) ?[x×] ?(?P<part>[a-z][\w. -]{1,40})"
    r"|(?P<of>[a-z][\w. -]{1,40}?) ?[x×] ?(?P<times>[1-9][0-9]{0,2})"
)
_DESIGN = re.compile(r"(?:(?:nvidia|dgx) ){0,2}(?:super|base) ?pod")
"""Reference designs of many systems, which are no platform."""


class PlatformFamily(NamedTuple):
    """The platforms that a name may mean; ``parts`` and ``number`` are those of a name that counts accelerators."""

    platforms: tuple[str, ...]
    parts: tuple[str, ...] = ()
    number: int = 0


def platform_family(name: str, catalog: Catalog) -> PlatformFamily:
    """The platforms of a name that counts accelerators, or whose words all of their ids have; those of no cloud first.

    >>> platform_family("8xH100", Catalog.open()).platforms[:1], platform_family("NC H100 v5", Catalog.open()).platforms
    (('dgx-h100',), ('azure-nc40ads-h100-v5', 'azure-nc80adis-h100-v5'))
    >>> platform_family("8xH100", Catalog.open()).parts
    ('h100-nvl-94gb', 'h100-pcie-80gb', 'h100-sxm-80gb')
    >>> platform_family("H100", Catalog.open()).platforms, platform_family("rack", Catalog.open()).platforms
    ((), ())
    """
    plain = re.sub(r"[\s_]+", " ", name[:_LONGEST].lower()).strip()
    if (match := _COUNTED.fullmatch(plain)) is not None:
        count = int(match["count"] or match["times"])
        return _counted_family((match["part"] or match["of"]).strip(), count, catalog)
    words = re.findall(r"[a-z0-9.]+", plain)
    if not any(_tells(word) for word in words) or (len(words) == 1 and not words[0].startswith("nvl")):
        return PlatformFamily(())
    return PlatformFamily(_own_first([each for each in catalog.ids("platform") if _has_words(each, words)], catalog))


def names_reference_design(name: str) -> bool:
    """Whether a name is of a reference design of DGX systems.

    >>> [names_reference_design(each) for each in ("DGX SuperPOD", "nvidia dgx basepod", "DGX H100")]
    [True, True, False]
    """
    return bool(_DESIGN.fullmatch(re.sub(r"[\s_-]+", " ", name[:_LONGEST].lower()).strip()))


def systems_of_designs(catalog: Catalog) -> tuple[str, ...]:
    """The systems of eight accelerators that such designs hold.

    >>> systems_of_designs(Catalog.open())
    ('dgx-a100', 'dgx-b200', 'dgx-b300', 'dgx-h100', 'dgx-h200')
    """
    return tuple(each for each in catalog.ids("platform") if re.fullmatch(r"dgx-[a-z]\d00", each))


def _counted_family(part: str, count: int, catalog: Catalog) -> PlatformFamily:
    """The platforms with a number of accelerators of a name in a node."""
    known = catalog.find("accelerator", part) is not None
    parts = (part,) if known else catalog.ids_meant("accelerator", part) or catalog.family("accelerator", part)
    held = (catalog.get("platform", each) for each in catalog.ids("platform") if parts)
    found = [
        each.id
        for each in held
        if isinstance(each, Platform) and each.accelerator in parts and each.accelerators_per_node == count
    ]
    return PlatformFamily(_own_first(found, catalog), parts, count)


def _tells(word: str) -> bool:
    """Whether a word has letters and digits, which tell one product from others."""
    return len(word) > 2 and any(each.isdigit() for each in word) and any(each.isalpha() for each in word)


def _has_words(id_: str, words: list[str]) -> bool:
    """Whether an id has all words among its own, two letters at the start of a word with digits (``nc40ads``)."""
    own = id_.split("-")
    series = {each[:2] for each in own if each[2:3].isdigit()}
    return all(word in own or word in series for word in words)


def _own_first(ids: list[str], catalog: Catalog) -> tuple[str, ...]:
    """The ids with platforms of clouds last."""
    return tuple(sorted(ids, key=lambda each: (bool(getattr(catalog.get("platform", each), "cloud", False)), each)))
