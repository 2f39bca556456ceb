"""The language of a text, and its numbers up to ninety-nine as words of eight languages."""

from __future__ import annotations

from collections.abc import Sequence

from clusterspec.rules.readers.units import word_set
from clusterspec.standard import recent

ENGLISH, GERMAN, FRENCH, SPANISH, ITALIAN, DUTCH, PORTUGUESE, POLISH = "en", "de", "fr", "es", "it", "nl", "pt", "pl"
_FUNCTION_WORDS = {
    ENGLISH: word_set("the and of with is are for to that which in on each"),
    GERMAN: word_set("der die das und mit ist sind für ein eine nicht auf im je zu den von"),
    FRENCH: word_set("le la les et des du est sont pour une dans avec sur par qui au"),
    SPANISH: word_set("el la los las y de del es son para con por una en que se"),
    ITALIAN: word_set("il lo la gli di e è della sono per con una che nel da dei"),
    DUTCH: word_set("de het een en van is zijn voor met op per niet te dat bij"),
    PORTUGUESE: word_set("o a os as e da do dos é são para com por uma um em que no"),
    POLISH: word_set("i w z na nie jest są się przez dla od po oraz do każdy każda każde może wolno musi przed ponad"),
}
"""Frequent words of each language."""
_ONES = {
    ENGLISH: "one two three four five six seven eight nine",
    GERMAN: "ein zwei drei vier fünf sechs sieben acht neun",
    FRENCH: "un deux trois quatre cinq six sept huit neuf",
    SPANISH: "uno dos tres cuatro cinco seis siete ocho nueve",
    ITALIAN: "uno due tre quattro cinque sei sette otto nove",
    DUTCH: "een twee drie vier vijf zes zeven acht negen",
    PORTUGUESE: "um dois três quatro cinco seis sete oito nove",
    POLISH: "jeden dwa trzy cztery pięć sześć siedem osiem dziewięć",
}
_TEENS = {
    ENGLISH: "ten eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen nineteen",
    GERMAN: "zehn elf zwölf dreizehn vierzehn fünfzehn sechzehn siebzehn achtzehn neunzehn",
    FRENCH: "dix onze douze treize quatorze quinze seize dix-sept dix-huit dix-neuf",
    SPANISH: "diez once doce trece catorce quince dieciséis diecisiete dieciocho diecinueve",
    ITALIAN: "dieci undici dodici tredici quattordici quindici sedici diciassette diciotto diciannove",
    DUTCH: "tien elf twaalf dertien veertien vijftien zestien zeventien achttien negentien",
    PORTUGUESE: "dez onze doze treze catorze quinze dezesseis dezessete dezoito dezenove",
    POLISH: "dziesięć jedenaście dwanaście trzynaście czternaście piętnaście szesnaście siedemnaście osiemnaście dziewiętnaście",
}
_TENS = {
    ENGLISH: "twenty thirty forty fifty sixty seventy eighty ninety",
    GERMAN: "zwanzig dreißig vierzig fünfzig sechzig siebzig achtzig neunzig",
    FRENCH: "vingt trente quarante cinquante soixante soixante-dix quatre-vingt quatre-vingt-dix",
    SPANISH: "veinte treinta cuarenta cincuenta sesenta setenta ochenta noventa",
    ITALIAN: "venti trenta quaranta cinquanta sessanta settanta ottanta novanta",
    DUTCH: "twintig dertig veertig vijftig zestig zeventig tachtig negentig",
    PORTUGUESE: "vinte trinta quarenta cinquenta sessenta setenta oitenta noventa",
    POLISH: "dwadzieścia trzydzieści czterdzieści pięćdziesiąt sześćdziesiąt siedemdziesiąt osiemdziesiąt dziewięćdziesiąt",
}
_FURTHER = {
    SPANISH: {"veintidós": 22, "veintitrés": 23, "veinticuatro": 24, "veintiocho": 28},
    POLISH: {
        "dwie": 2,
        "dwóch": 2,
        "trzech": 3,
        "czterech": 4,
        "pięciu": 5,
        "sześciu": 6,
        "ośmiu": 8,
        "dziesięciu": 10,
    },
    PORTUGUESE: {"duas": 2, "dezasseis": 16, "dezassete": 17, "dezanove": 19},
    FRENCH: {"quatre-vingts": 80, "soixante-et-onze": 71},
    GERMAN: {"zwo": 2, "dreissig": 30},
}
_AND = {SPANISH: "y", PORTUGUESE: "e", FRENCH: "et", POLISH: ""}
"""The word between tens and ones that are words of their own."""


