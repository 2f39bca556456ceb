"""Names of platforms that are no product names: series of instance types, racks by the size of their NVLink domain,
SuperPODs, and counts of an accelerator.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator
from functools import cache

from clusterspec.catalog.export import CatalogRow, shipped_rows
from clusterspec.catalog.names import CLOUDS, ids_of_name, ids_with_words
from clusterspec.document.schema import letters_and_digits

_LONGEST = 64
"""Largest number of characters of a name that are compared."""
_SURROUNDING = re.compile(
    r"\b(?:amazon|aws|ec2|microsoft|azure|google|gcp|oracle|oci|standard|series|instances?|vms?)\b"
)
"""Words around the name of a series."""
_SIZED = re.compile(r"([a-z]{2})[0-9]+([a-z]*)")
"""The first word of an instance type of Azure: its series, its processors, and the letters of its features."""
_COUNT = r"(?P<count>[1-9][0-9]{0,4})"
_COUNTED = tuple(
    re.compile(pattern)
    for pattern in (
        rf"{_COUNT} ?[x×*]? ?(?P<part>[a-z].*)",
        rf"(?P<part>[a-z].*?) ?[x×*:] ?{_COUNT}",
        rf"(?P<part>[a-z].*) {_COUNT}",
    )
)
"""``8xh100``, ``8 h100`` and ``8h100``; ``h100x8`` and ``h100:8``; ``h100 8``."""
_GPUS = re.compile(r"\b(?:gpus?|accelerators?)\b")
_DOMAIN = re.compile(r"nvl[0-9]+")
_FORM = re.compile(r" (?:boards?|boxe?s?|nodes?|pods?|racks?|servers?|systems?)$")
"""A word for the form of a machine after its name."""
_RENTED = (*CLOUDS, "coreweave-", "crusoe-", "lambda-", "nebius-")
"""Prefixes of the ids of machines that are only rented."""


def ids_of_series(name: str) -> tuple[str, ...]:
    """The shipped platforms that a name of this kind may mean, machines that are sold before those that are rented.

    >>> ids_of_series("NC H100 v5"), ids_of_series("P6 instances")
    (('azure-nc40ads-h100-v5', 'azure-nc80adis-h100-v5'), ('aws-p6-b200-48xlarge', 'aws-p6-b300-48xlarge'))
    >>> ids_of_series("8x B300")[:2], ids_of_series("NVL8"), ids_of_series("GB200 NVL72 rack")
    (('dgx-b300', 'hgx-b300'), ('hgx-b300', 'hgx-rubin-nvl8'), ('gb200-nvl72',))
    """
    plain = " ".join(re.sub(r"[-_]+", " ", name[:_LONGEST].lower()).split())
    for find in (_ids_of_counts, _ids_of_domains, _ids_of_superpods, _ids_of_instances, _ids_before_form):
        if found := find(plain):
            return tuple(sorted(found, key=_is_rented))
    return ()


def _is_rented(id_: str) -> bool:
    return id_.startswith(_RENTED)


def _ids_of_counts(name: str) -> list[str]:
    """Platforms whose nodes have so many of an accelerator: ``8xh100``, ``4 x gb200``."""
    counted = counted_accelerators(name)
    nodes = {f"{counted[0]} × {chip}" for chip in counted[1]} if counted else set()
    return _ids_where(lambda row: row.headline.partition(" · ")[0] in nodes)


def counted_accelerators(name: str) -> tuple[int, tuple[str, ...]] | None:
    """The number of accelerators that a name counts, and the shipped accelerators that it may mean; None for a name
    that counts none.

    >>> counted_accelerators("16xB200"), counted_accelerators("Gaudi 3 x 8"), counted_accelerators("MI300X:8")
    ((16, ('b200-sxm-180gb',)), (8, ('gaudi3',)), (8, ('mi300x',)))
    >>> counted_accelerators("Gaudi 3"), counted_accelerators("bm-gpu-h100-8")
    (None, None)
    """
    plain = " ".join(re.sub(r"[-_]+", " ", name[:_LONGEST].lower()).split())
    plain = " ".join(_GPUS.sub(" ", plain).split())
    if accelerators_named(plain):
        return None
    for pattern in _COUNTED:
        counted = pattern.fullmatch(plain)
        if counted and (chips := accelerators_named(counted["part"])):
            return int(counted["count"]), chips
    return None


def accelerators_named(name: str) -> tuple[str, ...]:
    """The shipped accelerators with a name, or with its words.

    >>> accelerators_named("gaudi-3"), accelerators_named("Instinct MI355X")
    (('gaudi3',), ('mi355x',))
    """
    return tuple(ids_of_name("accelerator", name) or ids_with_words("accelerator", name))


def platforms_with(chips: Collection[str]) -> dict[str, int]:
    """The shipped platforms with one of some accelerators and its number in a node, sold machines first.

    >>> platforms_with(["gaudi3"])
    {'gaudi3-hls': 8}
    """
    rows = (row for row in shipped_rows() if row.kind == "platform")
    held = {row.id: row.headline.partition(" · ")[0].split(" × ") for row in rows}
    found = {id_: int(words[0]) for id_, words in held.items() if len(words) == 2 and words[1] in chips}
    return {id_: found[id_] for id_ in sorted(found, key=_is_rented)}


def _ids_of_domains(name: str) -> list[str]:
    """Platforms called by a number of GPUs in one NVLink domain, ``nvl72``, if there are several."""
    found = _ids_where(lambda row: name in _words_of(row)) if _DOMAIN.fullmatch(name) else []
    return found if len(found) > 1 else []


def _words_of(row: CatalogRow) -> list[str]:
    return re.findall(r"\w+", f"{row.id} {row.name} {row.aliases}".lower())


def _ids_of_superpods(name: str) -> list[str]:
    """The machines of a SuperPOD: DGX of all generations, or those of the generation that is named with it."""
    words = name.replace("super pod", "superpod").split()
    if "superpod" not in words:
        return []
    wanted = {*words} - {"superpod", "nvidia", "dgx"}
    return _ids_where(lambda row: _is_of_superpod(row) and wanted <= {*_words_of(row)})


def _is_of_superpod(row: CatalogRow) -> bool:
    """Whether a platform is a DGX for racks, not one for a desk."""
    names = (row.name, *row.aliases.split(", "))
    return any(each.startswith("DGX ") for each in names) and not row.headline.startswith("1 ×")


def _ids_of_instances(name: str) -> list[str]:
    return _ids_by_series().get(letters_and_digits(_SURROUNDING.sub(" ", name)), [])


@cache
def _ids_by_series() -> dict[str, list[str]]:
    """The ids of instance types by the names of their series, in comparison form. A rack that a cloud rents by the name
    of its maker has no series.
    """
    found: dict[str, list[str]] = {}
    for row in shipped_rows():
        if row.kind == "platform" and row.id.startswith(CLOUDS) and not any(map(_DOMAIN.fullmatch, row.id.split("-"))):
            for series in {*map(letters_and_digits, _series_of(row.id))}:
                found.setdefault(series, []).append(row.id)
    return found


def _series_of(id_: str) -> Iterator[str]:
    """The names of an instance type's series: its first words, or Azure's letters without the size.

    >>> sorted(_series_of("azure-nd96isr-h200-v5"))
    ['nd h200 v5', 'nd v5', 'ndisr h200 v5']
    """
    cloud, *words = id_.split("-")
    sized = _SIZED.fullmatch(words[0]) if cloud == "azure" else None
    first = sized[1] if sized else words[0]
    if cloud == "azure":
        yield from (" ".join((first, *words[1:])), f"{first} {words[-1]}")
        yield " ".join((first + (sized[2] if sized else ""), *words[1:]))
        return
    for last in range(3 if cloud == "oci" else 1, len(words)):
        yield " ".join(words[:last])
        yield " ".join(word.removesuffix("gpu") for word in words[:last])


def _ids_before_form(name: str) -> list[str]:
    """Platforms whose name stands before a word for their form: ``helios rack``, ``dgx h100 node``."""
    product = _FORM.sub("", name)
    if product == name:
        return []
    return [*(ids_of_name("platform", product) or ids_with_words("platform", product))]


def _ids_where(fits: Callable[[CatalogRow], bool]) -> list[str]:
    return [row.id for row in shipped_rows() if row.kind == "platform" and fits(row)]
