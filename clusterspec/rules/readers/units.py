"""Words of numbers, scales and units in texts, in lower case unless the case distinguishes units."""

from __future__ import annotations

from clusterspec.quantity import DAY, HOUR, YEAR
from clusterspec.standard import pattern

MINUTE = 60.0
MONTH = YEAR / 12
"""Seconds."""


def word_set(text: str) -> frozenset[str]:
    """The words of a text."""
    return frozenset(text.split())


def _table(*rows: tuple[float, str]) -> dict[str, float]:
    return {word: value for value, words in rows for word in words.split()}


_STORED = pattern(r"(?i)\b(?:fp32|bf16|fp16|fp8|int8|fp4|nvfp4|mxfp4|int4)\b")


def stored_precisions(text: str) -> set[str]:
    """The precisions in a text in which weights and caches are stored.

    >>> sorted(stored_precisions("BF16 weights with an FP8 cache; products in TF32"))
    ['bf16', 'fp8']
    """
    return {each.lower() for each in _STORED.findall(text)}


TIME_WORDS = _table(
    (1.0, "s sec secs second seconds sekunde sekunden seconde secondes segundo segundos secondi seconden sekund"),
    (MINUTE, "min mins minute minutes minuten minuto minutos minuti minuut minut"),
    (
        HOUR,
        "h hour hours hr hrs std stunde stunden heure heures hora horas ora ore uur timmar timer uren godzin godziny",
    ),
    (DAY, "day days tag tage tagen jour jours día días dia dias giorni giorno dagen dag dni"),
    (7 * DAY, "week weeks woche wochen semaine semaines semana semanas settimane settimana weken tygodni tygodnie"),
    (
        MONTH,
        "month months monat monate monaten mois mes meses mesi mese maanden maand månader måneder miesięcy miesiąc miesiąca miesiącu mês",
    ),
    (
        YEAR,
        "year years yr yrs annum jahr jahre jahren an ans année années año años ano anos anni anno jaar jaren år lat lata",
    ),
)
"""Seconds of the units of time, in the singular and the plural."""
SCALE_WORDS = {
    **_table(
        (1e3, "thousand tausend tsd mille mil"),
        (1e6, "million millions millionen millones milhões miljoen milioni mn mio mln mill"),
        (1e9, "billion billions milliarden milliards mrd mld bn miliardi miliardo miljard miljarden bilhões bilhão"),
        (1e12, "trillion billionen billones"),
    ),
    "mil millones": 1e9,
}
"""The factor of each word that scales the number before it."""
ABBREVIATED = word_set("mio mrd tsd std")
"""Words after which a full stop ends no sentence."""
LETTERS = {"k": 1e3, "K": 1e3, "M": 1e6, "B": 1e9, "G": 1e9, "T": 1e12}
"""Letters that scale a count."""
WEIGHTS = word_set("weights gewichte gewichten poids pesos pesi")
"""Words for the weights of a model."""
_ENGLISH = "one two three four five six seven eight nine ten eleven twelve"
NUMBER_WORDS = {word: number for number, word in enumerate(_ENGLISH.split(" "), start=1)}
"""Numbers that English texts write as words."""
NUMBERS = NUMBER_WORDS | {
    word: number
    for number, words in enumerate(
        (
            "ein eine einem einen un une una",
            "zwei deux dos due",
            "drei trois tres tre",
            "vier quatre cuatro quattro",
            "fünf cinq cinco cinque",
            "sechs seis sei",
            "sieben sept siete sette",
            "acht huit ocho otto",
            "neun neuf nueve nove",
            "zehn dix diez dieci",
            "elf onze undici",
            "zwölf douze doce dodici",
        ),
        start=1,
    )
    for word in words.split()
}
"""Numbers as words of several languages."""
SPELLED_TENS = {
    **{
        word: number
        for number, word in enumerate(
            ["thirteen", "fourteen", "fifteen", "sixteen", "seventeen", "eighteen", "nineteen"], 13
        )
    },
    **{
        word: 10 * number
        for number, word in enumerate(["twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety"], 2)
    },
}
"""Numbers from 13 to 90 as English words; a word of `NUMBER_WORDS` may follow a ten."""
_ONES = "ein zwei drei vier fünf sechs sieben acht neun"
_GERMAN_TENS = "zwanzig dreißig vierzig fünfzig sechzig siebzig achtzig neunzig"
_GERMAN_TEENS = "dreizehn vierzehn fünfzehn sechzehn siebzehn achtzehn neunzehn"
_FRENCH_TENS = "vingt trente quarante cinquante soixante"
TENS = {
    **{word: 10 * number for number, word in enumerate(_GERMAN_TENS.split(), start=2)},
    **{word: number for number, word in enumerate(_GERMAN_TEENS.split(), start=13)},
    **{
        f"{one}und{ten}": 10 * tens + ones
        for tens, ten in enumerate(_GERMAN_TENS.split(), start=2)
        for ones, one in enumerate(_ONES.split(), start=1)
    },
    **{word: 10 * number for number, word in enumerate(_FRENCH_TENS.split(), start=2)},
}
"""Numbers from 13 to 99 as German words, and French tens."""
HALVES = {"and": ("a", "half"), "y": ("medi",), "et": ("demi",), "e": ("mezz",)}
"""What a half after a number or a unit begins with, and how its further words begin."""
_PERCENT = pattern(r"(?i) ?\b(?:percent|per cent|prozent|pour ?cent|por ?ciento|por ?cento|per ?cento|procent)\b")


def with_percent_signs(text: str) -> str:
    """A text with `%` for the words of percents.

    >>> with_percent_signs("20 percent, 5 Prozent, 3 por ciento")
    '20 %, 5 %, 3 %'
    """
    return _PERCENT.sub(" %", text)
