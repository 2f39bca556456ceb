"""The longest request of a text that counts it in words or pages: times the tokens of each, with the instructions before it."""

from __future__ import annotations

from collections.abc import Iterator

from clusterspec.records import NamedTuple
from clusterspec.rules.readers.demands.reading import lexicon
from clusterspec.rules.readers.demands.sentences import plain_sentences
from clusterspec.rules.readers.doubt import words_of_another
from clusterspec.rules.readers.written_numbers import large_number_in_text, number_in_text
from clusterspec.standard import pattern

_NUMBER = r"(?<![\w.,])(\d{1,3}(?:[ .,'’\u202f]\d{3}){1,4}|\d{1,7})"
_UNITS = {
    "word": "words?|wörtern?|worte?|mots?|palabras?|parole|parola|woorden|woord|palavras?|słów|słowa|słowo",
    "page": "pages?|seiten?|páginas?|pagine|pagina|pagina's|stron|strony|stronę",
    "line": "lines?|zeilen?|lignes?|líneas?|righe|riga|regels?|linhas?|wierszy",
}
_COUNTED = {unit: pattern(rf"(?i){_NUMBER} (?:{words})\b") for unit, words in _UNITS.items()}
_PER = (
    r"(?:per|a|an|for each|for every|each|pro|je|für jedes|par|pour chaque|por|por cada|per ogni|voor elk|por|na|każde)"
)
_RATES = {
    unit: pattern(
        rf"(?i)(?<![\w.,])(\d{{1,5}}(?:[.,]\d{{1,3}})?) (?:tokens?|jetons?|tokenów)(?: [^\W\d]+)?,? {_PER} (?:[^\W\d]+ )?(?:{words})\b"
        rf"|\b(?:{words}) [^.,;\d]{{1,40}}?(?<![\w.,])(\d{{1,5}}(?:[.,]\d{{1,3}})?) (?:tokens?|jetons?|tokenów)\b"
    )
    for unit, words in _UNITS.items()
}
_BEFORE = pattern(
    rf"(?i){_NUMBER} (?:tokens?|jetons?|tokenów)\b[^.;]{{0,40}}?\b(?:instruct\w*|system prompt|template\w*|preambles?|rules|header\w*|anweisung\w*|vorspann\w*|vorgaben|systemprompt\w*|consignes?|préambule\w*|"
    r"modèles? de|instrucci\w+|preámbulo\w*|reglas|plantilla\w*|istruzion\w+|preambolo|formule|regole|instructies|sjabloon\w*|instruções|modelo de|regras|instrukcj\w+|szablon\w*)\b"
)
_EACH = pattern(
    r"(?i)\b(?:each|every|any|all|jede\w{0,2}|alle[nr]?|chaque|tout\w*|cada|tod[oa]s?|ogni|tutt\w+|elk\w*|iedere?|alle|każd\w+)\b"
)


_LONGEST = frozenset({"longest", "ceil", "upper"})
"""Meanings of words for the longest: `the longest file has 200 pages`, `files of up to 200 pages`."""


class LongestRequest(NamedTuple):
    """The tokens of the longest request, and how they follow."""

    tokens: float
    how: str


def longest_request(text: str) -> LongestRequest | None:
    """The longest request that a text counts in words, pages or lines; None unless it also says how many tokens each has, and that it
    is read whole.

    >>> text = "Each file must be read whole. The longest file has 88,000 words at 1.45 tokens per word. 1,400 tokens of instructions precede each request."
    >>> longest_request(text)
    LongestRequest(tokens=129000.0, how='88,000 words of 1.45 tokens and 1,400 tokens of instructions')
    """
    sentences = [each for each in plain_sentences(text) if not words_of_another(each)]
    if not any(_is_of_whole(each) for each in sentences):
        return None
    for unit, counted in _COUNTED.items():
        rates = {_rate(match[1] or match[2]) for each in sentences for match in _RATES[unit].finditer(each)}
        longest = [
            match
            for each in sentences
            for match in counted.finditer(each)
            if not _LONGEST.isdisjoint(lexicon().meanings(each)) or _is_of_whole(each)
        ]
        if len(rates) == 1 and longest:
            (rate,), most = rates, max(longest, key=lambda match: large_number_in_text(match[1]))
            before, words = next(_instructions(sentences), (0.0, ""))
            tokens = large_number_in_text(most[1]) * rate + before
            return LongestRequest(tokens, f"{most[0]} of {rate:g} tokens" + (f" and {words}" if words else ""))
    return None


