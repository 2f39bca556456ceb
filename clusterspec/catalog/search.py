"""The results of ``catalog search``: entries with all words, parts known by name only, or else the nearest entries."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterator, Sequence
from functools import lru_cache

from clusterspec.catalog import Catalog
from clusterspec.catalog.entries import Optics
from clusterspec.catalog.export import CatalogRow, catalog_rows, list_text
from clusterspec.catalog.known_parts import KnownPart, known_parts
from clusterspec.catalog.lookup import nearest_entries
from clusterspec.catalog.product_names import boards_of_server, slice_of_name
from clusterspec.document.schema import letters_and_digits
from clusterspec.records import NamedTuple

MOST_NEAREST = 5
"""Number of entries to suggest if none has all words."""
MOST_KEPT = 10_000
"""Number of entry texts and word spellings to cache for the next search."""
_NUMBER = re.compile(r"[0-9]{1,9}(?:\.[0-9]{1,9})?")
_RATE = re.compile(r"(\d+(?:\.\d+)?)([gt])(?:b(?:e|ps)?|be)?")
"""A rate or a capacity as users type it: 800G, 1.6T, 400GbE, 141GB."""
_RELEASE = re.compile(r"v?\d+(?:\.\d+)+(?:\.?(?:post|rc|a|b)\d+)?")
"""A software release as users type it: 2.28, v0.9.1, 0.7.0rc1."""
_SOFTWARE = frozenset({"framework", "library"})
_MAJOR = re.compile(r"(?:[a-z-]*[a-z]-?)?\d{1,2}")
"""A word that ends with the number of a generation: 4, v4, granite4."""
_LENGTH = re.compile(r"(\d+(?:\.\d+)?)(k?)m")
"""The length of a cable or a run as users type it: 2m, 0.5m, 2km."""
_SIZE = re.compile(r"\d{1,6}(?:\.\d{1,3})?(?:[tp]b|[km]?w|[km]va|g)")
"""The size in which a part is ordered, as users type it: 122.88TB, 1250kW, 800G."""
_SIZE_UNIT = re.compile(r"(?<!\S)(\d{1,6}(?:\.\d{1,3})?) ([tp]b|[km]?w|[km]va|g)(?!\S)")
"""A size with its unit as a separate word: 1250 kW."""
_PLAIN = frozenset(
    {
        *("rack", "server", "system", "node", "instance", "vm", "accelerator", "gpu", "card", "chip", "cpu", "nic"),
        *("adapter", "switch", "cable", "transceiver", "module", "part", "processor"),
        *("price", "pricing", "rent", "rental", "cost", "spec", "specs", "datasheet", "hour", "hourly", "per"),
    }
)
"""Words for the kind of a part or for the wanted information. They are ignored if no entry has them."""


class CatalogMatches(NamedTuple):
    """The result of a search.

    ``rows`` are the entries that have all words, or the name that the words form; ``parts`` are known parts without an
    entry. Without either, ``nearest`` are the entries that have most of the words, or similar ids.
    """

    rows: tuple[CatalogRow, ...]
    parts: tuple[KnownPart, ...]
    nearest: tuple[CatalogRow, ...] = ()

    def to_json(self) -> dict[str, object]:
        """Plain values."""
        return {
            "entries": [each.to_json() for each in self.rows],
            "known_parts": [each.to_json() for each in self.parts],
            "nearest": [each.to_json() for each in self.nearest],
        }


def entries_with_words(catalog: Catalog, text: str) -> CatalogMatches:
    """The entries and parts that have all words of a text; without any, the parts whose sources state all of them.

    >>> found = entries_with_words(Catalog.open(), "H20")
    >>> found.rows[0].id, entries_with_words(Catalog.open(), "Vulcano 800G").rows[0].id
    ('h20-141gb', 'vulcano')
    >>> [each.name for each in entries_with_words(Catalog.open(), "AMD MI500").parts]
    ['Instinct MI500']
    >>> [each.id for each in entries_with_words(Catalog.open(), "Groq LPX rack").rows]
    ['groq-3-lpx']
    >>> [each.name for each in entries_with_words(Catalog.open(), "PCIe 6 SSD").parts][0]
    '9650'
    """
    found = _entries_of_names(catalog, text)
    return found if found.rows or found.parts else found._replace(parts=_parts_that_state(text.lower().split()))


def _entries_of_names(catalog: Catalog, text: str) -> CatalogMatches:
    """The entries and parts that have all words of a text. Those whose names have the words come before those that only
    mention them.

    The kinds of the entries with that name come first. A rate matches in either spelling (800G, 800 Gb/s), and the name
    of software with a release, the software; the name of a server finds its boards, and of a slice of TPUs, its chip.
    If nothing has all words, words for the kind of a part (rack, instance) are ignored, and a length is the minimum
    reach of an optical part or a cable. Parts without an entry are found without the size in which they are ordered.
    """
    found = _entries_with_all_words(catalog, text)
    words = text.lower().split()
    if found.rows or found.parts:
        return found
    versions = _versions_of_generation(catalog, words)
    if versions.rows or versions.parts:
        return versions
    sized = _part_without_size(catalog, words)
    if sized.parts:
        return sized
    software = _software_of_release(catalog, words)
    telling = [word for word in words if word not in _PLAIN and not _LENGTH.fullmatch(word)]
    if software.rows or software.parts or len(telling) in {0, len(words)}:
        return software if software.rows or software.parts else found
    wider = _entries_with_all_words(catalog, " ".join(telling))
    length = max((_length_in_meters(word) for word in words), default=0.0)
    rows = tuple(each for each in wider.rows if not length or _has_reach(catalog, each, length))
    parts = () if length else wider.parts
    return wider._replace(rows=rows, parts=parts) if rows or parts else found


def _versions_of_generation(catalog: Catalog, words: Sequence[str]) -> CatalogMatches:
    """Entries and parts named with a version of the generation in the last word, as Granite 4.0 and 4.1 for Granite 4.
    Empty if the last word is no generation, or no name continues so.
    """
    if len(words) < 2 or not _MAJOR.fullmatch(words[-1]):
        return CatalogMatches((), ())
    name = re.compile(rf"{'[ -]'.join(map(re.escape, words))}\.[0-9]")
    rows = tuple(each for each in catalog_rows(catalog) if name.search(_row_names(each)))
    return CatalogMatches(rows, tuple(each for each in known_parts() if name.search(each.words)))


def _row_names(row: CatalogRow) -> str:
    """The id and the names of a row, in lower case."""
    return f"{row.id} {row.name} {row.aliases}".lower()


def _part_without_size(catalog: Catalog, words: Sequence[str]) -> CatalogMatches:
    """Parts without an entry that are named together with a size (122.88TB, 1250 kW). Empty if there is no size, or if
    an entry has the other words.
    """
    joined = _SIZE_UNIT.sub(r"\1\2", " ".join(words)).split()
    named = [word for word in joined if not _SIZE.fullmatch(word)]
    if len(named) == len(joined) or set(named) <= _PLAIN:
        return CatalogMatches((), ())
    wider = _entries_with_all_words(catalog, " ".join(named))
    return CatalogMatches((), () if wider.rows else wider.parts)


def _parts_that_state(words: Sequence[str]) -> tuple[KnownPart, ...]:
    """Parts without an entry whose sources state all words, each as a whole word."""
    patterns = [re.compile(rf"(?<![a-z0-9.]){re.escape(word)}(?![a-z0-9]|[.-][a-z0-9])") for word in words]
    return tuple(each for each in known_parts() if words and all(one.search(each.stated_words) for one in patterns))


def _software_of_release(catalog: Catalog, words: Sequence[str]) -> CatalogMatches:
    """Software that is named together with a release that no entry lists; empty if no word is a release."""
    named = [word for word in words if not _RELEASE.fullmatch(word)]
    if not named or len(named) == len(words):
        return CatalogMatches((), ())
    wider = _entries_with_all_words(catalog, " ".join(named))
    rows = tuple(each for each in wider.rows if each.kind in _SOFTWARE)
    return CatalogMatches(rows, tuple(each for each in wider.parts if each.kind in _SOFTWARE))


def _length_in_meters(word: str) -> float:
    """The length that a word gives in meters; 0 if it gives none."""
    length = _LENGTH.fullmatch(word)
    return float(length[1]) * (1000 if length[2] else 1) if length else 0.0


def _has_reach(catalog: Catalog, row: CatalogRow, length: float) -> bool:
    """Whether a row is an optical module or cable that reaches at least ``length`` meters."""
    entry = catalog.get(row.kind, row.id)
    return isinstance(entry, Optics) and entry.reach is not None and entry.reach.value >= length


def _entries_with_all_words(catalog: Catalog, text: str) -> CatalogMatches:
    """The entries and parts that have all words of a text, or the name formed by the words; else the nearest ones."""
    named = {(kind, each) for kind in catalog.kinds for each in catalog.ids_named(kind, text)}
    rows = catalog_rows(catalog)
    matching = {(each.kind, each.id) for each in matching_rows(rows, text)} | named
    words = text.lower().split()
    if not matching:
        matching = {(each.kind, each.id) for each in rows if len(_matched_words(each.words, words)) == len(words)}
    kinds, called = list(catalog.kinds), {kind for kind, _ in named}
    phrase = re.compile("(?<![a-z0-9.])" + "[ -]?".join(map(re.escape, words)) + "(?![0-9.])") if words else None
    found = sorted(
        (each for each in rows if (each.kind, each.id) in matching),
        key=lambda each: (
            each.kind not in called,
            kinds.index(each.kind),
            (each.kind, each.id) not in named,
            phrase is None or not phrase.search(f"{each.id} {each.name}".lower()),
        ),
    )
    parts = tuple(each for each in known_parts() if len(_matched_words(each.words, words)) == len(words))
    if not (found or parts):
        held = _boards_and_sliced_accelerators(catalog, text)
        found = [each for each in rows if (each.kind, each.id) in held]
    if found or parts:
        return CatalogMatches(tuple(found), parts) if named else _named_before_mentioning(found, parts, words)
    by_id = {f"{each.kind}/{each.id}": each for each in rows}
    spelled = tuple(by_id[each] for each in nearest_entries(catalog, "-".join(words)))
    return CatalogMatches((), (), tuple(_nearest_rows(rows, words)) or spelled)


def _named_before_mentioning(
    rows: Sequence[CatalogRow], parts: Sequence[KnownPart], words: Sequence[str]
) -> CatalogMatches:
    """The rows and parts, with the parts that have the searched words first: Modal before Phi-4-multimodal.

    If a part has the only word, rows that have it inside another word alone are left out (IREN in ``biren``).
    """
    starts = [re.compile(rf"(?<![a-z0-9]){re.escape(word)}") for word in words]
    called = [each for each in parts if all(word.search(each.words) for word in starts)]
    others = [each for each in parts if each not in called]
    inside = called and len(words) == 1 and words[0].isalpha()
    return CatalogMatches(
        tuple(each for each in rows if not inside or starts[0].search(each.words)), (*called, *others)
    )


def matching_rows(rows: Sequence[CatalogRow], text: str) -> tuple[CatalogRow, ...]:
    """The rows that contain all words of a text, ignoring case."""
    wanted = text.lower().split()
    return tuple(each for each in rows if all(has_word(each.words, word) for word in wanted))


def has_word(text: str, word: str) -> bool:
    """Whether a text contains a word. A number must not be part of a longer number.

    >>> has_word("gemma-2-27b 46 layers", "27b"), has_word("gemma-2-27b 46 layers", "4"), has_word("gemma-4-12b", "4")
    (True, False, True)
    """
    if word not in text:
        return False
    return not _NUMBER.fullmatch(word) or re.search(rf"(?<![0-9.]){re.escape(word)}(?!\.?[0-9])", text) is not None


def _boards_and_sliced_accelerators(catalog: Catalog, text: str) -> set[tuple[str, str]]:
    """The boards in the server with this name, and the accelerator of the TPU slice with this name: XE9680L,
    v5p-512.
    """
    sliced = slice_of_name(text, catalog)
    return {("platform", each) for each in boards_of_server(text, catalog)} | (
        {("accelerator", sliced.chip.id)} if sliced else set()
    )


def _matched_words(text: str, words: Sequence[str]) -> list[str]:
    """The words that occur in a text in any of their spellings."""
    return [word for word in words if _has_spelling(word, text) or _has_designation(_part_designation(word), text)]


def _has_spelling(word: str, text: str) -> bool:
    return has_word(text, word) or any(form in text for form in _spellings(word)[1:])


def _has_designation(plain: str, text: str) -> bool:
    """Whether a text has a designation in another spelling: tomahawk6 of ``tomahawk-6``."""
    return plain != "" and plain in _bare(text) and _has_whole_designation(plain, text)


@lru_cache(MOST_KEPT)
def _part_designation(word: str) -> str:
    """The letters and digits of a word that may designate a part; empty for other words."""
    plain = letters_and_digits(word)
    return plain if len(plain) > 3 and any(each.isdigit() for each in plain) else ""


_bare = lru_cache(MOST_KEPT)(letters_and_digits)
"""The letters and digits of a text, kept for the next search."""


def _has_whole_designation(plain: str, text: str) -> bool:
    """Whether a designation occurs in a text and is not cut off: gb300nvl in ``gb300-nvl72``, but not 6000d in ``6000
    dom``.
    """
    after = "[0-9]" if plain[-1].isdigit() else "[a-z]"
    return re.search(rf"{'[^a-z0-9]*'.join(map(re.escape, plain))}(?!{after})", text) is not None


@lru_cache(MOST_KEPT)
def _spellings(word: str) -> tuple[str, ...]:
    """The spellings of a word: as typed, and for a rate or capacity also as entries write it.

    >>> _spellings("1.6t"), _spellings("141gb"), _spellings("gb300")
    (('1.6t', '1600 gb', '1.6 tb'), ('141gb', '141 gb'), ('gb300',))
    """
    rate = _RATE.fullmatch(word)
    if rate is None:
        return (word,)
    giga = (f"{1000 * float(rate[1]):g} gb",) if rate[2] == "t" else ()
    return word, *giga, f"{rate[1]} {rate[2]}b"


def _nearest_rows(rows: Sequence[CatalogRow], words: Sequence[str]) -> Iterator[CatalogRow]:
    """The rows with the most words of a text, if they have at least half of the words, one of them in the name of the
    part.
    """
    counted = {(each.kind, each.id): _matched_words(each.words, words) for each in rows}
    most = max((len(each) for each in counted.values()), default=0)
    if 2 * most < len(words) or not most:
        return
    closest = [each for each in rows if len(counted[each.kind, each.id]) == most]
    naming = [word for word in words if not _NUMBER.fullmatch(word)] or words
    called = [each for each in closest if _matched_words(_row_names(each), naming)]
    yield from called[:MOST_NEAREST]


# The result as terminal text

_INDENT = "    "
_WIDTH = 100


def search_text(result: CatalogMatches, width: int) -> str:
    """The rows as printed by `list_text`, followed by the parts without an entry. ``width`` 0 means unlimited."""
    blocks = [list_text(result.rows, width)] if result.rows or not (result.parts or result.nearest) else []
    if result.parts:
        title = f"known by name, without an entry ({len(result.parts)})"
        lines = (line for each in result.parts for line in _part_lines(each, width or _WIDTH))
        blocks.append("\n".join([title, *lines]) + "\n")
    if result.nearest:
        blocks.append(f"no entry has all words; the nearest:\n\n{list_text(result.nearest, width)}")
    return "\n".join(blocks)


def _part_lines(part: KnownPart, width: int) -> Iterator[str]:
    year = f" {part.year}" if part.year else ""
    yield f"{part.name} ({part.kind} of {part.vendor}): {part.status}{year}"
    for title, text in (("states", part.states), ("unknown", part.unknown)):
        yield from textwrap.wrap(f"{title}: {text}", width, initial_indent=_INDENT, subsequent_indent=_INDENT + "  ")
    yield f"{_INDENT}source: {part.source}, {part.url}, read {part.read}"
