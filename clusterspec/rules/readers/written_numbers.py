"""Text outside the keys: written numbers, settings and sentences, with the numbers that a spec states."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import islice, pairwise
from math import prod

from clusterspec.quantity import Figure, Quantity
from clusterspec.records import NamedTuple, fields, is_dataclass
from clusterspec.rules.readers.units import NUMBERS, word_set
from clusterspec.spec.model import Spec
from clusterspec.standard import pattern, recent
from clusterspec.units import read

_OF_SOMETHING_ELSE = pattern(
    r"(?i)\b(?:from|instead of|not|than|replaces?|unlike|ran|was|were|old|former|without|no(?: longer)?|before|until)"
    r"(?: [\w-]{1,20})?(?: an?| the| with)?:? ?$"
)
"""Pattern of words before a setting that belongs to something else or is not in use."""
MOST_MATCHES = 100
"""Largest number of matches of one setting that are compared."""
NUMBER = r"(?<![\w.,])(\d{1,3}(?:,\d{3}){1,5}(?:\.\d{1,9})?|\d{1,15}(?:[.,]\d{1,2}(?!\d))?|\d{1,15}\.\d{1,15})"
"""Pattern of a number with commas between thousands, or with the decimal comma of many European languages."""
CALCULATION_CUES = ("=", "≈", "×", " x ", "% of", "% von", "% der", "% de", "% van", "% di", " each ")
"""Signs of a calculation; a text without any of them has none that `arithmetic-does-not-close` reads."""
_PLAIN = r"\d{1,3}(?:[ ,.'\u2009\u202f]\d{3}){1,3}(?![\d.,])|\d{1,7}(?![.,]\d)"
"""Pattern of a whole number, with or without separators between thousands."""
_UNIT_WORDS = r"((?: ?(?![x×*] ?\d)[^\W\d_]{1,14}(?:-[^\W\d_]{1,14})?){0,3})"
_PRODUCT = pattern(
    rf"(?<![\w.,-])(?!(?:24|1?\d) ?[x×] ?[57]\b)(?!(?:24|1?\d) ?[x×] ?[57] ?[x×])({_PLAIN}){_UNIT_WORDS} ?[x×*] ?({_PLAIN}){_UNIT_WORDS}(?: ?[x×*] ?({_PLAIN}){_UNIT_WORDS})?"
    rf"(?: ?= ?({_PLAIN}))?(?![\w-])"
)
"""Pattern of a product of two or three whole numbers, with the words after each and the result; service hours such as
`24x7` do not match.
"""
_NO_DIGIT = pattern(r"\D")
_SENTENCE_END = pattern(r"[.;#]\s|[。；]\s?")
_ABBREVIATIONS = word_set("i.e e.g z.b d.h incl inkl excl exkl zzgl mio mrd tsd approx max ca std")
"""Words that end with a full stop without ending a sentence."""
_LONGEST = len("(approx ")
_OWNERS = ("department", "institute", "faculty", "university", "partner", "competitor", "neighbour", "neighbor")
_OTHERS = (
    "other",
    "another",
    "second",
    "old",
    "present",
    "current",
    "today's",
    "sister",
    "neighbouring",
    "neighboring",
    "smaller",
    "bigger",
    "larger",
    "the small",
)
_MACHINES = ("cluster", "machine", "system", "site", "hall", "team")
_ANOTHER_MACHINE = (
    *(f" {other} {machine}" for other in _OTHERS for machine in _MACHINES),
    *(f" {owner}'s " for owner in _OWNERS),
    *(f" {verb} {each} " for verb in ("compared", "comparison") for each in ("with", "to")),
    *(f" for {each} " for each in ("scale", "comparison", "reference", "context")),
    *(
        f" {each} "
        for each in ("replacement of", "replacement for", "replace the", "ersatz von", "ersatz für", "ersetzt")
    ),
    *(f" {each} " for each in ("remplace", "remplacement de", "sustituye", "reemplaza", "sostituisce", "vervangt")),
    *(f" phase {each} " for each in ("two", "three", "2", "3", "ii", "iii")),
    *(f" {verb} back " for verb in ("take", "takes", "taken", "taking")),
    *(f" {year} {machine} " for year in range(2014, 2026) for machine in ("cluster", "machine", "system", "pod")),
    *(
        f" old {each} "
        for each in ("pod", "pods", "rack", "racks", "nodes", "servers", "boxes", "generation", "hardware")
    ),
    *(f" {each} background " for each in ("as", "for", "some", "more")),
    " next door ",
    " team in ",
    " on its own account ",
    " we give back ",
    " back to the lessor ",
    *(f" {each} " for each in ("replaces", "replaced", "replacing", "predecessor", "successor", "retired", "legacy")),
    *(f" {each} " for each in ("former", "previous", "existing", "pilot", "prototype", "trade in")),
    *(f" {each} " for each in ("not part of", "out of scope", "proof of concept", "decommissioned", "second phase")),
    *(
        f" {other} {each} "
        for other in ("older", "earlier", "other", "another", "last")
        for each in ("project", "site")
    ),
    *(f" {each} " for each in ("next year", "later", "extension", "option", "options", "optional", "future")),
    *(
        f" {each} "
        for each in ("in service", "in operation", "en service", "en servicio", "em serviço", "in esercizio")
    ),
    *(
        f" {each} "
        for each in ("im betrieb", "in betrieb", "in bedrijf", "i drift", "existant", "bestehend", "esistente")
    ),
    *(f" {each} " for each in ("existants", "bestehende", "bestehenden", "existente", "existentes", "esistenti")),
    *("既設", "既存", "现有", "現有", "기존"),
    *(f" old {each} " for each in ("store", "storage", "filer", "fabric", "hosts", "host", "cards", "offer", "quote")),
    *(
        f" {each} "
        for each in ("would have", "turned down", "ruled out", "was rejected", "were rejected", "was declined")
    ),
    *(
        f" {each} "
        for each in ("hätte", "hätten", "verworfen", "abgelehnt", "aurait", "auraient", "écartée", "refusée")
    ),
)
"""Words in a sentence about a machine that the keys do not describe. A set of words, because compiling a pattern takes
longer.
"""
_GOES_ON = pattern(
    r"(?i)\s*(?:it|its|they|their|these|those|es|sie|er|ihre|il|elle|ils|elles)\b(?! (?:is|are|was) (?:our|planned))"
)
"""The beginning of a sentence with the same subject as the sentence before."""
_MARKS = str.maketrans(dict.fromkeys('()[],;:.-–—/"', " "))
_ALL_MARKS = str.maketrans(dict.fromkeys("()[]{},;:.-–—/\"'’`!?%$€£=+*~≈<>|", " "))


def written_numbers(spec: Spec) -> Iterator[float]:
    """The numbers in all sections that describe the machine and its work: integer counts, and quantities in SI."""
    for section in (spec.cluster, spec.workload, spec.layout, spec.acceptance, spec.operations, spec.procurement):
        yield from numbers_within(section)


def numbers_within(value: object) -> Iterator[float]:
    """The numbers in a value of the spec, including its items and fields."""
    if isinstance(value, int | float):
        yield value
    elif isinstance(value, Quantity | Figure):
        yield value.value
    elif isinstance(value, dict):
        for each in value.values():
            yield from numbers_within(each)
    elif isinstance(value, tuple | list):
        for each in value:
            yield from numbers_within(each)
    else:
        for each in fields(value) if is_dataclass(value) else ():
            yield from numbers_within(getattr(value, each.name))


def number_in_text(digits: str) -> float:
    """The value of digits with commas between thousands; a comma before one or two digits is a decimal comma, and of two unlike signs
    the last one stands before decimals. Spaces and apostrophes separate thousands.

    >>> number_in_text("1,080.5"), number_in_text("2,0"), number_in_text("1.080,5"), number_in_text("1 093 996.80")
    (1080.5, 2.0, 1080.5, 1093996.8)
    """
    if len(_THOUSANDS.findall(digits)) > 1:
        return numbers_of(digits)[0]
    whole, _, rest = digits.partition(",")
    return float(f"{whole}.{rest}" if 0 < len(rest) < 3 else _GROUPS.sub("", digits))


_THOUSANDS = pattern(r"[ ,.'’\u00a0\u2009\u202f]")
_GROUPS = pattern(r"[ ,'’\u00a0\u2009\u202f]")


def readings_of(digits: str) -> tuple[str, ...]:
    """The plain digits that digits may stand for: a single sign before three digits separates thousands or decimals.

    >>> readings_of("1,884,200"), readings_of("1.250"), readings_of("27,20"), readings_of("5.722.445,5")
    (('1884200',), ('1250', '1.250'), ('27.20',), ('5722445.5',))
    """
    signs = _THOUSANDS.findall(digits)
    if not signs:
        return (digits,)
    head, _, tail = digits.rpartition(signs[-1])
    whole, decimal = _THOUSANDS.sub("", digits), f"{_THOUSANDS.sub('', head)}.{tail}"
    if signs[-1] not in ".,":
        return (whole,)
    if len(set(signs)) > 1:
        return (decimal,)
    if len(signs) > 1:
        return (whole,)
    if len(tail) != 3 or head == "0":
        return (decimal,)
    return (whole, decimal)


def numbers_of(digits: str) -> tuple[float, ...]:
    """The numbers that digits may stand for, as `readings_of` reads them."""
    return tuple(map(float, readings_of(digits)))


_POINTED = pattern(r"\d{1,3}(?:\.\d{3})+")


def large_number_in_text(digits: str) -> float:
    """The value of digits for a count in the hundreds or more: a point before three digits separates thousands.

    >>> large_number_in_text("1.400"), large_number_in_text("1,400"), large_number_in_text("1.25")
    (1400.0, 1400.0, 1.25)
    """
    return float(digits.replace(".", "")) if _POINTED.fullmatch(digits) is not None else number_in_text(digits)


def amount_in_text(digits: str) -> float:
    """The value of a whole amount of money; any sign may separate its thousands.

    >>> amount_in_text("1.250.000"), amount_in_text("430,000"), amount_in_text("9 900")
    (1250000.0, 430000.0, 9900.0)
    """
    return float("".join(filter(str.isdigit, digits)))


_NODES_OF = pattern(r"(?<![\w.,])(\d{1,5}) (?:nodes?|servers?|systems?|instances?|vms?) (?:of|with|à) $")
"""Pattern of a number of nodes before the parts of each node."""


class WrittenProduct(NamedTuple):
    """A product that a text writes out: its whole factors, the words after each, and its stated result or None."""

    factors: tuple[int, ...]
    units: tuple[str, ...]
    result: int | None
    text: str

    def parts_in(self, text: str) -> set[int]:
        """The numbers, other than the product, that its text may state: each factor, the product without its first or
        last factor, and the products for all nodes if a number of nodes comes before it.

        >>> text = "12 nodes of 8 gpus x 720 h"
        >>> sorted(next(products_in(text)).parts_in(text))
        [8, 720, 8640, 69120]
        """
        parts = {*self.factors, prod(self.factors[:-1]), prod(self.factors[1:])}
        nodes = _NODES_OF.search(text[: text.find(self.text)])
        return parts | ({int(nodes[1]) * prod(self.factors), int(nodes[1]) * self.factors[-1]} if nodes else set())


def products_in(text: str) -> Iterator[WrittenProduct]:
    """The products of whole numbers that a lowercase text writes out.

    >>> [(each.factors, each.units, each.result) for each in products_in("400 tb x 12 months = 4,800,000 gb-months")]
    [((400, 12), ('tb', 'months'), 4800000)]
    >>> [each.factors for each in products_in("2 ports x 12 months; 12 nodes x 8 x 4416 h; 8x h200, 16x16 lanes")]
    [(2, 12), (12, 8, 4416), (16, 16)]
    """
    for match in islice(_PRODUCT.finditer(text), MOST_MATCHES):
        numbers = [int(_NO_DIGIT.sub("", match[place])) for place in (1, 3, 5) if match[place]]
        units = [(match[place] or "").strip() for place in (2, 4, 6)][: len(numbers)]
        result = int(_NO_DIGIT.sub("", match[7])) if match[7] else None
        yield WrittenProduct(tuple(numbers), tuple(units), result, match[0].strip())


def count_in_text(written: str) -> int:
    """A count in digits, or as one of `NUMBERS`.

    >>> count_in_text("8"), count_in_text("twelve"), count_in_text("zwölf")
    (8, 12, 12)
    """
    return NUMBERS.get(written) or int(written)


def time_in_text(digits: str, unit: str) -> float:
    """Seconds of a number with the word or sign of its unit, read as in the keys of a spec.

    >>> time_in_text("14", "Days")
    1209600.0
    """
    return read(f"{digits} {unit.lower()}", "time").value


def watts_in_text(digits: str, unit: str) -> float:
    """Watts of a number with its unit in lower case, or with the first letter of the unit.

    >>> watts_in_text("1.5", "mw"), watts_in_text("22", "k")
    (1500000.0, 22000.0)
    """
    return number_in_text(digits) * (1e6 if unit.startswith("m") else 1e3)


_WATTS_OF_WHOLE = pattern(
    rf"{NUMBER} ?(kw|mw)(?![a-z])(?! ?(?:/|per|a|each) ?(?:rack|cabinet|node|server|system|cdu|unit))"
)


def total_watts_in(text: str) -> set[float]:
    """Watts that a lowercase text states, except those per rack, node or unit.

    >>> sorted(total_watts_in("1.2 mw in two halls, 17 kw per rack, 400 kwh"))
    [1200000.0]
    """
    return {watts_in_text(number, unit) for number, unit in _WATTS_OF_WHOLE.findall(text)}


def are_close(one: float, other: float, tolerance: float) -> bool:
    """Whether two figures are the same within a relative difference."""
    return abs(one - other) <= tolerance * other


@recent(2)
def sentences_of(text: str, signs: str = ".;#") -> Sequence[str]:
    """The sentences of a text; the ``signs`` that end one may be limited. A comment begins a new sentence.

    >>> sentences_of("Data: 1.2 PB. # the store")
    ['Data: 1.2 PB', '', 'the store']
    >>> sentences_of("99.9 %, i.e. 43 min. 3 Mio. EUR incl. VAT; both zones")
    ['99.9 %, i.e. 43 min', '3 Mio. EUR incl. VAT', 'both zones']
    >>> sentences_of("保証は3年。納期は8週。")
    ['保証は3年', '納期は8週', '']
    """
    found, start = [], 0
    for end in _SENTENCE_END.finditer(text):
        at = end.start()
        if (text[at] in signs or text[at] in "。；") and not (
            text[at] == "." and is_abbreviated(text[max(0, at - _LONGEST) : at])
        ):
            found.append(text[start:at])
            start = end.end()
    return [*found, text[start:]]


def is_abbreviated(before: str) -> bool:
    before = before[-_LONGEST:]
    return before[-1:].isalpha() and before.rsplit(maxsplit=1)[-1].strip("(").lower() in _ABBREVIATIONS


def sentences_with_neighbors(sentences: Sequence[str]) -> Iterator[str]:
    """Each sentence, then each pair of adjacent sentences, since related figures may be in two sentences.

    >>> list(sentences_with_neighbors(["It burns 9 l", "The tank has 40 l"]))
    ['It burns 9 l', 'The tank has 40 l', 'It burns 9 l. The tank has 40 l']
    """
    yield from sentences
    yield from map(". ".join, pairwise(sentences))


def sentences_with(text: str, *cues: tuple[str, ...]) -> list[str]:
    """The sentences of a text that contain a cue of every group; cues are in lower case."""
    folded = text.casefold()
    if not all(any(cue in folded for cue in group) for group in cues):
        return []
    return [each for each in sentences_of(text) if all(any(cue in each.casefold() for cue in group) for group in cues)]


def without_other_machines(text: str) -> str:
    """The text without its sentences about another machine, such as one that is replaced, compared or bought later.

    >>> without_other_machines("32 nodes of H200. It replaces the 36 DGX A100; two pods.")
    '32 nodes of H200. two pods.'
    >>> without_other_machines("Replacement of the V100 partition, 48 nodes in 12 racks. Two rows.")
    'Two rows.'
    >>> without_other_machines("A small cluster of 32 nodes. The small site (16 nodes) has no liquid; two pods.")
    'A small cluster of 32 nodes. two pods.'
    >>> without_other_machines("The rack next door is not ours; it has 400 Gb/s ports. Ours has 800 Gb/s.")
    'Ours has 800 Gb/s.'
    >>> without_other_machines("24 DGX H200 en service, 8 s'ajoutent. 32 au total.")
    '32 au total.'
    """
    if not is_of_another_machine(text):
        return text
    found: list[str] = []
    of_another = False
    for sentence in sentences_of(text):
        of_another = is_of_another_machine(sentence) or (of_another and _GOES_ON.match(sentence) is not None)
        found += [] if of_another else [sentence]
    return ". ".join(found)


def is_of_another_machine(sentence: str) -> bool:
    """Whether a sentence is about another machine, such as one that is replaced, compared or bought later.

    >>> is_of_another_machine("80 l/min held for the racks of an older project"), is_of_another_machine("80 l/min a rack")
    (True, False)
    >>> is_of_another_machine("The June offer would have cost 9 M"), is_of_another_machine("This would cost 9 M")
    (True, False)
    >>> is_of_another_machine("48 V100 sind in Betrieb"), is_of_another_machine("Bis der zweite Trafo in Betrieb ist, gilt das")
    (True, False)
    >>> is_of_another_machine("The old store wrote 25 GB/s"), is_of_another_machine("The store writes 25 GB/s")
    (True, False)
    """
    words = f" {' '.join(sentence.lower().translate(_MARKS).split())} "
    if " betrieb " in words or " bedrijf " in words:
        words = _STARTS.sub(" ", words)
    return any(each in words for each in _ANOTHER_MACHINE)


_STARTS = pattern(
    r"\b(?:geht|gehen|nimmt|nehmen|muss|müssen|soll|sollen|wird|werden|sobald|bevor|bis|gaat|gaan|moet|moeten|zodra|totdat)\b[^.;,]{0,60}\b(?:im|in) (?:betrieb|bedrijf)\b"
)
"""What starts to operate, which is no machine that already does."""


@recent(4)
def words_of(text: str) -> frozenset[str]:
    """The lowercase words of a text, also those between hyphens and slashes. Most texts lack the words of a rule, so
    that its patterns need not be compiled.

    >>> sorted(words_of("An 800G-port, 12 l/h"))
    ['12', '800g', 'an', 'h', 'l', 'port']
    """
    return frozenset(text.lower().translate(_ALL_MARKS).split())


def has_word(text: str, words: frozenset[str], starts: tuple[str, ...] = ()) -> bool:
    """Whether a text has one of the words, or a word with one of the given beginnings.

    >>> has_word("2 % for each late week", frozenset({"late"})), has_word("delayed", frozenset({"late"}), ("delay",))
    (True, True)
    >>> has_word("plates and slates", frozenset({"late"}), ("delay",))
    False
    """
    here = words_of(text)
    return not words.isdisjoint(here) or (bool(starts) and any(each.startswith(starts) for each in here))


def has_unit(text: str, units: frozenset[str]) -> bool:
    """Whether a text has one of the units in lower case, separately or directly after a number.

    >>> has_unit("12 l/h at 400V", frozenset({"l"})), has_unit("400V", frozenset({"v"})), has_unit("NVL72", frozenset({"v"}))
    (True, True, False)
    """
    return any(each.lstrip("0123456789") in units for each in words_of(text))


def belongs_to_something_else(text: str, start: int) -> bool:
    """Whether the words before a setting say that it does not belong to this machine.

    >>> belongs_to_something_else("runs on 8 nodes instead of 16", 26), belongs_to_something_else("was sized for 8", 14)
    (True, False)
    """
    return _OF_SOMETHING_ELSE.search(text[max(0, start - 60) : start]) is not None


def unambiguous_setting(setting: re.Pattern[str], text: str, cues: tuple[str, ...] = ("",)) -> re.Match[str] | None:
    r"""The match of a setting, if all its matches in a text are equal and none belongs to something else; else None.

    Every match contains one of ``cues`` in lower case, so that the pattern is compiled only for texts with one of them.

    >>> unambiguous_setting(re.compile(r"--tp (\d+)"), "runs with --tp 8, not --tp 4")[1]
    '8'
    """
    folded = text.casefold()
    if not any(cue in folded for cue in cues):
        return None
    few = islice(setting.finditer(text), MOST_MATCHES)  # a hostile text may have a million
    matches = [each for each in few if not belongs_to_something_else(text, each.start())]
    return matches[0] if len({each[0] for each in matches}) == 1 else None