_OF_LONGEST = pattern(
    rf"^[^\d.,;:%]{{0,40}}?{_NUMBER}(?! ?%)(?=$|[.,;:)]| (?:pieces )?(?:tokens?|jetons?|tokenów)\b| (?:and|und|et|y|e|en)\b)"
)
"""The number that follows the word for the longest: `the longest has 29,800`."""
_BINDING = frozenset({"must", "duty", "least"})
_OF_DOCUMENT = frozenset({"prompt", "corpusword"})


def longest_document(text: str) -> float:
    """The tokens of the longest document of a text that also demands that documents are trained on whole; 0 without them.

    >>> longest_document("A file has 3,000 tokens on average, the longest 29,800. No file may be cut.")
    29800.0
    >>> longest_document("A file has 3,000 tokens on average, the longest 29,800. Long files are cut.")
    0.0
    """
    sentences = [each for each in plain_sentences(text) if not words_of_another(each)]
    own = [(each, lexicon().meanings(each)) for each in sentences]
    if not any(
        _is_of_whole(each)
        and not _OF_DOCUMENT.isdisjoint(found)
        and (not _BINDING.isdisjoint(found) or _NONE.search(each) is not None)
        for each, found in own
    ):
        return 0.0
    named = [each for each, found in own if "tokens" in found and "other" not in found]
    return max((tokens for each in named for tokens in _longest_in(each)), default=0.0)


def _longest_in(sentence: str) -> Iterator[float]:
    """The numbers that a sentence states for the longest document."""
    for each in lexicon().mentions(sentence):
        if each.meaning == "longest" and (match := _OF_LONGEST.match(sentence[each.end :])) is not None:
            tokens = large_number_in_text(match[1])
            if tokens >= SHORTEST:
                yield tokens


SHORTEST = 256
"""Fewest tokens of a longest document; smaller numbers count something else."""
_CUT = pattern(
    r"(?i)^(?:cut|split|divided|left out|\w*geteilt|zerteil\w*|weggelassen|gekürzt|abgeschnitten|zerschnitten|coup\w+|tronqu\w+|recort\w+|cortad\w+|tagliat\w+|ingekort)$"
)
_NONE = pattern(
    r"(?i)\b(?:no|not|never|nothing|without|nicht\w*|ohne|keine?|ne|sans|aucune?|sin|nada|ning[uú]na?|non|senza|niente|nessun[oa]?|niet|zonder|niets|geen|nenhuma?|żad\w+|não|sem|nie|bez)\b"
)


def _is_of_whole(sentence: str) -> bool:
    """Whether a sentence says that something is read whole, or that nothing is cut.

    >>> [_is_of_whole(each) for each in ("Files are split.", "No file may be split.", "It is read in one piece.")]
    [False, True, True]
    """
    words = [sentence[each.start : each.end] for each in lexicon().mentions(sentence) if each.meaning == "whole"]
    return any(_CUT.match(each) is None for each in words) or (bool(words) and _NONE.search(sentence) is not None)


def _rate(digits: str) -> float:
    return number_in_text(digits)


def _instructions(sentences: list[str]) -> Iterator[tuple[float, str]]:
    """The tokens of the instructions before each request, with their words."""
    for each in sentences:
        match = _BEFORE.search(each)
        if match is not None and _EACH.search(each) is not None:
            yield large_number_in_text(match[1]), f"{match[1]} tokens of instructions"