@recent(4)
def language_of(text: str) -> str:
    """The language of a text, by its frequent words; English where none is more frequent.

    >>> language_of("Ein Knoten hat acht GPUs und zieht 10,2 kW"), language_of("Um nó tem oito GPUs e consome 10,2 kW")
    ('de', 'pt')
    """
    words = text.lower().split()
    return max(_FUNCTION_WORDS, key=lambda each: sum(map(_FUNCTION_WORDS[each].__contains__, words)))


@recent(8)
def numerals_of(language: str) -> dict[str, int]:
    """The numbers from 2 to 99 of a language that are one word, perhaps with hyphens.

    >>> [numerals_of("de")["zweiunddreißig"], numerals_of("it")["ventotto"], numerals_of("nl")["tweeëndertig"]]
    [32, 28, 32]
    >>> numerals_of("fr")["quatre-vingt-seize"], numerals_of("en")["sixty-four"]
    (96, 64)
    """
    ones = dict(enumerate(_ONES[language].split(), 1))
    found = {word: number for number, word in ones.items() if number > 1}
    found |= {word: number for number, word in enumerate(_TEENS[language].split(), 10)}
    for tens, word in enumerate(_TENS[language].split(), 2):
        found[word] = 10 * tens
        found |= {_compound_numeral(language, word, one): 10 * tens + number for number, one in ones.items()}
    if language == FRENCH:
        found |= {f"{ten}-{word}": base + found[word] for ten, base in _SIXTIES for word in _TEENS[FRENCH].split()}
    return found | _FURTHER.get(language, {})


_SIXTIES = (("soixante", 60), ("quatre-vingt", 80))


def _compound_numeral(language: str, ten: str, one: str) -> str:
    """The word of a ten and a one.

    >>> _compound_numeral("de", "vierzig", "zwei"), _compound_numeral("it", "venti", "otto"), _compound_numeral("es", "veinte", "seis")
    ('zweiundvierzig', 'ventotto', 'veintiseis')
    """
    if language == GERMAN:
        return f"{one}und{ten}"
    if language == DUTCH:
        return f"{one}{'ën' if one.endswith('e') else 'en'}{ten}"
    if language == ITALIAN:
        return f"{ten[:-1] if one[0] in 'uo' else ten}{one}"
    if language == SPANISH and ten == "veinte":
        return f"veinti{one}"
    return f"{ten}-{one}"


def with_digits(text: str) -> str:
    """A text with its numbers from 2 to 99 in digits; before a number of three digits a sign keeps both apart.

    >>> with_digits("Sixty-four nodes with eight 400G ports"), with_digits("los treinta y dos nodos, de dos")
    ('64 nodes with 8 × 400G ports', 'los 32 nodos, de 2')
    """
    language = language_of(text)
    known, conjunction = numerals_of(language), _AND.get(language, "")
    pieces = text.split(" ")
    bare = {each: each.strip(_MARKS).lower() for each in set(pieces)}
    if known.keys().isdisjoint(bare.values()):
        return text
    words = [bare[each] for each in pieces]
    found, at = [], 0
    while at < len(pieces):
        number, last = known.get(words[at], 0), at
        if number >= 20 and number % 10 == 0:
            number, last = _with_ones(words, at, known, conjunction)
        if number:
            begin, end = pieces[at][: len(pieces[at]) - len(pieces[at].lstrip(_MARKS))], _end(pieces[last])
            apart = not end and last + 1 < len(pieces) and pieces[last + 1][:1].isdigit()
            found.append(f"{begin}{number}{end}{' ×' if apart else ''}")
        else:
            found.append(pieces[at])
        at = last + 1
    return " ".join(found)


_MARKS = "()[],;:.!?\"'"
"""Signs around a word."""


def _end(piece: str) -> str:
    """The signs behind a word."""
    return piece[len(piece.rstrip(_MARKS)) :]


def _with_ones(words: Sequence[str], at: int, known: dict[str, int], conjunction: str) -> tuple[int, int]:
    """A ten with the ones behind it, and the index of its last word."""
    last = at + (2 if conjunction and words[at + 1 : at + 2] == [conjunction] else 1)
    ones = known.get(words[last], 0) if last < len(words) else 0
    return (known[words[at]] + ones, last) if 0 < ones < 10 else (known[words[at]], at)
