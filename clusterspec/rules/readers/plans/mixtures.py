"""Shares of the sources of training data in texts, and the unique tokens of a source."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice

from clusterspec.records import NamedTuple
from clusterspec.rules.readers.clauses import clause_at, is_hypothetical, is_of_other_plan
from clusterspec.rules.readers.numerals import fractions_in
from clusterspec.rules.readers.quantities import BARE, BYTE, SHARE, TOKEN, TextQuantity
from clusterspec.rules.readers.windows import Window
from clusterspec.standard import pattern, sum_of

MOST_FRACTIONS = 50
_OF_ELSE = pattern(r"(?i) (?:an|hour|year|day|cosine|million|billion)\b")
"""Words behind a fraction that is no share of a mixture."""
MIXTURE = pattern(
    r"(?i)\bdata(?: sources| set)?:|\b(?:(?:data|training|sampling|token|pre-?training) (?:mix(?:ture)?|blend|weights|shares|composition)|mixture(?! of[ -]experts)|mix(?: of|:| is| by)|blend|"
    r"(?:sampling|mixing) (?:weights|ratios?|proportions)|corpus|datenmischung|datenmix|mischung|korpus|mélange|mezcla)\b"
)
_SOURCE = pattern(
    r"(?i)(?<![^\W_])(?:web\w*|(?:common ?)?crawl\w*|c4|code|github|books?|papers?|arxiv|wiki\w*|math\w*|encyclop\w+|stack ?(?:exchange|overflow)|dialog\w*|multilingual|"
    r"news\w*|forums?|legal|patents?|literature|textbooks?|prose|reddit|pubmed|quellcode|büchern?|webseiten|zeitungen|nachrichten|livres|encyclopédies?|libros|código|"
    r"matemáticas|conversations?|english|german|french|chinese|spanish|mathematik|mathématiques|synthetic|instructions?)(?![^\W_])"
)
"""Pattern of the names of sources of training data."""
_OF_TOKENS = pattern(
    r"(?i)\b(?:of|der|des|du|del|de los) (?:all |the |our |each |whole |total |aller |alle )*(?:training |pre-?training )?(?:tokens?|run|data|mix\w*|training|pre-?training|budget|batch\w*|laufs|daten|jetons|données|entrenamiento)\b"
)
_NAMED = pattern(
    r"(?i)^ ?\(?(?:of |from |for |de |du |des |der |aus |is |are |come from )?(?:the |all |each )?[^\W\d_][\w'-]{1,20}"
)
"""Pattern of a source's name after its share."""
_NAME_BEFORE = pattern(r"(?:^|[,:;(|•*–-]|\band) ?[^\W\d_][\w -]{1,24}(?:[:=(|] ?)?$|[:(|] ?$")
"""Pattern of a source's name before its share."""
_INCOMPLETE = pattern(
    r"(?i)\b(?:of which|of these|of it|including|thereof|among|davon|darunter|dont|de los cuales|increase\w*|up from|instead|saves?|vs|mfu|utili[sz]ation|accuracy|scores?|"
    r"pass rate|speed-?up|faster|drops?|remov\w+|discard\w*|filter\w*|los[et]s?|reject\w*|duplicates?)\b|(?<!% )(?<!no )\b(?:rest|remainder|balance|others?|reste|resto|übrige\w*)\b(?![^.;,\d]{0,20}\d)|(?:→|->)"
)
"""Pattern of words for shares that are only a part of a mixture, or of no mixture."""
_BOUND = pattern(
    r"(?i)\b(?:(?:more|less|fewer) than|up to|at most|at least|under|below|over|above|höchstens|mindestens|moins de|plus de|from|to|von)(?: about)? $"
)
_UNIQUE = pattern(
    r"(?i)\b(?:unique|distinct|dedup\w*|in stock|we (?:hold|have|own)|upsampl\w*|einzigartig\w*|einmalig\w*|verschieden\w*|duplikat\w*|dédupliqu\w*|uniques|únicos)\b"
)
_FEW = pattern(r"(?i)\b(?:only|just|has|have|holds|available|exists?|left|nur|übrig|seulement|disponibles?|solo)\b")
_WEIGHT = pattern(r"(?i)\b(?:weights?|gewicht\w*|poids|peso)\b")
_TESTED = pattern(r"(?i)\b(?:validat\w+|evaluat\w+|test|held-out|tokeni[sz]er|reward)\b")
_LIST = pattern(r"(?<!\S)\(?[^\W\d_]{2,20}(?: ?/ ?[^\W\d_]{2,20}){2,9}\)?(?!\S)")
_RATE = pattern(r"(?i)^ ?(?:/|(?:a|per|each|every|pro|par) )")


_CLOSED = pattern(
    r"(?i)\b(?:no other|nothing else|all of (?:it|them)|together|in total|only these|keine weiteren|sonst nichts|zusammen|aucune autre|au total|ninguna otra|en total)\b"
)
OF_SHARES, OF_COUNTS = 0.03, 0.01
"""Largest deviation from one that rounding explains for a sum of shares, and for a sum of counted tokens."""


class SourceShares(NamedTuple):
    """The shares of the sources of a data mixture in a sentence, each with its words."""

    values: tuple[float, ...]
    words: tuple[str, ...]
    rounding: float
    """Largest deviation from one that rounding explains for the sum of the shares."""


def fractions(sentence: str) -> Iterator[TextQuantity]:
    """The shares that a sentence writes as words.

    >>> [(each.words, each.value) for each in fractions("A quarter is code, three quarters are prose; half an hour")]
    [('A quarter', 0.25), ('three quarters', 0.75)]
    """
    for each in islice(fractions_in(sentence), MOST_FRACTIONS):
        is_noun = each.start == 0 or " " in each.words  # elsewhere, `half` is often an adverb
        if is_noun and _OF_ELSE.match(sentence, each.end) is None:
            yield TextQuantity(each.value, SHARE, each.start, each.end, each.words, 0.05 * each.value)


