"""Cache sizes in texts: the size for a number of tokens, and the bytes per token."""

from __future__ import annotations

import re
from collections.abc import Iterator

from clusterspec.rules.readers.clauses import clause_bounds, items_of
from clusterspec.rules.readers.loads import DIGITS, figures_in, number_of
from clusterspec.rules.readers.services.relations import DerivedFigure
from clusterspec.rules.readers.written_numbers import sentences_of
from clusterspec.standard import pattern
from clusterspec.units import display

_CACHE = pattern(r"(?i)\b(?:cache|kv|key-value|caché)\b")
_EACH_BYTES = pattern(
    rf"(?i)(?P<digits>{DIGITS}) ?(?P<unit>B|bytes|kB|KB|KiB|MB|MiB)(?: (?:a|per|each|pro|je|par|por) ?(?:token|jeton)| each|/token)?\b"
)
_SIZE = pattern(rf"(?P<digits>{DIGITS}) ?(?P<unit>[MGT]i?B)\b(?!/)")
_BYTES = {
    "b": 1.0,
    "byte": 1.0,
    "bytes": 1.0,
    "kb": 1e3,
    "kib": 1024.0,
    "mb": 1e6,
    "mib": 2.0**20,
    "gb": 1e9,
    "gib": 2.0**30,
    "tb": 1e12,
    "tib": 2.0**40,
}
_OTHER_BYTES = pattern(
    r"(?i)\b(?:weights?|memory of|hbm|left|free|requests|users|sessions|engines?|nodes?|gpus?|ranks?|tp|layers?|hit|shared)\b|/s\b"
)


def cache_sizes(text: str) -> Iterator[DerivedFigure]:
    """The sizes of caches that a sentence states together with one number of tokens and the bytes per token.

    >>> [(each.stated, each.computed) for each in cache_sizes("24,000 tokens x 327,680 B are 786 MB of cache.")]
    [(786000000.0, 7864320000.0)]
    """
    for sentence in sentences_of(text):
        tokens = [each for each in figures_in(sentence) if each.kind == "tokens" and not each.period and each.value > 1]
        if len(tokens) != 1 or not any(unit in sentence for unit in ("MB", "GB", "TB", "iB")):
            continue
        if _CACHE.search(sentence) is None or _OTHER_BYTES.search(sentence) is not None:
            continue
        sizes = [(each, _size_of(each["digits"], each["unit"])) for each in _SIZE.finditer(sentence)]
        small = [_size_of(each["digits"], each["unit"]) for each in _EACH_BYTES.finditer(sentence)]
        small = [each for each in small if 512 <= each <= 8e6]
        large = [size for _, size in sizes if size not in small]
        if len(tokens) == len(small) == len(large) == 1:
            computed = tokens[0].value * small[0]
            message = f"according to the text, {tokens[0].value:,.10g} tokens of {display(small[0], 'B')} are {display(large[0], 'B')} of cache; they are {display(computed, 'B')}"
            yield DerivedFigure(large[0], computed, message, sentence)


LEAST, MOST = 512, 8e6
"""Bytes of cache of a token that are read."""
_SMALL_SIZES = pattern(rf"(?i)(?<!-)(?P<digits>{DIGITS}) ?(?P<unit>B|bytes?|octets?|[KM]i?[BO])\b(?!/s|ps)")
_TOKEN_BEHIND = pattern(
    r"(?i)^(?: of (?:\w+[ -]){0,3}?\w+)? ?(?:(?:a|per|each|every|(?:for|with) (?:a|each|every|one)|mit jedem|à chaque|pro|je|par|por|für jedes|pour chaque) ?(?:\w{4,8} )?|/)(?:token|jeton)\b(?! sec)"
)
_TOKEN_AHEAD = pattern(
    r"(?i)\b(?:(?:a|one|each|every|per|single|the|pro|je|jede[sr]?|ein|par|chaque|un|cada|por) (?:\w{4,8} )?(?:token|jeton)\b(?! (?:sec|rate))|(?:token|jeton)[^\W\d_]*größe)"
)
_KEYS_AND_VALUES = pattern(
    r"(?i)\b(?:\w*-?cach[eé]\w{0,3}|kv|key-value|keys? and values?|keys und values|k and v|clés et valeurs)\b"
)
_OF_A_PART = pattern(
    r"(?i)\b(?:gpus?|ranks?|cores?|accelerators?|cards?|chips?|devices?|shards?|draft\w*|instead of|would|could|were|was|not|karten?|nicht|würde|serait|pas"
    r"|(?<!\d )(?<!\d kv )(?<!key-value )(?<!all )(?:layers?|heads?|schicht(?:en)?|couches?)|each of \d+ layers)\b"
)
"""Pattern of words in sentences about a part of the model or of the machine; `80 layers` means the whole model."""
FAR = 72
"""Largest distance, in characters, between a token and its bytes."""


def bytes_of_tokens(text: str) -> Iterator[tuple[str, float]]:
    """The sentences that give the bytes of cache of a token of the whole model, with these bytes.

    >>> list(bytes_of_tokens("The cache takes 64 KiB a token in bf16. Of it a rank holds 16 KiB a token."))
    [('The cache takes 64 KiB a token in bf16', 65536.0)]
    >>> [each for _, each in bytes_of_tokens("With 80 layers and 8 KV heads of 128 values, a token takes 160 KiB in bf16.")]
    [163840.0]
    >>> [each for _, each in bytes_of_tokens("It has 8 KV heads. In bf16 a token takes 80 x 8 x 128 x 2 bytes = 164 kB.")]
    [164000.0]
    """
    before = ""
    for sentence in (each for item in items_of(text) for each in sentences_of(item)):
        context, before = f"{before} {sentence}", sentence
        if _KEYS_AND_VALUES.search(context) is None:
            continue
        found = {
            _size_of(each["digits"], each["unit"])
            for each in _SMALL_SIZES.finditer(sentence)
            if not _is_factor(sentence, each) and _is_of_token(sentence, each)
        }
        if len(found) == 1 and LEAST <= min(found) <= MOST:
            yield sentence, found.pop()


def _is_factor(sentence: str, size: re.Match[str]) -> bool:
    """Whether a size is a factor of a written product, such as the bytes of one number."""
    return sentence[: size.start()].rstrip().endswith(("x", "×", "*"))


def _is_of_token(sentence: str, size: re.Match[str]) -> bool:
    """Whether the words around a size show that it is for one token of the whole model."""
    start, end = clause_bounds(sentence, *size.span())
    if _OF_A_PART.search(sentence, start, end) is not None:
        return False
    if _TOKEN_BEHIND.match(sentence[size.end() :]) is not None:
        return True
    before = sentence[max(0, size.start() - FAR) : size.start()]
    ahead = next(iter(_TOKEN_AHEAD.finditer(before)), None)
    between = _SMALL_SIZES.search(before, ahead.end()) if ahead is not None else None
    return ahead is not None and (between is None or _is_factor(before, between))


def _size_of(digits: str, unit: str) -> float:
    return (
        number_of(digits, whole=unit[0].lower() == "b")
        * _BYTES[unit.lower().replace("octets", "bytes").replace("o", "b")]
    )
