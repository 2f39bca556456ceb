"""Results in a sentence that do not follow from a share, a difference, a factor or an interval that it states."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import islice, pairwise

from clusterspec.quantity import DAY
from clusterspec.records import NamedTuple
from clusterspec.rules.readers.clauses import is_hypothetical, is_of_other_plan
from clusterspec.rules.readers.dimensions import SHARE, TIME, Figure, Powers, figures_of
from clusterspec.rules.readers.numerals import fractions_in
from clusterspec.rules.readers.passages import with_numerals
from clusterspec.rules.readers.units import MONTH
from clusterspec.rules.readers.word_periods import periods_in
from clusterspec.rules.readers.written_numbers import sentences_of
from clusterspec.standard import pattern
from clusterspec.units import display
from clusterspec.units.display import plain

MOST_SENTENCES, MOST_FIGURES, LONGEST_SENTENCE = 200, 8, 800
"""Sentences of a text, and figures and characters of a sentence, that are read: longer ones have figures of several things."""
CLOSE, ROUGH, MOST_ROUNDED = 0.035, 0.12, 0.02
"""Relative differences up to which a result and an approximate result are right, and the most that the rounding of
figures adds.
"""
_ROUGHLY = pattern(
    r"(?i)[≈~]|\b(?:about|roughly|around|some|nearly|almost|approx\w*|circa|ca|etwa|rund|knapp|gut|environ|près|quelque|good|over|under|more|less than)\b"
)
_CALCULATED = pattern(r"\d ?%? ?[x×*+] ?\d|\d ?[+−] ?\d")
"""A calculation that is written out, which other rules read."""
_OF = pattern(
    r"(?i)^ ?(?:of|von|der|des|du|de la|de|d')(?: (?:the|our|its|all|these|den|der|unsere[rn]?|les|nos|la|notre))?(?: [^\W\d][\w-]*){0,3}? ?(?:of |von |de )?$"
)
"""Words that join a share to the figure of the whole."""
_IS = pattern(
    r"(?i)^(?: [^\W\d][\w-]*){0,3}? ?(?:,|\(|=|–|:| is| are| i\.e\.| that is| or| makes?| sind| ist| soit| font| ce sont)*(?: ?(?:that|which) (?:is|are|makes?)| das sind| also| i\.e\.| or| so| hence)?(?: (?:about|roughly|around|some|rund|etwa|environ))? ?$"
)
"""Words between a figure and the result of its share."""
_ONE = pattern(r"(?i)\bone(?= (?:hour|day|minute|week)\b)")
_OF_THEM = pattern(r"(?i)^ (?:of (?:them|these|those)|davon|d'entre)\b")
_THAT_IS = pattern(r"(?i)(?:=|\b(?:that is|i\.e\.|das sind|soit)) ?$")
_LEAVES = pattern(
    r"(?i)\b(?:leaves?|leaving|remains?|remaining|are left|is left|bleiben|bleibt|übrig|reste(?:nt)?|il reste|laisse)\b"
)
_TAKEN = pattern(
    r"(?i)\b(?:takes?|goes|go|uses?|needs?|lost|minus|less|deducts?|reserve[sd]?|for|braucht|nimmt|abzüglich|prend|prennent|moins|consomme)\b"
)
_ONLY = pattern(
    r"(?i)\b(?:only|each|per|every|at least|at most|up to|first|second|third|another|other|would|plan|than|but|je|pro|chaque|par|nur)\b"
)
_PUE = pattern(r"(?i)\bpue\b")
_METER = pattern(
    r"(?i)\b(?:meter|grid|feed-?in|utility|connection|site|in total|all told|facility|zähler\w*|netz\w*|anschluss\w*|standort|compteur|réseau|raccordement|site)\b"
)
_OF_LOAD = pattern(r"\bIT\b|(?i:\b(?:nodes?|servers?|racks?|load|knoten|last|nœuds|serveurs|charge)\b)")
_RESULTS = pattern(
    r"(?i)(?:=|≈|→|\b(?:means?|makes?|gives?|becomes?|are|is|so|hence|thus|draws?|needs?|ergibt|ergeben|sind|werden|macht|also|deviennent|devient|font|fait|soit|donc)\b)[^\d.;]{0,60}$"
)
_EFFICIENCY = pattern(
    r"(?i)\b(?:goodput|utili[sz]ation|efficiency|availability|auslastung|wirkungsgrad|rendement|utilisation|disponibilité|verfügbarkeit)\b"
)
_CHANGE = pattern(
    r"(?i)\b(?:cut|decrease|reduction|drop|increase|rise|growth|saving|discount|rabatt|remise|cheaper|dearer|günstiger|teurer|baisse|hausse|less|more|weniger|mehr|up|down|fall|rabais|minderung|steigerung|rückgang)\b"
)
_FROM_TO = pattern(r"(?i)\b(?:from|von|de|du) (?:about |rund )?$")
_TO = pattern(r"(?i)^(?: [^\W\d][\w/-]*){0,4}? (?:to|auf|à|a) (?:about |rund |now )?$")
_N_OF_M = pattern(
    r"(?i)(?<![\w.,/-])(\d{1,6}) (?:of|von|sur|out of) (?:the |our |den |les |all )?(\d{1,6}) (?:[^\W\d][\w-]*)(?: [^\W\d][\w-]*){0,4}?,? ?(?:\(|=|that is |i\.e\. |or |das sind |soit )?(\d{1,3}(?:[.,]\d{1,2})?) ?%"
)
_GRANTED = pattern(
    r"(?i)\b(?:gave|grant\w*|allow\w*|allot\w*|approved|reserved|deadline|limit\w*|budget\w*|at most|gab|gewähr\w*|erlaub\w*|genehmig\w*|höchstens|frist|accord\w*|délai|au plus|plazo|concedi\w*|como máximo|scadenza|al massimo|termijn|hoogstens|prazo|no máximo)\b"
)
"""Words before a figure that somebody grants or limits, which is no result."""
_EVERY = pattern(r"(?i)\b(?:every|alle|toutes les|tous les|each) (?:about )?$")
_DOWN = pattern(r"(?i)\b(?:downtime|outages?|ausfall\w*|down|unavailab\w*|indisponib\w*)\b")
_AVAILABLE = pattern(r"(?i)\b(?:availab\w*|uptime|verfügbar\w*|disponib\w*)\b")


class WrongPart(NamedTuple):
    """A result as a text states it, the right one, and the figures that give it, in words."""

    stated: str
    right: str
    figures: str


Relation = Callable[[str, Sequence[Figure]], Iterator[WrongPart]]


def wrong_parts(text: str) -> Iterator[WrongPart]:
    """The results of a text that do not follow from the other figures of their sentence.

    >>> list(wrong_parts("Half of the 96 nodes, 44 of them, go to the other team."))
    [WrongPart(stated='44', right='48', figures='Half of 96 nodes')]
    >>> list(wrong_parts("The IT load of 5 MW and a PUE of 1.4 mean 7 MW at the meter."))
    []
    """
    plain = _ONE.sub("1", with_numerals(" ".join(text.split()), apart=True))
    for sentence in islice(sentences_of(plain, ".#"), MOST_SENTENCES):
        if (
            len(sentence) > LONGEST_SENTENCE
            or is_hypothetical(sentence)
            or is_of_other_plan(sentence)
            or _CALCULATED.search(sentence) is not None
        ):
            continue
        figures = figures_of(sentence, bare=True)
        if 1 < len(figures) <= MOST_FIGURES:
            for relation in RELATIONS:
                yield from relation(sentence, figures)


def _agrees_after_rounding(sentence: str, stated: Figure, right: float, *used: Figure) -> bool:
    """Whether a result agrees with a value within the rounding of its figures; counts may be off by one."""
    near = (ROUGH if _ROUGHLY.search(sentence) is not None else CLOSE) + min(
        MOST_ROUNDED, stated.rounding + sum(each.rounding for each in used)
    )
    is_count = bool(stated.noun) and not {"s", "W", "B", "money"} & {name for name, _ in stated.powers}
    return abs(stated.value - right) <= max(near * right, 1.0 if is_count else 0.0)


def _wrong_part(stated: Figure, right: float, figures: str) -> WrongPart:
    names = {name for name, power in stated.powers if power > 0}
    unit = (
        "s"
        if stated.powers == {(TIME, 1)}
        else "W"
        if stated.powers == {("W", 1)}
        else "B"
        if stated.powers == {("B", 1)}
        else ""
    )
    shown = f"{plain(100 * right, 3)} %" if names == {SHARE} else display(right, unit) if unit else plain(right, 4)
    return WrongPart(stated.words, shown, figures)


def _shares(sentence: str, figures: Sequence[Figure]) -> Iterator[tuple[float, int, int, str]]:
    """The shares of a sentence, as percents and as fractions: value, start, end and words."""
    for each in figures:
        if each.powers == {(SHARE, 1)}:
            yield each.value, each.start, each.end, each.words
    for part in islice(fractions_in(sentence), MOST_FIGURES):
        yield part.value, part.start, part.end, part.words


def _share_of_base(sentence: str, figures: Sequence[Figure]) -> Iterator[WrongPart]:
    """`a quarter of our budget of 24 M USD, 8 M USD`, `12 % of the 2,000 GPUs, that is 360`."""
    for share, start, end, words in _shares(sentence, figures):
        behind = [each for each in figures if each.start >= end and each.start != start]
        if len(behind) < 2 or _ONLY.search(sentence, max(0, start - 12), start) is not None:
            continue
        base, result = behind[:2]
        joined = _OF.match(sentence[end : base.start]) and _IS.match(sentence[base.end : result.start])
        alike = result.powers == base.powers or (
            not result.powers
            and base.noun
            and (_OF_THEM.match(sentence[result.end :]) or _THAT_IS.search(sentence[base.end : result.start]))
        )
        if (
            joined
            and alike
            and base.powers != {(SHARE, 1)}
            and not _agrees_after_rounding(sentence, result, share * base.value, base)
        ):
            rest = (1 - share) * base.value
            if not _agrees_after_rounding(sentence, result, rest, base):
                yield _wrong_part(result, share * base.value, f"{words} of {base.words}")


def _rest_of_base(sentence: str, figures: Sequence[Figure]) -> Iterator[WrongPart]:
    """`of the 12 MW the cooling takes 3 MW, which leaves 8 MW`."""
    leaves = _LEAVES.search(sentence)
    if leaves is None or _ONLY.search(sentence) is not None:
        return
    for powers in {each.powers for each in figures if each.powers and (SHARE, 1) not in each.powers}:
        same = [each for each in figures if each.powers == powers]
        if len(same) != 3 or not same[1].end <= leaves.start() or not leaves.start() - 40 <= same[2].start:
            continue
        whole, taken, rest = same
        right = whole.value - taken.value
        taking = _TAKEN.search(sentence, 0, same[2].start) is not None
        if (
            taking
            and right > 0
            and rest.value < whole.value
            and not _agrees_after_rounding(sentence, rest, right, whole, taken)
        ):
            yield _wrong_part(rest, right, f"{whole.words} less {taken.words}")


def _with_overhead(sentence: str, figures: Sequence[Figure]) -> Iterator[WrongPart]:
    """`an IT load of 5 MW and a PUE of 1.4 mean 7 MW at the meter`."""
    watts = [each for each in figures if each.powers == {("W", 1)}]
    factor = next(
        (each for each in figures if not each.powers and 1 < each.value < 3 and _is_of_pue(sentence, each)), None
    )
    distinct = {each.value for each in watts}
    if factor is None or len(distinct) != 2 or _METER.search(sentence) is None or _ONLY.search(sentence) is not None:
        return
    load = watts[0]
    result = next(each for each in reversed(watts) if each.value != load.value)
    if result.start < load.end or _RESULTS.search(sentence[: result.start]) is None:
        return
    right = load.value * factor.value
    near = f"{sentence[load.end : result.start]} {sentence[result.end :][:30]}"
    of_load = right if _OF_LOAD.search(near) is None else load.value / factor.value
    if not any(_agrees_after_rounding(sentence, result, each, load, factor) for each in {right, of_load}):
        yield _wrong_part(result, right, f"{load.words} at a PUE of {factor.words}")


def _is_of_pue(sentence: str, figure: Figure) -> bool:
    return _PUE.search(sentence, max(0, figure.start - 24), figure.end + 8) is not None


def _at_efficiency(sentence: str, figures: Sequence[Figure]) -> Iterator[WrongPart]:
    """`30 days at full speed; at 90 % goodput it takes 36 days`, read in one sentence: a time times or over the share."""
    shares = [each for each in figures if each.powers == {(SHARE, 1)}]
    if len(shares) != 1 or _EFFICIENCY.search(sentence, max(0, shares[0].start - 30), shares[0].end + 30) is None:
        return
    share = shares[0]
    for powers in {each.powers for each in figures if each.powers and each is not share}:
        same = [each for each in figures if each.powers == powers]
        if len(same) != 2 or len([each for each in figures if each.powers]) > 3 or same[0].value == same[1].value:
            continue
        one, result = same
        if _GRANTED.search(sentence, min(one.end, result.start), result.start) is not None:
            continue
        values = (one.value * share.value, one.value / share.value)
        if share.value > 0.2 and not any(_agrees_after_rounding(sentence, result, each, one, share) for each in values):
            less = result.value < one.value
            yield _wrong_part(
                result, values[0] if less else values[1], f"{one.words} {'times' if less else 'over'} {share.words}"
            )


def _change_in_percent(sentence: str, figures: Sequence[Figure]) -> Iterator[WrongPart]:
    """`from 300,000 to 240,000 USD, a cut of 25 %`."""
    shares = [each for each in figures if each.powers == {(SHARE, 1)}]
    if len(shares) != 1 or _CHANGE.search(sentence) is None:
        return
    for one, other in pairwise(figures):
        alike = one.powers == other.powers or not one.powers
        if not alike or shares[0] in (one, other) or _FROM_TO.search(sentence[: one.start]) is None:
            continue
        if _TO.match(sentence[one.end : other.start]) is None or not one.value or not other.value:
            continue
        change = abs(other.value - one.value)
        right = change / one.value
        if not any(abs(shares[0].value - each) <= max(0.01, CLOSE * each) for each in (right, other.value / one.value)):
            yield _wrong_part(shares[0], right, f"{one.words} to {other.words}")


def _percent_of_count(sentence: str, _: Sequence[Figure]) -> Iterator[WrongPart]:
    """`36 of 48 nodes passed, 65 %`."""
    for match in islice(_N_OF_M.finditer(sentence), MOST_FIGURES):
        part, whole, stated = float(match[1]), float(match[2]), float(match[3].replace(",", ".")) / 100
        if 0 < part <= whole and not any(abs(stated - each) <= 0.011 for each in (part / whole, 1 - part / whole)):
            yield WrongPart(f"{match[3]} %", f"{plain(100 * part / whole, 3)} %", f"{match[1]} of {match[2]}")


def _number_of_intervals(sentence: str, figures: Sequence[Figure]) -> Iterator[WrongPart]:
    """`a save every 20 minutes: 96 saves a day`."""
    between = [
        each for each in figures if {(TIME, 1)} in (each.powers, each.bare) and _EVERY.search(sentence[: each.start])
    ]
    rates = [
        each
        for each in figures
        if len(each.powers) == 2 and (TIME, -1) in each.powers and all(abs(power) == 1 for _, power in each.powers)
    ]
    others = [each for each in figures if each.noun and each not in rates and each.value != 1]
    if len(between) != 1 or len(rates) != 1 or others or not _is_event(rates[0].powers):
        return
    number = rates[0].value * between[0].value
    if not 1 / (1 + ROUGH) <= number <= 1 + ROUGH:
        yield WrongPart(rates[0].words, f"{plain(DAY / between[0].value, 3)} a day", f"one every {between[0].words}")


def _is_event(powers: Powers) -> bool:
    return any(name in ("checkpoint", "failure", "file") and power == 1 for name, power in powers)


def _availability_of_downtime(sentence: str, figures: Sequence[Figure]) -> Iterator[WrongPart]:
    """`30 min of downtime per month are 99.99 % availability`."""
    times = [each for each in figures if (TIME, 1) in each.powers or each.powers == frozenset()]
    shares = [each for each in figures if each.powers == {(SHARE, 1)} and each.value > 0.9]
    period = next((each.seconds for each in periods_in(sentence) if each.seconds >= MONTH), 0.0)
    if len(shares) != 1 or not period or _DOWN.search(sentence) is None or _AVAILABLE.search(sentence) is None:
        return
    down = [each for each in figures if each.powers == {(TIME, 1)}]
    if len(down) != 1 or len(times) != 1:
        return
    right = 1 - down[0].value / period
    decimals = len(shares[0].words.partition(".")[2].strip(" %")) if "." in shares[0].words else 0
    if abs(shares[0].value - right) > max(0.25 * (1 - right), 0.6 * 10.0 ** (-2 - decimals)):
        yield WrongPart(shares[0].words, f"{plain(100 * right, 4)} %", f"{down[0].words} of downtime")


RELATIONS: tuple[Relation, ...] = (
    _share_of_base,
    _rest_of_base,
    _with_overhead,
    _at_efficiency,
    _change_in_percent,
    _percent_of_count,
    _number_of_intervals,
    _availability_of_downtime,
)
