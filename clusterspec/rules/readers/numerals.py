"""The language of a text, and its numbers up to ninety-nine and fractions as words of eight languages."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import islice

from clusterspec.records import NamedTuple
from clusterspec.rules.readers.units import word_set
from clusterspec.standard import pattern, recent

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


MOST = 50
"""Fractions of a text that are read."""
_WORDS: tuple[tuple[float, str], ...] = (
    (2 / 3, "(?:two|2) thirds|(?:zwei|2) drittel|(?:deux|2) tiers|(?:dos|2) tercios|(?:due|2) terzi|(?:twee|2) derden?|(?:dois|2) terços|dwie trzecie"),
    (3 / 4, "(?:three|3) quarters|(?:drei|3) viertel|(?:trois|3) quarts|(?:tres|3) cuartos|(?:tre|3) quarti|(?:drie|3) kwart|(?:três|3) quartos|trzy czwarte"),
    (2 / 5, "(?:two|2) fifths|(?:zwei|2) fünftel|(?:deux|2) cinquièmes|(?:dos|2) quintos|(?:due|2) quinti|(?:twee|2) vijfden?|(?:dois|2) quintos"),
    (3 / 5, "(?:three|3) fifths|(?:drei|3) fünftel|(?:trois|3) cinquièmes|(?:tres|3) quintos|(?:tre|3) quinti|(?:drie|3) vijfden?|(?:três|3) quintos"),
    (3 / 10, "(?:three|3) tenths|(?:drei|3) zehntel|(?:trois|3) dixièmes|(?:tres|3) décimos|(?:tre|3) decimi|(?:drie|3) tienden?|(?:três|3) décimos"),
    (1 / 2, "(?:a |one )?half|(?:die )?hälfte|(?:la )?moitié|(?:la )?mitad|(?:la )?metà|(?:de )?helft|hälften|połow[aęy]|(?:a )?metade"),
    (1 / 3, "(?:a|one) third|(?:ein|das) drittel|(?:un|le) tiers|un tercio|(?:una|la) tercera parte|(?:un|il) terzo|een derde|en tredjedel|jedn[aą] trzeci[aą]|um terço"),
    (1 / 4, "(?:a|one) quarter|(?:ein|das) viertel|(?:un|le) quart|un cuarto|(?:una|la) cuarta parte|(?:un|il) quarto|een kwart|en fjärdedel|jedn[aą] czwart[aą]|um quarto|a quarta parte"),
    (1 / 5, "(?:a|one) fifth|(?:ein|das) fünftel|(?:un|le) cinquième|(?:una|la) quinta parte|(?:un|il) quinto|een vijfde|jedn[aą] piąt[aą]|um quinto"),
    (1 / 10, "(?:a|one) tenth|(?:ein|das) zehntel|(?:un|le) dixième|(?:una|la) décima parte|(?:un|il) decimo|een tiende|jedn[aą] dziesiąt[aą]|um décimo"),
)  # fmt: skip
_FRACTION = pattern(rf"(?i)\b(?:{'|'.join(f'({words})' for _, words in _WORDS)})\b")


class WordFraction(NamedTuple):
    """A fraction, its place in a text, and its words."""

    value: float
    start: int
    end: int
    words: str


def fractions_in(text: str) -> Iterator[WordFraction]:
    """The fractions that a text writes as words.

    >>> [(round(each.value, 2), each.words) for each in fractions_in("Two thirds now, ein Viertel later, the rest never.")]
    [(0.67, 'Two thirds'), (0.25, 'ein Viertel')]
    >>> list(fractions_in("the third rack, quarterly"))
    []
    """
    for match in islice(_FRACTION.finditer(text), MOST):
        yield WordFraction(_WORDS[(match.lastindex or 1) - 1][0], match.start(), match.end(), match[0])
