"""The parts and models of the catalog that a sentence names."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import islice

from clusterspec.catalog import Catalog
from clusterspec.catalog.names_of_parts import accelerator_family, names_of_entry
from clusterspec.document.schema import letters_and_digits
from clusterspec.records import NamedTuple
from clusterspec.standard import pattern

KINDS = ("accelerator", "platform", "nic", "switch", "model")
"""The kinds whose names are read; a name of two kinds counts for the last."""
_CLOUDS = ("aws-", "azure-", "gcp-", "oci-")
_WORD = pattern(r"[^\W_]+(?:[.-][^\W_]+)*")
_JOINED = pattern(r"^[ -]?$")
MOST_WORDS, MOST_JOINED = 400, 4
"""Words of a sentence that are read, and words of one name."""


class PartMention(NamedTuple):
    """The name of a part in a sentence, with its kind and the ids that it may mean."""

    kind: str
    ids: tuple[str, ...]
    start: int
    end: int


def mentions_in(sentence: str, catalog: Catalog) -> Iterator[PartMention]:
    """The names of a sentence, each the longest that begins at its word.

    >>> [(each.kind, each.ids) for each in mentions_in("A QM9700, ConnectX-7 and Llama 3.1 8B", Catalog.open())]
    [('switch', ('quantum-2-qm9700',)), ('nic', ('connectx-7',)), ('model', ('llama-3.1-8b',))]
    """
    if not any(map(str.isdigit, sentence)):
        return  # every name that is read has a digit
    names, after = _kinds_of_names(tuple([catalog.ids(kind) for kind in KINDS])), 0
    words = [each.span() for each in islice(_WORD.finditer(sentence), MOST_WORDS)]
    for at, (start, _) in enumerate(words):
        if start < after:
            continue
        for end in reversed([each[1] for each in _joined_words(sentence, words[at : at + MOST_JOINED])]):
            name = letters_and_digits(sentence[start:end])
            found = names.get(name) or names.get(name.removesuffix("s"))
            if found is not None:
                yield PartMention(*found, start, end)
                after = end
                break


def _joined_words(sentence: str, words: Sequence[tuple[int, int]]) -> Iterator[tuple[int, int]]:
    """The words up to the first that has another sign than a space or a hyphen before it."""
    end = words[0][0]
    for start, stop in words:
        if start > end and _JOINED.match(sentence[end:start]) is None:
            return
        yield start, stop
        end = stop


@lru_cache(2)
def _kinds_of_names(ids_by_kind: tuple[tuple[str, ...], ...]) -> Mapping[str, tuple[str, tuple[str, ...]]]:
    """The kind and the ids of each name with a digit and a letter, without spaces and signs; the ids in the order of
    `KINDS`.
    """
    found: dict[str, tuple[str, tuple[str, ...]]] = {}
    for kind, ids in zip(KINDS, ids_by_kind, strict=True):
        of_kind: dict[str, list[str]] = {}
        for id_ in ids:
            for name in map(letters_and_digits, _names_of(kind, id_)):
                if not (name.isalpha() or name.isdigit()):
                    of_kind.setdefault(name, []).append(id_)
        found |= {name: (kind, tuple(named)) for name, named in of_kind.items()}
    return found


def _names_of(kind: str, id_: str) -> Iterator[str]:
    if kind == "accelerator":
        words, first = id_.split("-"), len(accelerator_family(id_).split("-"))
        yield from {"-".join(words[:end]) for end in range(first, len(words) + 1)}
    elif kind in ("switch", "nic"):
        yield from {id_, *names_of_entry(id_, kind)}
    else:
        yield next((id_.removeprefix(each) for each in _CLOUDS if id_.startswith(each)), id_)