def is_closed_list(text: str) -> bool:
    """Whether a text says that a list is complete."""
    return _CLOSED.search(text) is not None


def source_shares(window: Window, is_closed: bool) -> SourceShares | None:
    """The shares of a data mixture, as percentages, decimals, fractions or counts of tokens; None unless there are at
    least three.
    """
    text = window.text
    for rounding, shares in _kinds_of_shares(window, is_closed):
        if len(shares) < 3 or not _is_mixture(text, shares) or _INCOMPLETE.search(text) is not None:
            continue
        lead = text[: shares[0].start]
        if is_of_other_plan(lead) or is_hypothetical(lead) or any(_BOUND.search(text[: each.start]) for each in shares):
            continue
        if all(_is_named(text, each) for each in shares) or _is_list_of_names(text, shares):
            values, words = tuple(each.value for each in shares), tuple(each.words for each in shares)
            return SourceShares(values, words, rounding)
    return None


def _counted_shares(window: Window, is_closed: bool) -> list[TextQuantity]:
    """The tokens of each source as a share of the largest count, which is the total: `of the 1 T tokens, 600 B are
    web`.

    Unless the list ``is_closed``, sources may be missing, so shares with a sum of at most one are omitted.
    """
    counts = [each for each in window.quantities if _count(each) >= 1e8]
    whole = max(map(_count, counts), default=0.0)
    parts = [each for each in counts if _count(each) < whole]
    if (
        len(parts) < 3
        or len(parts) != len(counts) - 1
        or not any(each.unit == TOKEN for each in counts if each not in parts)
    ):
        return []
    shares = [each._replace(value=_count(each) / whole, unit=SHARE) for each in parts]
    return shares if is_closed or sum_of(each.value for each in shares) > 1 else []


def _kinds_of_shares(window: Window, is_closed: bool) -> Iterator[tuple[float, list[TextQuantity]]]:
    """For each way of writing shares, the shares of a sentence, with the largest rounding error of their sum."""
    yield OF_SHARES, [each for each in window.quantities if each.unit == SHARE]
    decimals = [each for each in window.quantities if each.unit == BARE and 0 < each.value < 1]
    yield OF_SHARES, [each for each in decimals if each.words.startswith(("0.", "0,"))]
    yield OF_COUNTS, _counted_shares(window, is_closed)


def _count(quantity: TextQuantity) -> float:
    """The number of tokens that a figure may mean; among counts of tokens, `580 B` is a count of tokens. 0 for other
    figures.
    """
    if quantity.unit == BYTE:
        return quantity.value * 1e9 if quantity.words.endswith(" B") or quantity.words[-2:-1].isdigit() else 0.0
    return quantity.value if quantity.unit in (TOKEN, BARE) else 0.0


def _is_mixture(text: str, shares: list[TextQuantity]) -> bool:
    names = _sources(text)
    return MIXTURE.search(text) is not None or (len(names) > 1 and 2 * len(names) >= len(shares))


def _sources(text: str) -> set[str]:
    return {each[0].lower() for each in islice(_SOURCE.finditer(text), MOST_FRACTIONS)}


def _is_named(text: str, share: TextQuantity) -> bool:
    return _NAMED.match(text[share.end :]) is not None or _NAME_BEFORE.search(text[: share.start]) is not None


def _is_list_of_names(text: str, shares: list[TextQuantity]) -> bool:
    """Whether a list before the shares names one source for each share, as in `weights (web/code/books) of 0.6, 0.3 and
    0.2`.
    """
    match = _LIST.search(text[: shares[0].start])
    return match is not None and match[0].count("/") == len(shares) - 1


def repeated_source(window: Window) -> Iterator[tuple[TextQuantity, TextQuantity]]:
    """The shares of sources in a window, each with the unique tokens of its source."""
    shares = [each for each in window.quantities if each.unit == SHARE and _is_of_data(window.text, each)]
    for unique in window.quantities:
        if unique.unit != TOKEN and not (unique.unit in (BARE, BYTE) and _count(unique) >= 1e8):
            continue
        if not shares or _RATE.match(window.text[unique.end :]) or not _is_unique(window, unique):
            continue
        before = [each for each in shares if each.end <= unique.start]
        share = before[-1] if before else shares[0]
        own, others = (_sources(clause_at(window.text, each.start, each.end)) for each in (share, unique))
        if own and others and own.isdisjoint(others):
            continue
        yield share, unique._replace(value=_count(unique))


def _is_of_data(text: str, share: TextQuantity) -> bool:
    """Whether the clause of a share makes it one of the training data."""
    clause = clause_at(text, share.start, share.end)
    known = _OF_TOKENS.search(clause) or _WEIGHT.search(clause) or _SOURCE.search(clause) or MIXTURE.search(clause)
    return known is not None and not is_of_other_plan(clause) and not is_hypothetical(clause)


def _is_unique(window: Window, tokens: TextQuantity) -> bool:
    """Whether the words around a number of tokens make it the number of unique tokens of a source."""
    clause = clause_at(window.text, tokens.start, tokens.end)
    if is_of_other_plan(clause) or is_hypothetical(clause) or _TESTED.search(clause) is not None:
        return False
    near = clause + window.text[tokens.end : tokens.end + 12]
    if _UNIQUE.search(near) is not None:
        return True
    bracketed = window.text[: tokens.start].rstrip().endswith("(") and MIXTURE.search(window.text) is not None
    return window.sentences == 1 and (bracketed or _FEW.search(clause) is not None)
